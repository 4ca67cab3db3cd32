"""A method for each operation of the service.

Generated from openapi.yaml by clients/python/generate.py. Do not edit.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any
from urllib.parse import quote

from . import types as t


def _path(value: str) -> str:
    return quote(value, safe="")


class Operations:
    """The operations. Each waits for its answer."""

    def _call(self, operation: str, method: str, path: str, **parts: Any) -> Any:
        raise NotImplementedError

    def shuffle(self, request: t.ShuffleRequest, *, idempotency_key: str | None = None) -> t.ShuffleResult:
        """Shuffle a deck, a list of items or a range."""
        answer: t.ShuffleResult = self._call("shuffle", "POST", "/shuffle", body=request, headers={"Idempotency-Key": idempotency_key})
        return answer

    def get_deck_picture(self, type: str) -> str:
        """Get a picture of a whole deck."""
        answer: str = self._call("get_deck_picture", "GET", f"/cards/{_path(type)}")
        return answer

    def get_card_picture(self, type: str, file: str) -> str:
        """Get the picture of a card."""
        answer: str = self._call("get_card_picture", "GET", f"/cards/{_path(type)}/{_path(file)}")
        return answer

    def create_commitment(self, request: t.CommitmentRequest, *, idempotency_key: str | None = None) -> t.Commitment:
        """Commit to a shuffle."""
        answer: t.Commitment = self._call("create_commitment", "POST", "/commitments", body=request, headers={"Idempotency-Key": idempotency_key})
        return answer

    def list_commitments(self, *, status: t.CommitmentStatus | None = None, after: str | None = None, limit: int | None = None) -> t.CommitmentList:
        """List commitments."""
        answer: t.CommitmentList = self._call("list_commitments", "GET", "/commitments", query={"status": status, "after": after, "limit": limit})
        return answer

    def all_commitments(self, *, status: t.CommitmentStatus | None = None, after: str | None = None, limit: int | None = None) -> Iterator[t.CommitmentState]:
        """List commitments, page after page, each of at most `limit`."""
        while True:
            page = self.list_commitments(status=status, after=after, limit=limit)
            for each in page["commitments"]:
                yield each
            if page["next"] is None:
                return
            after = page["next"]

    def get_commitment(self, id: str) -> t.CommitmentState:
        """Get a commitment."""
        answer: t.CommitmentState = self._call("get_commitment", "GET", f"/commitments/{_path(id)}")
        return answer

    def list_decks(self) -> t.DeckList:
        """List the deck types."""
        answer: t.DeckList = self._call("list_decks", "GET", "/decks")
        return answer

    def deal_deck(self, type: str, *, idempotency_key: str | None = None, decks: t.Copies | None = None, draw: t.Count | None = None, hands: str | None = None, algorithm: t.Algorithm | None = None, client_seed: t.ClientSeed | None = None, reference: t.Reference | None = None, details: bool | None = None, parameters: t.DeckParameters | None = None) -> t.ShuffleResult:
        """Shuffle a deck."""
        answer: t.ShuffleResult = self._call("deal_deck", "GET", f"/decks/{_path(type)}", query={"decks": decks, "draw": draw, "hands": hands, "algorithm": algorithm, "client_seed": client_seed, "reference": reference, "details": details, **(parameters or {})}, headers={"Idempotency-Key": idempotency_key})
        return answer

    def list_cards(self, type: str, *, code: str | None = None, parameters: t.DeckParameters | None = None) -> t.CardList:
        """List the cards of a deck."""
        answer: t.CardList = self._call("list_cards", "GET", f"/decks/{_path(type)}/cards", query={"code": code, **(parameters or {})})
        return answer

    def create_shoe(self, request: t.ShoeRequest, *, idempotency_key: str | None = None) -> t.Shoe:
        """Create a shoe."""
        answer: t.Shoe = self._call("create_shoe", "POST", "/shoes", body=request, headers={"Idempotency-Key": idempotency_key})
        return answer

    def get_shoe(self, id: str) -> t.ShoeState:
        """Get a shoe."""
        answer: t.ShoeState = self._call("get_shoe", "GET", f"/shoes/{_path(id)}")
        return answer

    def end_shoe(self, id: str, *, idempotency_key: str | None = None, if_match: str | None = None) -> t.ShoeChange:
        """End a shoe."""
        answer: t.ShoeChange = self._call("end_shoe", "DELETE", f"/shoes/{_path(id)}", headers={"Idempotency-Key": idempotency_key, "If-Match": if_match})
        return answer

    def draw_cards(self, id: str, request: t.DrawRequest, *, idempotency_key: str | None = None, if_match: str | None = None, proof: bool | None = None) -> t.CardsMoved:
        """Draw cards."""
        answer: t.CardsMoved = self._call("draw_cards", "POST", f"/shoes/{_path(id)}/draw", body=request, query={"proof": proof}, headers={"Idempotency-Key": idempotency_key, "If-Match": if_match})
        return answer

    def return_cards(self, id: str, request: t.ReturnRequest, *, idempotency_key: str | None = None, if_match: str | None = None) -> t.CardsMoved:
        """Return cards to the deck."""
        answer: t.CardsMoved = self._call("return_cards", "POST", f"/shoes/{_path(id)}/return", body=request, headers={"Idempotency-Key": idempotency_key, "If-Match": if_match})
        return answer

    def reshuffle_shoe(self, id: str, request: t.ReshuffleRequest, *, idempotency_key: str | None = None, if_match: str | None = None) -> t.CardsSealed:
        """Shuffle the deck again."""
        answer: t.CardsSealed = self._call("reshuffle_shoe", "POST", f"/shoes/{_path(id)}/reshuffle", body=request, headers={"Idempotency-Key": idempotency_key, "If-Match": if_match})
        return answer

    def close_shoe(self, id: str, request: t.CloseRequest, *, idempotency_key: str | None = None, if_match: str | None = None) -> t.ShoeChange:
        """Close a shoe."""
        answer: t.ShoeChange = self._call("close_shoe", "POST", f"/shoes/{_path(id)}/close", body=request, headers={"Idempotency-Key": idempotency_key, "If-Match": if_match})
        return answer

    def list_dealt(self, id: str, *, proof: bool | None = None) -> t.LyingCards:
        """List the dealt cards."""
        answer: t.LyingCards = self._call("list_dealt", "GET", f"/shoes/{_path(id)}/dealt", query={"proof": proof})
        return answer

    def list_piles(self, id: str) -> t.PileList:
        """List the piles."""
        answer: t.PileList = self._call("list_piles", "GET", f"/shoes/{_path(id)}/piles")
        return answer

    def get_pile(self, id: str, pile: str, *, proof: bool | None = None) -> t.PileCards:
        """List the cards of a pile."""
        answer: t.PileCards = self._call("get_pile", "GET", f"/shoes/{_path(id)}/piles/{_path(pile)}", query={"proof": proof})
        return answer

    def add_to_pile(self, id: str, pile: str, request: t.AddRequest, *, idempotency_key: str | None = None, if_match: str | None = None) -> t.CardsMoved:
        """Add cards to a pile."""
        answer: t.CardsMoved = self._call("add_to_pile", "POST", f"/shoes/{_path(id)}/piles/{_path(pile)}/add", body=request, headers={"Idempotency-Key": idempotency_key, "If-Match": if_match})
        return answer

    def draw_from_pile(self, id: str, pile: str, request: t.PileDrawRequest, *, idempotency_key: str | None = None, if_match: str | None = None, proof: bool | None = None) -> t.CardsMoved:
        """Draw cards from a pile."""
        answer: t.CardsMoved = self._call("draw_from_pile", "POST", f"/shoes/{_path(id)}/piles/{_path(pile)}/draw", body=request, query={"proof": proof}, headers={"Idempotency-Key": idempotency_key, "If-Match": if_match})
        return answer

    def shuffle_pile(self, id: str, pile: str, request: t.PileShuffleRequest, *, idempotency_key: str | None = None, if_match: str | None = None) -> t.CardsSealed:
        """Shuffle a pile."""
        answer: t.CardsSealed = self._call("shuffle_pile", "POST", f"/shoes/{_path(id)}/piles/{_path(pile)}/shuffle", body=request, headers={"Idempotency-Key": idempotency_key, "If-Match": if_match})
        return answer

    def return_from_pile(self, id: str, pile: str, request: t.ReturnRequest, *, idempotency_key: str | None = None, if_match: str | None = None) -> t.CardsMoved:
        """Return cards of a pile to the deck."""
        answer: t.CardsMoved = self._call("return_from_pile", "POST", f"/shoes/{_path(id)}/piles/{_path(pile)}/return", body=request, headers={"Idempotency-Key": idempotency_key, "If-Match": if_match})
        return answer

    def prove_card(self, id: str, position: str, *, sealed_by: str | None = None) -> t.OpenedCard:
        """Prove a card."""
        answer: t.OpenedCard = self._call("prove_card", "GET", f"/shoes/{_path(id)}/cards/{_path(position)}/proof", query={"sealed_by": sealed_by})
        return answer

    def prove_shoe(self, id: str, *, witnessed: bool | None = None) -> t.ShoeProof:
        """Get the proof of a shoe."""
        answer: t.ShoeProof = self._call("prove_shoe", "GET", f"/shoes/{_path(id)}/proof", query={"witnessed": witnessed})
        return answer

    def list_audits(self, *, reference: t.Reference, from_: t.Count | None = None, limit: int | None = None) -> t.AuditList:
        """List the records of a game."""
        answer: t.AuditList = self._call("list_audits", "GET", "/audits", query={"reference": reference, "from": from_, "limit": limit})
        return answer

    def all_audits(self, *, reference: t.Reference, from_: t.Count | None = None, limit: int | None = None) -> Iterator[t.Audit]:
        """List the records of a game, page after page, each of at most `limit`."""
        while True:
            page = self.list_audits(reference=reference, from_=from_, limit=limit)
            for each in page["audits"]:
                yield each
            if page["next"] is None:
                return
            from_ = page["next"]

    def get_audit(self, id: str) -> t.Audit:
        """Get a record."""
        answer: t.Audit = self._call("get_audit", "GET", f"/audits/{_path(id)}")
        return answer

    def prove_audit(self, id: str, *, witnessed: bool | None = None) -> t.AuditProof:
        """Get the proof of a record."""
        answer: t.AuditProof = self._call("prove_audit", "GET", f"/audits/{_path(id)}/proof", query={"witnessed": witnessed})
        return answer

    def get_deal_picture(self, id: str) -> bytes:
        """Get a picture of a deal."""
        answer: bytes = self._call("get_deal_picture", "GET", f"/audits/{_path(id)}/picture.png")
        return answer

    def reveal_audit(self, id: str, request: t.RevealRequest, *, idempotency_key: str | None = None) -> t.Audit:
        """Reveal a seed."""
        answer: t.Audit = self._call("reveal_audit", "POST", f"/audits/{_path(id)}/reveal", body=request, headers={"Idempotency-Key": idempotency_key})
        return answer

    def get_checkpoint(self) -> str:
        """Get the checkpoint of the log."""
        answer: str = self._call("get_checkpoint", "GET", "/log/checkpoint")
        return answer

    def get_tile(self, tile: str) -> bytes:
        """Get a tile of the log."""
        answer: bytes = self._call("get_tile", "GET", f"/log/tile/{_path(tile)}")
        return answer

    def get_log_key(self) -> str:
        """Get the public key of the log."""
        answer: str = self._call("get_log_key", "GET", "/log/key")
        return answer

    def home(self) -> t.Home:
        """Get what the service is."""
        answer: t.Home = self._call("home", "GET", "/")
        return answer

    def healthz(self) -> t.Status:
        """Check that the process is alive."""
        answer: t.Status = self._call("healthz", "GET", "/healthz")
        return answer

    def readyz(self) -> t.Status:
        """Check that the service accepts traffic."""
        answer: t.Status = self._call("readyz", "GET", "/readyz")
        return answer

    def metrics(self, *, name: list[str] | None = None) -> str:
        """Get metrics for Prometheus."""
        answer: str = self._call("metrics", "GET", "/metrics", query={"name[]": name})
        return answer

    def contract(self) -> str:
        """Get this contract."""
        answer: str = self._call("contract", "GET", "/openapi.yaml")
        return answer


class AsyncOperations:
    """The operations for asyncio."""

    async def _call(self, operation: str, method: str, path: str, **parts: Any) -> Any:
        raise NotImplementedError

    async def shuffle(self, request: t.ShuffleRequest, *, idempotency_key: str | None = None) -> t.ShuffleResult:
        """Shuffle a deck, a list of items or a range."""
        answer: t.ShuffleResult = await self._call("shuffle", "POST", "/shuffle", body=request, headers={"Idempotency-Key": idempotency_key})
        return answer

    async def get_deck_picture(self, type: str) -> str:
        """Get a picture of a whole deck."""
        answer: str = await self._call("get_deck_picture", "GET", f"/cards/{_path(type)}")
        return answer

    async def get_card_picture(self, type: str, file: str) -> str:
        """Get the picture of a card."""
        answer: str = await self._call("get_card_picture", "GET", f"/cards/{_path(type)}/{_path(file)}")
        return answer

    async def create_commitment(self, request: t.CommitmentRequest, *, idempotency_key: str | None = None) -> t.Commitment:
        """Commit to a shuffle."""
        answer: t.Commitment = await self._call("create_commitment", "POST", "/commitments", body=request, headers={"Idempotency-Key": idempotency_key})
        return answer

    async def list_commitments(self, *, status: t.CommitmentStatus | None = None, after: str | None = None, limit: int | None = None) -> t.CommitmentList:
        """List commitments."""
        answer: t.CommitmentList = await self._call("list_commitments", "GET", "/commitments", query={"status": status, "after": after, "limit": limit})
        return answer

    async def all_commitments(self, *, status: t.CommitmentStatus | None = None, after: str | None = None, limit: int | None = None) -> AsyncIterator[t.CommitmentState]:
        """List commitments, page after page, each of at most `limit`."""
        while True:
            page = await self.list_commitments(status=status, after=after, limit=limit)
            for each in page["commitments"]:
                yield each
            if page["next"] is None:
                return
            after = page["next"]

    async def get_commitment(self, id: str) -> t.CommitmentState:
        """Get a commitment."""
        answer: t.CommitmentState = await self._call("get_commitment", "GET", f"/commitments/{_path(id)}")
        return answer

    async def list_decks(self) -> t.DeckList:
        """List the deck types."""
        answer: t.DeckList = await self._call("list_decks", "GET", "/decks")
        return answer

    async def deal_deck(self, type: str, *, idempotency_key: str | None = None, decks: t.Copies | None = None, draw: t.Count | None = None, hands: str | None = None, algorithm: t.Algorithm | None = None, client_seed: t.ClientSeed | None = None, reference: t.Reference | None = None, details: bool | None = None, parameters: t.DeckParameters | None = None) -> t.ShuffleResult:
        """Shuffle a deck."""
        answer: t.ShuffleResult = await self._call("deal_deck", "GET", f"/decks/{_path(type)}", query={"decks": decks, "draw": draw, "hands": hands, "algorithm": algorithm, "client_seed": client_seed, "reference": reference, "details": details, **(parameters or {})}, headers={"Idempotency-Key": idempotency_key})
        return answer

    async def list_cards(self, type: str, *, code: str | None = None, parameters: t.DeckParameters | None = None) -> t.CardList:
        """List the cards of a deck."""
        answer: t.CardList = await self._call("list_cards", "GET", f"/decks/{_path(type)}/cards", query={"code": code, **(parameters or {})})
        return answer

    async def create_shoe(self, request: t.ShoeRequest, *, idempotency_key: str | None = None) -> t.Shoe:
        """Create a shoe."""
        answer: t.Shoe = await self._call("create_shoe", "POST", "/shoes", body=request, headers={"Idempotency-Key": idempotency_key})
        return answer

    async def get_shoe(self, id: str) -> t.ShoeState:
        """Get a shoe."""
        answer: t.ShoeState = await self._call("get_shoe", "GET", f"/shoes/{_path(id)}")
        return answer

    async def end_shoe(self, id: str, *, idempotency_key: str | None = None, if_match: str | None = None) -> t.ShoeChange:
        """End a shoe."""
        answer: t.ShoeChange = await self._call("end_shoe", "DELETE", f"/shoes/{_path(id)}", headers={"Idempotency-Key": idempotency_key, "If-Match": if_match})
        return answer

    async def draw_cards(self, id: str, request: t.DrawRequest, *, idempotency_key: str | None = None, if_match: str | None = None, proof: bool | None = None) -> t.CardsMoved:
        """Draw cards."""
        answer: t.CardsMoved = await self._call("draw_cards", "POST", f"/shoes/{_path(id)}/draw", body=request, query={"proof": proof}, headers={"Idempotency-Key": idempotency_key, "If-Match": if_match})
        return answer

    async def return_cards(self, id: str, request: t.ReturnRequest, *, idempotency_key: str | None = None, if_match: str | None = None) -> t.CardsMoved:
        """Return cards to the deck."""
        answer: t.CardsMoved = await self._call("return_cards", "POST", f"/shoes/{_path(id)}/return", body=request, headers={"Idempotency-Key": idempotency_key, "If-Match": if_match})
        return answer

    async def reshuffle_shoe(self, id: str, request: t.ReshuffleRequest, *, idempotency_key: str | None = None, if_match: str | None = None) -> t.CardsSealed:
        """Shuffle the deck again."""
        answer: t.CardsSealed = await self._call("reshuffle_shoe", "POST", f"/shoes/{_path(id)}/reshuffle", body=request, headers={"Idempotency-Key": idempotency_key, "If-Match": if_match})
        return answer

    async def close_shoe(self, id: str, request: t.CloseRequest, *, idempotency_key: str | None = None, if_match: str | None = None) -> t.ShoeChange:
        """Close a shoe."""
        answer: t.ShoeChange = await self._call("close_shoe", "POST", f"/shoes/{_path(id)}/close", body=request, headers={"Idempotency-Key": idempotency_key, "If-Match": if_match})
        return answer

    async def list_dealt(self, id: str, *, proof: bool | None = None) -> t.LyingCards:
        """List the dealt cards."""
        answer: t.LyingCards = await self._call("list_dealt", "GET", f"/shoes/{_path(id)}/dealt", query={"proof": proof})
        return answer

    async def list_piles(self, id: str) -> t.PileList:
        """List the piles."""
        answer: t.PileList = await self._call("list_piles", "GET", f"/shoes/{_path(id)}/piles")
        return answer

    async def get_pile(self, id: str, pile: str, *, proof: bool | None = None) -> t.PileCards:
        """List the cards of a pile."""
        answer: t.PileCards = await self._call("get_pile", "GET", f"/shoes/{_path(id)}/piles/{_path(pile)}", query={"proof": proof})
        return answer

    async def add_to_pile(self, id: str, pile: str, request: t.AddRequest, *, idempotency_key: str | None = None, if_match: str | None = None) -> t.CardsMoved:
        """Add cards to a pile."""
        answer: t.CardsMoved = await self._call("add_to_pile", "POST", f"/shoes/{_path(id)}/piles/{_path(pile)}/add", body=request, headers={"Idempotency-Key": idempotency_key, "If-Match": if_match})
        return answer

    async def draw_from_pile(self, id: str, pile: str, request: t.PileDrawRequest, *, idempotency_key: str | None = None, if_match: str | None = None, proof: bool | None = None) -> t.CardsMoved:
        """Draw cards from a pile."""
        answer: t.CardsMoved = await self._call("draw_from_pile", "POST", f"/shoes/{_path(id)}/piles/{_path(pile)}/draw", body=request, query={"proof": proof}, headers={"Idempotency-Key": idempotency_key, "If-Match": if_match})
        return answer

    async def shuffle_pile(self, id: str, pile: str, request: t.PileShuffleRequest, *, idempotency_key: str | None = None, if_match: str | None = None) -> t.CardsSealed:
        """Shuffle a pile."""
        answer: t.CardsSealed = await self._call("shuffle_pile", "POST", f"/shoes/{_path(id)}/piles/{_path(pile)}/shuffle", body=request, headers={"Idempotency-Key": idempotency_key, "If-Match": if_match})
        return answer

    async def return_from_pile(self, id: str, pile: str, request: t.ReturnRequest, *, idempotency_key: str | None = None, if_match: str | None = None) -> t.CardsMoved:
        """Return cards of a pile to the deck."""
        answer: t.CardsMoved = await self._call("return_from_pile", "POST", f"/shoes/{_path(id)}/piles/{_path(pile)}/return", body=request, headers={"Idempotency-Key": idempotency_key, "If-Match": if_match})
        return answer

    async def prove_card(self, id: str, position: str, *, sealed_by: str | None = None) -> t.OpenedCard:
        """Prove a card."""
        answer: t.OpenedCard = await self._call("prove_card", "GET", f"/shoes/{_path(id)}/cards/{_path(position)}/proof", query={"sealed_by": sealed_by})
        return answer

    async def prove_shoe(self, id: str, *, witnessed: bool | None = None) -> t.ShoeProof:
        """Get the proof of a shoe."""
        answer: t.ShoeProof = await self._call("prove_shoe", "GET", f"/shoes/{_path(id)}/proof", query={"witnessed": witnessed})
        return answer

    async def list_audits(self, *, reference: t.Reference, from_: t.Count | None = None, limit: int | None = None) -> t.AuditList:
        """List the records of a game."""
        answer: t.AuditList = await self._call("list_audits", "GET", "/audits", query={"reference": reference, "from": from_, "limit": limit})
        return answer

    async def all_audits(self, *, reference: t.Reference, from_: t.Count | None = None, limit: int | None = None) -> AsyncIterator[t.Audit]:
        """List the records of a game, page after page, each of at most `limit`."""
        while True:
            page = await self.list_audits(reference=reference, from_=from_, limit=limit)
            for each in page["audits"]:
                yield each
            if page["next"] is None:
                return
            from_ = page["next"]

    async def get_audit(self, id: str) -> t.Audit:
        """Get a record."""
        answer: t.Audit = await self._call("get_audit", "GET", f"/audits/{_path(id)}")
        return answer

    async def prove_audit(self, id: str, *, witnessed: bool | None = None) -> t.AuditProof:
        """Get the proof of a record."""
        answer: t.AuditProof = await self._call("prove_audit", "GET", f"/audits/{_path(id)}/proof", query={"witnessed": witnessed})
        return answer

    async def get_deal_picture(self, id: str) -> bytes:
        """Get a picture of a deal."""
        answer: bytes = await self._call("get_deal_picture", "GET", f"/audits/{_path(id)}/picture.png")
        return answer

    async def reveal_audit(self, id: str, request: t.RevealRequest, *, idempotency_key: str | None = None) -> t.Audit:
        """Reveal a seed."""
        answer: t.Audit = await self._call("reveal_audit", "POST", f"/audits/{_path(id)}/reveal", body=request, headers={"Idempotency-Key": idempotency_key})
        return answer

    async def get_checkpoint(self) -> str:
        """Get the checkpoint of the log."""
        answer: str = await self._call("get_checkpoint", "GET", "/log/checkpoint")
        return answer

    async def get_tile(self, tile: str) -> bytes:
        """Get a tile of the log."""
        answer: bytes = await self._call("get_tile", "GET", f"/log/tile/{_path(tile)}")
        return answer

    async def get_log_key(self) -> str:
        """Get the public key of the log."""
        answer: str = await self._call("get_log_key", "GET", "/log/key")
        return answer

    async def home(self) -> t.Home:
        """Get what the service is."""
        answer: t.Home = await self._call("home", "GET", "/")
        return answer

    async def healthz(self) -> t.Status:
        """Check that the process is alive."""
        answer: t.Status = await self._call("healthz", "GET", "/healthz")
        return answer

    async def readyz(self) -> t.Status:
        """Check that the service accepts traffic."""
        answer: t.Status = await self._call("readyz", "GET", "/readyz")
        return answer

    async def metrics(self, *, name: list[str] | None = None) -> str:
        """Get metrics for Prometheus."""
        answer: str = await self._call("metrics", "GET", "/metrics", query={"name[]": name})
        return answer

    async def contract(self) -> str:
        """Get this contract."""
        answer: str = await self._call("contract", "GET", "/openapi.yaml")
        return answer
