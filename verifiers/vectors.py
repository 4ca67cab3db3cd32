"""Runs riffle.py over the vectors in testdata/riffle1. Prints what differs and exits with 1 if anything does."""
import base64, hashlib, json, pathlib, sys, time
from itertools import islice
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

sys.path.insert(0, str(pathlib.Path(__file__).parent))
sys.dont_write_bytecode = True
from riffle import keystream, verify

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

# The proof file of the only record of a log with a test key.
signer = Ed25519PrivateKey.from_private_bytes(bytes([9] * 32))
point = b"\1" + signer.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
key_hash = hashlib.sha256(b"test\n" + point).digest()[:4]
key = f"test+{key_hash.hex()}+{base64.b64encode(point).decode()}"

def prove(record, seed):
    try:
        client_seed = json.loads(record).get("client_seed", "").encode(errors="replace").decode()
    except (ValueError, AttributeError):
        client_seed = ""  # it is no record
    root = hashlib.sha256(b"\0" + record.encode()).digest()
    note = f"test\n1\n{base64.b64encode(root).decode()}\n"
    signature = base64.b64encode(key_hash + signer.sign(note.encode())).decode()
    tlog_proof = f"c2sp.org/tlog-proof@v1\nindex 0\n\n{note}\n— test {signature}\n"
    file = {"spec": "riffle/1", "record": record, "seed": seed, "client_seed": client_seed, "tlog_proof": tlog_proof,
            "log_key": key}
    text = json.dumps(file, ensure_ascii=False, separators=(",", ":")) + "\n"
    return text.replace("\u2028", r"\u2028").replace("\u2029", r"\u2029")

for v in load("vectors")["vectors"]:
    result = verify(prove(v["record"], v["seed"]), key)
    same(v["name"], result.verdict, "verified")
    if result.order is None:
        print(result.steps, file=sys.stderr)
        continue
    same(f"{v['name']} statement", result.statement, v["statement"])
    same(f"{v['name']} blocks", result.blocks, v["blocks"])
    same(f"{v['name']} keys", [key.hex() for key in result.keys], v["keys"])
    for shuffle, words in enumerate(v["words"]):
        got = [f"{word:016x}" for word in islice(keystream(result.keys, shuffle), len(words))]
        same(f"{v['name']} words", got, words)
    if "orders" in v:
        same(f"{v['name']} orders", result.order, v["orders"])
    text = "".join(write(order) + "\n" for order in result.order)
    same(f"{v['name']} digest", hashlib.sha256(text.encode()).hexdigest(), v["orders_sha256"])
for v in load("invalid")["invalid"]:
    result = verify(prove(v["record"], v["seed"]), key)  # a record of an unknown kind is no shuffle
    unknown = v["name"] == "unknown-kind" and next(step for step, ok, _ in result.steps if ok is None)
    same(v["name"], unknown or failing(result), v["step"] if v["seed"] else "proof")

first = load("vectors")["vectors"][0]
other = first["record"].replace(".000000Z", ".000000+00:00Z")
same("a time with two zones", failing(verify(prove(other, first["seed"]), key)), "record")

# A replay that would never end is not begun.
for algorithm, size, draw, repeat in (("fisher-yates", 2**53 - 1, 2**53 - 1, 1), ("fisher-yates", 5, 0, 2**53 - 1),
                                      ("durstenfeld", 2**53 - 1, 0, 1), ("strike-out", 2**24, 2**24, 1)):
    statement = (f"riffle/1\nalgorithm {algorithm}\nsize {size}\ndraw {draw}\nrepeat {repeat}\ninput range\n"
                 f"seed {'00' * 32}\n")
    record = write({"id": "019b7ca9-8c88-7e34-8a29-e0ab088154ee", "time": "2026-01-02T03:04:05.000000Z", "kind": "shuffle",
                    "spec": "riffle/1", "algorithm": algorithm, "size": size, "draw": draw, "repeat": repeat,
                    "input": "range", "commitment": hashlib.sha256(statement.encode()).hexdigest()})
    steps = verify(prove(record, "00" * 32), key).steps
    same(f"{algorithm}, {size}, {draw}, {repeat}", steps[-1][:2], ["order", None])

def check(v, **other):  # with all that the vector has, but for what is another
    v = {**v, **other}
    return verify(v["proof"], v["key"], v["items"], v.get("order"), v.get("commitment_proof"), v.get("items_salt"))

proofs, wrong = (load("proofs")[name] for name in ("proofs", "wrong"))
for v in proofs:
    result = check(v)
    same(v["name"], result.verdict, "unchecked" if v["expect"] in ("held-back", "unknown-kind") else "verified")
    has = any(step == "committed" for step, _, _ in result.steps)
    same(f"{v['name']} committed", has, "commitment_proof" in v)
    named = json.loads(json.loads(v["proof"])["record"]).get("commitment_id") if v["orders"] is not None else None
    same(f"{v['name']} says so", str(named) in result.steps[1][2], named is not None and not has)
    if failing(result):
        print(result.steps, file=sys.stderr)
    same(f"{v['name']} order", result.order, v["orders"])
    same(f"{v['name']} without key", check(v, key=None).verdict, "unchecked")
    if v["orders"] is None:
        continue
    first, *others = v["orders"]
    positions = json.dumps(v["orders"] if others else first, indent=1)
    same(f"{v['name']} positions", verify(v["proof"], v["key"], order=positions).verdict, "verified")
    turned = json.dumps(v["orders"][::-1] if others else first + [0])
    same(f"{v['name']} other positions", failing(verify(v["proof"], v["key"], order=turned)), "order")
for v in wrong:
    same(v["name"], failing(check(v)), v["step"])

# Salted items.
salted = load("salted")
for v in salted["proofs"]:
    result = check(v)
    same(v["name"], result.verdict, "verified" if v["expect"] == "verified" else "unchecked")
    same(f"{v['name']} order", result.order, v["orders"])
    if v["expect"] == "unchecked":
        same(f"{v['name']} step", next(step for step, ok, _ in result.steps if ok is None), "items")
    if v["orders"] is None:
        continue
    positions = json.dumps(v["orders"] if len(v["orders"]) > 1 else v["orders"][0])
    same(f"{v['name']} positions", verify(v["proof"], v["key"], order=positions).verdict, "verified")
    if v["items"] is not None and len(v["orders"]) == 1:
        dealt = write({"items": [json.loads(v["items"])[place] for place in v["orders"][0]]})
        same(f"{v['name']} answered", check(v, order=dealt).verdict, v["expect"])
for v in salted["wrong"]:
    same(v["name"], failing(check(v)), v["step"])
for salt in ("", "fifteen-letters", "a" * 129, "sixteen letters!", "c0ffee00112233445566778899aabbcc\n"):
    try:
        same(f"the salt {salt}", check(salted["proofs"][0], items_salt=salt).verdict, "an error")
    except ValueError:
        same(f"the salt {salt}", "an error", "an error")

# Whole answers: items, hands and rest, shuffles. White space does not matter, every element does.
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

# Any changed byte of a file, or of the commitment's, makes it fail.
for name in named if "--all" in sys.argv else ["hands and a client seed", "reveal", "worked, committed"]:
    v = named[name]
    for member in ("proof", "commitment_proof"):
        for i in range(len(v.get(member, "").encode())):
            data = bytearray(v[member].encode())
            data[i] ^= 1
            try:
                verdict = check(v, **{member: data.decode()}).verdict
            except UnicodeDecodeError:
                verdict = "failed"
            same(f"{name}, {member}, byte {i}", verdict, "failed")
print(f"riffle.py: {checks} checks, {bad} differ, {time.perf_counter() - start:.1f} s")
sys.exit(bad > 0)
