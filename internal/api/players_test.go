package api_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/audit/prooffile"
)

// hashesOf returns what the players send first: the hashes of their seeds.
func hashesOf(seeds map[string]string) map[string]string {
	hashes := map[string]string{}
	for name, seed := range seeds {
		hashes[name] = fmt.Sprintf("%x", sha256.Sum256([]byte(name+"\n"+seed)))
	}
	return hashes
}

// asJSON returns the JSON of the texts of players, sorted by name.
func asJSON(t *testing.T, texts map[string]string) string {
	t.Helper()
	text, err := json.Marshal(texts)
	require.NoError(t, err)
	return string(text)
}

// The client seed of a commitment with players joins the seeds of all of them. Anything else is
// refused, shows no seed and uses nothing.
func TestPlayersMakeTheClientSeed(t *testing.T) {
	two := map[string]string{"bob": "0815-secret", "Ann": "4711-secret"}
	long := map[string]string{"ann": strings.Repeat("a", 64), "bob": strings.Repeat("b", 64), "cyn": strings.Repeat("c", 64), "dan": strings.Repeat("d", 45)}
	longer, many := maps.Clone(long), map[string]string{}
	longer["dan"] += "d"
	for i := range 100 {
		many[fmt.Sprintf("%032d", i)] = strings.Repeat("s", 64)
	}
	s := start(t, setup{})
	for name, v := range map[string]struct {
		path, members string
		seeds         map[string]string
		isHashed      bool
	}{
		"a shuffle":                    {"/shuffle", ``, two, false},
		"hands that are shown":         {"/shuffle", `,"hands":[3,4],"reveal":"now"`, two, false},
		"a shoe":                       {"/shoes", ``, two, false},
		"a text of 256 bytes":          {"/shuffle", ``, long, false},
		"a text of 257 bytes":          {"/shuffle", ``, longer, true},
		"a shoe, a text of 257 bytes":  {"/shoes", ``, longer, true},
		"a hundred players":            {"/shuffle", ``, many, true},
		"a shoe and a hundred players": {"/shoes", ``, many, true},
	} {
		hashes := asJSON(t, hashesOf(v.seeds))
		hands := regexp.MustCompile(`,"hands":[^]]*]`).FindString(v.members)
		made := mustCommit(t, s, `{"size":9,"players":`+hashes+hands+`}`)
		found := s.send(t, get(t, "/commitments/"+made.CommitmentID)).body
		assert.Contains(t, found, `,"players":`+hashes+`,"status":"open"`, name)
		assert.Contains(t, s.send(t, get(t, "/commitments?status=open")).body, found[:len(found)-1], name)
		use := func(members string) response {
			return s.send(t, post(t, v.path, `{"commitment_id":"`+made.CommitmentID+`"`+members+v.members+`}`))
		}
		first := slices.Sorted(maps.Keys(v.seeds))[0]
		with := func(player, seed string) string {
			other := maps.Clone(v.seeds)
			if other[player] = seed; seed == "missing" {
				delete(other, player)
			}
			return `,"player_seeds":` + asJSON(t, other)
		}
		const all = "player_seeds must be the seeds of all players of the commitment: "
		eve := all + `the commitment has no player \"eve\".`
		if len(v.seeds) == 100 {
			eve = "There are 1 to 100 players."
		}
		for members, detail := range map[string]string{
			``: all + "the seed of " + first + " is missing.",
			`,"client_seed":"Ann:4711-secret bob:0815-secret"`:        "client_seed must be omitted: the seeds of the players make it, in player_seeds.",
			`,"client_seed":"7","player_seeds":` + asJSON(t, v.seeds): "client_seed must be omitted: the seeds of the players make it, in player_seeds.",
			`,"player_seeds":{}`:                      "There are 1 to 100 players.",
			with(first, "missing"):                    all + "the seed of " + first + " is missing.",
			with(first, "other"):                      all + "the seed of " + first + " does not fit the hash in the commitment.",
			with(first, ""):                           "The seed of " + first + " must have 1 to 64 of the characters",
			with(first, strings.Repeat("s", 65)):      "The seed of " + first + " must have 1 to 64 of the characters",
			with(first, "a:b c"):                      "The seed of " + first + " must have 1 to 64 of the characters",
			with("eve", "1"):                          eve,
			`,"beacon_signature":"` + signature + `"`: "beacon_signature must be omitted: the commitment names no beacon.",
		} {
			refused := use(members)
			status := http.StatusUnprocessableEntity
			if strings.Contains(detail, "must have 1 to 64") {
				status = http.StatusBadRequest
			}
			assert.Equal(t, status, refused.status, "%s: %s", name, refused.body)
			assert.Contains(t, refused.body, detail, name)
			assert.NotContains(t, refused.body, "secret", name)
		}
		dealt := use(`,"player_seeds":` + asJSON(t, v.seeds))
		require.Equal(t, http.StatusOK, dealt.status, "%s: %s", name, dealt.body)
		id := regexp.MustCompile(`"audit_id":"([^"]+)"`).FindStringSubmatch(dealt.body)[1]
		record := string(getAudit(t, s, id).Record)
		var parts []string
		for _, player := range slices.Sorted(maps.Keys(v.seeds)) {
			parts = append(parts, player+":"+v.seeds[player])
		}
		text := strings.Join(parts, " ")
		clientSeed := text
		if v.isHashed {
			clientSeed = fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(text)))
			assert.Contains(t, record, `,"joined":"`+text+`",`, name)
		}
		assert.Contains(t, record, `"client_seed":"`+clientSeed+`",`, name)
		assert.Equal(t, v.isHashed, strings.Contains(record, "joined"), name)
		proof := readBody(t, s.do(get(t, "/audits/"+id+"/proof")))
		verdict := prooffile.Verify(proof, &prooffile.Inputs{})
		assert.True(t, verdict.Steps.Has(prooffile.StepCommitted, prooffile.OK), "%s: %+v", name, verdict.Steps)
		assert.Equal(t, http.StatusConflict, use(`,"player_seeds":`+asJSON(t, v.seeds)).status, name)
	}
}

// Players that cannot be, and seeds without players, are refused.
func TestPlayersAreRefused(t *testing.T) {
	s, hash := start(t, setup{}), strings.Repeat("0", 64)
	players := map[string]string{}
	for i := range 101 {
		players[fmt.Sprint(i)] = hash
	}
	const number, name = "There are 1 to 100 players.", "A name has 1 to 32 of the characters"
	commitment := mustCommit(t, s, `{"size":9}`).CommitmentID
	for request, detail := range map[string]string{
		`{}`: number, asJSON(t, players): number,
		`{"":"` + hash + `"}`: name, `{"` + strings.Repeat("a", 33) + `":"` + hash + `"}`: name, `{"sha256":"` + hash + `"}`: name, `{"a b":"` + hash + `"}`: name,
		`{"ann":"` + hash[1:] + `"}`: "The hash of ann is not 64 hex digits in lower case.", `{"ann":"A` + hash[1:] + `"}`: "The hash of ann is not 64",
		`{"ann":"` + hash + `"},"count":2`:                                   "players must be omitted with beacon or count",
		`{"ann":"` + hash + `"},"beacon":{"chain":"quicknet","after":"10s"}`: "players must be omitted with beacon or count",
		`["ann"]`: "players must be an object of names and texts", `{"ann":1}`: "players.ann must be a string", `{"ann":"` + hash + `","ann":"` + hash + `"}`: "players.ann is a duplicate", `2`: "players must be an object of names and texts",
	} {
		got := s.send(t, post(t, "/commitments", `{"size":9,"players":`+request+`}`))
		assert.Contains(t, []int{http.StatusBadRequest, http.StatusUnprocessableEntity}, got.status, "%s: %s", request, got.body)
		assert.Contains(t, got.body, detail, request)
	}
	for request, detail := range map[string]string{
		`{"size":9,"player_seeds":{"ann":"1"}}`:                                               "player_seeds requires the commitment_id of a commitment with players.",
		`{"commitment_id":"` + commitment + `","player_seeds":{"ann":"1"}}`:                   "player_seeds must be omitted: the commitment names no players.",
		`{"commitment_id":"` + commitment + `","client_seed":"7","player_seeds":{"ann":"1"}}`: "player_seeds must be omitted: the commitment names no players.",
		`{"commitment_id":"` + commitment + `","player_seeds":["ann:1"]}`:                     "player_seeds must be an object of names and texts",
	} {
		got := s.send(t, post(t, "/shuffle", request))
		assert.Contains(t, []int{http.StatusBadRequest, http.StatusUnprocessableEntity}, got.status, "%s: %s", request, got.body)
		assert.Contains(t, got.body, detail, request)
	}
}
