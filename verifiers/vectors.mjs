// Runs riffle.mjs over the vectors in testdata/riffle1. Prints what differs and exits with 1 if anything does.
import {readFileSync} from 'node:fs';
import {createHash, createPrivateKey, createPublicKey, sign} from 'node:crypto';
import {verify, keystream} from './riffle.mjs';

const load = (name) => JSON.parse(readFileSync(new URL(`../testdata/riffle1/${name}.json`, import.meta.url), 'utf8'));
let bad = 0, checks = 0;
const same = (name, got, want) => {
  checks++;
  if (got === want) return;
  bad++;
  console.error(`${name}: ${String(got).slice(0, 200)}, want ${String(want).slice(0, 200)}`);
};
const failing = ({steps}) => steps.find(({ok}) => ok === false)?.step;

// The proof file of the only record of a log with a test key.
const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), Buffer.alloc(32, 9)]);
const signer = createPrivateKey({key: der, format: 'der', type: 'pkcs8'});
const point = Buffer.concat([Buffer.from([1]), createPublicKey(signer).export({format: 'der', type: 'spki'}).subarray(-32)]);
const sha256 = (...parts) => parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest();
const keyHash = sha256('test\n', point).subarray(0, 4), key = `test+${keyHash.toString('hex')}+${point.toString('base64')}`;
function prove(record, seed) {
  let client_seed = '';
  try { client_seed = JSON.parse(record).client_seed ?? ''; } catch { /* no record */ }
  const note = `test\n1\n${sha256('\0', record).toString('base64')}\n`;
  const signature = Buffer.concat([keyHash, sign(null, Buffer.from(note), signer)]).toString('base64');
  const tlog_proof = `c2sp.org/tlog-proof@v1\nindex 0\n\n${note}\n— test ${signature}\n`;
  const file = {spec: 'riffle/1', record, seed, client_seed: client_seed.toWellFormed(), tlog_proof, log_key: key};
  return `${JSON.stringify(file).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')}\n`;
}

for (const v of load('vectors').vectors) {
  const result = await verify(prove(v.record, v.seed), {key});
  same(v.name, result.verdict, 'verified');
  if (!result.order) { console.error(result.steps); continue; }
  same(`${v.name} statement`, result.statement, v.statement);
  same(`${v.name} blocks`, result.blocks, v.blocks);
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
for (const v of load('invalid').invalid) {
  const result = await verify(prove(v.record, v.seed), {key}); // a record of an unknown kind is no shuffle
  same(v.name, v.name === 'unknown-kind' ? result.steps.find(({ok}) => ok === null)?.step : failing(result), v.seed ? v.step : 'proof');
}

const [first] = load('vectors').vectors, other = first.record.replace('.000000Z', '.000000+00:00Z');
same('a time with two zones', failing(await verify(prove(other, first.seed), {key})), 'record');

// A replay that would never end is not begun.
for (const [algorithm, size, draw, repeat] of [['fisher-yates', 2 ** 53 - 1, 2 ** 53 - 1, 1],
  ['fisher-yates', 5, 0, 2 ** 53 - 1], ['durstenfeld', 2 ** 53 - 1, 0, 1], ['strike-out', 2 ** 24, 2 ** 24, 1]]) {
  const statement = `riffle/1\nalgorithm ${algorithm}\nsize ${size}\ndraw ${draw}\nrepeat ${repeat}\ninput range\n` +
    `seed ${'00'.repeat(32)}\n`;
  const record = JSON.stringify({id: '019b7ca9-8c88-7e34-8a29-e0ab088154ee', time: '2026-01-02T03:04:05.000000Z',
    kind: 'shuffle', spec: 'riffle/1', algorithm, size, draw, repeat, input: 'range',
    commitment: sha256(statement).toString('hex')});
  const {step, ok} = (await verify(prove(record, '00'.repeat(32)), {key})).steps.at(-1);
  same(`${algorithm}, ${size}, ${draw}, ${repeat}`, `${step} ${ok}`, 'order null');
}

const verdictOf = (expect) => ['held-back', 'unknown-kind'].includes(expect) ? 'unchecked' : 'verified';
const given = (v) => ({key: v.key, items: v.items ?? undefined, salt: v.items_salt, commitment: v.commitment_proof});
const {proofs, wrong} = load('proofs');
for (const v of proofs) {
  const result = await verify(v.proof, given(v)), has = (step) => result.steps.some((one) => one.step === step);
  same(v.name, result.verdict, verdictOf(v.expect));
  same(`${v.name} committed`, has('committed'), 'commitment_proof' in v);
  const names = JSON.parse(JSON.parse(v.proof).record).commitment_id, detail = result.steps[1]?.detail;
  same(`${v.name} says so`, detail.includes(names), v.orders !== null && names !== undefined && !has('committed'));
  if (failing(result)) console.error(result.steps);
  same(`${v.name} order`, JSON.stringify(result.order), JSON.stringify(v.orders));
  same(`${v.name} without key`, (await verify(v.proof, {...given(v), key: undefined})).verdict, 'unchecked');
  if (!v.orders) continue;
  const positions = JSON.stringify(v.orders.length === 1 ? v.orders[0] : v.orders, null, 1);
  same(`${v.name} positions`, (await verify(v.proof, {key: v.key, order: positions})).verdict, 'verified');
  const turned = JSON.stringify(v.orders.length === 1 ? [...v.orders[0], 0] : [...v.orders].reverse());
  same(`${v.name} other positions`, failing(await verify(v.proof, {key: v.key, order: turned})), 'order');
}
for (const v of wrong) same(v.name, failing(await verify(v.proof, given(v))), v.step);

// Salted items.
const salted = load('salted');
for (const v of salted.proofs) {
  const result = await verify(v.proof, given(v));
  same(v.name, result.verdict, v.expect === 'verified' ? 'verified' : 'unchecked');
  same(`${v.name} order`, JSON.stringify(result.order), JSON.stringify(v.orders));
  if (v.expect === 'unchecked') same(`${v.name} step`, result.steps.find(({ok}) => ok === null).step, 'items');
  if (!v.orders) continue;
  const positions = JSON.stringify(v.orders.length === 1 ? v.orders[0] : v.orders);
  same(`${v.name} positions`, (await verify(v.proof, {key: v.key, order: positions})).verdict, 'verified');
  if (!v.items || v.orders.length > 1) continue;
  const items = JSON.parse(v.items), order = JSON.stringify({items: v.orders[0].map((p) => items[p])});
  same(`${v.name} answered`, (await verify(v.proof, {...given(v), order})).verdict, v.expect);
}
for (const v of salted.wrong) same(v.name, failing(await verify(v.proof, given(v))), v.step);
for (const salt of ['', 'fifteen-letters', 'a'.repeat(129), 'sixteen letters!', 'c0ffee00112233445566778899aabbcc\n']) {
  const {proof, key, items} = salted.proofs[0];
  same(`the salt ${salt}`, await verify(proof, {key, items, salt}).then(({verdict}) => verdict, () => 'an error'), 'an error');
}

// Whole answers: items, hands and rest, shuffles. White space does not matter, every element does.
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

// Any changed byte of a file, or of the commitment's, makes it fail.
const chosen = ['hands and a client seed', 'reveal', 'worked, committed'];
for (const v of proofs.filter(({name}) => process.argv.includes('--all') || chosen.includes(name))) {
  for (const member of ['proof', 'commitment_proof']) {
    const bytes = Buffer.from(v[member] ?? '');
    for (let i = 0; i < bytes.length; i++) {
      bytes[i] ^= 1;
      let verdict = 'failed';
      try {
        const text = new TextDecoder('utf-8', {fatal: true}).decode(bytes);
        verdict = (await verify(member === 'proof' ? text : v.proof, given({...v, [member]: text}))).verdict;
      } catch { /* no UTF-8 */ }
      same(`${v.name}, ${member}, byte ${i}`, verdict, 'failed');
      bytes[i] ^= 1;
    }
  }
}
console.log(`riffle.mjs: ${checks} checks, ${bad} differ, ${(performance.now() / 1000).toFixed(1)} s`);
process.exitCode = bad ? 1 : 0;
