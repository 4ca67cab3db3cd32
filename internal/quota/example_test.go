package quota_test

import (
	"fmt"

	"riffle/internal/quota"
)

// A peer alone can take half of a pool, and the next one half of the rest.
func ExamplePool() {
	pool := quota.NewPool(100)
	greedy, next := quota.Peer("192.0.2.1:4711"), quota.Peer("192.0.2.2:4711")
	fmt.Println(pool.Take(greedy, 51), pool.Take(greedy, 50))
	fmt.Println(pool.Take(next, 26), pool.Take(next, 25))
	// Output:
	// false true
	// false true
}
