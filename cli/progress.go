package cli

import (
	"fmt"
	"sync"
	"time"
)

// progress shows on a terminal that something takes its time, beginning after
// half a second. The line is gone when stop returns; stopping twice is not an
// error.
func (a *app) progress(what string) (stop func()) {
	if !a.live() {
		return func() {}
	}
	done := make(chan struct{})
	var drawing sync.WaitGroup
	drawing.Go(func() {
		start, shown := time.Now(), false
		tick := time.NewTicker(500 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				if shown {
					fmt.Fprint(a.Err, "\r\x1b[K")
				}
				return
			case <-tick.C:
				shown = true
				fmt.Fprintf(a.Err, "\r\x1b[K%s … %.0f s", fit(what, a.width()-12), time.Since(start).Seconds())
			}
		}
	})
	return sync.OnceFunc(func() {
		close(done)
		drawing.Wait()
	})
}
