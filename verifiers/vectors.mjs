// Runs riffle.mjs over the vectors in testdata/riffle1. Prints what differs and exits with 1 if anything does.
import {readFileSync} from 'node:fs';
import {createHash} from 'node:crypto';
import {replay, verify, keystream, seedBlocks} from './riffle.mjs';

const load = (name) => JSON.parse(readFileSync(new URL(`../testdata/riffle1/${name}.json`, import.meta.url), 'utf8'));
let bad = 0, checks = 0;
const same = (name, got, want) => {
  checks++;
  if (got === want) return;
  bad++;
  console.error(`${name}: ${String(got).slice(0, 200)}, want ${String(want).slice(0, 200)}`);
};
const failing = ({steps}) => { const last = steps.find(({ok}) => ok === false); return last?.step; };

for (const v of load('vectors').vectors) {
  const result = await replay(v.record, v.seed);
  same(v.name, result.verdict, 'verified');
  if (!result.order) { console.error(result.steps); continue; }
  same(`${v.name} statement`, result.statement, v.statement);
  same(`${v.name} blocks`, seedBlocks(JSON.parse(v.record)), v.blocks);
  const keys = await Promise.all(result.keys.map((key) => crypto.subtle.exportKey('raw', key)));
  same(`${v.name} keys`, keys.map((key) => Buffer.from(key).toString('hex')).join(), v.keys.join());
  for (const [shuffle, words] of v.words.entries()) {
    const got = (await keystream(result.keys, shuffle, 0)).slice(0, words.length);
    same(`${v.name} words`, got.map((word) => word.toString(16).padStart(16, '0')).join(), words.join());
  }
  if (v.orders) same(`${v.name} orders`, JSON.stringify(result.order), JSON.stringify(v.orders));
  const text = result.order.map((order) => `${JSON.stringify(order)}\n`).join('');
  same(`${v.name} digest`, createHash('sha256').update(text).digest('hex'), v.orders_sha256);
}
for (const v of load('invalid').invalid) same(v.name, failing(await replay(v.record, v.seed)), v.step);

const verdicts = {verified: 'verified', 'held-back': 'unchecked', reveal: 'verified'};
const {proofs, wrong} = load('proofs');
for (const v of proofs) {
  const given = {key: v.key, items: v.items ?? undefined};
  const result = await verify(v.proof, given);
  same(v.name, result.verdict, verdicts[v.expect]);
  if (failing(result)) console.error(result.steps);
  same(`${v.name} order`, JSON.stringify(result.order), JSON.stringify(v.orders));
  same(`${v.name} without key`, (await verify(v.proof, {items: given.items})).verdict, 'unchecked');
  if (!v.orders) continue;
  const positions = JSON.stringify(v.orders.length === 1 ? v.orders[0] : v.orders, null, 1);
  same(`${v.name} positions`, (await verify(v.proof, {key: v.key, order: positions})).verdict, 'verified');
  const turned = JSON.stringify(v.orders.length === 1 ? [...v.orders[0], 0] : [...v.orders].reverse());
  same(`${v.name} other positions`, failing(await verify(v.proof, {key: v.key, order: turned})), 'order');
}
for (const v of wrong) same(v.name, failing(await verify(v.proof, {key: v.key, items: v.items ?? undefined})), v.step);

// Answers of the service: items, hands and rest, shuffles; white space is no difference, another element is one.
const cases = [
  ['hands and a client seed', (o, i, h) => ({hands: h[0].slice(0, -1), rest: h[0].at(-1)})],
  ['items with hands, twice', (o, i, h) => ({audit_id: 'x', shuffles: h})],
  ['six decks, a draw of 5, three times', (o, i) => ({shuffles: o.map((order) => order.map((p) => i[p]))})],
  ['deck', (o, i) => ({items: o[0].map((p) => i[p]), seed: 'x'})],
  ['deck', (o, i) => o[0].map((p) => i[p])],
];
for (const [name, answer] of cases) {
  const v = proofs.find((proof) => proof.name === name), items = JSON.parse(v.items);
  const {hands = []} = JSON.parse(JSON.parse(v.proof).record);
  const dealt = v.orders.map((order) => {
    let at = 0;
    const runs = [...hands.map((hand) => order.slice(at, at += hand)), order.slice(at)];
    return runs.map((run) => run.map((p) => items[p]));
  });
  const text = JSON.stringify(answer(v.orders, items, dealt), null, 2), given = {key: v.key, items: v.items};
  same(`${name} answered`, (await verify(v.proof, {...given, order: text})).verdict, 'verified');
  const [a, b] = [0, 1].map((i) => JSON.stringify(items[v.orders[0][i]]));
  const swapped = text.replace(a, '\0').replace(b, a).replace('\0', b);
  same(`${name} answered otherwise`, failing(await verify(v.proof, {...given, order: swapped})), 'order');
  same(`${name} without items`, (await verify(v.proof, {key: v.key, order: text})).verdict, 'unchecked');
}
{
  const v = proofs.find((proof) => proof.name === 'fisher-yates'); // items of which the white space and the form matter
  const items = ['1', '1.0', '1e0', '12345678901234567890', '"\\u0041"', '"A"', '"A"', 'null', 'true', '[ 1,[] ]',
    '{"b": 1, "a": [" "]}', '""'];
  const text = `[${v.orders[0].map((p) => items[p]).join(' , ')}]`;
  const check = (order) => verify(v.proof, {key: v.key, items: v.items, order});
  same('items as written', (await check(text)).verdict, 'verified');
  same('items written otherwise', failing(await check(text.replace('1.0', '1.00'))), 'order');
}

// No byte of a file can change.
for (const name of process.argv.includes('--all') ? proofs.map((proof) => proof.name) : ['hands and a client seed', 'reveal']) {
  const v = proofs.find((proof) => proof.name === name), bytes = Buffer.from(v.proof);
  for (let i = 0; i < bytes.length; i++) {
    bytes[i] ^= 1;
    let verdict = 'failed';
    try {
      const text = new TextDecoder('utf-8', {fatal: true}).decode(bytes);
      verdict = (await verify(text, {key: v.key, items: v.items ?? undefined})).verdict;
    } catch { /* no UTF-8 */ }
    same(`${name}, byte ${i}`, verdict, 'failed');
    bytes[i] ^= 1;
  }
}
console.log(`riffle.mjs: ${checks} checks, ${bad} differ, ${(performance.now() / 1000).toFixed(1)} s`);
process.exitCode = bad ? 1 : 0;
