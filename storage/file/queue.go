package file

import (
	"runtime"
	"sync"
)

// A queue makes batches of what many callers want done: while one batch is at
// work the next one gathers. The callers do the work themselves, one at a time;
// there is no goroutine. Safe for concurrent use.
type queue[T any] struct {
	work func(batch []T) // does all of a batch; never two at a time

	mu      sync.Mutex
	busy    bool // somebody is at work, or has been told to
	waiting []ticket[T]
	crowd   int // how many were there at the last batch, in it and waiting
}

type ticket[T any] struct {
	op   T
	turn chan bool // true: op is done; false: do the next batch
}

// do returns when op has been part of a batch.
func (q *queue[T]) do(op T) {
	t := ticket[T]{op, make(chan bool, 1)}
	q.mu.Lock()
	q.waiting = append(q.waiting, t)
	busy := q.busy
	q.busy = true
	q.mu.Unlock()
	if busy && <-t.turn {
		return
	}
	q.lead()
}

// lead does the batch that has gathered and hands over to one of the next.
func (q *queue[T]) lead() {
	batch := q.take()
	ops := make([]T, len(batch))
	for i, t := range batch {
		ops[i] = t.op
	}
	q.work(ops)
	for _, t := range batch {
		t.turn <- true
	}

	q.mu.Lock()
	defer q.mu.Unlock()
	q.crowd = len(batch) + len(q.waiting)
	if q.busy = len(q.waiting) > 0; q.busy {
		q.waiting[0].turn <- false
	}
}

// patience is how often take lets others run; that is microseconds, where a
// sync takes about a millisecond.
const patience = 50

// take gives the next batch. Those who were answered just now get to join it:
// without that, two half crowds would take turns.
func (q *queue[T]) take() []ticket[T] {
	for i := 0; ; i++ {
		q.mu.Lock()
		if len(q.waiting) >= q.crowd || i == patience {
			break
		}
		q.mu.Unlock()
		runtime.Gosched()
	}
	defer q.mu.Unlock()
	batch := q.waiting
	q.waiting = nil
	return batch
}
