// Runs what the README of deckofcardsapi-client shows, and its other calls, against the service at the URL
// that is given. The README imports the builder from the package itself, which exports another class.
import assert from "node:assert/strict";
import api from "deckofcardsapi-client/lib/api.js";
import DeckBuilder from "deckofcardsapi-client/lib/deckbuilder.js";

api.setApiHost(process.argv[2]);
const codes = (cards) => cards.map((card) => card.getCode());

// The README.
const deck = await new DeckBuilder().standardDeck();
const hand = await deck.draw(5);
await deck.shuffle();
const discardPile = await deck.getPile("discard");
await discardPile.add(hand); // they are in the deck again, so nothing is added
assert.deepEqual(await discardPile.list(), []);
assert.equal(deck.getRemaining(), 52);

// A pile with cards.
const drawn = await deck.draw(4);
const [a, b, c, d] = codes(drawn);
assert.equal((await discardPile.add(drawn)).piles.discard.remaining, 4);
assert.deepEqual(codes(await discardPile.list()), [a, b, c, d]);
assert.deepEqual(codes(await discardPile.draw(1)), [d]);
assert.deepEqual(codes(await discardPile.drawBottom(1)), [a]);
assert.deepEqual(codes(await discardPile.drawCards([c])), [c]);
assert.equal((await discardPile.shuffle()).piles.discard.remaining, 1);

// Empty piles, and errors.
await discardPile.draw(1);
assert.equal((await discardPile.shuffle()).piles.discard.remaining, 0);
await assert.rejects(discardPile.draw(1), { message: "Not enough cards remaining to draw 1 additional" });
await assert.rejects(discardPile.drawCards([b]), { message: "The pile, discard does not contain the requested cards." });
await assert.rejects(deck.draw(49), { message: "Not enough cards remaining to draw 49 additional" });

// Other decks.
const aces = await new DeckBuilder().unshuffled().ofCards(["AS", "AD", "AC", "AH"]).numberOfDeck(2).build();
assert.equal(aces.isShuffled(), false);
const same = await new DeckBuilder().fromId(aces.getId());
assert.equal(same.getRemaining(), 8);
assert.deepEqual(codes(await same.draw(5)), ["AS", "AD", "AC", "AH", "AS"]);
