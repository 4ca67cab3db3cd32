package api

import (
	"net"
	"net/http"
)

// checkHost answers 421 to requests for a Host that the service is not to be addressed by; see
// [riffle/internal/access.Hosts]. The health checks of a container ask by whatever address it
// happens to have, and show nothing, so /healthz and /readyz answer any Host.
func (a *API) checkHost(next http.Handler) http.Handler {
	refuse := a.handle(func(http.ResponseWriter, *http.Request) error { return problemHost() })
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
		if !a.hosts.Load().Allow(local, r.Host) && !isHealthCheck(r) {
			refuse(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func problemHost() *problem {
	return newProblem(http.StatusMisdirectedRequest, "The service does not answer under the name in the Host header. Use a name that it has, such as localhost on its own machine; the operator adds others with -hosts.")
}

// checkSite refuses a GET that writes when a page of another site has made the browser send it, by
// a link, an image or a script. Browsers say so in Sec-Fetch-Site, which no page can change; other
// clients do not send the header.
func checkSite(r *http.Request) error {
	for _, site := range r.Header.Values("Sec-Fetch-Site") {
		if site == "cross-site" {
			return problemCrossSite()
		}
	}
	return nil
}

func problemCrossSite() *problem {
	return newProblem(http.StatusForbidden, "A page of another site asked for this in a visitor's browser, and it would write a record. Ask from your own backend, by POST /shuffle.")
}
