// Uses the service through the client that @hey-api/openapi-ts generates.
import assert from 'node:assert/strict';
import { client } from './generated/hey-api/client.gen.js';
import { closeShoe, createShoe, dealDeck, drawCards, proveAudit, proveShoe, shuffle, type Record } from './generated/hey-api/index.js';

client.setConfig({ baseUrl: process.argv[2]! });

// Shuffle a list of values of any type.
const items = ['north', { id: 20011, name: { first: 'Ana' } }, 3.5, null, [1, true]];
const shuffled = await shuffle({ body: { items }, headers: { 'Idempotency-Key': 'hey-api-1' } });
assert(shuffled.data?.items);
assert.deepEqual(new Set(shuffled.data.items.map((v) => JSON.stringify(v))), new Set(items.map((v) => JSON.stringify(v))));

// A deal has hands and the rest.
const dealt = await dealDeck({ path: { type: 'standard52' }, query: { hands: '5,5' }, throwOnError: true });
assert(dealt.data.hands && dealt.data.rest);
assert.equal(dealt.data.hands.length + dealt.data.rest.length, 2 + 42);

// Its proof, with a record whose kind says which members it has.
const proof = await proveAudit({ path: { id: dealt.data.audit_id }, throwOnError: true });
const record = JSON.parse(proof.data.record) as Record;
assert(record.kind === 'shuffle');
assert.deepEqual(record.hands, [5, 5]);

// Two cards from a shoe, with what proves them.
const shoe = await createShoe({ body: { deck: 'standard52', decks: 6 }, throwOnError: true });
const path = { id: shoe.data.shoe_id };
const drawn = await drawCards({ path, query: { proof: true }, body: { count: 2, to: 'alice' }, throwOnError: true });
assert.equal(drawn.data.piles['alice']?.remaining, 2);
for (const card of drawn.data.cards) {
  assert(card.code && card.instance && card.path);
  assert.equal(card.code.length + card.instance.toFixed().length + card.path.length, 2 + 1 + 9);
}

// A problem document.
const refused = await shuffle({ body: { deck: 'standart52' } });
assert(refused.error);
assert.equal(refused.error.status, 422);
assert.equal(refused.error.errors?.[0]?.pointer, '/deck');

// The proofs of a shoe.
await closeShoe({ path, body: {}, throwOnError: true });
const proofs = await proveShoe({ path, throwOnError: true });
const kinds = proofs.data.shoe.map((proof) => (JSON.parse(proof.record) as Record).kind);
assert.deepEqual(kinds, ['shoe', 'draw', 'close']);
