"""What games ask for most, in the words of games. Each helper is one request, and a deal of a game one more for its names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from . import types as t
from .client import Riffle
from .proofs import Verdict, verify


@dataclass(frozen=True)
class Deal:
    """The cards of a deal by name. ``answer`` shows every card, so that it stays in the backend."""

    players: list[list[str]]
    parts: dict[str, list[str]]
    """What the game deals after the hands, such as burn, flop, turn and river, or dealer, by name."""
    board: list[str]
    """The flop, the turn and the river, as far as there are any."""
    rest: list[str]
    answer: t.ShuffleResult


def deal(riffle: Riffle, deck: str, game: str, players: int | None = None, *, key: str | None = None, **request: Any) -> Deal:
    """Deals a game that the deck has, such as holdem for 6 players; ``list_decks`` lists them.

    ``request`` has other members of a shuffle, such as ``reference``; ``key`` is the idempotency key.
    """
    presets = [p for d in riffle.list_decks()["decks"] if d["type"] == deck for p in d.get("hands", []) if p["name"] == game]
    parameter = presets[0].get("players_from") if presets else None  # of the deck, for the number of players
    if players is not None and parameter:
        request["parameters"] = {parameter: players}
    hands = game if players is None or parameter else f"{game}:{players}"
    answer = riffle.shuffle(cast(t.ShuffleRequest, {**request, "deck": deck, "hands": hands}), idempotency_key=key)
    dealt, names = cast("list[list[str]]", answer.get("hands", [])), [part["name"] for p in presets for part in p.get("then", [])]
    seats, parts = len(dealt) - len(names), dict[str, list[str]]()
    for name, cards in zip(names, dealt[seats:]):
        parts.setdefault(name, []).extend(cards)
    board = [card for name in ("flop", "turn", "river") for card in parts.get(name, [])]
    return Deal(dealt[:seats], parts, board, cast("list[str]", answer.get("rest", [])), answer)


def draw(riffle: Riffle, shoe_id: str, count: int = 1) -> list[t.ShoeCard]:
    """Draws cards from the top of a shoe."""
    return riffle.draw_cards(shoe_id, {"count": count})["cards"]


def pick(riffle: Riffle, items: list[Any], count: int = 1, **request: Any) -> tuple[list[Any], t.ShuffleResult]:
    """Picks winners of a list, and returns them with the answer."""
    answer = riffle.shuffle(cast(t.ShuffleRequest, {**request, "items": items, "draw": count}))
    return answer.get("items", []), answer


def verify_deal(riffle: Riffle, dealt: Deal, key: str) -> Verdict:
    """Verifies a deal whose seed is public against the key of the log, which players have from elsewhere."""
    return verify(riffle.prove_audit(dealt.answer["audit_id"]), key=key, answer=dealt.answer)
