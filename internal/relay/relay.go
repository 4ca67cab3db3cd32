// Package relay gets signatures of a public beacon from relays of drand, by its HTTP API
// (https://docs.drand.love/dev-guide/API). None of them is trusted: every signature is checked.
package relay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"riffle/internal/beacon"
)

const timeout, maxAnswer = 2 * time.Second, 64 << 10 // for all relays together; in bytes

// client follows no redirect.
var client = http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// ErrNone is for a round whose signature no relay has.
var ErrNone = errors.New("no relay has the signature")

// Relays are the URLs of relays, without a slash at the end. As text they are separated by commas.
type Relays []string

// UnmarshalText parses URLs.
func (r *Relays) UnmarshalText(text []byte) error {
	*r = nil
	for part := range strings.FieldsFuncSeq(string(text), func(c rune) bool { return c == ',' || c == ' ' }) {
		u, err := url.Parse(part)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || strings.ContainsAny(part, "?#") {
			return fmt.Errorf("%q is not the URL of a relay, such as https://api.drand.sh", part)
		}
		*r = append(*r, strings.TrimSuffix(part, "/"))
	}
	return nil
}

// An answer is of a relay.
type answer struct {
	signature string
	from      string // the URL and the status, for errors
	err       error
}

// Signature asks all relays for the signature of a round and returns the first that check says is
// right, or the one that is known already. The error wraps [ErrNone], and says what each relay did.
func (r Relays) Signature(ctx context.Context, round beacon.Round, check func(context.Context, string) error) (string, error) {
	if signature := round.Known(); signature != "" {
		return signature, nil
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	answers, errs := make(chan answer, len(r)), []error{fmt.Errorf("%w of %s", ErrNone, round)}
	for _, relay := range r {
		go func() { answers <- ask(ctx, relay, round) }()
	}
	for range r {
		a := <-answers
		if a.err == nil {
			a.err = check(ctx, a.signature)
		}
		if a.err == nil {
			return a.signature, nil
		}
		errs = append(errs, fmt.Errorf("%s: %w", a.from, a.err))
	}
	return "", errors.Join(errs...)
}

// ask asks one relay.
func ask(ctx context.Context, relay string, round beacon.Round) answer {
	address := fmt.Sprintf("%s/%s/public/%d", relay, beacon.Hash, uint64(round))
	request, _ := http.NewRequestWithContext(ctx, http.MethodGet, address, nil) // no error, since it was parsed
	response, err := client.Do(request)
	if err != nil {
		return answer{from: request.URL.Redacted(), err: err}
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	var said struct {
		Signature string `json:"signature"`
	}
	err = json.UnmarshalRead(io.LimitReader(response.Body, maxAnswer), &said)
	return answer{said.Signature, request.URL.Redacted() + ": " + response.Status, err}
}
