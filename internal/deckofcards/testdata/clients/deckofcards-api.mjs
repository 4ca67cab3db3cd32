// Runs what the README of deckofcards-api shows, and its other calls, against the service at the URL that is
// given. The package has the address of deckofcardsapi.com in it, so requests there are sent to that URL.
import assert from "node:assert/strict";
import http from "node:http";
import https from "node:https";
import * as cards from "deckofcards-api";

const { hostname, port } = new URL(process.argv[2]);
https.request = (options) => {
  assert.match(String(options.host ?? options.hostname), /^deckofcardsapi\.com/);
  return http.request({ ...options, protocol: "http:", host: hostname, hostname, port });
};
const codes = (answer) => answer.cards.map((card) => card.code);

// The README.
const shuffled = await cards.deck({ shuffle: true });
assert.equal(codes(await cards.draw(shuffled.deck_id, { count: 2 })).length, 2);
const custom = await cards.deck({ shuffle: true, deck_count: 2, jokers_enabled: true });
assert.equal(custom.remaining, 108);
assert.equal((await cards.draw(custom.deck_id, { count: 5 })).remaining, 103);
assert.equal(codes(await cards.draw(custom.deck_id, { cards: ["AS", "KS", "QD", "JC", "10H"] })).length, 1); // count is 1
assert.equal((await cards.reshuffle(custom.deck_id, { remaining: true })).remaining, 102);
assert.equal((await cards.returnCards(custom.deck_id)).remaining, 108);

// Piles.
const deck = await cards.deck();
const pile = cards.pile(deck.deck_id, "discards");
const first = codes(await cards.draw(deck.deck_id, { count: 6 }));
assert.deepEqual(first, ["AS", "2S", "3S", "4S", "5S", "6S"]);
assert.deepEqual((await pile.add({ cards: first })).piles, { discards: { remaining: 6 } });
assert.deepEqual(codes((await pile.show()).piles.discards), first);
assert.deepEqual(codes(await pile.draw({ count: 2 })), ["5S", "6S"]);
assert.deepEqual(codes(await pile.draw({ bottom: true })), ["AS"]);
assert.deepEqual(codes(await pile.draw({ cards: ["3S"] })), ["3S"]);
assert.equal(codes(await pile.draw({ random: true })).length, 1);
assert.equal((await pile.shuffle()).piles.discards.remaining, 1);
assert.deepEqual((await pile.return()).piles, { discards: { remaining: 0 } });

// An empty pile, and errors.
assert.deepEqual((await pile.show()).piles.discards, { remaining: 0, cards: [] });
assert.deepEqual((await pile.shuffle()).piles, { discards: { remaining: 0 } });
await assert.rejects(pile.draw(), /Not Found/);
assert.deepEqual((await cards.pile(deck.deck_id, "new").add({ cards: [] })).piles, { discards: { remaining: 0 }, new: { remaining: 0 } });
assert.equal((await cards.returnCards(deck.deck_id, { cards: ["AS"] })).remaining, 48);
await assert.rejects(cards.draw("nope"), /Not Found/);
