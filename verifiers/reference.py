#!/usr/bin/env python3
"""The reference verifier of riffle/1: docs/spec.md as one plain program, written from that page alone.

It checks proof files of shuffles, commitments, voids and reveals. What it does not know it calls unchecked, never
verified: shoes, policies and witnesses, beacons, decks that are neither in decks.json nor given as items, and unknown
kinds.
"""
import argparse, base64, bisect, datetime, hashlib, hmac, itertools, json, math, pathlib, re, struct, sys
import unicodedata
from collections import Counter, namedtuple
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

LIMIT, LONGEST, LARGEST_COST, LARGEST_DECK = 2**53 - 1, 2**26, 2**30, 2**24
ALGORITHMS = "fisher-yates|durstenfeld|inside-out|strike-out|sattolo"
HEX = "[0-9a-f]{64}"
UUID = "[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
TIME = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\.[0-9]{6}Z"
INPUT = f"range|items sha256:{HEX}|deck [a-z0-9-]+ x[1-9][0-9]* sha256:{HEX}"
NAME = r"[^\s+\x00-\x1f\x7f-\x9f]+"  # of a log
PLAYER, PLAYER_SEED = "(?!sha256$)[A-Za-z0-9_-]{1,32}", "[A-Za-z0-9_-]{1,64}"

# The members of a record: the form of those that are text, the least value of numbers, and which kind has which.
TEXTS = {"id": UUID, "time": TIME, "audit_id": UUID, "algorithm": ALGORITHMS, "input": INPUT, "deadline": TIME,
         "items_digest": "[a-z0-9-]+/[1-9][0-9]*", "reference": "(?s:.{1,128})", "client_seed": "[^\0]+",
         "reveal": "now", "beacon": "[a-z0-9-]+ [1-9][0-9]{0,15}", "commitment_id": UUID, "joined": "[^\0]+",
         "commitment": HEX, "kind": "[a-z0-9_-]+", "spec": "riffle/1"}
NUMBERS = {"size": 0, "draw": 0, "repeat": 1, "count": 2, "round": 1}
STATEMENT = ["algorithm", "size", "draw", "repeat", "hands", "input", "reference"]
ALWAYS = {"id", "time", "kind", "spec", "commitment"}
REQUIRED = {"shuffle": {"algorithm", "size", "draw", "repeat", "input"}, "void": {"commitment_id"},
            "commitment": {"algorithm", "size", "draw", "repeat", "input", "deadline"}, "reveal": {"audit_id"}}
OPTIONAL = {"shuffle": {"hands", "items_digest", "parameters", "reference", "client_seed", "reveal", "commitment_id",
                        "joined", "count", "round", "path"}, "void": {"count", "round"}, "reveal": set(),
            "commitment": {"hands", "items_digest", "parameters", "reference", "beacon", "players", "count"}}
OF_SHOES = {"version", "from", "taken", "cards", "to", "put", "cut", "cut_range", "expires", "root"}
MEMBERS = ALWAYS.union(OF_SHOES, *REQUIRED.values(), *OPTIONAL.values())
FORMS = {"items", "hands", "rest", "shuffles"}
ANSWER = FORMS | {"audit_id", "log_index", "algorithm", "commitment", "round", "seed"}

# The codes of all cards of the types of decks that have no parameters.
DECKS = json.loads(pathlib.Path(__file__).with_name("decks.json").read_text())

Number = namedtuple("Number", "text")  # a number in JSON, as it is spelled
Log = namedtuple("Log", "index path origin size root signed signatures")


class Wrong(Exception):
    """A step fails: its name, and why."""


class Twice(ValueError):
    """A member of an object is there twice."""


class Line(str):
    """A line of a list in plain lines."""


def need(condition, step, why):
    if not condition:
        raise Wrong(step, why)


def sha256(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


# JSON, base64 and lists

def parse(text, twice=False):
    """The value of a JSON text, with numbers as Number. Raises ValueError if it is none."""
    def members(pairs):
        if len(dict(pairs)) < len(pairs) and not twice:
            raise Twice("a member is there twice")
        return dict(pairs)

    def no_constant(name):
        raise ValueError(name + " is not JSON")

    def depth(value):
        inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
        return 0 if inner is None else 1 + max(map(depth, inner), default=0)

    try:
        value = json.loads(text, object_pairs_hook=members, parse_int=Number, parse_float=Number,
                           parse_constant=no_constant)
        if depth(value) > 200:
            raise ValueError("more than 200 levels")
    except RecursionError:
        raise ValueError("too many levels") from None
    json.dumps(value, ensure_ascii=False).encode()  # half a surrogate pair is a ValueError here
    return value


def canonical(value):
    """One text for all spellings of a value that count as equal."""
    if isinstance(value, Number):
        return value.text
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, dict):
        return "{" + ",".join(json.dumps(name) + ":" + canonical(value[name]) for name in sorted(value)) + "}"
    return json.dumps(value)


def by_value(value):
    """One text for all spellings of a whole number, as IEEE 754 doubles, or the canonical text of another value."""
    double = float(value.text) if isinstance(value, Number) else math.nan
    return str(int(double)) if double.is_integer() else canonical(value)


def integer(value, least=0):
    """The value of a number in a record, or None if it is not in the form of one."""
    fits = isinstance(value, Number) and re.fullmatch("0|[1-9][0-9]{0,15}", value.text)
    return int(value.text) if fits and least <= int(value.text) <= LIMIT else None


def unbase64(text, length=None):
    raw = base64.b64decode(text, validate=True)
    if base64.b64encode(raw).decode() != text or length not in (None, len(raw)):
        raise ValueError("not canonical base64 of so many bytes")
    return raw


def read_list(text):
    """The values of a list, JSON or plain lines."""
    if text.lstrip(" \t\r\n").startswith("["):
        return parse(text)
    lines = text.split("\n")
    last = lines.pop()
    return [Line(line.removesuffix("\r")) for line in lines] + ([Line(last)] if last else [])


def digest_of_items(text, salt):
    """The digest of items: of the JSON array without white space, salted if there is a salt."""
    if text.lstrip(" \t\r\n").startswith("["):
        array = re.sub(r'("(?:[^"\\]|\\.)*")|[ \t\r\n]+', r"\1", text)
    else:
        array = json.dumps(read_list(text), ensure_ascii=False, separators=(",", ":"))
    digest = sha256(array.encode()).hex()
    return sha256(f"riffle/1 items\nsalt {salt}\nsha256:{digest}\n".encode()).hex() if salt else digest


# Record

def read_record(text):
    """The members of a record, numbers as integers. Of an unknown kind only four members are checked."""
    try:
        record = parse(text)
    except ValueError as why:
        raise Wrong("record", f"it is not JSON: {why}") from None
    need(isinstance(record, dict), "record", "it is not an object")
    kind = record.get("kind")
    known = isinstance(kind, str) and kind in REQUIRED
    there = MEMBERS & set(record) if known else {"id", "time", "kind", "spec"}
    if known:
        required = ALWAYS | REQUIRED[kind]
        need(required <= there, "record", f"members are missing: {required - there}")
        need(there <= required | OPTIONAL[kind], "record", f"a {kind} has no {there - required - OPTIONAL[kind]}")
    for name in there & set(TEXTS):
        value = record.get(name)
        need(isinstance(value, str) and re.fullmatch(TEXTS[name], value), "record", f"{name} is not in its form")
        if TEXTS[name] == TIME:
            try:
                need(datetime.datetime.fromisoformat(value[:19]).year >= 1970, "record", f"{name} is before 1970")
            except ValueError:
                raise Wrong("record", f"{name} is no time that exists") from None
    for name in there & set(NUMBERS):
        record[name] = integer(record[name], NUMBERS[name])
        need(record[name] is not None, "record", f"{name} is not a number in its form")
    if known:
        check_record(record)
    return record


def check_record(record):
    """The rules of a record that are not the form of one text or number."""
    def rule(condition, why):
        need(condition, "record", why)

    if "size" in record:
        rule(record["draw"] <= record["size"], "more are drawn than there are")
        rule(record["algorithm"] != "sattolo" or record["size"] != 1, "sattolo cannot shuffle one item")
    if "hands" in record:
        rule(isinstance(record["hands"], list) and record["hands"], "hands are not a list")
        record["hands"] = [integer(hand, 1) for hand in record["hands"]]
        rule(None not in record["hands"], "a hand is not a number from 1 on")
        rule(sum(record["hands"]) <= record["draw"], "the hands have more than is drawn")
    copies = re.search(" x([0-9]+) ", record.get("input", ""))
    rule(not copies or len(copies[1]) < 17 and int(copies[1]) <= LIMIT, "too many copies")
    rule("items_digest" not in record or record["input"].startswith("items"), "items_digest without items")
    rule(all(unicodedata.category(c)[0] in "LMNPS" or c == " " for c in record.get("reference", "")),
         "a character of the reference")
    if "parameters" in record:
        rule(isinstance(record["parameters"], dict) and record["parameters"], "parameters are no object")
        rule(None not in map(integer, record["parameters"].values()), "a parameter is no number")
    rule(len(record.get("client_seed", "").encode()) <= 256, "the client seed is too long")
    if record["kind"] == "shuffle":
        rule("commitment_id" not in record or "client_seed" in record, "a commitment without a client seed")
        rule("commitment_id" in record or not {"joined", "count"} & set(record), "no commitment_id")
        rule(("count" in record) == ("path" in record), "count and path without each other")
    if record["kind"] != "commitment":
        rule(("count" in record) == ("round" in record), "count and round without each other")
        rule(record.get("round", 0) <= record.get("count", 0), "the round is above the count")
    if "path" in record:
        rule(isinstance(record["path"], list) and record["path"], "the path is no list")
        rule(all(isinstance(h, str) and re.fullmatch(HEX, h) for h in record["path"]), "a hash of the path")
    if "joined" in record:
        joined = record["joined"].encode()
        rule(len(joined) > 256 and record["client_seed"] == "sha256:" + sha256(joined).hex(), "the joined text")
    if record["kind"] == "commitment":
        rule(record["time"] < record["deadline"], "the deadline is not after the time")
    if "beacon" in record:
        name, number = record["beacon"].split(" ")
        at = 1692803367 + 3 * (int(number) - 1)
        times = [datetime.datetime.fromisoformat(record[end][:-1] + "+00:00") for end in ("time", "deadline")]
        rule(name != "quicknet" or times[0].timestamp() < at < times[1].timestamp(), "the time of the round")
        rule("players" not in record, "players and a beacon")
    if "players" in record:
        players = record["players"]
        rule(isinstance(players, dict) and 1 <= len(players) <= 100 and "count" not in record, "the players")
        rule(all(re.fullmatch(PLAYER, name) and isinstance(h, str) and re.fullmatch(HEX, h)
                 for name, h in players.items()), "a player")


# Proof file

def read_file(text, twice=False):
    """The value of a proof file in either form. Raises ValueError if it is none at all."""
    text = text.removeprefix("\ufeff").strip(" \t\r\n")
    if not text.startswith("c2sp.org/tlog-proof@v1\n"):
        return parse(text, twice)
    head, extra, rest = (text + "\n").split("\n", 2)
    members = unbase64(extra.removeprefix("extra ")).decode()
    if not extra.startswith("extra ") or not members.endswith("}"):
        raise ValueError("a tlog-proof without its extra data")
    file = parse(members, twice)
    need("tlog_proof" not in file, "proof", "tlog_proof is there twice")
    return {**file, "tlog_proof": head + "\n" + rest}


def check_form(file, nested=False):
    """The step proof for one file: its form, and what its tlog_proof has. The key is compared by the caller."""
    names = {"spec", "record", "seed", "client_seed", "tlog_proof", "log_key"}
    extra = set(file) - names - (set() if nested else {"commitment_proof"})
    need(names <= set(file) and not extra, "proof", "members are missing, or too many")
    for name in names:
        need(isinstance(file[name], str) or name == "seed" and file[name] is None, "proof", f"{name} is not text")
    need(file["spec"] == "riffle/1", "proof", "another spec")
    need(file["seed"] is None or re.fullmatch("([0-9a-f]{2})+", file["seed"]), "proof", "the seed is not hex")
    try:
        verifier_key(file["log_key"])
        return read_log(file["tlog_proof"])
    except ValueError as why:
        raise Wrong("proof", f"the tlog-proof or the key: {why}") from None


def verifier_key(text):
    """Name, key hash and public key of a verifier key. Raises ValueError if it is none."""
    match = re.fullmatch(rf"({NAME})\+([0-9a-f]{{8}})\+(.+)", text)
    key = unbase64(match[3], 33) if match else b""
    if key[:1] != b"\1" or sha256(match[1].encode() + b"\n" + key)[:4].hex() != match[2]:
        raise ValueError("not a verifier key")
    return match[1], bytes.fromhex(match[2]), key[1:]


def read_log(text):
    """What a tlog_proof says. Raises ValueError if it is not in its form."""
    head, _, checkpoint = text.partition("\n\n")
    version, index, *path = head.split("\n")
    tree, _, signatures = checkpoint.partition("\n\n")
    origin, size, root = tree.split("\n")
    lines = [re.fullmatch(rf"— ({NAME}) (\S+)", line) for line in signatures.removesuffix("\n").split("\n")]
    forms = [version == "c2sp.org/tlog-proof@v1", re.fullmatch("index (0|[1-9][0-9]{0,18})", index), origin,
             re.fullmatch("[1-9][0-9]{0,18}", size) and int(size) <= 2**62, signatures.endswith("\n"),
             1 <= len(lines) <= 100, all(lines), not re.search(r"[\x00-\x09\x0b-\x1f]", checkpoint)]
    if not all(forms):
        raise ValueError("not in its form")
    signatures = [(line[1], unbase64(line[2])) for line in lines]
    if min(len(signature) for _, signature in signatures) < 5:
        raise ValueError("a signature is too short")
    return Log(int(index[6:]), [unbase64(p, 32) for p in path], origin, int(size), unbase64(root, 32),
               tree.encode() + b"\n", signatures)


def leads_to(leaf, index, size, path, root):
    """Whether the path leads from a leaf to the root of a Merkle tree."""
    h, last = sha256(b"\0", leaf), size - 1
    if index > last:
        return False
    for p in path:
        if last == 0:
            return False
        if index % 2 == 1 or index == last:
            h = sha256(b"\1", p, h)
            while index % 2 == 0 and index > 0:
                index, last = index // 2, last // 2
        else:
            h = sha256(b"\1", h, p)
        index, last = index // 2, last // 2
    return last == 0 and h == root


def check_log(record_text, log, log_key):
    """The steps inclusion and signature."""
    need(leads_to(record_text.encode(), log.index, log.size, log.path, log.root), "inclusion", "it is not in the tree")
    name, key_hash, key = verifier_key(log_key)
    ours = [line[4:] for signer, line in log.signatures if signer == name and line[:4] == key_hash]
    need(log.origin == name and ours, "signature", "the log has not signed the checkpoint")
    for signature in ours:
        try:
            Ed25519PublicKey.from_public_bytes(key).verify(signature, log.signed)
        except (InvalidSignature, ValueError):
            raise Wrong("signature", "a signature of the log does not verify") from None


def check_file_record(file):
    """The step record: the record itself, and what the file says of it."""
    record = read_record(file["record"])
    if record["kind"] in REQUIRED:
        need(file["client_seed"] == record.get("client_seed", ""), "record", "the client seed is not the record's")
        need(file["seed"] is None or record["kind"] == "shuffle", "record", f"a {record['kind']} with a seed")
    return record


def check_committed(record, log, nested, log_key):
    """The step committed. Returns what could not be checked, or None."""
    def rule(condition, why):
        need(condition, "committed", why)

    try:
        nested_log = check_form(nested, nested=True)
        rule(nested["log_key"] == log_key, "another log")
        commitment = check_file_record(nested)
        check_log(nested["record"], nested_log, log_key)
    except Wrong as wrong:
        raise Wrong("committed", f"the commitment's {wrong.args[0]}: {wrong.args[1]}") from None
    rule(commitment["kind"] == "commitment" and commitment["id"] == record["commitment_id"], "it is another record")
    rule(commitment.get("count") == record.get("count"), "the record and the book have another count")
    leaf, root = bytes.fromhex(record["commitment"]), bytes.fromhex(commitment["commitment"])
    if "path" in record:
        path = [bytes.fromhex(h) for h in record["path"]]
        rule(leads_to(leaf, record["round"] - 1, record["count"], path, root), "the round is not in the book")
    else:
        rule(leaf == root, "another commitment")
    rule(all(record.get(name) == commitment.get(name) for name in STATEMENT), "another statement")
    rule(record["time"] < commitment["deadline"], "it was used after the deadline")
    rule(nested_log.index < log.index, "the commitment is not before it in the log")
    players, text = commitment.get("players"), record.get("joined", record["client_seed"])
    rule(players or "joined" not in record, "a joined text without players")
    if players:
        parts = [part.partition(":") for part in text.split(" ")]
        rule([name for name, _, _ in parts] == sorted(players), "these are not the players, sorted")
        for name, _, seed in parts:
            rule(re.fullmatch(PLAYER_SEED, seed) and sha256(f"{name}\n{seed}".encode()).hex() == players[name],
                 f"the seed of {name}")
    if "beacon" in commitment:
        signed = re.fullmatch("[0-9a-f]{96}", text) or not commitment["beacon"].startswith("quicknet ")
        rule(signed, "the client seed is not a signature of the beacon")
        return "this verifier cannot check a beacon"
    return None


# Replay

def integers(bounds, words):
    """One integer below each bound."""
    bounds = iter(bounds)
    bound = next(bounds, None)
    while bound is not None:
        group, product = [], 1
        while bound is not None and (not group or product * bound <= 2**56):
            group.append(bound)
            product *= bound
            bound = next(bounds, None)
        while True:
            x, drawn = next(words), []
            for b in group:
                high, x = divmod(x * b, 2**64)
                drawn.append(high)
            if x >= 2**64 % product:
                break
        yield from drawn


def keystream(keys, number):
    """The words of a shuffle: the XOR of the keystreams under all keys."""
    start, size = number.to_bytes(8, "big") + bytes(8), 64
    ciphers = [Cipher(algorithms.AES(key), modes.CTR(start)).encryptor() for key in keys]
    while True:
        total = 0
        for cipher in ciphers:
            total ^= int.from_bytes(cipher.update(bytes(size)), "big")
        for (word,) in struct.iter_unpack(">Q", total.to_bytes(size, "big")):
            yield word
        size = min(2 * size, 2**16)


def shuffled(algorithm, n, m, words):
    """The first m positions of an order of n."""
    if n < 2:
        return list(range(m))
    order = []
    if algorithm in ("durstenfeld", "inside-out"):
        order = list(range(n))
        bounds = range(n, 1, -1) if algorithm == "durstenfeld" else range(2, n + 1)
        for bound, u in zip(bounds, integers(bounds, words)):
            order[bound - 1], order[u] = order[u], order[bound - 1]
        return order[:m]
    bounds = range(n - 1 if algorithm == "sattolo" else n, 1, -1)
    drawn = itertools.chain(integers(bounds, words), itertools.repeat(0))  # the last place has no choice
    if algorithm == "strike-out":
        struck = []  # sorted
        for u in itertools.islice(drawn, m):
            before = bisect.bisect_right(range(len(struck)), u, key=lambda i: struck[i] - i)
            struck.insert(before, u + before)
            order.append(u + before)
        return order
    moved = {}  # what lies at a place, if it is not what lay there first
    for i, u in zip(range(m), drawn):
        j = min(i + u + (algorithm == "sattolo"), n - 1)
        here = moved.pop(i, i)
        order.append(moved.get(j, j) if j > i else here)
        moved[j] = here
    return order


def cost(record, k):
    n, m = record["size"], record["draw"]
    d = n if record["algorithm"] in ("durstenfeld", "inside-out") else m
    p = 20 * m if record["algorithm"] == "fisher-yates" and m < n // 16 else n
    w = d // max(1, 56 // max(1, n.bit_length())) + 1
    return record["repeat"] * (60 + k * (10 + w) + 20 * d + p)


def derive_keys(record, seed):
    """The steps seed, commitment and keys: the keys, and what is to be said of the length of the seed."""
    lines = ["riffle/1"]
    for name in STATEMENT:
        if name in record:
            value = record[name]
            lines.append(f"{name} " + (",".join(map(str, value)) if name == "hands" else str(value)))
    statement = "\n".join(lines + ["seed " + seed, ""]).encode()
    commitment = sha256(statement)
    need(commitment.hex() == record["commitment"], "commitment", "the seed is not the one that was committed to")
    raw = bytes.fromhex(seed)
    blocks = [raw[i:i + 32] for i in range(0, len(raw), 32)]
    need(len(raw) % 32 == 0 and 1 <= len(blocks) <= 213, "keys", "the seed is not 1 to 213 blocks of 32 bytes")
    need(len(set(blocks)) == len(blocks), "keys", "two blocks of the seed are equal")
    message = b"riffle/1 key\n" + commitment + record.get("client_seed", "").encode()
    return [hmac.digest(block, message, "sha256") for block in blocks]


def blocks_needed(n, m):
    return 1 if m > 1024 else max(1, math.ceil(((math.perm(n, m) - 1).bit_length() + 64) / 256))


# Items, and comparing

def check_items(record, given, step):
    """The step items. Returns the items, or None if they are not known."""
    inputs, rule, salt = record.get("input"), record.get("items_digest"), given.get("salt")
    if inputs and inputs.startswith("deck") and record["size"] > LARGEST_DECK:
        return step("items", None, "the deck is too large")
    if "items" not in given:
        return cards_of_deck(record, step) if inputs and inputs.startswith("deck") else None
    if inputs is None:
        return step("items", None, f"a {record['kind']} has no items")
    need(inputs != "range", "items", "a range has no items")
    need(rule or not salt, "items", "the items are not salted")
    if rule not in (None, "salted/1") or rule and not salt:
        return step("items", None, f"their digest is {rule}: the salt was not given, or the rule is not known")
    digest, items = digest_of_items(given["items"], salt), read_list(given["items"])
    need(inputs.endswith(" sha256:" + digest), "items", "the digest of the items is not the record's")
    need(len(items) == record["size"], "items", "their number is not the size")
    step("items", True, "they are the items of the record")
    return items


def cards_of_deck(record, step):
    """The step items of a deck that is in decks.json. Returns its cards, or None if they are not known."""
    _, kind, copies, digest = record["input"].split(" ")
    if kind not in DECKS or "parameters" in record:
        return None
    need(record["size"] == len(DECKS[kind]) * int(copies[1:]), "items", "its size is not that of these decks")
    cards = DECKS[kind] * int(copies[1:])
    text = json.dumps(cards, separators=(",", ":"))
    need(digest == "sha256:" + hashlib.sha256(text.encode()).hexdigest(), "items", "it is not the deck of this name")
    step("items", True, "they are the cards of the deck")
    return cards


class Comparison:
    """What was dealt, and whether an answer, an order or a hand is that."""

    def __init__(self, record, items, shuffles):
        self.record, self.deck, self.range = record, record["input"].startswith("deck"), record["input"] == "range"
        cards, seen = [], Counter()
        for item in items or []:
            seen[canonical(item)] += 1
            cards.append((canonical(item), str(seen[canonical(item)]) if self.deck else None))
        self.shuffles = [[(str(i), None) if self.range else cards[i] for i in order] for order in shuffles]

    def card(self, value):
        """A given card as its text and, of a deck with all details, its instance."""
        if self.deck and isinstance(value, dict):
            return canonical(value.get("code")), by_value(value.get("instance"))
        digits = self.range and isinstance(value, Line) and re.fullmatch("[0-9]+", value)
        return (value.lstrip("0") or "0") if digits else canonical(value), None

    def same(self, given, cards, in_sequence=True):
        """Whether a list that was given is these cards, in sequence or each as often."""
        if not isinstance(given, list) or len(given) != len(cards):
            return False
        given = [self.card(value) for value in given]
        if in_sequence:
            return all(g in (c, (c[0], None)) for g, c in zip(given, cards))
        detailed = [g for g in given if g[1] is not None]
        return (Counter(text for text, _ in given) == Counter(text for text, _ in cards)
                and not Counter(detailed) - Counter(cards))

    def parts(self, cards):
        """The hands of a shuffle, and the rest."""
        parts, start = [], 0
        for size in self.record.get("hands", []):
            parts.append(cards[start:start + size])
            start += size
        return parts + [cards[start:]]

    def same_parts(self, given, cards):
        parts = self.parts(cards)
        return len(given) == len(parts) and all(map(self.same, given, parts))

    def order(self, given):
        if self.record["repeat"] == 1:
            return self.same(given, self.shuffles[0])
        return len(given) == len(self.shuffles) and all(map(self.same, given, self.shuffles))

    def answer(self, given):
        forms = FORMS & set(given)
        if self.record["repeat"] > 1 and forms != {"shuffles"} or ("hands" in given) != ("rest" in given):
            return False
        if "items" in given and not self.same(given["items"], self.shuffles[0]):
            return False
        if "hands" in given and not self.same_parts(given["hands"] + [given["rest"]], self.shuffles[0]):
            return False
        element = self.same_parts if "hands" in self.record else self.same
        return "shuffles" not in given or len(given["shuffles"]) == len(self.shuffles) and all(
            isinstance(one, list) and element(one, cards) for one, cards in zip(given["shuffles"], self.shuffles))

    def hand(self, given, hand_of):
        """Which hand it is, in words, or None."""
        for in_sequence in (True, False):
            for number, cards in enumerate(self.shuffles, 1):
                *hands, rest = self.parts(cards)
                parts = {str(i): hand for i, hand in enumerate(hands, 1)}
                if in_sequence and rest:
                    parts["rest"] = rest
                for name, part in parts.items():
                    if hand_of in (None, name) and self.same(given, part, in_sequence):
                        of = f" of shuffle {number}" if len(self.shuffles) > 1 else ""
                        return (f"hand {name}" if name != "rest" else "the rest") + of + " of this deal"
        return None


def check_answer(answer, record, file, log):
    """That what an answer says besides the cards is true."""
    truth = {"audit_id": record["id"], "algorithm": record["algorithm"], "commitment": record["commitment"],
             "seed": file["seed"] or answer.get("seed"), "log_index": log.index, "round": record.get("round")}
    for name in set(truth) & set(answer):
        is_number = name in ("log_index", "round")
        right = by_value(answer[name]) == str(truth[name]) if is_number else answer[name] == truth[name]
        need(right, "order", f"another {name} in the answer")


# The verifier

def read_inputs(given):
    """The inputs in their forms. Raises ValueError with the name of one that is refused."""
    given = {name: text for name, text in given.items() if text is not None}
    name = "proof"
    try:
        for name, text in given.items():
            given[name] = text = text if name == "proof" else text.removeprefix("\ufeff")
            if len(text.encode()) > LONGEST:
                raise ValueError("it is too long")
            if name in ("key", "salt"):
                given[name] = text.strip(" \t\r\n")
            if name == "key":
                verifier_key(given[name])
            if name in ("order", "hand", "items"):
                if not isinstance(read_list(text), list) or name == "hand" and text.lstrip(" \t\r\n")[:1] == "{":
                    raise ValueError("it is not a list")
            if name == "answer":
                given[name] = answer = parse(text)
                if not isinstance(answer, dict) or set(answer) - ANSWER or not set(answer) & (FORMS - {"rest"}):
                    raise ValueError("it is not an answer")
                if not all(isinstance(answer[form], list) for form in FORMS & set(answer)):
                    raise ValueError("it has something else in place of an array")
            if name == "salt" and not re.fullmatch("[A-Za-z0-9_-]{16,128}", given[name]):
                raise ValueError("it is not a salt")
            if name == "hand_of" and text != "rest" and integer(Number(text), 1) is None:
                raise ValueError("it is no number from 1 and not rest")
            alone = name in ("answer", "order", "hand") and len({"answer", "order", "hand"} & set(given)) > 1
            if alone or name == "hand_of" and "hand" not in given or name == "salt" and "items" not in given:
                raise ValueError("it does not go with the other inputs")
    except (ValueError, AttributeError, TypeError) as why:
        raise ValueError(f"the input {name} is refused: {why}") from None
    return given


def check_order(record, file, log, given, step):
    """The steps seed, commitment, keys, order and items of a shuffle."""
    compared = {"answer", "order", "hand"} & set(given)
    answer = given.get("answer", {})
    check_answer(answer, record, file, log)
    given_seed = answer.get("seed")
    is_seed = isinstance(given_seed, str) and re.fullmatch("([0-9a-f]{2})+", given_seed)
    seed = file["seed"] or (given_seed if is_seed else None)
    items = check_items(record, given, step)
    if seed is None:
        return step("order", None, "the seed is secret")
    need(isinstance(seed, str) and re.fullmatch("([0-9a-f]{2})+", seed), "commitment", "the seed is not hex")
    keys = derive_keys(record, seed)
    asked = blocks_needed(record["size"], record["draw"])
    step("seed", True, f"it has {len(keys)} blocks" + (f", fewer than {asked}" if len(keys) < asked else ""))
    step("commitment", True, "it is the digest of the statement with this seed")
    step("keys", True, "the seed is valid")
    steps = cost(record, len(keys))
    if steps > LARGEST_COST:
        return step("order", None, f"it takes {steps} steps to replay")
    digest, shuffles = hashlib.sha256(), []
    for number in range(record["repeat"]):
        order = shuffled(record["algorithm"], record["size"], record["draw"], keystream(keys, number))
        digest.update(("[" + ",".join(map(str, order)) + "]\n").encode())
        if compared:
            shuffles.append(order)
    if not compared:
        return step("order", True, f"an order follows; its digest is {digest.hexdigest()}")
    if items is None and record["input"] != "range":
        return step("order", None, "the cards are not known without the items")
    comparison, text = Comparison(record, items, shuffles), "it is the order that follows"
    if "hand" in given:
        text = comparison.hand(read_list(given["hand"]), given.get("hand_of"))
        right = text is not None
    elif "order" in given:
        right = comparison.order(read_list(given["order"]))
    else:
        right = comparison.answer(answer)
    need(right, "order", "what was given is not what follows from the seed")
    return step("order", True, text)


def check(given, step):
    """All steps of one proof."""
    try:
        file = read_file(given["proof"], twice=True)
    except ValueError as why:
        return step("proof", None, f"it is no proof file: {why}")
    if not isinstance(file, dict) or "record" not in file:
        return step("proof", None, "it is no proof file" if not isinstance(file, dict) or "shoe" not in file
                    else "this verifier does not know shoes")
    try:
        read_file(given["proof"])
    except Twice:
        raise Wrong("proof", "a member is there twice") from None
    log = check_form(file)
    need(given.get("key", file["log_key"]) == file["log_key"], "proof", "it has another key of the log")
    step("proof", True if "key" in given else None, "its form" + ("" if "key" in given else "; no key was given"))
    record = check_file_record(file)
    kind = record["kind"]
    known = kind in REQUIRED
    step("record", known or None, f"a {kind}" if known else f"this verifier does not know the kind {kind}")
    if kind == "shuffle":
        check_order(record, file, log, given, step)
    elif known:
        if {"answer", "order", "hand"} & set(given):
            step("order", None, f"a {kind} has no order")
        check_items(record, given, step)
    check_log(file["record"], log, file["log_key"])
    step("inclusion", True, f"it is number {log.index} of {log.size}")
    step("signature", True, f"{log.origin} has signed this tree")
    if "commitment_proof" in file and known:
        nested = file["commitment_proof"]
        need(kind == "shuffle" and "commitment_id" in record, "committed", f"this {kind} used no commitment")
        if not isinstance(nested, dict) or "record" not in nested:
            return step("committed", None, "it is no proof file")
        unknown = check_committed(record, log, nested, file["log_key"])
        players = json.loads(nested["record"]).get("players")
        text = "seed and statement were fixed before"
        if players:
            text += ", with the seeds of " + ", ".join(sorted(players))
        step("committed", None if unknown else True, unknown or text)
    elif kind == "shuffle" and "commitment_id" in record:
        step("note", True, "the proof of its commitment is not in the file")
    if "beacon" in record:
        step("committed", None, "this verifier does not know beacons")
    return None


def verify(proof, *, key=None, answer=None, order=None, hand=None, hand_of=None, items=None, salt=None, policy=None):
    """The verdict of one proof and what was given with it, all as text."""
    steps = []

    def step(name, ok, text):
        steps.append({"name": name, "ok": ok, "text": text})

    try:
        given = read_inputs({"proof": proof, "key": key, "answer": answer, "order": order, "hand": hand,
                             "hand_of": hand_of, "items": items, "salt": salt, "policy": policy})
    except ValueError as why:
        return {"verdict": "unchecked", "headline": f"unchecked: {why}", "steps": []}
    try:
        if policy is not None:
            step("witnesses", None, "this verifier does not know policies")
        else:
            check(given, step)
    except Wrong as wrong:
        step(wrong.args[0], False, wrong.args[1])
    except Exception as why:  # such as too little memory
        step("proof", None, f"it could not be checked: {why!r}")
    for verdict, ok in (("false", False), ("unchecked", None), ("verified", True)):
        for one in steps:
            if one["ok"] is ok:
                told = "all that was given holds" if ok else f"{one['name']}: {one['text']}"
                return {"verdict": verdict, "headline": f"{verdict}: {told}", "steps": steps}


def main():
    parser = argparse.ArgumentParser(description="Verify a proof of riffle/1. Exit: 0 verified, 1 false, 2 unchecked.")
    for name in ("--key", "--answer", "--order", "--hand", "--hand-of", "--items", "--salt", "proof"):
        parser.add_argument(name)
    given = vars(parser.parse_args())
    for name, value in given.items():
        if value is not None and name not in ("hand_of", "salt") and not (name == "key" and "+" in value):
            try:
                given[name] = pathlib.Path(value).read_bytes().decode(errors="surrogateescape")
            except OSError as why:
                parser.error(str(why))  # exits with 2
    result = verify(**given)
    print(result["headline"])
    for step in result["steps"]:
        print({True: "ok", False: "FALSE", None: "?"}[step["ok"]].ljust(6) + step["name"] + ": " + step["text"])
    return ["verified", "false", "unchecked"].index(result["verdict"])


if __name__ == "__main__":
    sys.exit(main())
