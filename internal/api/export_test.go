package api

import "github.com/go-chi/chi/v5"

// Routes returns the router, to compare it with the contract.
func (a *API) Routes() chi.Routes { return a.router }
