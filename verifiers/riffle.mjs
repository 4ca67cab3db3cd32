// Verifies what a service of riffle/1 has dealt: proof files, hands and whole shoes, as specified in docs/spec.md and
// docs/shoes.md, section by section. One file for browsers, Deno, Bun and Node 20, with WebCrypto and nothing else.
//
//   import {verify} from './riffle.mjs';
//   const {verdict, headline, notes, steps, proofs} = await verify(files, {key, items, itemsSalt, order, hand});
//
// files is the text of a proof file, or an array of texts or of {name, text}: proof files of records, of the commitments that
// they used, of whole shoes. All options are texts: the public key of the log, from another source than the files; the JSON
// array of the items, and their salt; the answer of POST /shuffle, or the array of its order; cards drawn from a shoe.
//
// verdict is 'verified' if everything that was given holds, 'false' if something is false, and 'unchecked' if something
// could not be checked. headline says so in a sentence, notes are what else there is to say. Each of the steps is {name, ok,
// text}; ok is null if it was not checked. proofs has the same for each proof, with its files. It never throws.
//
//   node riffle.mjs --help
const {subtle} = globalThis.crypto;
const MOST = 2 ** 24; // integers or keystreams for a record; longer ones are not replayed
const MAX_CARDS = 4096, MAX_PILES = 256, MAX_SEALS = 4096; // of a shoe

const encoder = new TextEncoder(), utf8 = (text) => encoder.encode(text);
function concat(parts) { // of bytes and texts; tens of thousands of Blobs, which could do it too, crash a tab of Chromium
  const all = parts.map((part) => typeof part === 'string' ? utf8(part) : part);
  const bytes = new Uint8Array(all.reduce((sum, {length}) => sum + length, 0));
  let at = 0;
  for (const part of all) { bytes.set(part, at); at += part.length; }
  return bytes;
}
const sha256 = async (...parts) => new Uint8Array(await subtle.digest('SHA-256', concat(parts)));
const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
const unhex = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
const unbase64 = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
const demand = (truth, message) => { if (!truth) throw new Error(message); };

// ---- JSON. Any layout is accepted; the text of a value is what was written, without white space.

class NotJSON extends Error {}
class Value { // value is a string, Map, Array, boolean or null; undefined for a number, which has its text alone
  constructor(source, start) { this.source = source; this.start = start; }
  get text() { return this.source.text.slice(this.start, this.end); }
  get kind() { return this.source.text[this.start]; } // of a number 0
  get isNumber() { return this.value === undefined; }
}
const TOKEN = new RegExp('[ \\t\\n\\r]*(?:("[^"\\\\\\x00-\\x1f]*(?:\\\\(?:["\\\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\\\\x00-\\x1f]*)*")' +
  '|(-?(?:0|[1-9]\\d*)(?:\\.\\d+)?(?:[eE][-+]?\\d+)?)|(true|false|null)|([{}[\\]:,])|$)', 'y');

// Parses JSON texts one after the other. Members that an object has twice are in the duplicates.
function parseAll(text) {
  const values = [], pieces = [];
  let at = 0, length = 0, token, source;
  if (text.startsWith('\ufeff')) text = text.slice(1); // some editors write it
  const next = () => {
    TOKEN.lastIndex = at;
    token = TOKEN.exec(text);
    if (!token) throw new NotJSON(`not JSON at character ${at}`);
    at = TOKEN.lastIndex;
    token.piece = token[1] ?? token[2] ?? token[3] ?? token[4] ?? '';
  };
  const take = () => { pieces.push(token.piece); length += token.piece.length; next(); };
  const expect = (piece) => {
    if (token.piece !== piece) throw new NotJSON(`not JSON: ${piece} is missing before character ${at}`);
    take();
  };
  const string = () => {
    const value = JSON.parse(token[1]);
    if (/\p{Cs}/u.test(value)) throw new NotJSON('not JSON: half of a surrogate pair');
    take();
    return value;
  };
  const read = () => {
    const node = new Value(source, length), [, isString, isNumber, word, mark] = token;
    if (isString !== undefined) node.value = string();
    else if (isNumber !== undefined) take();
    else if (word) { node.value = JSON.parse(word); take(); } else if (mark === '[') {
      node.value = [];
      take();
      while (token.piece !== ']') {
        if (node.value.length > 0) expect(',');
        node.value.push(read());
      }
      take();
    } else if (mark === '{') {
      node.value = new Map();
      take();
      while (token.piece !== '}') {
        if (node.value.size > 0) expect(',');
        if (token[1] === undefined) throw new NotJSON(`not JSON: a name is missing before character ${at}`);
        const name = string();
        expect(':');
        if (node.value.has(name)) source.duplicate = node.duplicate = name;
        node.value.set(name, read());
      }
      take();
    } else throw new NotJSON(`not JSON: a value is missing before character ${at}`);
    node.end = length;
    return node;
  };
  next();
  do {
    source = {};
    pieces.length = length = 0;
    const value = read();
    source.text = pieces.join('');
    values.push(value);
  } while (token.piece !== '' || at < text.length);
  return values;
}

// Parses one JSON text, in which no member is there twice.
function parse(text) {
  const values = parseAll(text);
  if (values.length !== 1) throw new NotJSON('not JSON: there is more than one value');
  if (values[0].source.duplicate !== undefined) throw new NotJSON(`the member ${values[0].source.duplicate} is there twice`);
  return values[0];
}
// The same text for all layouts of a value. Numbers stay as they are written.
function canonical(node) {
  if (Array.isArray(node.value)) return `[${node.value.map(canonical).join()}]`;
  if (!(node.value instanceof Map)) return typeof node.value === 'string' ? JSON.stringify(node.value) : node.text;
  return `{${[...node.value.keys()].sort().map((name) => `${JSON.stringify(name)}:${canonical(node.value.get(name))}`).join()}}`;
}
// A value for a record: numbers that are not written with digits alone become null.
function plain(node) {
  if (node.isNumber) return /^\d+$/.test(node.text) ? Number(node.text) : null;
  if (Array.isArray(node.value)) return node.value.map(plain);
  if (!(node.value instanceof Map)) return node.value;
  return Object.assign(Object.create(null), Object.fromEntries([...node.value].map(([name, value]) => [name, plain(value)])));
}
// The value of a number from 0 to 2^53-1, which databases also write as 3.0 or 3e0; NaN for anything else.
function whole(node) {
  const number = node?.isNumber ? Number(node.text) : NaN;
  return Number.isSafeInteger(number) && number >= 0 ? Math.abs(number) : NaN;
}
const string = (node) => typeof node?.value === 'string' ? node.value : undefined;

// ---- Record

const DIGEST = /^[0-9a-f]{64}$/, UUID7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const INPUT = /^(range|items sha256:[0-9a-f]{64}|deck [a-z0-9-]+ x[1-9][0-9]* sha256:[0-9a-f]{64})$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/, REFERENCE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]{1,128}$/u;
const PILE = 'pile [A-Za-z0-9_-]{1,255}';
const STATEMENT = ['algorithm', 'size', 'draw', 'repeat', 'hands', 'input', 'reference'];
const ALL = 'id time kind spec commitment', DRAWN = 'algorithm size draw repeat input reference?'; // ?: optional
const MADE = `${ALL} ${DRAWN} items_digest? parameters?`, CHANGE = `${ALL} audit_id version expires?`;
const MOVE = `${CHANGE} from taken cards to put?`;
const MEMBERS = {__proto__: null, reveal: `${ALL} audit_id`, void: `${ALL} commitment_id`, commitment: `${MADE} hands? deadline`,
  shuffle: `${MADE} hands? client_seed? reveal? commitment_id?`,
  shoe: `${MADE} audit_id? client_seed? commitment_id? cut? cut_range? expires? root?`, draw: MOVE,
  add: MOVE.replace(' cards', ' cards?'), return: MOVE,
  reshuffle: `${CHANGE} ${DRAWN} from client_seed? cut? cut_range? root`, close: CHANGE, expire: CHANGE};
const ALGORITHMS = { // for n items: the first bound, the step to the next, and what the i-th integer u swaps
  'fisher-yates': (n) => [n, -1, (i, u) => [i, i + u]], 'durstenfeld': (n) => [n, -1, (i, u) => [n - 1 - i, u]],
  'inside-out': (n) => [2, 1, (i, u) => [i + 1, u]], 'strike-out': (n) => [n, -1, null],
  'sattolo': (n) => [n - 1, -1, (i, u) => [i, i + 1 + u]]}; // its last bound is 1, which takes no bits
const changesShoe = ({kind}) => ['draw', 'add', 'return', 'reshuffle', 'close', 'expire'].includes(kind);
const deals = ({kind, taken}) => ['shuffle', 'shoe', 'reshuffle'].includes(kind) || (kind === 'draw' && taken === 'random');
const usesCommitment = (record) => ['shuffle', 'shoe'].includes(record?.kind) && 'commitment_id' in record;
const shoeOf = (record) => record?.kind === 'shoe' ? record.id : record && changesShoe(record) ? record.audit_id : undefined;

function readRecord(text) {
  const node = parse(text), record = plain(node);
  demand(node.value instanceof Map, 'the record is not a JSON object');
  const like = (form) => (value) => typeof value === 'string' && form.test(value);
  const between = (low, high = Infinity) => (n) => Number.isSafeInteger(n) && n >= low && n <= high;
  const isTime = (end) => like(TIME)(end) && new Date(end).toJSON()?.slice(0, 19) === end.slice(0, 19); // 30 February
  const isLater = (end) => isTime(end) && end > record.time;
  const {kind} = record, ofShoe = kind === 'shoe' || changesShoe(record);
  const places = { // from where to where: a place or a pile
    draw: [`shoe|${PILE}`, `dealt|${PILE}`], add: ['dealt|out', PILE], return: [`dealt|out|${PILE}`, 'shoe'],
    reshuffle: [`shoe|all|${PILE}`, '']}[kind] ?? ['', ''];
  const [isFrom, isTo] = places.map((form) => like(new RegExp(`^(${form})$`)));
  const isSize = (n) => between(0, ofShoe ? MAX_CARDS : Infinity)(n) && (n !== 1 || record.algorithm !== 'sattolo') &&
    (kind !== 'shoe' || n > 0);
  const isDraw = (m) => between(0, record.size)(m) && (!ofShoe || m === (kind === 'draw' ? readCards(record.cards).length :
    kind === 'shoe' && !('root' in record) ? 0 : record.size));
  const isCut = (at) => between(1, record.size - 1)(at) && 'root' in record && /^(shoe|all)$/.test(record.from ?? 'all');
  const isCutRange = ([low, high, ...more]) => isCut(low) && isCut(high) && low < high && more.length === 0 &&
    between(low, high)(record.cut);
  const rules = {
    id: like(UUID7), time: isTime, kind: like(/^[a-z0-9_-]+$/), spec: like(/^riffle\/1$/), audit_id: like(UUID7),
    version: between(2), from: isFrom, taken: like(kind === 'draw' ? /^(top|bottom|random|cards)$/ : /^cards$/),
    cards: (text) => readCards(text).length > 0, to: isTo, put: (end) => record.to !== 'dealt' && like(/^(top|bottom)$/)(end),
    algorithm: (name) => Object.keys(ALGORITHMS).includes(name), size: isSize, draw: isDraw,
    repeat: between(1, ofShoe ? 1 : Infinity), input: (text) => like(INPUT)(text) && (!changesShoe(record) || text === 'range'),
    items_digest: (rule) => like(/^[a-z0-9-]+\/[1-9]\d*$/)(rule) && record.input.startsWith('items '),
    hands: (all) => all.every(between(1)) && all.reduce((sum, hand) => sum + hand) <= record.draw, // fails if it is empty
    parameters: (map) => !Array.isArray(map) && Object.keys(map).length > 0 && Object.values(map).every(between(0)),
    cut: isCut, cut_range: isCutRange,
    client_seed: (seed) => like(/^[^\0]+$/)(seed) && utf8(seed).length <= 256, reveal: like(/^now$/),
    deadline: isLater, expires: isLater, reference: like(REFERENCE), commitment: like(DIGEST), root: like(DIGEST),
    commitment_id: (id) => like(UUID7)(id) && (kind === 'void' || 'client_seed' in record)};
  let members = (MEMBERS[kind] ?? 'id time kind spec').split(' ');
  if (kind === 'draw' && record.taken === 'random') members.push(...DRAWN.split(' '));
  if (record.to !== 'dealt') members = members.map((name) => name === 'put?' ? 'put' : name);
  for (const [name, rule] of Object.entries(rules)) {
    if (!MEMBERS[kind] && !members.includes(name)) continue; // of an unknown kind
    const isAllowed = members.includes(name) || members.includes(`${name}?`);
    demand(name in record ? isAllowed && rule(record[name]) : !members.includes(name), `the record's ${name} is not valid`);
  }
  return record;
}

// ---- Keys, keystream, integers, algorithms

async function deriveKey(block, message) {
  const key = await subtle.importKey('raw', unhex(block), {name: 'HMAC', hash: 'SHA-256'}, false, ['sign']);
  return subtle.importKey('raw', await subtle.sign('HMAC', key, message), 'AES-CTR', true, ['encrypt']);
}
export async function keystream(keys, shuffle, block) { // the words of 64 counter blocks, from this one on
  const word = (number) => number.toString(16).padStart(16, '0'), counter = unhex(word(shuffle) + word(block));
  const encrypt = (key) => subtle.encrypt({name: 'AES-CTR', counter, length: 64}, key, new Uint8Array(1024));
  const streams = await Promise.all(keys.map(async (key) => new DataView(await encrypt(key))));
  return Array.from({length: 128}, (_, i) => streams.reduce((sum, stream) => sum ^ stream.getBigUint64(8 * i), 0n));
}
async function replayShuffle({algorithm, size, draw}, keys, shuffle) {
  const [first, step, swap] = ALGORITHMS[algorithm](size), bound = (i) => BigInt(first + step * i), integers = [];
  const needed = /^(durstenfeld|inside-out)$/.test(algorithm) ? size - 1 : Math.min(draw, size - 1);
  for (let words = [], used = 0; integers.length < needed;) {
    let group = [], product = 1n, x, served;
    for (let i = integers.length; i < size - 1 && product * bound(i) <= 2n ** 56n; product *= bound(i++))
      group.push(bound(i));
    do {
      if (used % 128 === 0) words = await keystream(keys, shuffle, used / 2);
      x = words[used++ % 128];
      served = group.map((b) => { const wide = x * b; x = BigInt.asUintN(64, wide); return Number(wide >> 64n); });
    } while (x < 2n ** 64n % product);
    integers.push(...served);
  }
  const left = Array.from({length: swap ? 0 : size}, (_, i) => i);
  if (!swap) return [...integers, 0].slice(0, draw).map((s) => left.splice(s, 1)[0]); // the last one is alone
  const moved = new Map(), at = (place) => moved.get(place) ?? place; // only what moved, for n may be 2^53 - 1
  integers.forEach((u, i) => { const [p, q] = swap(i, u), item = at(p); moved.set(p, at(q)).set(q, item); });
  return Array.from({length: draw}, (_, i) => at(i));
}

async function drawCut([low, high], keys) { // from a keystream that no order uses
  const n = BigInt(high - low + 1), words = await keystream(keys, 1, 0);
  return low + Number(words.find((x) => BigInt.asUintN(64, x * n) >= 2n ** 64n % n) * n >> 64n);
}

// ---- Proof file

const FILE = ['spec', 'record', 'seed', 'client_seed', 'tlog_proof', 'log_key'];
const B = '[A-Za-z0-9+/]', END = '[AEIMQUYcgkosw048]=', HASH = `${B}{42}${END}`; // canonical base64
const SIGNATURE = `(?:${B}{4})+(?:${B}{4}|${B}{2}${END}|${B}{5}[AQgw]==)`, NAME = '[^\\p{White_Space}+\\x00-\\x1f]+';
const LOG_KEY = new RegExp(`^(${NAME})\\+([0-9a-f]{8})\\+(${B}{44})$`, 'u');
const TLOG_PROOF = new RegExp(`^c2sp\\.org/tlog-proof@v1\nindex (0|[1-9]\\d*)\n((?:${HASH}\n){0,63})\n` +
  `(([^\\x00-\\x1f]+)\n([1-9]\\d*)\n(${HASH})\n)\n((?:— ${NAME} ${SIGNATURE}\n){1,100})$`, 'u');

class NoFile extends Error {} // it shows nothing, and so is not false either
async function readFile(node) {
  if (node.problem) throw new NoFile(`${node.problem}, and so not a proof file`);
  if (!(node.value instanceof Map && node.value.has('record'))) throw new NoFile('it has no member record, and so is not a proof file');
  demand(node.duplicate === undefined, `its member ${node.duplicate} is there twice`);
  for (const name of node.value.keys()) demand(FILE.includes(name), `it has a member ${JSON.stringify(name)}, which no proof file has`);
  const file = {};
  for (const name of FILE) {
    const value = node.value.get(name)?.value;
    demand(typeof value === 'string' || (name === 'seed' && value === null), `its member ${name} is missing, or not a string`);
    file[name] = value;
  }
  demand(file.spec === 'riffle/1', `the file is of ${JSON.stringify(file.spec)}, not of riffle/1`);
  demand(/^([0-9a-f]{2})+$/.test(file.seed ?? '00'), 'its seed is not in lower-case hex, two digits a byte');
  const key = await readKey(file.log_key), tlog = TLOG_PROOF.exec(file.tlog_proof);
  demand(tlog, 'its tlog_proof does not have its form');
  const [, index, path, note, origin, leaves, root, lines] = tlog, number = {index: BigInt(index), leaves: BigInt(leaves)};
  demand(number.index < 2n ** 63n && number.leaves < 2n ** 63n, 'its tlog_proof does not have its form');
  const signatures = [...lines.matchAll(/— (.+) (.+)\n/g)].map(([, by, data]) => ({by, data: unbase64(data)}));
  return {...file, ...number, key, path: path.split('\n').slice(0, -1).map(unbase64), note, origin, root: hex(unbase64(root)), signatures};
}
async function readKey(text) {
  const [, name, id, base64] = LOG_KEY.exec(text) ?? [], point = name && unbase64(base64);
  demand(name && point[0] === 1 && hex(await sha256(name, '\n', point)).startsWith(id),
    'the log key is none: it has to be the verifier key of a log, <name>+<key hash>+<key>');
  return {name, id, point: point.slice(1)};
}
// Where a path leads from a leaf in a tree of size leaves; undefined if it does not have the length for that.
async function rootOf(leaf, index, size, path) {
  if (index >= size || (path.length > 0) !== (size > 1n)) return undefined;
  if (size === 1n) return leaf;
  const half = 2n ** BigInt((size - 1n).toString(2).length - 1), rest = path.slice(0, -1); // RFC 6962 splits it there
  const below = await (index < half ? rootOf(leaf, index, half, rest) : rootOf(leaf, index - half, size - half, rest));
  return below && (index < half ? sha256(Uint8Array.of(1), below, path.at(-1)) : sha256(Uint8Array.of(1), path.at(-1), below));
}

// A step is ok, wrong, unchecked (it was asked for or is required, and something is missing) or skipped (nobody asked).
class Steps extends Array {
  add(name, state, text) { this.push({name, state, text: printable(text)}); }
  find(name) { return Array.prototype.find.call(this, (step) => step.name === name); }
  first(state) { return Array.prototype.find.call(this, (step) => step.state === state); }
  has(name, state) { return this.find(name)?.state === state; }
}
const printable = (text) => text.replace(/[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]/g, '\ufffd');
const short = (text) => [...text].length > 60 ? `${[...text].slice(0, 60).join('')}...` : text;

// Checks one proof file. given has key, items, salt, order and commitment, where there are any; heldBack is the state of the
// step order if the seed is secret, by the record.
async function checkFile(node, given, heldBack) {
  const entry = {steps: new Steps()}, {steps} = entry;
  try {
    const file = await readFile(node);
    demand(!given.key || given.key === file.log_key, `the log of the file has the key ${file.log_key}, and the key given is ${given.key}`);
    entry.file = file;
    steps.add('proof', 'ok', `the file is well-formed; ${given.key ? 'its log key is the one given' :
      'no log key was given: the one in the file is used'}`);
  } catch (error) {
    steps.add('proof', error instanceof NoFile ? 'unchecked' : 'wrong', error.message);
    return entry;
  }
  try {
    const {file} = entry, record = readRecord(file.record);
    if (!MEMBERS[record.kind]) {
      steps.add('record', 'unchecked', `a record of an unknown kind, "${record.kind}": a later version may be able to check it`);
    } else {
      demand(file.client_seed === (record.client_seed ?? ''), 'the client seed of the file is not that of the record');
      demand(deals(record) || file.seed === null, `a record of kind ${record.kind} has no seed, and the file has one`);
      entry.record = record;
      steps.add('record', 'ok', describe(record));
    }
  } catch (error) { steps.add('record', error instanceof RangeError ? 'unchecked' : 'wrong', error.message); } // it is too deep
  if (entry.record) await replay(entry, given, heldBack(entry.record));
  await checkInclusion(entry);
  await checkSignature(entry);
  return entry;
}
async function checkInclusion({file, steps}) {
  const leaf = await sha256(Uint8Array.of(0), file.record), top = await rootOf(leaf, file.index, file.leaves, file.path);
  if (file.index >= file.leaves) {
    steps.add('inclusion', 'wrong', `the tree has ${file.leaves} records, and this is to be number ${file.index}, from 0`);
  } else if (!top || hex(top) !== file.root) {
    steps.add('inclusion', 'wrong', 'the hashes do not lead from this record to the root of the checkpoint');
  } else steps.add('inclusion', 'ok', `the record is number ${file.index}, from 0, of the ${file.leaves} in the tree`);
}
async function checkSignature({file: {key, origin, note, signatures}, steps}) {
  const own = signatures.filter(({by, data}) => by === key.name && hex(data).startsWith(key.id));
  let holds = false;
  try {
    const verifier = await subtle.importKey('raw', key.point, 'Ed25519', false, ['verify']), text = utf8(note);
    holds = (await Promise.all(own.map(({data}) => subtle.verify('Ed25519', verifier, data.slice(4), text)))).every(Boolean);
  } catch { // the key is no point of the curve
  }
  if (origin !== key.name) steps.add('signature', 'wrong', `the checkpoint is of "${origin}", and the key is of "${key.name}"`);
  else if (own.length === 0) steps.add('signature', 'wrong', `the checkpoint is not signed by the key of ${key.name}`);
  else if (!holds) steps.add('signature', 'wrong', 'a signature of the checkpoint, of the name and hash of the key, is wrong');
  else steps.add('signature', 'ok', `the checkpoint is signed with the key of ${key.name}`);
}
// Checks that an earlier commitment in the same log fixed the order of a shuffle or a shoe, except for the client seed.
async function checkCommitted(steps, {file, record}, commitment) {
  if (!usesCommitment(record)) return;
  const id = record.commitment_id, wrong = (text) => steps.add('committed', 'wrong', text);
  if (!commitment) {
    steps.add('committed', 'skipped', `the record names the commitment ${id}, of which no proof was given`);
    return;
  }
  const other = await checkFile(commitment, {key: file.log_key}, () => 'skipped');
  const failed = other.steps.first('wrong'), made = other.record;
  const same = (name) => JSON.stringify(made[name]) === JSON.stringify(record[name]);
  if (other.steps.has('proof', 'unchecked')) {
    steps.add('committed', 'unchecked', `the proof of the commitment: ${other.steps.find('proof').text}`);
  } else if (failed) wrong(`the proof of the commitment fails at the step ${failed.name}: ${failed.text}`);
  else if (made?.kind !== 'commitment') wrong('the proof given is of no commitment');
  else if (made.id !== id) wrong(`the record does not say that it used the commitment ${made.id}`);
  else if (!same('commitment')) wrong(`the record has the commitment ${record.commitment}, and ${made.commitment} was committed to`);
  else if (!STATEMENT.every(same)) wrong('the record states something else than was committed to');
  else if (record.time >= made.deadline) wrong(`the record is of ${record.time}, and the deadline was ${made.deadline}`);
  else if (other.file.index >= file.index) {
    wrong(`the commitment is number ${other.file.index} in the log, from 0, and so not before the shuffle, which is number ${file.index}`);
  } else {
    steps.add('committed', 'ok', `the commitment ${id} is earlier in the same log: it fixed seed and statement, and was used ` +
      'before its deadline');
  }
}

// ---- Verifying: the seed, the order that follows from it, and the items

async function replay(entry, given, heldBack) {
  const {file, record, steps} = entry, {order} = given;
  if (!deals(record)) {
    for (const [name, asked] of [['order', order], ['items', given.items]])
      if (asked) steps.add(name, 'unchecked', `a record of kind ${record.kind} has none`);
    return;
  }
  const answered = file.seed === null ? seedOfAnswer(order, record) : undefined;
  if (answered) file.seed = answered;
  if (file.seed === null) {
    for (const name of ['seed', 'commitment', 'keys']) steps.add(name, 'skipped', 'the seed is held back');
    const other = order && otherNames(order, entry);
    steps.add('order', other ? 'wrong' : order ? 'unchecked' : heldBack, other || 'the seed is held back, and the order follows from it');
    await checkItems(entry, given);
    return;
  }
  const {algorithm, size, draw, repeat} = record, blocks = file.seed.match(/.{1,64}/g), few = draw > 1024 ? 0 : draw;
  const results = Array.from({length: few}, (_, i) => BigInt(size - i)).reduce((product, n) => product * n, 1n);
  const asked = entry.blocks = Math.ceil(((results - 1n).toString(2).length + 64) / 256); // log2 rounded up gives the same
  const got = Math.floor(file.seed.length / 64);
  steps.add('seed', 'ok', (got < asked ? `warning: ${got} block(s) of 256 bits, and riffle/1 asks for ${asked}` :
    `${got} block(s) of 256 bits; riffle/1 asks for ${asked}`) + (draw > 1024 ? '; computationally, not exhaustively, complete' : '') +
    (answered ? '; it is that of the answer, for the file has none' : ''));

  const lines = STATEMENT.map((name) => name in record ? `${name} ${record[name]}\n` : ''); // hands with commas
  entry.statement = `riffle/1\n${lines.join('')}seed ${file.seed}\n`;
  const hash = await sha256(entry.statement);
  if (hex(hash) !== record.commitment) {
    steps.add('commitment', 'wrong', `the statement with its seed has the SHA-256 ${hex(hash)}, but the record commits to ` +
      record.commitment);
    return;
  }
  steps.add('commitment', 'ok', `the SHA-256 of the statement with its seed is the record's commitment, ${record.commitment}`);

  if (!/^(.{64}){1,213}$/.test(file.seed) || new Set(blocks).size !== blocks.length) {
    steps.add('keys', 'wrong', 'the seed is not 1 to 213 different blocks of 32 bytes');
    return;
  }
  const message = concat(['riffle/1 key\n', hash, file.client_seed]);
  entry.keys = await Promise.all(blocks.map((block) => deriveKey(block, message)));
  steps.add('keys', 'ok', `${blocks.length} derived from the seed, the commitment and a client seed of ` +
    `${utf8(file.client_seed).length} bytes`);

  const moving = size + size * draw / 2 ** 16; // strike-out takes one out of a list, which moves many
  const work = {'fisher-yates': draw, 'sattolo': draw, 'strike-out': moving}[algorithm] ?? size;
  if (repeat * Math.max(work, blocks.length) > MOST) {
    steps.add('order', 'unchecked', 'replaying it takes too long for this program');
    return;
  }
  entry.orders = [];
  for (let number = 0; number < repeat; number++) entry.orders.push(await replayShuffle(record, entry.keys, number));
  const {cut: at, cut_range: range} = record, from = range && `from ${range[0]} to ${range[1]}`;
  const drawn = range && await drawCut(range, entry.keys);
  if (drawn !== undefined && drawn !== at) {
    entry.orders = undefined;
    steps.add('order', 'wrong', `the seed draws the cut ${drawn} ${from}, and the record says ${at}`);
    return;
  }
  const cut = range ? `; the cut, ${at}, is the one drawn ${from}` : '';
  const digest = hex(await sha256(entry.orders.map((positions) => `${JSON.stringify(positions)}\n`).join('')));
  steps.add('order', 'ok', `${draw} of ${size} replayed by ${algorithm}, ${repeat} time(s)${cut}; the SHA-256 of the positions is ${digest}`);
  const step = steps.at(-1);
  await checkItems(entry, given);
  if (order) compareOrder(step, entry, order);
  await checkRoot(entry);
}

const DECKS = { // the codes of all cards of a deck, as in its digest; R1*2 is R1 twice
  standard52: 'AS 2S 3S 4S 5S 6S 7S 8S 9S TS JS QS KS AH 2H 3H 4H 5H 6H 7H 8H 9H TH JH QH KH AD 2D 3D 4D 5D 6D 7D 8D 9D TD ' +
    'JD QD KD AC 2C 3C 4C 5C 6C 7C 8C 9C TC JC QC KC',
  standard54: 'AS 2S 3S 4S 5S 6S 7S 8S 9S TS JS QS KS AH 2H 3H 4H 5H 6H 7H 8H 9H TH JH QH KH AD 2D 3D 4D 5D 6D 7D 8D 9D TD ' +
    'JD QD KD AC 2C 3C 4C 5C 6C 7C 8C 9C TC JC QC KC X1 X2',
  euchre24: 'AS 9S TS JS QS KS AH 9H TH JH QH KH AD 9D TD JD QD KD AC 9C TC JC QC KC',
  piquet32: 'AS 7S 8S 9S TS JS QS KS AH 7H 8H 9H TH JH QH KH AD 7D 8D 9D TD JD QD KD AC 7C 8C 9C TC JC QC KC',
  pinochle48: 'AS*2 9S*2 TS*2 JS*2 QS*2 KS*2 AH*2 9H*2 TH*2 JH*2 QH*2 KH*2 AD*2 9D*2 TD*2 JD*2 QD*2 KD*2 AC*2 9C*2 TC*2 ' +
    'JC*2 QC*2 KC*2',
  spanish40: '1O 2O 3O 4O 5O 6O 7O 10O 11O 12O 1C 2C 3C 4C 5C 6C 7C 10C 11C 12C 1E 2E 3E 4E 5E 6E 7E 10E 11E 12E 1B 2B 3B ' +
    '4B 5B 6B 7B 10B 11B 12B',
  spanish48: '1O 2O 3O 4O 5O 6O 7O 8O 9O 10O 11O 12O 1C 2C 3C 4C 5C 6C 7C 8C 9C 10C 11C 12C 1E 2E 3E 4E 5E 6E 7E 8E 9E 10E ' +
    '11E 12E 1B 2B 3B 4B 5B 6B 7B 8B 9B 10B 11B 12B',
  tarot78: 'AS 2S 3S 4S 5S 6S 7S 8S 9S TS JS NS QS KS AH 2H 3H 4H 5H 6H 7H 8H 9H TH JH NH QH KH AD 2D 3D 4D 5D 6D 7D 8D ' +
    '9D TD JD ND QD KD AC 2C 3C 4C 5C 6C 7C 8C 9C TC JC NC QC KC T1 T2 T3 T4 T5 T6 T7 T8 T9 T10 T11 T12 T13 T14 ' +
    'T15 T16 T17 T18 T19 T20 T21 T0',
  hanafuda48: '01B 01R 01C1 01C2 02A 02R 02C1 02C2 03B 03R 03C1 03C2 04A 04R 04C1 04C2 05A 05R 05C1 05C2 06A 06R 06C1 06C2 ' +
    '07A 07R 07C1 07C2 08B 08A 08C1 08C2 09A 09R 09C1 09C2 10A 10R 10C1 10C2 11B 11A 11R 11C1 12B 12C1 12C2 12C3',
  uno108: 'R0 R1*2 R2*2 R3*2 R4*2 R5*2 R6*2 R7*2 R8*2 R9*2 RS*2 RR*2 RD*2 Y0 Y1*2 Y2*2 Y3*2 Y4*2 Y5*2 Y6*2 Y7*2 Y8*2 ' +
    'Y9*2 YS*2 YR*2 YD*2 G0 G1*2 G2*2 G3*2 G4*2 G5*2 G6*2 G7*2 G8*2 G9*2 GS*2 GR*2 GD*2 B0 B1*2 B2*2 B3*2 B4*2 ' +
    'B5*2 B6*2 B7*2 B8*2 B9*2 BS*2 BR*2 BD*2 W*4 WF*4',
  uno112: 'R0 R1*2 R2*2 R3*2 R4*2 R5*2 R6*2 R7*2 R8*2 R9*2 RS*2 RR*2 RD*2 Y0 Y1*2 Y2*2 Y3*2 Y4*2 Y5*2 Y6*2 Y7*2 Y8*2 ' +
    'Y9*2 YS*2 YR*2 YD*2 G0 G1*2 G2*2 G3*2 G4*2 G5*2 G6*2 G7*2 G8*2 G9*2 GS*2 GR*2 GD*2 B0 B1*2 B2*2 B3*2 B4*2 ' +
    'B5*2 B6*2 B7*2 B8*2 B9*2 BS*2 BR*2 BD*2 W*4 WF*4 WS WC*3',
  mahjong136: '1m*4 2m*4 3m*4 4m*4 5m*4 6m*4 7m*4 8m*4 9m*4 1p*4 2p*4 3p*4 4p*4 5p*4 6p*4 7p*4 8p*4 9p*4 1s*4 2s*4 3s*4 ' +
    '4s*4 5s*4 6s*4 7s*4 8s*4 9s*4 1z*4 2z*4 3z*4 4z*4 5z*4 6z*4 7z*4',
  mahjong144: '1m*4 2m*4 3m*4 4m*4 5m*4 6m*4 7m*4 8m*4 9m*4 1p*4 2p*4 3p*4 4p*4 5p*4 6p*4 7p*4 8p*4 9p*4 1s*4 2s*4 3s*4 ' +
    '4s*4 5s*4 6s*4 7s*4 8s*4 9s*4 1z*4 2z*4 3z*4 4z*4 5z*4 6z*4 7z*4 1q 2q 3q 4q 1f 2f 3f 4f',
  sichuan108: '1m*4 2m*4 3m*4 4m*4 5m*4 6m*4 7m*4 8m*4 9m*4 1p*4 2p*4 3p*4 4p*4 5p*4 6p*4 7p*4 8p*4 9p*4 1s*4 2s*4 3s*4 ' +
    '4s*4 5s*4 6s*4 7s*4 8s*4 9s*4',
  riichi136: '1m*4 2m*4 3m*4 4m*4 5m*3 0m 6m*4 7m*4 8m*4 9m*4 1p*4 2p*4 3p*4 4p*4 5p*3 0p 6p*4 7p*4 8p*4 9p*4 1s*4 2s*4 ' +
    '3s*4 4s*4 5s*3 0s 6s*4 7s*4 8s*4 9s*4 1z*4 2z*4 3z*4 4z*4 5z*4 6z*4 7z*4',
  sanguosha108: 'sha-S7 sha-S8*2 sha-S9*2 sha-ST*2 sha-HT*2 sha-HJ sha-D6 sha-D7 sha-D8 sha-D9 sha-DT sha-DK sha-C2 sha-C3 ' +
    'sha-C4 sha-C5 sha-C6 sha-C7 sha-C8*2 sha-C9*2 sha-CT*2 sha-CJ*2 shan-H2*2 shan-HK shan-D2*2 shan-D3 shan-D4 ' +
    'shan-D5 shan-D6 shan-D7 shan-D8 shan-D9 shan-DT shan-DJ*2 tao-H3 tao-H4 tao-H6 tao-H7 tao-H8 tao-H9 tao-HQ ' +
    'tao-DQ guohe-S3 guohe-S4 guohe-SQ guohe-HQ guohe-C3 guohe-C4 shunshou-S3 shunshou-S4 shunshou-SJ shunshou-D3 ' +
    'shunshou-D4 wuxie-SJ wuxie-DQ wuxie-CQ wuxie-CK wuzhong-H7 wuzhong-H8 wuzhong-H9 wuzhong-HJ nanman-S7 ' +
    'nanman-SK nanman-C7 juedou-SA juedou-DA juedou-CA jiedao-CQ jiedao-CK wugu-H3 wugu-H4 taoyuan-HA wanjian-HA ' +
    'lebu-S6 lebu-H6 lebu-C6 shandian-SA shandian-HQ liannu-DA liannu-CA hanbing-S2 qinggang-S6 shuanggu-S2 ' +
    'guanshi-D5 shemao-SQ qinglong-S5 fangtian-DQ qilin-H5 bagua-S2 bagua-C2 renwang-C2 jueying-S5 dilu-C5 ' +
    'zhuahuang-HK chitu-H5 dayuan-SK zixing-DK',
  sanguosha160: 'sha-S7 sha-S8*2 sha-S9*2 sha-ST*2 sha-HT*2 sha-HJ sha-D6 sha-D7 sha-D8 sha-D9 sha-DT sha-DK sha-C2 sha-C3 ' +
    'sha-C4 sha-C5 sha-C6 sha-C7 sha-C8*2 sha-C9*2 sha-CT*2 sha-CJ*2 shan-H2*2 shan-H8 shan-H9 shan-HJ shan-HQ ' +
    'shan-HK shan-D2*2 shan-D3 shan-D4 shan-D5 shan-D6*2 shan-D7*2 shan-D8*2 shan-D9 shan-DT*2 shan-DJ*3 tao-H3 ' +
    'tao-H4 tao-H5 tao-H6*2 tao-H7 tao-H8 tao-H9 tao-HQ tao-D2 tao-D3 tao-DQ leisha-S4 leisha-S5 leisha-S6 ' +
    'leisha-S7 leisha-S8 leisha-C5 leisha-C6 leisha-C7 leisha-C8 huosha-H4 huosha-H7 huosha-HT huosha-D4 ' +
    'huosha-D5 jiu-S3 jiu-S9 jiu-D9 jiu-C3 jiu-C9 guohe-S3 guohe-S4 guohe-SQ guohe-HQ guohe-C3 guohe-C4 ' +
    'shunshou-S3 shunshou-S4 shunshou-SJ shunshou-D3 shunshou-D4 wuxie-SJ wuxie-SK wuxie-HA wuxie-HK wuxie-DQ ' +
    'wuxie-CQ wuxie-CK wuzhong-H7 wuzhong-H8 wuzhong-H9 wuzhong-HJ nanman-S7 nanman-SK nanman-C7 juedou-SA ' +
    'juedou-DA juedou-CA jiedao-CQ jiedao-CK wugu-H3 wugu-H4 taoyuan-HA wanjian-HA tiesuo-SJ tiesuo-SQ tiesuo-CT ' +
    'tiesuo-CJ tiesuo-CQ tiesuo-CK huogong-H2 huogong-H3 huogong-DQ lebu-S6 lebu-H6 lebu-C6 shandian-SA shandian- ' +
    'HQ bingliang-ST bingliang-C4 liannu-DA liannu-CA hanbing-S2 qinggang-S6 shuanggu-S2 guanshi-D5 shemao-SQ ' +
    'qinglong-S5 fangtian-DQ qilin-H5 guding-SA zhuque-DA bagua-S2 bagua-C2 renwang-C2 tengjia-S2 tengjia-C2 ' +
    'baiyin-CA jueying-S5 dilu-C5 zhuahuang-HK chitu-H5 dayuan-SK zixing-DK hualiu-DK',
  werewolf12: 'werewolf*4 villager*4 seer witch hunter idiot',
  dominoes28: '0-0 0-1 0-2 0-3 0-4 0-5 0-6 1-1 1-2 1-3 1-4 1-5 1-6 2-2 2-3 2-4 2-5 2-6 3-3 3-4 3-5 3-6 4-4 4-5 4-6 5-5 5-6 ' +
    '6-6',
  paigow32: '6-6*2 1-1*2 4-4*2 1-3*2 5-5*2 3-3*2 2-2*2 5-6*2 4-6*2 1-6*2 1-5*2 3-6 4-5 2-6 3-5 2-5 3-4 2-4 1-4 2-3 1-2',
  set81: '1RDS 1RDT 1RDO 1RSS 1RST 1RSO 1ROS 1ROT 1ROO 1GDS 1GDT 1GDO 1GSS 1GST 1GSO 1GOS 1GOT 1GOO 1PDS 1PDT 1PDO ' +
    '1PSS 1PST 1PSO 1POS 1POT 1POO 2RDS 2RDT 2RDO 2RSS 2RST 2RSO 2ROS 2ROT 2ROO 2GDS 2GDT 2GDO 2GSS 2GST 2GSO ' +
    '2GOS 2GOT 2GOO 2PDS 2PDT 2PDO 2PSS 2PST 2PSO 2POS 2POT 2POO 3RDS 3RDT 3RDO 3RSS 3RST 3RSO 3ROS 3ROT 3ROO ' +
    '3GDS 3GDT 3GDO 3GSS 3GST 3GSO 3GOS 3GOT 3GOO 3PDS 3PDT 3PDO 3PSS 3PST 3PSO 3POS 3POT 3POO',
};
// Some roles depend on parameters, which have defaults.
const undercover = ({players = 6, undercover = players <= 6 ? 1 : players <= 10 ? 2 : 3, blank = 0, ...others}) => {
  const civilians = players - undercover - blank;
  const fits = players >= 4 && players <= 16 && undercover >= 1 && undercover <= 7 && blank <= 6 && 2 * civilians > players;
  return fits && Object.keys(others).length === 0 ? `civilian*${civilians} undercover*${undercover} blank*${blank}` : undefined;
};
function codesOf(type, parameters) { // undefined for a deck that is not known here
  const isKnown = Object.hasOwn(DECKS, type) && !parameters;
  const runs = type === 'undercover' ? undercover(parameters ?? {}) : isKnown ? DECKS[type] : undefined;
  return runs?.split(' ').flatMap((run) => { const [code, n = 1] = run.split('*'); return Array(Number(n)).fill(code); });
}

// What was shuffled, by numbers, which are positions in the input: the text of a card is what a seal commits to, and its
// instance, if it is one of a deck, which of the equal cards it is.
const numbers = (size) => ({size, text: String});
function cardsOf(codes, size) {
  const counts = {__proto__: null}, instances = codes.map((code) => counts[code] = (counts[code] ?? 0) + 1), n = codes.length;
  return {size, text: (number) => codes[number % n],
    instance: (number) => instances[number % n] + Math.floor(number / n) * counts[codes[number % n]]};
}
const plainText = (cards, number) => cards.instance ? cards.text(number) : canonical(parse(cards.text(number)));

// Adds the step items, which compares what was shuffled with the input of the record, and sets the cards if they are known.
async function checkItems(entry, {items, salt}) {
  const {record, steps} = entry, {input, size, items_digest: rule} = record, words = input.split(' ');
  const conclude = (state, text, cards) => { steps.add('items', state, text); entry.cards = cards; };
  if (changesShoe(record)) {
    return conclude(items ? 'unchecked' : 'skipped', 'the record is of cards by the places where they lay: which they were, the ' +
      'proof of the whole shoe says', numbers(size));
  }
  if (items) {
    const sum = `sha256:${hex(await sha256(items.text))}`;
    const digest = salt ? `sha256:${hex(await sha256(`riffle/1 items\nsalt ${salt}\n${sum}\n`))}` : sum, list = items.value;
    if (rule && rule !== 'salted/1') {
      return conclude('unchecked', `their digest was taken by the rule ${rule}, which is not known here: a later version may be ` +
        'able to check it');
    }
    if (rule && !salt) return conclude('unchecked', 'their digest is salted, and the salt was not given');
    if (!rule && salt) return conclude('wrong', 'a salt was given, and the record says that nothing is salted');
    if (input === 'range') return conclude('wrong', 'the record is of a shuffle of the numbers from 0 on, and of no items');
    if (!input.endsWith(` ${digest}`)) return conclude('wrong', `the items given have the digest ${digest}, and the record says ${input}`);
    if (list.length !== size) return conclude('wrong', `the items given are ${list.length}, and the record is of ${size}`);
    return conclude('ok', 'the items given have the digest in the record', words[0] === 'deck' ?
      cardsOf(list.map((node) => string(node) ?? node.text), size) : {size, text: (number) => list[number].text});
  }
  if (input === 'range') return conclude('ok', 'the numbers from 0 on; there is nothing to compare', numbers(size));
  if (words[0] !== 'deck') return conclude('skipped', 'not given; the record has their digest');
  const [, type, copies, digest] = words, codes = codesOf(type, record.parameters);
  if (!codes) return conclude('skipped', `there is no such deck type ${type} here: the codes of its cards can be given as items`);
  if (size % codes.length !== 0 || copies !== `x${size / codes.length}`) {
    return conclude('wrong', `the record is of ${size} cards, ${copies}, and one deck of ${type} has ${codes.length}`);
  }
  if (size > MOST) return conclude('unchecked', `the digest of ${size} cards is not taken; at most of ${MOST}`);
  const all = Array(size / codes.length).fill(codes.map((code) => `"${code}"`).join()).join();
  if (digest !== `sha256:${hex(await sha256(`[${all}]`))}`) {
    return conclude('wrong', `the deck of the record, ${input}, is not the ${type} that comes with Riffle`);
  }
  return conclude('ok', `${copies.slice(1)} deck(s) of ${type}, whose cards have the digest in the record`, cardsOf(codes, size));
}

// An order is an array, or a whole answer with items, hands and rest, or shuffles.
function readOrder(text) {
  const node = parse(text), isAnswer = node.value instanceof Map, has = (name) => node.value.has(name);
  demand(isAnswer || Array.isArray(node.value), 'neither an answer of POST /shuffle nor a JSON array');
  demand(!isAnswer || has('items') || has('shuffles') || (has('hands') && has('rest')),
    'an object without items, hands and rest, or shuffles: not an answer of POST /shuffle');
  for (const name of isAnswer ? ['items', 'hands', 'rest', 'shuffles'] : [])
    demand(!has(name) || Array.isArray(node.value.get(name).value), `an answer whose ${name} are not an array`);
  return {isAnswer, list: node.value, get: (name) => isAnswer ? node.value.get(name) : undefined};
}
function seedOfAnswer(order, record) { // the seed that the answer to the request of the record has
  const id = order?.get('audit_id'), seed = string(order?.get('seed'));
  return (!id || string(id) === record.id) && /^([0-9a-f]{2})+$/.test(seed ?? '') ? seed : undefined;
}
// Says what in an answer is not of the record: its id, its place in the log, its algorithm, its commitment or its seed.
function otherNames(order, {file, record}) {
  for (const [name, want] of [['audit_id', record.id], ['algorithm', record.algorithm], ['commitment', record.commitment]]) {
    const got = order.get(name);
    if (got && string(got) !== want) return `the answer has the ${name} ${short(got.text)}, and the record has ${want}`;
  }
  const seed = order.get('seed');
  if (file.seed !== null && seed && string(seed) !== file.seed) return 'the answer has another seed than the file';
  const index = order.get('log_index');
  if (index && !(whole(index) >= 0 && BigInt(whole(index)) === file.index)) {
    return `the answer has the log_index ${short(index.text)}, and the record has ${file.index}`;
  }
  return undefined;
}
function compareOrder(step, entry, order) {
  const {record, orders, cards} = entry, conclude = (state, text) => Object.assign(step, {state, text: printable(text)});
  const other = otherNames(order, entry);
  if (other) return conclude('wrong', other);
  if (!cards) return conclude('unchecked', 'replayed, but it takes the items of the record to compare it with the order given');
  try {
    for (const shuffles of formsOf(order, record)) compareShuffles(shuffles, orders, cards, record);
  } catch (error) { return conclude('wrong', error.message); }
  return conclude('ok', `${step.text}; it is the order given`);
}
function formsOf(order, {repeat, hands = []}) { // the items of each shuffle, once for every form in which the order has them
  const elements = (node, what) => { demand(Array.isArray(node.value), `${what}: not a JSON array`); return node.value; };
  const join = (dealt) => { // hands and the rest
    demand(dealt.length === hands.length + 1, `the order given has ${dealt.length - 1} hands, and ${hands.length} were dealt`);
    return dealt.flatMap((hand, i) => {
      const values = elements(hand, 'a hand of the order given');
      demand(i >= hands.length || values.length === hands[i],
        `hand ${i}, from 0, of the order given has ${values.length} items, and ${hands[i]} were dealt`);
      return values;
    });
  };
  const split = (list, isDealt) => {
    demand(list.length === repeat, `the order given is of ${list.length} shuffle(s), and there were ${repeat}`);
    return list.map((shuffle) => {
      const values = elements(shuffle, 'a shuffle of the order given');
      return isDealt ? join(values) : values;
    });
  };
  if (!order.isAnswer) return [repeat === 1 ? [order.list] : split(order.list, false)];
  const [items, dealt, rest, shuffles] = ['items', 'hands', 'rest', 'shuffles'].map(order.get), forms = [];
  demand(repeat === 1 || shuffles, `the order given is of 1 shuffle(s), and there were ${repeat}`);
  if (items && repeat === 1) forms.push([items.value]);
  if (dealt && rest && repeat === 1) forms.push([join([...dealt.value, rest])]);
  if (shuffles) forms.push(split(shuffles.value, hands.length > 0));
  return forms;
}
function compareShuffles(shuffles, orders, cards, {repeat, draw}) {
  shuffles.forEach((answered, number) => {
    const which = repeat === 1 ? '' : `shuffle ${number}, from 0: `;
    demand(answered.length === draw, `${which}the order given has ${answered.length} items, and ${draw} were drawn`);
  });
  shuffles.forEach((answered, number) => orders[number].forEach((position, i) => {
    const which = repeat === 1 ? '' : `shuffle ${number}, from 0: `, {want, fits} = match(cards, position, answered[i]);
    demand(fits, `${which}the order given has ${short(answered[i].text)} at place ${i}, where the replay has ${short(want)}`);
  }));
}
// Compares values, however they are laid out; cards that were answered with all details, by code and instance.
function match(cards, number, answered) {
  const text = cards.text(number);
  if (!cards.instance) return {want: text, fits: plainText(cards, number) === canonical(answered)};
  if (!(answered.value instanceof Map)) return {want: `"${text}"`, fits: string(answered) === text};
  const fits = string(answered.value.get('code')) === text && whole(answered.value.get('instance')) === cards.instance(number);
  return {want: `"${text}", instance ${cards.instance(number)}`, fits};
}

// ---- Shoes: sealing

function bytes8(number) {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(number));
  return bytes;
}
const leafOf = async (salt, position, text) => sha256(Uint8Array.of(0), await sha256(salt, bytes8(position), text));
async function rootOfLeaves(leaves) {
  if (leaves.length < 2) return leaves[0] ?? sha256();
  const half = 2 ** (31 - Math.clz32(leaves.length - 1));
  return sha256(Uint8Array.of(1), await rootOfLeaves(leaves.slice(0, half)), await rootOfLeaves(leaves.slice(half)));
}
// Says why the cards in an order do not have the root in the record; undefined if they have.
async function otherRoot({file, record}, order, cards) {
  const key = await subtle.importKey('raw', unhex(file.seed), {name: 'HMAC', hash: 'SHA-256'}, false, ['sign']);
  const prefix = concat(['riffle/1 salt\n', unhex(record.commitment)]);
  const leaf = async (number, position) => {
    const message = concat([prefix, bytes8(position)]);
    return leafOf(new Uint8Array(await subtle.sign('HMAC', key, message)), position, cards.text(number));
  };
  const unknown = order.find((number) => number >= cards.size);
  if (unknown !== undefined) return `there is no card ${unknown}: the record is of ${cards.size}`;
  const root = hex(await rootOfLeaves(await Promise.all(order.map(leaf))));
  return root === record.root ? undefined : `the cards in this order have the root ${root}, and the record has ${record.root}`;
}
async function checkRoot(entry) { // of one record
  const {record, steps, orders, cards} = entry;
  if (!('root' in record)) return;
  if (record.kind === 'reshuffle') steps.add('root', 'skipped', 'which cards lay there, only the proof of the whole shoe says');
  else if (!cards) steps.add('root', 'skipped', 'the cards are not known, for the items were not given');
  else {
    const other = await otherRoot(entry, orders[0], cards);
    steps.add('root', other ? 'wrong' : 'ok', other ?? 'salts from the seed and the cards in this order have the root in the record');
  }
}

// ---- Shoes: references and places

// A reference is a text, version:position. Writes a list of them as runs, each as long as possible.
function writeCards(refs) {
  const places = refs.map((ref) => ref.split(':').map(Number)), words = [];
  for (let i = 0, end; i < places.length; i = end) {
    const [seal, first] = places[i], step = places[i + 1]?.[0] === seal ? places[i + 1][1] - first : 0;
    end = i + 1;
    if (Math.abs(step) === 1) while (places[end]?.[0] === seal && places[end][1] - places[end - 1][1] === step) end++;
    words.push(end === i + 1 ? refs[i] : `${refs[i]}-${places[end - 1][1]}`);
  }
  return words.join(' ');
}
function readCards(text) {
  demand(typeof text === 'string' && text !== '', "the record's cards are not valid");
  const refs = [];
  for (const word of text.split(' ')) {
    const [, seal, from, to = from] = /^(\d{1,16}):(\d{1,16})(?:-(\d{1,16}))?$/.exec(word) ?? [];
    const [version, first, last] = [seal, from, to].map(Number), isRun = [version, first, last].every(Number.isSafeInteger);
    demand(isRun && Math.abs(last - first) < MAX_CARDS, "the record's cards are not valid");
    for (let at = first, step = last < first ? -1 : 1; ; at += step) {
      refs.push(`${seal}:${at}`);
      if (at === last) break;
    }
  }
  demand(refs.length <= MAX_CARDS && new Set(refs).size === refs.length && writeCards(refs) === text, "the record's cards are not valid");
  return refs;
}
const allOf = (version, size) => Array.from({length: size}, (_, position) => `${version}:${position}`);

class Layout { // where the cards lie; piles by the bytes of their names
  constructor(size) { Object.assign(this, {version: 1, seals: 1, deck: allOf(1, size), dealt: [], piles: new Map()}); }
  names() { return [...this.piles.keys()].sort(); }
  at(place) {
    const out = () => [...this.dealt, ...this.names().flatMap((name) => this.piles.get(name))];
    if (place === 'shoe') return this.deck;
    if (place === 'dealt') return this.dealt;
    if (place === 'out') return out();
    if (place === 'all') return [...this.deck, ...out()];
    demand(this.piles.has(place), 'there is no such pile');
    return this.piles.get(place);
  }
  set(place, cards) {
    if (place === 'shoe') this.deck = cards;
    else if (place === 'dealt') this.dealt = cards;
    else this.piles.set(place, cards);
  }
  take(from, end, count) {
    const cards = this.at(from);
    demand(count <= cards.length, `${count} cards are wanted, and there are ${cards.length}`);
    return (end === 'top') === (from === 'shoe') ? cards.slice(0, count) : cards.slice(cards.length - count).reverse();
  }
  move({from, to, put}, refs) {
    const taken = new Set(refs), lying = new Set(this.at(from)), left = (cards) => cards.filter((ref) => !taken.has(ref));
    demand(refs.every((ref) => lying.has(ref)), 'these cards do not lie there');
    for (const place of from === 'out' ? ['dealt', ...this.names()] : [from]) this.set(place, left(this.at(place)));
    const isNew = to.startsWith('pile ') && !this.piles.has(to);
    demand(!isNew || this.piles.size < MAX_PILES, 'a shoe has at most 256 piles and 4096 seals');
    const there = isNew ? [] : this.at(to);
    this.set(to, to !== 'dealt' && (put === 'top') === (to === 'shoe') ? [...refs, ...there] : [...there, ...refs]);
    this.version++;
  }
  shuffle(place) {
    demand(this.seals++ < MAX_SEALS, 'a shoe has at most 256 piles and 4096 seals');
    const sealed = allOf(++this.version, this.at(place).length);
    if (place === 'all') Object.assign(this, {deck: sealed, dealt: [], piles: new Map()});
    else this.set(place, sealed);
  }
}

// ---- Shoes: one hand

function readHand(text) {
  const node = parse(text), list = node.value instanceof Map && node.value.has('cards') ? node.value.get('cards') : node;
  demand(node.value instanceof Map || Array.isArray(node.value), 'neither an answer of a shoe nor cards');
  demand(list === node || Array.isArray(list.value), 'not a JSON array');
  const cards = Array.isArray(list.value) ? list.value : [list];
  demand(cards.length >= 1 && cards.length <= MAX_CARDS, `a hand of ${cards.length} cards, and there are 1 to ${MAX_CARDS}`);
  return cards.map((card, i) => {
    try { return readCard(card); } catch (error) { throw new Error(`card ${i}, from 0: ${error.message}`); }
  });
}
function readCard(node) {
  demand(node.value instanceof Map, 'it is not an object');
  const get = (name) => node.value.get(name), given = (name) => get(name) && get(name).value !== null ? get(name) : undefined;
  const number = (name) => { demand(whole(get(name)) >= 0, `its ${name} is not a number from 0 on`); return whole(get(name)); };
  const card = {sealedBy: string(get('sealed_by')), position: number('position')};
  demand(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(card.sealedBy), 'its sealed_by is not the id of a record');
  for (const name of ['card', 'instance']) if (get(name)) card[name] = number(name);
  const code = given('code'), item = get('item'), salt = given('salt'), path = given('path');
  demand(Boolean(code) !== Boolean(item), 'it has to have either a code or an item');
  if (code) {
    demand(/^[A-Za-z0-9-]+$/.test(string(code) ?? ''), 'its code is none: codes are ASCII letters, digits and hyphens');
    Object.assign(card, {isCode: true, texts: [code.value], plain: code.value});
  } else Object.assign(card, {isCode: false, texts: layouts(item), plain: canonical(item)});
  demand(Boolean(salt) === Boolean(path), 'it takes both salt and path to prove it');
  if (!salt) return card;
  demand(Array.isArray(path.value) && path.value.length <= 64, 'it takes both salt and path to prove it');
  const hashes = [salt, ...path.value].map((hash) => string(hash) ?? '');
  demand(hashes.every((hash) => DIGEST.test(hash)), 'its salt or a hash of its path is not 64 hex digits in lower case');
  return Object.assign(card, {salt: unhex(hashes[0]), path: hashes.slice(1).map(unhex)});
}
// The texts of an item that may have been sealed: as it is written, and as programs escape strings that read and write it.
function layouts(node) {
  const shortest = shortestOf(node);
  return [node.text, shortest, shortest.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)];
}
function shortestOf(node) {
  if (Array.isArray(node.value)) return `[${node.value.map(shortestOf).join()}]`;
  if (!(node.value instanceof Map)) return typeof node.value === 'string' ? JSON.stringify(node.value) : node.text;
  return `{${[...node.value].map(([name, value]) => `${JSON.stringify(name)}:${shortestOf(value)}`).join()}}`;
}

// A sealing is an order of cards that a record commits to, as far as it is known: its input, the cards, and their order.
function sealingOf({record, cards, orders}) {
  if (record.kind === 'reshuffle') return {record}; // the first record of the shoe says of which cards
  if (record.kind !== 'shoe') return undefined;
  const order = 'root' in record ? orders?.[0] : Array.from({length: record.size}, (_, i) => i);
  return {record, input: record.input, cards, order};
}
// Compares every card with the sealing that it names. wrong says which was not sealed there, missing why one is unknown.
async function prove(hand, sealings) {
  const proven = [], seen = new Set();
  let missing;
  for (const card of hand) {
    const {sealedBy, position} = card, place = `${sealedBy} ${position}`, sealing = sealings.find(({record}) => record.id === sealedBy);
    if (seen.has(place)) return {proven: [], wrong: `two cards of the hand are to have been at position ${position} of ${sealedBy}`};
    seen.add(place);
    if (!sealing) continue;
    const name = `${short(card.texts[0])} at position ${position}`, {wrong, unknown} = await checkCard(sealing, card);
    if (wrong) return {proven: [], wrong: `${name}: ${wrong}`};
    if (unknown) missing = `${name}: ${unknown}`;
    else proven.push(name);
  }
  return {proven, missing};
}
async function checkCard({record, input, cards, order}, card) {
  const {position, path, salt} = card, isAt = (number) => (cards.instance ? card.isCode : true) && plainText(cards, number) === card.plain;
  if (input && input.startsWith('deck ') !== card.isCode) return {wrong: `the record is of ${input}, and it is none of those`};
  if (position >= record.size) return {wrong: `only ${record.size} cards were sealed`};
  if ('root' in record && !salt) return {unknown: 'it has no salt and path: ask for it with proof=true'};
  if (!('root' in record) && !cards) return {unknown: 'the shoe was not shuffled, and what it is of was not given'};
  if ('root' in record) {
    let isSealed = false;
    for (const text of card.texts) {
      const root = await rootOf(await leafOf(salt, position, text), BigInt(position), BigInt(record.size), path);
      isSealed ||= root !== undefined && hex(root) === record.root;
    }
    if (!isSealed) return {wrong: `salt and path do not lead from this card at position ${position} to the root`};
  } else if (!isAt(position)) return {wrong: 'the input of the shoe has another card there'};
  const lay = order?.[position], number = lay ?? card.card;
  if (lay !== undefined && card.card !== undefined && lay !== card.card) {
    return {wrong: `it says that it is card ${card.card}, and card ${lay} lay there`};
  }
  if (number === undefined || !cards) return {};
  if (number >= cards.size || !isAt(number)) return {wrong: `it says that it is card ${number} of the shoe, which is another`};
  if (card.instance !== undefined && cards.instance && cards.instance(number) !== card.instance) {
    return {wrong: `it says that it is instance ${card.instance}, and card ${number} is instance ${cards.instance(number)}`};
  }
  return {};
}
function describeHand(hand, proven) {
  const list = proven.slice(0, 13).join(', ') + (proven.length > 13 ? ', ...' : '');
  return `${proven.length} of the ${hand.length} card(s) of the hand were sealed there: ${list}`;
}

async function verifyHand(nodes, given) {
  const shoe = await openShoe(nodes, given, ({root}) => root ? 'skipped' : 'unchecked'), {steps, entries} = shoe;
  const [{record}] = entries, alone = entries.length === 1;
  const each = (name, text) => alone ? ofFirst(shoe, name) : inEvery(shoe, name, text);
  each('proof', `${entries.length} files are well-formed; ${trust(given)}`);
  if (!steps.has('proof', 'ok')) return {...shoe, proven: 0, others: 0};
  each('record', `${entries.length} records that sealed cards of the hand`);
  if (alone) for (const name of ['seed', 'commitment', 'keys', 'order', 'items', 'root']) ofFirst(shoe, name);
  else {
    seeds(shoe);
    replayed(shoe, given);
    for (const name of ['items', 'root']) ofFirst(shoe, name);
  }
  const result = {...shoe, proven: 0, others: 0, missing: []};
  if (steps.has('record', 'ok')) await checkHand(result, given.hand);
  each('inclusion', 'every record is in the tree of its file');
  each('signature', 'every checkpoint is signed with the key');
  if (record) await checkCommitted(steps, entries[0], given.commitment);
  return result;
}
async function checkHand(result, hand) {
  const {entries, steps} = result, sealings = [];
  let first; // of the shoe, which says which cards it is of
  for (const entry of entries) {
    const sealing = sealingOf(entry);
    if (entry.record.kind === 'shoe') first = entry;
    if (!sealing) continue;
    if (first && entry.record.audit_id === first.record.id) Object.assign(sealing, {input: first.record.input, cards: first.cards});
    sealings.push(sealing);
  }
  if (sealings.length === 0) {
    result.others = hand.length;
    steps.add('hand', 'unchecked', `a record of kind ${entries[0].record.kind} has sealed no cards: give the proof of the record ` +
      'that sealed_by names');
    return;
  }
  const {proven, missing, wrong} = await prove(hand, sealings), given = sealings.map(({record}) => record.id);
  Object.assign(result, {proven: proven.length, others: hand.length - proven.length});
  result.missing = [...new Set(hand.map(({sealedBy}) => sealedBy))].filter((id) => !given.includes(id));
  if (wrong) steps.add('hand', 'wrong', wrong);
  else if (missing) steps.add('hand', 'unchecked', missing);
  else if (proven.length === 0) {
    steps.add('hand', 'unchecked', 'no card of the hand was sealed by this record: give the proof of the record that sealed_by names');
  } else if (result.others > 0) {
    steps.add('hand', 'unchecked', `${describeHand(hand, proven)}; ${result.others} were sealed by other records`);
  } else steps.add('hand', 'ok', describeHand(hand, proven));
}

// ---- Shoes: the whole shoe

// Checks every file alone. If no key is given, all have to have the key of the first.
async function openShoe(nodes, given, heldBack) {
  const entries = [];
  let {key} = given;
  for (const [i, node] of nodes.entries()) {
    const alone = {key, ...(i === 0 && {items: given.items, salt: given.salt}), ...(nodes.length === 1 && {order: given.order})};
    entries.push(await checkFile(node, alone, heldBack));
    key ||= entries.at(-1).file?.log_key;
  }
  return {entries, steps: new Steps(), record: entries[0].record, file: entries[0].file};
}
const trust = ({key}) => key ? 'all have the log key that was given' : 'no log key was given: the one in the first is used';
// Adds a step that the files have in common: the first that is wrong or unchecked, or else that all hold.
function inEvery({entries, steps}, name, text) {
  for (const state of ['wrong', 'unchecked']) {
    const i = entries.findIndex((entry) => entry.steps.has(name, state));
    if (i >= 0) return steps.add(name, state, `file ${i + 1}, from 1: ${entries[i].steps.find(name).text}`);
  }
  if (entries.some((entry) => entry.steps.find(name))) steps.add(name, 'ok', text);
  return undefined;
}
// Adds a step of the first file, or of another in which it is wrong.
function ofFirst({entries, steps}, name) {
  const [first] = entries, wrong = entries.find((entry) => entry.steps.has(name, 'wrong')), step = (wrong ?? first).steps.find(name);
  if (step) steps.push(step);
}
const isHeldBack = ({file, record}) => Boolean(record && deals(record) && file.seed === null);
const heldBackIn = ({entries}) => entries.filter(isHeldBack).length;
const isClosed = ({entries}) => entries.at(-1).record?.kind === 'close';
function withoutSeed(shoe) {
  return `${heldBackIn(shoe)} seed(s) are held back ${shoe.closed ?
    'in these files, and public since the shoe was closed: get the files again' : 'until the shoe is closed'}`;
}
const except = (shoe) => heldBackIn(shoe) === 0 ? '' : `; ${withoutSeed(shoe)}`;
function seeds(shoe) {
  const found = shoe.entries.map(({steps}) => steps.find('seed')).filter((step) => step?.state === 'ok');
  const warning = found.find(({text}) => text.includes('warning'));
  if (found.length > 0) shoe.steps.add('seed', 'ok', `${found.length} seed(s)${warning ? `: ${warning.text}` : ''}${except(shoe)}`);
  else if (heldBackIn(shoe) > 0) shoe.steps.add('seed', 'skipped', withoutSeed(shoe));
}
function replayed(shoe, {order, hand}) { // the steps that every file with a seed has
  const held = heldBackIn(shoe), texts = {commitment: (n) => `${n} seed(s) open the commitments in their records`,
    keys: (n) => `those of ${n} order(s) derived`, order: (n) => `${n} order(s) replayed`};
  for (const [name, text] of Object.entries(texts)) {
    const done = shoe.entries.filter(({steps}) => steps.has(name, 'ok')).length;
    if (shoe.entries.some(({steps}) => steps.has(name, 'wrong'))) inEvery(shoe, name, '');
    else if (done + held > 0) {
      const asked = name === 'order' && order;
      const state = name === 'order' && held > 0 ? (hand ? 'skipped' : 'unchecked') : done === 0 ? 'skipped' : 'ok';
      if (asked) shoe.steps.add(name, 'unchecked', 'an order can be compared with that of one record, and not with a whole shoe');
      else shoe.steps.add(name, state, text(done) + except(shoe));
    }
  }
}

async function verifyShoe(nodes, given) {
  const shoe = await openShoe(nodes, given, () => 'unchecked'), {steps, entries, record, file} = shoe, changes = nodes.length - 1;
  Object.assign(shoe, {changes, closed: false, proven: 0});
  inEvery(shoe, 'proof', `${nodes.length} files are well-formed; ${trust(given)}`);
  if (steps.first('unchecked')) return shoe;
  if (!steps.first('wrong')) inEvery(shoe, 'record', `${record ? describe(record) : ''}; ${changes} change(s)`);
  if (steps.has('record', 'ok')) {
    shoe.closed = isClosed(shoe);
    const broken = brokenChain(entries);
    steps.add('chain', broken ? 'wrong' : 'ok', broken ?? `each of the versions 1 to ${nodes.length} has its record, in the order of the ` +
      `log, from number ${file.index} to number ${entries.at(-1).file.index}`);
  }
  seeds(shoe);
  replayed(shoe, given);
  ofFirst(shoe, 'items');
  inEvery(shoe, 'inclusion', 'every record is in the tree of its file');
  inEvery(shoe, 'signature', 'every checkpoint is signed with the key');
  if (record) await checkCommitted(steps, entries[0], given.commitment);
  if (steps.first('wrong') || !steps.has('record', 'ok')) return shoe;

  const {sealings, layout, moved, random, version} = follow(entries);
  const lie = `every change was of cards that lay where it says; ${layout.deck.length} lie in the deck, ${layout.dealt.length} are ` +
    `dealt, and there are ${layout.piles.size} pile(s)`;
  if (moved) steps.add('moves', 'wrong', `version ${version}: ${moved}`);
  else if (random > 0) steps.add('moves', 'unchecked', `${lie}; but ${random} draw(s) at random have no seed`);
  else steps.add('moves', 'ok', lie);
  if (moved) return shoe;
  await checkRoots(shoe, sealings);
  if (given.hand) {
    const {proven, missing, wrong} = await prove(given.hand, sealings), others = given.hand.length - proven.length;
    if (wrong) steps.add('hand', 'wrong', wrong);
    else if (missing) steps.add('hand', 'unchecked', missing);
    else if (others > 0) steps.add('hand', 'unchecked', `${others} card(s) of the hand were sealed by no record of this shoe`);
    else {
      shoe.proven = proven.length;
      steps.add('hand', 'ok', describeHand(given.hand, proven));
    }
  }
  if (shoe.closed) steps.add('closed', 'ok', 'the last record closes the shoe');
  else {
    steps.add('closed', given.hand ? 'skipped' : 'unchecked',
      'the last record does not close the shoe: what was not seen stays hidden until it is closed, and more changes may follow');
  }
  return shoe;
}
// Says why the records are not those of one shoe, from the first on; undefined if they are.
function brokenChain(entries) {
  const [{record: first}] = entries;
  if (first.kind !== 'shoe') return `the first record is of kind ${first.kind}, and that of a shoe has to be`;
  for (let i = 1; i < entries.length; i++) {
    const {record, file} = entries[i], before = entries[i - 1], version = i + 1;
    if (!changesShoe(record)) return `the record ${record.id} is of kind ${record.kind}, and changes no shoe`;
    if (record.audit_id !== first.id) return `the record ${record.id} is of another shoe, ${record.audit_id}`;
    if (record.version !== version) return `the record ${record.id} made version ${record.version}, where version ${version} has to follow`;
    if (file.index <= before.file.index) {
      return `version ${version} is number ${file.index} in the log, from 0, and so not after the one before, which is number ` +
        before.file.index;
    }
    if (!deals(record) && record.commitment !== first.commitment) return `version ${version} has not the commitment of the shoe`;
    if (before.record.kind === 'close') return `version ${version} follows the close of the shoe`;
    if (before.record.kind === 'expire' && record.kind !== 'close') return `version ${version} is a ${record.kind}, and the shoe was over`;
  }
  return undefined;
}
// Follows the cards from record to record. moved says which change is not allowed where it is.
function follow(entries) {
  const [first] = entries, layout = new Layout(first.record.size), sealings = [{...sealingOf(first), entry: first}];
  const orders = {1: sealings[0].order}; // the numbers of the cards at the positions of each sealing
  let random = 0;
  for (const entry of entries.slice(1)) {
    try { random += change(entry); } catch (error) {
      return {sealings, layout, random, moved: error.message, version: entry.record.version};
    }
  }
  return {sealings, layout, random};

  function change(entry) { // returns 1 for a draw at random without a seed
    const {record, orders: replays} = entry, {kind, from, taken, size} = record;
    if (kind === 'close' || kind === 'expire') { layout.version++; return 0; }
    const lying = layout.at(from);
    if (kind === 'reshuffle') {
      demand(lying.length === size, `it seals ${size} cards, and ${lying.length} lay in ${where(from)}`);
      const numbers = lying.map((ref) => { const [seal, at] = ref.split(':'); return orders[seal]?.[at]; });
      layout.shuffle(from);
      const order = numbers.includes(undefined) ? undefined : replays?.[0].map((at) => numbers[at]);
      orders[layout.version] = order;
      sealings.push({record, entry, input: sealings[0].input, cards: sealings[0].cards, order});
      return 0;
    }
    const refs = 'cards' in record ? readCards(record.cards) : [];
    if (taken === 'top' || taken === 'bottom') {
      const want = writeCards(layout.take(from, taken, refs.length));
      demand(want === record.cards, `the cards at the ${taken} of ${where(from)} were ${want}, and the record says ${record.cards}`);
    } else if (taken === 'random') {
      demand(lying.length === size, `it draws from ${size} cards, and ${lying.length} lay in ${where(from)}`);
      const want = replays && writeCards(replays[0].map((at) => lying[at]));
      demand(!replays || want === record.cards, `the seed draws ${want}, and the record says ${record.cards}`);
    }
    layout.move(record, refs);
    return taken === 'random' && !replays ? 1 : 0;
  }
}
async function checkRoots(shoe, sealings) {
  let roots = 0, unknown = 0, wrong;
  for (const {entry, record, cards, order} of sealings) {
    if (!('root' in record)) continue;
    if (!cards || !order || entry.file.seed === null) { unknown++; continue; }
    roots++;
    const other = await otherRoot(entry, order, cards);
    if (other) wrong ??= `version ${record.version ?? 1}: ${other}`;
  }
  const add = (state, text) => shoe.steps.add('root', state, text);
  if (wrong) add('wrong', wrong);
  else if (roots + unknown === 0) add('skipped', 'nothing was sealed');
  else if (unknown === 0) add('ok', `salts from the seeds and the cards in their orders have the roots in ${roots} record(s)`);
  else add('skipped', heldBackIn(shoe) > 0 ? withoutSeed(shoe) : 'the cards are not known, for the items were not given');
}

// ---- In words

const PLACES = {shoe: 'the deck', dealt: 'the dealt cards', out: 'wherever they lay out of the deck', all: 'all cards'};
const where = (place) => PLACES[place] ?? `the ${place}`;
function stated({size, draw, repeat, algorithm, reference}, isShoe) {
  const text = isShoe && draw === 0 ? `${size}, which lie as the input has them` :
    `${draw} of ${size}, shuffled by ${algorithm}${repeat > 1 ? `, ${repeat} times` : ''}`;
  return text + (reference ? `; reference ${JSON.stringify(reference)}` : '');
}
const cutOf = ({cut, cut_range: range}) => (cut ? `; a cut card behind ${cut}` : '') +
  (range ? `, drawn from ${range[0]} to ${range[1]}` : '');
function describe(record) {
  const {id, time, kind, audit_id: of, from, to} = record, moved = () => {
    if (kind === 'reshuffle') return `${where(from)}, ${record.size} card(s), sealed in a new order by ${record.algorithm}${cutOf(record)}`;
    if (to && !('cards' in record)) return `no cards put on ${where(to)}`;
    if (kind === 'close' || kind === 'expire') return kind === 'close' ? 'closed' : 'over, and not closed';
    const how = {random: 'at random from', cards: 'by name from'}[record.taken] ?? `from the ${record.taken} of`;
    return `${readCards(record.cards).length} card(s) taken ${how} ${where(from)}` +
      (to === 'dealt' ? '' : ` and put to the ${record.put} of ${where(to)}`);
  };
  const texts = {reveal: () => `the seed of ${of} was made public`,
    void: () => `the commitment ${record.commitment_id} was not used in time`,
    commitment: () => `a commitment to ${stated(record)}, until ${record.deadline}`, shuffle: () => stated(record),
    shoe: () => `a shoe: ${stated(record, true)}${cutOf(record)}${of ? `; it replaces the shoe ${of}` : ''}`};
  return `${id}, of ${time}: ${(texts[kind] ?? (() => `version ${record.version} of the shoe ${of}: ${moved()}`))()}`;
}
// Says what a record is for that has no order; undefined for one that has.
function withoutOrder(record) {
  const {kind, audit_id: of} = record;
  if (deals(record)) return undefined;
  return {commitment: 'It is a commitment: the seed and what is to be shuffled cannot be exchanged any more. The seed is held until it ' +
    `is used, before ${record.deadline}, by a shuffle or a shoe that names it; if none does, a void follows in the log. ` +
    'It has no order of its own.',
  void: `It says that the commitment ${record.commitment_id} was not used in time, and has no order of its own.`,
  reveal: `It says that the seed of ${of} was made public, and has no order of its own.`}[kind] ??
    `It is a change of the shoe ${of}, and has no order of its own: give the proofs of the whole shoe to follow its cards.`;
}

// The verdict on what one of the three verifiers found.
function conclude(found, given, finding) {
  const {steps} = found, failed = steps.first('wrong'), missing = steps.first('unchecked'), notes = [], result = {notes};
  const log = `the log of ${found.file?.log_key.split('+')[0]}`, {record} = found;
  const say = {
    log, missing, note: (text) => notes.push(text),
    unchecked: (text) => Object.assign(result, {verdict: 'unchecked', headline: `Not checked to the end: ${text}.`}),
    verified: (text) => Object.assign(result, {verdict: 'verified', headline: !steps.has('committed', 'skipped') ? `Verified: ${text}.` :
      `Verified except for the commitment: ${text}. Not proven: that the seed was fixed before the client seed was known.`}),
  };
  if (failed) Object.assign(result, {verdict: 'false', headline: `This proof does NOT verify: it fails at the step ${failed.name}.`});
  else if (steps.has('proof', 'unchecked')) {
    say.unchecked(`the step ${missing.name} could not be checked`);
    notes.push(`${missing.text[0].toUpperCase()}${missing.text.slice(1)}.`);
  } else {
    if (record) {
      finding(say);
      const id = record.commitment_id;
      if (steps.has('committed', 'ok')) {
        notes.push(`The commitment ${id} fixed the order, but for the client seed, before the client seed was known: as far as that was ` +
          'new when the commitment was in the log, no seed can have been picked for its order.');
      } else if (steps.has('committed', 'skipped')) {
        notes.push(`It names the commitment ${id}: give the proof of that record as well (GET /audits/${id}/proof).`);
      } else if (result.verdict === 'verified' && record.kind === 'shuffle' && !id) {
        notes.push('This proof cannot rule out that the operator drew several seeds and logged one. Use a commitment to rule that out.');
      }
    } else {
      say.unchecked(`the record is in ${log}, but of a kind that this version does not know`);
      notes.push('A later version may be able to check it.');
    }
    if (!given.key) {
      notes.unshift('Anybody can bring that about. Take the key of the log from somewhere else than the file, and give it with --key.',
        `If the key is the right one: ${result.headline}`);
      Object.assign(result, {verdict: 'unchecked', headline: 'Not established: no key of the log was given, and the one in the file ' +
        'shows only that the file agrees with itself.'});
    }
  }
  return {verdict: result.verdict, headline: printable(result.headline), notes: notes.map(printable),
    steps: [...steps].map(({name, state, text}) => ({name, ok: {ok: true, wrong: false}[state] ?? null, text}))};
}
function sayOfRecord({steps, file, record}, {order}, {log, missing, note, unchecked, verified}) {
  const words = withoutOrder(record), fromSeed = `follows from the seed and the record, and the record is in ${log}`;
  const follows = `the order ${fromSeed}`;
  if (words) {
    if (missing) unchecked(`the record is in ${log}, but what was given to compare cannot be compared with it`);
    else verified(`the record is in ${log}`);
    note(words);
  } else if (isHeldBack({file, record}) && 'root' in record) {
    unchecked(`the record is in ${log}, and its seed is held back until the shoe is closed`);
    note('The cards were sealed, and none of them can be exchanged: a hand that was drawn is proven alone.');
  } else if (isHeldBack({file, record})) {
    unchecked(`the record is in ${log}, and its seed is held back, so that the order cannot be checked yet`);
    note('What was committed to cannot be exchanged until the seed is revealed.');
  } else if (missing) unchecked(`${follows}, but the step ${missing.name} could not be checked`);
  else if (record.kind !== 'shuffle') {
    verified(follows);
    if (steps.has('root', 'ok')) note('The cards were sealed in this order.');
    note('That every change of the shoe was of cards that lay where it says, only the proof of the whole shoe shows.');
  } else if (order) verified(`the order is the one given and ${fromSeed}`);
  else {
    verified(follows);
    note('No order was given to compare it with: give what was answered as well.');
  }
}
function sayOfHand(hand, {log, missing, note, unchecked, verified}) {
  const {proven, others} = hand;
  if (!missing) {
    verified(`the ${proven} card(s) of the hand were sealed at their positions by the record, which is in ${log}, and none could be ` +
      'exchanged since');
    if (heldBackIn(hand) > 0) note('The other cards of the shoe stay hidden until it is closed, and then the whole shoe can be checked.');
  } else if (others > 0) {
    unchecked(`${proven} of the ${proven + others} card(s) of the hand are proven by what was given, and ${others} are NOT`);
    if (hand.missing.length > 0) note(`Give the proof of each record that they name as sealed_by as well: ${hand.missing.join(', ')}.`);
  } else unchecked(`the ${proven} card(s) of the hand were sealed at their positions, but the step ${missing.name} could not be checked`);
}
function sayOfShoe({steps, changes, closed, proven}, {log, missing, note, unchecked, verified}) {
  const soFar = `the first record of the shoe and its ${changes} change(s) are in ${log}, and fit together`;
  if (missing?.name === 'closed') {
    unchecked(`${soFar}; but it is not closed`);
    note('Its seeds are held back, and the rest can be checked when they are revealed.');
  } else if (missing) unchecked(`${soFar}; but the step ${missing.name} could not be checked`);
  else if (!closed) {
    verified(`the ${proven} card(s) of the hand were sealed at their positions; ${soFar} so far`);
    note('The other cards stay hidden until the shoe is closed.');
  } else {
    verified(`the whole shoe, from its first record to its last, which are in ${log}`);
    note(steps.has('root', 'ok') ?
      'Every order follows from its seed, every card lay where it is said to have lain, and none was exchanged.' :
      'Every order follows from its seed, and every change was of cards that lay where it says. Which cards they were was not compared.');
  }
  if (proven > 0 && (closed || missing)) {
    note(`The hand is proven: ${proven} card(s) of it were sealed at their positions, and none could be exchanged since.`);
  }
}

// ---- What was given

async function readGiven({key, items, itemsSalt, order, hand}) {
  const read = (what, text, parser) => {
    if (text === undefined) return undefined;
    try { return parser(text); } catch (error) { throw new Error(`${what}: ${error.message}`); }
  };
  const given = {salt: itemsSalt, key: key?.trim(), order: read('the order', order, readOrder), hand: read('the hand', hand, readHand)};
  if (given.key !== undefined) await readKey(given.key);
  given.items = read('the items', items, (text) => {
    const node = parse(text);
    demand(Array.isArray(node.value), 'not a JSON array');
    return node;
  });
  demand(itemsSalt === undefined || /^[A-Za-z0-9_-]{16,128}$/.test(itemsSalt), '--items-salt: a salt of items is 16 to 128 of the ' +
    'characters A-Z, a-z, 0-9, - and _, such as 16 random bytes in hex');
  demand(itemsSalt === undefined || items !== undefined, '--items-salt needs --items: the salt and the items have their digest together');
  return given;
}
// The proof files of a text: JSON texts one after the other, or the elements of an array.
function split(text) {
  try {
    return parseAll(text).flatMap((node) => Array.isArray(node.value) && node.value.length > 0 ? node.value : [node]);
  } catch (error) { return [{problem: error instanceof RangeError ? 'it is nested too deeply' : 'it is not JSON'}]; }
}
function recordOf(node) { // unchecked; undefined if it cannot be parsed
  try {
    const record = readRecord(string(node.value.get('record')));
    return MEMBERS[record.kind] ? record : undefined;
  } catch { return undefined; }
}
const isSealing = (record) => record?.kind === 'shoe' || record?.kind === 'reshuffle';
// Puts together what is checked together: the proof of a commitment with that of its user, the files of one shoe, in any
// order, and those of the records that sealed the cards of a hand.
function group(files, given) {
  let list = files.flatMap(({name, text}) => {
    const nodes = split(text), records = nodes.map(recordOf), isEach = records[0] && !shoeOf(records[0]);
    return (isEach ? nodes.map((_, i) => [i]) : [nodes.map((_, i) => i)]).map((own) =>
      ({files: [name], nodes: own.map((i) => nodes[i]), records: own.map((i) => records[i])}));
  });
  const taken = new Set();
  for (const part of list) {
    if (!usesCommitment(part.records[0])) continue;
    const made = list.find(({records: [record]}) => record?.kind === 'commitment' && record.id === part.records[0].commitment_id);
    if (!made) continue;
    part.commitment = made.nodes[0];
    taken.add(made);
  }
  list = list.filter((part) => !taken.has(part));
  const shoes = new Map();
  for (const part of list) {
    const id = shoeOf(part.records[0]);
    if (id) shoes.set(id, [...shoes.get(id) ?? [], part]);
  }
  const sealing = given.hand ? [...shoes.values()].filter((parts) => parts.every(({records}) => records.every(isSealing))) : [];
  for (const parts of [sealing.flat(), ...[...shoes.values()].filter((parts) => !sealing.includes(parts))]) {
    if (parts.length < 2) continue;
    const [first] = parts, sorted = [...parts].sort((a, b) => (a.records[0].version ?? 0) - (b.records[0].version ?? 0));
    const all = (name) => sorted.flatMap((part) => part[name]);
    Object.assign(first, {files: all('files'), nodes: all('nodes'), records: all('records'),
      commitment: sorted.find(({commitment}) => commitment)?.commitment});
    list = list.filter((part) => part === first || !parts.includes(part));
  }
  return list;
}
async function verifyPart({files, nodes, records, commitment}, options) {
  const given = {...options, commitment};
  if (given.hand && (nodes.length === 1 || records.every(isSealing))) {
    const found = await verifyHand(nodes, given);
    return {files, ...conclude(found, given, (say) => sayOfHand(found, say))};
  }
  if (nodes.length > 1) {
    const found = await verifyShoe(nodes, given);
    return {files, ...conclude(found, given, (say) => sayOfShoe(found, say))};
  }
  const found = await trace(nodes[0], given);
  return {files, ...conclude(found, given, (say) => sayOfRecord(found, given, say))};
}
// What is calculated of the proof file of one record: its steps, statement, keys and orders.
async function trace(node, given) {
  const entry = await checkFile(node, given, () => 'unchecked');
  if (entry.record) await checkCommitted(entry.steps, entry, given.commitment);
  return entry;
}
export async function traceText(text, {commitment, ...options} = {}) {
  return trace(split(text)[0], {...await readGiven(options), commitment: commitment && split(commitment)[0]});
}

export async function verify(files, options = {}) {
  const list = (Array.isArray(files) ? files : [files]).map((file, i) =>
    typeof file === 'string' ? {name: `file ${i + 1}`, text: file} : file);
  const proofs = [], unread = (headline) => ({verdict: 'unchecked', headline: printable(headline), notes: [], steps: []});
  try {
    const given = await readGiven(options);
    for (const {name, problem} of list) if (problem) proofs.push({files: [name], ...unread(`Not checked: ${name}: ${problem}.`)});
    for (const part of group(list.filter(({problem}) => !problem), given)) proofs.push(await verifyPart(part, given));
    demand(proofs.length > 0, 'no proof was given');
  } catch (error) { return {...unread(`Not checked: ${error.message}.`), proofs: []}; }
  const count = (verdict) => proofs.filter((proof) => proof.verdict === verdict).length;
  const verdict = ['false', 'unchecked', 'verified'].find(count), steps = proofs.flatMap((proof) => proof.steps);
  if (proofs.length === 1) return {verdict, headline: proofs[0].headline, notes: proofs[0].notes, steps, proofs};
  return {verdict, headline: `${proofs.length} proofs: ${count('verified')} verified, ${count('false')} false, ${count('unchecked')} not ` +
    'checked to the end.', notes: [], steps, proofs};
}

// ---- As a program

const HELP = `usage: riffle.mjs [options] PROOF...

Checks proof files: of records as GET /audits/{id}/proof answers them, of the commitments that they used, and of whole shoes
as GET /shoes/{id}/proof answers them. White space, escapes and the order of members do not matter.

  --key FILE-OR-KEY   public key of the log, from somewhere else than the proof
  --items FILE        what was shuffled, as a JSON array; decks are built in
  --items-salt SALT   the items_salt that the items were sent with
  --order FILE        what was answered: the whole answer of POST /shuffle, or the JSON array of the order
  --hand FILE         cards that were drawn from a shoe, with salt and path
  --json              print the verdict and the steps as JSON
  --help              print this

Exits with 0 if everything that was given verifies, 1 if something is false, and 2 if something could not be checked.`;

const load = (module) => import(module); // not to be bundled for browsers
if (globalThis.process?.argv?.[1] && import.meta.url.startsWith('file:')) {
  const {pathToFileURL} = await load('node:url'), {realpathSync} = await load('node:fs');
  let path = process.argv[1];
  try { path = realpathSync(path); } catch { /* not a file */ }
  if (pathToFileURL(path).href === import.meta.url) await main();
}
async function main() {
  const {readFileSync} = await load('node:fs'), {parseArgs} = await load('node:util'), file = {type: 'string'}, flag = {type: 'boolean'};
  const read = (path) => {
    let bytes;
    try { bytes = readFileSync(path); } catch ({code, message}) { throw new Error(code === 'ENOENT' ? 'there is no such file' : message); }
    try { return new TextDecoder('utf-8', {fatal: true}).decode(bytes); } catch { throw new Error('it is not UTF-8, and so not JSON'); }
  };
  process.exitCode = 2;
  let values, paths;
  try {
    ({values, positionals: paths} = parseArgs({allowPositionals: true, options: {key: file, items: file, 'items-salt': file, order: file,
      hand: file, json: flag, help: flag}}));
    demand(values.help || paths.length > 0, 'expected PROOF...');
  } catch ({message}) {
    console.error(`riffle.mjs: ${message}; see --help`);
    return;
  }
  if (values.help) {
    console.log(HELP);
    process.exitCode = 0;
    return;
  }
  let result;
  try {
    const options = {itemsSalt: values['items-salt']};
    for (const name of ['key', 'items', 'order', 'hand']) {
      if (values[name] === undefined) continue;
      if (name === 'key' && LOG_KEY.test(values.key)) options.key = values.key;
      else try { options[name] = read(values[name]); } catch ({message}) { throw new Error(`the ${name}: ${values[name]}: ${message}`); }
    }
    result = await verify(paths.map((name) => {
      try { return {name, text: read(name)}; } catch ({message}) { return {name, problem: message}; }
    }), options);
  } catch ({message}) { result = {verdict: 'unchecked', headline: `Not checked: ${message}.`, notes: [], steps: [], proofs: []}; }
  if (values.json) console.log(JSON.stringify(result));
  else console.log(inLines(result).join('\n'));
  process.exitCode = {verified: 0, false: 1, unchecked: 2}[result.verdict];
}
function inLines(result) {
  const word = {true: 'ok', false: 'WRONG', null: 'not checked'};
  const lines = ({headline, notes, steps}) => [headline, ...notes, ...(steps.length > 0 ? [''] : []),
    ...steps.map(({name, ok, text}) => `${name.padEnd(12)} ${word[ok]}: ${text}`)];
  if (result.proofs.length < 2) return lines(result);
  return [result.headline, ...result.proofs.flatMap((proof) => ['', printable(proof.files.join(' ')), ...lines(proof)])];
}
