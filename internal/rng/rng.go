// Package rng turns seeds into a keystream and the keystream into unbiased integers, exactly as riffle/1 says.
//
// A [Seed] is k blocks of 32 bytes from the operating system. Each block, mixed with the commitment and the
// client seed, keys one AES-256-CTR generator ([Keys]); their XOR is the keystream ([Stream]), so the state is
// as long as the seed and every order that a shuffle can have is reachable. The keystream is read as 64-bit
// words, and groups of bounds are served from one word each by multiplication and rejection, with exactly
// zero bias ([Stream.Descend], [Stream.Ascend], [Stream.Uint64n]).
//
// [Reference] serves the same integers the plain way, one group at a time at any word size. It is what the fast
// path is tested against, and what a replay uses, so that a fault in one shows in the other.
//
// The package is pure: randomness comes in as an argument, and nothing here knows of clocks or the network.
package rng
