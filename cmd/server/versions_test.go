package main_test

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/ledger"
	"riffle/internal/ledger/sqlite"
)

// earlier is a commit before stores had versions of records.
const earlier = "916e299"

// buildEarlier builds the program of the commit. A copy of the repository without its history has none.
var buildEarlier = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp(filepath.Dir(program), "earlier-")
	if err != nil {
		return "", err
	}
	const script = `git -C "$1" archive ` + earlier + ` | tar -x && CGO_ENABLED=0 GOFLAGS="-trimpath -pgo=off -buildvcs=false" go build -o server ./cmd/server`
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		return "", err
	}
	command := exec.Command("bash", "-o", "pipefail", "-c", script, "bash", root)
	command.Dir = folder
	if out, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %s: %w\n%s", earlier, err, out)
	}
	return filepath.Join(folder, "server"), nil
})

func earlierProgram(t *testing.T) string {
	t.Helper()
	if exec.Command("git", "cat-file", "-e", earlier).Run() != nil {
		t.Skipf("this copy of the repository lacks the commit %s", earlier)
	}
	path, err := buildEarlier()
	require.NoError(t, err)
	return path
}

// features are requests whose records earlier programs would misread, by the version that they need.
var features = map[ledger.StoreVersion]func(s *server){
	ledger.HiddenItems: func(s *server) {
		s.wantOK(s.post("/shuffle", `{"items": ["a", "b"], "items_salt": "0123456789abcdef0123456789abcdef"}`))
	},
	ledger.EmptyPiles: func(s *server) {
		deck := textMember(s.t, s.get("/api/deck/new/shuffle/"), "deck_id")
		s.wantOK(s.get("/api/deck/" + deck + "/pile/new/add/?cards="))
	},
	ledger.LongNames: func(s *server) {
		shoe := textMember(s.t, s.post("/shoes", `{"deck": "standard52"}`), "shoe_id")
		s.wantOK(s.post("/shoes/"+shoe+"/draw", `{"to": "`+strings.Repeat("x", 65)+`"}`))
	},
	ledger.CutCards: func(s *server) { s.wantOK(s.post("/shoes", `{"deck": "standard52", "cut": 26}`)) },
	ledger.Beacons:  func(s *server) { s.commit(`{"size": 6, "draw": 1, "beacon": {"chain": "quicknet", "after": "1m"}}`) },
	ledger.Players: func(s *server) {
		s.commit(`{"size": 6, "draw": 1, "players": {"ann": "` + strings.Repeat("0", 64) + `"}}`)
	},
	ledger.Books: func(s *server) { s.wantOK(s.useCommitment(s.commit(`{"size": 6, "draw": 1, "count": 2}`).ID)) },
}

func (s *server) wantOK(a *answer) {
	s.t.Helper()
	assert.Less(s.t, a.status, 300, "%v", a)
}

// TestRecordsRaiseTheVersion writes the records of each feature, and one of none.
func TestRecordsRaiseTheVersion(t *testing.T) {
	t.Parallel()
	for version, use := range features {
		s := launch{}.start(t)
		s.shuffle(smallShuffle)
		plain := s.storeVersion()
		s = launch{data: s.data}.start(t)
		use(s)
		got := s.storeVersion()
		assert.Truef(t, plain < ledger.FirstDated && got == version, "the version is %d, and %d after the feature, want %d", plain, got, version)
	}
}

// storeVersion stops the server and returns the version of its store.
func (s *server) storeVersion() ledger.StoreVersion {
	s.t.Helper()
	s.stop()
	store, err := sqlite.Open(s.t.Context(), filepath.Join(s.data, "riffle.db"))
	require.NoError(s.t, err)
	version, _, err := store.StoredVersion(s.t.Context())
	require.NoError(s.t, err)
	assert.NoError(s.t, store.Close())
	return version
}

// TestUpgradeAndDowngrade starts an earlier program and this one on a store in turns. After a record
// that it would misread, the earlier one refuses the store.
func TestUpgradeAndDowngrade(t *testing.T) {
	t.Parallel()
	old := launch{program: earlierProgram(t)}
	for version, use := range features {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			t.Parallel()
			old := old
			old.data = filepath.Join(t.TempDir(), "data")
			now := launch{data: old.data}
			shoe := ""
			for i, l := range []launch{old, now, old, now} {
				s := l.start(t)
				s.shuffle(smallShuffle)
				if shoe == "" {
					shoe = textMember(t, s.post("/shoes", `{"deck": "standard52"}`), "shoe_id")
				}
				s.wantOK(s.post("/shoes/"+shoe+"/draw", `{}`))
				if i == 3 {
					use(s)
				}
				s.stop()
			}
			old.refused(t, fmt.Sprintf("the store has version %d, and this program knows versions up to 3; start a newer program", version))
			s := now.start(t)
			s.wantOK(s.post("/shoes/"+shoe+"/draw", `{}`))
			s.checkLog("feature", nil)
		})
	}
}

// TestEarlierReplica runs an earlier program and this one on one database. The earlier one serves until
// the log has a record that it would misread, and then ends with a reason.
func TestEarlierReplica(t *testing.T) {
	t.Parallel()
	program := earlierProgram(t)
	for version, use := range features {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			t.Parallel()
			db := newDatabase(t)
			l := db.replica()
			l.program = program
			old, now := l.start(t), db.replica().start(t)
			for _, s := range []*server{old, now, old, now} {
				s.shuffle(smallShuffle)
			}
			use(now)
			a, err := old.ask(http.MethodPost, "/shuffle", smallShuffle)
			assert.Truef(t, err != nil || a.status >= 500, "the earlier replica answers %v", a)
			assert.Equal(t, 1, old.wait())
			assert.Contains(t, old.log.String(), "the records of the log need Riffle of "+version.Date()+" or later")
			now.shuffle(smallShuffle)
			l.refused(t, fmt.Sprintf("the store has version %d, and this program knows versions up to 2; start a newer program", version))
			now.checkLog("feature", nil)
		})
	}
}
