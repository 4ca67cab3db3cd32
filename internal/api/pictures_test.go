package api_test

import (
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
)

// Every card of every deck has its picture at the address of its code, and every deck has a back.
func TestEveryCardHasAPicture(t *testing.T) {
	s := start(t, setup{})
	pictures := 0
	for _, kind := range s.Rules.Decks.Types() {
		names := []string{"back"}
		for _, c := range kind.Faces() {
			names = append(names, c.Code)
		}
		seen := map[string]string{}
		for _, name := range names {
			answer := s.do(get(t, "/cards/"+kind.Name+"/"+name+".svg"))
			body := readBody(t, answer)
			if answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Type") != "image/svg+xml" || answer.Header.Get("X-Content-Type-Options") != "nosniff" ||
				!strings.Contains(answer.Header.Get("Content-Security-Policy"), "default-src 'none'") {
				t.Fatalf("%s %s: %d, %v", kind.Name, name, answer.StatusCode, answer.Header)
			}
			if err := wellFormed(body); err != nil {
				t.Errorf("%s %s: %v", kind.Name, name, err)
			}
			if other, ok := seen[string(body)]; ok {
				t.Errorf("%s: %s and %s look alike", kind.Name, name, other)
			}
			seen[string(body)] = name
			pictures++
		}
	}
	t.Logf("%d pictures", pictures)
}

func wellFormed(text []byte) error {
	d := xml.NewDecoder(strings.NewReader(string(text)))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}
