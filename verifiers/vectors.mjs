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

// What is given to a verifier: the members of a vector, by their names here.
const given = ({key, policy, answer, order, hand, hand_of: handOf, items, salt}) =>
  ({key, policy, answer, order, hand, handOf, items, salt});
const check = (v, other = {}) => verify(other.proof ?? v.proof, given({...v, ...other}));
if (process.argv.includes('--stdin')) {
  for await (const line of createInterface({input: process.stdin})) {
    const before = process.cpuUsage();
    const result = await check(JSON.parse(line)).catch(({stack}) => ({verdict: `throws: ${stack}`}));
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

// The verdict on every vector, its first step that fails or is not checked, and its messages. What verifies does so for
// nobody without the key.
const files = ['proofs', 'salted', 'shoes', 'verdicts', 'fuzzed', 'witnesses', 'books', 'beacons', 'players'];
const vectors = files.flatMap((file) => load(file).verdicts.map((v) => ({...v, name: `${file}: ${v.name}`})));
for (const v of vectors) {
  const {name, verdict} = v, result = await check(v);
  same(name, result.verdict, verdict);
  same(`${name}, in words`, wrongWords(result), undefined);
  if (verdict === 'false') same(`${name}, step`, failing(result), v.step);
  else if (v.step) same(`${name}, step`, result.steps.some((step) => step.name === v.step && step.ok === null), true);
  if (verdict !== 'false') same(`${name}, no step fails`, failing(result), undefined);
  if (v.summary) same(`${name}, summary`, JSON.stringify(sort(result.summary)), JSON.stringify(sort(v.summary)));
  if (verdict !== 'verified') continue;
  same(`${name}, without key`, (await check(v, {key: undefined, policy: undefined})).verdict, 'unchecked');
}

function sort(value) { // names of members, whatever their order
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.keys(value).sort().map((name) => [name, sort(value[name])]));
}

// The orders equal the vectors' orders, and another order is noticed.
for (const v of vectors.filter(({name, orders}) => orders && !name.startsWith('shoes: '))) {
  const {name} = v, {orders, record} = await traceText(v.proof, given(v));
  same(`${name}, order`, JSON.stringify(orders), JSON.stringify(v.orders));
  const items = v.items ? elements(v.items) : undefined, isKnown = items || record.input === 'range';
  if (v.verdict !== 'verified' || v.answer || v.order || v.hand || !isKnown) continue;
  const all = v.orders.map((order) => `[${order.map((p) => items?.[p] ?? p).join(' ,\n')}]`);
  const order = all.length === 1 ? all[0] : `[${all}]`, longer = order.replace(/]$/, order === '[]' ? '0]' : ',0]');
  same(`${name}, answered`, (await check(v, {order})).verdict, 'verified');
  same(`${name}, answered with one more`, failing(await check(v, {order: longer})), 'order');
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
const named = (name) => vectors.find((v) => v.name === name);
{
  const v = named('proofs: fisher-yates'), items = elements(v.items);
  const text = `[${v.orders[0].map((p) => items[p]).join(' , ')}]`;
  same('items written otherwise', failing(await check(v, {order: text.replace('1.0', '1.00')})), 'order');
}

// An input that is not in its form is refused by name.
{
  const v = vectors.find(({name, salt}) => salt && name.startsWith('salted: '));
  for (const [input, text] of [['salt', 'fifteen-letters'], ['salt', 'a'.repeat(129)], ['salt', 'sixteen letters!'],
    ['key', 'a'], ['items', '[1,]'], ['policy', 'quorum'], ['order', '[1,]'], ['hand', '[}]'], ['answer', '[]']]) {
    const {headline, summary} = await check(v, {[input]: text});
    same(`the ${input} ${text}`, headline.startsWith(`Not checked: the ${input}: `), true);
    same(`the ${input} ${text}, summary`, JSON.stringify(sort(summary)), `{"id":"refused","input":"${input}"}`);
  }
}
for (const proof of [undefined, null, 1, {}, []]) same(`${proof} as a proof`, missing(await verify(proof, {key})), 'proof');

// Any changed byte of a file is noticed. A file that is not JSON any more is called so.
const chosen = ['proofs: hands and a client seed', 'proofs: reveal', 'proofs: worked, committed'];
const isChosen = ({name}) => process.argv.includes('--all') ? name.startsWith('proofs: ') : chosen.includes(name);
for (const v of vectors.filter(isChosen)) {
  const bytes = Buffer.from(v.proof);
  for (let i = 0; i < bytes.length; i++) {
    bytes[i] ^= 1;
    let noticed = true;
    try {
      const result = await check(v, {proof: new TextDecoder('utf-8', {fatal: true}).decode(bytes)});
      const isOpen = ({name, ok}) => (name === 'proof' || name === 'committed') && ok === null;
      noticed = result.verdict === 'false' || result.steps.some(isOpen);
    } catch { /* no UTF-8 */ }
    same(`${v.name}, byte ${i}`, noticed, true);
    bytes[i] ^= 1;
  }
}
console.log(`riffle.mjs: ${checks} checks, ${bad} differ, ${(performance.now() / 1000).toFixed(1)} s`);
process.exitCode = bad ? 1 : 0;
