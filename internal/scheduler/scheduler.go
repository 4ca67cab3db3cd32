// Package scheduler shares a few processors among many long requests, in slices.
//
// A [Scheduler] has a place for each processor that long work may use. A [Job] is one long request. It calls
// [Job.Wait] between units of work: a job that has run for 10 ms while others wait yields and queues again
// (processor sharing; Kleinrock, "Time-shared Systems: A Theoretical Treatment", JACM 14(2), 1967). So a short
// job finishes soon beside any number of long ones.
//
// The number of jobs is bounded, and no peer can take all of them.
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

// ErrFull rejects a job.
var ErrFull = errors.New("too many long requests are in flight")

// slice is the time that a job keeps its place while others wait.
const slice = 10 * time.Millisecond

// A Scheduler decides which jobs have a place. It may be used concurrently.
type Scheduler struct {
	room *quota.Pool // for jobs

	mu     sync.Mutex
	free   int    // places
	fresh  []*Job // waiting for their first place, peers in turn
	turn   uint64 // of the last job that got its first place
	again  []*Job // waiting for another place
	favour bool   // the next place goes to again
}

// New returns a scheduler for at most capacity jobs. It has at least one place.
func New(places, capacity int) *Scheduler {
	return &Scheduler{room: quota.NewPool(int64(capacity)), free: max(1, places)}
}

// A Job is a long request. It is used by one goroutine at a time. A nil Job is short work, which never waits.
type Job struct {
	scheduler *Scheduler
	peer      netip.Addr
	beside    bool          // the peer had other jobs when it began
	granted   chan struct{} // capacity 1; receives when the job gets a place
	turn      uint64        // among fresh jobs; each peer has one in a turn
	placed    bool          // guarded by scheduler.mu, as the next
	began     time.Time     // when it got its last place; zero if it never had one
	used      time.Duration // of its slice, before began
}

// Admit returns a job without a place. The caller must call [Job.Done]. The error is [ErrFull] if the
// scheduler or the peer has too many jobs: see [quota.Pool.Refusal].
func (s *Scheduler) Admit(peer netip.Addr) (*Job, error) {
	if !s.room.Take(peer, 1) {
		return nil, s.room.Refusal(ErrFull, peer, 0, 1)
	}
	return &Job{scheduler: s, peer: peer, beside: s.room.Held(peer) > 1, granted: make(chan struct{}, 1)}, nil
}

// Beside reports whether the peer had other jobs when this one began, or has some now.
func (j *Job) Beside() bool {
	return j != nil && (j.beside || j.scheduler.room.Held(j.peer) > 1)
}

// Wait waits until the job has a place for its next unit of work. A job that has used up its slice queues
// behind the waiting ones. If ctx is done, the error is its cause, and the job has no place.
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

// queue queues the job for its next place, which it gets immediately if one is free. It returns
// false if the job keeps the one that it has.
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
		s.queueFresh(j)
	case j.used < slice: // it released its place early, and keeps the rest of its slice
		s.again = slices.Insert(s.again, 0, j)
	default:
		j.used = 0
		s.again = append(s.again, j)
	}
	s.grantLocked()
	return true
}

// queueFresh queues a job for its first place, one turn after the last of its peer.
func (s *Scheduler) queueFresh(j *Job) {
	j.turn = s.turn
	at := 0
	for _, o := range s.fresh {
		if o.peer == j.peer {
			j.turn = o.turn + 1
		}
	}
	for at < len(s.fresh) && s.fresh[at].turn <= j.turn {
		at++
	}
	s.fresh = slices.Insert(s.fresh, at, j)
}

// leave removes the job from the queue. It may just have got a place.
func (j *Job) leave() {
	s := j.scheduler
	s.mu.Lock()
	defer s.mu.Unlock()
	if j.placed {
		<-j.granted
		j.releaseLocked()
		s.grantLocked()
	}
	isThis := func(o *Job) bool { return o == j }
	s.fresh, s.again = slices.DeleteFunc(s.fresh, isThis), slices.DeleteFunc(s.again, isThis)
}

// Release gives up the job's place, if any, for example before it waits for its client. The next Wait queues
// ahead of jobs that have used up their slice.
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

// grantLocked gives the free places to waiting jobs: alternately to one of fresh and one of again, so that
// neither queue delays the other.
func (s *Scheduler) grantLocked() {
	for s.free > 0 && len(s.fresh)+len(s.again) > 0 {
		from := &s.fresh
		if len(s.fresh) == 0 || s.favour && len(s.again) > 0 {
			from = &s.again
		}
		s.favour = from == &s.fresh
		j := (*from)[0]
		s.turn = max(s.turn, j.turn)
		*from = slices.Delete(*from, 0, 1)
		s.free--
		j.placed, j.began = true, time.Now()
		j.granted <- struct{}{}
	}
}
