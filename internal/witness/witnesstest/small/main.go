// Small is a witness in a process of its own: small NAME FILE. The file has the verifier key of the
// log, once there is one.
package main

import (
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"

	"riffle/internal/witness/witnesstest"
)

func main() {
	w, err := witnesstest.New(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		if key, err := os.ReadFile(os.Args[2]); err == nil {
			_ = w.Know(string(key)) // or it stays unknown
		}
		w.ServeHTTP(answer, r)
	}))
	fmt.Println(server.URL)
	select {} // until it is killed
}
