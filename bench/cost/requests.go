package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
)

// A request is one whose cost is checked.
type request struct {
	name   string
	method string
	path   string
	body   string
	times  int                                // how often it is sent per measurement
	before func(http.Handler) (string, error) // sets up the path; nil if it is fixed
}

// requests are the hot path: what game servers send most, and one request that is nearly all
// shuffling.
var requests = []*request{
	{name: "POST /shuffle of 52 strings", method: http.MethodPost, path: "/shuffle", body: cards(), times: 1000},
	{name: "GET /decks/standard52", method: http.MethodGet, path: "/decks/standard52", times: 1000},
	{name: "POST /commitments", method: http.MethodPost, path: "/commitments", body: `{"deck":"standard52"}`, times: 1000},
	{name: "POST /shoes/{id}/draw", method: http.MethodPost, body: `{"count":1}`, before: makeShoe, times: 380},
	{name: "POST /shuffle of a deck 1000 times", method: http.MethodPost, path: "/shuffle", body: `{"deck":"standard52","repeat":1000}`, times: 20},
}

// cards returns a body of 52 strings, the usual codes of cards.
func cards() string {
	var codes []string
	for _, suit := range "SHDC" {
		for _, rank := range "A23456789TJQK" {
			codes = append(codes, strconv.Quote(string(rank)+string(suit)))
		}
	}
	return `{"items":[` + strings.Join(codes, ",") + `]}`
}

// makeShoe makes a shoe of eight decks and returns the path of its draws. It has enough cards for
// [warmUp] and for what is measured.
func makeShoe(handler http.Handler) (string, error) {
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, newRequest(http.MethodPost, "/shoes", `{"deck":"standard52","decks":8}`))
	var made struct {
		ID string `json:"shoe_id"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &made); err != nil || w.Code != http.StatusOK {
		return "", fmt.Errorf("making a shoe: status %d: %s", w.Code, w.Body)
	}
	return "/shoes/" + made.ID + "/draw", nil
}

func newRequest(method, path, body string) *http.Request {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	return r
}

// named returns the request of a name.
func named(name string) (*request, error) {
	for _, r := range requests {
		if r.name == name {
			return r, nil
		}
	}
	return nil, fmt.Errorf("no request is named %q", name)
}
