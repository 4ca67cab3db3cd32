#!/usr/bin/env bash
#
# rawstream.sh [selection|all] [rawstream flags] tests a riffle/1 keystream with ent and dieharder
# (Debian packages of these names) and fails if either rejects it. No other check runs it: the
# selection takes some minutes, all of it an hour or more.
#
#   selection   the default: one test of each kind that dieharder rates as good and that takes at
#               most about a minute
#   all         dieharder -a: every test with every setting
#
# Each test continues where the last one stopped, so no two get the same part of the stream. Its
# seed is printed; "rawstream.sh selection --seed <hex>" repeats a run. "--words 5" tests the
# keystreams of many shuffles instead of a single long one, five words of each, as for 52 cards.

set -euo pipefail

# Birthday spacings, overlapping permutations, binary rank of two sizes, count the ones, minimum
# distance, squeeze, runs, craps, greatest common divisors; monobit, runs and serial of STS;
# permutations, byte distribution, filling trees.
selection=(0 1 2 3 8 9 12 13 15 16 17 100 101 102 202 205 207)

# dieharder -l calls OPSO, OQSO and DNA suspect, and says not to use sums: they reject good
# generators too. Their verdicts are shown and not counted.
untrusted='^ *diehard_(opso|oqso|dna|sums)\|'

which=${1:-selection}
shift || true
case $which in selection | all) ;; *) sed -n '3,13s/^# \{0,1\}//p' "$0" >&2; exit 2 ;; esac
for tool in go ent dieharder; do
    command -v "$tool" >/dev/null || { echo "rawstream.sh: $tool is not installed" >&2; exit 2; }
done

cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -o "$work/bench" .
exec <  <("$work/bench" rawstream "$@")

# ent gives no verdict. A uniform source exceeds these limits once in a million times: chi-square
# with 255 degrees of freedom, and 4.9 standard deviations of the mean, of pi and of the
# correlation.
bytes=67108864
head -c "$bytes" | ent -t | tee "$work/ent" | sed 's/^/ent: /'
awk -F, -v n="$bytes" '
    function far(x, middle, sd) { return x - middle > 4.9 * sd || middle - x > 4.9 * sd }
    $1 == 1 {
        seen = $2 == n
        bad = $4 < 159 || $4 > 381
        bad = bad || far($5, 127.5, 73.9 / sqrt(n)) || far($6, 3.14159265, 1.642 / sqrt(n / 6)) || far($7, 0, 1 / sqrt(n))
    }
    END { exit !seen || bad }' "$work/ent" || { echo 'rawstream.sh: ent: FAILED'; exit 1; }

if [ "$which" = all ]; then
    dieharder -g 200 -a
else
    for test in "${selection[@]}"; do dieharder -g 200 -d "$test"; done
fi | grep --line-buffered -E '\| *(PASSED|WEAK|FAILED) *$' | tee "$work/verdicts" ||
    { echo 'rawstream.sh: dieharder did not run to its end'; exit 1; }

# By dieharder's limits a good generator gets WEAK once in a hundred tests, which is left to the
# reader, and FAILED once in a million.
grep -vE "$untrusted" "$work/verdicts" >"$work/counted"
awk '/PASSED/ { passed++ } /WEAK/ { weak++ } /FAILED/ { failed++ }
    END { printf "rawstream.sh: %d passed, %d weak, %d failed\n", passed, weak, failed; exit failed || !passed }' "$work/counted"
