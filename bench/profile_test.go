package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
)

func readProfile(t *testing.T, path string) *profile.Profile {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	p, err := profile.Parse(f)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestProfileIsOfTheService checks the profile that the service is built by, because the compiler
// silently ignores functions that no longer exist.
func TestProfileIsOfTheService(t *testing.T) {
	p := readProfile(t, filepath.Join("..", profilePath))
	found := map[string]bool{}
	for _, f := range p.Function {
		found[f.Name] = true
	}
	for _, name := range []string{
		"riffle/internal/api.(*API).shuffle", "riffle/internal/api.(*API).dealDeck", "riffle/internal/dealer.(*Dealer).Shuffle",
		"riffle/internal/ledger.(*Log).Append", "riffle/internal/ledger.(*Log).follow", "riffle/internal/ledger/sqlite.(*writer).append",
		"riffle/internal/rng.(*Stream).Descend", "net/http.(*conn).serve",
	} {
		if !found[name] {
			t.Errorf("%s is not in the profile; make a new one: go run ./bench profile", name)
		}
	}
	for _, m := range p.Mapping {
		if m.File != "" || m.BuildID != "" {
			t.Errorf("the profile says where it was made: %q, %q", m.File, m.BuildID)
		}
	}
	for _, f := range p.Function {
		if excluded.MatchString(f.Name) {
			t.Errorf("%s is in the profile", f.Name)
		}
		if f.Filename != "" {
			t.Errorf("the profile says where %s was built: %q", f.Name, f.Filename)
		}
	}
	if p.TimeNanos != 0 {
		t.Error("the profile says when it was made")
	}
}

func TestPublishProfileRemovesOnlyWhereItWasMade(t *testing.T) {
	folder := t.TempDir()
	from, to := filepath.Join(folder, "from"), filepath.Join(folder, "to")
	m := &profile.Mapping{ID: 1, File: "/home/somebody/server", BuildID: "1234"}
	f := &profile.Function{ID: 1, Name: "main.main", Filename: "/home/somebody/main.go", StartLine: 10}
	l := &profile.Location{ID: 1, Mapping: m, Line: []profile.Line{{Function: f, Line: 12}}}
	sum := &profile.Function{ID: 2, Name: "crypto/sha256.Sum256"}
	in := &profile.Location{ID: 2, Mapping: m, Line: []profile.Line{{Function: sum, Line: 7}}}
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}}, TimeNanos: 1, DurationNanos: 2,
		Sample:  []*profile.Sample{{Location: []*profile.Location{in, l}, Value: []int64{7}}},
		Mapping: []*profile.Mapping{m}, Function: []*profile.Function{f, sum}, Location: []*profile.Location{l, in},
	}
	out, err := os.Create(from)
	if err == nil {
		err = p.Write(out)
	}
	if err == nil {
		err = out.Close()
	}
	if err == nil {
		err = publishProfile(from, to)
	}
	if err != nil {
		t.Fatal(err)
	}
	published := readProfile(t, to)
	if strings.Contains(published.String(), "somebody") {
		t.Errorf("published: %s", published)
	}
	if len(published.Function) != 1 {
		t.Errorf("published: %s", published)
	}
	at := published.Sample[0].Location[0].Line[0]
	if at.Function.Name != "main.main" || at.Function.StartLine != 10 || at.Line != 12 || published.Sample[0].Value[0] != 7 {
		t.Errorf("published: %s", published)
	}
}
