package anchor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// An object is the URL of a resource that supports conditional requests (RFC 9110, 13). The tag is
// its ETag.
type object string

// client has a redirect be the answer, which is an error: a PUT would become a GET.
var client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// Read implements holder.
func (o object) Read(ctx context.Context) (note []byte, tag string, err error) {
	status, header, note, err := o.send(ctx, http.MethodGet, nil, "", "")
	switch {
	case err != nil:
		return nil, "", err
	case status == http.StatusNotFound:
		return nil, "", nil
	case status != http.StatusOK:
		return nil, "", fmt.Errorf("it answered %d", status)
	case len(note) == 0:
		return nil, "", errEmpty
	case header.Get("ETag") == "":
		return nil, "", errors.New("it answered without an ETag, so it cannot be replaced safely")
	}
	return note, header.Get("ETag"), nil
}

// Replace implements holder.
func (o object) Replace(ctx context.Context, note []byte, tag string) error {
	condition, value := "If-Match", tag
	if tag == "" {
		condition, value = "If-None-Match", "*"
	}
	status, _, _, err := o.send(ctx, http.MethodPut, note, condition, value)
	switch {
	case err != nil:
		return err
	case status == http.StatusPreconditionFailed || status == http.StatusConflict:
		return ErrReplaced
	case status/100 != 2:
		return fmt.Errorf("it answered %d", status)
	}
	return nil
}

// send sends a request and reads the answer. Its error lacks the URL, which may have a secret.
func (o object) send(ctx context.Context, method string, body []byte, condition, value string) (int, http.Header, []byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, string(o), bytes.NewReader(body))
	if err != nil {
		return 0, nil, nil, errors.New("the URL is invalid")
	}
	if condition != "" {
		r.Header.Set(condition, value)
	}
	answer, err := client.Do(r)
	if err != nil {
		if withURL, ok := errors.AsType[*url.Error](err); ok {
			err = withURL.Err
		}
		return 0, nil, nil, err
	}
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxNote))
	return answer.StatusCode, answer.Header, text, errors.Join(err, answer.Body.Close())
}
