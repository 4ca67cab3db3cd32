// Package riffle holds the contract that the service serves, and is held to.
package riffle

import _ "embed" // Contract

// Contract is openapi.yaml.
//
//go:embed openapi.yaml
var Contract []byte
