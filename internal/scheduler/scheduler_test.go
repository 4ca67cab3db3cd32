package scheduler

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/quota"
)

// unit is the time of a unit of work in these tests. Their clocks are synctest's: time passes only
// while a job works.
const unit = time.Millisecond

var peer = netip.MustParseAddr("192.0.2.1")

// work has a job do units of work and returns how long that took.
func work(t *testing.T, s *Scheduler, units int) time.Duration {
	t.Helper()
	j, err := s.Admit(peer)
	if err != nil {
		t.Error(err)
		return 0
	}
	defer j.Done()
	began := time.Now()
	for range units {
		assert.NoError(t, j.Wait(t.Context()))
		time.Sleep(unit)
	}
	return time.Since(began)
}

// idle fails the test unless all places are free, nobody waits and there are no jobs.
func (s *Scheduler) idle(t *testing.T, places, capacity int) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if room := int(s.room.Left()); s.free != places || room != capacity || len(s.fresh)+len(s.again) != 0 {
		t.Errorf("%d of %d places are free, there is room for %d of %d jobs, %d wait", s.free, places, room, capacity, len(s.fresh)+len(s.again))
	}
}

func TestShortJobsAreThroughBesideLongOnes(t *testing.T) {
	for _, c := range []struct {
		long, units int
		most        time.Duration
	}{
		{long: 1, units: 1, most: slice + unit},
		{long: 60, units: 1, most: slice + unit},              // the first slice comes after those that are taken
		{long: 60, units: 10, most: 2 * slice},                // one slice
		{long: 60, units: 11, most: 2*slice + 60*slice/2 + 2}, // the second after all others
	} {
		t.Run(fmt.Sprintf("%d units beside %d", c.units, c.long), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := New(2, 1024)
				for range c.long {
					go work(t, s, 1000)
				}
				time.Sleep(time.Second + unit/2)
				took := work(t, s, c.units)
				assert.Truef(t, took <= c.most+unit, "it took %v, want at most %v", took, c.most)
				time.Sleep(time.Hour)
				s.idle(t, 2, 1024)
			})
		})
	}
}

// A crowd of newcomers does not keep a long job from its end.
func TestNewcomersDoNotStarveLongJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(1, 1024)
		ended := make(chan time.Duration, 1)
		go func() { ended <- work(t, s, 100) }()
		synctest.Wait()
		crowd, stop := context.WithCancel(t.Context())
		var group sync.WaitGroup
		for range 20 {
			group.Go(func() {
				for range 100 {
					if crowd.Err() == nil {
						work(t, s, 10)
					}
				}
			})
		}
		took := <-ended
		assert.Truef(t, took <= 2*100*unit+slice, "100 units took %v beside newcomers, want at most twice as long", took)
		stop()
		group.Wait()
		s.idle(t, 1, 1024)
	})
}

// A peer with many jobs delays another by one of them.
func TestPeersTakeTurns(t *testing.T) {
	s, order := New(1, 1024), ""
	jobs := map[*Job]string{}
	for _, peer := range []string{"1", "1", "1", "2", "1", "2", "3"} {
		j, err := s.Admit(netip.MustParseAddr("192.0.2." + peer))
		require.NoError(t, err)
		require.True(t, j.queue())
		jobs[j] = peer
	}
	for range len(jobs) {
		for j, peer := range jobs {
			if j.placed {
				order += peer
				j.Done()
				delete(jobs, j)
				break
			}
		}
	}
	s.idle(t, 1, 1024)
	assert.Equal(t, "1123121", order, "the first had its place before others came")
}

func TestPlacesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const places = 3
		s := New(places, 1024)
		began, most := time.Now(), 0
		for range 30 {
			go work(t, s, 10)
		}
		for range 10 * 30 / places {
			synctest.Wait()
			s.mu.Lock()
			most = max(most, places-s.free)
			s.mu.Unlock()
			time.Sleep(unit)
		}
		synctest.Wait()
		s.idle(t, places, 1024) // no place was idle while others waited
		assert.Equal(t, places, most)
		assert.Equal(t, 100*unit, time.Since(began), "30 jobs took")
	})
}

func TestPeersLeaveRoom(t *testing.T) {
	s := New(1, 64)
	admitted := func(peer string) (jobs []*Job) {
		for {
			j, err := s.Admit(netip.MustParseAddr(peer))
			if errors.Is(err, ErrFull) {
				assert.ErrorIs(t, err, quota.ErrShare, peer)
				return jobs
			}
			jobs = append(jobs, j)
		}
	}
	first := admitted("192.0.2.1")
	second := admitted("192.0.2.2")
	third := admitted("2001:db8::1")
	assert.Truef(t, len(first) == 32 && len(second) == 16 && len(third) == 8,
		"three peers have %d, %d and %d jobs, want 32, 16 and 8", len(first), len(second), len(third))
	for i := range 3 { // take 4, 2 and 1 of the 8 that are left
		first = append(first, admitted(fmt.Sprintf("203.0.113.%d", i))...)
	}
	_, err := s.Admit(netip.MustParseAddr("203.0.113.9"))
	assert.Truef(t, errors.Is(err, ErrFull) && !errors.Is(err, quota.ErrShare), "a full scheduler refuses a new peer: %v", err)
	for _, j := range append(append(first, second...), third...) {
		j.Done()
	}
	s.idle(t, 1, 64)
}

func TestWaitEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(1, 8)
		holder, _ := s.Admit(peer)
		require.NoError(t, holder.Wait(t.Context()))
		left := errors.New("left")
		ctx, cancel := context.WithCancelCause(t.Context())
		waiter, _ := s.Admit(peer)
		ended := make(chan error, 1)
		go func() { ended <- waiter.Wait(ctx) }()
		synctest.Wait()
		cancel(left)
		assert.ErrorIs(t, <-ended, left, "it ended")
		waiter.Done()
		// Who has a place loses it.
		assert.ErrorIs(t, holder.Wait(ctx), left, "the holder ended")
		holder.Done()
		s.idle(t, 1, 8)
	})
}

func TestReleasedPlaceGoesToOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(1, 8)
		slow, _ := s.Admit(peer)
		require.NoError(t, slow.Wait(t.Context()))
		slow.Release() // it waits for its client
		assert.Equal(t, 5*unit, work(t, s, 5), "5 units took")
		assert.NoError(t, slow.Wait(t.Context()))
		slow.Done()
		s.idle(t, 1, 8)
	})
}

// A job that waits for its client between units has the same share as one that does not.
func TestReleasingEarlyCostsNoShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(2, 1024)
		for range 60 {
			go work(t, s, 1000)
		}
		time.Sleep(time.Second + unit/2)
		j, err := s.Admit(peer)
		require.NoError(t, err)
		began := time.Now()
		for range 50 {
			require.NoError(t, j.Wait(t.Context()))
			time.Sleep(unit)
			j.Release()
		}
		j.Done()
		// Five slices: four wait for 60 others. Each unit waits for less than a slice.
		took := time.Since(began)
		assert.Truef(t, took <= 4*60*slice/2+50*slice, "50 units took %v", took)
		time.Sleep(time.Hour)
		s.idle(t, 2, 1024)
	})
}

// Places are not lost when a context ends at the moment at which a place is granted.
func TestPlacesAreNotLost(t *testing.T) {
	s := New(2, 1024)
	ended := make(chan struct{})
	for range 200 {
		go func() {
			defer func() { ended <- struct{}{} }()
			j, err := s.Admit(peer)
			if err != nil {
				t.Error(err)
				return
			}
			defer j.Done()
			ctx, cancel := context.WithCancel(t.Context())
			go cancel()
			for j.Wait(ctx) == nil {
				j.Release()
			}
		}()
	}
	for range 200 {
		<-ended
	}
	s.idle(t, 2, 1024)
}

func TestShortWorkNeedsNoJob(t *testing.T) {
	var j *Job
	assert.NoError(t, j.Wait(t.Context()))
	j.Release()
	j.Done()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	assert.ErrorIs(t, j.Wait(ctx), context.Canceled)
}
