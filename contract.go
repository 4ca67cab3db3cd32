// Package riffle holds the contract that the service is held to and serves.
package riffle

import _ "embed"

// Contract is openapi.yaml.
//
//go:embed openapi.yaml
var Contract []byte
