// Package scheduler shares a few processors among many long requests, in slices.
//
// A [Scheduler] has some places, one for each processor that long work may take. A [Job] is one
// long request. It calls [Job.Wait] between units of work: whoever has had a place for a slice of
// 10 ms while others wait gives it up and queues again (processor sharing; Kleinrock, "Time-shared
// Systems: A Theoretical Treatment", JACM 14(2), 1967). So a short job is soon through beside any
// number of long ones.
//
// How many jobs there may be is bounded, and no peer can have them all.
package scheduler

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"sync"
	"time"

	"riffle/internal/quota"
)

// ErrFull is for a job for which there is no room at the moment.
var ErrFull = errors.New("too many long requests are in flight")

// slice is how long a job keeps its place while others wait.
const slice = 10 * time.Millisecond

// A Scheduler decides which jobs have a place. It may be used concurrently.
type Scheduler struct {
	room *quota.Pool // for jobs

	mu     sync.Mutex
	free   int    // places that no job has
	fresh  []*Job // wait for their first place, in the order in which they came
	again  []*Job // have had a place and wait for the next
	favour bool   // whether the next place goes to again
}

// New returns a scheduler of some places, for at most capacity jobs at the same time. There is at
// least one place.
func New(places, capacity int) *Scheduler {
	return &Scheduler{room: quota.NewPool(int64(capacity)), free: max(1, places)}
}

// A Job is a long request. It is used by one goroutine at a time. A nil Job is work too short to
// be shared: it always goes on.
type Job struct {
	scheduler *Scheduler
	peer      netip.Addr
	granted   chan struct{} // capacity 1; receives when the job gets a place
	placed    bool          // guarded by scheduler.mu, as the next
	began     time.Time     // when it got its last place; zero if it has had none
	used      time.Duration // of its slice, before that
}

// Admit returns a job of a peer, without a place. Call [Job.Done] when it is done. The error is
// [ErrFull] if there are as many jobs as may be, or as the peer may have: see [quota.Pool].
func (s *Scheduler) Admit(peer netip.Addr) (*Job, error) {
	if !s.room.Take(peer, 1) {
		return nil, ErrFull
	}
	return &Job{scheduler: s, peer: peer, granted: make(chan struct{}, 1)}, nil
}

// Wait returns when the job has a place and may go on with the next unit of work. If it has had its
// place for a slice and others wait, it queues behind them first. The error is the cause of the end
// of ctx; the job then has no place.
func (j *Job) Wait(ctx context.Context) error {
	if ctx.Err() != nil {
		j.Release()
		return context.Cause(ctx)
	}
	if j == nil || !j.queue() {
		return nil
	}
	select {
	case <-j.granted:
		return nil
	case <-ctx.Done():
		j.leave()
		return context.Cause(ctx)
	}
}

// queue reports whether the job has to wait for a place, and queues it if so.
func (j *Job) queue() bool {
	s := j.scheduler
	s.mu.Lock()
	defer s.mu.Unlock()
	if j.placed {
		if j.used+time.Since(j.began) < slice {
			return false
		}
		j.releaseLocked()
	}
	switch {
	case j.began.IsZero():
		s.fresh = append(s.fresh, j)
	case j.used < slice: // it gave its place up early, and has the rest of its slice
		s.again = slices.Insert(s.again, 0, j)
	default:
		j.used = 0
		s.again = append(s.again, j)
	}
	s.grantLocked()
	if j.placed { // nobody else waited
		<-j.granted
		return false
	}
	return true
}

// leave takes the job out of the queue. It may have got a place at the last moment.
func (j *Job) leave() {
	s := j.scheduler
	s.mu.Lock()
	defer s.mu.Unlock()
	if j.placed {
		<-j.granted
		j.releaseLocked()
		s.grantLocked()
		return
	}
	other := func(o *Job) bool { return o == j }
	s.fresh, s.again = slices.DeleteFunc(s.fresh, other), slices.DeleteFunc(s.again, other)
}

// Release gives up the place of the job, if it has one, such as before it waits for its client. The
// next Wait queues for another, ahead of those who have used up their slice.
func (j *Job) Release() {
	if j == nil {
		return
	}
	s := j.scheduler
	s.mu.Lock()
	defer s.mu.Unlock()
	j.releaseLocked()
	s.grantLocked()
}

// Done ends the job, which must not be used afterwards.
func (j *Job) Done() {
	if j == nil {
		return
	}
	j.Release()
	j.scheduler.room.Return(j.peer, 1)
}

func (j *Job) releaseLocked() {
	if j.placed {
		j.placed = false
		j.used += time.Since(j.began)
		j.scheduler.free++
	}
}

// grantLocked gives the free places to those who wait: in turn to one who has had none yet and to
// one who has, so that neither keeps the other waiting.
func (s *Scheduler) grantLocked() {
	for s.free > 0 && len(s.fresh)+len(s.again) > 0 {
		from := &s.fresh
		if len(s.fresh) == 0 || s.favour && len(s.again) > 0 {
			from = &s.again
		}
		s.favour = from == &s.fresh
		j := (*from)[0]
		*from = slices.Delete(*from, 0, 1)
		s.free--
		j.placed, j.began = true, time.Now()
		j.granted <- struct{}{}
	}
}
