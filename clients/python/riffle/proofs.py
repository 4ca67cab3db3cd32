"""Verifies proofs with verifiers/riffle.py, of which this package has a copy, verifier.py."""

from __future__ import annotations

import importlib
import json
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Step:
    """One step of a check. ``ok`` is None for a step that could not be checked."""

    step: str
    ok: bool | None
    detail: str


@dataclass(frozen=True)
class Verdict:
    """``unchecked`` means that nothing is wrong and something could not be checked."""

    verdict: Literal["verified", "failed", "unchecked"]
    steps: list[Step]


def verify(
    proof: object,
    *,
    key: str | None = None,
    items: object = None,
    salt: str | None = None,
    order: object = None,
    commitment: object = None,
) -> Verdict:
    """Verifies a proof file as specified in docs/spec.md, without the service.

    ``key`` is the public key of the log, from another source than the proof; ``items`` are what was shuffled, and of a deck all
    codes; ``order`` is what was answered, whole or as a list; ``commitment`` is the proof file of the commitment. What is
    missing is not checked. Proofs, items and orders are texts, or values as the client returns them.
    """
    try:
        verifier = importlib.import_module(".verifier", __package__)
    except ModuleNotFoundError as missing:
        raise ModuleNotFoundError("verify takes the package cryptography: pip install cryptography") from missing
    result: Any = verifier.verify(
        _text(proof), key=key, items=_text(items), order=_text(order), commitment=_text(commitment), salt=salt
    )
    return Verdict(result.verdict, [Step(*step) for step in result.steps])


def _text(value: object) -> str | None:
    """Returns a text as it is and any other value as JSON, laid out as the service lays out proof files."""
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n"
