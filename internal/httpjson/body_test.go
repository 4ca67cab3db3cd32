package httpjson

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/budget"
)

// request returns a request with a JSON body, of announced length unless chunked.
func request(t *testing.T, body io.Reader, length int64) *http.Request {
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", body)
	r.ContentLength = length
	r.Header.Set("Content-Type", "application/json")
	return r
}

// TestReadReturnsTheBody reads bodies of many lengths concurrently, by pieces, announced or not, and
// compares them with what was sent: pooled buffers must not be shared.
func TestReadReturnsTheBody(t *testing.T) {
	room := budget.New(1 << 30)
	var readers sync.WaitGroup
	for reader := range 4 {
		readers.Go(func() {
			for n, length := range []int{0, 1, 10, firstRead - 1, firstRead, firstRead + 1, budget.Free, budget.Free + 1, 300_000, 1 << 20, 100, 70_000} {
				want := bytes.Repeat([]byte{byte('a' + reader)}, length)
				for _, announced := range []int64{int64(length), -1} {
					lease := room.Lease(netip.MustParseAddr("192.0.2.1"))
					var in io.Reader = bytes.NewReader(want)
					if n%2 == reader%2 {
						in = iotest.HalfReader(in)
					}
					got, err := Read(httptest.NewRecorder(), request(t, in, announced), 1<<20, lease)
					assert.Truef(t, err == nil && bytes.Equal(got, want), "a body of %d bytes, announced as %d: got %d, %v", length, announced, len(got), err)
					lease.Release()
				}
			}
		})
	}
	readers.Wait()
	assert.EqualValues(t, 1<<30, room.Left())
}

// TestRoomFollowsWhatHasArrived grows the buffer of a body that announces much.
func TestRoomFollowsWhatHasArrived(t *testing.T) {
	const announced = 1_000_000
	room := int64(0)
	for room <= announced {
		next := roomAfter(room, announced)
		require.Truef(t, next > room && next <= max(2*room, firstRead) && next <= announced+1, "%d bytes are followed by room for %d", room, next)
		room = next
	}
	assert.EqualValues(t, announced+1, room, "the last room")
}

// TestBudgetBoundsBodies has two leases share a budget. A peer's share suffices for one long body.
func TestBudgetBoundsBodies(t *testing.T) {
	const length = 100_000
	const one = weight*(length+1) - budget.Free
	room := budget.New(2 * one)
	read := func(lease *budget.Lease, length int) error {
		_, err := Read(httptest.NewRecorder(), request(t, strings.NewReader(strings.Repeat(" ", length)), int64(length)), 1<<20, lease)
		return err
	}
	first, second, short := room.Lease(netip.MustParseAddr("192.0.2.1")), room.Lease(netip.MustParseAddr("192.0.2.2")), room.Lease(netip.MustParseAddr("192.0.2.2"))
	require.NoError(t, read(first, length))
	assert.Error(t, first.Grow(1), "a lease grew beyond the budget")
	assert.ErrorIs(t, read(second, length), budget.ErrFull, "a body beyond the budget")
	second.Release()
	assert.NoError(t, read(short, 1000), "a short body beside a long one")
	first.Release()
	assert.NoError(t, read(second, length), "after the first was released")
	second.Release()
	assert.EqualValues(t, 2*one, room.Left())
}

// TestUnreadableBodies sends bodies that are refused, and looks at status and whether the
// connection can be used again.
func TestUnreadableBodies(t *testing.T) {
	for name, c := range map[string]struct {
		body   io.Reader
		length int64
		header [2]string
		want   Error
	}{
		"announced too long": {strings.NewReader(""), 11, [2]string{}, Error{Status: 413}},
		"too long":           {strings.NewReader("12345678901"), -1, [2]string{}, Error{Status: 413}},
		"broken off":         {iotest.ErrReader(io.ErrUnexpectedEOF), 5, [2]string{}, Error{Status: 400}},
		"too slow":           {iotest.ErrReader(os.ErrDeadlineExceeded), 5, [2]string{}, Error{Status: 408}},
		"compressed":         {strings.NewReader(""), 0, [2]string{"Content-Encoding", "gzip"}, Error{Status: 415}},
		"text":               {strings.NewReader(""), 0, [2]string{"Content-Type", "text/plain"}, Error{Status: 415}},
		"Latin-1":            {strings.NewReader(""), 0, [2]string{"Content-Type", "application/json; charset=iso-8859-1"}, Error{Status: 415}},
	} {
		r := request(t, c.body, c.length)
		if c.header[0] != "" {
			r.Header.Set(c.header[0], c.header[1])
		}
		_, err := Read(httptest.NewRecorder(), r, 10, budget.New(0).Lease(netip.MustParseAddr("192.0.2.1")))
		e, ok := err.(*Error) //nolint:errorlint // it is returned unwrapped
		assert.Truef(t, ok && e.Status == c.want.Status && e.Detail != "", "%s: %#v", name, err)
	}
}

//go:embed testdata/errors.txt
var errorsFile string

// TestReaderErrors reads bodies that are not what was wanted, and looks at what the errors say.
func TestReaderErrors(t *testing.T) {
	for line := range strings.Lines(errorsFile) {
		body, want, found := strings.Cut(strings.TrimSuffix(line, "\n"), " =>")
		if !found {
			continue
		}
		want = strings.TrimPrefix(want, " ")
		d, err := NewReader([]byte(body), budget.New(0).Lease(netip.MustParseAddr("192.0.2.1")))
		require.NoError(t, err)
		err = d.Object("a JSON object", func(name string) (err error) {
			switch name {
			case "n":
				_, err = d.Count(0, 52)
			case "s":
				_, err = d.String()
			case "b":
				_, err = d.Bool()
			case "e":
				_, err = d.Elements(10)
			case "a":
				err = d.Array("an array", func(int) error {
					_, err := d.Count(0, 52)
					return err
				})
			}
			return err
		})
		if err == nil {
			err = d.End()
		}
		got := ""
		if e, ok := err.(*Error); ok { //nolint:errorlint // it is returned unwrapped
			got = fmt.Sprintf("%d %s %s", e.Status, e.Pointer, e.Detail)
		}
		assert.Equal(t, want, got, body)
	}
}

// TestPartsAreCharged decodes a body of many parts with a budget that has room for them, and with one
// that has not. What only decoding needs is returned when it ends.
func TestPartsAreCharged(t *testing.T) {
	const members, elements = 300, 1_000
	var text strings.Builder
	for i := range members {
		fmt.Fprintf(&text, `"%d":{},`, i)
	}
	body := "{" + text.String() + `"a":[0` + strings.Repeat(",0", elements-1) + "]}"
	decode := func(lease *budget.Lease) error {
		body, err := Read(httptest.NewRecorder(), request(t, strings.NewReader(body), int64(len(body))), 1<<20, lease)
		if err != nil {
			return err
		}
		d, err := NewReader(body, lease)
		if err != nil {
			return err
		}
		err = d.Object("a JSON object", func(name string) error {
			if name != "a" {
				return d.decoder.SkipValue()
			}
			return d.Array("an array", func(int) error {
				_, err := d.Count(0, 52)
				return err
			})
		})
		return errors.Join(err, d.End())
	}
	received := int64(len(body)+1) * weight
	decoded := int64(members+1+elements) * partBytes
	room := budget.New(1 << 20)
	lease := room.Lease(netip.MustParseAddr("192.0.2.1"))
	require.NoError(t, decode(lease))
	assert.Equal(t, 1<<20-(received+decoded-budget.Free), room.Left())
	lease.Release()
	assert.EqualValues(t, 1<<20, room.Left())
	for _, bytes := range []int64{received, received + (members+1)*nameBytes, received + decoded - 1} {
		assert.Errorf(t, decode(budget.New(2*(bytes-budget.Free)).Lease(netip.MustParseAddr("192.0.2.1"))),
			"the body is decoded in %d bytes", bytes)
	}
}

// TestNames counts the names that a decoder remembers, which are charged while it reads.
func TestNames(t *testing.T) {
	many := func(object string) string { return strings.Repeat(object, fewNames+1) }
	for body, want := range map[string]int64{
		`{"a":1}`:                                  0,
		many(`"a":1,`):                             fewNames + 1,
		many(`"\":",`):                             0,
		`[` + many(`{"a":1},`):                     1,
		many(`{"a":1,"b":2},`):                     2,
		`{"a":1,"b":{"c":1},` + many(`"d":{},`):    fewNames + 3,
		`{"a":{"b":{"c":1}},"d":{` + many(`:`):     fewNames + 4,
		many(`{"a":`):                              fewNames + 1,
		strings.Repeat(`{`, deepest+1) + many(`:`): 0,
		`}}` + many(`:`) + `"`:                     fewNames + 1,
	} {
		assert.Equalf(t, want, names([]byte(body)), "%.80s", body)
	}
	const most = 10_000
	body := []byte("{" + strings.Repeat(`"a":1,`, most))
	_, err := NewReader(body, budget.New(most).Lease(netip.MustParseAddr("192.0.2.1")))
	require.ErrorIs(t, err, budget.ErrFull)
	room := budget.New(4 * most * nameBytes)
	d, err := NewReader(body, room.Lease(netip.MustParseAddr("192.0.2.1")))
	require.NoError(t, err)
	assert.EqualValues(t, 3*most*nameBytes+budget.Free, room.Left())
	require.Error(t, d.End())
}
