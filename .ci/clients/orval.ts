// Uses the service through the client that orval generates.
import assert from 'node:assert/strict';
import { closeShoe, createShoe, dealDeck, drawCards, proveAudit, proveShoe, shuffle, type Record } from './generated/orval.js';

// Shuffle a list of values of any type.
const items = ['north', { id: 20011, name: { first: 'Ana' } }, 3.5, null, [1, true]];
const shuffled = await shuffle({ items }, { headers: { 'Idempotency-Key': 'orval-1' } });
assert(shuffled.status === 200 && shuffled.data.items);
assert.deepEqual(new Set(shuffled.data.items.map((v) => JSON.stringify(v))), new Set(items.map((v) => JSON.stringify(v))));

// A deal has hands and the rest.
const dealt = await dealDeck('standard52', { hands: '5,5' });
assert(dealt.status === 200 && dealt.data.hands && dealt.data.rest);
assert.equal(dealt.data.hands.length + dealt.data.rest.length, 2 + 42);

// Its proof, with a record whose kind says which members it has.
const proof = await proveAudit(dealt.data.audit_id);
assert(proof.status === 200);
const record = JSON.parse(proof.data.record) as Record;
assert(record.kind === 'shuffle');
assert.deepEqual(record.hands, [5, 5]);

// Two cards from a shoe, with what proves them.
const shoe = await createShoe({ deck: 'standard52', decks: 6 });
assert(shoe.status === 200);
const id = shoe.data.shoe_id;
const drawn = await drawCards(id, { count: 2, to: 'alice' }, { proof: true });
assert(drawn.status === 200);
assert.equal(drawn.data.piles['alice']?.remaining, 2);
for (const card of drawn.data.cards) {
  assert(card.code && card.instance && card.path);
  assert.equal(card.code.length + card.instance.toFixed().length + card.path.length, 2 + 1 + 9);
}

// A problem document.
const refused = await shuffle({ deck: 'standart52' });
assert(refused.status === 422);
assert.equal(refused.data.errors?.[0]?.pointer, '/deck');

// The proofs of a shoe.
await closeShoe(id, {});
const proofs = await proveShoe(id);
assert(proofs.status === 200);
const kinds = proofs.data.shoe.map((proof) => (JSON.parse(proof.record) as Record).kind);
assert.deepEqual(kinds, ['shoe', 'draw', 'close']);
