package file

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/open-executor/executor"
)

// flushAfter is how long an entry of a plain read may stay unsynced, with time
// left for the sync itself to be done within a second.
const flushAfter = 400 * time.Millisecond

// checkpointAfter is how much chain may lie behind runs/index before Close
// writes it anew; it is read in milliseconds. A new segment begins with a new
// index, so that what a kill leaves to be read is bounded.
const checkpointAfter = 256 << 10

// runs keeps the chain. Entries are made and written in batches, by one caller
// at a time. Safe for concurrent use.
type runs struct {
	queue     queue[*appending]
	dir       string
	disk      disk
	log       *slog.Logger
	syncReads bool
	limit     int64 // of a segment

	// Used in batches only.
	journal journal // the last segment
	walk    walk    // its end and head are those of the chain
	last    spot    // the line of the head
	behind  int64   // bytes of chain that runs/index does not cover
	saved   int64   // size of runs/index
	closed  bool
	flusher *time.Timer // runs when entries are to be synced; nil: none are

	mu    sync.RWMutex // never held while the disk is waited for
	index *index
	end   spot // of what may be read
}

// An appending is what a caller wants of the chain; the batch fills in err.
type appending struct {
	run  executor.Run
	what purpose
	err  error
}

type purpose int

const (
	add purpose = iota
	flush
	end
)

// openRuns reads what runs/index does not cover and cuts off an unfinished last
// line.
func openRuns(dir string, opts Options, clean bool) (*runs, error) {
	r := &runs{dir: dir, disk: opts.disk, log: opts.Log, syncReads: opts.SyncReads, limit: opts.SegmentBytes}
	r.queue.work = r.commit
	r.walk = walk{dir: dir}
	x, last, size, ok := loadIndex(&r.walk)
	if !ok {
		x = newIndex(0)
	}
	r.index, r.last, r.saved = x, last, int64(size)
	err := r.walk.all(context.Background(), func(l link, _ []byte, at spot) bool {
		r.index.add(l, at)
		r.last = at
		r.behind += int64(at.length)
		return true
	})
	var damage *Damage
	cut := errors.As(settled(err, clean), &damage) && damage.Torn
	if err != nil && !cut {
		return nil, err
	}
	if r.walk.at.segment == 0 {
		r.walk.at.segment = 1
	}
	path := filepath.Join(dir, segmentName(r.walk.at.segment))
	if r.journal, err = openJournal(opts.disk, path, r.walk.at.offset, clean); err != nil {
		return nil, err
	}
	if cut {
		opts.Log.Warn("unfinished last line cut off", "file", path, "offset", r.walk.at.offset, "why", damage.Msg)
	}
	r.end = r.walk.at
	return r, nil
}

// commit makes entries of a batch in order, writes those that hold and shows
// them.
func (r *runs) commit(batch []*appending) {
	err := r.ready(batch)
	var last *appending
	if err == nil {
		err = r.write(r.gather(batch))
	}
	for _, a := range batch {
		if err != nil { // also those refused: it may be for one that was not written
			a.err = err
		}
		if a.what == end {
			last = a
		}
	}
	r.arm(err)
	if last != nil {
		r.finish(last)
	}
}

// write appends a bundle and shows it.
func (r *runs) write(b bundle) error {
	if len(b.lines) == 0 {
		if b.durable {
			return r.journal.flush()
		}
		return nil
	}
	if err := r.journal.append(b.lines, b.durable); err != nil {
		return err
	}
	r.show(b)
	return nil
}

// A bundle is what a batch comes to.
type bundle struct {
	lines   []byte
	links   []link
	spots   []spot
	durable bool
	walk    walk // after the batch
}

// gather decides the batch. It changes nothing but err.
func (r *runs) gather(batch []*appending) bundle {
	b := bundle{walk: r.walk}
	ahead := map[executor.RunID]uint64{}
	for _, a := range batch {
		if a.what != add {
			b.durable = true
			continue
		}
		version, ok := ahead[a.run.ID]
		if !ok {
			version = r.index.version(a.run.ID)
		}
		if a.run.Version != version+1 {
			a.err = outOfTurn(a.run, version)
			continue
		}
		if a.err = b.add(a.run); a.err == nil {
			ahead[a.run.ID] = a.run.Version
			b.durable = b.durable || r.syncReads || !plainRead(a.run)
		}
	}
	return b
}

func (b *bundle) add(run executor.Run) error {
	e, err := b.walk.head.Follow(run)
	if err != nil {
		return err
	}
	l := newLink(e, run)
	text, err := encode(l)
	if err != nil {
		return &executor.Error{Code: executor.Internal, Op: "record", Msg: "run cannot be encoded", Err: err}
	}
	before := len(b.lines)
	b.lines = appendLine(b.lines, append(append(text, '\t'), e.Run...))
	n := len(b.lines) - before
	b.links = append(b.links, l)
	b.spots = append(b.spots, spot{b.walk.at.segment, b.walk.at.offset, n})
	b.walk.at.offset += int64(n)
	e.Run = nil
	b.walk.head = e
	return nil
}

func outOfTurn(run executor.Run, is uint64) error {
	return &executor.Error{
		Code: executor.Conflict, Op: "record",
		Msg:  fmt.Sprintf("state %d of %s does not follow state %d", run.Version, run.ID, is),
		Hint: "read the run again",
	}
}

// plainRead tells whether an entry may be synced after it is acknowledged.
func plainRead(run executor.Run) bool {
	s := run.Status
	return run.Effect == executor.Read && (s == executor.Running || s == executor.Done || s == executor.Failed)
}

// show makes entries that are written visible.
func (r *runs) show(b bundle) {
	r.walk, r.last = b.walk, b.spots[len(b.spots)-1]
	r.behind += int64(len(b.lines))
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, l := range b.links {
		r.index.add(l, b.spots[i])
	}
	r.end = b.walk.at
}

// ready sees to it that a batch can be appended.
func (r *runs) ready(batch []*appending) error {
	if r.closed {
		return closedError()
	}
	adds := slices.ContainsFunc(batch, func(a *appending) bool { return a.what == add })
	if !adds || r.journal.size < r.limit {
		return nil
	}
	return r.roll()
}

// roll begins the next segment.
func (r *runs) roll() error {
	if err := r.journal.flush(); err != nil {
		return err
	}
	if r.behind > r.saved/4 {
		r.checkpoint()
	}
	path := filepath.Join(r.dir, segmentName(r.walk.at.segment+1))
	next, err := openJournal(r.disk, path, 0, true)
	if err != nil {
		return diskError("record", path, err)
	}
	_ = r.journal.f.Close() // all of it is synced
	r.journal = next
	r.walk.at = spot{segment: r.walk.at.segment + 1}
	return nil
}

// arm sees to it that entries acknowledged before their sync are synced soon;
// after an error that is tried again.
func (r *runs) arm(err error) {
	late := !r.closed && r.journal.synced < r.journal.size
	if late && r.flusher != nil && err == nil {
		return
	}
	if r.flusher != nil {
		r.flusher.Stop()
		r.flusher = nil
	}
	if !late {
		return
	}
	if err != nil {
		r.log.Error("runs not synced", "dir", r.dir, "err", err)
	}
	r.flusher = time.AfterFunc(flushAfter, func() { r.queue.do(&appending{what: flush}) })
}

// finish is the last part of the last batch.
func (r *runs) finish(a *appending) {
	r.closed = true
	if r.flusher != nil {
		r.flusher.Stop()
	}
	if a.err == nil && r.behind > max(checkpointAfter, r.saved/4) {
		r.checkpoint()
	}
	a.err = errors.Join(a.err, r.journal.f.Close())
}

func (r *runs) close() error {
	a := &appending{what: end}
	r.queue.do(a)
	return a.err
}

// checkpoint writes runs/index. All entries are synced.
func (r *runs) checkpoint() {
	size, err := saveIndex(r.disk, r.walk, r.last, r.index)
	if err != nil {
		r.log.Warn("no index of runs", "dir", r.dir, "err", err)
		return
	}
	r.behind, r.saved = 0, size
}
