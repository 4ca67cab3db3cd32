// Runs riffle.mjs over the vectors in testdata/riffle1. Prints what differs and exits with 1 if anything does.
// With --stdin it prints what riffle.mjs says of each vector that it reads instead, one line of JSON each.
import {readFileSync} from 'node:fs';
import {createHash, createPrivateKey, createPublicKey, sign} from 'node:crypto';
import {createInterface} from 'node:readline';
import {verify, traceText, keystream, render, codesOf} from './riffle.mjs';

const load = (name) => JSON.parse(readFileSync(new URL(`../testdata/riffle1/${name}.json`, import.meta.url), 'utf8'));
let bad = 0, checks = 0;
const same = (name, got, want) => {
  checks++;
  if (got === want) return;
  bad++;
  console.error(`${name}: ${String(got).slice(0, 200)}, want ${String(want).slice(0, 200)}`);
};
const failing = ({steps}) => steps.find(({ok}) => ok === false)?.name;
const missing = ({steps}) => steps.find(({ok}) => ok === null)?.name;

// What every vector gives to a verifier, by the name of its file and its own.
const lists = {proofs: ['proofs', 'wrong'], salted: ['proofs', 'wrong'], shoes: ['shoes', 'hands', 'wrong'], verdicts: ['verdicts'], fuzzed: ['verdicts'], witnesses: ['verdicts'], books: ['verdicts'], beacons: ['verdicts'], players: ['verdicts']};
const vectors = Object.entries(lists).flatMap(([file, names]) => names.flatMap((name) => load(file)[name]).map((v) => [`${file}: ${v.name}`, v]));
const files = ({proof, proofs, commitment_proof, files = [proof, proofs, commitment_proof]}) => files.filter((text) => text !== undefined);
function texts(v) { // in their roles, and with the names that the command has for them
  const {items, items_salt: salt, order, hand, key} = v, add = (name, role, text) => text ? [{name, role, text}] : [];
  return [...add('--key', 'key', key), ...add('--items-salt', 'salt', salt), ...add('--items', 'items', items), ...add('--order', 'order', order),
    ...add('--hand', 'hand', hand), ...v.texts ?? files(v).map((text, i) => ({name: `${i}`, role: 'proof', text}))];
}
const given = (v) => ({key: v.key, items: v.items ?? undefined, itemsSalt: v.items_salt, order: v.order});
const check = (v, other = {}) => verify(texts({...v, ...other}), {handOf: v.hand_of, anyOrder: v.any_order});
if (process.argv.includes('--stdin')) {
  for await (const line of createInterface({input: process.stdin})) {
    const before = process.cpuUsage(), result = await check(JSON.parse(line)).catch(({stack}) => ({verdict: `throws: ${stack}`}));
    const {user, system} = process.cpuUsage(before);
    console.log(JSON.stringify({...result, seconds: (user + system) / 1e6}));
  }
  await new Promise(() => process.stdout.write('', () => process.exit())); // once all is written
}

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
  same(v.name, (await verify(prove(v.record, v.seed), {key})).verdict, 'verified');
  const result = await traceText(prove(v.record, v.seed), {key});
  if (!result.orders) { console.error(result.steps); continue; }
  same(`${v.name} statement`, result.statement, v.statement);
  same(`${v.name} blocks`, result.blocks, v.blocks);
  const keys = await Promise.all(result.keys.map((key) => crypto.subtle.exportKey('raw', key)));
  same(`${v.name} keys`, keys.map((key) => Buffer.from(key).toString('hex')).join(), v.keys.join());
  for (const [shuffle, words] of v.words.entries()) {
    const got = (await keystream(result.keys, shuffle, 0)).slice(0, words.length);
    same(`${v.name} words`, got.map((word) => word.toString(16).padStart(16, '0')).join(), words.join());
  }
  if (v.orders) same(`${v.name} orders`, JSON.stringify(result.orders), JSON.stringify(v.orders));
  const text = result.orders.map((order) => `${JSON.stringify(order)}\n`).join('');
  same(`${v.name} digest`, createHash('sha256').update(text).digest('hex'), v.orders_sha256);
}
for (const v of load('invalid').invalid) {
  const result = await verify(prove(v.record, v.seed), {key}); // a record of an unknown kind is no shuffle
  same(v.name, v.name === 'unknown-kind' ? missing(result) : failing(result) ?? missing(result), v.seed ? v.step : 'proof');
}

// The cards of every deck type are those of the service, with the defaults of its parameters.
for (const line of readFileSync(new URL('../internal/deck/testdata/codes.sha256', import.meta.url), 'utf8').trim().split('\n')) {
  const [digest, type] = line.split('  ');
  same(`the codes of ${type}`, sha256(JSON.stringify(codesOf(type) ?? null)).toString('hex'), digest);
}

const [first] = load('vectors').vectors, other = first.record.replace('.000000Z', '.000000+00:00Z');
same('a time with two zones', failing(await verify(prove(other, first.seed), {key})), 'record');

// A replay that would never end is not begun.
for (const [algorithm, size, draw, repeat] of [['fisher-yates', 2 ** 53 - 1, 2 ** 53 - 1, 1],
  ['fisher-yates', 5, 0, 2 ** 53 - 1], ['durstenfeld', 2 ** 53 - 1, 0, 1], ['strike-out', 2 ** 26, 2 ** 26, 1]]) {
  const statement = `riffle/1\nalgorithm ${algorithm}\nsize ${size}\ndraw ${draw}\nrepeat ${repeat}\ninput range\n` +
    `seed ${'00'.repeat(32)}\n`;
  const record = JSON.stringify({id: '019b7ca9-8c88-7e34-8a29-e0ab088154ee', time: '2026-01-02T03:04:05.000000Z',
    kind: 'shuffle', spec: 'riffle/1', algorithm, size, draw, repeat, input: 'range',
    commitment: sha256(statement).toString('hex')});
  const result = await verify(prove(record, '00'.repeat(32)), {key});
  same(`${algorithm}, ${size}, ${draw}, ${repeat}`, `${missing(result)} ${result.verdict}`, 'order unchecked');
}

// A template has plurals, parts that are left out, lists and messages. What is in a value is no template.
for (const [template, values, text] of [
  ['{n:card}, {m:card}, {k:card}', {n: 1, m: 0, k: 21}, '1 card, 0 cards, 21 cards'],
  ['{n}[ of {m}][, {k:time}][; {what}]', {n: 0, m: 0, what: ''}, '0 of 0; '],
  ['{n}[: {a} and {b}].', {n: 1, a: 'a'}, '1.'],
  ['[{list}, ]{inner}', {list: ['a', {id: 'inner', values: {n: 2}}], inner: {id: 'inner', values: {}}}, 'a & <2 cards>, <>'],
  ['{text}[{text}]', {text: '{n}[x]$&'}, '{n}[x]$&{n}[x]$&'],
]) same(template, render({id: 'outer', values}, {outer: template, inner: '<[{n:card}]>'}, ' & '), text);

// Every text is there in both languages, with the same values, and riffle.mjs has the English one.
const table = JSON.parse(readFileSync(new URL('../internal/audit/message/messages.json', import.meta.url), 'utf8'));
const [english, chinese] = ['en', 'zh'].map((language) => Object.fromEntries(Object.entries(table).map(([id, texts]) => [id, texts[language]])));
const valuesOf = (text) => [...new Set(text.match(/(?<={)\w+/g))].sort();
for (const [id, {en, zh}] of Object.entries(table)) {
  const message = {id, values: Object.fromEntries(valuesOf(en).map((name) => [name, name]))};
  same(`${id} in riffle.mjs`, render(message), render(message, english));
  same(`the values of ${id} in Chinese`, valuesOf(zh).join(), valuesOf(en).join());
  same(`${id} in ASCII`, /^[ -~]+$/.test(en), true);
}

// What is wrong with the messages of a verdict: they are what it says, and are complete in both languages.
const isMessage = (value) => typeof value?.id === 'string';
const blank = (value) => { // without texts, which may have brackets of their own
  if (Array.isArray(value)) return value.map(blank);
  if (!isMessage(value)) return typeof value === 'string' ? '' : value;
  return {id: value.id, values: Object.fromEntries(Object.entries(value.values).map(([name, inner]) => [name, blank(inner)]))};
};
function wrongWords({headline, notes, steps, messages}) {
  const said = [...messages, ...steps.map(({message}) => message)], texts = [headline, ...notes, ...steps.map(({text}) => text)];
  if (said.length !== texts.length) return `${said.length} messages, and ${texts.length} texts`;
  return said.map((message, i) => {
    try {
      const isComplete = [english, chinese].every((texts) => !/[{[]|undefined|null/.test(render(blank(message), texts, '')));
      return isComplete && render(message) === texts[i] ? undefined : JSON.stringify(message);
    } catch (error) { return `${error}: ${JSON.stringify(message)}`; } // such as an id that is not in the table
  }).find(Boolean);
}

// The verdict on every vector, its first step that fails, and its messages.
const isUnchecked = ({expect, hand}) => ['held-back', 'unknown-kind', 'unchecked'].includes(expect) || (expect === 'open' && !hand);
for (const [name, v] of vectors) {
  const {verdict = v.step ? 'false' : isUnchecked(v) ? 'unchecked' : 'verified'} = v;
  if (v.step === 'committed' && v.commitment_proof) { // also of what verify would not take for the commitment of this shuffle
    same(`${name}, step`, (await traceText(v.proof, {...given(v), commitment: v.commitment_proof})).steps.first('wrong')?.name, v.step);
    continue;
  }
  const result = await check(v);
  same(name, result.verdict, verdict);
  for (const one of [result, ...result.proofs]) same(`${name}, in words`, wrongWords(one), undefined);
  if (verdict === 'false') same(`${name}, step`, failing(result), v.step);
  else if (verdict === 'unchecked' && v.step) same(`${name}, step`, result.steps.some((step) => step.name === v.step && step.ok === null), true);
  if (verdict !== 'false') same(`${name}, no step fails`, failing(result), undefined);
  if (v.summary) same(`${name}, summary`, JSON.stringify(sort(result.summary)), JSON.stringify(sort(v.summary)));
  const roles = v.roles && (v.texts ?? []).flatMap(({name: one}) => result.files.filter((file) => file.name === one).map(({name: _, ...role}) => role));
  if (v.roles) same(`${name}, roles`, JSON.stringify(roles), JSON.stringify(v.roles));
  if (v.expect) same(`${name}, without key`, (await check(v, {key: undefined})).verdict, 'unchecked');
}

function sort(value) { // names of members, whatever their order
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.keys(value).sort().map((name) => [name, sort(value[name])]));
}

// The orders equal the vectors' orders, and another order is noticed.
for (const v of [...load('proofs').proofs, ...load('salted').proofs]) {
  const name = v.name, {orders = null} = await traceText(v.proof, {key: v.key});
  same(`${name} order`, JSON.stringify(orders), JSON.stringify(v.orders));
  if (!v.orders || v.expect !== 'verified') continue;
  const items = v.items ? elements(v.items) : undefined, all = v.orders.map((order) => `[${order.map((p) => items?.[p] ?? p).join(' ,\n')}]`);
  const order = all.length === 1 ? all[0] : `[${all}]`;
  const known = items || JSON.parse(JSON.parse(v.proof).record).input === 'range';
  if (!known) continue;
  same(`${name} answered`, (await check(v, {order})).verdict, 'verified');
  same(`${name} answered with one more`, failing(await check(v, {order: order.replace(/]$/, order === '[]' ? '0]' : ',0]')})), 'order');
}
// The elements of a JSON array, verbatim.
function elements(array) {
  const list = [];
  let depth = 0, from = array.indexOf('[') + 1, inString = false;
  for (let i = from; i < array.length; i++) {
    const c = array[i];
    if (inString) { if (c === '\\') i++; else if (c === '"') inString = false; } else if (c === '"') inString = true;
    else if (depth === 0 && (c === ',' || c === ']')) { list.push(array.slice(from, i).trim()); from = i + 1; } else if ('[{'.includes(c)) depth++;
    else if (']}'.includes(c)) depth--;
  }
  return list.filter((text) => text !== '');
}
const named = (name) => load('proofs').proofs.find((v) => v.name === name);
{
  const v = named('fisher-yates'), items = elements(v.items), text = `[${v.orders[0].map((p) => items[p]).join(' , ')}]`;
  same('items written otherwise', failing(await check(v, {order: text.replace('1.0', '1.00')})), 'order');
}
for (const salt of ['fifteen-letters', 'a'.repeat(129), 'sixteen letters!']) {
  const {headline} = await check(load('salted').proofs[0], {items_salt: salt});
  same(`the salt ${salt}`, headline.startsWith('Not checked: the salt: '), true);
}

// Any changed byte of a file, or of the commitment's, is noticed. A file that is not JSON any more is called so.
const chosen = ['hands and a client seed', 'reveal', 'worked, committed'];
for (const v of load('proofs').proofs.filter(({name}) => process.argv.includes('--all') || chosen.includes(name))) {
  for (const member of ['proof', 'commitment_proof']) {
    const bytes = Buffer.from(v[member] ?? '');
    for (let i = 0; i < bytes.length; i++) {
      bytes[i] ^= 1;
      let noticed = true;
      try {
        const result = await check(v, {[member]: new TextDecoder('utf-8', {fatal: true}).decode(bytes)});
        noticed = result.verdict === 'false' || result.steps.some(({name, ok}) => name === 'proof' && ok === null);
      } catch { /* no UTF-8 */ }
      same(`${v.name}, ${member}, byte ${i}`, noticed, true);
      bytes[i] ^= 1;
    }
  }
}
console.log(`riffle.mjs: ${checks} checks, ${bad} differ, ${(performance.now() / 1000).toFixed(1)} s`);
process.exitCode = bad ? 1 : 0;
