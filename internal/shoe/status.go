package shoe

// A Status says whether cards can be dealt from a shoe.
type Status string

// The statuses of a shoe.
const (
	Open    Status = "open"    // cards can be dealt
	Expired Status = "expired" // its time has passed, or its owner ended it; it can still be closed
	Closed  Status = "closed"  // nothing is dealt, and its seeds are public
)
