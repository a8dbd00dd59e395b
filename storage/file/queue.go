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
	runtime.Gosched() // those who were answered just now get to join
	q.mu.Lock()
	batch := q.waiting
	q.waiting = nil
	q.mu.Unlock()

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
	if q.busy = len(q.waiting) > 0; q.busy {
		q.waiting[0].turn <- false
	}
}
