package access

import (
	"math"
	"time"

	"golang.org/x/time/rate"
)

// Rates bound what one caller uses. 0 is no bound.
type Rates struct {
	Requests float64 // a second
	Burst    int     // requests that may come at once; 0 for those of one second
	Records  float64 // that requests write a second
	Bytes    float64 // of answers, a second
}

// burst returns how many requests may come at once.
func (r Rates) burst() int {
	if r.Burst > 0 {
		return r.Burst
	}
	return max(1, int(math.Ceil(r.Requests)))
}

// A limiter counts what one caller uses. Records and bytes are known only when a request is over, so
// a caller may exceed them once, and then waits until they are made up for. It may be used
// concurrently.
type limiter struct {
	rates                    Rates
	requests, records, bytes *rate.Limiter // nil for no bound
}

func newLimiter(r Rates) *limiter {
	bucket := func(perSecond float64, burst int) *rate.Limiter {
		if perSecond == 0 {
			return nil
		}
		return rate.NewLimiter(rate.Limit(perSecond), burst)
	}
	second := func(perSecond float64) int { return max(1, int(min(perSecond, math.MaxInt32))) }
	return &limiter{
		rates:    r,
		requests: bucket(r.Requests, r.burst()),
		records:  bucket(r.Records, second(r.Records)),
		bytes:    bucket(r.Bytes, second(r.Bytes)),
	}
}

// take takes a request from the limiter. It returns how long to wait for it; 0 if it was taken.
func (l *limiter) take(now time.Time, writes bool) time.Duration {
	wait := owed(l.bytes, now)
	if writes {
		wait = max(wait, owed(l.records, now))
	}
	if wait > 0 || l.requests == nil || l.requests.AllowN(now, 1) {
		return wait
	}
	return after(l.requests, 1-l.requests.TokensAt(now))
}

// owed returns after what time a bucket has something again; 0 if it has.
func owed(b *rate.Limiter, now time.Time) time.Duration {
	if b == nil {
		return 0
	}
	if tokens := b.TokensAt(now); tokens < 1 {
		return after(b, 1-tokens)
	}
	return 0
}

// after returns the time in which a bucket gets so many tokens.
func after(b *rate.Limiter, tokens float64) time.Duration {
	seconds := tokens / float64(b.Limit())
	return time.Duration(min(math.Ceil(seconds*1e9), math.MaxInt64/2))
}

// charge takes what a request has used, whether or not it is there.
func (l *limiter) charge(now time.Time, records, bytes int) {
	overdraw(l.records, now, records)
	overdraw(l.bytes, now, bytes)
}

// overdraw takes n tokens from a bucket, in parts, since a bucket never gives more than it holds
// when it is full.
func overdraw(b *rate.Limiter, now time.Time, n int) {
	if b == nil {
		return
	}
	for ; n > b.Burst(); n -= b.Burst() {
		b.ReserveN(now, b.Burst())
	}
	b.ReserveN(now, n)
}

// Remaining is what is left of a caller's requests.
type Remaining struct {
	Requests int           // that may come now
	Full     time.Duration // until Burst may
	Burst    int
	Window   time.Duration // in which Burst requests become available; 0 if requests are not limited
}

func (l *limiter) remaining(now time.Time) Remaining {
	if l.requests == nil {
		return Remaining{}
	}
	tokens, burst := l.requests.TokensAt(now), l.requests.Burst()
	return Remaining{
		Requests: max(0, int(tokens)), Full: after(l.requests, float64(burst)-tokens),
		Burst: burst, Window: after(l.requests, float64(burst)),
	}
}
