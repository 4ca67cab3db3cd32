package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// A kept file is served by the service worker without a network, if its bytes have one of the digests.
type kept struct {
	Headers   map[string]string `json:"headers"`
	Integrity string            `json:"integrity"`
}

// serveWorker answers with the service worker of /verify. Its first lines are the digests of the page and
// its files. The browser stores this script in a place that pages cannot write to.
func (p *Pages) serveWorker(w http.ResponseWriter, r *http.Request, prefix string) {
	page := pages[slices.IndexFunc(pages, func(p page) bool { return p.Script == "verify" })]
	files := map[string]kept{}
	for _, name := range p.kept {
		files[prefix+"/static/"+name] = kept{map[string]string{"Content-Type": p.assets[name].kind}, integrity(p.assets[name].plain)}
	}
	var digests []string
	for _, tag := range languages {
		top, bottom := p.render(tag.String(), prefix, view{script: page.Script, policy: page.policy})
		digests = append(digests, integrity(append(top, bottom...)))
	}
	files[prefix+page.Path] = kept{headersOf(page.policy), strings.Join(digests, " ")}
	list := encode(files)
	settings := encode(map[string]any{
		"cache": fmt.Sprintf("verify %s %s", prefix, integrity(list)), "page": prefix + page.Path, "files": json.RawMessage(list),
	})
	script := p.assets[p.names["verify-worker"]]
	newAsset(script.kind, script.policy, fmt.Appendf(nil, "const kept = %s;\n%s", settings, script.plain)).serve(w, r, "no-cache")
}

// encode returns a value as JSON.
func encode(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // it has nothing but text
	}
	return text
}
