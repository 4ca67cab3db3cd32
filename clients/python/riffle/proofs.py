"""Verifies proofs with verifier.py, which is verifiers/reference.py in a clone."""

from __future__ import annotations

import importlib
import json
from typing import Any, Literal, TypedDict, cast

from .types import AuditProof


class Step(TypedDict):
    """One step of a check. ``ok`` is None for a step that was not checked."""

    name: str
    ok: bool | None
    text: str


class Verdict(TypedDict):
    """``verified`` if everything that was given holds, ``false`` if something is false, else ``unchecked``."""

    verdict: Literal["verified", "false", "unchecked"]
    headline: str
    """The verdict in a sentence."""
    steps: list[Step]


def verify(
    proof: str | AuditProof,
    *,
    key: str | None = None,
    answer: object = None,
    order: object = None,
    hand: object = None,
    hand_of: str | None = None,
    items: object = None,
    salt: str | None = None,
) -> Verdict:
    """Verifies the proof of a record without the service, as specified in docs/spec.md.

    ``key`` is the public key of the log, from another source than the proof. At most one of the next three may be given: ``answer`` is
    the whole answer, ``order`` everything that was dealt, and ``hand`` one hand of the deal, the one that ``hand_of`` names (a number
    from 1, or ``rest``) or any. ``items`` are the shuffled items, or a deck's codes. What is missing is not checked. All of them are
    texts, or values that the client returned. Shoes, beacons and witnesses are unchecked: for these there is ``riffle verify``.
    """
    try:
        verifier: Any = importlib.import_module(".verifier", __package__)
    except ModuleNotFoundError as missing:
        if missing.name == f"{__package__}.verifier":
            raise ModuleNotFoundError("verify is in the installed package only: pip install './clients/python[verify]'") from None
        raise ModuleNotFoundError("verify takes the package cryptography: pip install 'riffle[verify]'", name=missing.name) from None
    given = {"key": key, "answer": _text(answer), "order": _text(order), "hand": _text(hand), "hand_of": hand_of, "items": _text(items),
             "salt": salt}
    return cast(Verdict, verifier.verify(_text(proof), **given))


def _text(value: object) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value)
