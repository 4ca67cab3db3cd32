"""Checks proof files of riffle/1 as docs/spec.md says. Python 3.9, its standard library and cryptography.
verify(proof, key, items, order) takes texts: the proof file; the log's key, from elsewhere; the JSON array of what was
shuffled (of a deck all codes); the answer: an array of items or positions, or all that the service answered. The result
has steps of [step, ok, detail], ok None if it cannot be checked; the verdict; and order, the positions of each shuffle.
python3 riffle.py [--key FILE] [--items FILE] [--order FILE] PROOF... exits with 0: verified, 1: one failed, 2: else."""
import argparse, base64, datetime, functools, hashlib, hmac, itertools, json, math, re, sys, types, unicodedata
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

ALGORITHMS = {  # for n items: the first bound, the step to the next, and what the i-th integer swaps
    "fisher-yates": lambda n: (n, -1, lambda i, u: (i, i + u)),
    "durstenfeld": lambda n: (n, -1, lambda i, u: (n - 1 - i, u)),
    "inside-out": lambda n: (2, 1, lambda i, u: (i + 1, u)),
    "strike-out": lambda n: (n, -1, None),
    "sattolo": lambda n: (n - 1, -1, lambda i, u: (i, i + 1 + u))}  # with a last bound of 1, which takes no bits
DIGEST, UUID7 = "[0-9a-f]{64}", "[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
TIME, STATEMENT = "%Y-%m-%dT%H:%M:%S.%fZ", ("algorithm", "size", "draw", "repeat", "hands", "input", "reference")
INPUT = f"range|items sha256:{DIGEST}|deck [a-z0-9-]+ x[1-9][0-9]* sha256:{DIGEST}"
MEMBERS = {"reveal": "audit_id commitment", "shuffle": "algorithm size draw repeat hands? input parameters? "
           "reference? client_seed? reveal? commitment"}  # those with ? may be left out
LOG_KEY = r"([^\s+\x00-\x1f\x7f-\x9f]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]{44})"
TLOG_PROOF = ("c2sp\\.org/tlog-proof@v1\nindex (0|[1-9][0-9]*)\n((?:[A-Za-z0-9+/]{43}=\n)*)\n"
              "(([^\n]+)\n([1-9][0-9]*)\n([A-Za-z0-9+/]{43}=)\n)\n((?:— [^ \n]+ [A-Za-z0-9+/=]+\n)+)")

def demand(truth, message):
    if not truth:
        raise ValueError(message)
def sha256(*parts):
    return hashlib.sha256(b"".join(parts)).digest()
def unbase64(text):
    demand(base64.b64encode(base64.b64decode(text)).decode() == text, f"{text} is not base64 in its one form")
    return base64.b64decode(text)
def unique(pairs):
    demand(len(dict(pairs)) == len(pairs), "a member stands twice")
    return dict(pairs)
# Reads JSON so that equal is what was written alike: numbers become (digits,), objects the tuple of their pairs.
exact = functools.partial(json.loads, parse_int=lambda d: (d,), parse_float=lambda d: (d,), object_pairs_hook=tuple)

def read_record(text):
    record = json.loads(text, object_pairs_hook=unique, parse_constant=lambda name: demand(False, f"{name} is no JSON"))
    demand(type(record) is dict, "the record is not a JSON object")
    whole = lambda value, low=1, high=2**53 - 1: type(value) is int and low <= value <= high
    rules = {  # each is a regular expression or a function
        "id": UUID7, "kind": "[a-z0-9_-]+", "spec": "riffle/1", "audit_id": UUID7, "commitment": DIGEST,
        "algorithm": "|".join(ALGORITHMS), "input": INPUT, "reveal": "now", "repeat": whole,
        "time": lambda time: datetime.datetime.strptime(str(time), TIME).strftime(TIME) == time,
        "size": lambda n: whole(n, 0) and (n, record["algorithm"]) != (1, "sattolo"),
        "draw": lambda m: whole(m, 0, record["size"]),
        "hands": lambda hands: type(hands) is list and all(map(whole, hands)) and 1 <= sum(hands) <= record["draw"],
        "parameters": lambda values: type(values) is dict and all(whole(v, 1 - 2**53) for v in values.values()),
        "client_seed": lambda seed: type(seed) is str and seed and "\0" not in seed and len(seed.encode()) <= 256,
        "reference": lambda text: type(text) is str and 1 <= len(text) <= 128 and all(
            character == " " or unicodedata.category(character)[0] in "LMNPS" for character in text)}
    for name, mark in re.findall(r"(\w+)(\??)", "id time kind spec " + MEMBERS.get(str(record.get("kind")), "")):
        rule, value = rules[name], record.get(name)
        kept = rule(value) if callable(rule) else type(value) is str and re.fullmatch(rule, value)
        demand(kept or (mark and name not in record), f"{name} is not valid")
    return record

def seed_blocks(size, draw):  # the formula's k; it rounds log2(n!/(n-m)!) up, which does not change k
    results = math.perm(size, draw) if draw <= 1024 else 1
    return -(-((results - 1).bit_length() + 64) // 256)
def keystream(keys, shuffle):
    counter = modes.CTR(shuffle.to_bytes(8, "big") + bytes(8))
    ciphers = [Cipher(algorithms.AES(key), counter).encryptor() for key in keys]
    while True:
        yield functools.reduce(int.__xor__, (int.from_bytes(cipher.update(bytes(8)), "big") for cipher in ciphers))
def replay_shuffle(record, keys, shuffle):
    algorithm, size, draw = record["algorithm"], record["size"], record["draw"]
    first, step, swap = ALGORITHMS[algorithm](size)
    needed = size - 1 if algorithm in ("durstenfeld", "inside-out") else min(draw, size - 1)
    bounds, words, integers = lambda i: first + step * i, keystream(keys, shuffle), []
    while len(integers) < needed:
        end, product = len(integers) + 1, bounds(len(integers))
        while end < size - 1 and product * bounds(end) <= 2**56:
            product, end = product * bounds(end), end + 1
        x, served = -1, []
        while x < 2**64 % product:
            x, served = next(words), []
            for i in range(len(integers), end):
                integer, x = divmod(x * bounds(i), 2**64)
                served.append(integer)
        integers += served
    if not swap:
        left = list(range(size))
        return ([left.pop(s) for s in integers] + left)[:draw]
    moved = {}  # only what moved, for n may be 2^53 - 1
    for i, u in enumerate(integers):
        p, q = swap(i, u)
        moved[p], moved[q] = moved.get(q, q), moved.get(p, p)
    return [moved.get(i, i) for i in range(draw)]
def is_answer(record, orders, items, answer):  # compares the items, or without them the positions
    ends = [0, *itertools.accumulate(record.get("hands", [])), None]
    deal = lambda shuffle: [shuffle[start:end] for start, end in zip(ends, ends[1:])]
    shuffles = [[(str(place),) if items is None else items[place] for place in order] for order in orders]
    right = {"shuffles": list(map(deal, shuffles)) if "hands" in record else shuffles}
    if record["repeat"] == 1:
        right.update(items=shuffles[0], hands=deal(shuffles[0])[:-1], rest=deal(shuffles[0])[-1])
    if type(answer) is list:
        return answer == right.get("items", shuffles)
    return any(name in right for name, _ in answer) and all(right.get(name, value) == value for name, value in answer)
def root_of(leaf, i, size, path):
    demand(i < size and bool(path) == (size > 1), "the path does not have the length for this index and size")
    if size == 1:
        return leaf
    half = 1 << (size - 1).bit_length() - 1  # the largest power of two below size: where RFC 6962 splits the tree
    if i < half:
        return sha256(b"\1", root_of(leaf, i, half, path[:-1]), path[-1])
    return sha256(b"\1", path[-1], root_of(leaf, i - half, size - half, path[:-1]))

# Yields each step as it begins, and raises an error where one fails; so does check_proof.
def check_record(result, text, seed, client_seed=None, items=None, answer=None):
    yield "record", True, ""
    record = read_record(text)
    is_shuffle, values = record["kind"] == "shuffle", {"client_seed": "", **record}
    demand(client_seed == values["client_seed"] or (client_seed is None and is_shuffle), "another kind or client seed")
    digest = sha256(re.sub(r'("[^"\\]*(?:\\.[^"\\]*)*")|[ \t\n\r]+', r"\1", items or "").encode()).hex()
    fits = not items or (is_shuffle and record["size"] == len(exact(items)) and record["input"].endswith(digest))
    if is_shuffle and seed is not None:
        blocks, asked = re.findall(".{1,64}", seed), seed_blocks(record["size"], record["draw"])
        yield "seed", True, "" if len(blocks) >= asked else "warning: it is shorter than the formula asks for"
        yield "commitment", True, ""
        values["hands"] = ",".join(map(str, record.get("hands", [])))
        lines = "".join(f"{name} {values[name]}\n" for name in STATEMENT if name in record)
        result.statement = f"riffle/1\n{lines}seed {seed}\n"
        commitment = sha256(result.statement.encode())
        demand(commitment.hex() == record["commitment"], "it is not the SHA-256 of the statement with this seed")
        yield "keys", True, ""
        demand(1 <= len(set(blocks)) == len(blocks) <= 213 and len(blocks[-1]) == 64, "not 1 to 213 different blocks")
        message = b"riffle/1 key\n" + commitment + values["client_seed"].encode()
        result.keys = [hmac.digest(bytes.fromhex(block), message, "sha256") for block in blocks]
        yield "order", True, ""
        result.order = [replay_shuffle(record, result.keys, shuffle) for shuffle in range(record["repeat"])]
    elif is_shuffle or answer is not None:
        yield "order", None, "there is no seed to replay"
    if answer is not None and result.order is not None and fits:
        if not is_answer(record, result.order, items and exact(items), exact(answer)):
            demand(items is None and record["input"] != "range" and '"' in answer, "the answer has another order")
            result.steps[-1][1:] = None, "it takes the items to compare"
    if items is not None:
        yield "items", True, ""
        demand(fits, "these are not the items that the record is about")
def check_proof(result, text, key, items, answer):
    yield ("proof", True, "") if key else ("proof", None, "no key was given: that in the file may be anyone's")
    proof = json.loads(text)
    form = json.dumps(proof, ensure_ascii=False, separators=(",", ":")) + "\n"  # the only one: no member stands twice
    demand(form.replace("\u2028", r"\u2028").replace("\u2029", r"\u2029") == text and type(proof) is dict and
           list(proof) == ["spec", "record", "seed", "client_seed", "tlog_proof", "log_key"] and
           all(type(part) is str or (name, part) == ("seed", None) for name, part in proof.items()) and
           re.fullmatch("([0-9a-f]{2})*", proof["seed"] or ""), "the file does not have its form")
    spec, record, seed, client_seed, tlog_proof, log_key = proof.values()
    tlog, own = re.fullmatch(TLOG_PROOF, tlog_proof), re.fullmatch(LOG_KEY, log_key)
    demand(spec == "riffle/1" and tlog and own, "the spec, tlog_proof or log_key does not have its form")
    (index, path, note, origin, size, root, lines), (name, key_hash, base64_key) = tlog.groups(), own.groups()
    point, path, root = unbase64(base64_key), [unbase64(line) for line in path.split()], unbase64(root)
    signatures = [(by, unbase64(data)) for by, data in re.findall("— ([^ \n]+) (.+)\n", lines)]
    demand(point[0] == 1 and sha256(name.encode(), b"\n", point).hex()[:8] == key_hash, "log_key has another hash")
    demand(key is None or key.strip() == log_key, "the file has another key than the one given")
    yield from check_record(result, record, seed, client_seed, items, answer)
    yield "inclusion", True, ""
    demand(root_of(sha256(b"\0", record.encode()), int(index), int(size), path) == root, "the root is another")
    yield "signature", True, ""
    own = [data[4:] for by, data in signatures if by == name and data[:4].hex() == key_hash]
    demand(origin == name and own, "the checkpoint is not signed by the key")
    for signature in own:
        Ed25519PublicKey.from_public_bytes(point[1:]).verify(signature, note.encode())  # raises InvalidSignature

def run(check, *given):
    result = types.SimpleNamespace(order=None, steps=[])
    try:
        for step in check(result, *given):
            result.steps.append(list(step))
    except (ValueError, TypeError, RecursionError, InvalidSignature) as error:
        result.steps[-1][1:] = False, str(error) or "the signature is not the key's"
    oks = [ok for _, ok, _ in result.steps]
    result.verdict = "failed" if False in oks else "unchecked" if None in oks else "verified"
    return result
replay = functools.partial(run, check_record)  # of a record and a seed, without a log
def verify(proof, key=None, items=None, order=None):
    for text in (items, order):
        json.loads("0" if text is None else text)  # raises an error: then nothing can be checked
    return run(check_proof, proof, key, items, order)

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for name, count in (("--key", None), ("--items", None), ("--order", None), ("proof", "+")):
        parser.add_argument(name, nargs=count)
    paths, verdicts = parser.parse_args(), []
    read = lambda path: None if path is None else open(path, encoding="utf-8", newline="").read()
    for path in paths.proof:
        try:
            result = verify(read(path), read(paths.key), read(paths.items), read(paths.order))
        except (ValueError, OSError, RecursionError) as error:
            result = types.SimpleNamespace(steps=[["file", None, str(error)]], verdict="unchecked")
        for step, ok, detail in result.steps:
            print({True: "ok", None: "?", False: "FAILED"}[ok], step, detail, sep="\t")
        print(f"{path}: {result.verdict}")
        verdicts.append(result.verdict)
    sys.exit(1 if "failed" in verdicts else 2 if "unchecked" in verdicts else 0)
