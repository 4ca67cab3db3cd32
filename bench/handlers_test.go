package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"riffle/bench/load"
)

// respond returns a handler's response to a request of the measurements.
func respond(t *testing.T, name string, r load.Request) []byte {
	t.Helper()
	w := httptest.NewRecorder()
	newHandler(name).ServeHTTP(w, httptest.NewRequest(r.Method, r.Path, strings.NewReader(r.Body)))
	if w.Code != http.StatusOK {
		t.Fatalf("%s: status %d", name, w.Code)
	}
	body, err := io.ReadAll(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func itemsOf(t *testing.T, body []byte) (items []string) {
	t.Helper()
	var list struct{ Items []json.RawMessage }
	if err := json.Unmarshal(body, &list); err != nil {
		t.Fatal(err)
	}
	for _, item := range list.Items {
		items = append(items, string(item))
	}
	return items
}

func TestUsualHandlerShuffles(t *testing.T) {
	sent := itemsOf(t, []byte(cards()))
	if len(sent) != 52 {
		t.Fatalf("a deck has %d cards", len(sent))
	}
	first, second := itemsOf(t, respond(t, usualHandler, shuffleOf52)), itemsOf(t, respond(t, usualHandler, shuffleOf52))
	if slices.Equal(first, second) || slices.Equal(first, sent) {
		t.Error("two responses are the same, or in the order of the request")
	}
	slices.Sort(sent)
	slices.Sort(first)
	if !slices.Equal(first, sent) {
		t.Errorf("response %s, want the items of the request", first)
	}
}

func TestOtherHandlers(t *testing.T) {
	if got := respond(t, echoHandler, shuffleOf52); string(got) != shuffleOf52.Body {
		t.Errorf("the echo handler responded with %s", got)
	}
	if got := respond(t, fixedHandler, deckOf52); len(got) != 500 || !json.Valid(got) {
		t.Errorf("the fixed-body handler responded with %d bytes: %s", len(got), got)
	}
}

func TestBodies(t *testing.T) {
	body := items(1000)
	if list := itemsOf(t, []byte(body)); len(list) != 1000 || len(list[0]) != 10 {
		t.Errorf("1000 items are %d of %d bytes", len(list), len(list[0]))
	}
	if n, err := split([]byte(body)); n != 1000 || err != nil {
		t.Errorf("split into %d items, %v", n, err)
	}
	for less := 1; less <= 2; less++ {
		if _, err := split([]byte(body[:len(body)-less])); err == nil {
			t.Errorf("a body without its last %d bytes is split", less)
		}
	}
}
