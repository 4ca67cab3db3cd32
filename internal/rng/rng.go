// Package rng turns seeds into a keystream and the keystream into unbiased integers, exactly as
// riffle/1 specifies. Read [Seed], [Stream] and [Reference] first.
//
// A [Seed] is k blocks of 32 bytes from the operating system. Each block, mixed with the commitment
// and the client seed, keys one AES-256-CTR generator ([Keys]); their XOR is the keystream
// ([Stream]), so the state is as long as the seed and every order that a shuffle can have is
// reachable. The keystream is read as 64-bit words, and each word gives integers for a group of
// bounds by multiplication and rejection, with exactly zero bias ([Stream.Descend],
// [Stream.Ascend], [Stream.Uint64n]).
//
// [Reference] makes the same integers the plain way, one group at a time. The fast path is tested
// against it, and replays use it, so that a fault in either shows.
//
// The package is pure: randomness comes in as an argument, and nothing here knows of clocks or the
// network.
package rng
