// Package riffle holds what the service serves as it stands here: the contract that it is held to,
// and its documentation.
package riffle

import "embed"

// Contract is openapi.yaml.
//
//go:embed openapi.yaml
var Contract []byte

// Docs are the guides and the reference, in Markdown, with their pictures, and the licence of the
// fonts that pictures of cards have their letters from.
//
//go:embed docs/*.md docs/*.svg docs/guides/*.md docs/operations/*.md internal/picture/OFL.txt
var Docs embed.FS
