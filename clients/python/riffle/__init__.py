"""A client of the Riffle shuffle service. Start with :class:`Riffle`, or :class:`AsyncRiffle` for asyncio.

Each operation of the service is a method, whose answer is a typed dictionary, or which raises a :class:`RiffleError`
if the service refuses, and an :class:`UnreachableError` if it does not answer.
:func:`verify` checks proofs without the service; it takes the package cryptography, which ``riffle[verify]`` installs.
"""

from .client import AsyncRiffle, Attempt, Outcome, Riffle, RiffleError, UnreachableError
from .games import Deal, deal, draw, pick, verify_deal
from .proofs import Step, Verdict, verify

__all__ = [
    "AsyncRiffle", "Attempt", "Deal", "Outcome", "Riffle", "RiffleError", "Step", "UnreachableError", "Verdict", "deal", "draw", "pick",
    "verify", "verify_deal",
]
