package ledger

// Durable returns the signed checkpoint of all records that were acknowledged, returned or published.
func (l *Log) Durable() []byte { return l.durable.Load().Checkpoint }
