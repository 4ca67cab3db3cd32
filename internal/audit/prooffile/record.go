package prooffile

// A RecordResult is what [VerifyRecord] found.
type RecordResult struct {
	Steps
	Entry
	dealing
}

// VerifyRecord verifies the proof file of one record: of a shuffle, or of any other kind. It adds
// the steps of docs/spec.md, "Proof file". If the file can be parsed, it checks inclusion,
// signature and commitment even after an earlier step fails.
func VerifyRecord(text []byte, given *Given) *RecordResult {
	r := &RecordResult{}
	c := &checker{Steps: &r.Steps, Entry: &r.Entry}
	if !c.proof(text, given.Key) {
		return r
	}
	known := c.record()
	if known {
		r.dealing = c.replay(given, Unchecked)
	}
	c.inclusion()
	c.signature()
	if known {
		c.committed(given.Commitment)
	}
	return r
}
