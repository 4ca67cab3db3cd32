package journal_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/audit"
	"riffle/internal/journal"
	"riffle/internal/journal/journaltest"
	"riffle/internal/ledger"
)

func TestRecordsAreFoundAsAppended(t *testing.T) {
	s := journaltest.New(t)
	j := s.Journal(t)
	record := &audit.Record{Kind: audit.KindReveal}
	require.NoError(t, j.Identify(record))
	record.AuditID, record.Commitment = uuid.Must(uuid.NewV7()), audit.Commitment{1, 2, 3}
	claim := journal.RevealClaim(record.AuditID)
	key := journal.NewIdempotencyKey("key", []byte("request"))
	index, err := j.Append(t.Context(), &journal.Addition{
		Record: record, Reference: "table 7", Sidecar: journal.Sidecar{Key: key}, Claims: []ledger.Claim{{Name: claim}},
	})
	require.NoError(t, err)
	for name, find := range map[string]func() (*journal.StoredRecord, error){
		"id":    func() (*journal.StoredRecord, error) { return j.ByID(t.Context(), record.ID) },
		"index": func() (*journal.StoredRecord, error) { return j.At(t.Context(), index) },
		"claim": func() (*journal.StoredRecord, error) { return j.ByClaim(t.Context(), claim) },
		"key":   func() (*journal.StoredRecord, error) { return j.ByClaim(t.Context(), keyClaim("key")) },
		"reference": func() (*journal.StoredRecord, error) {
			list, err := j.ByReference(t.Context(), "table 7", 0, 10)
			return slices.Concat(list, []*journal.StoredRecord{nil})[0], err
		},
	} {
		stored, err := find()
		require.NoErrorf(t, err, "by %s", name)
		if stored.ID != record.ID || !stored.Time.Equal(record.Time) || stored.Commitment != record.Commitment ||
			stored.Index != index || stored.Reference != "table 7" || string(stored.Bytes) != string(record.Append(nil)) {
			t.Errorf("by %s: %+v, want %+v at %d", name, stored, record, index)
		}
		if sidecar, err := j.Sidecar(stored); err != nil || *sidecar.Key != *key || sidecar.Seed != nil || sidecar.Shoe != nil {
			t.Errorf("by %s: the sidecar is %+v, %v", name, sidecar, err)
		}
	}
	for name, find := range map[string]func() (*journal.StoredRecord, error){
		"id":    func() (*journal.StoredRecord, error) { return j.ByID(t.Context(), record.AuditID) },
		"index": func() (*journal.StoredRecord, error) { return j.At(t.Context(), index+1) },
		"claim": func() (*journal.StoredRecord, error) { return j.ByClaim(t.Context(), "reveal nothing") },
	} {
		stored, err := find()
		assert.ErrorIsf(t, err, ledger.ErrNotFound, "by an unknown %s: %+v", name, stored)
	}
	list, err := j.ByReference(t.Context(), "table 8", 0, 10)
	assert.Truef(t, err == nil && len(list) == 0, "by an unknown reference: %+v, %v", list, err)
	stored, err := j.FirstOfShoe(t.Context(), record.ID)
	assert.ErrorIsf(t, err, journal.ErrNoShoe, "by an unknown shoe: %+v", stored)
	s.Tamper = func(e *ledger.StoredEntry) { e.Record = e.Record[1:] }
	stored, err = j.ByID(t.Context(), record.ID)
	assert.ErrorIsf(t, err, ledger.ErrCorrupt, "a record that was cut: %+v", stored)
	list, err = j.ByReference(t.Context(), "table 7", 0, 10)
	assert.ErrorIsf(t, err, ledger.ErrCorrupt, "a record of a reference that was cut: %+v", list)
}

func TestAppendNamesTheClaimInConflict(t *testing.T) {
	s := journaltest.New(t)
	j := s.Journal(t)
	entry := func(key *journal.IdempotencyKey, claims ...string) *journal.Addition {
		e := &journal.Addition{Sidecar: journal.Sidecar{Key: key}}
		for _, name := range claims {
			e.Claims = append(e.Claims, ledger.Claim{Name: name})
		}
		return e
	}
	_, err := appendReveal(j, entry(journal.NewIdempotencyKey("key"), "a", "b"))
	require.NoError(t, err)
	for want, e := range map[string]*journal.Addition{
		"b":             entry(nil, "c", "b"),
		keyClaim("key"): entry(journal.NewIdempotencyKey("key")),
	} {
		_, err := appendReveal(j, e)
		assert.Truef(t, journal.Conflicts(err, want) && !journal.Conflicts(err, "a"), "%v, want a conflict over %q", err, want)
	}
	assert.EqualValues(t, 1, s.Size(t), "there")
	_, err = appendReveal(j, entry(nil, "c"))
	assert.NoError(t, err, "a claim of an entry that was refused")
}

// Log order is append order, even if the clock jumps.
func TestClockDoesNotDisorderTheLog(t *testing.T) {
	s := journaltest.New(t)
	j := s.Journal(t)
	start := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	var ids, listed []uuid.UUID
	for _, now := range []time.Time{start, start, start.Add(-time.Hour), time.Unix(0, 0), start.AddDate(10, 0, 0), start.Add(time.Second)} {
		s.Now = func() time.Time { return now }
		id, err := appendReveal(j, &journal.Addition{Reference: "one game"})
		require.NoError(t, err)
		ids = append(ids, id)
	}
	list, err := j.ByReference(t.Context(), "one game", 0, 100)
	require.NoError(t, err)
	for _, stored := range list {
		listed = append(listed, stored.ID)
	}
	assert.Equal(t, listed, ids, "appended")
}
