// Uses the service through openapi-fetch, with the types of openapi-typescript.
import assert from 'node:assert/strict';
import createClient from 'openapi-fetch';
import type { components, paths } from './generated/openapi-typescript.js';

type Record = components['schemas']['Record'];

const client = createClient<paths>({ baseUrl: process.argv[2]! });

// Shuffle a list of values of any type.
const items = ['north', { id: 20011, name: { first: 'Ana' } }, 3.5, null, [1, true]];
const shuffled = await client.POST('/shuffle', { body: { items }, params: { header: { 'Idempotency-Key': 'openapi-fetch-1' } } });
assert(shuffled.data && 'items' in shuffled.data);
assert.deepEqual(new Set(shuffled.data.items.map((v) => JSON.stringify(v))), new Set(items.map((v) => JSON.stringify(v))));

// A deal has hands and the rest.
const dealt = await client.GET('/decks/{type}', { params: { path: { type: 'standard52' }, query: { hands: '5,5' } } });
assert(dealt.data && 'hands' in dealt.data);
assert.equal(dealt.data.hands.length + dealt.data.rest.length, 2 + 42);

// Its proof, with a record whose kind says which members it has.
const proof = await client.GET('/audits/{id}/proof', { params: { path: { id: dealt.data.audit_id } } });
assert(proof.data);
const record = JSON.parse(proof.data.record) as Record;
assert(record.kind === 'shuffle');
assert.deepEqual(record.hands, [5, 5]);

// Two cards from a shoe, with what proves them.
const shoe = await client.POST('/shoes', { body: { deck: 'standard52', decks: 6 } });
assert(shoe.data);
const params = { path: { id: shoe.data.shoe_id } };
const drawn = await client.POST('/shoes/{id}/draw', { params: { ...params, query: { proof: true } }, body: { count: 2, to: 'alice' } });
assert.equal(drawn.data?.piles['alice']?.remaining, 2);
for (const card of drawn.data.cards) {
  assert('code' in card && card.path);
  assert.equal(card.code.length + card.instance.toFixed().length + card.path.length, 2 + 1 + 9);
}

// A problem document.
const refused = await client.POST('/shuffle', { body: { deck: 'standart52' } });
assert(refused.error);
assert.equal(refused.error.status, 422);
assert.equal(refused.error.errors?.[0]?.pointer, '/deck');

// The proofs of a shoe.
await client.POST('/shoes/{id}/close', { params, body: {} });
const proofs = await client.GET('/shoes/{id}/proof', { params });
const kinds = proofs.data!.shoe.map((proof) => (JSON.parse(proof.record) as Record).kind);
assert.deepEqual(kinds, ['shoe', 'draw', 'close']);
