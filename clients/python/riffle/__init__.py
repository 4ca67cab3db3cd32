"""A client of the Riffle shuffle service. Start with :class:`Riffle`, or :class:`AsyncRiffle` for asyncio.

Each operation of the service is a method, whose answer is a typed dictionary, or which raises a :class:`RiffleError`.
:func:`verify` checks proofs without the service; it takes the package cryptography.
"""

from .client import AsyncRiffle, Riffle, RiffleError
from .games import Deal, deal, draw, pick, verify_deal
from .proofs import Step, Verdict, verify

__all__ = [
    "AsyncRiffle", "Deal", "Riffle", "RiffleError", "Step", "Verdict", "deal", "draw", "pick", "verify", "verify_deal",
]
