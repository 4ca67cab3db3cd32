"""Runs riffle.py over the vectors in testdata/riffle1. Prints what differs and exits with 1 if anything does."""
import hashlib, json, pathlib, sys, time
from itertools import islice

sys.path.insert(0, str(pathlib.Path(__file__).parent))
sys.dont_write_bytecode = True
from riffle import keystream, replay, seed_blocks, verify

start, checks, bad = time.perf_counter(), 0, 0

def load(name):
    path = pathlib.Path(__file__).parent.parent / "testdata/riffle1" / f"{name}.json"
    return json.loads(path.read_bytes())

def same(name, got, want):
    global checks, bad
    checks += 1
    if got != want:
        bad += 1
        print(f"{name}: {str(got)[:200]}, want {str(want)[:200]}", file=sys.stderr)

def failing(result):
    return next((step for step, ok, _ in result.steps if ok is False), None)

def write(value):
    return json.dumps(value, separators=(",", ":"))

for v in load("vectors")["vectors"]:
    result = replay(v["record"], v["seed"])
    same(v["name"], result.verdict, "verified")
    if result.order is None:
        print(result.steps, file=sys.stderr)
        continue
    record = json.loads(v["record"])
    same(f"{v['name']} statement", result.statement, v["statement"])
    same(f"{v['name']} blocks", seed_blocks(record["size"], record["draw"]), v["blocks"])
    same(f"{v['name']} keys", [key.hex() for key in result.keys], v["keys"])
    for shuffle, words in enumerate(v["words"]):
        got = [f"{word:016x}" for word in islice(keystream(result.keys, shuffle), len(words))]
        same(f"{v['name']} words", got, words)
    if "orders" in v:
        same(f"{v['name']} orders", result.order, v["orders"])
    text = "".join(write(order) + "\n" for order in result.order)
    same(f"{v['name']} digest", hashlib.sha256(text.encode()).hexdigest(), v["orders_sha256"])
for v in load("invalid")["invalid"]:
    same(v["name"], failing(replay(v["record"], v["seed"])), v["step"])

verdicts = {"verified": "verified", "held-back": "unchecked", "reveal": "verified"}
proofs, wrong = (load("proofs")[name] for name in ("proofs", "wrong"))
for v in proofs:
    result = verify(v["proof"], v["key"], v["items"])
    same(v["name"], result.verdict, verdicts[v["expect"]])
    if failing(result):
        print(result.steps, file=sys.stderr)
    same(f"{v['name']} order", result.order, v["orders"])
    same(f"{v['name']} without key", verify(v["proof"], items=v["items"]).verdict, "unchecked")
    if v["orders"] is None:
        continue
    first, *others = v["orders"]
    positions = json.dumps(v["orders"] if others else first, indent=1)
    same(f"{v['name']} positions", verify(v["proof"], v["key"], order=positions).verdict, "verified")
    turned = json.dumps(v["orders"][::-1] if others else first + [0])
    same(f"{v['name']} other positions", failing(verify(v["proof"], v["key"], order=turned)), "order")
for v in wrong:
    same(v["name"], failing(verify(v["proof"], v["key"], v["items"])), v["step"])

# Answers of the service: items, hands and rest, shuffles; white space is no difference, another element is one.
named = {v["name"]: v for v in proofs}
cases = [
    ("hands and a client seed", lambda shuffles, hands: {"hands": hands[0][:-1], "rest": hands[0][-1]}),
    ("items with hands, twice", lambda shuffles, hands: {"audit_id": "x", "shuffles": hands}),
    ("six decks, a draw of 5, three times", lambda shuffles, hands: {"shuffles": shuffles}),
    ("deck", lambda shuffles, hands: {"items": shuffles[0], "seed": "x"}),
    ("deck", lambda shuffles, hands: shuffles[0]),
]
for name, answer in cases:
    v = named[name]
    items, dealt = json.loads(v["items"]), []
    shuffles = [[items[place] for place in order] for order in v["orders"]]
    for shuffle in shuffles:
        left, runs = list(shuffle), []
        for hand in json.loads(json.loads(v["proof"])["record"]).get("hands", []):
            runs.append(left[:hand])
            left = left[hand:]
        dealt.append(runs + [left])
    text = json.dumps(answer(shuffles, dealt), indent=2)
    same(f"{name} answered", verify(v["proof"], v["key"], v["items"], text).verdict, "verified")
    a, b = json.dumps(shuffles[0][0]), json.dumps(shuffles[0][1])
    swapped = text.replace(a, "\0", 1).replace(b, a, 1).replace("\0", b, 1)
    same(f"{name} answered otherwise", failing(verify(v["proof"], v["key"], v["items"], swapped)), "order")
    same(f"{name} without items", verify(v["proof"], v["key"], None, text).verdict, "unchecked")
v = named["fisher-yates"]  # items of which the white space and the form matter
items = ["1", "1.0", "1e0", "12345678901234567890", '"\\u0041"', '"A"', '"A"', "null", "true", "[ 1,[] ]",
         '{"b": 1, "a": [" "]}', '""']
text = "[" + " , ".join(items[place] for place in v["orders"][0]) + "]"
same("items as written", verify(v["proof"], v["key"], v["items"], text).verdict, "verified")
other = verify(v["proof"], v["key"], v["items"], text.replace("1.0", "1.00"))
same("items written otherwise", failing(other), "order")

# No byte of a file can change.
for name in named if "--all" in sys.argv else ["hands and a client seed", "reveal"]:
    v = named[name]
    for i in range(len(v["proof"].encode())):
        data = bytearray(v["proof"].encode())
        data[i] ^= 1
        try:
            verdict = verify(data.decode(), v["key"], v["items"]).verdict
        except UnicodeDecodeError:
            verdict = "failed"
        same(f"{name}, byte {i}", verdict, "failed")
print(f"riffle.py: {checks} checks, {bad} differ, {time.perf_counter() - start:.1f} s")
sys.exit(bad > 0)
