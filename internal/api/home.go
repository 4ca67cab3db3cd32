package api

import (
	"encoding/json"
	"net/http"
	"strings"
)

// home answers GET /: browsers get a page, programs the addresses of contract and checkpoint.
func (a *API) home(x *exchange) error {
	x.Header().Add("Vary", "Accept")
	if a.Home != nil && acceptsHTML(x.r) {
		a.Home.ServeHTTP(x, x.r)
		return nil
	}
	prefix := x.log.prefix
	text, err := json.Marshal(struct {
		Service    string `json:"service"`
		Contract   string `json:"contract"`
		Checkpoint string `json:"checkpoint"`
	}{"riffle", prefix + "/openapi.yaml", prefix + "/log/checkpoint"})
	if err != nil {
		return err
	}
	return x.send(typeJSON, append(text, '\n'))
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
