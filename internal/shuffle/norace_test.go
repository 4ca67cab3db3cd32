//go:build !race

package shuffle_test

// thin is by how much the statistics take fewer samples.
const thin = 1
