package httpserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"time"

	"golang.org/x/sync/semaphore"

	"riffle/internal/budget"
	"riffle/internal/quota"
	"riffle/internal/scheduler"
)

// LongRequests shares a few processors among long requests: proofs of shoes, pictures and
// long shuffles. Each ends when its client leaves. Proofs and pictures also end after a time limit, and
// when the server stops.
type LongRequests struct {
	scheduler    *scheduler.Scheduler
	memory       *semaphore.Weighted // bytes for all reads
	maxMemory    int64
	limit        time.Duration // of a read
	writeTimeout time.Duration
	stopping     context.Context // done after Stop
	stop         context.CancelFunc
}

const (
	defaultLimit = 2 * time.Minute
	// maxLong is the number of long requests that may be in flight.
	maxLong = 128
	// littleMemory is the number of bytes that a read may use without waiting for others.
	littleMemory = 1 << 20
)

var (
	// ErrTime ends a read at its time limit. It is also [quota.ErrShare] if the read was beside
	// other long requests of the caller.
	ErrTime = errors.New("the request exceeded its time limit")
	// ErrStopping ends a read when the server stops.
	ErrStopping = errors.New("the server is stopping")
)

// NewLongRequests leaves one processor to short requests. An eighth of the memory budget is for
// reads. A zero limit defaults to two minutes.
func NewLongRequests(memory *budget.Budget, limit, writeTimeout time.Duration) *LongRequests {
	limit = cmp.Or(limit, defaultLimit)
	l := &LongRequests{
		scheduler: scheduler.New(runtime.GOMAXPROCS(0)-1, maxLong),
		maxMemory: memory.Size() / 8, limit: limit, writeTimeout: writeTimeout,
	}
	l.memory = semaphore.NewWeighted(l.maxMemory)
	l.stopping, l.stop = context.WithCancel(context.Background())
	return l
}

// Stop ends the reads in flight with ErrStopping. They change nothing, so clients can
// repeat them at another instance.
func (l *LongRequests) Stop() { l.stop() }

// Admit admits a long request, and extends its deadlines. The error is [scheduler.ErrFull].
func (l *LongRequests) Admit(w http.ResponseWriter, r *http.Request) (*scheduler.Job, error) {
	job, err := l.scheduler.Admit(quota.Peer(r.RemoteAddr))
	if err != nil {
		return nil, err
	}
	// net/http watches for the end of the connection, and takes the read timeout for it. The request has
	// been read, so it needs none.
	control := http.NewResponseController(w)
	err = errors.Join(control.SetReadDeadline(time.Time{}), control.SetWriteDeadline(time.Now().Add(l.limit+l.writeTimeout)))
	if err != nil && !errors.Is(err, http.ErrNotSupported) {
		job.Done()
		panic(http.ErrAbortHandler) // the client has left
	}
	return job, nil
}

// A LongRead is a request that may take long and changes nothing: for a picture or the proof of a shoe.
// Its context ends with the request, the server or the time limit.
type LongRead struct {
	*scheduler.Job // nil while the work is short
	Context        context.Context
	long           *LongRequests
	w              http.ResponseWriter
	r              *http.Request
	lease          *budget.Lease
	timer          *time.Timer
	cancel         func()
	memory         int64 // bytes of long.memory
}

// Read returns the read of a request. The caller must call Done.
func (l *LongRequests) Read(w http.ResponseWriter, r *http.Request, lease *budget.Lease) *LongRead {
	ctx, cancel := context.WithCancelCause(r.Context())
	timer := time.AfterFunc(l.limit, func() { cancel(ErrTime) })
	stop := context.AfterFunc(l.stopping, func() { cancel(ErrStopping) })
	return &LongRead{Context: ctx, long: l, w: w, r: r, lease: lease, timer: timer, cancel: func() {
		timer.Stop()
		stop()
		cancel(nil)
	}}
}

// Begin waits until work of so many bytes may begin. Work that is not short takes a place among the
// long requests. Reads that need much memory wait for each other, since each holds its bytes to
// the end.
func (p *LongRead) Begin(ctx context.Context, short bool, bytes int64) (err error) {
	if !short {
		if p.Job, err = p.long.Admit(p.w, p.r); err != nil {
			return err
		}
	}
	if bytes > littleMemory {
		shared := min(bytes, p.long.maxMemory)
		if err := p.long.memory.Acquire(ctx, shared); err != nil {
			return err
		}
		p.memory = shared
	}
	if err := p.lease.Grow(bytes); err != nil {
		return err
	}
	return p.Wait(ctx)
}

// StopTimer ends the time limit, once an answer is being sent.
func (p *LongRead) StopTimer() { p.timer.Stop() }

// Done ends the read.
func (p *LongRead) Done() {
	p.Job.Done()
	p.long.memory.Release(p.memory)
	p.cancel()
}

// Cause returns the reason why the read was ended, if it was and the client has not left; otherwise
// err.
func (p *LongRead) Cause(err error) error {
	if p.Context.Err() != nil && p.r.Context().Err() == nil {
		err = context.Cause(p.Context)
	}
	if errors.Is(err, ErrTime) && p.Beside() {
		return fmt.Errorf("%w: %w", ErrTime, quota.ErrShare)
	}
	return err
}
