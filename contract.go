// Package riffle embeds openapi.yaml. The service sends it at /openapi.yaml, and tests compare the
// service with it. It is here because go:embed reaches no file above its package.
package riffle

import _ "embed" // Contract

// Contract is openapi.yaml.
//
//go:embed openapi.yaml
var Contract []byte
