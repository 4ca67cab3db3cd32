//go:build race

package shuffle_test

// thin is by how much the statistics take fewer samples: the race detector makes shuffling many
// times slower.
const thin = 10
