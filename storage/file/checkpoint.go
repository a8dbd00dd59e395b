package file

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/open-executor/executor"
)

// A checkpoint is the first line of runs/index: what of the chain the file
// covers. One line a run follows, with tabs between its fields. The file holds
// nothing that the segments do not; without it Open reads them all.
type checkpoint struct {
	Segment int    `json:"segment"`
	Offset  int64  `json:"offset"`
	Seq     uint64 `json:"seq"`
	Hash    string `json:"hash"`
	Last    int64  `json:"last"` // where the line of entry Seq begins
	Length  int    `json:"length"`
	Runs    int    `json:"runs"`
	Sum     string `json:"sum"` // CRC32C of what follows
}

// saveIndex writes runs/index. Everything before w.at is synced, and last is the
// line of the entry w.head. It gives the size of the file.
func saveIndex(d disk, w walk, last spot, x *index) (size int64, err error) {
	rows := make([]byte, 0, 160*len(x.started))
	for _, m := range x.started {
		askers, err := encode(m.askers)
		if err != nil {
			return 0, err
		}
		rows = fmt.Appendf(rows, "%s\t%d\t%s\t%s\t%s\t%d\t%d\t%d\t%s\n",
			m.id, m.version, m.status, m.source, m.parent, m.at.segment, m.at.offset, m.at.length, askers)
	}
	first, err := encode(checkpoint{
		Segment: w.at.segment, Offset: w.at.offset, Seq: w.head.Seq, Hash: w.head.Hash,
		Last: last.offset, Length: last.length, Runs: len(x.started), Sum: sum(rows),
	})
	if err != nil {
		return 0, err
	}
	content := append(appendLine(nil, first), rows...)
	return int64(len(content)), d.replace(indexPath(w.dir), content)
}

func indexPath(dir string) string { return filepath.Join(dir, "index") }

func sum(rows []byte) string { return fmt.Sprintf("%08x", crc32.Checksum(rows, castagnoli)) }

// loadIndex reads runs/index and puts w behind what it covers. ok is false when it is missing, damaged
// or does not fit the segments; then nothing has changed.
func loadIndex(w *walk) (x *index, last spot, size int, ok bool) {
	content, err := os.ReadFile(indexPath(w.dir))
	if err != nil {
		return nil, spot{}, 0, false
	}
	size = len(content)
	_, start, n, ok := header(content)
	if !ok || len(content) < start+n+1 {
		return nil, spot{}, 0, false
	}
	var c checkpoint
	text, why := parseLine(content[:start+n+1])
	rows := content[start+n+1:]
	if why != "" || decode(text, &c) != "" || c.Sum != sum(rows) {
		return nil, spot{}, 0, false
	}
	last = spot{c.Segment, c.Last, c.Length}
	l, _, err := readAt(filepath.Join(w.dir, segmentName(c.Segment)), last)
	if err != nil || l.Seq != c.Seq || l.Hash != c.Hash || c.Last+int64(c.Length) != c.Offset {
		return nil, spot{}, 0, false
	}
	if numbers, err := segments(w.dir); err != nil || len(numbers) < c.Segment || numbers[c.Segment-1] != c.Segment {
		return nil, spot{}, 0, false
	}
	if x, ok = parseIndex(string(rows), c.Runs); !ok {
		return nil, spot{}, 0, false
	}
	w.at = spot{segment: c.Segment, offset: c.Offset}
	w.head = executor.Entry{Seq: c.Seq, Prev: l.Prev, Hash: c.Hash}
	return x, last, size, true
}

// parseIndex reads rows; the index keeps parts of them.
func parseIndex(rows string, runs int) (x *index, ok bool) {
	x = newIndex(runs)
	marks := make([]mark, runs)
	lists := map[string][]string{} // :: askers as written → askers
	for i := range marks {
		row, rest, found := strings.Cut(rows, "\n")
		rows = rest
		if !found || !marks[i].parse(row, lists) {
			return nil, false
		}
		marks[i].order = i
		x.byID[marks[i].id] = &marks[i]
		x.started = append(x.started, &marks[i])
	}
	for _, askers := range lists {
		x.share(askers)
	}
	return x, rows == "" && len(x.byID) == runs
}

func (m *mark) parse(row string, lists map[string][]string) (ok bool) {
	var field [9]string
	for i := range field {
		var found bool
		if field[i], row, found = strings.Cut(row, "\t"); found == (i == len(field)-1) {
			return false
		}
	}
	m.id, m.parent = executor.RunID(field[0]), executor.RunID(field[4])
	m.status, m.source = executor.Status(field[2]), executor.SourceID(field[3])
	var bad [4]error
	m.version, bad[0] = strconv.ParseUint(field[1], 10, 64)
	m.at.segment, bad[1] = strconv.Atoi(field[5])
	m.at.offset, bad[2] = strconv.ParseInt(field[6], 10, 64)
	m.at.length, bad[3] = strconv.Atoi(field[7])
	askers, known := lists[field[8]]
	if !known {
		if err := json.Unmarshal([]byte(field[8]), &askers); err != nil {
			return false
		}
		lists[field[8]] = askers
	}
	m.askers = askers
	return bad == [4]error{}
}
