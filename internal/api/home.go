package api

import (
	"fmt"
	"net/http"
	"strings"
)

// home answers GET /: browsers get a page, programs the addresses of contract and checkpoint.
func (a *API) home(x *exchange) error {
	x.Header().Add("Vary", "Accept")
	if a.Home != nil && acceptsHTML(x.r) {
		return x.sendPage(a.Home)
	}
	return x.send(typeJSON, fmt.Appendf(nil, `{"service":"riffle","contract":"%s/openapi.yaml","checkpoint":"%[1]s/log/checkpoint"}`+"\n", x.log.prefix))
}

// acceptsHTML reports whether the Accept field names HTML, as browsers' fields do.
func acceptsHTML(r *http.Request) bool {
	for part := range strings.SplitSeq(strings.Join(r.Header.Values("Accept"), ","), ",") {
		if kind, parameters, _ := strings.Cut(part, ";"); strings.EqualFold(strings.TrimSpace(kind), "text/html") {
			return strings.ReplaceAll(parameters, " ", "") != "q=0"
		}
	}
	return false
}
