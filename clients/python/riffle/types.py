"""The types of requests and answers.

Generated from openapi.yaml by clients/python/generate.py. Do not edit.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, Required, TypeAlias, TypedDict, Union


class ShuffleRequest(TypedDict):
    """What to shuffle, and how."""

    items: NotRequired[list[Item]]
    """Any JSON values, at most 1,000,000. Duplicates are allowed."""
    items_salt: NotRequired[ItemsSalt]
    deck: NotRequired[DeckName]
    decks: NotRequired[Copies]
    parameters: NotRequired[DeckParameters]
    size: NotRequired[Count]
    """Shuffles the integers from 0 to `size`-1."""
    algorithm: NotRequired[Algorithm]
    draw: NotRequired[DrawCount]
    hands: NotRequired[Hands]
    repeat: NotRequired[Repeat]
    client_seed: NotRequired[ClientSeed]
    reference: NotRequired[Reference]
    unique_reference: NotRequired[UniqueReference]
    commitment_id: NotRequired[str]
    """The commitment to use. Needs a `client_seed`, or the `beacon_signature` if it has a beacon, or `player_seeds` if
    it has players. Members that are omitted are taken from the commitment, except items, which must be sent
    again.
    """
    beacon_signature: NotRequired[BeaconSignature]
    player_seeds: NotRequired[PlayerSeeds]
    reveal: NotRequired[RevealTime]
    """Makes the seed public immediately. Without it only the caller gets the seed, until it is revealed."""


class CommitmentRequest(TypedDict):
    """What to shuffle later, and how."""

    items: NotRequired[list[Item]]
    """Any JSON values, at most 1,000,000. Only their digest is stored: send them again with the shuffle."""
    items_salt: NotRequired[ItemsSalt]
    deck: NotRequired[DeckName]
    decks: NotRequired[Copies]
    parameters: NotRequired[DeckParameters]
    size: NotRequired[Count]
    """Shuffles the integers from 0 to `size`-1."""
    algorithm: NotRequired[Algorithm]
    draw: NotRequired[DrawCount]
    hands: NotRequired[Hands]
    repeat: NotRequired[Repeat]
    """The number of independent shuffles in one record, within the limits of a shuffle. Above 1, the shuffle is
    answered with `shuffles`.
    """
    reference: NotRequired[Reference]
    unique_reference: NotRequired[UniqueReference]
    count: NotRequired[int]
    """Makes a book of this many rounds, each with a seed of its own: at most 1,024, and fewer if a round takes
    more than 16 blocks of seed.
    """
    beacon: NotRequired[dict[str, Any]]
    """The round of a public beacon whose signature is the client seed, so that neither the operator nor a player
    chooses it: by its number, or as the first one that is published this time from now or later. It is
    published before the deadline.
    """
    players: NotRequired[Players]
    expires_in: NotRequired[int]
    """How many seconds the commitment can be used. At most a year and a day; by default as long as the
    service says by `--deadline`.
    """


class ShuffleResult(TypedDict):
    """A shuffle. It has `items`, or `hands` and `rest`, or `shuffles`."""

    audit_id: str
    """The id of the record."""
    log_index: LogIndex
    algorithm: Algorithm
    items: NotRequired[list[Item]]
    """The order. Items are unchanged; cards are codes, or objects with `details`."""
    hands: NotRequired[list[list[Item]]]
    """The hands, in the order requested."""
    rest: NotRequired[list[Item]]
    """The items that were drawn and are in no hand."""
    shuffles: NotRequired[list[list[Item]]]
    """The shuffles. Each is an array of its items or, with hands, of its hands followed by the rest."""
    commitment: Digest
    """The SHA-256 of the statement of the shuffle, including its seed."""
    round: NotRequired[int]
    """The round of the book that the shuffle used, from 1; omitted without a book."""
    seed: Seed
    """**Secret.** Whoever has the seed can compute every card, drawn or not. Never forward it to players before
    the game is over. `POST /audits/{id}/reveal` makes it public.
    """


class DeckList(TypedDict):
    decks: list[DeckType]


class DeckType(TypedDict):
    type: DeckName
    name: Text
    family: str
    """The style of the card pictures, such as french, mahjong, uno or roles."""
    parameters: NotRequired[list[DeckParameter]]
    """The parameters that a request may set; omitted if it may set none."""
    hands: NotRequired[list[Preset]]
    """The presets of hands; omitted for a deck without presets."""
    dead_wall: NotRequired[int]
    """The number of cards at the end of the order that presets never deal; omitted if 0."""
    size: int
    """The number of cards without parameters."""


class DeckParameter(TypedDict):
    name: str
    min: int
    max: int
    default: int
    """The value if the request does not set it."""
    default_by: NotRequired[dict[str, Any]]
    """How the default depends on an earlier parameter, if it does."""


class Preset(TypedDict):
    """Named hands. They have `sizes`, or `each` or `each_by` for one hand per player. After those of the players, `hands` has the
    parts in `then`, in their order: the last six hands of `holdem:6` are a burnt card, the flop, a burnt card, the turn, a burnt
    card and the river.
    """

    name: str
    sizes: NotRequired[list[int]]
    """The size of each hand."""
    each: NotRequired[int]
    """The size of every hand."""
    each_by: NotRequired[list[dict[str, Any]]]
    """The size of every hand by their number: the value of the first step that the number does not exceed; 0 if the game is
    not for so many.
    """
    then: NotRequired[list[dict[str, Any]]]
    """What is dealt after the hands of the players."""
    players: NotRequired[int]
    """The number of hands if neither the request nor a parameter gives it. If omitted, the request must give it."""
    players_from: NotRequired[str]
    """The parameter that gives the number of hands."""


class Text(TypedDict):
    """A name in English and in Chinese."""

    en: str
    zh: str


class Card(TypedDict):
    code: CardCode
    name: Text
    glyph: str
    """The card in Unicode characters."""
    attributes: Union[dict[str, str], None]
    """Properties for games, such as suit and rank; null for a card without properties."""
    instance: CardInstance


class CardList(TypedDict):
    type: DeckName
    name: Text
    size: int
    """The number of cards in the deck."""
    cards: list[Card]


class Commitment(TypedDict):
    commitment_id: str
    """The id of the commitment, and of its record."""
    log_index: LogIndex
    commitment: CommitmentDigest
    statement: OpenStatement
    deadline: Deadline
    count: NotRequired[RoundCount]
    beacon: NotRequired[Beacon]
    players: NotRequired[Players]


class CommitmentState(TypedDict):
    """A commitment and its status."""

    commitment_id: str
    """The id of the commitment, and of its record."""
    log_index: LogIndex
    commitment: CommitmentDigest
    statement: OpenStatement
    deadline: Deadline
    count: NotRequired[RoundCount]
    beacon: NotRequired[Beacon]
    players: NotRequired[Players]
    status: CommitmentStatus
    used: NotRequired[int]
    """How many rounds of the book were used; omitted without a book."""
    audit_id: Union[str, None]
    """The record of the shuffle that used it, of a book of its last round, or the void record; null before there
    is one.
    """


class Beacon(TypedDict):
    """The round whose signature is the client seed; omitted without a beacon."""

    chain: Chain
    round: BeaconRound
    time: str
    """When it is published."""


class CommitmentList(TypedDict):
    commitments: list[CommitmentState]
    next: Union[str, None]
    """The value of `after` for the next page; null if this page was not full."""


class ShoeRequest(TypedDict):
    """The cards of the shoe, and how they are shuffled."""

    items: NotRequired[list[Item]]
    """Any JSON values, 1 to 4,096. The service stores them and returns them byte for byte."""
    items_salt: NotRequired[ItemsSalt]
    deck: NotRequired[DeckName]
    decks: NotRequired[Copies]
    parameters: NotRequired[DeckParameters]
    size: NotRequired[Count]
    """The cards are the integers from 0 to `size`-1."""
    algorithm: NotRequired[Algorithm]
    client_seed: NotRequired[ClientSeed]
    commitment_id: NotRequired[str]
    """The commitment to use, which must be for one shuffle of all cards, without `draw`, `hands` and `repeat`.
    Needs a `client_seed`, or the `beacon_signature` if it has a beacon, or `player_seeds` if it has players.
    Members that are omitted are taken from the commitment, except items, which must be sent again.
    """
    beacon_signature: NotRequired[BeaconSignature]
    player_seeds: NotRequired[PlayerSeeds]
    reference: NotRequired[Reference]
    unique_reference: NotRequired[UniqueReference]
    cut: NotRequired[CutCard]
    expires_in: NotRequired[int]
    """After how many seconds the shoe expires and nothing more is dealt; never if omitted. At most a year and a
    day.
    """


class AddRequest(TypedDict):
    cards: CardNames
    put: NotRequired[PutOnPile]


class ReturnRequest(TypedDict):
    cards: Union[CardNames, AllCards]
    """The cards to return, or `all` that are dealt or, for a pile, on it."""
    put: NotRequired[Literal['top', 'bottom']]
    """The end of the deck to put the cards at, in their order; the bottom if omitted."""


class ReshuffleRequest(TypedDict):
    cards: NotRequired[Literal['remaining', 'all']]
    """Shuffle the cards left in the deck, or all cards of the shoe; those left if omitted."""
    cut: NotRequired[CutCard]
    """As for a new shoe. If omitted, the cut card is put where it was before, or drawn again from the same range,
    which must be possible with the cards that are shuffled.
    """
    algorithm: NotRequired[Algorithm]
    client_seed: NotRequired[ClientSeed]


class PileShuffleRequest(TypedDict):
    algorithm: NotRequired[Algorithm]
    client_seed: NotRequired[ClientSeed]


class Shoe(TypedDict):
    """A shoe as its owner sees it."""

    audit_id: str
    """The id of the first record of the shoe. It is public."""
    log_index: Count
    """The index of that record in the log, from 0."""
    shoe_id: ShoeID
    version: ShoeVersion
    status: ShoeStatus
    algorithm: Algorithm
    size: Count
    """The number of cards, wherever they lie."""
    remaining: Remaining
    dealt: DealtCount
    piles: Piles
    cut: NotRequired[CutPosition]
    cut_reached: NotRequired[CutReached]
    expires: Expires
    commitment: Digest
    """The SHA-256 of the statement of the first order, including its seed."""
    root: ShoeRoot


class ShoeState(TypedDict):
    """A shoe as its owner sees it."""

    audit_id: str
    """The id of the first record of the shoe. It is public."""
    log_index: Count
    """The index of that record in the log, from 0."""
    shoe_id: ShoeID
    version: ShoeVersion
    status: ShoeStatus
    algorithm: Algorithm
    size: Count
    """The number of cards, wherever they lie."""
    remaining: Remaining
    dealt: DealtCount
    piles: Piles
    cut: NotRequired[CutPosition]
    cut_reached: NotRequired[CutReached]
    expires: Expires
    commitment: Digest
    """The SHA-256 of the statement of the first order, including its seed."""
    root: ShoeRoot
    changed_by: str
    """The id of the record that made this version."""


class ShoeChange(TypedDict):
    """A shoe after a change."""

    audit_id: str
    """The id of the record of the change."""
    log_index: LogIndex
    shoe_id: ShoeID
    version: ShoeVersion
    status: ShoeStatus
    remaining: Remaining
    dealt: DealtCount
    piles: Piles
    cut: NotRequired[CutPosition]
    cut_reached: NotRequired[CutReached]
    expires: Expires


class CardsMoved(TypedDict):
    """The moved cards, and the shoe after the change."""

    audit_id: str
    """The id of the record of the change."""
    log_index: LogIndex
    shoe_id: ShoeID
    version: ShoeVersion
    status: ShoeStatus
    remaining: Remaining
    dealt: DealtCount
    piles: Piles
    cut: NotRequired[CutPosition]
    cut_reached: NotRequired[CutReached]
    expires: Expires
    cards: ShoeCards


class CardsSealed(TypedDict):
    """A new sealed order, and the shoe after the change."""

    audit_id: str
    """The id of the record of the change."""
    log_index: LogIndex
    shoe_id: ShoeID
    version: ShoeVersion
    status: ShoeStatus
    remaining: Remaining
    dealt: DealtCount
    piles: Piles
    cut: NotRequired[CutPosition]
    cut_reached: NotRequired[CutReached]
    expires: Expires
    size: Count
    """How many cards were sealed."""
    algorithm: Algorithm
    commitment: Digest
    """The SHA-256 of the statement of the order, including its seed."""
    root: Digest
    """The root of the tree over the cards in their order."""


class LyingCards(TypedDict):
    shoe_id: ShoeID
    version: ShoeVersion
    cards: ShoeCards


class PileCards(TypedDict):
    shoe_id: ShoeID
    version: ShoeVersion
    pile: PileName
    cards: ShoeCards


class PileList(TypedDict):
    shoe_id: ShoeID
    version: ShoeVersion
    piles: Piles


class ShoeCard(TypedDict):
    """A card that was drawn. It has `code` and `instance` or, if the shoe is of items or a range, `item`."""

    card: int
    """The number of the card: its index in the input of the shoe. It is unique and never changes, and requests
    can name the card by it.
    """
    code: NotRequired[CardCode]
    instance: NotRequired[CardInstance]
    item: NotRequired[Item]
    """The unchanged item, or the number."""
    position: int
    """The position of the card in the order it was last sealed in, from 0."""
    sealed_by: str
    """The id of the record that has the root of that order."""
    salt: NotRequired[CardSalt]
    path: NotRequired[list[Digest]]
    """The Merkle path from the card to the root."""


class Pile(TypedDict):
    remaining: Count
    """How many cards are on it."""


class ShoeProof(TypedDict):
    """The proofs of all records of a shoe."""

    spec: Spec
    shoe: list[AuditProof]
    """Of each record, in order."""


class Audit(TypedDict):
    audit_id: str
    """The id of the record."""
    log_index: LogIndex
    record: Record
    revealed: bool
    """Whether the seed is public."""
    seed: HeldSeed


class AuditProof(TypedDict):
    """A record with everything needed to check it offline."""

    spec: Spec
    record: str
    """The text of the record, exactly as the log holds it."""
    seed: HeldSeed
    client_seed: ClientSeed
    """The client seed of the record; empty if it has none."""
    tlog_proof: str
    """The proof that the record is in the log, with the signed checkpoint, in the format of C2SP tlog-proof
    (https://c2sp.org/tlog-proof).
    """
    log_key: str
    """The verifier key of the log, as `GET /log/key` returns it."""
    commitment_proof: NotRequired[AuditProof]
    """The proof of the commitment that the record names; left out if it names none."""


class AuditList(TypedDict):
    reference: Reference
    audits: list[Audit]
    next: Union[int, None]
    """The value of `from` for the next page; null if this page was not full."""


class ShuffleRecord(TypedDict):
    """The record of a shuffle. Empty members are omitted."""

    id: str
    """The audit id."""
    time: Time
    kind: Literal['shuffle']
    spec: Spec
    algorithm: Algorithm
    size: Count
    """How many items were shuffled."""
    draw: Count
    """How many of them were drawn, from the start of the order."""
    repeat: int
    """The number of independent shuffles."""
    hands: NotRequired[HandSizes]
    input: Input
    items_digest: NotRequired[ItemsDigest]
    parameters: NotRequired[dict[str, int]]
    """All parameters of the deck type with their values, if it has any."""
    reference: NotRequired[Reference]
    client_seed: NotRequired[ClientSeed]
    reveal: NotRequired[RevealTime]
    """The seed was public from the start."""
    commitment_id: NotRequired[str]
    """The commitment that the shuffle used, if any. Both records have the same `commitment`, unless it is a book."""
    joined: NotRequired[JoinedSeeds]
    count: NotRequired[RoundCount]
    round: NotRequired[int]
    """The round of the book, from 1; omitted without one."""
    path: NotRequired[list[Digest]]
    """The hashes that lead from this `commitment` to the book's, as leaf `round` - 1 of `count`; omitted without a book."""
    commitment: Digest


class CommitmentRecord(TypedDict):
    """The record of a commitment, which fixes seed and statement of a later shuffle. It has the members of the
    statement as the record of the shuffle will have them. Empty members are omitted.
    """

    id: str
    """The commitment id."""
    time: Time
    kind: Literal['commitment']
    spec: Spec
    algorithm: Algorithm
    size: Count
    """How many items will be shuffled."""
    draw: Count
    """How many of them will be drawn, from the start of the order."""
    repeat: int
    """The number of independent shuffles."""
    hands: NotRequired[HandSizes]
    input: Input
    items_digest: NotRequired[ItemsDigest]
    parameters: NotRequired[dict[str, int]]
    """All parameters of the deck type with their values, if it has any."""
    reference: NotRequired[Reference]
    deadline: Deadline
    beacon: NotRequired[str]
    """The round of a beacon, such as `quicknet 1000`, whose signature is the client seed; omitted without one."""
    players: NotRequired[Players]
    count: NotRequired[RoundCount]
    commitment: Digest
    """The SHA-256 of the statement, including its seed; of a book, the root over those of its rounds."""


class VoidRecord(TypedDict):
    """The record that a commitment was not used before its deadline."""

    id: str
    """The audit id of this record."""
    time: Time
    kind: Literal['void']
    spec: Spec
    commitment_id: str
    """The commitment that is void."""
    count: NotRequired[RoundCount]
    round: NotRequired[int]
    """The first round of the book that was not used; omitted without one."""
    commitment: Digest
    """The commitment of that record."""


class RevealRecord(TypedDict):
    """The record that a seed became public."""

    id: str
    """The audit id of this record."""
    time: Time
    kind: Literal['reveal']
    spec: Spec
    audit_id: str
    """The record whose seed became public."""
    commitment: Digest
    """The commitment of that record."""


class ShoeRecord(TypedDict):
    """The first record of a shoe. Empty members are omitted."""

    id: str
    """The audit id."""
    time: Time
    kind: Literal['shoe']
    spec: Spec
    algorithm: Algorithm
    size: Count
    """How many cards the shoe has."""
    draw: Count
    """As many as `size`; 0 for a deck that was not shuffled."""
    repeat: Literal[1]
    input: Input
    items_digest: NotRequired[ItemsDigest]
    parameters: NotRequired[dict[str, int]]
    """All parameters of the deck type with their values, if it has any."""
    reference: NotRequired[Reference]
    client_seed: NotRequired[ClientSeed]
    commitment_id: NotRequired[str]
    """The commitment that the shoe used, if any. Both records have the same `commitment`."""
    joined: NotRequired[JoinedSeeds]
    cut: NotRequired[CutPosition]
    cut_range: NotRequired[CutRange]
    expires: NotRequired[Time]
    """Cards are dealt until this time."""
    root: NotRequired[Digest]
    """The root of the tree over the cards in their order; omitted for a deck that was not shuffled."""
    commitment: Digest


class CloseRecord(TypedDict):
    """The record that closes a shoe and makes its seeds public."""

    id: str
    """The audit id of this record."""
    time: Time
    spec: Spec
    audit_id: str
    """The first record of the shoe."""
    version: ChangedVersion
    expires: NotRequired[NewExpiry]
    commitment: OrderCommitment
    kind: Literal['close']


class ExpireRecord(TypedDict):
    """The record that a shoe expired, or that its owner ended it."""

    id: str
    """The audit id of this record."""
    time: Time
    spec: Spec
    audit_id: str
    """The first record of the shoe."""
    version: ChangedVersion
    expires: NotRequired[NewExpiry]
    commitment: OrderCommitment
    kind: Literal['expire']


class RevealRequest(TypedDict):
    seed: Seed


class Home(TypedDict):
    service: Literal['riffle']
    contract: str
    checkpoint: str


class Status(TypedDict):
    status: Literal['alive', 'ready']


class Problem(TypedDict):
    """A problem document (RFC 9457)."""

    type: Literal['about:blank', '/docs/operations/limits#one-address']
    """`about:blank` if the status is the type. The other one tells that the share of the address is full."""
    title: str
    """The status in words."""
    status: int
    detail: str
    """What is wrong and how to fix it."""
    errors: NotRequired[list[FieldError]]
    """The parts of the request that are wrong, if the error is about parts."""
    audit_id: NotRequired[str]
    """The record that causes the conflict, if there is one."""


class FieldError(TypedDict):
    """One part of the request, named by `pointer` or `parameter`."""

    pointer: NotRequired[str]
    """A JSON pointer (RFC 6901) into the body; empty for the whole body."""
    parameter: NotRequired[str]
    """The name of a query parameter."""
    detail: str
    """What is wrong and how to fix it."""


Item: TypeAlias = "Any"

Items: TypeAlias = "list[Item]"

ItemsSalt: TypeAlias = "str"

DeckName: TypeAlias = "str"

DeckParameters: TypeAlias = "dict[str, int]"

HandSizes: TypeAlias = "list[int]"

Hands: TypeAlias = "Union[HandSizes, HandsName]"

Repeat: TypeAlias = "int"

UniqueReference: TypeAlias = "bool"

HandsName: TypeAlias = "str"

RevealTime: TypeAlias = "Literal['now']"

Copies: TypeAlias = "int"

Count: TypeAlias = "int"

Algorithm: TypeAlias = "Literal['fisher-yates', 'durstenfeld', 'inside-out', 'strike-out', 'sattolo']"

ClientSeed: TypeAlias = "str"

Reference: TypeAlias = "str"

Digest: TypeAlias = "str"

Seed: TypeAlias = "str"

HeldSeed: TypeAlias = "Union[str, None]"

Chain: TypeAlias = "Literal['quicknet']"

BeaconRound: TypeAlias = "int"

BeaconSignature: TypeAlias = "str"

Players: TypeAlias = "dict[str, Digest]"

PlayerSeeds: TypeAlias = "dict[str, str]"

JoinedSeeds: TypeAlias = "str"

RoundCount: TypeAlias = "int"

CommitmentStatus: TypeAlias = "Literal['open', 'late', 'used', 'void']"

OpenStatement: TypeAlias = "str"

DrawRequest = TypedDict(
    "DrawRequest",
    {
        "count": NotRequired["CardCount"],
        "from": NotRequired["DrawnFrom"],
        "to": NotRequired["DrawnTo"],
        "put": NotRequired["PutOnPile"],
    },
)

PileDrawRequest = TypedDict(
    "PileDrawRequest",
    {
        "count": NotRequired["CardCount"],
        "cards": NotRequired["CardNames"],
        "from": NotRequired["DrawnFrom"],
        "to": NotRequired["DrawnTo"],
        "put": NotRequired["PutOnPile"],
    },
)

CloseRequest: TypeAlias = "dict[str, Any]"

CardCount: TypeAlias = "int"

DrawnFrom: TypeAlias = "Literal['top', 'bottom', 'random']"

DrawnTo: TypeAlias = "PileName"

PutOnPile: TypeAlias = "Literal['top', 'bottom']"

CutCard: TypeAlias = "Union[int, CutRange]"

CutRange: TypeAlias = "list[int]"

CutPosition: TypeAlias = "int"

CutReached: TypeAlias = "bool"

PileName: TypeAlias = "str"

AllCards: TypeAlias = "Literal['all']"

CardNames: TypeAlias = "list[Union[int, str]]"

ShoeCards: TypeAlias = "list[ShoeCard]"

OpenedCard: TypeAlias = "ShoeCard"

CardCode: TypeAlias = "str"

CardInstance: TypeAlias = "int"

CardSalt: TypeAlias = "Digest"

ShoeID: TypeAlias = "str"

ShoeVersion: TypeAlias = "int"

ShoeStatus: TypeAlias = "Literal['open', 'expired', 'closed']"

Remaining: TypeAlias = "Count"

DealtCount: TypeAlias = "Count"

Piles: TypeAlias = "dict[str, Pile]"

Expires: TypeAlias = "Union[str, None]"

ShoeRoot: TypeAlias = "Union[str, None]"

Record: TypeAlias = "Union[ShuffleRecord, CommitmentRecord, VoidRecord, RevealRecord, ShoeRecord, DrawRecord, AddRecord, ReturnRecord, ReshuffleRecord, CloseRecord, ExpireRecord]"

DrawRecord = TypedDict(
    "DrawRecord",
    {
        "id": Required["str"],
        "time": Required["Time"],
        "spec": Required["Spec"],
        "audit_id": Required["str"],
        "version": Required["ChangedVersion"],
        "expires": NotRequired["NewExpiry"],
        "commitment": Required["OrderCommitment"],
        "kind": Required["Literal['draw']"],
        "from": Required["str"],
        "taken": Required["Literal['top', 'bottom', 'random', 'cards']"],
        "cards": Required["SealedCards"],
        "to": Required["str"],
        "put": NotRequired["Literal['top', 'bottom']"],
        "algorithm": NotRequired["Algorithm"],
        "size": NotRequired["Count"],
        "draw": NotRequired["Count"],
        "repeat": NotRequired["Literal[1]"],
        "input": NotRequired["Literal['range']"],
        "reference": NotRequired["Reference"],
    },
)

AddRecord = TypedDict(
    "AddRecord",
    {
        "id": Required["str"],
        "time": Required["Time"],
        "spec": Required["Spec"],
        "audit_id": Required["str"],
        "version": Required["ChangedVersion"],
        "expires": NotRequired["NewExpiry"],
        "commitment": Required["OrderCommitment"],
        "kind": Required["Literal['add']"],
        "from": Required["Literal['dealt', 'out']"],
        "taken": Required["Literal['cards']"],
        "cards": NotRequired["SealedCards"],
        "to": Required["str"],
        "put": Required["Literal['top', 'bottom']"],
    },
)

ReturnRecord = TypedDict(
    "ReturnRecord",
    {
        "id": Required["str"],
        "time": Required["Time"],
        "spec": Required["Spec"],
        "audit_id": Required["str"],
        "version": Required["ChangedVersion"],
        "expires": NotRequired["NewExpiry"],
        "commitment": Required["OrderCommitment"],
        "kind": Required["Literal['return']"],
        "from": Required["str"],
        "taken": Required["Literal['cards']"],
        "cards": Required["SealedCards"],
        "to": Required["Literal['shoe']"],
        "put": Required["Literal['top', 'bottom']"],
    },
)

ReshuffleRecord = TypedDict(
    "ReshuffleRecord",
    {
        "id": Required["str"],
        "time": Required["Time"],
        "spec": Required["Spec"],
        "audit_id": Required["str"],
        "version": Required["ChangedVersion"],
        "expires": NotRequired["NewExpiry"],
        "commitment": Required["OrderCommitment"],
        "kind": Required["Literal['reshuffle']"],
        "from": Required["str"],
        "algorithm": Required["Algorithm"],
        "size": Required["Count"],
        "draw": Required["Count"],
        "repeat": Required["Literal[1]"],
        "input": Required["Literal['range']"],
        "reference": NotRequired["Reference"],
        "client_seed": NotRequired["ClientSeed"],
        "cut": NotRequired["CutPosition"],
        "cut_range": NotRequired["CutRange"],
        "root": Required["Digest"],
    },
)

ChangedVersion: TypeAlias = "int"

SealedCards: TypeAlias = "str"

ItemsDigest: TypeAlias = "Literal['salted/1']"

Input: TypeAlias = "str"

Spec: TypeAlias = "Literal['riffle/1']"

Time: TypeAlias = "str"

LogIndex: TypeAlias = "Count"

OrderCommitment: TypeAlias = "Digest"

NewExpiry: TypeAlias = "Time"

DrawCount: TypeAlias = "Count"

CommitmentDigest: TypeAlias = "Digest"

Deadline: TypeAlias = "Time"
