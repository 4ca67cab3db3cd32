"""Verifies proof files of riffle/1 as specified in docs/spec.md. verify takes texts: the proof file; the log's public key,
from another source; the JSON array of the items (for a deck, all codes); the order, as an array of items or positions or a
whole response; the proof file of the commitment; the salt of the items. A step that cannot be checked has ok None."""
import argparse, base64, datetime, functools, hashlib, hmac, itertools, json, math, re, sys, types, unicodedata
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
ALGORITHMS = {  # for n items: the first bound, the step to the next, and what the i-th integer swaps
    "fisher-yates": lambda n: (n, -1, lambda i, u: (i, i + u)), "inside-out": lambda n: (2, 1, lambda i, u: (i + 1, u)),
    "durstenfeld": lambda n: (n, -1, lambda i, u: (n - 1 - i, u)), "strike-out": lambda n: (n, -1, None),
    "sattolo": lambda n: (n - 1, -1, lambda i, u: (i, i + 1 + u))}  # its last bound is 1, which takes no bits
DIGEST, UUID7 = "[0-9a-f]{64}", "[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
INPUT = f"range|items sha256:{DIGEST}|deck [a-z0-9-]+ x[1-9][0-9]* sha256:{DIGEST}"
STATEMENT, ALL = ("algorithm", "size", "draw", "repeat", "hands", "input", "reference"), "id time kind spec commitment"
MADE = ALL + " algorithm size draw repeat input items_digest? hands? parameters? reference?"  # ?: optional
MEMBERS = {"reveal": f"{ALL} audit_id", "void": f"{ALL} commitment_id", "commitment": f"{MADE} deadline",
           "shuffle": f"{MADE} client_seed? reveal? commitment_id?"}
B, END, NAME = "[A-Za-z0-9+/]", "[AEIMQUYcgkosw048]=", r"[^\s+\x00-\x1f]+"  # canonical base64
HASH, LOG_KEY = f"{B}{{42}}{END}", f"({NAME})\\+([0-9a-f]{{8}})\\+({B}{{44}})"
SIGNATURE = f"(?:{B}{{4}})+(?:{B}{{4}}|{B}{{2}}{END}|{B}{{5}}[AQgw]==)"
TLOG_PROOF = (f"c2sp\\.org/tlog-proof@v1\nindex (0|[1-9][0-9]*)\n((?:{HASH}\n)*)\n(([^\\x00-\\x1f]+)\n"
              f"([1-9][0-9]*)\n({HASH})\n)\n((?:— {NAME} {SIGNATURE}\n){{1,100}})")
def demand(truth, message, error=ValueError):
    if not truth:
        raise error(message)
sha256 = lambda *parts: hashlib.sha256(b"".join(parts)).digest()
unique = lambda pairs: dict(pairs) if len(dict(pairs)) == len(pairs) else demand(False, "duplicate member")
# Parses JSON so that values are equal if written alike: numbers become (digits,), objects a tuple of their pairs.
exact = functools.partial(json.loads, parse_int=lambda d: (d,), parse_float=lambda d: (d,), object_pairs_hook=tuple)
def read_record(text):
    record = json.loads(text, object_pairs_hook=unique, parse_constant=int,  # of NaN it is an error
                        parse_int=lambda digits: int(digits) if re.fullmatch("[0-9]{1,16}", digits) else None)
    demand(type(record) is dict, "the record is not a JSON object")
    whole = lambda value, low=1, high=2**53 - 1: type(value) is int and low <= value <= high
    is_time = lambda time: datetime.datetime.fromisoformat(time[:26]).isoformat(timespec="microseconds") + "Z" == time
    rules = {  # each is a regular expression or a function
        "id": UUID7, "time": is_time, "kind": "[a-z0-9_-]+", "spec": "riffle/1", "audit_id": UUID7, "repeat": whole,
        "algorithm": "|".join(ALGORITHMS), "input": INPUT, "reveal": "now", "commitment": DIGEST,
        "items_digest": lambda rule: re.fullmatch("[a-z0-9-]+/[1-9][0-9]*", rule) and record["input"].startswith("items "),
        "size": lambda n: whole(n, 0) and (n, record["algorithm"]) != (1, "sattolo"),
        "draw": lambda m: whole(m, 0, record["size"]), "deadline": lambda end: is_time(end) and end > record["time"],
        "hands": lambda hands: type(hands) is list and all(map(whole, hands)) and 1 <= sum(hands) <= record["draw"],
        "parameters": lambda values: type(values) is dict and values and all(whole(v, 0) for v in values.values()),
        "client_seed": lambda seed: type(seed) is str and seed and "\0" not in seed and len(seed.encode()) <= 256,
        "commitment_id": lambda id: re.fullmatch(UUID7, id) and (record["kind"] == "void" or "client_seed" in record),
        "reference": lambda text: type(text) is str and 1 <= len(text) <= 128 and all(
            character == " " or unicodedata.category(character)[0] in "LMNPS" for character in text)}
    members = MEMBERS.get(str(record.get("kind")), "id time kind spec").split()
    for name in rules if record.get("kind") in list(MEMBERS) else members:
        rule, is_allowed = rules[name], name in members or name + "?" in members
        test = rule if callable(rule) else lambda value: type(value) is str and re.fullmatch(rule, value)
        demand(is_allowed and test(record[name]) if name in record else name not in members, f"{name} is not valid")
    return record
def keystream(keys, shuffle):
    ciphers = [Cipher(algorithms.AES(key), modes.CTR(shuffle.to_bytes(8, "big") + bytes(8))).encryptor() for key in keys]
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
        return [left.pop(s) for s in (integers + [0])[:draw]]  # the last one is alone
    moved = {}  # only what moved, for n may be 2^53 - 1
    for p, q in itertools.starmap(swap, enumerate(integers)):
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
    half, rest = 1 << (size - 1).bit_length() - 1, path[:-1]  # RFC 6962 splits at the largest power of two below size
    if i < half:
        return sha256(b"\1", root_of(leaf, i, half, rest), path[-1])
    return sha256(b"\1", path[-1], root_of(leaf, i - half, size - half, rest))
def check(result, text, key, items, answer, commitment, salt):  # yields each step as it begins; an error is that it fails
    yield "proof", None if key is None else True, "the key in the file may be anyone's" if key is None else ""
    file = json.loads(text)
    form = json.dumps(file, ensure_ascii=False, separators=(",", ":")) + "\n"  # the only form: no duplicate members
    demand(form.replace("\u2028", r"\u2028").replace("\u2029", r"\u2029") == text and type(file) is dict and
           list(file) == ["spec", "record", "seed", "client_seed", "tlog_proof", "log_key"] and
           all(type(part) is str or (name, part) == ("seed", None) for name, part in file.items()) and
           (file["seed"] is None or re.fullmatch("([0-9a-f]{2})+", file["seed"])), "the file does not have its form")
    spec, record_text, seed, client_seed, tlog_proof, log_key = file.values()
    tlog, own = re.fullmatch(TLOG_PROOF, tlog_proof), re.fullmatch(LOG_KEY, log_key)
    demand(spec == "riffle/1" and tlog and own, "the spec, tlog_proof or log_key does not have its form")
    (index, path, note, origin, leaves, root, lines), (name, key_hash, base64_key) = tlog.groups(), own.groups()
    result.index, point = int(index), base64.b64decode(base64_key)
    demand(point[0] == 1 and sha256(name.encode(), b"\n", point).hex()[:8] == key_hash, "log_key has another hash")
    demand(key is None or key.strip() == log_key, "the file has another key than the one given")
    yield "record", True, ""
    record = result.record = read_record(record_text)
    is_known, is_shuffle = record["kind"] in MEMBERS, record["kind"] == "shuffle"
    fixed = record["commitment_id"] if is_shuffle and "commitment_id" in record else None
    demand(not is_known or client_seed == record.get("client_seed", "") and (is_shuffle or not seed), "it has other seeds")
    missing = f": the proof of its commitment {fixed} was not given" if fixed and commitment is None else ""
    result.steps[-1][1:] = is_known or None, record["kind"] + missing
    rule = record.get("items_digest") if is_known else None
    is_secret = rule is not None and (rule != "salted/1" or salt is None)
    known_items = None if is_secret or not is_known else items  # that can be compared
    digest = sha256(re.sub(r'("[^"\\]*(?:\\.[^"\\]*)*")|[ \t\n\r]+', r"\1", items or "").encode()).hex()
    if salt is not None:
        digest = sha256(f"riffle/1 items\nsalt {salt}\nsha256:{digest}\n".encode()).hex()
    fits = known_items is None or (salt is None or rule is not None) and (
        record.get("input", "").endswith(digest) and record["size"] == len(exact(items)))
    if is_shuffle and seed is not None:
        size, draw, blocks = record["size"], record["draw"], re.findall(".{1,64}", seed)
        results = math.perm(size, draw) if draw <= 1024 else 1
        result.blocks = -(-((results - 1).bit_length() + 64) // 256)  # log2 rounded up gives the same
        yield "seed", True, "" if len(blocks) >= result.blocks else "warning: it is shorter than the formula asks for"
        yield "commitment", True, ""
        values = {**record, "hands": ",".join(map(str, record.get("hands", [])))}
        lines_of = [f"{part} {values[part]}\n" for part in STATEMENT if part in record]
        result.statement = f"riffle/1\n{''.join(lines_of)}seed {seed}\n"
        hashed = sha256(result.statement.encode())
        demand(hashed.hex() == record["commitment"], "it is not the SHA-256 of the statement with this seed")
        yield "keys", True, ""
        demand(1 <= len(set(blocks)) == len(blocks) <= 213 and len(blocks[-1]) == 64, "not 1 to 213 different blocks")
        message = b"riffle/1 key\n" + hashed + client_seed.encode()
        result.keys = [hmac.digest(bytes.fromhex(block), message, "sha256") for block in blocks]
        yield "order", True, ""
        work = {"fisher-yates": draw, "sattolo": draw, "strike-out": size + (size * draw >> 16)}.get(record["algorithm"], size)
        demand(record["repeat"] * max(work, len(blocks)) <= 2**24, "it is too long for this program", RecursionError)
        result.order = [replay_shuffle(record, result.keys, shuffle) for shuffle in range(record["repeat"])]
    elif is_shuffle or answer is not None:
        yield "order", None, "there is no seed to replay"
    if None not in (answer, result.order) and fits and not is_answer(
            record, result.order, known_items and exact(items), exact(answer)):
        needs_items = known_items is None and record["input"] != "range" and (is_secret or '"' in answer)
        demand(needs_items, "the answer has another order")
        result.steps[-1][1:] = None, "it takes the items to compare"
    if items is not None:
        yield "items", is_known and not is_secret or None, f"their digest is {rule}" if is_secret else ""
        demand(fits, "these are not the items that the record is about")
    yield "inclusion", True, f"record {result.index} of {leaves}"
    path, root = [base64.b64decode(line) for line in path.split()], base64.b64decode(root)
    demand(root_of(sha256(b"\0", record_text.encode()), result.index, int(leaves), path) == root, "the root is another")
    yield "signature", True, name
    signatures = [(by, base64.b64decode(data)) for by, data in re.findall("— (.+) (.+)\n", lines)]
    own = [data[4:] for by, data in signatures if by == name and data[:4].hex() == key_hash]
    demand(origin == name and own, "the checkpoint is not signed by the key")
    for signature in own:
        Ed25519PublicKey.from_public_bytes(point[1:]).verify(signature, note.encode())  # raises InvalidSignature
    if fixed and commitment is not None:
        yield "committed", True, ""
        other = verify(commitment, log_key)
        made, same = other.record, (*STATEMENT, "commitment")
        demand(other.verdict == "verified" and (made["kind"], made["id"]) == ("commitment", fixed), "its proof fails")
        demand(all(made.get(part) == record.get(part) for part in same), "the commitment is to another statement")
        demand(other.index < result.index and record["time"] < made["deadline"], "not between commitment and deadline")
def verify(proof, key=None, items=None, order=None, commitment=None, salt=None):
    is_salt = salt is None or items is not None and re.fullmatch("[A-Za-z0-9_-]{16,128}", salt)
    demand(is_salt, "a salt is 16 to 128 letters, digits, - and _, and needs the items")
    [exact(text) for text in (items, order) if text is not None]  # raises an error: then nothing can be checked
    result = types.SimpleNamespace(order=None, steps=[], record={})
    try:
        for step in check(result, proof, key, items, order, commitment, salt):
            result.steps.append(list(step))
    except Exception as error:
        is_limit = isinstance(error, (RecursionError, MemoryError))  # what is too long or too deep is not wrong
        result.steps[-1][1:] = None if is_limit else False, str(error) or "the signature is not the key's"
    oks = [ok for _, ok, _ in result.steps]
    result.verdict = "failed" if False in oks else "unchecked" if None in oks else "verified"
    return result
if __name__ == "__main__":
    parser, verdicts = argparse.ArgumentParser(epilog="Exits with 0 if all proofs verify, 1 if one fails, 2 otherwise."), []
    for name, text in (("--key", "public key of the log"), ("--items", "JSON array"), ("--order", "array or whole response")):
        parser.add_argument(name, metavar="FILE", help=text)
    parser.add_argument("--items-salt", metavar="SALT", help="salt of the items")
    parser.add_argument("proof", nargs="+", metavar="PROOF", help="proof file of a record; also those of used commitments")
    paths = parser.parse_args()
    read = lambda path: None if path is None else open(path, encoding="utf-8", newline="").read()
    try:
        key, items, order, *texts = map(read, (paths.key, paths.items, paths.order, *paths.proof))
        records = [verify(text).record if len(texts) > 1 else {} for text in texts]
        proofs = {record.get("id"): text for record, text in zip(records, texts)}
        used = [record.get("commitment_id") for record in records if record.get("kind") == "shuffle"]
        for path, text, record in zip(paths.proof, texts, records):
            is_used = record.get("kind") == "commitment" and record["id"] in used  # then the order is the shuffle's
            result = verify(text, key, items, None if is_used else order, proofs.get(record.get("commitment_id", "")),
                            paths.items_salt)
            for step, ok, detail in result.steps:
                print({True: "ok", None: "?", False: "FAILED"}[ok], step, detail, sep="\t")
            print(f"{path}: {result.verdict}")
            verdicts.append(result.verdict)
    except (ValueError, OSError, RecursionError) as error:
        print(f"cannot be checked: {error}", file=sys.stderr)
        verdicts.append("unchecked")
    sys.exit(1 if "failed" in verdicts else 2 if "unchecked" in verdicts else 0)
