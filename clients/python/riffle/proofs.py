"""Verifies proofs with verifier.py, which is verifiers/riffle.py in a clone."""

from __future__ import annotations

import importlib
import json
from collections.abc import Sequence
from typing import Any, Literal, TypedDict, cast

from .types import AuditProof


class Message(TypedDict):
    """A sentence as data. Its text is in the table of messages of the verifiers."""

    id: str
    values: dict[str, Any]


class Step(TypedDict):
    """One step of a check. ``ok`` is None for a step that was not checked."""

    name: str
    ok: bool | None
    text: str
    message: Message


class Verdict(TypedDict):
    """``verified`` if everything that was given holds, ``false`` if something is false, else ``unchecked``."""

    verdict: Literal["verified", "false", "unchecked"]
    headline: str
    """The verdict in a sentence."""
    notes: list[str]
    """What else there is to say."""
    messages: list[Message]
    """The headline, then the notes."""
    steps: list[Step]


def verify(
    files: str | AuditProof | Sequence[str | AuditProof],
    *,
    key: str | None = None,
    items: object = None,
    items_salt: str | None = None,
    order: object = None,
    hand: object = None,
    hand_of: str | None = None,
    any_order: bool = False,
) -> Verdict:
    """Verifies proof files without the service, as specified in docs/spec.md and docs/shoes.md.

    ``files`` are proof files of records, of commitments that they used, and of whole shoes. ``key`` is the public key of the
    log, from another source than the files; ``items`` are the shuffled items, or a deck's codes; ``order`` is the
    answer, whole or as a list, or the hand of a deal that ``hand_of`` names (a number from 1, or ``rest``), sorted only with
    ``any_order`` unless it is by itself; ``hand`` is cards that were drawn from a shoe with their proofs. Missing files are not
    checked. All of them are texts, or values that the client returned.
    """
    try:
        verifier: Any = importlib.import_module(".verifier", __package__)
    except ModuleNotFoundError as missing:
        if missing.name == f"{__package__}.verifier":
            raise ModuleNotFoundError("verify is in the installed package only: pip install './clients/python[verify]'") from None
        raise ModuleNotFoundError("verify takes the package cryptography: pip install 'riffle[verify]'", name=missing.name) from None
    given = {"key": key, "items": _text(items), "items_salt": items_salt, "order": _text(order), "hand": _text(hand),
             "hand_of": hand_of, "any_order": any_order}
    texts = [_text(file) for file in ([files] if isinstance(files, (str, dict)) else files)]
    return cast(Verdict, verifier.verify(texts, **given))


def _text(value: object) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value)
