package api_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"riffle/internal/access"
)

// sharedCacheStores reports whether a cache that many callers share may store an answer and give it to
// anybody. RFC 9111, 3.5 forbids that for requests with Authorization unless the answer allows it;
// many caches do not look at the request at all, so answers have to forbid it themselves.
func sharedCacheStores(h http.Header) bool {
	for directive := range strings.SplitSeq(strings.Join(h.Values("Cache-Control"), ","), ",") {
		if name, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(directive)), "="); name == "private" || name == "no-store" {
			return false
		}
	}
	return true
}

// readTargets makes records, and returns a path of each operation that reads, which is answered 200.
func readTargets(t *testing.T, s *service) (targets []string) {
	t.Helper()
	made := func(path, body, member string) string {
		var answer map[string]any
		a := s.send(t, post(t, path, body))
		require.NoErrorf(t, json.Unmarshal([]byte(a.body), &answer), "%s: %d %s", path, a.status, a.body)
		require.Equalf(t, http.StatusOK, a.status, "%s: %d %s", path, a.status, a.body)
		id, _ := answer[member].(string)
		return id
	}
	ids := map[string]string{
		"/audits": made("/shuffle", `{"size":3}`, "audit_id"), "/commitments": made("/commitments", `{"size":3}`, "commitment_id"),
		"/shoes": made("/shoes", `{"size":3}`, "shoe_id"),
	}
	made("/shoes/"+ids["/shoes"]+"/draw", `{"count":3}`, "")
	made("/shoes/"+ids["/shoes"]+"/piles/p/add", `{"cards":[0,1,2]}`, "")
	s.waitPublished(t)
	for id, op := range loadContract(t).operations {
		if op.Method != http.MethodGet || id == "dealDeck" {
			continue
		}
		target := strings.NewReplacer("{type}", "standard52", "{id}", ids["/"+strings.Split(op.Path, "/")[1]], "{tile}", "0/000.p/1",
			"{file}", "AS.svg", "{pile}", "p", "{position}", "0").Replace(op.Path)
		if id == "listAudits" {
			target += "?reference=a"
		}
		targets = append(targets, target)
	}
	slices.Sort(targets)
	return targets
}

// An answer of each route that reads is for shared caches only where callers without a token may read.
func TestSharedCachesGetWhatIsPublic(t *testing.T) {
	tokens, keys := keysFor("k")
	s := start(t, setup{})
	targets := readTargets(t, s)
	read := []access.Scope{access.Read}
	for _, v := range []struct {
		name      string
		anonymous *access.Grant
		public    bool // strangers may read
	}{
		{"without anonymous callers", nil, false},
		{"with anonymous readers", &access.Grant{May: read}, true},
		{"with anonymous callers who may do something else", &access.Grant{May: []access.Scope{access.Metrics}}, false},
	} {
		s.SetPolicy(access.NewPolicy(keys, v.anonymous))
		answers := map[string]int{} // by the first word of Cache-Control
		for _, target := range targets {
			for _, method := range []string{http.MethodGet, http.MethodHead} {
				a := s.send(t, authorized(request(t, method, target), tokens["k"]))
				caching, vary := strings.Join(a.header.Values("Cache-Control"), ","), strings.Join(a.header.Values("Vary"), ",")
				first, _, _ := strings.Cut(caching, ",")
				answers[first]++
				free := scopeOf(http.MethodGet, target) == ""
				switch {
				case a.status != http.StatusOK:
					t.Errorf("%s: %s %s: %d %s", v.name, method, target, a.status, a.body)
				case sharedCacheStores(a.header) && !free && !v.public:
					t.Errorf("%s: %s %s is for everybody: Cache-Control %q", v.name, method, target, caching)
				case first == "private" && (v.public || !strings.Contains(vary, "Authorization")):
					t.Errorf("%s: %s %s: Cache-Control %q, Vary %q", v.name, method, target, caching, vary)
				}
				if tag := a.header.Get("ETag"); tag != "" {
					r := authorized(request(t, method, target), tokens["k"])
					r.Header.Set("If-None-Match", tag)
					if same := s.send(t, r); strings.Join(same.header.Values("Cache-Control"), ",") != caching {
						t.Errorf("%s: %s %s is %d with Cache-Control %q, and %q before", v.name, method, target, same.status, same.header.Get("Cache-Control"), caching)
					}
				}
			}
		}
		if (answers["public"] > 0) != v.public || (answers["private"] > 0) == v.public {
			t.Errorf("%s: answers are %v", v.name, slices.Sorted(maps.Keys(answers)))
		}
	}
}
