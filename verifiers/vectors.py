"""Runs riffle.py over the vectors in testdata/riffle1. Prints what differs and exits with 1 if anything does.
With --stdin it prints what riffle.py says of each vector that it reads instead, one line of JSON each."""
import base64, hashlib, json, pathlib, sys, time, traceback
from itertools import islice
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

sys.path.insert(0, str(pathlib.Path(__file__).parent))
sys.dont_write_bytecode = True
from riffle import MESSAGES, NAMES, codes_of, keystream, message, render, trace_text, verify

ROOT = pathlib.Path(__file__).parent.parent
start, checks, bad = time.perf_counter(), 0, 0

def load(name):
    return json.loads((ROOT / "testdata/riffle1" / f"{name}.json").read_bytes())

def same(name, got, want):
    global checks, bad
    checks += 1
    if got != want:
        bad += 1
        print(f"{name}: {str(got)[:200]}, want {str(want)[:200]}", file=sys.stderr)

def first(ok, result):
    return next((step["name"] for step in result["steps"] if step["ok"] is ok), None)

def failing(result):
    return first(False, result)

# What every vector gives to a verifier, by the name of its file and its own.
LISTS = {"proofs": ("proofs", "wrong"), "salted": ("proofs", "wrong"), "shoes": ("shoes", "hands", "wrong"), "verdicts": ("verdicts",), "fuzzed": ("verdicts",),
         "witnesses": ("verdicts",), "books": ("verdicts",), "beacons": ("verdicts",), "players": ("verdicts",)}
vectors = [(f"{file}: {v['name']}", v) for file, lists in LISTS.items() for name in lists for v in load(file)[name]]

def given(v):
    return {name: v.get(name) for name in ("key", "items", "items_salt", "order")}

def texts(v):  # in their roles, and with the names that the command has for them
    files = v.get("files") or [v[name] for name in ("proof", "proofs", "commitment_proof") if v.get(name)]
    roles = (("--key", "key", "key"), ("--items-salt", "items_salt", "salt"), ("--items", "items", "items"), ("--order", "order", "order"),
             ("--hand", "hand", "hand"))
    given = [(name, v[member], role) for name, member, role in roles if v.get(member)]
    if "texts" in v:
        return given + [(one["name"], one["text"], one.get("role")) for one in v["texts"]]
    return given + [(str(i), text, "proof") for i, text in enumerate(files)]

def check(v, **other):  # with all that the vector has, except for the members given
    v = {**v, **other}
    return verify(texts(v), hand_of=v.get("hand_of"), any_order=v.get("any_order", False))

if "--stdin" in sys.argv:
    for line in sys.stdin:
        v, before = json.loads(line), time.process_time()
        try:
            result = check(v)
        except Exception:
            result = {"verdict": f"throws: {traceback.format_exc()}"}
        print(json.dumps({**result, "seconds": time.process_time() - before}), flush=True)
    sys.exit()

# The texts of a result are those of its messages, in which every value is filled in, in both languages.
TEXTS = json.loads((ROOT / "internal/audit/message/messages.json").read_bytes())
LANGUAGES = [({id: text[language] for id, text in TEXTS.items()}, comma) for language, comma in (("en", ", "), ("zh", "、"))]
same("the texts of messages", MESSAGES, LANGUAGES[0][0])
for id, text in TEXTS.items():
    same(f"the values of {id}", set(NAMES.findall(text["zh"])), set(NAMES.findall(text["en"])))

def blank(value):  # without texts of strangers, which may have brackets
    if isinstance(value, dict):
        return {"id": value["id"], "values": {name: blank(one) for name, one in value["values"].items()}}
    return list(map(blank, value)) if isinstance(value, list) else "x" if isinstance(value, str) else value

def check_texts(name, result):
    for one in [result, *result["proofs"]]:
        said = one["messages"] + [step["message"] for step in one["steps"]]
        texts = [one["headline"], *one["notes"], *(step["text"] for step in one["steps"])]
        same(f"{name}, texts", texts, list(map(render, said)))
        for table, comma in LANGUAGES:
            text = "\n".join(render(blank(message), table, comma) for message in said)
            same(f"{name}, values", [word for word in ("{", "}", "[", "]", "None") if word in text], [])

# The grammar of texts.
table = {"cards": "{cards:card}", "optional": "{a}[ and {b}][ or {b} by {c}]", "list": "{list}", "nested": "({what})"}
for id, values, want in (
        ("cards", {"cards": 0}, "0 cards"), ("cards", {"cards": 1}, "1 card"), ("cards", {"cards": 2**53 - 1}, "9007199254740991 cards"),
        ("optional", {"a": 1}, "1"), ("optional", {"a": 1, "b": None, "c": 3}, "1"), ("optional", {"a": 1, "b": 2}, "1 and 2"),
        ("optional", {"a": "", "b": "", "c": 0}, " and  or  by 0"), ("optional", {"a": "a\x1b\u202e"}, "a\ufffd\ufffd"),
        ("list", {"list": ["x\n", message("cards", cards=2)]}, "x\ufffd、2 cards"), ("list", {"list": []}, ""),
        ("nested", {"what": message("nested", what=message("list", list=["{a}[{b}]", "{what}"]))}, "(({a}[{b}]、{what}))")):
    same(f"the text {id} of {values}", render(message(id, **values), table, "、"), want)
same("a missing value", message("optional", a=0, b=None), {"id": "optional", "values": {"a": 0}})
same("large values", message("optional", a=2**53 - 1, b=2**53)["values"], {"a": 2**53 - 1, "b": "9007199254740992"})

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

# The cards of every deck type are those of the service, with the defaults of its parameters.
for line in (ROOT / "internal/deck/testdata/codes.sha256").read_text().splitlines():
    digest, type_of_deck = line.split()
    same(f"the codes of {type_of_deck}", hashlib.sha256(write(codes_of(type_of_deck, None)).encode()).hexdigest(), digest)

def plain_lists(orders):
    return orders and [list(order) for order in orders]


for v in load("vectors")["vectors"]:
    result = verify(prove(v["record"], v["seed"]), key=key)
    same(v["name"], result["verdict"], "verified")
    check_texts(v["name"], result)
    result = trace_text(prove(v["record"], v["seed"]), key=key)
    if result.orders is None:
        print(result.steps, file=sys.stderr)
        continue
    same(f"{v['name']} statement", result.statement, v["statement"])
    same(f"{v['name']} blocks", result.blocks, v["blocks"])
    same(f"{v['name']} keys", [key.hex() for key in result.keys], v["keys"])
    for shuffle, words in enumerate(v["words"]):
        got = [f"{word:016x}" for word in islice(keystream(result.keys, shuffle), len(words))]
        same(f"{v['name']} words", got, words)
    if "orders" in v:
        same(f"{v['name']} orders", plain_lists(result.orders), v["orders"])
    text = "".join(write(list(order)) + "\n" for order in result.orders)
    same(f"{v['name']} digest", hashlib.sha256(text.encode()).hexdigest(), v["orders_sha256"])
for v in load("invalid")["invalid"]:
    result = verify(prove(v["record"], v["seed"]), key=key)
    check_texts(v["name"], result)
    same(v["name"], failing(result) or first(None, result), v["step"] if v["seed"] else "proof")

v = load("vectors")["vectors"][0]
other = v["record"].replace(".000000Z", ".000000+00:00Z")
same("a time with two zones", failing(verify(prove(other, v["seed"]), key=key)), "record")

# A replay that would never end is not begun.
for algorithm, size, draw, repeat in (("fisher-yates", 2**53 - 1, 2**53 - 1, 1), ("fisher-yates", 5, 0, 2**53 - 1),
                                      ("durstenfeld", 2**53 - 1, 0, 1), ("strike-out", 2**26, 2**26, 1)):
    statement = (f"riffle/1\nalgorithm {algorithm}\nsize {size}\ndraw {draw}\nrepeat {repeat}\ninput range\n"
                 f"seed {'00' * 32}\n")
    record = write({"id": "019b7ca9-8c88-7e34-8a29-e0ab088154ee", "time": "2026-01-02T03:04:05.000000Z", "kind": "shuffle",
                    "spec": "riffle/1", "algorithm": algorithm, "size": size, "draw": draw, "repeat": repeat,
                    "input": "range", "commitment": hashlib.sha256(statement.encode()).hexdigest()})
    result = verify(prove(record, "00" * 32), key=key)
    same(f"{algorithm}, {size}, {draw}, {repeat}", (first(None, result), result["verdict"]), ("order", "unchecked"))

# The verdict on every vector, and its first step that fails.
def is_unchecked(v):
    return v.get("expect") in ("held-back", "unknown-kind", "unchecked") or v.get("expect") == "open" and not v["hand"]

for name, v in vectors:
    verdict = v.get("verdict") or ("false" if "step" in v else "unchecked" if is_unchecked(v) else "verified")
    if v.get("step") == "committed" and "texts" not in v:  # also of what verify would not take for the commitment of this shuffle
        result = trace_text(v["proof"], **given(v), commitment=v["commitment_proof"])
        same(f"{name}, step", (result.steps.first("wrong") or {}).get("name"), v["step"])
        continue
    result = check(v)
    check_texts(name, result)
    if v.get("signature"):  # of a beacon, which takes a library that Python does not have
        same(name, (failing(result), [step["ok"] for step in result["steps"] if step["name"] == "committed"]), (None, [None]))
        continue
    same(name, result["verdict"], verdict)
    if verdict == "false":
        same(f"{name}, step", failing(result), v["step"])
    else:
        same(f"{name}, no step fails", failing(result), None)
        is_there = verdict == "verified" or "step" not in v or any(
            step["name"] == v["step"] and step["ok"] is None for step in result["steps"])
        same(f"{name}, step", is_there, True)
    if "summary" in v:
        same(f"{name}, summary", result["summary"], v["summary"])
    if "roles" in v:
        shown = {one["name"]: {key: value for key, value in one.items() if key != "name"} for one in result["files"]}
        same(f"{name}, roles", [shown[one["name"]] for one in v["texts"]], v["roles"])
    if "expect" in v:
        result = check(v, key=None)
        same(f"{name}, without key", result["verdict"], "unchecked")
        check_texts(f"{name}, without key", result)

# The orders equal the vectors' orders, and another order is noticed.
def elements(array):  # of a JSON array, verbatim
    decoder, at, found = json.JSONDecoder(), array.index("[") + 1, []
    while array[at:].strip(" \r\n\t,") != "]":
        while array[at] in " \r\n\t,":
            at += 1
        end = decoder.raw_decode(array, at)[1]
        found.append(array[at:end])
        at = end
    return found

for v in load("proofs")["proofs"] + load("salted")["proofs"]:
    same(f"{v['name']} order", plain_lists(trace_text(v["proof"], key=v["key"]).orders), v["orders"])
    items = elements(v["items"]) if v["items"] else None
    is_known = items is not None or json.loads(json.loads(v["proof"])["record"]).get("input") == "range"
    if v["orders"] is None or v["expect"] != "verified" or not is_known:
        continue
    lists = ["[" + " ,\n".join(str(place) if items is None else items[place] for place in order) + "]" for order in v["orders"]]
    order = lists[0] if len(lists) == 1 else f"[{','.join(lists)}]"
    same(f"{v['name']} answered", check(v, order=order)["verdict"], "verified")
    more = order[:-1] + ("0]" if order == "[]" else ",0]")
    same(f"{v['name']} answered with one more", failing(check(v, order=more)), "order")
named = {v["name"]: v for v in load("proofs")["proofs"]}
v = named["fisher-yates"]
text = "[" + " , ".join(elements(v["items"])[place] for place in v["orders"][0]) + "]"
same("items written otherwise", failing(check(v, order=text.replace("1.0", "1.00"))), "order")
for salt in ("fifteen-letters", "a" * 129, "sixteen letters!"):
    result = check(load("salted")["proofs"][0], items_salt=salt)
    same(f"the salt {salt}", result["headline"].startswith("Not checked: the salt: "), True)

# Any changed byte of a file, or of the commitment's, is noticed. A file that is not JSON any more is called so.
for name in named if "--all" in sys.argv else ["hands and a client seed", "reveal", "worked, committed"]:
    v = named[name]
    for member in ("proof", "commitment_proof"):
        for i in range(len(v.get(member, "").encode())):
            data = bytearray(v[member].encode())
            data[i] ^= 1
            try:
                result = check(v, **{member: data.decode()})
                is_file = all(step["ok"] is not None for step in result["steps"] if step["name"] == "proof")
                noticed = result["verdict"] == "false" or not is_file
            except UnicodeDecodeError:
                noticed = True
            same(f"{name}, {member}, byte {i}", noticed, True)
print(f"riffle.py: {checks} checks, {bad} differ, {time.perf_counter() - start:.1f} s")
sys.exit(bad > 0)
