// Package file is Executor's storage in a directory: no database, no server,
// one process at a time. It imports the root package and the standard library,
// on Windows also golang.org/x/sys.
//
// The directory:
//
//	lock                  held by the process that has the storage open; its process id
//	snapshot.json         the tables as of one version
//	events.jsonl          changes of the tables since then
//	runs/000001.jsonl …   the chain of run records, in segments
//	runs/index            where the newest state of each run stands; made anew when it is missing
//	blobs/ab/<sha256>     results
//	artifacts/ab/<sha256> manifests
//	damaged-1/ …          what Repair has put aside; never read
//
// Directories have mode 0700 and files 0600.
//
// snapshot.json, events.jsonl and the segments consist of checked lines:
//
//	<CRC32C of the text, 8 hex digits> <bytes of the text> <text>\n
//
// The text is JSON, so that `cut -d' ' -f3-` makes JSON Lines of a file. The
// first line of a snapshot is its version and number of records, each other one
// a record. The text of a run's line is two JSON values with a tab between them: the
// entry's place in the chain with what lists are filtered by, and the run as it
// was hashed.
//
// A write is acknowledged when it is synced; many writers share one write and
// one sync. Only a plain read's run is acknowledged when it is written, and
// synced within a second. A process that is killed can leave one incomplete
// line at the end of a file; Open cuts it off. It cannot tell such a line from
// a last line that was altered later, so that one is cut as well; both are
// logged. Any other damage makes Open fail with an error that names file and
// byte. Damage in the part of the chain that runs/index covers is found when it
// is read, and by Check.
package file
