"""Checks proof files of riffle/1 as docs/spec.md says. Python 3.9, its standard library and cryptography.

    result = verify(proof, key=None, items=None, order=None)

All are texts: the proof file; the log's key, from elsewhere; the JSON array of what was shuffled (of a deck all codes);
the answer: an array of items or positions, or all that the service answered. The result has steps of (step, ok,
detail), ok None if it cannot be checked; verdict, "failed" if one is False, else "unchecked" if one is None, else
"verified"; and order, the positions of each shuffle. replay(record, seed) needs no log.

python3 riffle.py [--key FILE] [--items FILE] [--order FILE] PROOF... exits with 0: verified, 1: one failed, 2: else.
"""
import base64, hashlib, hmac, json, math, re, sys, unicodedata
from datetime import datetime
from itertools import islice
from types import SimpleNamespace
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

ONE_SHUFFLE, ALL_SHUFFLES = 2**23, 2**26  # the items that this program goes through; more are not checked
DIGEST, UUID7 = "[0-9a-f]{64}", "[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
INPUT = f"range|items sha256:{DIGEST}|deck [a-z0-9-]+ x[1-9][0-9]* sha256:{DIGEST}"
LOG_KEY = r"([^\s+\x00-\x1f\x7f-\x9f]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]{44})"
TIME = r"[0-9]{4}(-[0-9]{2}){2}T[0-9]{2}(:[0-9]{2}){2}\.[0-9]{6}Z"
TLOG_PROOF = ("c2sp\\.org/tlog-proof@v1\nindex (0|[1-9][0-9]*)\n((?:[A-Za-z0-9+/]{43}=\n)*)\n"
              "(([^\n]+)\n([1-9][0-9]*)\n([A-Za-z0-9+/]{43}=)\n)\n((?:— [^ \n]+ [A-Za-z0-9+/=]+\n)+)")
ALGORITHMS = {  # for n items: the first bound, the step to the next, their number, and what the i-th integer swaps
    "fisher-yates": lambda n: (n, -1, n - 1, lambda i, u: (i, i + u)),
    "durstenfeld": lambda n: (n, -1, n - 1, lambda i, u: (n - 1 - i, u)),
    "inside-out": lambda n: (2, 1, n - 1, lambda i, u: (i + 1, u)),
    "strike-out": lambda n: (n, -1, n - 1, None),
    "sattolo": lambda n: (n - 1, -1, n - 2, lambda i, u: (i, i + 1 + u))}

def demand(truth, message):
    if not truth:
        raise ValueError(message)
def sha256(*parts):
    return hashlib.sha256(b"".join(parts)).digest()

def unbase64(text):
    demand(base64.b64encode(base64.b64decode(text)).decode() == text, f"{text} is not base64 in its one form")
    return base64.b64decode(text)

def read_json(text, members=dict):
    def integer(digits):  # None, which keeps no rule, where the number is not of the specification
        return int(digits) if re.fullmatch("0|-?[1-9][0-9]{0,15}", digits) else None
    return json.loads(text, object_pairs_hook=members, parse_int=integer, parse_float=lambda digits: None,
                      parse_constant=lambda name: demand(False, f"{name} is not JSON"))

def unique(pairs):
    demand(len(dict(pairs)) == len(pairs), "a member stands twice")
    return dict(pairs)

def compact(text):
    return re.sub(r'("[^"\\]*(?:\\.[^"\\]*)*")|[ \t\n\r]+', r"\1", text)

def split(text):
    """The elements of a JSON array, as written but for white space; of an object its names and values in turn."""
    read_json(text)
    text, at, parts = compact(text), 1, []
    while at < len(text) - 1:
        end = json.JSONDecoder().raw_decode(text, at)[1]
        parts.append(text[at:end])
        at = end + 1  # past the comma or the colon
    return parts

def read_record(text):
    record = read_json(text, unique)
    demand(type(record) is dict, "the record is not a JSON object")
    kind, size, draw = (record.get(name) for name in ("kind", "size", "draw"))
    like = lambda form: lambda value: type(value) is str and re.fullmatch(form, value)
    whole = lambda low, high=2**53 - 1: lambda value: type(value) is int and low <= value <= high
    rules = {"id": like(UUID7), "kind": like("[a-z0-9_-]+"), "spec": like("riffle/1"),
             "time": lambda time: like(TIME)(time) and datetime.strptime(time, "%Y-%m-%dT%H:%M:%S.%fZ")}
    if kind == "reveal":
        rules.update(audit_id=like(UUID7), commitment=like(DIGEST))
    if kind == "shuffle":
        rules.update(
            algorithm=like("|".join(ALGORITHMS)), input=like(INPUT), repeat=whole(1), commitment=like(DIGEST),
            size=lambda n: whole(0)(n) and (n, record["algorithm"]) != (1, "sattolo"), draw=lambda m: whole(0, size)(m))
        maybe = {
            "hands": lambda hands: type(hands) is list and hands and all(map(whole(1), hands)) and sum(hands) <= draw,
            "parameters": lambda values: type(values) is dict and all(map(whole(1 - 2**53), values.values())),
            "reference": lambda text: like(".{1,128}")(text) and all(
                c == " " or unicodedata.category(c)[0] in "LMNPS" for c in text),
            "client_seed": lambda text: like("[^\0]+")(text) and len(text.encode()) <= 256, "reveal": like("now")}
        rules.update((name, rule) for name, rule in maybe.items() if name in record)
    for name, rule in rules.items():
        demand(rule(record.get(name)), f"{name} is not valid")
    return record

def seed_blocks(size, draw):
    """The formula's k. It rounds log2(n!/(n-m)!) up, which does not change k."""
    results = math.perm(size, draw) if draw <= 1024 else 1
    return -(-((results - 1).bit_length() + 64) // 256)

def keystream(keys, shuffle):
    counter = shuffle.to_bytes(8, "big") + bytes(8)
    ciphers = [Cipher(algorithms.AES(key), modes.CTR(counter)).encryptor() for key in keys]
    while True:
        total = 0
        for cipher in ciphers:
            total ^= int.from_bytes(cipher.update(bytes(512)), "big")
        yield from (total >> shift & 2**64 - 1 for shift in range(4096 - 64, -1, -64))

def replay_shuffle(algorithm, size, draw, keys, shuffle, needed):
    first, step, total, swap = ALGORITHMS[algorithm](size)
    bound, words, integers = lambda i: first + step * i, keystream(keys, shuffle), []
    while len(integers) < needed:
        end = len(integers) + 1
        product = bound(len(integers))
        while end < total and product * bound(end) <= 2**56:
            product, end = product * bound(end), end + 1
        x, served = -1, []
        while x < 2**64 % product:
            x, served = next(words), []
            for i in range(len(integers), end):
                integer, x = divmod(x * bound(i), 2**64)
                served.append(integer)
        integers += served
    if not swap:
        left = list(range(size))
        return ([left.pop(s) for s in integers] + left)[:draw]
    if algorithm == "sattolo" and len(integers) == total:
        integers.append(0)  # the last swap has one candidate
    moved = {}  # only what moved, for n may be 2^53 - 1
    for i, u in enumerate(integers):
        p, q = swap(i, u)
        moved[p], moved[q] = moved.get(q, q), moved.get(p, p)
    return [moved.get(i, i) for i in range(draw)]

def replay_record(result, record, seed):
    algorithm, size, draw, repeat = (record[name] for name in ("algorithm", "size", "draw", "repeat"))
    yield "seed"
    if len(seed) < 64 * seed_blocks(size, draw):
        result.note("warning: the seed is shorter than the formula asks for")
    yield "commitment"
    names = ("algorithm", "size", "draw", "repeat", "hands", "input", "reference")
    values = {**record, "hands": ",".join(map(str, record.get("hands", [])))}
    lines = "".join(f"{name} {values[name]}\n" for name in names if name in record)
    result.statement = f"riffle/1\n{lines}seed {seed}\n"
    commitment = sha256(result.statement.encode())
    demand(commitment.hex() == record["commitment"], "it is not the SHA-256 of the statement with this seed")
    yield "keys"
    blocks = [bytes.fromhex(seed)[i:i + 32] for i in range(0, len(seed) // 2, 32)]
    demand(1 <= len(blocks) <= 213 and len(blocks[-1]) == 32, "the seed is not 1 to 213 blocks")
    demand(len(set(blocks)) == len(blocks), "two blocks of the seed are equal")
    message = b"riffle/1 key\n" + commitment + record.get("client_seed", "").encode()
    result.keys = [hmac.digest(block, message, "sha256") for block in blocks]
    yield "order"
    total = ALGORITHMS[algorithm](size)[2]
    needed = max(0, total if algorithm in ("durstenfeld", "inside-out") else min(draw, total))
    work = max(1, draw, needed, size if algorithm == "strike-out" else 0)
    if work > ONE_SHUFFLE or work * repeat > ALL_SHUFFLES:
        result.note("it is too long for this program", None)
    else:
        result.order = [replay_shuffle(algorithm, size, draw, result.keys, r, needed) for r in range(repeat)]

def compare_order(record, orders, items, answer):
    def deal(order):
        left = iter(order)
        return [list(islice(left, hand)) for hand in record.get("hands", [])] + [list(left)]
    def write(places):
        return re.sub("[0-9]+", lambda place: items[int(place[0])] if items else place[0], compact(json.dumps(places)))
    right = {'"shuffles"': [deal(order) for order in orders] if "hands" in record else orders}
    if record["repeat"] == 1:
        right.update({'"items"': orders[0], '"hands"': deal(orders[0])[:-1], '"rest"': deal(orders[0])[-1]})
    if compact(answer).startswith("["):
        return compact(answer) == write(orders[0] if record["repeat"] == 1 else orders)
    given = dict(zip(*[iter(split(answer))] * 2))
    return bool(given.keys() & right) and all(given[name] == write(right[name]) for name in given.keys() & right)

def read_proof(text):
    proof = read_json(text, unique)
    form = json.dumps(proof, ensure_ascii=False, separators=(",", ":")) + "\n"
    demand(form.replace("\u2028", r"\u2028").replace("\u2029", r"\u2029") == text and
           list(proof) == ["spec", "record", "seed", "client_seed", "tlog_proof", "log_key"] and
           all(type(proof[name]) is str for name in proof if name != "seed") and proof["spec"] == "riffle/1" and
           (proof["seed"] is None or re.fullmatch("([0-9a-f]{2})*", proof["seed"])), "the file does not have its form")
    tlog, key = re.fullmatch(TLOG_PROOF, proof["tlog_proof"]), re.fullmatch(LOG_KEY, proof["log_key"])
    demand(tlog and key, "tlog_proof or log_key does not have its form")
    point, lines = unbase64(key[3]), [line.split(" ") for line in tlog[7].splitlines()]
    demand(point[0] == 1 and sha256(key[1].encode(), b"\n", point).hex()[:8] == key[2], "log_key has another hash")
    own = [unbase64(data)[4:] for _, name, data in lines if (name, unbase64(data)[:4].hex()) == (key[1], key[2])]
    return SimpleNamespace(**proof, name=key[1], point=point[1:], index=int(tlog[1]), size=int(tlog[5]), origin=tlog[4],
        path=list(map(unbase64, tlog[2].split())), root=unbase64(tlog[6]), note=tlog[3].encode(), signatures=own)

def root_of(record, i, size, path):
    node, last = sha256(b"\0", record), size - 1
    demand(i <= last, "the tree does not reach to the index")
    for other in path:
        demand(last > 0, "the path is too long")
        is_right = i % 2 == 1 or i == last
        node = sha256(b"\1", other, node) if is_right else sha256(b"\1", node, other)
        while is_right and i % 2 == 0 and i > 0:
            i, last = i // 2, last // 2
        i, last = i // 2, last // 2
    demand(last == 0, "the path is too short")
    return node

def collect(check, *given):
    """Runs check, which yields the name of each step that begins, and raises an error where one fails."""
    result, steps = SimpleNamespace(order=None), []
    result.note = lambda detail, ok=True: steps[-1].update(ok=ok, detail=detail)
    try:
        for step in check(result, *given):
            steps.append({"step": step, "ok": True, "detail": ""})
    except (ValueError, RecursionError, InvalidSignature) as error:
        result.note(str(error) or "the signature is not the key's", False)
    oks = [step["ok"] for step in steps]
    result.verdict = "failed" if False in oks else "unchecked" if None in oks else "verified"
    result.steps = [tuple(step.values()) for step in steps]
    return result

def check_record(result, text, seed):
    yield "record"
    record = read_record(text)
    demand(record["kind"] == "shuffle", "the record is no shuffle")
    yield from replay_record(result, record, seed)

def check_proof(result, text, key, items, order):
    yield "proof"
    proof, parts = read_proof(text), None if items is None else split(items)
    demand(key is None or key.strip() == proof.log_key, "the file has another key than the one given")
    if key is None:
        result.note("no key was given: that in the file may be anyone's", None)
    yield "record"
    record = read_record(proof.record)
    result.note(f"{record['kind']} {record['id']}")
    demand(proof.client_seed == record.get("client_seed", ""), "the client seed is not that of the record")
    fits = parts is None or (record.get("size") == len(parts) and
                             record["input"].endswith(f" sha256:{sha256(compact(items).encode()).hex()}"))
    if record["kind"] == "shuffle" and proof.seed is not None:
        yield from replay_record(result, record, proof.seed)
    elif record["kind"] == "shuffle" or order is not None:
        yield "order"
        result.note("there is no seed to replay", None)
    if order is not None and result.order is not None and fits:
        same = compare_order(record, result.order, parts, order)
        is_open = not same and parts is None and record["input"] != "range" and '"' in order  # these are no positions
        demand(same or is_open, "the seed gives another order than the answer")
        result.note(*(("it takes the items to compare", None) if is_open else ("as answered",)))
    if parts is not None:
        yield "items"
        demand(fits, "these are not the items that the record is about")
    yield "inclusion"
    result.note(f"record {proof.index} of {proof.size}")
    demand(root_of(proof.record.encode(), proof.index, proof.size, proof.path) == proof.root, "the root is another")
    yield "signature"
    result.note(proof.name)
    demand(proof.origin == proof.name and proof.signatures, "the checkpoint is not signed by the key")
    for signature in proof.signatures:
        Ed25519PublicKey.from_public_bytes(proof.point).verify(signature, proof.note)  # raises InvalidSignature

def replay(record, seed):
    return collect(check_record, record, seed)
def verify(proof, key=None, items=None, order=None):
    for text in (items, order):
        json.loads("0" if text is None else text)  # raises an error: then nothing can be checked
    return collect(check_proof, proof, key, items, order)

def main(arguments):
    options, verdicts = {}, []
    def read(path):
        return open(path, encoding="utf-8", newline="").read()
    try:
        while arguments and arguments[0] in ("--key", "--items", "--order"):
            options[arguments[0][2:]], arguments = read(arguments[1]), arguments[2:]
        demand(arguments, "no PROOF was given")
        for path in arguments:
            result = verify(read(path), **options)
            for step, ok, detail in result.steps:
                print({True: "ok", None: "?", False: "FAILED"}[ok], step, detail, sep="\t")
            print(f"{path}: {result.verdict}")
            verdicts.append(result.verdict)
    except (ValueError, OSError, IndexError, RecursionError) as error:
        print(f"cannot be checked: {error}", file=sys.stderr)
        verdicts.append("unchecked")
    return 1 if "failed" in verdicts else 2 if "unchecked" in verdicts else 0

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
