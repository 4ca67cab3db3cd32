package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// answerOf asks a handler for what the measurements ask it for.
func answerOf(t *testing.T, name string, r *request) []byte {
	t.Helper()
	handler, err := newHandler(name)
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest(r.method, r.path, strings.NewReader(r.body)))
	if w.Code != http.StatusOK {
		t.Fatalf("%s: answered %d", name, w.Code)
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

func TestTheUsualHandlerShuffles(t *testing.T) {
	sent := itemsOf(t, []byte(cards()))
	if len(sent) != 52 {
		t.Fatalf("a deck has %d cards", len(sent))
	}
	first, second := itemsOf(t, answerOf(t, usualHandler, shuffleOf52)), itemsOf(t, answerOf(t, usualHandler, shuffleOf52))
	if slices.Equal(first, second) || slices.Equal(first, sent) {
		t.Error("two answers are alike, or as what was sent")
	}
	slices.Sort(sent)
	slices.Sort(first)
	if !slices.Equal(first, sent) {
		t.Errorf("answered %s, which is not what was sent", first)
	}
}

func TestTheOtherHandlers(t *testing.T) {
	if got := answerOf(t, echoHandler, shuffleOf52); string(got) != shuffleOf52.body {
		t.Errorf("the echo handler answered %s", got)
	}
	if got := answerOf(t, fixedHandler, deckOf52); len(got) != 500 || !json.Valid(got) {
		t.Errorf("the fixed-body handler answered %d bytes: %s", len(got), got)
	}
	if _, err := newHandler("unusual"); err == nil {
		t.Error("there is a handler that nobody wrote")
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
