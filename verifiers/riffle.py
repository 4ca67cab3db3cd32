"""Verifies what a service of riffle/1 has dealt: proof files, hands and whole shoes, as specified in docs/spec.md and
docs/shoes.md, section by section. One file for Python 3.11 or later; it needs the package cryptography and nothing else.

    from riffle import verify
    result = verify(texts, key=..., policy=..., items=..., items_salt=..., order=..., hand=..., hand_of=..., any_order=...)

texts is a text, or a list of texts, of pairs (name, text) or of triples (name, text, role): proofs, an answer, a hand, items, the
public key of the log from another source than the proofs, a salt, a policy. The role of each follows from what it looks like,
unless it is given. The options key, policy, items, items_salt, order and hand are texts in their roles: an order is the answer of
POST /shuffle, an array of the order, or one hand of the deal. hand_of says which hand: "1", "2" or so, or "rest". With any_order,
True or False, hands and the rest may be sorted.

The result is a dict. verdict is "verified" if everything that was given holds, "false" if something is false, and "unchecked"
if something could not be checked. headline says so in a sentence, summary the same for programs, notes are what else there is to
say. Each of the steps has name, ok and text; ok is None if it was not checked. All are texts of messages, which are ids and values:
messages has that of the headline and those of the notes, and each step its message. render says one in another language. files has
the role that each text had in the end. proofs has the same for each group of proofs, with their names. It never raises.

    python3 riffle.py --help
"""
import argparse, array, base64, collections, datetime, functools, hashlib, hmac, itertools, json, math, os, re, sys, unicodedata
try:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
except ModuleNotFoundError:
    if __name__ != "__main__": raise
    print("riffle.py: the package cryptography is missing: pip install cryptography", file=sys.stderr)
    sys.exit(2)

MAX_COST, MAX_DECK = 2**30, 2**24  # the most steps of a replay, and cards of a deck with a digest
MAX_CARDS, MAX_PILES, MAX_SEALS = 4096, 256, 4096  # of a shoe
MAX_TREE = 2**62  # records of a log
MAX_DEPTH = 200  # of JSON: levels
MAX_HELD = 10_000  # elements of arrays in a text that stay parsed
MAX_TEXT = 64 * 2**20  # bytes


def sha256(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


class Fault(ValueError):  # said is the message why something does not hold, or cannot be read
    def __init__(self, id, /, **values):
        self.said = message(id, **values)
        super().__init__(render(self.said))


def demand(truth, id, /, **values):
    if not truth:
        raise Fault(id, **values)


def said_of(error):
    """The message of an exception, which need not be one from here."""
    return getattr(error, "said", None) or message("text", text=str(error))


def count(n, what):
    return f"{n} {what}{'' if n == 1 else 's'}"


# ---- JSON. Any layout is accepted. A value's text is verbatim, without white space.

class Value:  # value is a str, dict, List, bool or None; NUMBER for a number, which has its text alone
    __slots__ = "source", "start", "end", "value", "duplicate"

    def __init__(self, source, start, end=0, value=None):
        self.source, self.start, self.end, self.value, self.duplicate = source, start, end, value, None

    @property
    def text(self):
        return self.source.text[self.start:self.end]


class Source:
    text, duplicate, held = "", None, 0


class List(collections.abc.Sequence):
    """The elements of an array. They are read when they are asked for, from places in the text, since millions of objects would
    take many times its memory. The first elements with parts of their own in a text are held: a proof and its lists are read but
    once."""

    __slots__ = "source", "start", "ends", "nodes"

    def __init__(self, source, start):
        self.source, self.start = source, start
        self.ends = None  # of each element; the next begins after a comma
        self.nodes = None  # those that are held, by their index

    def append(self, node):
        if self.ends is None:
            self.ends = array.array("I")
        if type(node.value) in (List, dict):
            self.source.held += 1
            if self.source.held <= MAX_HELD:
                self.nodes = self.nodes or {}
                self.nodes[len(self.ends)] = node
        self.ends.append(node.end)

    def __len__(self):
        return len(self.ends or ())

    def __getitem__(self, at):
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(len(self)))]
        at = range(len(self))[at]
        if self.nodes and at in self.nodes:
            return self.nodes[at]
        start = self.ends[at - 1] + 1 if at else self.start
        node = Value(self.source, start, self.ends[at], NUMBER)
        text = node.text
        if text[0] in "[{":
            return parse_all(text)[0]
        if text[0] not in "-0123456789":
            node.value = json.loads(text)
        return node


NUMBER = object()
TOKEN = re.compile(r"""[ \t\n\r]*(?:("[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*+")"""
                   r"|(-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)|(true|false|null)|([{}\[\]:,])|\Z)")


def parse_all(text, most=math.inf):
    """Parses JSON texts one after the other, of more only the first. A member that an object has twice is its duplicate."""
    if text.startswith("\ufeff"):
        text = text[1:]  # some editors write it
    values, pieces, joined, length, source, token, at = [], [], [], 0, None, None, 0

    def advance():
        nonlocal token, at
        token = TOKEN.match(text, at)
        demand(token, "why.json")
        at = token.end()

    def piece():
        return token[token.lastindex] if token.lastindex else ""

    def take():
        nonlocal length
        pieces.append(piece())
        length += len(pieces[-1])
        if len(pieces) == 10_000:
            joined.append("".join(pieces))
            pieces.clear()
        advance()

    def expect(wanted):
        demand(piece() == wanted, "why.json")
        take()

    def string():
        value = json.loads(token[1])
        demand(not re.search("[\ud800-\udfff]", value), "why.json")
        take()
        return value

    def read(depth):
        node = Value(source, length)
        demand(depth <= MAX_DEPTH or token[4] not in ("[", "{"), "why.json")
        if token[1] is not None:
            node.value = string()
        elif token[2] is not None:
            node.value = NUMBER
            take()
        elif token[3]:
            node.value = json.loads(token[3])
            take()
        elif token[4] == "[":
            take()
            node.value = List(source, length)
            while piece() != "]":
                if node.value:
                    expect(",")
                node.value.append(read(depth + 1))
            take()
        elif token[4] == "{":
            node.value = {}
            take()
            while piece() != "}":
                if node.value:
                    expect(",")
                demand(token[1] is not None, "why.json")
                name = string()
                expect(":")
                if name in node.value:
                    source.duplicate = node.duplicate = name
                node.value[name] = read(depth + 1)
            take()
        else:
            raise Fault("why.json")
        node.end = length
        return node

    advance()
    while not values or len(values) < most and (piece() or at < len(text)):
        source, length = Source(), 0
        values.append(read(1))
        source.text = "".join(joined + pieces)
        joined.clear()
        pieces.clear()
    return values


def parse(text):
    """Parses one JSON text, in which no member is there twice."""
    values = parse_all(text, 2)
    demand(len(values) == 1, "why.json")
    duplicate = values[0].source.duplicate
    demand(duplicate is None, "why.json.twice")
    return values[0]


def quote(text):
    return json.dumps(text, ensure_ascii=False)


def is_at(kind, node):
    return node is not None and type(node.value) is kind


def string_of(node):
    return node.value if is_at(str, node) else None


def shortest(node, in_order=False):
    """The text of a value with the shortest escapes; numbers stay verbatim."""
    if is_at(List, node):
        return "[" + ",".join(shortest(one, in_order) for one in node.value) + "]"
    if is_at(dict, node):
        names = sorted(node.value, key=lambda name: name.encode("utf-16-be")) if in_order else node.value
        return "{" + ",".join(f"{quote(name)}:{shortest(node.value[name], in_order)}" for name in names) + "}"
    return quote(node.value) if is_at(str, node) else node.text


canonical = functools.partial(shortest, in_order=True)  # the same for all layouts of a value


def plain(node):
    """A value for a record: numbers that are not written with digits alone become None."""
    if node.value is NUMBER:
        return int(node.text) if re.fullmatch("[0-9]{1,16}", node.text) else None
    if is_at(List, node):
        return [plain(one) for one in node.value]
    return {name: plain(one) for name, one in node.value.items()} if is_at(dict, node) else node.value


def whole(node):
    """The value of a number from 0 to 2^53-1, which databases also write as 3.0 or 3e0; None for anything else."""
    number = float(node.text) if node is not None and node.value is NUMBER else -1.0
    return int(number) if 0 <= number < 2**53 and number == int(number) else None


# ---- Record

DIGEST, UUID7 = "[0-9a-f]{64}", "[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
STATEMENT = ("algorithm", "size", "draw", "repeat", "hands", "input", "reference")
# The members of records, made from internal/audit/members.json by web/tables.mjs: do not edit.
MEMBERS = {
    "id": {"*":"uuid7"},
    "time": {"*":"time"},
    "kind": {"*":"/[a-z0-9_-]+/"},
    "spec": {"*":"/riffle/1/"},
    "audit_id": {"reveal shoe? draw add return reshuffle close expire":"uuid7"},
    "version": {"draw add return reshuffle close expire":"2.."},
    "from": {"draw":"/shoe|pile [A-Za-z0-9_-]{1,255}/","add":"/dealt|out/","return":"/dealt|out|pile [A-Za-z0-9_-]{1,255}/","reshuffle":"/shoe|all|pile [A-Za-z0-9_-]{1,255}/"},
    "taken": {"draw":"/top|bottom|random|cards/","add return":"/cards/"},
    "cards": {"draw add? return":"cards"},
    "to": {"draw":"/dealt|pile [A-Za-z0-9_-]{1,255}/","add":"/pile [A-Za-z0-9_-]{1,255}/","return":"/shoe/"},
    "put": {"draw:to=pile add return":"/top|bottom/"},
    "algorithm": {"shuffle commitment shoe draw:taken=random reshuffle":"/fisher-yates|durstenfeld|inside-out|strike-out|sattolo/"},
    "size": {"shuffle commitment":"0..","shoe":"1..4096","draw:taken=random reshuffle":"0..4096"},
    "draw": {"shuffle commitment shoe draw:taken=random reshuffle":"0.."},
    "repeat": {"shuffle commitment":"1..","shoe draw:taken=random reshuffle":"1..1"},
    "hands": {"shuffle? commitment?":"hands"},
    "input": {"shuffle commitment shoe":"/range|items sha256:[0-9a-f]{64}|deck [a-z0-9-]+ x[1-9][0-9]* sha256:[0-9a-f]{64}/","draw:taken=random reshuffle":"/range/"},
    "items_digest": {"shuffle? commitment? shoe?":"/[a-z0-9-]+/[1-9][0-9]*/"},
    "parameters": {"shuffle? commitment? shoe?":"parameters"},
    "reference": {"shuffle? commitment? shoe? draw?:taken=random reshuffle?":"reference"},
    "client_seed": {"shuffle? shoe? reshuffle?":"text"},
    "reveal": {"shuffle?":"/now/"},
    "deadline": {"commitment":"time"},
    "beacon": {"commitment?":"/[a-z0-9-]+ [1-9][0-9]{0,15}/"},
    "players": {"commitment?":"players"},
    "commitment_id": {"void shuffle?:client_seed shoe?:client_seed":"uuid7"},
    "joined": {"shuffle?:commitment_id shoe?:commitment_id":"text"},
    "count": {"shuffle?:commitment_id commitment? void?":"2.."},
    "round": {"shuffle:count void:count":"1.."},
    "path": {"shuffle:count":"digests"},
    "cut": {"shoe? reshuffle?":"1.."},
    "cut_range": {"shoe?:cut reshuffle?:cut":"range"},
    "expires": {"shoe? draw? add? return? reshuffle? close? expire?":"time"},
    "root": {"shoe? reshuffle":"digest"},
    "commitment": {"shuffle commitment void reveal shoe draw add return reshuffle close expire":"digest"},
}
PLAYER, PLAYER_SEED = "(?!sha256$)[A-Za-z0-9_-]{1,32}", "[A-Za-z0-9_-]{1,64}"
ALGORITHMS = {  # for n items: the first bound, the step to the next, and what the i-th integer swaps
    "fisher-yates": lambda n: (n, -1, lambda i, u: (i, i + u)), "inside-out": lambda n: (2, 1, lambda i, u: (i + 1, u)),
    "durstenfeld": lambda n: (n, -1, lambda i, u: (n - 1 - i, u)), "strike-out": lambda n: (n, -1, None),
    "sattolo": lambda n: (n - 1, -1, lambda i, u: (i, i + 1 + u))}  # its last bound is 1, which takes no bits


def time_of(beacon):
    """When a round of the chain quicknet of drand is published, as a record has it."""
    seconds = 1692803367 + 3 * (int(beacon.split()[1]) - 1)
    at = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=min(seconds, 253402300799))
    return at.isoformat(timespec="microseconds") + "Z" if seconds < 253402300800 else "~"  # after every time


def changes_shoe(record):
    return record["kind"] in ("draw", "add", "return", "reshuffle", "close", "expire")


def deals(record):
    return record["kind"] in ("shuffle", "shoe", "reshuffle") or record["kind"] == "draw" and record["taken"] == "random"


def uses_commitment(record):
    return record is not None and record["kind"] in ("shuffle", "shoe") and "commitment_id" in record


def shoe_of(record):
    if record is None or record["kind"] != "shoe" and not changes_shoe(record):
        return None
    return record["id"] if record["kind"] == "shoe" else record["audit_id"]


def like(form):
    return lambda value: type(value) is str and re.fullmatch(form, value)


def between(low, high=2**53 - 1):
    return lambda value: type(value) is int and low <= value <= high


def is_base64(text):  # a repeated group would take many times the bytes of a long text
    return like("[A-Za-z0-9+/]+={0,2}")(text) and len(text) % 4 == 0 and base64.b64encode(base64.b64decode(text[-4:])).decode() == text[-4:]


def is_hex(text):
    return like("[0-9a-f]+")(text) and len(text) % 2 == 0


def is_time(text):
    return like(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{15}Z")(text) and text >= "1970" and (
        datetime.datetime.fromisoformat(text[:26]).isoformat(timespec="microseconds") + "Z" == text)


def is_reference(text):
    return type(text) is str and 1 <= len(text) <= 128 and all(
        character == " " or unicodedata.category(character)[0] in "LMNPS" for character in text)


def every(kind, fits):
    """Of a list, or of the values of an object, that has at least one."""
    return lambda value: type(value) is kind and value and all(map(fits, value.values() if kind is dict else value))


TYPES = {  # the forms that have a name
    "uuid7": like(UUID7), "digest": like(DIGEST), "time": is_time, "reference": is_reference, "text": like("[^\0]+"),
    "cards": lambda text: read_cards(text), "hands": every(list, between(1)), "digests": every(list, like(DIGEST)),
    "parameters": every(dict, between(0)), "range": lambda ends: between(1)(ends[0]) and between(ends[0] + 1)(ends[1]) and len(ends) == 2,
    "players": lambda players: every(dict, like(DIGEST))(players) and len(players) <= 100 and all(map(like(PLAYER), players))}


def form_of(form):
    """Whether a value fits a regular expression, a range of numbers or a type."""
    low, dots, high = form.partition("..")
    if form.startswith("/"):
        return like(form[1:-1])
    return between(int(low), int(high or 2**53 - 1)) if dots else TYPES[form]


# The members of each kind of record, "*" for all kinds: a kind is followed by ? if the member is
# optional, and by a colon if it needs another member, by = and how that has to begin.
USES = {}
for _name, _forms in MEMBERS.items():
    for _kinds, _form in _forms.items():
        for _use in re.findall(r"(\*|[a-z-]+)(\??)(?::(\w+))?=?(\w*)", _kinds):
            USES.setdefault(_use[0], dict(USES.get("*", {})))[_name] = (*_use[1:], form_of(_form))


def is_draw(record):
    exact = record["size"]
    if record["kind"] == "draw":
        exact = len(read_cards(record["cards"]))
    elif record["kind"] == "shoe" and "root" not in record:
        exact = 0
    return record["draw"] <= record["size"] and (record["kind"] in ("shuffle", "commitment") or record["draw"] == exact)


RULES = {  # what a member has to be beyond its form; those before it in MEMBERS have theirs
    "size": lambda r: (r["size"], r["algorithm"]) != (1, "sattolo"), "draw": is_draw,
    "hands": lambda r: sum(r["hands"]) <= r["draw"], "items_digest": lambda r: r["input"].startswith("items "),
    "client_seed": lambda r: len(r["client_seed"].encode()) <= 256,
    "deadline": lambda r: r["deadline"] > r["time"], "expires": lambda r: r["expires"] > r["time"],
    # The round of another beacon is not known.
    "beacon": lambda r: not r["beacon"].startswith("quicknet ") or r["time"] < time_of(r["beacon"]) < r["deadline"],
    "players": lambda r: "beacon" not in r, "count": lambda r: "players" not in r, "round": lambda r: r["round"] <= r["count"],
    "joined": lambda r: len(r["joined"].encode()) > 256 and r["client_seed"] == f"sha256:{sha256(r['joined'].encode()).hex()}",
    "cut": lambda r: r["cut"] < r["size"] and "root" in r and r.get("from", "all") in ("shoe", "all"),
    "cut_range": lambda r: r["cut_range"][0] <= r["cut"] <= r["cut_range"][1] < r["size"]}


def read_record(text):
    try:
        node = parse(text)
    except Fault:
        node = NO_JSON
    demand(is_at(dict, node) and not text.startswith("\ufeff"), "why.record")
    # Only the members in the table, since others may be long.
    record = {name: plain(node.value[name]) for name in MEMBERS if name in node.value}
    kind = node.value.get("kind")
    uses = USES.get(kind.value if is_at(str, kind) else "*", USES["*"])
    for name in USES["*"] if uses is USES["*"] else MEMBERS:  # of an unknown kind only what all have
        optional, other, start, fits = uses.get(name, ("?", "", "", None))
        is_allowed = fits and (not other or other in record and str(record[other]).startswith(start))
        if name not in record:
            demand(optional or not is_allowed, "why.record.missing", name=name)
            continue
        try:
            is_valid = is_allowed and fits(record[name]) and (name not in RULES or RULES[name](record))
        except (ValueError, TypeError, KeyError, AttributeError, IndexError):
            is_valid = False  # of another type
        demand(is_valid, "why.record.member", name=name, text=short(node.value[name].text))
    return record


# ---- Keys, keystream, integers, algorithms

def keystream(keys, shuffle):
    ciphers = [Cipher(algorithms.AES(key), modes.CTR(shuffle.to_bytes(8, "big") + bytes(8))).encryptor() for key in keys]
    while True:
        yield functools.reduce(int.__xor__, (int.from_bytes(cipher.update(bytes(8)), "big") for cipher in ciphers))


def replay_shuffle(record, keys, shuffle):
    algorithm, size, draw = record["algorithm"], record["size"], record["draw"]
    first, step, swap = ALGORITHMS[algorithm](size)
    needed = size - 1 if algorithm in ("durstenfeld", "inside-out") else min(draw, size - 1)
    words, integers = keystream(keys, shuffle), []

    def bound(i):
        return first + step * i

    while len(integers) < needed:
        end, product = len(integers) + 1, bound(len(integers))
        while end < size - 1 and product * bound(end) <= 2**56:
            product, end = product * bound(end), end + 1
        x, served = -1, []
        while x < 2**64 % product:
            x, served = next(words), []
            for i in range(len(integers), end):
                integer, x = divmod(x * bound(i), 2**64)
                served.append(integer)
        integers += served
    if not swap:
        left = Left(size)
        return [left.take(s) for s in (integers + [0])[:draw]]  # the last one is alone
    if needed * 16 > size:  # most places move
        places = list(range(size))
        for p, q in itertools.starmap(swap, enumerate(integers)):
            places[p], places[q] = places[q], places[p]
        return places[:draw]
    moved = {}  # only what moved, for n may be 2^53 - 1
    for p, q in itertools.starmap(swap, enumerate(integers)):
        moved[p], moved[q] = moved.get(q, q), moved.get(p, p)
    return [moved.get(i, i) for i in range(draw)]


class Left:
    """The numbers below size that were not taken, in runs of 1024, and how many some runs have: a Fenwick tree."""

    def __init__(self, size):
        self.size, self.runs, number = size, {}, -(-size // 1024)
        self.sums = [0] + [min(1024, size - 1024 * i) for i in range(number)]
        for i in range(1, number + 1):
            if i + (i & -i) <= number:
                self.sums[i + (i & -i)] += self.sums[i]

    def take(self, s):  # the one before which s are left
        run, jump = 0, 1 << len(self.sums).bit_length()
        while jump:
            if run + jump < len(self.sums) and self.sums[run + jump] <= s:
                run += jump
                s -= self.sums[run]
            jump >>= 1
        if run not in self.runs:
            self.runs[run] = list(range(1024 * run, min(1024 * run + 1024, self.size)))
        i = run + 1
        while i < len(self.sums):
            self.sums[i] -= 1
            i += i & -i
        return self.runs[run].pop(s)


def cost_of(record, blocks):
    """Steps that a replay takes: docs/spec.md, "Cost"."""
    algorithm, n, m, repeat = (record[name] for name in ("algorithm", "size", "draw", "repeat"))
    drawn = n if algorithm in ("durstenfeld", "inside-out") else m
    places = 20 * m if algorithm == "fisher-yates" and m < n // 16 else n
    words = drawn // max(1, 56 // max(1, n.bit_length())) + 1
    return min(repeat * (60 + blocks * (10 + words) + 20 * drawn + places), 2**64 - 1)


def draw_cut(low, high, keys):  # from a keystream that no order uses
    n = high - low + 1
    return low + (next(x for x in keystream(keys, 1) if x * n % 2**64 >= 2**64 % n) * n >> 64)


# ---- Proof file

FILE = ("spec", "record", "seed", "client_seed", "tlog_proof", "log_key")
NO_FILE = ("why.file.json", "why.file.record")  # it shows nothing, and so is not false either
B, END, NAME = "[A-Za-z0-9+/]", "[AEIMQUYcgkosw048]=", r"[^\s+\x00-\x1f]+"  # canonical base64
KEY_NAME = r"[^\s+\x00-\x1f\x7f-\x9f]+"  # signatures by other keys are ignored, whatever their names
HASH, LOG_KEY = f"{B}{{42}}{END}", f"({KEY_NAME})\\+([0-9a-f]{{8}})\\+({B}{{44}})"
WITNESS_KEY = f"({KEY_NAME})\\+([0-9a-f]{{8}})\\+({B}{{44}}|{B}{{1750}}{END})"
TLOG_PROOF = (f"c2sp\\.org/tlog-proof@v1\nindex (0|[1-9][0-9]{{0,18}})\n((?:{HASH}\n){{0,63}})\n(([^\\x00-\\x1f]+)\n"
              f"([1-9][0-9]{{0,18}})\n({HASH})\n)\n")  # before its signatures, which may be long


class Key:
    def __init__(self, text):
        match = re.fullmatch(LOG_KEY, text)
        point = base64.b64decode(match[3]) if match else b"\0"
        demand(point[0] == 1 and sha256(match[1].encode(), b"\n", point).hex()[:8] == match[2],
               "why.key")
        self.name, self.hash, self.point = match[1], match[2], point[1:]


class Witness:
    def __init__(self, name, key):
        match = re.fullmatch(WITNESS_KEY, key)
        data = base64.b64decode(match[3]) if match else b"\0"
        demand((data[0], len(data)) in ((4, 33), (6, 1313)) and sha256(match[1].encode(), b"\n", data).hex()[:8] == match[2],
               "why.policy.witness")
        self.name, self.key_name, self.hash, self.key = name, match[1], match[2], data[1:]
        self.point = self.key if data[0] == 4 else None


class Policy:
    """The logs and witnesses that are trusted: docs/spec.md, "Witnesses"."""

    def __init__(self, text):
        self.logs, self.witnesses, self.groups, self.quorum, self.names, self.seen = [], [], [], None, {"none"}, set()
        for i, line in enumerate(text.split("\n")):
            words = re.split("[ \t]+", line.removesuffix("\r").strip(" \t"))
            if words[0] and not words[0].startswith("#"):
                try:
                    self.read(*words)
                except ValueError as error:
                    raise Fault("why.line", n=i + 1, what=said_of(error)) from None
        demand(self.quorum, "why.policy.quorum")

    def read(self, keyword, *words):
        if keyword == "log" and len(words) in (1, 2):
            key = Key(words[0])
            self.own(key.name, key.point)
            self.logs.append(words[0])
        elif keyword == "witness" and len(words) in (2, 3):
            witness = Witness(*words[:2])
            self.witnesses.append(witness)
            self.own(witness.key_name, witness.key)
            self.define(words[0])
        elif keyword == "group" and len(words) > 2:
            name, number, *members = words
            least = {"any": 1, "all": len(members)}.get(number) or int(number if re.fullmatch("[1-9][0-9]{0,9}", number) else 0)
            demand(1 <= least <= len(members), "why.policy.group", members=len(members), number=number)
            demand(all(member != "none" and member in self.names for member in members) and len(set(members)) == len(members),
                   "why.policy.member")
            self.define(name)
            self.groups.append((name, least, members))
        elif keyword == "quorum" and len(words) == 1:
            demand(not self.quorum and words[0] in self.names, "why.policy.end")
            self.quorum = words[0]
        else:
            raise Fault("why.policy.line")

    def own(self, name, point):  # no two logs or witnesses share a key, or a name in one
        demand(name not in self.seen and point not in self.seen, "why.policy.twice")
        self.seen |= {name, point}

    def define(self, name):
        demand(name not in self.names, "why.policy.name", name=name)
        self.names.add(name)

    def suffice(self, cosigned):
        met = set(cosigned)
        for name, least, members in self.groups:  # each after its members
            if len(met.intersection(members)) >= least:
                met.add(name)
        return self.quorum in met


def logs_of(given):
    return given["policy"].logs if given.get("policy") else []


class File:
    def __init__(self, node):
        demand(node is not NO_JSON, "why.file.json")
        demand(is_at(dict, node) and "record" in node.value, "why.file.record")
        demand(node.duplicate is None and len(node.value) == len(FILE), "why.file.members")
        for name in FILE:
            value = node.value.get(name)
            demand(is_at(str, value) or name == "seed" and value is not None and value.value is None,
                   "why.file.member", name=name)
        spec, self.record, self.seed, self.client_seed, tlog_proof, self.log_key = (node.value[name].value for name in FILE)
        demand(spec == "riffle/1", "why.file.spec", spec=spec)
        demand(self.seed is None or is_hex(self.seed), "why.file.seed")
        end = tlog_proof.rfind("\n\n— ") + 2
        tlog, lines = re.fullmatch(TLOG_PROOF, tlog_proof[:end]), tlog_proof[end:].split("\n")
        demand(tlog and lines.pop() == "" and len(lines) <= 100, "why.file.tlog")
        index, path, self.note, self.origin, leaves, root = tlog.groups()
        self.index, self.leaves, self.root = int(index), int(leaves), base64.b64decode(root)
        demand(self.index < 2**63 and self.leaves <= MAX_TREE, "why.file.tlog")
        self.signatures = []
        for line in lines:
            match = re.fullmatch(f"— ({NAME}) (.+)", line)
            data = base64.b64decode(match[2]) if match and is_base64(match[2]) else b""
            demand(len(data) > 4, "why.file.tlog")  # 4 bytes of the key's hash before the signature
            self.signatures.append((match[1], data))
        self.key = Key(self.log_key)
        self.path = [base64.b64decode(line) for line in path.split()]


def root_of(leaf, i, size, path):
    """Where a path leads from a leaf in a tree of size leaves; None if it does not have the length for that."""
    if i >= size or bool(path) != (size > 1):
        return None
    if size == 1:
        return leaf
    half, rest = 1 << (size - 1).bit_length() - 1, path[:-1]  # RFC 6962 splits at the largest power of two below size
    below = root_of(leaf, i, half, rest) if i < half else root_of(leaf, i - half, size - half, rest)
    return below and (sha256(b"\1", below, path[-1]) if i < half else sha256(b"\1", path[-1], below))


def short(text, most=60):
    return text[:most] + "..." if len(text) > most else text


class Steps(list):
    """A step is ok, wrong, unchecked (it was asked for or is required, and something is missing) or skipped (nobody asked)."""

    def add(self, name, state, said):
        self.append({"name": name, "state": state, "message": said})

    def find(self, name):
        return next((step for step in self if step["name"] == name), None)

    def first(self, state):
        return next((step for step in self if step["state"] == state), None)

    def has(self, name, state):
        step = self.find(name)
        return step is not None and step["state"] == state


class Entry:
    """One proof file that was checked. given may have key, policy, items, salt, order, hand_of and any_order; held_back is the
    state of the step order if the seed is secret, or a function of the record."""

    def __init__(self, node, given, held_back):
        self.steps, self.file, self.record, self.orders, self.cards = Steps(), None, None, None, None
        self.statement = self.keys = self.blocks = self.match = self.cost = None
        key = given.get("key")
        try:
            file = File(node)
            demand(not key or key == file.log_key, "why.file.key", has=file.log_key, given=key)
            demand(not logs_of(given) or file.log_key in logs_of(given), "why.file.policy", has=file.log_key)
        except ValueError as error:
            said = said_of(error)
            self.steps.add("proof", "unchecked" if said["id"] in NO_FILE else "wrong", said)
            return
        self.file = file
        self.steps.add("proof", "ok", message("proof.key" if key or logs_of(given) else "proof.no-key"))
        self.check_record()
        if self.record:
            replay(self, given, held_back(self.record) if callable(held_back) else held_back)
        self.check_inclusion()
        self.check_signature()
        if given.get("policy") and given["policy"].quorum != "none":
            self.check_witnesses(given["policy"])

    def check_record(self):
        file = self.file
        try:
            record = read_record(file.record)
            if record["kind"] not in USES:
                self.steps.add("record", "unchecked", message("why.record.kind", kind=record["kind"]))
                return
            demand(file.client_seed == record.get("client_seed", ""), "why.record.client-seed")
            demand(deals(record) or file.seed is None, "why.record.seed", kind=record["kind"])
        except ValueError as error:
            self.steps.add("record", "wrong", said_of(error))
            return
        self.record = record
        self.steps.add("record", "ok", say_record(record))

    def check_inclusion(self):
        file = self.file
        if file.index >= file.leaves:
            self.steps.add("inclusion", "wrong", message("why.index", size=file.leaves, index=file.index))
        elif root_of(sha256(b"\0", file.record.encode()), file.index, file.leaves, file.path) != file.root:
            self.steps.add("inclusion", "wrong", message("why.path"))
        else:
            self.steps.add("inclusion", "ok", message("inclusion", index=file.index, size=file.leaves))

    def check_signature(self):
        file, key = self.file, self.file.key
        own = [data for by, data in file.signatures if by == key.name and data[:4].hex() == key.hash]
        try:
            for data in own:
                Ed25519PublicKey.from_public_bytes(key.point).verify(data[4:], file.note.encode())
            holds = True
        except Exception:  # InvalidSignature, or what the library makes of bytes that are no key or signature
            holds = False
        if file.origin != key.name:
            self.steps.add("signature", "wrong", message("why.origin", origin=file.origin, log=key.name))
        elif not own:
            self.steps.add("signature", "wrong", message("why.unsigned", log=key.name))
        elif not holds:
            self.steps.add("signature", "wrong", message("why.signature"))
        else:
            self.steps.add("signature", "ok", message("signature", log=key.name))

    def check_witnesses(self, policy):
        by = []
        for witness in policy.witnesses:
            own = [data for name, data in self.file.signatures if witness.point and name == witness.key_name and data[:4].hex() == witness.hash]
            times = [int.from_bytes(data[4:12], "big") for data in own]
            try:
                for data, time in zip(own, times):
                    demand(len(data) == 76 and 0 < time <= 253402300799, "why.cosignature", name=witness.name)
                    Ed25519PublicKey.from_public_bytes(witness.point).verify(data[12:], f"cosignature/v1\ntime {time}\n{self.file.note}".encode())
            except Exception:  # InvalidSignature, or what the library makes of bytes that are no key or signature
                self.steps.add("witnesses", "wrong", message("why.cosignature", name=witness.name))
                return
            if own:
                at = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=times[0])
                by.append((witness.name, f"{witness.name} ({at.isoformat()}Z)"))
        is_met = policy.suffice([name for name, _ in by])
        self.steps.add("witnesses", "ok" if is_met else "unchecked", message(
            "witnesses" if is_met else "witnesses.few", by=len(by), all=len(policy.witnesses), names=[text for _, text in by] or None,
            unchecked=None if all(witness.point for witness in policy.witnesses) else "ML-DSA-44"))

    def is_held_back(self):
        return self.record is not None and deals(self.record) and self.file.seed is None


def check_committed(steps, entries, commitments):
    """Checks that an earlier commitment in the same log fixed the order of each shuffle or shoe, except for the client seed. Of
    several shoes each has its own by its id. The worst counts."""
    own, users = Steps(), [entry for entry in entries if uses_commitment(entry.record)]
    for entry in users:
        nodes = [node for id, node in commitments or [] if id is None or id == entry.record["commitment_id"]]
        for node in nodes or [None]:
            check_commitment(own, entry, node)
    if own:
        steps.append(own.first("wrong") or own.first("unchecked") or own.first("skipped") or own[0])


def check_commitment(steps, entry, commitment):
    file, record = entry.file, entry.record
    id = record["commitment_id"]
    if commitment is None:
        steps.add("committed", "skipped", message("committed.missing", id=id))
        return
    other = Entry(commitment, {"key": file.log_key}, "skipped")
    failed, made = other.steps.first("wrong"), other.record or {"kind": ""}

    def wrong(id, /, **values):
        steps.add("committed", "wrong", message(id, **values))

    if other.steps.has("proof", "unchecked"):
        steps.add("committed", "unchecked", message("why.commitment.unread", what=other.steps.find("proof")["message"]))
    elif failed:
        wrong("why.commitment.proof", step=failed["name"], what=failed["message"])
    elif other.record and other.file.index >= file.index:
        wrong("why.commitment.later", index=other.file.index, used=file.index)
    elif made["kind"] != "commitment":
        wrong("why.commitment.kind")
    elif made["id"] != id:
        wrong("why.commitment.id", id=made["id"])
    elif made.get("count") != record.get("count"):
        wrong("why.commitment.book", has=record.get("count", 0), count=made.get("count", 0))
    elif "count" in made and not is_round_of(record, made):
        wrong("why.commitment.path", round=record["round"])
    elif "count" not in made and made["commitment"] != record["commitment"]:
        wrong("why.commitment.value", has=record["commitment"], made=made["commitment"])
    elif any(made.get(name) != record.get(name) for name in STATEMENT):
        wrong("why.commitment.statement")
    elif record["time"] >= made["deadline"]:
        wrong("why.commitment.deadline", time=record["time"], deadline=made["deadline"])
    elif unfit := why_not_joined(record, made):
        steps.add("committed", "wrong", unfit)
    elif made.get("beacon", "").startswith("quicknet ") and not re.fullmatch("[0-9a-f]{96}", record["client_seed"]):
        wrong("why.beacon", beacon=made["beacon"])
    elif made.get("beacon", "").startswith("quicknet "):
        steps.add("committed", "unchecked", message("why.beacon.package", what="BLS12-381, which no usual package of Python has"))
    elif "beacon" in made:
        steps.add("committed", "unchecked", message("why.beacon.unknown", beacon=made["beacon"]))
    else:
        steps.add("committed", "ok", message("committed", id=id, players=sorted(made.get("players", [])) or None))


def why_not_joined(record, commitment):
    """Why the client seed does not join the seeds of the commitment's players; None if it does. The record has the joined text if
    that is longer than 256 bytes, and the client seed is its digest then."""
    players, shown = commitment.get("players"), record.get("joined", record["client_seed"])
    if players is None:
        return message("why.players.none") if "joined" in record else None
    seeds = dict(one.partition(":")[::2] for one in shown.split(" "))
    unknown = min(set(seeds) - set(players), default=None)
    if unknown is not None:
        return message("why.player.unknown", name=short(unknown))
    for name in sorted(players):
        if name not in seeds:
            return message("why.player.missing", name=name)
        if not re.fullmatch(PLAYER_SEED, seeds[name]):
            return message("why.player.form", name=name)
        if sha256(f"{name}\n{seeds[name]}".encode()).hex() != players[name]:
            return message("why.player.hash", name=name)
    return None if shown == " ".join(f"{name}:{seeds[name]}" for name in sorted(players)) else message("why.players.joined")


def is_round_of(record, book):
    leaf, path = sha256(b"\0", bytes.fromhex(record["commitment"])), [bytes.fromhex(hash) for hash in record["path"]]
    return root_of(leaf, record["round"] - 1, record["count"], path) == bytes.fromhex(book["commitment"])


# ---- Verifying: the seed, the order that follows from it, and the items

def replay(entry, given, held_back):
    file, record, steps, order = entry.file, entry.record, entry.steps, given.get("order")
    if not deals(record):
        for name in ("order", "items"):
            if given.get(name) is not None:
                steps.add(name, "unchecked", message("none", kind=record["kind"]))
        return
    answered = order.seed_for(record) if order and file.seed is None else None
    file.seed = file.seed or answered
    if file.seed is None:
        for name in ("seed", "commitment", "keys"):
            steps.add(name, "skipped", message("held-back"))
        other = order and order.other_names(entry)
        steps.add("order", "wrong" if other else "unchecked" if order else held_back, other or message("held-back.order"))
        steps.add("items", *compare_items(entry, given))
        return
    algorithm, size, draw, repeat = (record[name] for name in ("algorithm", "size", "draw", "repeat"))
    blocks, got = re.findall(".{1,64}", file.seed), len(file.seed) // 64
    results = math.perm(size, draw) if draw <= 1024 else 1
    asked = entry.blocks = -(-((results - 1).bit_length() + 64) // 256)  # log2 rounded up gives the same
    steps.add("seed", "ok", message(
        "seed.short" if got < asked else "seed", blocks=got, wanted=asked,
        complete=message("seed.complete") if draw > 1024 else None, source=message("seed.answer") if answered else None))

    values = {**record, "hands": ",".join(map(str, record.get("hands", [])))}
    lines = "".join(f"{name} {values[name]}\n" for name in STATEMENT if name in record)
    entry.statement = f"riffle/1\n{lines}seed {file.seed}\n"
    hashed = sha256(entry.statement.encode())
    if hashed.hex() != record["commitment"]:
        steps.add("commitment", "wrong", message("why.digest", digest=hashed.hex(), commitment=record["commitment"]))
        return
    steps.add("commitment", "ok", message("commitment", commitment=record["commitment"]))

    if not 1 <= len(set(blocks)) == len(blocks) <= 213 or len(blocks[-1]) != 64:
        steps.add("keys", "wrong", message("why.keys"))
        return
    client_seed = file.client_seed.encode()
    entry.keys = [hmac.digest(bytes.fromhex(block), b"riffle/1 key\n" + hashed + client_seed, "sha256") for block in blocks]
    steps.add("keys", "ok", message("keys", blocks=len(blocks), bytes=len(client_seed)))

    cost = cost_of(record, len(blocks))
    if cost > MAX_COST:
        entry.cost = cost
        steps.add("order", "unchecked", message("order.cost", steps=str(cost)))
        steps.add("items", *compare_items(entry, given))
        return
    entry.orders = [array.array("Q", replay_shuffle(record, entry.keys, number)) for number in range(repeat)]
    cut = cut_of(record) if "cut_range" in record else {}
    drawn = draw_cut(cut["low"], cut["high"], entry.keys) if cut else None
    if drawn != cut.get("cut"):
        entry.orders = None
        steps.add("order", "wrong", message("why.cut", drawn=drawn, **cut))
        return
    hashed = hashlib.sha256()
    for positions in entry.orders:
        hashed.update(f"[{','.join(map(str, positions))}]\n".encode())
    said = message("order", draw=draw, size=size, algorithm=algorithm, repeat=repeat, **cut, digest=hashed.hexdigest())
    items = compare_items(entry, given)
    steps.add("order", *(order.compare(entry, said, given.get("hand_of"), given.get("any_order")) if order else ("ok", said)))
    steps.add("items", *items)
    check_root(entry)


# The codes of all cards, R1*2 for R1 twice, made from internal/deck/data by web/tables.mjs: do not edit.
DECKS = {
    "standard52": "AS 2S 3S 4S 5S 6S 7S 8S 9S TS JS QS KS AH 2H 3H 4H 5H 6H 7H 8H 9H TH JH QH KH AD 2D 3D 4D 5D 6D 7D 8D 9D TD JD QD KD AC 2C 3C 4C 5C 6C 7C 8C 9C TC JC QC KC",
    "standard54": "AS 2S 3S 4S 5S 6S 7S 8S 9S TS JS QS KS AH 2H 3H 4H 5H 6H 7H 8H 9H TH JH QH KH AD 2D 3D 4D 5D 6D 7D 8D 9D TD JD QD KD AC 2C 3C 4C 5C 6C 7C 8C 9C TC JC QC KC X1 X2",
    "euchre24": "AS 9S TS JS QS KS AH 9H TH JH QH KH AD 9D TD JD QD KD AC 9C TC JC QC KC",
    "piquet32": "AS 7S 8S 9S TS JS QS KS AH 7H 8H 9H TH JH QH KH AD 7D 8D 9D TD JD QD KD AC 7C 8C 9C TC JC QC KC",
    "pinochle48": "AS*2 9S*2 TS*2 JS*2 QS*2 KS*2 AH*2 9H*2 TH*2 JH*2 QH*2 KH*2 AD*2 9D*2 TD*2 JD*2 QD*2 KD*2 AC*2 9C*2 TC*2 JC*2 QC*2 KC*2",
    "spanish40": "1O 2O 3O 4O 5O 6O 7O 10O 11O 12O 1C 2C 3C 4C 5C 6C 7C 10C 11C 12C 1E 2E 3E 4E 5E 6E 7E 10E 11E 12E 1B 2B 3B 4B 5B 6B 7B 10B 11B 12B",
    "spanish48": "1O 2O 3O 4O 5O 6O 7O 8O 9O 10O 11O 12O 1C 2C 3C 4C 5C 6C 7C 8C 9C 10C 11C 12C 1E 2E 3E 4E 5E 6E 7E 8E 9E 10E 11E 12E 1B 2B 3B 4B 5B 6B 7B 8B 9B 10B 11B 12B",
    "tarot78": "AS 2S 3S 4S 5S 6S 7S 8S 9S TS JS NS QS KS AH 2H 3H 4H 5H 6H 7H 8H 9H TH JH NH QH KH AD 2D 3D 4D 5D 6D 7D 8D 9D TD JD ND QD KD AC 2C 3C 4C 5C 6C 7C 8C 9C TC JC NC QC KC T1 T2 T3 T4 T5 T6 T7 T8 T9 T10 T11 T12 T13 T14 T15 T16 T17 T18 T19 T20 T21 T0",
    "hanafuda48": "01B 01R 01C1 01C2 02A 02R 02C1 02C2 03B 03R 03C1 03C2 04A 04R 04C1 04C2 05A 05R 05C1 05C2 06A 06R 06C1 06C2 07A 07R 07C1 07C2 08B 08A 08C1 08C2 09A 09R 09C1 09C2 10A 10R 10C1 10C2 11B 11A 11R 11C1 12B 12C1 12C2 12C3",
    "uno108": "R0 R1*2 R2*2 R3*2 R4*2 R5*2 R6*2 R7*2 R8*2 R9*2 RS*2 RR*2 RD*2 Y0 Y1*2 Y2*2 Y3*2 Y4*2 Y5*2 Y6*2 Y7*2 Y8*2 Y9*2 YS*2 YR*2 YD*2 G0 G1*2 G2*2 G3*2 G4*2 G5*2 G6*2 G7*2 G8*2 G9*2 GS*2 GR*2 GD*2 B0 B1*2 B2*2 B3*2 B4*2 B5*2 B6*2 B7*2 B8*2 B9*2 BS*2 BR*2 BD*2 W*4 WF*4",
    "uno112": "R0 R1*2 R2*2 R3*2 R4*2 R5*2 R6*2 R7*2 R8*2 R9*2 RS*2 RR*2 RD*2 Y0 Y1*2 Y2*2 Y3*2 Y4*2 Y5*2 Y6*2 Y7*2 Y8*2 Y9*2 YS*2 YR*2 YD*2 G0 G1*2 G2*2 G3*2 G4*2 G5*2 G6*2 G7*2 G8*2 G9*2 GS*2 GR*2 GD*2 B0 B1*2 B2*2 B3*2 B4*2 B5*2 B6*2 B7*2 B8*2 B9*2 BS*2 BR*2 BD*2 W*4 WF*4 WS WC*3",
    "mahjong136": "1m*4 2m*4 3m*4 4m*4 5m*4 6m*4 7m*4 8m*4 9m*4 1p*4 2p*4 3p*4 4p*4 5p*4 6p*4 7p*4 8p*4 9p*4 1s*4 2s*4 3s*4 4s*4 5s*4 6s*4 7s*4 8s*4 9s*4 1z*4 2z*4 3z*4 4z*4 5z*4 6z*4 7z*4",
    "mahjong144": "1m*4 2m*4 3m*4 4m*4 5m*4 6m*4 7m*4 8m*4 9m*4 1p*4 2p*4 3p*4 4p*4 5p*4 6p*4 7p*4 8p*4 9p*4 1s*4 2s*4 3s*4 4s*4 5s*4 6s*4 7s*4 8s*4 9s*4 1z*4 2z*4 3z*4 4z*4 5z*4 6z*4 7z*4 1q 2q 3q 4q 1f 2f 3f 4f",
    "sichuan108": "1m*4 2m*4 3m*4 4m*4 5m*4 6m*4 7m*4 8m*4 9m*4 1p*4 2p*4 3p*4 4p*4 5p*4 6p*4 7p*4 8p*4 9p*4 1s*4 2s*4 3s*4 4s*4 5s*4 6s*4 7s*4 8s*4 9s*4",
    "riichi136": "1m*4 2m*4 3m*4 4m*4 5m*3 0m 6m*4 7m*4 8m*4 9m*4 1p*4 2p*4 3p*4 4p*4 5p*3 0p 6p*4 7p*4 8p*4 9p*4 1s*4 2s*4 3s*4 4s*4 5s*3 0s 6s*4 7s*4 8s*4 9s*4 1z*4 2z*4 3z*4 4z*4 5z*4 6z*4 7z*4",
    "sanguosha108": "sha-S7 sha-S8*2 sha-S9*2 sha-ST*2 sha-HT*2 sha-HJ sha-D6 sha-D7 sha-D8 sha-D9 sha-DT sha-DK sha-C2 sha-C3 sha-C4 sha-C5 sha-C6 sha-C7 sha-C8*2 sha-C9*2 sha-CT*2 sha-CJ*2 shan-H2*2 shan-HK shan-D2*2 shan-D3 shan-D4 shan-D5 shan-D6 shan-D7 shan-D8 shan-D9 shan-DT shan-DJ*2 tao-H3 tao-H4 tao-H6 tao-H7 tao-H8 tao-H9 tao-HQ tao-DQ guohe-S3 guohe-S4 guohe-SQ guohe-HQ guohe-C3 guohe-C4 shunshou-S3 shunshou-S4 shunshou-SJ shunshou-D3 shunshou-D4 wuxie-SJ wuxie-DQ wuxie-CQ wuxie-CK wuzhong-H7 wuzhong-H8 wuzhong-H9 wuzhong-HJ nanman-S7 nanman-SK nanman-C7 juedou-SA juedou-DA juedou-CA jiedao-CQ jiedao-CK wugu-H3 wugu-H4 taoyuan-HA wanjian-HA lebu-S6 lebu-H6 lebu-C6 shandian-SA shandian-HQ liannu-DA liannu-CA hanbing-S2 qinggang-S6 shuanggu-S2 guanshi-D5 shemao-SQ qinglong-S5 fangtian-DQ qilin-H5 bagua-S2 bagua-C2 renwang-C2 jueying-S5 dilu-C5 zhuahuang-HK chitu-H5 dayuan-SK zixing-DK",
    "sanguosha160": "sha-S7 sha-S8*2 sha-S9*2 sha-ST*2 sha-HT*2 sha-HJ sha-D6 sha-D7 sha-D8 sha-D9 sha-DT sha-DK sha-C2 sha-C3 sha-C4 sha-C5 sha-C6 sha-C7 sha-C8*2 sha-C9*2 sha-CT*2 sha-CJ*2 shan-H2*2 shan-H8 shan-H9 shan-HJ shan-HQ shan-HK shan-D2*2 shan-D3 shan-D4 shan-D5 shan-D6*2 shan-D7*2 shan-D8*2 shan-D9 shan-DT*2 shan-DJ*3 tao-H3 tao-H4 tao-H5 tao-H6*2 tao-H7 tao-H8 tao-H9 tao-HQ tao-D2 tao-D3 tao-DQ leisha-S4 leisha-S5 leisha-S6 leisha-S7 leisha-S8 leisha-C5 leisha-C6 leisha-C7 leisha-C8 huosha-H4 huosha-H7 huosha-HT huosha-D4 huosha-D5 jiu-S3 jiu-S9 jiu-D9 jiu-C3 jiu-C9 guohe-S3 guohe-S4 guohe-SQ guohe-HQ guohe-C3 guohe-C4 shunshou-S3 shunshou-S4 shunshou-SJ shunshou-D3 shunshou-D4 wuxie-SJ wuxie-SK wuxie-HA wuxie-HK wuxie-DQ wuxie-CQ wuxie-CK wuzhong-H7 wuzhong-H8 wuzhong-H9 wuzhong-HJ nanman-S7 nanman-SK nanman-C7 juedou-SA juedou-DA juedou-CA jiedao-CQ jiedao-CK wugu-H3 wugu-H4 taoyuan-HA wanjian-HA tiesuo-SJ tiesuo-SQ tiesuo-CT tiesuo-CJ tiesuo-CQ tiesuo-CK huogong-H2 huogong-H3 huogong-DQ lebu-S6 lebu-H6 lebu-C6 shandian-SA shandian-HQ bingliang-ST bingliang-C4 liannu-DA liannu-CA hanbing-S2 qinggang-S6 shuanggu-S2 guanshi-D5 shemao-SQ qinglong-S5 fangtian-DQ qilin-H5 guding-SA zhuque-DA bagua-S2 bagua-C2 renwang-C2 tengjia-S2 tengjia-C2 baiyin-CA jueying-S5 dilu-C5 zhuahuang-HK chitu-H5 dayuan-SK zixing-DK hualiu-DK",
    "werewolf12": "werewolf*4 villager*4 seer witch hunter idiot",
    "dominoes28": "0-0 0-1 0-2 0-3 0-4 0-5 0-6 1-1 1-2 1-3 1-4 1-5 1-6 2-2 2-3 2-4 2-5 2-6 3-3 3-4 3-5 3-6 4-4 4-5 4-6 5-5 5-6 6-6",
    "paigow32": "6-6*2 1-1*2 4-4*2 1-3*2 5-5*2 3-3*2 2-2*2 5-6*2 4-6*2 1-6*2 1-5*2 3-6 4-5 2-6 3-5 2-5 3-4 2-4 1-4 2-3 1-2",
    "set81": "1RDS 1RDT 1RDO 1RSS 1RST 1RSO 1ROS 1ROT 1ROO 1GDS 1GDT 1GDO 1GSS 1GST 1GSO 1GOS 1GOT 1GOO 1PDS 1PDT 1PDO 1PSS 1PST 1PSO 1POS 1POT 1POO 2RDS 2RDT 2RDO 2RSS 2RST 2RSO 2ROS 2ROT 2ROO 2GDS 2GDT 2GDO 2GSS 2GST 2GSO 2GOS 2GOT 2GOO 2PDS 2PDT 2PDO 2PSS 2PST 2PSO 2POS 2POT 2POO 3RDS 3RDT 3RDO 3RSS 3RST 3RSO 3ROS 3ROT 3ROO 3GDS 3GDT 3GDO 3GSS 3GST 3GSO 3GOS 3GOT 3GOO 3PDS 3PDT 3PDO 3PSS 3PST 3PSO 3POS 3POT 3POO",
}


def undercover(players=6, undercover=None, blank=0):
    """Some roles depend on parameters, which have defaults."""
    if undercover is None:
        undercover = 1 if players <= 6 else 2 if players <= 10 else 3
    civilians = players - undercover - blank
    fits = 4 <= players <= 16 and 1 <= undercover <= 7 and blank <= 6 and 2 * civilians > players
    return f"civilian*{civilians} undercover*{undercover} blank*{blank}" if fits else None


def werewolf(players=12, werewolves=None, hunter=None, idiot=None):
    if werewolves is None:
        werewolves = 2 if players <= 7 else 3 if players <= 11 else 4 if players <= 14 else 5
    hunter = int(players > 8) if hunter is None else hunter
    idiot = int(players > 11) if idiot is None else idiot
    villagers = players - werewolves - 2 - hunter - idiot
    fits = 6 <= players <= 18 and 1 <= werewolves <= 6 and hunter <= 1 and idiot <= 1 and villagers >= 0
    return f"werewolf*{werewolves} villager*{villagers} seer witch hunter*{hunter} idiot*{idiot}" if fits else None


VARIABLE = {"undercover": undercover, "werewolf": werewolf}


def codes_of(type, parameters):
    """The codes of a deck; None for one that is not known here."""
    try:
        runs = VARIABLE[type](**parameters or {}) if type in VARIABLE else None if parameters else DECKS.get(type)
    except (TypeError, ValueError):
        return None
    return runs and [code for run in runs.split() for code, n in [(run.split("*") + [1])[:2]] for _ in range(int(n))]


class Cards:
    """The input of a shuffle, by number, which is a position in it. A seal commits to a card's text; the instance of a deck's
    card tells it from equal ones."""

    def __init__(self, size, text=str, codes=None):
        self.size, self.text, self.codes = size, text, codes
        if codes:
            counts = {}
            self.instances = [counts.setdefault(code, itertools.count(1)) and next(counts[code]) for code in codes]
            self.counts = {code: codes.count(code) for code in counts}
            self.text = lambda number: codes[number % len(codes)]

    def instance(self, number):
        round, at = divmod(number, len(self.codes))
        return self.instances[at] + round * self.counts[self.codes[at]]

    def plain(self, number):
        return self.text(number) if self.codes else canonical(parse(self.text(number)))

    def key(self, number):
        """One text for all layouts of the card in an answer."""
        return f'"{self.text(number)}"' if self.codes else self.plain(number)

    def value(self, node):
        """A value of an answer: its key (None for no card) and, of a card with all its details, its instance."""
        if not self.codes or not is_at(dict, node):
            return canonical(node), None
        code, instance = string_of(node.value.get("code")), whole(node.value.get("instance"))
        return (f'"{code}"', instance) if code is not None and instance else (None, None)

    def equals(self, number, node):
        key, instance = self.value(node)
        return key == self.key(number) and (not self.codes or not is_at(dict, node) or instance == self.instance(number))

    def are(self, numbers, values):
        return len(numbers) == len(values) and all(map(self.equals, numbers, values))

    def have(self, numbers, values):
        """Whether values are the cards of the numbers, each as often and in any sequence."""
        if len(numbers) != len(values):
            return False
        left = collections.Counter(map(self.key, numbers))
        if self.codes:
            left.update((self.key(number), self.instance(number)) for number in numbers)
        left.subtract(key for key, _ in map(self.value, values))
        left.subtract((key, instance) for key, instance in map(self.value, values) if instance)
        return min(left.values(), default=0) >= 0


def digest_of(text):
    return "sha256:" + sha256(text.encode()).hex()


def salted(digest, salt):
    return digest_of(f"riffle/1 items\nsalt {salt}\n{digest}\n") if salt else digest


def owner_of(items, salt):
    """Returns a function that says whether the record of a proof has the digest of items."""
    digest = digest_of(items.text)
    with_salt = salted(digest, salt)

    def is_owner(proof):
        record = proof.record
        return record is not None and record["kind"] in ("shuffle", "commitment", "shoe") and record["input"].endswith(
            " " + (with_salt if record.get("items_digest") == "salted/1" else digest))

    return is_owner


def compare_items(entry, given):
    """Compares what was shuffled with the input of the record. Sets the cards if they are known; returns the step's state and message."""
    record, items, salt = entry.record, given.get("items"), given.get("salt")
    text, size, rule = record["input"], record["size"], record.get("items_digest")
    words = text.split(" ")
    if changes_shoe(record):
        entry.cards = Cards(size)
        return "skipped" if items is None else "unchecked", message("items.places")
    if items is not None:
        digest = salted(digest_of(items.text), salt)
        if rule and rule != "salted/1":
            return "unchecked", message("items.rule", rule=rule)
        if rule and not salt:
            return "unchecked", message("items.salt")
        if salt and not rule:
            return "wrong", message("why.items.salt")
        if not text.endswith(" " + digest):
            return "wrong", message("why.items.digest", digest=digest, input=text)
        if len(items.value) != size:
            return "wrong", message("why.items.count", given=len(items.value), size=size)
        codes = [one.text if string_of(one) is None else one.value for one in items.value] if words[0] == "deck" else None
        entry.cards = Cards(size, lambda number: items.value[number].text, codes)
        return "ok", message("items")
    if text == "range":
        entry.cards = Cards(size)
        return "ok", message("items.range")
    if words[0] != "deck":
        return "skipped", message("items.missing")
    _, type, copies, digest = words
    codes = codes_of(type, record.get("parameters"))
    if not codes:
        return "skipped", message("items.deck.unknown", type=type)
    decks = size // len(codes)
    if size % len(codes) or copies != f"x{decks}":
        return "wrong", message("why.deck.size", size=size, input=text, type=type, cards=len(codes))
    if size > MAX_DECK:
        return "unchecked", message("items.deck.large", size=size, most=MAX_DECK)
    if digest != "sha256:" + sha256(json.dumps(codes * decks, separators=(",", ":")).encode()).hex():
        return "wrong", message("why.deck", input=text, type=type)
    entry.cards = Cards(size, codes=codes)
    return "ok", message("items.deck", decks=decks, type=type)


class Order:
    """An order is an array, or an answer with items, hands or shuffles, no member of which is ignored."""
    MEMBERS = {"audit_id", "log_index", "algorithm", "items", "hands", "rest", "shuffles", "commitment", "round", "seed"}

    def __init__(self, text):
        node = parse(text)
        self.is_answer, self.list = is_at(dict, node), node.value
        demand(self.is_answer or is_at(List, node), "why.answer")
        demand(not self.is_answer or {"items", "hands", "shuffles"} & set(node.value), "why.answer.empty")
        for name in ("items", "hands", "rest", "shuffles"):
            demand(self.get(name) is None or is_at(List, self.get(name)), "why.answer.array", name=name)
        unknown = min(set(self.list) - self.MEMBERS if self.is_answer else (), key=str.encode, default=None)
        demand(unknown is None, "why.answer.member", name=unknown and short(unknown))

    def get(self, name):
        return self.list.get(name) if self.is_answer else None

    def seed_for(self, record):  # that the answer to the request of the record has
        id, seed = self.get("audit_id"), string_of(self.get("seed")) or ""
        return seed if (id is None or string_of(id) == record["id"]) and is_hex(seed) else None

    def other_names(self, entry):
        """Says what is not of the record: its id, its place in the log, its algorithm, its commitment, its round or its seed."""
        record, seed = entry.record, entry.file.seed
        others = [name for name, want in (
            ("audit_id", record["id"]), ("algorithm", record["algorithm"]), ("commitment", record["commitment"]), ("seed", seed))
            if self.get(name) is not None and want is not None and string_of(self.get(name)) != want]
        others += [name for name, want in (("round", record.get("round", -1)), ("log_index", entry.file.index))
                   if self.get(name) is not None and whole(self.get(name)) != want]
        return message("why.answer.other", name=others[0]) if others else None

    def compare(self, entry, replayed, hand_of, any_order):
        other, kind = self.other_names(entry), entry.record["kind"]
        if other:
            return "wrong", other
        if entry.cards is None:
            return "unchecked", message("order.items")
        try:
            match, problem = Comparison(self, entry, any_order).match(hand_of), None
        except Fault as error:
            match, problem = None, error.said
        if kind != "shuffle" and (problem or kind != "shoe"):
            return "unchecked", message("order.other", order=replayed)
        if problem:
            return "wrong", problem
        entry.match = match
        return "ok", message("order.hands", order=replayed, match=match.say()) if match.parts else message("order.given", order=replayed)


class Match:
    """What an order turned out to be: the whole order, if it has no parts, or hands of a deal."""

    def __init__(self, parts=(), cards=0, is_sorted=False, noun="items", shuffle=None):
        self.parts, self.cards, self.is_sorted, self.noun, self.shuffle = list(parts), cards, is_sorted, noun, shuffle

    def say(self):
        *parts, last = map(say_part, self.parts)
        said = message("match.parts", parts=parts, last=last) if parts else message(f"match.{self.noun}", cards=self.cards, part=last)
        return message("match.sorted" if self.is_sorted else "match", parts=said, shuffle=self.shuffle)

    def summary(self):
        id = "hands" if len(self.parts) > 1 else "hand"
        values = {"hands": self.parts} if id == "hands" else {"hand": self.parts[0], "cards": self.cards}
        return {"id": f"{id}-set" if self.is_sorted else id, **values, **({"shuffle": self.shuffle} if self.shuffle else {})}


class Comparison:
    """Compares an order with what was replayed, by docs/spec.md, "Comparing an order or a hand"."""

    def __init__(self, order, entry, any_order):
        record, self.any_order = entry.record, any_order
        self.order, self.orders, self.cards, self.draw, self.repeat = order, entry.orders, entry.cards, record["draw"], record["repeat"]
        self.hands, self.noun = record.get("hands", []), "cards" if entry.cards.codes else "items"
        self.items, self.dealt, self.rest, self.shuffles = map(order.get, ("items", "hands", "rest", "shuffles"))
        self.lacks_rest = self.dealt and not (self.items or self.rest or self.shuffles)

    def match(self, of):
        """What the order is. of is the only hand that it may be: a number from 1 or "rest"; None for any and all."""
        hands, rest = self.given_hands()
        if of is not None:
            return self.only(of, hands, rest)
        claims, problem, is_whole = None, None, self.order.get("audit_id") is not None
        try:
            claims = self.claims(is_whole)
            self.check(claims, self.sequence)
            return self.all(False) if self.lacks_rest and self.hands else Match()
        except Fault as error:
            if not self.hands:
                raise
            problem = error
        if claims is not None and self.any_order:
            try:
                self.check(claims, self.set)
                return self.all(True)
            except Fault as error:
                problem = error
        if is_whole or self.order.is_answer and self.repeat == 1 and len(hands) == len(self.hands):
            raise problem  # all hands are compared by their numbers
        found = self.find(hands, rest)
        if found:
            return found
        raise Fault("why.order", what=problem.said)

    def only(self, of, hands, rest):
        start, end = self.span(of) or (0, 0)
        part = say_part(of)
        demand(start < end and len(hands) == 1 and rest is None, "why.hand.file", part=part, hands=len(self.hands))
        found, other = self.find(hands, None, of), self.find(hands, None)
        demand(found or not other, "why.hand.other", part=part, other=other and say_part(other.parts[0]))
        demand(found, "why.hand.none", part=part)
        return found

    def all(self, is_sorted):
        return Match(range(1, len(self.hands) + 1), self.hands[-1], is_sorted, self.noun)

    def span(self, part):
        """The places of a part in the result; None if the deal cannot have it."""
        if part == "whole":
            return 0, self.draw
        dealt = sum(self.hands if part == "rest" else self.hands[:part - 1])
        if part == "rest":
            return (dealt, self.draw) if self.hands else None
        return (dealt, dealt + self.hands[part - 1]) if part <= len(self.hands) else None

    def values(self, node):
        demand(is_at(List, node), "why.json.array")
        return node.value

    def claims(self, is_whole):
        """What the order says of each shuffle, in every form that it has: triples of the shuffle, the part and its values."""
        if not self.order.is_answer:
            demand(self.repeat == 1 or all(is_at(List, node) for node in self.order.list), "why.order.shuffles", given=1, repeat=self.repeat)
            return [(0, "whole", self.order.list)] if self.repeat == 1 else self.split(self.order.list, False)
        demand(self.repeat == 1 or self.shuffles and not (self.items or self.dealt or self.rest), "why.order.shuffles", given=1, repeat=self.repeat)
        given = [node and len(node.value) for node in (self.dealt, self.shuffles)]
        demand(given[0] in (None, len(self.hands)), "why.order.hands", given=given[0], dealt=len(self.hands))
        demand(given[1] in (None, self.repeat), "why.order.shuffles", given=given[1], repeat=self.repeat)
        demand(not self.lacks_rest or not is_whole and (self.hands or not self.draw), "why.order.rest")
        claims = []
        if self.items:
            claims.append((0, "whole", self.values(self.items)))
        if self.dealt:
            claims += self.deal(0, self.dealt.value, self.rest)
        elif self.rest:
            claims.append((0, "rest", self.values(self.rest)))
        return claims + (self.split(self.shuffles.value, bool(self.hands)) if self.shuffles else [])

    def split(self, shuffles, is_dealt):
        demand(len(shuffles) == self.repeat, "why.order.shuffles", given=len(shuffles), repeat=self.repeat)
        claims = []
        for number, parts in enumerate(map(self.values, shuffles)):
            demand(not is_dealt or len(parts) == len(self.hands) + 1, "why.order.parts", n=number + 1, hands=len(self.hands))
            claims += self.deal(number, parts[:-1], parts[-1]) if is_dealt else [(number, "whole", parts)]
        return claims

    def deal(self, shuffle, hands, rest):  # which may be missing
        claims = [(shuffle, i + 1, self.values(hand)) for i, hand in enumerate(hands)]
        return claims + ([(shuffle, "rest", self.values(rest))] if rest else [])

    def check(self, claims, equals):
        for is_counted in (False, True):  # all have as many values as were dealt, before any is compared
            for shuffle, part, values in claims:
                start, end = self.span(part) or (0, self.draw)
                try:
                    demand(len(values) == end - start, "why.dealt.count", part=say_part(part), given=len(values), dealt=end - start)
                    if is_counted:
                        equals(part, values, self.orders[shuffle][start:end])
                except Fault as error:
                    raise Fault("why.order.shuffle", n=shuffle + 1, what=error.said) if self.repeat > 1 else error

    def sequence(self, part, values, numbers):
        for i, (number, node) in enumerate(zip(numbers, values)):
            if self.cards.equals(number, node):
                continue
            want = self.cards.key(number)
            if self.cards.codes and is_at(dict, node):
                want = f'{{"code":{want},"instance":{self.cards.instance(number)}}}'
            raise Fault("why.dealt.item", part=say_part(part), item=short(node.text), place=i, replayed=short(want))

    def set(self, part, values, numbers):
        if part == "whole":
            self.sequence(part, values, numbers)
        else:
            demand(self.cards.have(numbers, values), "why.dealt.set", part=say_part(part))

    def given_hands(self):
        """The hands that the order may be, and the rest; None if it has none."""
        if not self.order.is_answer:
            return [self.order.list], None
        if not self.dealt or self.items or self.shuffles or len(self.dealt.value) > len(self.hands):
            return [], None
        return [hand.value if is_at(List, hand) else [] for hand in self.dealt.value], self.rest.value if self.rest else None

    def find(self, hands, rest, only=None):
        """Where the hands were dealt: in sequence in the first shuffle that has them so, or else in any if they may be sorted.
        Players sort the hand that they hold, and nobody an answer."""
        may_be_sorted = (False, True) if not self.order.is_answer or self.any_order else (False,)
        for is_sorted in may_be_sorted if hands and self.hands else ():
            for shuffle in range(self.repeat):
                parts = self.place(shuffle, hands, rest, only, is_sorted)
                if parts:
                    return Match(parts, len(hands[0]), is_sorted, self.noun, shuffle + 1 if self.repeat > 1 else None)
        return None

    def place(self, shuffle, hands, rest, only, is_sorted):
        """Which parts of a shuffle the hands are, each another; None unless all are found."""
        taken = [] if rest is None else ["rest"]

        def is_part(part, values, is_set):  # the order of the rest, a wall, is the game
            start, end = self.span(part)
            equal = self.cards.have if is_set and (part != "rest" or self.any_order) else self.cards.are
            return equal(self.orders[shuffle][start:end], values)

        def take(values, is_set):
            for part in [*range(1, len(self.hands) + 1), "rest"]:
                if part not in taken and only in (None, part) and values and is_part(part, values, is_set):
                    taken.append(part)
                    return True
            return False

        if rest is not None and not is_part("rest", rest, is_sorted):
            return None
        known = len(taken)
        for hand in hands:
            if not take(hand, False) and not (is_sorted and take(hand, True)):
                return None
        return taken[known:]


# ---- Shoes: sealing

def leaf_of(salt, position, text):
    return sha256(b"\0", sha256(salt, position.to_bytes(8, "big"), text.encode()))


def root_of_leaves(leaves):
    if len(leaves) < 2:
        return leaves[0] if leaves else sha256()
    half = 1 << (len(leaves) - 1).bit_length() - 1
    return sha256(b"\1", root_of_leaves(leaves[:half]), root_of_leaves(leaves[half:]))


def other_root(entry, order, cards):
    """Says why the cards in an order do not have the root in the record; None if they have."""
    seed, fixed, leaves = bytes.fromhex(entry.file.seed), b"riffle/1 salt\n" + bytes.fromhex(entry.record["commitment"]), []
    for position, number in enumerate(order):
        salt = hmac.digest(seed, fixed + position.to_bytes(8, "big"), "sha256")
        leaves.append(leaf_of(salt, position, cards.text(number)))
    root = root_of_leaves(leaves).hex()
    return None if root == entry.record["root"] else message("why.root", root=root, sealed=entry.record["root"])


def check_root(entry):  # of one record
    if "root" not in entry.record:
        return
    if entry.record["kind"] == "reshuffle":
        entry.steps.add("root", "skipped", message("root.shoe"))
    elif entry.cards is None:
        entry.steps.add("root", "skipped", message("root.items"))
    else:
        other = other_root(entry, entry.orders[0], entry.cards)
        entry.steps.add("root", "wrong" if other else "ok", other or message("root"))


# ---- Shoes: references and places

def write_cards(refs):
    """A reference is a pair of version and position. Writes a list of them as runs, each as long as possible."""
    words, i = [], 0
    while i < len(refs):
        seal, first = refs[i]
        end, step = i + 1, refs[i + 1][1] - first if i + 1 < len(refs) and refs[i + 1][0] == seal else 0
        while abs(step) == 1 and end < len(refs) and refs[end] == (seal, refs[end - 1][1] + step):
            end += 1
        words.append(f"{seal}:{first}" if end == i + 1 else f"{seal}:{first}-{refs[end - 1][1]}")
        i = end
    return " ".join(words)


def read_cards(text):
    refs = []
    for word in text.split(" "):
        match = re.fullmatch("([1-9][0-9]{0,15}):(0|[1-9][0-9]{0,15})(?:-(0|[1-9][0-9]{0,15}))?", word)
        demand(match, "why.record.member", name="cards")
        seal, first, last = int(match[1]), int(match[2]), int(match[3] or match[2])
        demand(max(seal, first, last) < 2**53 and abs(last - first) < MAX_CARDS and len(refs) < MAX_CARDS, "why.record.member", name="cards")
        step = -1 if last < first else 1
        refs += [(seal, at) for at in range(first, last + step, step)]
    demand(len(refs) <= MAX_CARDS and len(set(refs)) == len(refs) and write_cards(refs) == text, "why.record.member", name="cards")
    return refs


class Layout:
    """Where the cards lie; piles by the bytes of their names."""

    def __init__(self, size):
        self.version, self.seals, self.places = 1, 1, {"shoe": [(1, position) for position in range(size)], "dealt": []}

    def piles(self):
        return sorted(set(self.places) - {"shoe", "dealt"})

    def at(self, place):
        if place in ("out", "all"):
            names = (["shoe"] if place == "all" else []) + ["dealt"] + self.piles()
            return [ref for name in names for ref in self.places[name]]
        demand(place in self.places, "why.move.pile")
        return self.places[place]

    def take(self, source, end, count):
        cards = self.at(source)
        demand(count <= len(cards), "why.move.few", wanted=count, there=len(cards))
        return cards[:count] if (end == "top") == (source == "shoe") else cards[len(cards) - count:][::-1]

    def move(self, record, refs):
        source, to, taken = record["from"], record["to"], set(refs)
        demand(taken <= set(self.at(source)), "why.move.absent")
        for place in ["dealt"] + self.piles() if source == "out" else [source]:
            self.places[place] = [ref for ref in self.places[place] if ref not in taken]
        demand(to in self.places or len(self.piles()) < MAX_PILES, "why.move.limits")
        there, is_first = self.places.get(to, []), to != "dealt" and (record["put"] == "top") == (to == "shoe")
        self.places[to] = refs + there if is_first else there + refs
        self.version += 1

    def shuffle(self, place):
        demand(self.seals < MAX_SEALS, "why.move.limits")
        self.seals, self.version, size = self.seals + 1, self.version + 1, len(self.at(place))
        if place == "all":
            place, self.places = "shoe", {"dealt": []}
        self.places[place] = [(self.version, position) for position in range(size)]


# ---- Shoes: one hand

def layouts(node):
    """The texts of an item that may have been sealed: the written one, and other programs' escapes of the same strings."""
    text = shortest(node)
    units = "".join(c if c < "\x80" else json.dumps(c)[1:-1] for c in text)
    return [node.text, text, units]


class HandCard:
    def __init__(self, node):
        demand(is_at(dict, node), "why.card.object")
        get = node.value.get

        def number(name):
            demand(whole(get(name)) is not None, "why.card.number", name=name)
            return whole(get(name))

        def given(name):
            return get(name) if get(name) is not None and get(name).value is not None else None

        self.sealed_by, self.position = string_of(get("sealed_by")) or "", number("position")
        demand(re.fullmatch("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", self.sealed_by), "why.card.sealer")
        self.number, self.instance = (number(name) if get(name) is not None else None for name in ("card", "instance"))
        code, item, salt, path = given("code"), get("item"), given("salt"), given("path")
        demand((code is None) != (item is None), "why.card.text")
        self.is_code = code is not None
        if self.is_code:
            demand(re.fullmatch("[A-Za-z0-9-]+", string_of(code) or ""), "why.card.code")
        self.texts = [code.value] if self.is_code else layouts(item)
        self.plain = code.value if self.is_code else canonical(item)
        demand((salt is None) == (path is None), "why.card.proof")
        self.salt = None
        if salt is None:
            return
        demand(is_at(List, path) and len(path.value) <= 64, "why.card.proof")
        hashes = [string_of(one) or "" for one in [salt, *path.value]]
        demand(all(re.fullmatch(DIGEST, one) for one in hashes), "why.card.hash")
        self.salt, *self.path = map(bytes.fromhex, hashes)


def read_hand(text):
    node = parse(text)
    demand(is_at(dict, node) or is_at(List, node), "why.cards")
    cards = node.value.get("cards", node) if is_at(dict, node) else node
    demand(cards is node or is_at(List, cards), "why.json.array")
    nodes, hand = cards.value if is_at(List, cards) else [cards], []
    demand(1 <= len(nodes) <= MAX_CARDS, "why.cards.count", cards=len(nodes), most=MAX_CARDS)
    for i, card in enumerate(nodes):
        try:
            hand.append(HandCard(card))
        except ValueError as error:
            raise Fault("why.card", n=i, what=said_of(error)) from None
    return hand


class Sealing:
    """An order of cards that a record commits to. Its input, cards and order may be unknown."""

    def __init__(self, entry):
        self.entry, self.record, self.input, self.cards, self.order = entry, entry.record, None, None, None
        if self.record["kind"] == "shoe":  # of a reshuffle, the shoe's first record names the cards
            self.input, self.cards = self.record["input"], entry.cards
            self.order = list(range(self.record["size"])) if "root" not in self.record else entry.orders and entry.orders[0]

    def check(self, card):
        """Returns the message why the card was not sealed here, and the id of the one why that is unknown."""
        record, cards, position = self.record, self.cards, card.position

        def is_card(number):
            return (card.is_code or not cards.codes) and cards.plain(number) == card.plain

        if self.input and self.input.startswith("deck ") != card.is_code:
            return message("why.sealed.input", input=self.input), None
        if position >= record["size"]:
            return message("why.sealed.size", size=record["size"]), None
        if "root" in record and card.salt is None:
            return None, "hand.proof"
        if "root" not in record and cards is None:
            return None, "hand.unshuffled"
        if "root" in record:
            roots = [root_of(leaf_of(card.salt, position, text), position, record["size"], card.path) for text in card.texts]
            if bytes.fromhex(record["root"]) not in roots:
                return message("why.sealed.path"), None
        elif not is_card(position):
            return message("why.sealed.card"), None
        number = self.order[position] if self.order else card.number
        is_same = card.number in (None, number)
        if is_same and number is not None and cards is not None:
            is_same = number < cards.size and is_card(number) and (
                card.instance is None or not cards.codes or card.instance == cards.instance(number))
        return None if is_same else message("why.sealed.card"), None


def prove(hand, sealings):
    """Compares every card with the sealing that it names. Returns the messages of those that are proven, why one was not sealed
    there, and why one is unknown."""
    proven, missing, seen, by = [], None, set(), {sealing.record["id"]: sealing for sealing in reversed(sealings)}
    for card in hand:
        place = card.sealed_by, card.position
        if place in seen:
            return [], message("why.sealed.twice", position=card.position, id=card.sealed_by), None
        seen.add(place)
        if card.sealed_by not in by:
            continue
        name = message("hand.card", card=short(card.texts[0]), position=card.position)
        wrong, unknown = by[card.sealed_by].check(card)
        if wrong:
            return [], message("why.sealed", card=name, what=wrong), None
        if unknown:
            missing = message(unknown, card=name)
        else:
            proven.append(name)
    return proven, None, missing


class Shoe:
    """The files of a shoe, or of the records that sealed a hand. If no key is given, all have to have the key of the first. The
    items are those of the first file that has their digest, or of the first one."""

    def __init__(self, proofs, given, held_back):
        self.steps, self.entries, self.given, self.closed, self.proven, self.others = Steps(), [], given, False, 0, 0
        self.missing, key, owner = [], given.get("key"), 0
        if given.get("items") is not None:
            is_owner = owner_of(given["items"], given.get("salt"))
            owner = next((i for i, proof in enumerate(proofs) if is_owner(proof)), 0)
        for i, proof in enumerate(proofs):
            names = (["order", "hand_of", "any_order"] if i == 0 else []) + (["items", "salt"] if i == owner else [])
            alone = {name: given.get(name) for name in ["policy", *names]}
            self.entries.append(Entry(proof.node, {**alone, "key": key}, held_back))
            key = key or self.entries[-1].file and self.entries[-1].file.log_key
        self.records = []  # one file of each
        for entry in self.entries:
            before = self.records[-1] if self.records else None
            if not (before and entry.record and before.record and entry.file.record == before.file.record):
                self.records.append(entry)
        self.first, self.changes, self.match = self.entries[0], len(self.records) - 1, self.entries[0].match
        self.record, self.file = self.first.record, self.first.file
        self.well_formed = message("proofs.key" if given.get("key") or logs_of(given) else "proofs.no-key", files=len(self.entries))

    def in_every(self, name, what=None):
        """Adds a step that the files have in common: the first that is wrong or unchecked, or else that all hold."""
        for state in ("wrong", "unchecked"):
            for i, entry in enumerate(self.entries):
                if entry.steps.has(name, state):
                    self.steps.add(name, state, message("file", n=i + 1, what=entry.steps.find(name)["message"]))
                    return
        if any(entry.steps.find(name) for entry in self.entries):
            self.steps.add(name, "ok", what)

    def of_first(self, name):
        """Adds a step of the first file in which it is wrong, or else unchecked, or else ok, or else of the first one."""
        files = [entry for state in ("wrong", "unchecked", "ok") for entry in self.entries if entry.steps.has(name, state)]
        step = [*files, self.first][0].steps.find(name)
        if step:
            self.steps.append(step)

    def held_back(self):
        return sum(entry.is_held_back() for entry in self.records)

    def withheld(self):
        """Says how many seeds are held back; None if none are."""
        held = self.held_back()
        return message("withheld.closed" if self.closed else "withheld", seeds=held) if held else None

    def seeds(self):
        found = [entry.steps.find("seed")["message"] for entry in self.entries if entry.steps.has("seed", "ok")]
        warning = next((said for said in found if said["id"] == "seed.short"), None)
        if found:
            self.steps.add("seed", "ok", message("replays.seed", seeds=len(found), warning=warning, withheld=self.withheld()))
        elif self.held_back():
            self.steps.add("seed", "skipped", self.withheld())

    def replayed(self):  # the steps that every file with a seed has
        held = self.held_back()
        for name, what in (("commitment", "seeds"), ("keys", "orders"), ("order", "orders")):
            done = sum(entry.steps.has(name, "ok") for entry in self.entries)
            if any(entry.steps.has(name, "wrong") for entry in self.entries):
                self.in_every(name)
            elif done + held == 0:
                continue
            elif name == "order" and self.given.get("order") and not self.match:
                self.in_every(name)
            else:
                state = "skipped" if done == 0 else "ok"
                if name == "order" and held:
                    state = "skipped" if self.given.get("hand") else "unchecked"
                self.steps.add(name, state, message(f"replays.{name}", **{what: done}, withheld=self.withheld()))

    def verify_hand(self):
        several, steps = len(self.entries) > 1, self.steps
        each = self.in_every if several else lambda name, _: self.of_first(name)
        each("proof", self.well_formed)
        if not steps.has("proof", "ok"):
            return self
        each("record", message("records.hand", records=len(self.entries)))
        if several:
            self.seeds()
            self.replayed()
        for name in ("items", "root") if several else ("seed", "commitment", "keys", "order", "items", "root"):
            self.of_first(name)
        if steps.has("record", "ok"):
            self.check_hand()
        each("inclusion", message("inclusions"))
        each("signature", message("signatures"))
        each("witnesses", message("witnesses.all"))
        check_committed(steps, self.entries, self.given.get("commitments"))
        return self

    def check_hand(self):
        hand, steps = self.given["hand"], self.steps
        sealings, firsts, seals = [Sealing(entry) for entry in self.entries if is_sealing(entry.record)], {}, {}
        for sealing in sealings:
            record = sealing.record
            if seals.setdefault(record["id"], sealing.entry.file.record) != sealing.entry.file.record:
                steps.add("hand", "wrong", message("why.sealed.ids", id=record["id"]))
                return
            if record["kind"] == "shoe":
                firsts.setdefault(record["id"], sealing)  # it says which cards the shoe is of
            elif record["audit_id"] in firsts:
                sealing.input, sealing.cards = firsts[record["audit_id"]].input, firsts[record["audit_id"]].cards
        if not sealings:
            self.others = len(hand)
            steps.add("hand", "unchecked", message("hand.kind", kind=self.record["kind"]))
            return
        proven, wrong, missing = prove(hand, sealings)
        given = [sealing.record["id"] for sealing in sealings]
        self.proven, self.others = len(proven), len(hand) - len(proven)
        self.missing = [id for id in dict.fromkeys(card.sealed_by for card in hand) if id not in given]
        if wrong:
            steps.add("hand", "wrong", wrong)
        elif missing:
            steps.add("hand", "unchecked", missing)
        elif not proven:
            steps.add("hand", "unchecked", message("hand.none"))
        else:
            steps.add("hand", "unchecked" if self.others else "ok", say_hand(hand, proven, self.others or None))

    # ---- Shoes: the whole shoe

    def verify_shoe(self):
        steps, records, last, hand = self.steps, self.records, self.records[-1], self.given.get("hand")
        self.in_every("proof", self.well_formed)
        if steps.first("unchecked"):
            return self
        if not steps.first("wrong"):
            self.in_every("record", message("record.changes", record=self.record and say_record(self.record), changes=self.changes))
        if steps.has("record", "ok"):
            self.closed = last.record["kind"] == "close"
            broken = broken_chain(self.entries, records)
            steps.add("chain", "wrong" if broken else "ok", broken or message(
                "chain", last=len(records), **{"from": self.file.index}, to=last.file.index))
        self.seeds()
        self.replayed()
        self.of_first("items")
        self.in_every("inclusion", message("inclusions"))
        self.in_every("signature", message("signatures"))
        self.in_every("witnesses", message("witnesses.all"))
        check_committed(steps, self.entries, self.given.get("commitments"))
        if steps.first("wrong") or not steps.has("record", "ok"):
            return self
        tracker = Tracker(records)
        steps.add("moves", *tracker.follow(records))
        if steps.has("moves", "wrong"):
            return self
        self.check_roots(tracker.sealings)
        if hand:
            proven, wrong, missing = prove(hand, tracker.sealings)
            others = len(hand) - len(proven)
            if wrong:
                steps.add("hand", "wrong", wrong)
            elif missing or others:
                steps.add("hand", "unchecked", missing or message("hand.shoe", cards=others))
            else:
                self.proven = len(proven)
                steps.add("hand", "ok", say_hand(hand, proven))
        if self.closed:
            steps.add("closed", "ok", message("closed"))
        else:
            steps.add("closed", "skipped" if hand else "unchecked", message("closed.not"))
        return self

    def check_roots(self, sealings):
        roots, unknown, wrong = 0, 0, None
        for sealing in sealings:
            if "root" not in sealing.record:
                continue
            if sealing.cards is None or sealing.order is None or sealing.entry.file.seed is None:
                unknown += 1
                continue
            roots += 1
            other = other_root(sealing.entry, sealing.order, sealing.cards)
            if other and not wrong:
                wrong = message("why.version", version=sealing.record.get("version", 1), what=other)
        if wrong:
            self.steps.add("root", "wrong", wrong)
        elif roots + unknown == 0:
            self.steps.add("root", "skipped", message("roots.none"))
        elif unknown == 0:
            self.steps.add("root", "ok", message("roots", records=roots))
        else:
            self.steps.add("root", "skipped", self.withheld() or message("root.items"))


def broken_chain(entries, records):
    """Says why the records are not all records of one shoe, from the first on; None if they are."""
    first = entries[0].record
    if first["kind"] != "shoe":
        return message("why.chain.first", kind=first["kind"])
    for before, entry in zip(entries, entries[1:]):
        earlier, index = before.file.index, entry.file.index
        if entry.file.record == before.file.record and index != earlier:
            return message("why.chain.twice", version=entry.record.get("version", 1), earlier=earlier, index=index)
    for version, (before, entry) in enumerate(zip(records, records[1:]), 2):
        record, kind, earlier, index = entry.record, entry.record["kind"], before.file.index, entry.file.index
        if not changes_shoe(record) or record["audit_id"] != first["id"]:
            return message("why.chain.shoe", id=record["id"], shoe=first["id"])
        if record["version"] != version:
            return message("why.chain.version", id=record["id"], made=record["version"], version=version)
        if index <= earlier:
            return message("why.chain.index", version=version, index=index, earlier=earlier)
        if not deals(record) and record["commitment"] != first["commitment"]:
            return message("why.chain.commitment", version=version)
        if before.record["kind"] == "close" or before.record["kind"] == "expire" and kind != "close":
            return message("why.chain.end", version=version, kind=kind)
    return None


class Tracker:
    """Follows the cards from record to record."""

    def __init__(self, entries):
        self.layout, self.sealings, self.random = Layout(entries[0].record["size"]), [Sealing(entries[0])], 0
        self.orders = {1: self.sealings[0].order}  # the numbers of the cards at the positions of each sealing

    def follow(self, entries):
        for entry in entries[1:]:
            try:
                self.change(entry)
            except ValueError as error:
                return "wrong", message("why.version", version=entry.record["version"], what=said_of(error))
        places, piles = self.layout.places, self.layout.piles()
        return "unchecked" if self.random else "ok", message(
            "moves", deck=len(places["shoe"]), dealt=len(places["dealt"]), piles=len(piles), random=self.random or None)

    def change(self, entry):
        record, layout, orders = entry.record, self.layout, entry.orders
        if record["kind"] in ("close", "expire"):
            layout.version += 1
            return
        source = record["from"]
        lying, place, size = layout.at(source), say_place(source), record.get("size")
        demand(size in (None, len(lying)), "why.move.size", size=size, lying=len(lying), place=place)  # of what is drawn at random, or sealed
        if record["kind"] == "reshuffle":
            known = [(self.orders.get(seal), at) for seal, at in lying]
            is_known = all(order is not None and at < len(order) for order, at in known)
            layout.shuffle(source)
            sealing = Sealing(entry)
            sealing.input, sealing.cards = self.sealings[0].input, self.sealings[0].cards
            if is_known and orders:
                sealing.order = [known[at][0][known[at][1]] for at in orders[0]]
            self.orders[layout.version] = sealing.order
            self.sealings.append(sealing)
            return
        cards, taken = record.get("cards"), record["taken"]
        refs, found = read_cards(cards) if cards else [], cards
        if taken in ("top", "bottom"):
            found = write_cards(layout.take(source, taken, len(refs)))
        elif taken == "random" and orders:
            found = write_cards([lying[at] for at in orders[0]])
        demand(found == cards, "why.move.cards", place=place, how=message(f"how.{taken}"), found=found, cards=cards)
        self.random += taken == "random" and not orders
        layout.move(record, refs)


# ---- Messages

# The texts of messages, made from internal/audit/message/messages.json by web/tables.mjs: do not edit.
MESSAGES = {
    "text": "{text}",
    "verified": "Verified: {what}.",
    "verified.except": "Verified except for the commitment: {what}. Not proven: that the seed was fixed before the client seed was known.",
    "unchecked": "Not checked to the end: {what}.",
    "unproven": "Not proven yet: {what}; {found}.",
    "false": "This proof does NOT verify: it fails at the step {step}.",
    "refused": "Not checked: {reason}.",
    "no-key": "Not established: no key of the log was given, and the one in the file shows only that the file agrees with itself.",
    "several": "{proofs} proofs: {verified} verified, {false} false, {unchecked} not checked to the end.",
    "what.step": "the step {step} could not be checked",
    "what.but": "{what}, but the step {step} could not be checked",
    "what.cost": "the record is in the log of {log}, but replaying it takes {steps} steps; verifiers replay up to 1,073,741,824",
    "what.record": "the record is in the log of {log}",
    "what.unfit": "the record is in the log of {log}, but the files given for comparison do not fit it",
    "what.unknown-kind": "the record is in the log of {log}, but of a kind that this version does not know",
    "what.follows": "the order follows from the seed and the record, and the record is in the log of {log}",
    "what.order": "the order is the one given and follows from the seed and the record, and the record is in the log of {log}",
    "what.hands": "these are {match}; the order follows from the seed and the record, and the record is in the log of {log}",
    "what.open-shoe": "the file has no seed, which is secret until the shoe is closed",
    "what.held-back": "the file has no seed, which is secret until it is revealed",
    "what.open-seeds": "the shoe is still open, and its seeds are secret until it is closed",
    "what.sealed": "the {sealed}",
    "sealed.one": "1 card of the hand was sealed at its position",
    "sealed": "{cards} cards of the hand were sealed at their positions",
    "what.cards": "the {sealed} by what is in the log of {log}, and none could be exchanged since",
    "what.partly": "of the {cards:card} of the hand, what was given proves {proven} and NOT {others}",
    "what.fits": "the first record of the shoe and its {changes:change} are in the log of {log}, and fit together",
    "what.cards.so-far": "the {sealed}; {found} so far",
    "what.shoe": "the whole shoe, from its first record to its last, which are in the log of {log}",
    "what.other-commitment": "the commitment that was given, {id}, is not the one that the record names",
    "note.reason": "The step {step}: {text}.",
    "note.later": "A later version may be able to check it.",
    "note.witnessed": "Enough witnesses of the policy have cosigned this history of the log.",
    "note.anybody": "Anybody can make such a file. Get the key of the log from another source than the file, and give it as well.",
    "note.if": "If the key is the right one: {headline}",
    "note.sealed": "The cards were sealed, and none of them can be exchanged: a hand that was drawn is proven alone.",
    "note.committed-to": "Nothing committed to can be exchanged before the seed is revealed.",
    "note.no-order": "No order was given to compare it with: give the answer as well.",
    "note.sealed-order": "The cards were sealed in this order.",
    "note.whole-shoe": "Only the proof of the whole shoe shows that every change found its cards where it says.",
    "note.several-seeds": "This proof cannot rule out that the operator drew several seeds and logged one. Use a commitment to rule that out.",
    "note.hidden": "The other cards of the shoe stay hidden until it is closed, and then the whole shoe can be checked.",
    "note.hidden-shoe": "The other cards stay hidden until the shoe is closed.",
    "note.give": "Give the proof of each record that they name as sealed_by as well: {records}.",
    "note.shoe": "Every order follows from its seed, every card was where the records say, and none was exchanged.",
    "note.shoe.cards": "Every order follows from its seed, and every change found its cards where it says. The cards themselves were not compared.",
    "note.hand": "The hand is proven: {sealed}, and none could be exchanged since.",
    "note.beacon": "The commitment {id} fixed the order, except for the client seed, and that is the signature of {beacon}: nobody knew it before {time}, and neither the operator nor a player chose it.",
    "note.players": "The commitment {id} fixed the order, except for the client seed, and that joins the seeds of {players}, whose hashes the commitment has: each of them had fixed a seed before, and nobody could choose the last input, if one of them or the operator is honest.",
    "note.anew": "That is so of the order that used the commitment: cards that were shuffled anew, or drawn at random, have seeds of their own, which no commitment fixed.",
    "note.beacon.cosigned": "Enough witnesses of the policy had cosigned the log with the commitment before then.",
    "note.beacon.clock": "That the commitment was in the log before then is what the log's own clock says: a proof of the commitment that witnesses of a policy cosigned in time would show it.",
    "note.commitment": "The commitment {id} fixed the order, except for the client seed, before the client seed was known: if that was new when the commitment was in the log, nobody can have picked a seed for its order.",
    "note.commitment.missing": "It names the commitment {id}: give the proof of that record as well (GET /audits/{id}/proof).",
    "note.without-commitment": "Without that commitment: {headline}",
    "note.other-commitment": "The commitment that was given, {id}, is not the one that the record names.",
    "note.void": "It is void since {time}: nothing used it before its deadline, nothing can use it any more, and its seed stays secret.",
    "note.void.book": "Its rounds from {round} on are void since {time}: nothing used them before the deadline, nothing can use them any more, and their seeds stay secret.",
    "note.compared": "{list}.",
    "compared.first": "{name} was compared as {what}",
    "compared": "{name} as {what}",
    "compared.order": "the order",
    "compared.items": "the items",
    "compared.hand": "the hand",
    "purpose.commitment": "It is a commitment: the seed and the statement cannot be exchanged any more. The seed is held until it is used, before {deadline}, by a shuffle or a shoe that names it; if none does, a void follows in the log. It has no order of its own.",
    "purpose.book": "It is a book: the seeds of its {count} rounds and the statement cannot be exchanged any more. The rounds are used in their order, before {deadline}, each by a shuffle that names the book; if some are left, a void follows in the log. It has no order of its own.",
    "purpose.says": "It says that {what}, and has no order of its own.",
    "purpose.change": "It is a change of the shoe {audit_id}, and has no order of its own: give the proofs of the whole shoe to follow its cards.",
    "record": "{id}, of {time}: {what}",
    "record.changes": "{record}; {changes:change}",
    "stated": "{draw} of {size}, shuffled by {algorithm}[, {times} times][; reference {reference}][; round {round} of the book of {of}][; the client seed will be the signature of {beacon}][; the client seed will join the seeds of {players}]",
    "stated.unshuffled": "{size}, in the order of the input[; reference {reference}][; round {round} of the book of {of}][; the client seed will be the signature of {beacon}][; the client seed will join the seeds of {players}]",
    "record.shuffle": "{stated}",
    "record.shoe": "a shoe: {stated}[; a cut card behind {cut}][, drawn from {low} to {high}][; it replaces the shoe {audit_id}]",
    "record.commitment": "a commitment to {stated}, until {deadline}",
    "record.book": "a book of {count} commitments, each to {stated}, until {deadline}",
    "record.reveal": "the seed of {audit_id} was made public",
    "record.void": "the commitment {commitment_id} was not used in time",
    "record.void.book": "the book {commitment_id} was not used up in time: its rounds from {round} to {count} are void",
    "record.change": "version {version} of the shoe {audit_id}: {what}",
    "change.reshuffle": "{from}, {size:card}, sealed in a new order by {algorithm}[; a cut card behind {cut}][, drawn from {low} to {high}]",
    "change.close": "closed",
    "change.expire": "over, and not closed",
    "change.none": "no cards put on {to}",
    "change.moved": "{cards:card} taken {how} {from}[ and put to the {put} of {to}]",
    "how.random": "at random from",
    "how.cards": "by name from",
    "how.top": "from the top of",
    "how.bottom": "from the bottom of",
    "end.top": "top",
    "end.bottom": "bottom",
    "place.shoe": "the deck",
    "place.dealt": "the dealt cards",
    "place.out": "anywhere outside the deck",
    "place.all": "all cards",
    "place.pile": "the pile {pile}",
    "part": "hand {n}",
    "part.rest": "the rest",
    "match.cards": "the {cards:card} of {part}",
    "match.items": "the {cards:item} of {part}",
    "match.parts": "{parts} and {last}",
    "match": "{parts}[ of shuffle {shuffle}] of this deal, in the order dealt",
    "match.sorted": "{parts}[ of shuffle {shuffle}] of this deal, in another order than they were dealt",
    "proof.key": "the file is well-formed; its log key is the one given",
    "proof.no-key": "the file is well-formed; no log key was given: the one in the file is used",
    "proofs.key": "{files} files are well-formed; all have the log key that was given",
    "proofs.no-key": "{files} files are well-formed; no log key was given: the one in the first is used",
    "file": "file {n}, from 1: {what}",
    "records.hand": "{records} records that sealed cards of the hand",
    "inclusion": "the record is number {index}, from 0, of the {size} in the tree",
    "inclusions": "every record is in the tree of its file",
    "signature": "the checkpoint is signed with the key of {log}",
    "signatures": "every checkpoint is signed with the key",
    "witnesses": "{by} of {all} witnesses cosigned the checkpoint[: {names}]; that is enough by the policy[; cosignatures by {unchecked} are not checked here]",
    "witnesses.few": "{by} of {all} witnesses cosigned the checkpoint[: {names}]; that is not enough by the policy[; cosignatures by {unchecked} are not checked here]",
    "witnesses.all": "enough witnesses cosigned every checkpoint",
    "committed": "the commitment {id} is earlier in the same log: it fixed seed and statement, and was used before its deadline[; the client seed is the signature of {beacon}, published at {time}][; the client seed joins the seeds of {players}, and each fits its hash]",
    "committed.missing": "the record names the commitment {id}, and no proof of it was given",
    "none": "a record of kind {kind} has none",
    "held-back": "the seed is held back",
    "held-back.order": "the seed is held back, and the order follows from it",
    "seed": "{blocks:block} of 256 bits; riffle/1 asks for {wanted}[; {complete}][; {source}]",
    "seed.short": "warning: {blocks:block} of 256 bits, and riffle/1 asks for {wanted}[; {complete}][; {source}]",
    "seed.complete": "computationally, not exhaustively, complete",
    "seed.answer": "the answer gave it, and the file has none",
    "commitment": "the SHA-256 of the statement with its seed is the record's commitment, {commitment}",
    "keys": "{blocks} derived from the seed, the commitment and a client seed of {bytes} bytes",
    "order": "{draw} of {size} replayed by {algorithm}, {repeat:time}[; the cut, {cut}, is the one drawn from {low} to {high}][; the SHA-256 of the positions is {digest}]",
    "order.given": "{order}; it is the order given",
    "order.hands": "{order}; given are {match}",
    "order.other": "{order}; the order given is not the whole order of the cards that were sealed first, and cards without salt and path prove nothing",
    "order.items": "replayed, but comparing it with the order given needs the items of the record",
    "order.cost": "replaying it takes {steps} steps; verifiers replay up to 1,073,741,824",
    "replays.seed": "{seeds:seed}[: {warning}][; {withheld}]",
    "replays.commitment": "{seeds:seed}: each opens the commitment in its record[; {withheld}]",
    "replays.keys": "the keys of {orders:order} derived[; {withheld}]",
    "replays.order": "{orders:order} replayed[; {withheld}]",
    "withheld": "{seeds:seed} held back until the shoe is closed",
    "withheld.closed": "{seeds:seed} held back in these files, and public since the shoe was closed: get the files again",
    "items.places": "the record names cards by their places: only the proof of the whole shoe says which cards they were",
    "items.range": "the numbers from 0 on; there is nothing to compare",
    "items.missing": "not given; the record has their digest",
    "items.rule": "their digest was taken by the rule {rule}, which is not known here: a later version may be able to check it",
    "items.salt": "their digest is salted, and the salt was not given",
    "items": "the items given have the digest in the record",
    "items.deck.unknown": "there is no such deck type {type} here: the codes of its cards can be given as items",
    "items.deck.large": "the digest of {size} cards is not computed; the limit is {most}",
    "items.deck": "{decks:deck} of {type}, whose cards have the digest in the record",
    "root.shoe": "only the proof of the whole shoe says which cards were there",
    "root.items": "the cards are not known, for the items were not given",
    "root": "salts from the seed and the cards in this order have the root in the record",
    "roots": "salts from the seeds and the cards in their orders have the roots in {records:record}",
    "roots.none": "nothing was sealed",
    "chain": "each of the versions 1 to {last} has its record, in the order of the log, from number {from} to number {to}",
    "moves": "every change found its cards where it says; {deck} are in the deck, {dealt} are dealt, {piles:pile}[; but {random:draw} at random without a seed]",
    "closed": "the last record closes the shoe",
    "closed.not": "the last record does not close the shoe: unseen cards stay hidden until it is closed, and more changes may follow",
    "hand": "{proven} of the {cards:card} of the hand, sealed where it says: {list}[; {others} were sealed by other records]",
    "hand.card": "{card} at position {position}",
    "hand.shoe": "{cards:card} of the hand, sealed by no record of this shoe",
    "hand.none": "no card of the hand was sealed by what was given: give the proof of the record that sealed_by names",
    "hand.kind": "a record of kind {kind} has sealed no cards: give the proof of the record that sealed_by names",
    "hand.proof": "{card}: it has no salt and path: ask for it with proof=true",
    "hand.unshuffled": "{card}: the shoe was not shuffled, and its cards were not given",
    "why.json": "not JSON",
    "why.json.twice": "a member is there twice",
    "why.json.array": "not a JSON array",
    "why.file.json": "it is not JSON, and so not a proof file",
    "why.file.record": "it has no member record, and so is not a proof file",
    "why.file.members": "it has not the six members of a proof file, each once",
    "why.file.member": "its member {name} is missing, or not a string",
    "why.file.spec": "the file is of \"{spec}\", not of riffle/1",
    "why.file.seed": "its seed is not in lower-case hex, two digits a byte",
    "why.file.tlog": "its tlog_proof does not have its form",
    "why.file.key": "the log of the file has the key {has}, and the key given is {given}",
    "why.file.policy": "the log of the file has the key {has}, which the policy does not name",
    "why.key": "not a log key: it must be the verifier key of a log, <name>+<key hash>+<key>",
    "why.record": "not a record, which is one JSON object with each member once",
    "why.record.kind": "a record of an unknown kind, \"{kind}\": a later version may be able to check it",
    "why.record.missing": "the record's {name} is missing",
    "why.record.member": "the record's {name} is not valid[: {text}]",
    "why.record.client-seed": "the file and the record have different client seeds",
    "why.record.seed": "a record of kind {kind} has no seed, and the file has one",
    "why.index": "the tree has {size} records, and this claims to be number {index}, from 0",
    "why.path": "the hashes do not lead from this record to the root of the checkpoint",
    "why.origin": "the checkpoint is of \"{origin}\", and the key is of \"{log}\"",
    "why.unsigned": "the checkpoint is not signed by the key of {log}",
    "why.signature": "a signature of the checkpoint, of the name and hash of the key, is wrong",
    "why.cosignature": "the cosignature of \"{name}\" is wrong",
    "why.commitment.unread": "the proof of the commitment: {what}",
    "why.commitment.proof": "the proof of the commitment fails at the step {step}: {what}",
    "why.commitment.kind": "the proof given is not of a commitment",
    "why.commitment.id": "the record does not say that it used the commitment {id}",
    "why.commitment.book": "the record names a book of {has:round}, and the commitment has {count}",
    "why.commitment.path": "the path does not lead from round {round} to the commitment of the book",
    "why.commitment.value": "the record has the commitment {has}, and {made} was committed to",
    "why.commitment.statement": "the record states something other than the commitment",
    "why.commitment.deadline": "the record is of {time}, and the deadline was {deadline}",
    "why.commitment.later": "the commitment is number {index} in the log, from 0, and so not before the record that used it, which is number {used}",
    "why.players.none": "the record has a joined text, and the commitment has no players",
    "why.players.joined": "the client seed is not name:seed of each player, sorted by name, with single spaces",
    "why.player.unknown": "the commitment has no player \"{name}\"",
    "why.player.missing": "the seed of {name} is missing",
    "why.player.form": "the seed of {name} must have 1 to 64 of the characters A-Z, a-z, 0-9, - and _",
    "why.player.hash": "the seed of {name} does not fit the hash in the commitment",
    "why.beacon": "the client seed is not the signature of {beacon}, which has 96 hex digits in lower case",
    "why.beacon.unknown": "a beacon that is not known here, \"{beacon}\"",
    "why.beacon.package": "checking a signature takes {what}",
    "why.digest": "the statement with its seed has the SHA-256 {digest}, but the record commits to {commitment}",
    "why.keys": "the seed is not 1 to 213 blocks of 32 bytes, each different",
    "why.cut": "the seed draws the cut {drawn} from {low} to {high}, and the record says {cut}",
    "why.items.salt": "a salt was given, and the record says that nothing is salted",
    "why.items.digest": "the items given have the digest {digest}, and the record is of {input}",
    "why.items.count": "the items given are {given}, and the record is of {size}",
    "why.deck.size": "the record is of {size:card} and says {input}, and one deck of {type} has {cards}",
    "why.deck": "the deck of the record, {input}, is not the {type} that comes with Riffle",
    "why.root": "the cards in this order have the root {root}, and the record has {sealed}",
    "why.answer": "neither an answer of POST /shuffle nor a JSON array",
    "why.answer.empty": "an object without items, hands or shuffles: not an answer of POST /shuffle",
    "why.answer.array": "an answer whose {name} are not an array",
    "why.answer.member": "an answer with the member {name}, which no answer of POST /shuffle has",
    "why.answer.other": "the answer has another {name} than the record",
    "why.part": "\"{text}\" is not a hand: hands are numbered from 1, and the remaining cards are the rest",
    "why.order": "the file is neither the order nor hands of this deal[: {what}]",
    "why.order.shuffle": "shuffle {n}: {what}",
    "why.order.shuffles": "the order given is of {given:shuffle}, and there were {repeat}",
    "why.order.hands": "the order given has {given:hand}, and {dealt} were dealt",
    "why.order.rest": "the order given has no rest",
    "why.order.parts": "shuffle {n} of the order given is not {hands:hand} and the rest",
    "why.hand.file": "the file is not one hand, or {part} is not of this deal, which has {hands:hand}",
    "why.hand.other": "it is not {part}, but {other}",
    "why.hand.none": "it is not {part} of this deal, nor another hand of it",
    "why.dealt.count": "{part} has {given:item}, and {dealt} were dealt",
    "why.dealt.set": "{part} has other items than were dealt",
    "why.dealt.item": "{part} has {item} at place {place}, from 0, where the replay has {replayed}",
    "why.cards": "neither an answer of a shoe nor cards",
    "why.cards.count": "a hand of {cards:card}, and there are 1 to {most}",
    "why.card": "card {n}, from 0: {what}",
    "why.card.object": "it is not an object",
    "why.card.number": "its {name} is not a number from 0 on",
    "why.card.sealer": "its sealed_by is not the id of a record",
    "why.card.text": "it must have either a code or an item",
    "why.card.code": "its code is invalid: codes are ASCII letters, digits and hyphens",
    "why.card.proof": "it takes both salt and path to prove it",
    "why.card.hash": "its salt or a hash of its path is not 64 hex digits in lower case",
    "why.sealed": "{card}: {what}",
    "why.sealed.ids": "two different records have the id {id}",
    "why.sealed.twice": "two cards of the hand claim position {position} of {id}",
    "why.sealed.input": "the record is of {input}, and it is none of those",
    "why.sealed.size": "only {size} cards were sealed",
    "why.sealed.path": "salt and path do not lead from this card and position to the root",
    "why.sealed.card": "the card there has another number, code, item or instance",
    "why.chain.first": "the first record is of kind {kind}, and must be of kind shoe",
    "why.chain.twice": "version {version} is number {earlier} and number {index} in the log, from 0",
    "why.chain.shoe": "the record {id} does not change the shoe {shoe}",
    "why.chain.version": "the record {id} made version {made}, where version {version} has to follow",
    "why.chain.index": "version {version} is number {index} in the log, from 0, and so not after the one before, which is number {earlier}",
    "why.chain.commitment": "version {version} does not have the commitment of the shoe",
    "why.chain.end": "version {version} is of kind {kind}, and the shoe had ended",
    "why.version": "version {version}: {what}",
    "why.move.size": "it is of {size:card}, and {lying} lay in {place}",
    "why.move.cards": "the cards to take {how} {place} are {found}, and the record says {cards}",
    "why.move.few": "{wanted} cards are wanted, and there are {there}",
    "why.move.pile": "there is no such pile",
    "why.move.absent": "these cards are not there",
    "why.move.limits": "a shoe has at most 256 piles and 4096 seals",
    "why.line": "line {n}: {what}",
    "why.policy.quorum": "it has no quorum: a line such as quorum NAME says which witness or group has to cosign",
    "why.policy.end": "the quorum is one that no line before it names, or there are two",
    "why.policy.line": "it is no line of a policy, by its first word or by how many words follow",
    "why.policy.witness": "not a witness with its verifier key, of type 04 or 06",
    "why.policy.twice": "the key or its name is there twice",
    "why.policy.name": "there is another witness or group \"{name}\"",
    "why.policy.group": "a group of {members} cannot need {number} of them",
    "why.policy.member": "a member that no line before it names, or twice",
    "why.given": "the {role}[: {name}]: {what}",
    "why.given.long": "{name}: it is longer than {most} MiB",
    "why.given.role": "there is no role \"{role}\"",
    "why.given.private": "{name} is the private key of a log: keep it secret, and give the verifier key",
    "why.given.unknown": "{name} is not a proof, an answer, a hand, a list, a key, a salt or a policy",
    "why.given.salt": "a salt of items is 16 to 128 of the characters A-Z, a-z, 0-9, - and _, such as 16 random bytes in hex",
    "why.given.two": "{a} and {b} both have the role {role}: give the one to check",
    "why.given.which": "neither {a} nor {b} has the digest of the items in the record: say which of them is compared as the order",
    "why.given.none": "none of the proofs is of {name}",
    "why.given.no-proof": "no proof was given: the proof of the record is needed as well",
    "why.given.no-items": "a salt was given without the items: salt and items have their digest together",
    "why.given.no-order": "there is nothing to compare with {part}: give the cards of that hand as well",
    "part.whole": "the order given",
}


def printable(text):
    return re.sub("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]", "\ufffd", text)


def message(id, /, **values):
    """What a verifier says: the id of a text, and the values in it. One that is None is missing."""

    def valid(value):
        if isinstance(value, list):
            return list(map(valid, value))
        if isinstance(value, int) and value >= 2**53:
            return str(value)  # readers of JSON would round it
        return printable(short(value, 300)) if isinstance(value, str) else value

    return {"id": id, "values": {name: valid(value) for name, value in values.items() if value is not None}}


NAMES = re.compile(r"{(\w+)")  # of the values in a text


def render(message, table=MESSAGES, comma=", "):
    """The text of a message in the language of a table, where {name} is a value, {name:noun} a number of things, and [...] is left
    out if a value in it is missing. comma is between the elements of a list."""
    values = message["values"]

    def text_of(value):
        if isinstance(value, list):
            return comma.join(map(text_of, value))
        return render(value, table, comma) if isinstance(value, dict) else str(value)

    def option(match):
        return match[1] if all(name in values for name in NAMES.findall(match[1])) else ""

    def insert(match):
        name, noun = match.groups()
        return count(values[name], noun) if noun else text_of(values[name])

    return re.sub(r"{(\w+)(?::(\w+))?}", insert, re.sub(r"\[(.*?)\]", option, table[message["id"]]))


def message_of(record, id, /, **values):
    """A message with the members of a record that its text names, and with other values, also in their place."""
    members = {name: record[name] for name in NAMES.findall(MESSAGES[id]) if name in record}
    return message(id, **{**members, **values})


def say_part(part):  # a number, rest or whole
    return message(f"part.{part}") if isinstance(part, str) else message("part", n=part)


def say_place(place):
    return message("place.pile", pile=place[5:]) if place.startswith("pile ") else message(f"place.{place}")


def say_hand(hand, proven, others=None):
    more = ["..."] if len(proven) > 13 else []
    return message("hand", proven=len(proven), cards=len(hand), list=proven[:13] + more, others=others)


def say_sealed(cards):
    return message("sealed.one") if cards == 1 else message("sealed", cards=cards)


def say_record(record):
    return message_of(record, "record", what=say_what(record))


def say_what(record):
    kind = record["kind"]
    if changes_shoe(record):
        return message_of(record, "record.change", what=say_change(record))
    if kind == "commitment":
        return message_of(record, "record.book" if "count" in record else "record.commitment", stated=say_stated(record))
    if kind == "void":
        return message_of(record, "record.void.book" if "count" in record else "record.void")
    if kind == "reveal":
        return message_of(record, "record.reveal")
    return message_of(record, f"record.{kind}", stated=say_stated(record), **cut_of(record))


def say_stated(record):
    kind, repeat = record["kind"], record["repeat"]
    return message_of(record, "stated.unshuffled" if kind == "shoe" and record["draw"] == 0 else "stated",
                      times=repeat if repeat > 1 else None, of=record.get("count") if kind == "shuffle" else None,
                      players=sorted(record.get("players", [])) or None, reference=quote(record["reference"]) if "reference" in record else None)


def cut_of(record):
    """Where the cut card lies, and the range that it was drawn from, as values of a message."""
    low, high = record.get("cut_range", (None, None))
    return {"cut": record.get("cut"), "low": low, "high": high}


def say_change(record):
    kind = record["kind"]
    if kind in ("close", "expire"):
        return message(f"change.{kind}")
    if kind == "reshuffle":
        return message_of(record, "change.reshuffle", **{"from": say_place(record["from"])}, **cut_of(record))
    if "cards" not in record:
        return message("change.none", to=say_place(record["to"]))
    moved = {"cards": len(read_cards(record["cards"])), "how": message(f"how.{record['taken']}"), "from": say_place(record["from"])}
    if record["to"] != "dealt":
        moved.update(to=say_place(record["to"]), put=message(f"end.{record['put']}"))
    return message("change.moved", **moved)


def say_purpose(record):
    """Says what a record is for that has no order; None for one that has."""
    kind = record["kind"]
    if deals(record):
        return None
    if kind == "commitment":
        return message_of(record, "purpose.book" if "count" in record else "purpose.commitment")
    if kind in ("reveal", "void"):
        return message("purpose.says", what=say_what(record))
    return message_of(record, "purpose.change" if changes_shoe(record) else f"purpose.{kind}")


def conclude(verdict, said, summary):
    """The part of a result that says it: the messages of the headline and of the notes, and their texts."""
    headline, *notes = map(render, said)
    return {"verdict": verdict, "headline": headline, "notes": notes, "messages": said, "summary": summary}


class Verdict:
    """The verdict on what one of the three verifiers found: an entry or a shoe. finding adds the messages if no step fails."""

    def __init__(self, found, given, finding):
        self.found, self.steps, self.notes, self.given, record = found, found.steps, [], given, found.record
        self.missing, failed = found.steps.first("unchecked"), found.steps.first("wrong")
        self.log = found.file and found.file.key.name
        if failed:
            self.say("false", {"id": "false", "step": failed["name"]}, "false", step=failed["name"])
            return
        if self.steps.has("proof", "unchecked"):
            self.lacking("proof", message("what.step", step="proof"))
            self.note("note.reason", step="proof", text=self.missing["message"])
            return
        if record is None:
            self.unchecked({"id": "unknown-kind"}, message("what.unknown-kind", log=self.log))
            self.note("note.later")
        else:
            finding(self)
        if self.steps.has("witnesses", "ok"):
            self.summary["witnessed"] = True
            self.note("note.witnessed")
        if not given.get("key") and not logs_of(given):
            self.notes[:0] = [message("note.anybody"), message("note.if", headline=self.headline)]
            self.say("unchecked", {"id": "no-key", "if": self.summary}, "no-key")

    def say(self, verdict, summary, id, /, **values):
        self.verdict, self.summary, self.headline = verdict, summary, message(id, **values)

    def note(self, id, /, **values):
        self.notes.append(message(id, **values))

    def verified(self, summary, what):
        is_missing = self.steps.has("committed", "skipped")
        if is_missing:
            summary["commitment"] = "missing"
        self.say("verified", summary, "verified.except" if is_missing else "verified", what=what)

    def unchecked(self, summary, what):
        self.say("unchecked", summary, "unchecked", what=what)

    def lacking(self, step, what):
        self.unchecked({"id": "incomplete", "step": step}, what)

    def incomplete(self, what):
        step = self.missing["name"]
        self.lacking(step, message("what.but", what=what, step=step))

    def unproven(self, summary, what, found):
        self.say("unchecked", summary, "unproven", what=what, found=found)

    def other_commitment(self, id):
        if self.verdict != "verified":
            self.note("note.other-commitment", id=id)
            return
        self.notes.insert(0, message("note.without-commitment", headline=self.headline))
        self.lacking("committed", message("what.other-commitment", id=id))

    def note_commitment(self):
        step = self.found.steps.find("committed")
        id, players = map((step["message"]["values"] if step else {}).get, ("id", "players"))
        if self.steps.has("committed", "ok") and players:
            self.summary["players"] = players
            self.note("note.players", id=id, players=players)
        elif self.steps.has("committed", "ok"):
            self.note("note.commitment", id=id)
        elif self.steps.has("committed", "skipped"):
            self.note("note.commitment.missing", id=id)
        records = [entry.record for entry in getattr(self.found, "entries", []) if entry.record]
        if self.steps.has("committed", "ok") and any(deals(record) and not uses_commitment(record) for record in records):
            self.note("note.anew")

    def of_record(self):
        entry, record, match, purpose = self.found, self.found.record, self.found.match, say_purpose(self.found.record)
        in_log, follows = message("what.record", log=self.log), message("what.follows", log=self.log)
        if purpose:
            if not self.missing:
                self.verified({"id": "record", "kind": record["kind"]}, in_log)
            elif self.missing["name"] == "witnesses":
                self.incomplete(in_log)
            else:
                self.lacking(self.missing["name"], message("what.unfit", log=self.log))
            self.notes.append(purpose)
            return
        if entry.is_held_back() and record["kind"] != "shuffle":
            self.unproven({"id": "held-back"}, message("what.open-shoe"), in_log)
            self.note("note.sealed")
        elif entry.is_held_back():
            self.unproven({"id": "held-back"}, message("what.held-back"), in_log)
            self.note("note.committed-to")
        elif entry.cost:
            self.unchecked({"id": "cost", "steps": str(entry.cost)}, message("what.cost", log=self.log, steps=str(entry.cost)))
        elif self.missing:
            self.incomplete(follows)
        elif match and match.parts:
            self.verified(match.summary(), message("what.hands", match=match.say(), log=self.log))
        elif match:
            self.verified({"id": "order"}, message("what.order", log=self.log))
        else:
            self.verified({"id": "follows"}, follows)
            if record["kind"] == "shuffle":
                self.note("note.no-order")
            else:
                if self.steps.has("root", "ok"):
                    self.note("note.sealed-order")
                self.note("note.whole-shoe")
        self.note_commitment()
        if self.verdict == "verified" and record["kind"] == "shuffle" and "commitment_id" not in record:
            self.note("note.several-seeds")

    def of_hand(self):
        proven, others, missing = self.found.proven, self.found.others, self.found.missing
        sealed = say_sealed(proven)
        if not self.missing:
            self.verified({"id": "cards", "cards": proven}, message("what.cards", sealed=sealed, log=self.log))
            if self.found.held_back():
                self.note("note.hidden")
        elif others:
            self.lacking(self.missing["name"], message("what.partly", cards=proven + others, proven=proven, others=others))
            if missing:
                self.note("note.give", records=missing)
        else:
            self.incomplete(message("what.sealed", sealed=sealed))
        self.note_commitment()

    def of_shoe(self):
        shoe, missing, changes = self.found, self.missing, self.found.changes
        so_far, sealed = message("what.fits", changes=changes, log=self.log), say_sealed(shoe.proven)
        is_secret = all(step["state"] != "unchecked" or step["name"] in ("closed", "order") for step in self.steps)
        if missing and not shoe.closed and is_secret:
            self.unproven({"id": "open-shoe", "changes": changes}, message("what.open-seeds"), so_far)
        elif missing:
            self.incomplete(so_far)
        elif not shoe.closed:
            self.verified({"id": "cards", "cards": shoe.proven}, message("what.cards.so-far", sealed=sealed, found=so_far))
            self.note("note.hidden-shoe")
        else:
            self.verified({"id": "shoe", "changes": changes}, message("what.shoe", log=self.log))
            self.note("note.shoe" if self.steps.has("root", "ok") else "note.shoe.cards")
        if shoe.proven and (shoe.closed or missing):
            self.note("note.hand", sealed=sealed)
        self.note_commitment()

    def as_dict(self, files):
        return {"files": files, **conclude(self.verdict, [self.headline, *self.notes], self.summary),
                "steps": [{"name": step["name"], "ok": {"ok": True, "wrong": False}.get(step["state"]), "text": render(step["message"]),
                           "message": step["message"]} for step in self.steps]}


# ---- What was given: docs/spec.md, "Texts for a verifier"

class Refusal(ValueError):  # why nothing is concluded
    def __init__(self, why, files, said):
        self.why, self.files, self.said = why, files, said


NO_JSON = Value(Source(), 0)  # the only proof file of a text that is not JSON
TLOG_FILE = "c2sp.org/tlog-proof@v1\nextra "  # begins a proof file in C2SP's format, before its other members in base64


def from_tlog_proof(text):
    """The JSON of a proof file in the format tlog-proof, and any other text unchanged."""
    extra, _, rest = text.removeprefix(TLOG_FILE).partition("\n")
    try:
        data = base64.b64decode(extra, validate=True)
        object = data.decode()
    except ValueError:
        return text
    if not text.startswith(TLOG_FILE) or base64.b64encode(data).decode() != extra or not object.endswith("}"):
        return text
    inclusion = json.dumps(f"c2sp.org/tlog-proof@v1\n{rest}\n", ensure_ascii=False)
    return f'{object[:-1]},"tlog_proof":{inclusion}}}'


def is_object(node, size):
    return is_at(dict, node) and node.duplicate is None and len(node.value) == size


def unnest(node):
    """A proof file without that of its commitment, and that."""
    if not is_object(node, len(FILE) + 1) or "commitment_proof" not in node.value:
        return [node]
    members = {name: value for name, value in node.value.items() if name != "commitment_proof"}
    return [Value(node.source, node.start, node.end, members), node.value["commitment_proof"]]


def split(text):
    """The proof files of a text: JSON texts one after the other, the elements of an array, or one as a tlog-proof."""
    try:
        nodes = []
        for node in parse_all(from_tlog_proof(text)):
            if is_object(node, 2) and is_at(List, node.value.get("shoe")) and "spec" in node.value:
                node = node.value["shoe"]
            for one in node.value if is_at(List, node) and node.value else [node]:
                nodes += unnest(one)
        return nodes
    except Fault:
        return [NO_JSON]


class Proof:
    """One proof file of a text. Its record is unchecked, and None if it cannot be parsed."""

    def __init__(self, node, source):
        self.node, self.source, self.record, self.has_seed = node, source, None, False
        try:
            file = File(node)
            record = read_record(file.record)
            self.has_seed, self.record = file.seed is not None, record if record["kind"] in USES else None
        except ValueError:
            pass


def is_sealing(record):
    return record is not None and record["kind"] in ("shoe", "reshuffle")


class Input:
    """A text in its role. shown is the line about it at the end."""

    def __init__(self, name, text, role=None):
        self.name, self.is_sorted, self.shown, self.items = name, role is None, {"name": name, "role": role}, None
        if isinstance(text, Exception):
            raise Refusal("unreadable", [name], said_of(text))
        if len(text) > MAX_TEXT or len(text) > MAX_TEXT // 4 and len(text.encode()) > MAX_TEXT:
            raise Refusal("unreadable", [name], message("why.given.long", name=name, most=MAX_TEXT // 2**20))
        self.text = (text[1:] if text.startswith("\ufeff") else text).strip(" \t\r\n")
        if role is None:
            self.shown["role"] = self.sort()
        self.role = "answer" if self.shown["role"] == "order" else self.shown["role"]

    def sort(self):
        if self.text.startswith("PRIVATE+KEY+"):
            raise Refusal("private-key", [self.name], message("why.given.private", name=self.name))
        try:
            Key(self.text)
            return "key"
        except ValueError:
            pass
        if re.fullmatch("[A-Za-z0-9_-]{16,128}", self.text):
            return "salt"
        if re.match(r"(?:[ \t]*(?:#[^\n]*)?\r?\n)*[ \t]*(?:log|witness|group|quorum)[ \t]", self.text):
            return "policy"
        is_proof = self.text.startswith(TLOG_FILE) or '"record"' in self.text or '"tlog_proof"' in self.text
        role = role_of(self.text) or ("proof" if is_proof else None)
        if not role:
            raise Refusal("unknown", [self.name], message("why.given.unknown", name=self.name))
        return role


def role_of(text):
    """The role of JSON; None for none."""

    def has(node, *names):
        return is_at(dict, node) and any(name in node.value for name in names)

    def is_card(node):
        get = node.value.get if is_at(dict, node) else lambda _: None
        is_sealed = string_of(get("salt")) is not None and is_at(List, get("path"))
        return get("position") is not None and get("position").value is NUMBER and (is_sealed or string_of(get("sealed_by")) is not None)

    try:
        nodes = parse_all(text, 2)
        first = nodes[0]
        values = first.value if is_at(List, first) else []
        if has(first, "record", "tlog_proof", "shoe") or (values and has(values[0], "record") and has(values[0], "tlog_proof")):
            parse_all(text)  # all are JSON
            return "proof"
    except Fault:
        return None
    if len(nodes) > 1:
        return None
    if has(first, "items", "hands", "shuffles"):
        return "answer"
    if has(first, "cards") or has(first, "salt") and has(first, "path") or is_card(first):
        return "hand"
    if not is_at(List, first):
        return None
    return "hand" if values and all(map(is_card, values)) else "list"


def read_key(text):
    Key(text)
    return text


def read_salt(text):
    demand(re.fullmatch("[A-Za-z0-9_-]{16,128}", text), "why.given.salt")
    return text


def read_items(text):
    node = parse(text)
    demand(is_at(List, node), "why.json.array")
    return node


READERS = {"key": ("key", read_key), "salt": ("salt", read_salt), "policy": ("policy", Policy), "items": ("items", read_items), "answer": ("order", Order),
           "hand": ("hand", read_hand), "list": (None, read_items)}  # where it is in what is given, and its parser


def two(first, second, role):
    return Refusal("two", [first.name, second.name], message("why.given.two", a=first.name, b=second.name, role=role))


class Group:
    """Proofs that are checked together, and what they are checked against."""

    def __init__(self, given):
        self.proofs, self.given, self.items, self.order, self.match, self.found = [], given, None, None, None, None

    def sort(self):
        self.proofs.sort(key=lambda proof: (proof.record is None,) + (() if proof.record is None else (
            proof.record.get("version", 0), proof.record["id"], not proof.has_seed)))

    def check(self):
        proofs, given = self.proofs, self.given
        if given.get("hand") and (len(proofs) == 1 or all(is_sealing(proof.record) for proof in proofs)):
            found, say = Shoe(proofs, given, lambda record: "skipped" if "root" in record or record["kind"] == "shoe" else "unchecked"), Verdict.of_hand
            found.verify_hand()
        elif len(proofs) > 1:
            found, say = Shoe(proofs, given, "unchecked").verify_shoe(), Verdict.of_shoe
        else:
            found, say = trace(proofs[0].node, given), Verdict.of_record
        self.found, self.match = Verdict(found, given, say), found.match

    def is_kind(self, kind):
        return len(self.proofs) == 1 and self.proofs[0].record is not None and self.proofs[0].record["kind"] == kind

    def is_void_of(self, other):
        if not (self.is_kind("void") and other.is_kind("commitment")):
            return False
        void, made = self.proofs[0].record, other.proofs[0].record
        return (void["commitment_id"], void.get("count"), void["commitment"]) == (made["id"], made.get("count"), made["commitment"])

    def lacks(self):
        """Says whether a record names a commitment that was not given."""
        return self.is_lacking


class Verification:
    """Sorts and checks what a verifier is given."""

    def __init__(self, texts, hand_of, any_order):
        self.inputs, self.proofs, self.given, self.roles, seen = [], [], {"any_order": any_order}, {}, set()
        for text in texts:
            self.inputs.append(Input(*text))
            one = self.inputs[-1]
            if (one.role, one.text) in seen:
                one.shown["role"] = "unused"
                continue
            seen.add((one.role, one.text))
            if one.role == "proof":
                self.proofs += [Proof(node, one) for node in split(one.text)]
                continue
            self.read(one)
            if one.role != "list" and one.role in self.roles:
                raise two(self.roles[one.role], one, one.role)
            self.roles[one.role] = one
        if not self.proofs:
            raise Refusal("no-proof", [], message("why.given.no-proof"))
        if self.given.get("salt") and not {"items", "list"} & set(self.roles):
            raise Refusal("no-items", [self.roles["salt"].name], message("why.given.no-items"))
        self.order = self.roles.get("answer")
        self.groups = self.group()
        self.find_items()
        self.check(self.read_hand_of(hand_of))
        self.add_notes()

    def read(self, one):
        if one.role not in READERS:
            raise Refusal("unreadable", [one.name], message("why.given", role=str(one.role), name=one.name, what=message("why.given.role", role=str(one.role))))
        try:
            place, reader = READERS[one.role]
            value = reader(one.text)
        except ValueError as error:
            name = one.name if one.role != "salt" else None
            raise Refusal("unreadable", [one.name], message("why.given", role=one.shown["role"], name=name, what=said_of(error))) from None
        if place:
            self.given[place] = value
        else:
            one.items = value

    def group(self):
        """Puts together what is checked together: the proof of a commitment with the one that names it, the proofs of a shoe in
        the order of their versions, and those that sealed a hand."""
        commitments, by_shoe, groups = {}, {}, []
        for proof in self.proofs:
            if proof.record and proof.record["kind"] == "commitment":
                commitments.setdefault(proof.record["id"], []).append(proof.node)
        records = [proof.record for proof in self.proofs if proof.record]
        taken = {record["commitment_id"] for record in records if uses_commitment(record)}
        hand = self.given.get("hand")
        sealers = {card.sealed_by for card in hand or []}
        changed = {shoe_of(record) for record in records if not is_sealing(record)}
        named = {shoe_of(record) for record in records if record["id"] in sealers}
        is_any_named = any(record["id"] in sealers for record in records)
        shoes = {}  # the first of each text
        for proof in self.proofs:
            if proof.record and shoe_of(proof.record):
                shoes.setdefault(id(proof.source), shoe_of(proof.record))
        for proof in self.proofs:
            record = proof.record
            if record and record["kind"] == "commitment" and record["id"] in taken:
                continue
            shoe = shoe_of(record) if record else shoes.get(id(proof.source))
            is_named = hand is not None and (not is_any_named or record and record["id"] in sealers or shoe and shoe in named)
            key = "sealed" if is_named and shoe and shoe not in changed else shoe
            group = by_shoe.get(key)
            if group is None:
                group = Group({**self.given, "order": None, "hand": hand if is_named else None})
                groups.append(group)
            if shoe:
                by_shoe[key] = group
            group.proofs.append(proof)
        for group in groups:
            group.sort()
            named = {proof.record["commitment_id"]: None for proof in group.proofs if uses_commitment(proof.record)}
            group.is_lacking = not named.keys() <= commitments.keys()
            group.given["commitments"] = [(id, node) for id in named for node in commitments.get(id, [])]
        return groups

    def find_items(self):
        """Finds the lists that are the items of records, and the one text that is compared."""
        for one in self.inputs:
            if one.items is None:
                continue
            is_owner = owner_of(one.items, self.given.get("salt"))
            own = [group for group in self.groups if any(map(is_owner, group.proofs))]
            for group in own:
                if self.given.get("items") is None:
                    group.items, group.given["items"] = one, one.items
                elif self.given["items"].text != one.items.text:
                    raise two(self.roles["items"], one, "items")
            if own:
                one.shown["role"] = "items"
                continue
            if self.order:
                a, b = self.order.name, one.name
                raise Refusal("which", [a, b], message("why.given.which", a=a, b=b))
            self.order, self.given["order"] = one, Order(one.text)
        if self.order:
            self.order.shown["role"] = "order"

    def read_hand_of(self, text):
        if not text:
            return None
        is_number = re.fullmatch("[1-9][0-9]{0,15}", str(text)) and int(text) < 2**53
        demand(str(text) == "rest" or is_number, "why.part", text=str(text))
        part = int(text) if is_number else "rest"
        if not self.given.get("order"):
            raise Refusal("no-order", [], message("why.given.no-order", part=say_part(part)))
        return part

    def check(self, hand_of):
        order, candidates, matches = self.given.get("order"), self.groups, 0
        id = order and string_of(order.get("audit_id"))
        for keep in (lambda record: record is None or deals(record), lambda record: record is not None and record["id"] == id):
            candidates = [group for group in candidates if any(keep(proof.record) for proof in group.proofs)] or candidates
        for group in self.groups:
            if order is None or group not in candidates:
                group.check()
                continue
            group.order = self.order
            group.given.update(order=order, hand_of=hand_of)
            group.check()
            if group.match:
                matches += 1
            elif len(candidates) > 1:
                group.order = None
                group.given.update(order=None, hand_of=None)
                group.check()
        if order is not None and len(candidates) > 1 and not matches:
            raise Refusal("none", [self.order.name], message("why.given.none", name=self.order.name))

    def add_notes(self):
        """Says what was compared with what, and of commitments that they are others."""
        others = [group for group in self.groups if group.is_kind("commitment") or group.is_kind("void")]
        for group in self.groups:
            compared = []
            if group.order:
                parts, what = group.match.parts if group.match else [], message("compared.order")
                if len(parts) == 1:
                    group.order.shown.update(role="hand-of", hand=parts[0], **({"shuffle": group.match.shuffle} if group.match.shuffle else {}))
                    what = say_part(parts[0])
                compared.append((group.order, what))
            if group.items:
                compared.append((group.items, message("compared.items")))
            compared += [(one, message("compared.hand")) for one in self.inputs if one.shown["role"] == "hand" and group.given.get("hand")]
            compared = [(one.name, what) for one, what in compared if one.is_sorted]
            if compared:
                group.found.note("note.compared", list=[
                    message("compared" if i else "compared.first", name=name, what=what) for i, (name, what) in enumerate(compared)])
            for other in others:
                record = other.proofs[0].record
                if group.lacks() and other.is_kind("commitment"):
                    group.found.other_commitment(record["id"])
                elif other.is_void_of(group) and other.found.verdict == "verified":
                    group.found.notes.append(message_of(record, "note.void.book" if "count" in record else "note.void"))

    def result(self):
        proofs = [group.found.as_dict(list(dict.fromkeys(proof.source.name for proof in group.proofs))) for group in self.groups]
        verdicts, is_lacking = [proof["verdict"] for proof in proofs], any(group.lacks() for group in self.groups)
        main = [proof for group, proof in zip(self.groups, proofs)
                if proof["verdict"] != "verified" or not (is_lacking and group.is_kind("commitment") or any(map(group.is_void_of, self.groups)))]
        counts = {verdict: verdicts.count(verdict) for verdict in ("verified", "false", "unchecked")}
        verdict = next(verdict for verdict in ("false", "unchecked", "verified") if counts[verdict])
        said, summary = [message("several", proofs=len(proofs), **counts)], {"id": "several", **counts}
        if len(main) == 1:
            said, summary = main[0]["messages"], main[0]["summary"]
        return {**conclude(verdict, said, summary), "steps": [step for proof in proofs for step in proof["steps"]],
                "files": [one.shown for one in self.inputs], "proofs": proofs}


def trace(node, given):
    """What is calculated of the proof file of one record: its steps, statement, keys and orders."""
    entry = Entry(node, given, "unchecked")
    if entry.record:
        check_committed(entry.steps, [entry], given.get("commitments"))
    return entry


def trace_text(text, commitment=None, key=None, items=None, items_salt=None, order=None):
    given = {"key": key, "salt": items_salt, "items": items and read_items(items), "order": order and Order(order)}
    return trace(split(text)[0], {**given, "commitments": [(None, node) for node in split(commitment)] if commitment else []})


def proofs_and_key(texts):
    """What can be checked where texts are refused together: the proofs, and the only key."""
    proofs, keys = [], {}
    for text in texts:
        try:
            one = Input(*text)
        except Refusal:
            continue
        if one.role == "proof":
            proofs.append(text)
        elif one.role == "key":
            keys[one.text] = text
    return proofs + (list(keys.values()) if len(keys) == 1 else [])


def verify(texts, key=None, items=None, items_salt=None, order=None, hand=None, hand_of=None, any_order=False, policy=None):
    texts = [texts] if isinstance(texts, str) else texts
    texts = [(f"file {i + 1}", text) if isinstance(text, str) else text for i, text in enumerate(texts)]
    asked = [("the key", key, "key"), ("the salt", items_salt, "salt"), ("the policy", policy, "policy"), ("the items", items, "items"), ("the order", order, "order"),
             ("the hand", hand, "hand")]
    texts = [text for text in asked if text[1] is not None] + texts
    try:
        return Verification(texts, hand_of, any_order).result()
    except (ValueError, RecursionError, MemoryError) as error:
        refused = message("refused", reason=said_of(error))
        summary = {"id": "refused", "why": getattr(error, "why", "unreadable"), "files": getattr(error, "files", [])}
        is_alone = summary["files"] and summary["why"] in ("unreadable", "unknown", "private-key")
        others = [text for text in texts if text[0] not in summary["files"]] if is_alone else proofs_and_key(texts)
        if len(others) < len(texts) or hand_of and not is_alone:  # what is false is so whatever is wrong with the others
            rest = verify(others, hand_of=hand_of if is_alone else None, any_order=any_order)
            if rest["verdict"] == "false":
                return {**rest, **conclude("false", [*rest["messages"], refused], rest["summary"])}
        return {**conclude("unchecked", [refused], summary), "steps": [], "files": [], "proofs": []}


# ---- As a program

def lines_of(result):
    word, lines = {True: "ok", False: "WRONG", None: "not checked"}, [result["headline"], *result["notes"]]
    if len(result.get("proofs", [])) > 1:
        return lines + [line for proof in result["proofs"] for line in ["", printable(" ".join(proof["files"])), *lines_of(proof)]]
    lines += [""] if result["steps"] else []
    return lines + [f"{step['name']:12} {word[step['ok']]}: {step['text']}" for step in result["steps"]]


def read_text(path):
    try:
        with open(path, "rb") as file:
            text = file.read(MAX_TEXT + 1)
        return text.decode(errors="replace" if len(text) > MAX_TEXT else "strict")  # what is too long may end anywhere
    except FileNotFoundError:
        raise ValueError("there is no such file") from None
    except IsADirectoryError:
        raise ValueError("it is a folder") from None
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8, and so not JSON") from None
    except OSError as error:
        raise ValueError(str(error)) from None


def main():
    parser = argparse.ArgumentParser(
        prog="riffle.py", description="Checks proof files: of records as GET /audits/{id}/proof answers them, of the commitments that "
        "they used, and of whole shoes as GET /shoes/{id}/proof answers them. Beside them the answer, a hand, the items, the key and a "
        "salt may be given, in any order: each file is recognized by its content. White space, escapes and the order of members do not "
        "matter.", epilog="Exits with 0 if everything that was given verifies, 1 if something is false, and 2 if something could not "
        "be checked.")
    parser.add_argument("--key", metavar="FILE-OR-KEY", help="public key of the log, from another source than the proof")
    parser.add_argument("--policy", metavar="FILE", help="the logs and witnesses that are trusted, and how many of these have to cosign "
                        "(C2SP tlog-policy)")
    parser.add_argument("--items", metavar="FILE", help="what was shuffled, as a JSON array; decks are built in")
    parser.add_argument("--items-salt", metavar="SALT", help="the items_salt that the items were sent with")
    parser.add_argument("--order", metavar="FILE", help="what was answered: the whole answer of POST /shuffle, the array of the order, or "
                        "one hand of it")
    parser.add_argument("--hand", metavar="FILE", help="cards that were drawn from a shoe, with salt and path")
    parser.add_argument("--hand-of", metavar="N", help="which hand of the deal the order is: a number from 1, or rest")
    parser.add_argument("--any-order", action="store_true", help="accept hands and the rest in any order; without it, only one hand by "
                        "itself may be sorted")
    parser.add_argument("--proof", metavar="FILE", action="append", default=[], help="a proof file, which is not sorted")
    parser.add_argument("--json", action="store_true", help="print the verdict and the steps as JSON")
    parser.add_argument("file", nargs="*", metavar="FILE", help="a file of any role")
    given, texts = parser.parse_args(), []
    if not given.file + given.proof:
        parser.error("expected FILE...")

    def add(path, *role):
        try:
            texts.append((path, read_text(path), *role))
        except ValueError as error:
            what = f"the {role[0]}: " if role and role[0] != "proof" else ""
            texts.append((path, ValueError(f"{what}{path}: {error}"), *role))

    if given.key is not None and re.fullmatch(LOG_KEY, given.key):
        texts.append(("--key", given.key, "key"))
    elif given.key is not None:
        add(given.key, "key")
    if given.items_salt is not None:
        texts.append(("--items-salt", given.items_salt, "salt"))
    for role in ("policy", "items", "order", "hand"):
        if getattr(given, role) is not None:
            add(getattr(given, role), role)
    for path in given.file:
        add(path)
    for path in given.proof:
        add(path, "proof")
    result = verify(texts, hand_of=given.hand_of, any_order=given.any_order)
    text = json.dumps(result, ensure_ascii=False, separators=(",", ":")) if given.json else "\n".join(lines_of(result))
    try:
        sys.stdout.reconfigure(errors="replace")  # names and values may have characters that the terminal has not
        print(text, flush=True)
    except (AttributeError, OSError) as error:  # it was closed, or is full
        print(f"riffle.py: nothing can be printed: {error}", file=sys.stderr)
        os._exit(2)
    sys.exit({"verified": 0, "false": 1, "unchecked": 2}[result["verdict"]])


if __name__ == "__main__":
    main()
