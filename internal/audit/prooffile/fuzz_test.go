package prooffile_test

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"reflect"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/evanw/esbuild/pkg/api"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/audit"
	"riffle/internal/audit/prooffile"
	"riffle/internal/deck"
)

var (
	fuzzFor  = flag.Duration("mutations", 0, "how long TestVerifiersAgreeOnMutations makes cases, such as 1m")
	fuzzSeed = flag.Uint64("mutations-seed", uint64(time.Now().UnixNano()), "the seed of these cases")
	fuzzFrom = flag.Uint64("mutations-from", 0, "the number of the first of them")
)

// A said holds the words of a verifier on a case.
type said struct {
	Verdict  string           `json:"verdict"`
	Headline string           `json:"headline"`
	Notes    []string         `json:"notes"`
	Steps    []map[string]any `json:"steps"`
	Summary  map[string]any   `json:"summary"`
	Files    []any            `json:"files"`
	Proofs   []*said          `json:"proofs"`
	Seconds  float64          `json:"seconds"` // of the processor, or at least not more than passed
}

// A verifier says something of each case.
type verifier struct {
	name string
	say  func(cases []vector) ([]*said, error)
}

const (
	maxSeconds = 1
	hangs      = 2 * time.Minute // also on a machine that is busy
)

// TestVerifiersAgreeOnMutations gives genuine, mutated and forged files to four verifiers: Go's, those
// in JavaScript and Python, and the one in JavaScript as a page has it. They say the same, each within
// a second, and never call a genuine file false, or a forged one verified. The seed fixes the cases.
func TestVerifiersAgreeOnMutations(t *testing.T) {
	if *fuzzFor == 0 {
		t.Skip("it takes as long as -mutations says")
	}
	decks, verifiers := catalogue(t), append(threeVerifiers(t), verifier{"the page", browserPage(t)})
	f := newFuzzer(t)
	began, failures, number := time.Now(), 0, *fuzzFrom
	verdicts := map[string]int{}
	for ; time.Since(began) < *fuzzFor && failures < 10; number += 50 {
		var cases []fuzzCase
		var vectors []vector
		for i := range uint64(50) {
			cases = append(cases, f.make(*fuzzSeed, number+i))
			vectors = append(vectors, cases[i].vector)
		}
		answers, err := sayAll(verifiers, vectors)
		require.NoErrorf(t, err, "-mutations-seed %d -mutations-from %d", *fuzzSeed, number)
		for i, c := range cases {
			ours := answers[i][0]
			verdicts[strings.ReplaceAll(fmt.Sprintf("%s, %v %v %v", ours.Verdict, ours.Summary["id"], ours.Summary["step"], ours.Summary["why"]), " <nil>", "")]++
			wrong := func(v vector) string {
				found, err := sayAll(verifiers, []vector{v})
				if err != nil {
					return err.Error()
				}
				return disagreement(verifiers, found[0])
			}
			what := disagreement(verifiers, answers[i])
			for range 2 { // it may have been the machine that was slow
				if what != "" {
					what = wrong(c.vector)
				}
			}
			turned := c.vector
			turned.Texts = slices.Clone(c.Texts)
			slices.Reverse(turned.Texts)
			if verdict := verifyHere(&turned, decks).Verdict; what == "" && verdict != ours.Verdict {
				what = "turned around, it is " + verdict
			}
			if what == "" && ours.Verdict == c.never {
				t.Errorf("-mutations-seed %d -mutations-from %d: it is %s, and all say %s: %s\n%s", *fuzzSeed, number+uint64(i), c.Name, ours.Verdict, ours.Headline, compactJSON(t, c.vector))
				failures++
			}
			if what == "" {
				continue
			}
			failures++
			smaller := c.vector // without the texts that do not matter
			for at := len(smaller.Texts) - 1; at >= 0; at-- {
				without := smaller
				without.Texts = slices.Delete(slices.Clone(smaller.Texts), at, at+1)
				if again := wrong(without); again != "" {
					smaller, what = without, again
				}
			}
			smaller.Verdict = ours.Verdict
			t.Errorf("-mutations-seed %d -mutations-from %d, %s: %s\n%s", *fuzzSeed, number+uint64(i), c.Name, what, compactJSON(t, smaller))
		}
	}
	t.Logf("%d cases of the seed %d: %v", number-*fuzzFrom, *fuzzSeed, verdicts)
}

// threeVerifiers are those in Go, JavaScript and Python.
func threeVerifiers(t *testing.T) []verifier {
	decks := catalogue(t)
	return []verifier{
		{"riffle verify", func(cases []vector) (list []*said, err error) {
			for i := range cases {
				list = append(list, verifyHere(&cases[i], decks))
			}
			return list, nil
		}},
		{"riffle.mjs", program(t, "node")},
		{"riffle.py", program(t, "python")},
	}
}

// TestVerifiersAgree gives every vector to three verifiers, which say the same.
func TestVerifiersAgree(t *testing.T) {
	t.Parallel()
	verifiers := threeVerifiers(t)
	for cases := range slices.Chunk(newFuzzer(t).corpus, 50) {
		answers, err := sayAll(verifiers, cases)
		require.NoError(t, err)
		for i, answer := range answers {
			for k, said := range answer {
				assert.Equalf(t, answer[0].common(), said.common(), "%s says of %s", verifiers[k].name, cases[i].Name)
			}
		}
	}
}

// sayAll has all verifiers say something of all cases, and returns what they say of each.
func sayAll(verifiers []verifier, cases []vector) ([][]*said, error) {
	type answer struct {
		by   int
		said []*said
		err  error
	}
	done := make(chan answer, len(verifiers))
	for i, v := range verifiers {
		go func() {
			list, err := v.say(cases)
			done <- answer{i, list, err}
		}()
	}
	all := make([][]*said, len(cases))
	for i := range all {
		all[i] = make([]*said, len(verifiers))
	}
	ended := time.After(hangs)
	for range verifiers {
		select {
		case a := <-done:
			if a.err != nil {
				return nil, fmt.Errorf("%s: %w", verifiers[a.by].name, a.err)
			}
			for i, said := range a.said {
				all[i][a.by] = said
			}
		case <-ended:
			return nil, fmt.Errorf("%s does not end", verifiers[slices.Index(all[0], nil)].name)
		}
	}
	return all, nil
}

// disagreement returns what verifiers do not agree on, or which of them is slow; empty for nothing.
func disagreement(verifiers []verifier, answers []*said) string {
	want := answers[0].common()
	for i, answer := range answers {
		if answer.Seconds > maxSeconds {
			return fmt.Sprintf("%s takes %.1f s", verifiers[i].name, answer.Seconds)
		}
		if got := answer.common(); !reflect.DeepEqual(got, want) {
			return fmt.Sprintf("%s says\n%swhere %s says\n%s", verifiers[i].name, got.but(want), verifiers[0].name, want.but(got))
		}
	}
	return ""
}

// but returns the lines that others do not have.
func (s *said) but(others *said) (lines string) {
	text := func(s *said) []string {
		text, _ := json.MarshalIndent(s, "", " ")
		return strings.SplitAfter(string(text), "\n")
	}
	theirs := text(others)
	for _, line := range text(s) {
		if !slices.Contains(theirs, line) {
			lines += line
		}
	}
	return lines
}

var givenForm = regexp.MustCompile(`^Not checked: the (items|order|hand|answer|list|key|salt): `)

// common returns what all verifiers have to say: not the reason why a step fails, or why something that
// was given cannot be read.
func (s *said) common() *said {
	c := *s
	c.Seconds = 0
	if given := givenForm.FindString(c.Headline); given != "" {
		c.Headline = given
	}
	c.Steps = nil
	for _, step := range s.Steps {
		if step["ok"] == false {
			step = map[string]any{"name": step["name"], "ok": false}
		}
		c.Steps = append(c.Steps, step)
	}
	c.Proofs = nil
	for _, proof := range s.Proofs {
		c.Proofs = append(c.Proofs, proof.common())
	}
	return &c
}

// given returns the texts of a vector with its key.
func (v *vector) given() []textVector {
	if v.Key == "" {
		return v.Texts
	}
	return append([]textVector{{"--key", v.Key, "key"}}, v.Texts...)
}

// TestVerifiersAgreeOnManyElements gives orders of more arrays and objects than a verifier keeps
// parsed: the true one with other layouts of its elements, and one with another element near its end.
func TestVerifiersAgreeOnManyElements(t *testing.T) {
	const n = 10_100
	var elements []string
	for i := range n {
		elements = append(elements, fmt.Sprintf([]string{`{"a":[%d,"x"],"b":null}`, `[[%d,{}],"y"]`}[i%2], i))
	}
	v := build(t, plan{name: "many elements", log: 1, items: "[" + strings.Join(elements, ",") + "]", statement: audit.Statement{
		Algorithm: "fisher-yates", Size: n, Draw: n, Repeat: 1, Reference: "many",
	}})
	dealt := compactJSON(t, v.answered(t)[0])
	laidOut := strings.NewReplacer(`,"b":null}`, `, "\u0062" : null }`, `"y"]`, `"\u0079"]`).Replace(dealt)
	at := strings.LastIndex(dealt, `"x"`)
	changed := dealt[:at] + `"z"` + dealt[at+3:]
	var cases []vector
	for _, order := range []string{dealt, laidOut, changed} {
		cases = append(cases, vector{Key: v.Key, Texts: []textVector{{"proof", v.Proof, "proof"}, {"items", v.Items, "items"}, {"order", order, "order"}}})
	}
	answers, err := sayAll(threeVerifiers(t), cases)
	require.NoError(t, err)
	for i, want := range []string{verified, verified, isFalse} {
		for _, said := range answers[i] {
			require.Equal(t, want, said.Verdict, said.Headline)
			require.Equal(t, answers[i][0].Steps, said.Steps)
		}
	}
}

// verifyHere verifies in this process.
func verifyHere(v *vector, decks *deck.Catalogue) (s *said) {
	defer func() {
		if fault := recover(); fault != nil {
			s = &said{Verdict: fmt.Sprintf("panics: %v\n%s", fault, debug.Stack())}
		}
	}()
	var texts []prooffile.Text
	for _, text := range v.given() {
		texts = append(texts, prooffile.Text{Name: text.Name, Role: prooffile.Role(text.Role), Content: []byte(text.Text)})
	}
	began := time.Now()
	found := prooffile.Verify(texts, prooffile.Options{HandOf: v.HandOf, AnyOrder: v.AnyOrder, Decks: decks})
	seconds := time.Since(began).Seconds()
	text, err := json.Marshal(found)
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		return &said{Verdict: err.Error()}
	}
	s.Seconds = seconds
	return s
}

// program starts one of the other verifiers, which lives as long as the test.
func program(t *testing.T, language string) func(cases []vector) ([]*said, error) {
	command := exec.CommandContext(t.Context(), "../../../verifiers/run", "--stdin", language)
	command.Stderr = os.Stderr
	in, err := command.StdinPipe()
	require.NoError(t, err)
	out, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	require.NoError(t, err)
	lines := json.NewDecoder(bufio.NewReader(out))
	t.Cleanup(func() {
		_ = in.Close()
		_, _ = io.Copy(io.Discard, out)
		_ = command.Wait()
	})
	return func(cases []vector) (list []*said, err error) {
		written := make(chan error, 1)
		go func() {
			encoder := json.NewEncoder(in)
			var err error
			for i := range cases {
				if err == nil {
					err = encoder.Encode(&cases[i])
				}
			}
			written <- err
		}()
		for range cases {
			var s said
			if err := lines.Decode(&s); err != nil {
				return nil, err
			}
			list = append(list, &s)
		}
		return list, <-written
	}
}

// browserPage opens a page with the verifier in JavaScript, made for browsers as web/build.mjs does.
func browserPage(t *testing.T) func(cases []vector) ([]*said, error) {
	made := api.Build(api.BuildOptions{
		EntryPoints: []string{"../../../verifiers/riffle.mjs"}, External: []string{"node:*"}, Bundle: true,
		Format: api.FormatESModule, Target: api.ES2022, Platform: api.PlatformBrowser,
		MinifyWhitespace: true, MinifyIdentifiers: true, MinifySyntax: true,
	})
	if len(made.Errors) > 0 {
		t.Fatalf("%+v", made.Errors)
	}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/riffle.mjs" {
			w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
			_, _ = w.Write(made.OutputFiles[0].Contents)
			return
		}
		_, _ = io.WriteString(w, `<!doctype html><link rel="icon" href="data:,"><script type="module">
import {verify} from '/riffle.mjs';
window.check = async (cases) => {
	const answers = [];
	for (const {texts, hand_of: handOf, any_order: anyOrder} of cases) {
		const before = performance.now();
		let answer;
		try { answer = await verify(texts, {handOf, anyOrder}); } catch (error) { answer = {verdict: 'throws: ' + error.stack}; }
		answers.push({...answer, seconds: (performance.now() - before) / 1000});
	}
	return JSON.stringify(answers);
};
</script>`)
	}))
	t.Cleanup(site.Close)
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath("chromium-headless-shell"), chromedp.UserDataDir(t.TempDir()), chromedp.NoSandbox, chromedp.Flag("disable-component-update", true))...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel) // waits until the browser has ended
	_, err := chromedp.Run(ctx, chromedp.Navigate(site.URL))
	require.NoError(t, err, "chromium-headless-shell")
	_, err = chromedp.Run(ctx, chromedp.Poll[bool]("window.check !== undefined"))
	require.NoError(t, err, "chromium-headless-shell")
	return func(cases []vector) (list []*said, err error) {
		type given struct {
			Texts    []textVector `json:"texts"`
			HandOf   string       `json:"hand_of,omitempty"`
			AnyOrder bool         `json:"any_order,omitempty"`
		}
		var all []given
		for i := range cases {
			all = append(all, given{cases[i].given(), cases[i].HandOf, cases[i].AnyOrder})
		}
		arguments, err := json.Marshal(all)
		if err != nil {
			return nil, err
		}
		answers, err := chromedp.Run(ctx, chromedp.Evaluate[string]("check("+string(arguments)+")", chromedp.EvalAwaitPromise))
		if err == nil {
			err = json.Unmarshal([]byte(answers), &list)
		}
		return list, err
	}
}
