package anchor

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// An object is a resource of a web server or a bucket that supports conditional requests (RFC 9110, 13).
// The tag is its ETag.
type object struct {
	url    string
	region string // of a bucket, which takes signed requests; empty for a web server
}

// client has a redirect be the answer, which is an error: a PUT would become a GET.
var client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// Read implements holder.
func (o *object) Read(ctx context.Context) (note []byte, tag string, err error) {
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
func (o *object) Replace(ctx context.Context, note []byte, tag string) error {
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
func (o *object) send(ctx context.Context, method string, body []byte, condition, value string) (int, http.Header, []byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, o.url, bytes.NewReader(body))
	if err != nil {
		return 0, nil, nil, errors.New("the URL is invalid")
	}
	if condition != "" {
		r.Header.Set(condition, value)
	}
	if o.region != "" {
		if err := sign(r, body, o.region); err != nil {
			return 0, nil, nil, err
		}
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

// newBucket returns the object s3://bucket/key. Its query may name the endpoint, which is Amazon's by
// default, and the region.
func newBucket(u *url.URL) *object {
	region := cmp.Or(u.Query().Get("region"), os.Getenv("AWS_REGION"), "us-east-1")
	endpoint := cmp.Or(u.Query().Get("endpoint"), "https://s3."+region+".amazonaws.com")
	return &object{url: endpoint + "/" + u.Host + u.EscapedPath(), region: region}
}

// sign signs a request to S3 (AWS Signature Version 4) with the credentials in AWS_ACCESS_KEY_ID,
// AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN.
func sign(r *http.Request, body []byte, region string) error {
	digest := sha256.Sum256(body)
	payload := hex.EncodeToString(digest[:])
	r.Header.Set("X-Amz-Content-Sha256", payload)
	key := aws.Credentials{
		AccessKeyID: os.Getenv("AWS_ACCESS_KEY_ID"), SecretAccessKey: os.Getenv("AWS_SECRET_ACCESS_KEY"), SessionToken: os.Getenv("AWS_SESSION_TOKEN"),
	}
	unescaped := func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true } // as S3 asks
	if key.AccessKeyID == "" || key.SecretAccessKey == "" {
		return errors.New("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set")
	}
	return v4.NewSigner(unescaped).SignHTTP(r.Context(), key, r, payload, "s3", region, time.Now())
}
