// Small is a witness in a process of its own: small NAME FILE. The file has the verifier key of the
// log, once there is one.
package main

import (
	"context"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"

	"riffle/internal/witness/witnesstest"
)

func main() {
	w, err := witnesstest.New(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("http://%s\n", listener.Addr())
	log.Fatal(http.Serve(listener, http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) { //nolint:gosec // of a test
		if key, err := os.ReadFile(os.Args[2]); err == nil {
			_ = w.Know(string(key)) // or it stays unknown
		}
		w.ServeHTTP(answer, r)
	})))
}
