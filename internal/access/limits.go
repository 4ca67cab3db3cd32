package access

import (
	"cmp"
	"math"
	"time"

	"golang.org/x/time/rate"
)

// Rates limit one caller, per second. 0 is no limit.
type Rates struct {
	Requests float64
	Burst    int     // largest burst of requests; 0 for the requests of one second
	Records  float64 // written by requests
	Bytes    float64 // of responses
}

// A limiter applies [Rates] to one caller. A request's records and bytes are charged when it ends, so
// a caller may overdraw them once and then waits. It is safe for concurrent use. The zero value limits
// nothing, and copies share their buckets.
type limiter struct {
	requests, records, bytes *rate.Limiter // nil for no limit
}

func newLimiter(r Rates) limiter {
	bucket := func(perSecond float64, burst int) *rate.Limiter {
		if perSecond == 0 {
			return nil
		}
		return rate.NewLimiter(rate.Limit(perSecond), burst)
	}
	second := func(perSecond float64) int { return max(1, int(min(perSecond, math.MaxInt32))) }
	return limiter{
		requests: bucket(r.Requests, cmp.Or(r.Burst, max(1, int(math.Ceil(r.Requests))))),
		records:  bucket(r.Records, second(r.Records)),
		bytes:    bucket(r.Bytes, second(r.Bytes)),
	}
}

// take admits a request and returns 0, or returns the time to wait.
func (l limiter) take(now time.Time, writes bool) time.Duration {
	wait := refill(l.bytes, now)
	if writes {
		wait = max(wait, refill(l.records, now))
	}
	if wait > 0 || l.requests == nil || l.requests.AllowN(now, 1) {
		return wait
	}
	return timeFor(l.requests, 1-l.requests.TokensAt(now))
}

// refill returns the time until a bucket has a token.
func refill(b *rate.Limiter, now time.Time) time.Duration {
	if b == nil {
		return 0
	}
	if tokens := b.TokensAt(now); tokens < 1 {
		return timeFor(b, 1-tokens)
	}
	return 0
}

// timeFor returns the time in which a bucket gains this many tokens.
func timeFor(b *rate.Limiter, tokens float64) time.Duration {
	seconds := tokens / float64(b.Limit())
	return time.Duration(min(math.Ceil(seconds*1e9), math.MaxInt64/2))
}

// charge takes a request's records and bytes, even if the buckets are empty.
func (l limiter) charge(now time.Time, records, bytes int) {
	charge(l.records, now, records)
	charge(l.bytes, now, bytes)
}

// charge takes n tokens from a bucket, in parts: one reservation cannot exceed the bucket's size.
func charge(b *rate.Limiter, now time.Time, n int) {
	if b == nil {
		return
	}
	for ; n > b.Burst(); n -= b.Burst() {
		b.ReserveN(now, b.Burst())
	}
	b.ReserveN(now, n)
}

// Remaining is the rest of a caller's rate of requests.
type Remaining struct {
	Requests int           // accepted now
	Full     time.Duration // until Burst requests are accepted
	Burst    int
	Window   time.Duration // from an empty bucket to a full one; 0 if requests are not limited
}

func (l limiter) remaining(now time.Time) Remaining {
	if l.requests == nil {
		return Remaining{}
	}
	tokens, burst := l.requests.TokensAt(now), l.requests.Burst()
	return Remaining{
		Requests: max(0, int(tokens)), Full: timeFor(l.requests, float64(burst)-tokens),
		Burst: burst, Window: timeFor(l.requests, float64(burst)),
	}
}
