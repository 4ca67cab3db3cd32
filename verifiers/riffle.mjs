// Verifies what a service of riffle/1 has dealt, as specified in docs/spec.md and docs/shoes.md, section by section. One
// file for browsers, Deno, Bun and Node 20. It needs WebCrypto. To check the signature of a beacon it imports the package
// @noble/curves, and without that the step committed is unchecked. The package @noble/post-quantum checks cosignatures by
// ML-DSA-44, and without that such a witness counts as absent.
//
//   import {verify} from './riffle.mjs';
//   const {verdict, headline, notes, messages, steps, summary} = await verify(proof, {key, answer, items});
//
// proof is the text of a proof file, or of the proof of a whole shoe. The options are texts as well, and each may be
// missing: key, the public key of the log, from another source than the proof; policy; answer, that of POST /shuffle or,
// instead of it, order or hand; items, what was shuffled, and salt, if they were sent with one. handOf says which hand of
// the deal the hand is: 1, 2 or so, or 'rest'.
//
// verdict is 'verified' if everything that was given holds, 'false' if something is false, and 'unchecked' if something
// could not be checked. headline says so in a sentence, summary the same for programs, and notes are what else there is to
// say. Each of the steps is {name, ok, text, message}; ok is null if it was not checked. It never throws.
//
// All texts are made of messages: messages has that of the headline and those of the notes. render(message, table) says
// one in another language, by a table such as internal/audit/message/messages.json has.
//
//   node riffle.mjs --help
const {subtle} = globalThis.crypto;
const MAX_COST = 2n ** 30n, MAX_DECK = 2 ** 24; // the most steps of a replay, and cards of a deck with a digest
const MAX_CARDS = 4096, MAX_PILES = 256, MAX_SEALS = 4096; // of a shoe
const MAX_TREE = 2n ** 62n; // records of a log
const MAX_DEPTH = 200; // of JSON: levels
const MAX_HELD = 10_000, NONE = new Uint32Array(0);
const MAX_MIB = 64, MAX_TEXT = MAX_MIB * 2 ** 20; // a text, in bytes

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
const byBytes = (a, b) => hex(utf8(a)) < hex(utf8(b)) ? -1 : 1; // sorts texts
const unhex = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
function unbase64(text) { // Uint8Array.from would take a hundred bytes a character
  const binary = atob(text), bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}
class Fault extends Error { // said is a message of why
  constructor(said) { super(render(said)); this.said = said; }
}
const demand = (truth, id, values) => { if (!truth) throw new Fault(message(id, values)); };
const reasonOf = (error) => error.said ?? message('text', {text: error.message});
const count = (n, what) => `${n} ${what}${n === 1 ? '' : 's'}`;

// ---- JSON. Any layout is accepted. A value's text is verbatim, without white space.

const notJSON = () => new Fault(message('why.json'));
class Value { // value is a string, Map, List, boolean or null; undefined for a number, which has its text alone
  constructor(source, start, end) { this.source = source; this.start = start; this.end = end; }
  get text() { return this.source.text.slice(this.start, this.end); }
  get kind() { return this.source.text[this.start]; } // of a number 0
  get isNumber() { return this.value === undefined; }
}
// The elements of an array. They are read when they are asked for, from places in the text, since
// millions of objects would take many times its memory. The first elements with parts of their own
// in a text are held: a proof and its lists are read but once.
class List {
  length = 0;
  #source;
  #ends = NONE; // of each element; the next begins after a comma
  #nodes; // those that are held, by their index
  constructor(source, start) { this.#source = source; this.start = start; }
  push(node) {
    if (this.length === this.#ends.length) {
      const more = new Uint32Array(2 * this.length || 4);
      more.set(this.#ends);
      this.#ends = more;
    }
    this.#ends[this.length] = node.end;
    if (typeof node.value === 'object' && node.value !== null && this.#source.held++ < MAX_HELD) {
      this.#nodes ??= new Map();
      this.#nodes.set(this.length, node);
    }
    this.length++;
  }
  at(i) {
    if (this.#nodes?.has(i)) return this.#nodes.get(i);
    const node = new Value(this.#source, i === 0 ? this.start : this.#ends[i - 1] + 1, this.#ends[i]);
    if ('[{'.includes(node.kind)) return parseAny(node.text);
    if (!/[-0-9]/.test(node.kind)) node.value = JSON.parse(node.text);
    return node;
  }
  * [Symbol.iterator]() { for (let i = 0; i < this.length; i++) yield this.at(i); }
  map(change) { return Array.from(this, change); }
  every(holds) {
    for (const node of this) if (!holds(node)) return false;
    return true;
  }
}
const isList = (node) => node?.value instanceof List;
const TOKEN = new RegExp('[ \\t\\n\\r]*(?:(")' +
  '|(-?(?:0|[1-9]\\d*)(?:\\.\\d+)?(?:[eE][-+]?\\d+)?)|(true|false|null)|([{}[\\]:,])|$)', 'y');

// Parses a JSON text. The last member that an object has twice is its duplicate, and that of its source.
function parseAny(text) {
  const pieces = [], source = {held: 0};
  let at = 0, length = 0, joined = '', token;
  const quoted = () => { // a string may be too long for a regular expression
    const start = at - 1;
    for (let slashes = 1; slashes % 2 === 1;) {
      at = text.indexOf('"', at) + 1;
      if (at === 0) throw notJSON();
      for (slashes = 0; text[at - 2 - slashes] === '\\';) slashes++;
    }
    return text.slice(start, at);
  };
  const next = () => {
    TOKEN.lastIndex = at;
    token = TOKEN.exec(text);
    if (!token) throw notJSON();
    at = TOKEN.lastIndex;
    if (token[1]) token[1] = quoted();
    token.piece = token[1] ?? token[2] ?? token[3] ?? token[4] ?? '';
  };
  const take = () => {
    length += token.piece.length;
    if (pieces.push(token.piece) === 10_000) joined += pieces.splice(0).join('');
    next();
  };
  const expect = (piece) => {
    if (token.piece !== piece) throw notJSON();
    take();
  };
  const string = () => {
    let value;
    try { value = JSON.parse(token[1]); } catch { throw notJSON(); }
    if (/\p{Cs}/u.test(value)) throw notJSON();
    take();
    return value;
  };
  const read = (depth) => {
    const node = new Value(source, length), [, isString, isNumber, word, mark] = token;
    if (depth > MAX_DEPTH && '[{'.includes(mark)) throw notJSON();
    if (isString !== undefined) node.value = string();
    else if (isNumber !== undefined) take();
    else if (word) { node.value = JSON.parse(word); take(); } else if (mark === '[') {
      take();
      node.value = new List(source, length);
      while (token.piece !== ']') {
        if (node.value.length > 0) expect(',');
        node.value.push(read(depth + 1));
      }
      take();
    } else if (mark === '{') {
      node.value = new Map();
      take();
      while (token.piece !== '}') {
        if (node.value.size > 0) expect(',');
        if (token[1] === undefined) throw notJSON();
        const name = string();
        expect(':');
        if (node.value.has(name)) source.duplicate = node.duplicate = name;
        node.value.set(name, read(depth + 1));
      }
      take();
    } else throw notJSON();
    node.end = length;
    return node;
  };
  next();
  const value = read(1);
  if (token.piece !== '') throw notJSON();
  source.text = length === text.length ? text : joined + pieces.join('');
  return value;
}

// Parses a JSON text in which no member is there twice.
function parse(text) {
  const value = parseAny(text);
  demand(value.source.duplicate === undefined, 'why.json.twice');
  return value;
}
// The same text for all layouts of a value. Numbers stay verbatim.
function canonical(node) {
  if (isList(node)) return `[${node.value.map(canonical).join()}]`;
  if (!(node.value instanceof Map)) return typeof node.value === 'string' ? JSON.stringify(node.value) : node.text;
  const names = [...node.value.keys()].sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonical(node.value.get(name))}`).join()}}`;
}
// A value for a record: numbers that are not written with digits alone become null.
function plain(node) {
  if (node.isNumber) return /^\d+$/.test(node.text) ? Number(node.text) : null;
  if (isList(node)) return node.value.map(plain);
  if (!(node.value instanceof Map)) return node.value;
  const members = [...node.value].map(([name, value]) => [name, plain(value)]);
  return Object.assign(Object.create(null), Object.fromEntries(members));
}
// The value of a number from 0 to 2^53-1, which databases also write as 3.0 or 3e0; NaN for anything else.
function whole(node) {
  const number = node?.isNumber ? Number(node.text) : NaN;
  return Number.isSafeInteger(number) && number >= 0 ? Math.abs(number) : NaN;
}
const string = (node) => typeof node?.value === 'string' ? node.value : undefined;

// ---- Record

const DIGEST = /^[0-9a-f]{64}$/, UUID7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/, REFERENCE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]{1,128}$/u;
const STATEMENT = ['algorithm', 'size', 'draw', 'repeat', 'hands', 'input', 'reference'];
// The members of records, made from internal/audit/members.json by web/tables.mjs: do not edit.
const MEMBERS = {
  "id": {"*":"uuid7"},
  "time": {"*":"time"},
  "kind": {"*":"/[a-z0-9_-]+/"},
  "spec": {"*":"/riffle/1/"},
  "audit_id": {"reveal shoe? draw add return reshuffle close expire":"uuid7"},
  "version": {"draw add return reshuffle close expire":"2.."},
  "from": {"draw":"/shoe|pile [A-Za-z0-9_-]{1,255}/","add":"/dealt|out/","return":"/dealt|out|pile [A-Za-z0-9_-]{1,255}/","reshuffle":"/shoe|all|pile [A-Za-z0-9_-]{1,255}/"},
  "taken": {"draw":"/top|bottom|random|cards/","add return":"/cards/"},
  "cards": {"draw add? return":"cards"},
  "to": {"draw":"/dealt|pile [A-Za-z0-9_-]{1,255}/","add":"/pile [A-Za-z0-9_-]{1,255}/","return":"/shoe/"},
  "put": {"draw:to=pile add return":"/top|bottom/"},
  "algorithm": {"shuffle commitment shoe draw:taken=random reshuffle":"/fisher-yates|durstenfeld|inside-out|strike-out|sattolo/"},
  "size": {"shuffle commitment":"0..","shoe":"1..4096","draw:taken=random reshuffle":"0..4096"},
  "draw": {"shuffle commitment shoe draw:taken=random reshuffle":"0.."},
  "repeat": {"shuffle commitment":"1..","shoe draw:taken=random reshuffle":"1..1"},
  "hands": {"shuffle? commitment?":"hands"},
  "input": {"shuffle commitment shoe":"/range|items sha256:[0-9a-f]{64}|deck [a-z0-9-]+ x[1-9][0-9]* sha256:[0-9a-f]{64}/","draw:taken=random reshuffle":"/range/"},
  "items_digest": {"shuffle? commitment? shoe?":"/[a-z0-9-]+/[1-9][0-9]*/"},
  "parameters": {"shuffle? commitment? shoe?":"parameters"},
  "reference": {"shuffle? commitment? shoe? draw?:taken=random reshuffle?":"reference"},
  "client_seed": {"shuffle? shoe? reshuffle?":"text"},
  "reveal": {"shuffle?":"/now/"},
  "deadline": {"commitment":"time"},
  "beacon": {"commitment?":"/[a-z0-9-]+ [1-9][0-9]{0,15}/"},
  "players": {"commitment?":"players"},
  "commitment_id": {"void shuffle?:client_seed shoe?:client_seed":"uuid7"},
  "joined": {"shuffle?:commitment_id shoe?:commitment_id":"text"},
  "count": {"shuffle?:commitment_id commitment? void?":"2.."},
  "round": {"shuffle:count void:count":"1.."},
  "path": {"shuffle:count":"digests"},
  "cut": {"shoe? reshuffle?":"1.."},
  "cut_range": {"shoe?:cut reshuffle?:cut":"range"},
  "expires": {"shoe? draw? add? return? reshuffle? close? expire?":"time"},
  "root": {"shoe? reshuffle":"digest"},
  "commitment": {"shuffle commitment void reveal shoe draw add return reshuffle close expire":"digest"},
};
const LAST = /^([A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=|[A-Za-z0-9+/][AQgw]==)$/;
// A repeated group in one expression, in either, would run out of stack after some megabytes.
const isHex = (text) => /^[0-9a-f]+$/.test(text) && text.length % 2 === 0;
const isBase64 = (text) => text.length % 4 === 0 && /^[A-Za-z0-9+/]*=*$/.test(text) && LAST.test(text.slice(-4));
const QUICKNET = { // a chain of drand
  hash: 'BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_NUL_',
  key: '83cf0f2896adee7eb8b5f01fcad3912212c437e0073e911fb90022d3e760183c8c4b450b6a0a6c3ac6a5776a2d106451' +
    '0d1fec758c921cc22b0e17e63aaf4bcb5ed66304de9cf809bd274ca73bab4af5a6e9c76a4bc09e76eae8991ef5ece45a'};
const PLAYER = /^(?!sha256$)[A-Za-z0-9_-]{1,32}$/, PLAYER_SEED = /^[A-Za-z0-9_-]{1,64}$/;
const playersOf = ({players}) => players && Object.keys(players).sort();
const roundOf = (beacon) => /^quicknet \d+$/.test(beacon) ? BigInt(beacon.slice(9)) : undefined;
function timeOf(round) { // of publication, as a record has it
  const seconds = Number(1692803367n + 3n * (round - 1n));
  return seconds < 253402300800 ? new Date(seconds * 1000).toISOString().replace('.000Z', '.000000Z') : '~'; // after every time
}
const logName = (key) => key.split('+')[0];
const ALGORITHMS = { // for n items: the first bound, the step to the next, and what the i-th integer u swaps
  'fisher-yates': (n) => [n, -1, (i, u) => [i, i + u]], 'durstenfeld': (n) => [n, -1, (i, u) => [n - 1 - i, u]],
  'inside-out': (n) => [2, 1, (i, u) => [i + 1, u]], 'strike-out': (n) => [n, -1, null],
  'sattolo': (n) => [n - 1, -1, (i, u) => [i, i + 1 + u]]}; // its last bound is 1, which takes no bits
const changesShoe = ({kind}) => ['draw', 'add', 'return', 'reshuffle', 'close', 'expire'].includes(kind);
const deals = ({kind, taken}) => ['shuffle', 'shoe', 'reshuffle'].includes(kind) || (kind === 'draw' && taken === 'random');
const isSealing = ({kind}) => kind === 'shoe' || kind === 'reshuffle';
const usesCommitment = (record) => ['shuffle', 'shoe'].includes(record.kind) && 'commitment_id' in record;
const shoeOf = (record) => record?.kind === 'shoe' ? record.id : record && changesShoe(record) ? record.audit_id : undefined; // its id

const like = (form) => (value) => typeof value === 'string' && form.test(value);
const between = (low, high = Infinity) => (n) => Number.isSafeInteger(n) && n >= low && n <= high;
// There is no 30 February.
const isTime = (text) => like(TIME)(text) && text >= '1970' && new Date(text).toJSON()?.slice(0, 19) === text.slice(0, 19);
const isObject = (map) => !Array.isArray(map) && Object.keys(map).length > 0;
const TYPES = { // the forms that have a name
  uuid7: like(UUID7), digest: like(DIGEST), time: isTime, reference: like(REFERENCE), text: (text) => like(/^[^]/)(text) && !text.includes('\0'),
  cards: (text) => readCards(text).length > 0, hands: (all) => all.every(between(1)), digests: (all) => all.length > 0 && all.every(like(DIGEST)),
  parameters: (map) => isObject(map) && Object.values(map).every(between(0)),
  players: (map) => isObject(map) && Object.keys(map).length <= 100 &&
    Object.entries(map).every(([name, hash]) => PLAYER.test(name) && like(DIGEST)(hash)),
  range: ([low, high, ...more]) => between(1)(low) && between(low + 1)(high) && more.length === 0};

const fitsForm = (form) => { // a regular expression, a range of numbers or a type
  const [low, high] = form.split('..');
  if (form[0] === '/') return like(new RegExp(`^(${form.slice(1, -1)})$`));
  return high === undefined ? TYPES[form] : between(Number(low), Number(high || Infinity));
};
// The members of each kind of record, '*' for all kinds: a kind is followed by ? if the member is
// optional, and by a colon if it needs another member, by = and how that has to begin.
const USES = new Map();
for (const [name, forms] of Object.entries(MEMBERS)) {
  for (const [kinds, form] of Object.entries(forms)) {
    const fits = fitsForm(form);
    for (const [, kind, optional, other, start] of kinds.matchAll(/(\*|[a-z-]+)(\??)(?::(\w+))?=?(\w*)/g)) {
      if (!USES.has(kind)) USES.set(kind, new Map(USES.get('*')));
      USES.get(kind).set(name, {isRequired: !optional, fits, allows: (record) => !other || (other in record && String(record[other]).startsWith(start))});
    }
  }
}

// Of a shoe: as many as are moved, or none if it was not shuffled, or all cards.
function exactDraw(record) {
  if (record.kind === 'draw') return readCards(record.cards).length;
  return record.kind === 'shoe' && !('root' in record) ? 0 : record.size;
}
const RULES = { // what a member has to be beyond its form; those before it in MEMBERS have theirs
  draw: (record) => record.draw <= record.size && (shoeOf(record) === undefined || record.draw === exactDraw(record)),
  size: ({size, algorithm}) => size !== 1 || algorithm !== 'sattolo',
  hands: ({hands, draw}) => hands.reduce((sum, hand) => sum + hand) <= draw, // fails if it is empty
  items_digest: ({input}) => input.startsWith('items '),
  client_seed: ({client_seed: seed}) => utf8(seed).length <= 256,
  deadline: ({deadline, time}) => deadline > time, expires: ({expires, time}) => expires > time,
  beacon: ({beacon, time, deadline}) => { // the round of another beacon is not known
    const round = roundOf(beacon);
    return round === undefined || timeOf(round) > time && timeOf(round) < deadline;
  },
  players: (record) => !('beacon' in record), count: (record) => !('players' in record),
  round: ({round, count}) => round <= count,
  joined: async ({joined, client_seed: seed}) => utf8(joined).length > 256 && seed === `sha256:${hex(await sha256(joined))}`,
  cut: (record) => record.cut < record.size && 'root' in record && /^(shoe|all)$/.test(record.from ?? 'all'),
  cut_range: ({cut, size, cut_range: [low, high]}) => low <= cut && cut <= high && high < size};

async function readRecord(text) {
  let node;
  try { node = parse(text); } catch { /* and so no record */ }
  demand(node?.value instanceof Map, 'why.record');
  const record = {__proto__: null}; // the members in the table, since others may be long
  for (const name of Object.keys(MEMBERS)) if (node.value.has(name)) record[name] = plain(node.value.get(name));
  const uses = USES.get(string(node.value.get('kind'))) ?? USES.get('*');
  // Of an unknown kind, only the members that all kinds have are read.
  for (const name of uses === USES.get('*') ? uses.keys() : Object.keys(MEMBERS)) {
    const use = uses.get(name), value = node.value.get(name), isAllowed = Boolean(use?.allows(record));
    demand(value || !isAllowed || !use.isRequired, 'why.record.missing', {name});
    let fits = !value;
    try { fits ||= isAllowed && use.fits(record[name]) && (!RULES[name] || await RULES[name](record)); } catch {
      // it is of another type, such as hands that are no array
    }
    demand(fits, 'why.record.member', {name, text: value && short(value.text)});
  }
  return record;
}

// ---- Keys, keystream, integers, algorithms

async function deriveKey(block, message) {
  const key = await subtle.importKey('raw', unhex(block), {name: 'HMAC', hash: 'SHA-256'}, false, ['sign']);
  return subtle.importKey('raw', await subtle.sign('HMAC', key, message), 'AES-CTR', true, ['encrypt']);
}
async function halves(keys, shuffle, block) { // of the words of 64 counter blocks, from this one on, the higher half first
  const word = (number) => number.toString(16).padStart(16, '0'), counter = unhex(word(shuffle) + word(block));
  const encrypt = (key) => subtle.encrypt({name: 'AES-CTR', counter, length: 64}, key, new Uint8Array(1024));
  const streams = await Promise.all(keys.map(async (key) => new DataView(await encrypt(key))));
  return Uint32Array.from({length: 256}, (_, i) => streams.reduce((sum, stream) => sum ^ stream.getUint32(4 * i), 0));
}
export async function keystream(keys, shuffle, block) { // the words of 64 counter blocks, from this one on
  const parts = await halves(keys, shuffle, block);
  return Array.from({length: 128}, (_, i) => BigInt(parts[2 * i]) << 32n | BigInt(parts[2 * i + 1]));
}
// Steps that a replay takes: docs/spec.md, "Cost".
function costOf({algorithm, size, draw, repeat}, blocks) {
  const [n, m, r, k] = [size, draw, repeat, blocks].map(BigInt), d = /^(durstenfeld|inside-out)$/.test(algorithm) ? n : m;
  const p = algorithm === 'fisher-yates' && m < n / 16n ? 20n * m : n, perWord = 56n / BigInt(n.toString(2).length) || 1n;
  const cost = r * (60n + k * (10n + d / perWord + 1n) + 20n * d + p);
  return cost < 2n ** 64n ? cost : 2n ** 64n - 1n;
}
// The bounds from number i on that share a word: as many as have a product of at most 2^56.
function groupFrom(i, size, bound) {
  const group = [];
  let product = 1n, about = 1;
  for (; i < size - 1; i++) {
    const next = about * bound(i);
    if (next > 2 ** 53 && product * BigInt(bound(i)) > 2n ** 56n) break;
    group.push(bound(i));
    product = next > 2 ** 53 ? product * BigInt(bound(i)) : BigInt(next);
    about = next;
  }
  return {group, product, about};
}
// The integers that a word gives for a group; undefined if it is rejected.
function serve([high, low], {group, product, about}) {
  const served = [];
  if (group.some((b) => b > 2 ** 20)) {
    let x = BigInt(high) << 32n | BigInt(low);
    for (const b of group) { const wide = x * BigInt(b); x = BigInt.asUintN(64, wide); served.push(Number(wide >> 64n)); }
    return x < 2n ** 64n % product ? undefined : served;
  }
  for (const b of group) { // products of a half and b have less than 53 bits
    const first = low * b, carry = Math.floor(first / 2 ** 32), second = high * b + carry, u = Math.floor(second / 2 ** 32);
    low = first - carry * 2 ** 32;
    high = second - u * 2 ** 32;
    served.push(u);
  }
  if (high * 2 ** 32 + low > about * 1.001) return served; // 2^64 mod the product is less than the product
  return (BigInt(high) << 32n | BigInt(low)) < 2n ** 64n % product ? undefined : served;
}
async function replayShuffle({algorithm, size, draw}, keys, shuffle) {
  const [first, step, swap] = ALGORITHMS[algorithm](size), bound = (i) => first + step * i, integers = [];
  const needed = /^(durstenfeld|inside-out)$/.test(algorithm) ? size - 1 : Math.min(draw, size - 1);
  for (let words, used = 0; integers.length < needed;) {
    const group = groupFrom(integers.length, size, bound);
    let served;
    while (!served) {
      if (used % 128 === 0) words = await halves(keys, shuffle, used / 2);
      const at = 2 * (used++ % 128);
      served = serve([words[at], words[at + 1]], group);
    }
    for (const u of served) integers.push(u);
  }
  if (!swap) {
    const left = new Left(size);
    return [...integers.slice(0, draw), ...(draw > integers.length ? [0] : [])].map((s) => left.take(s)); // the last one is alone
  }
  if (needed * 16 > size) { // most places move
    const places = Float64Array.from({length: size}, (_, i) => i);
    integers.forEach((u, i) => { const [p, q] = swap(i, u), item = places[p]; places[p] = places[q]; places[q] = item; });
    return Array.from(places.subarray(0, draw));
  }
  const moved = new Map(), at = (place) => moved.get(place) ?? place; // only what moved, for n may be 2^53 - 1
  integers.forEach((u, i) => { const [p, q] = swap(i, u), item = at(p); moved.set(p, at(q)).set(q, item); });
  return Array.from({length: draw}, (_, i) => at(i));
}
class Left { // the numbers below size that were not taken, in runs, and how many each run and those before it have: a Fenwick tree
  constructor(size) {
    Object.assign(this, {size, runs: new Map(), sums: new Float64Array(Math.ceil(size / 1024) + 1)});
    for (let i = 1; i < this.sums.length; i++) this.add(i, Math.min(1024, size - 1024 * (i - 1)), true);
  }
  add(i, n, isNew) {
    if (isNew) { this.sums[i] += n; if (i + (i & -i) < this.sums.length) this.sums[i + (i & -i)] += this.sums[i]; return; }
    for (; i < this.sums.length; i += i & -i) this.sums[i] += n;
  }
  take(s) { // the one before which s are left
    let run = 0;
    for (let jump = 2 ** Math.floor(Math.log2(this.sums.length)); jump >= 1; jump /= 2) {
      if (run + jump < this.sums.length && this.sums[run + jump] <= s) { run += jump; s -= this.sums[run]; }
    }
    if (!this.runs.has(run)) this.runs.set(run, Array.from({length: Math.min(1024, this.size - 1024 * run)}, (_, i) => 1024 * run + i));
    this.add(run + 1, -1);
    return this.runs.get(run).splice(s, 1)[0];
  }
}

async function drawCut([low, high], keys) { // from a keystream that no order uses
  const n = BigInt(high - low + 1), words = await keystream(keys, 1, 0);
  return low + Number(words.find((x) => BigInt.asUintN(64, x * n) >= 2n ** 64n % n) * n >> 64n);
}

// ---- Proof file

const FILE = ['spec', 'record', 'seed', 'client_seed', 'tlog_proof', 'log_key'], NESTED = 'commitment_proof';
const B = '[A-Za-z0-9+/]', END = '[AEIMQUYcgkosw048]=', HASH = `${B}{42}${END}`; // canonical base64
// An expression that matches all of a long name would run out of stack.
const IN_NO_NAME = /[\p{White_Space}+\x00-\x1f]/u;
const KEY_NAME = '[^\\p{White_Space}+\\x00-\\x1f\\x7f-\\x9f]+'; // signatures by other keys are ignored, whatever their names
const LOG_KEY = new RegExp(`^(${KEY_NAME})\\+([0-9a-f]{8})\\+(${B}{44})$`, 'u');
// All before the signatures, which may be long.
const TLOG_PROOF = new RegExp(`^c2sp\\.org/tlog-proof@v1\nindex (0|[1-9]\\d{0,18})\n((?:${HASH}\n){0,63})\n` +
  `(([^\\x00-\\x1f]+)\n([1-9]\\d{0,18})\n(${HASH})\n)\n$`, 'u');

class NoFile extends Fault {} // it shows nothing, and so is not false either
// The proof files in a text: one, or those of a whole shoe. One that cannot be read has an error instead.
function readProof(text) {
  let node;
  try { node = parseAny(fromTlogProof(trim(text))); } catch {
    return {files: [{error: new NoFile(message('why.file.json'))}]};
  }
  const isPair = node.value instanceof Map && node.duplicate === undefined && node.value.size === 2;
  const files = isPair ? node.value.get('shoe') : undefined;
  const isShoe = isList(files) && files.value.length > 0 && string(node.value.get('spec')) === 'riffle/1';
  return isShoe ? {isShoe, files: [...files.value]} : {files: [node]};
}
// The JSON of a proof file in the format of C2SP tlog-proof; any other text unchanged.
function fromTlogProof(text) {
  const [, extra, rest] = /^c2sp\.org\/tlog-proof@v1\nextra ([^\n]*)\n?([^]*)$/.exec(text) ?? [];
  try {
    if (extra === undefined || btoa(atob(extra)) !== extra) return text;
    const object = new TextDecoder('utf-8', {fatal: true, ignoreBOM: true}).decode(unbase64(extra));
    const proof = JSON.stringify(`c2sp.org/tlog-proof@v1\n${rest}\n`);
    return object.endsWith('}') ? `${object.slice(0, -1)},"tlog_proof":${proof}}` : text;
  } catch { return text; }
}
async function readFile(node, isNested) {
  if (node.error) throw node.error;
  const members = node.value;
  if (!(members instanceof Map && members.has('record'))) throw new NoFile(message('why.file.record'));
  const others = !isNested && members.has(NESTED) ? 1 : 0;
  demand(node.duplicate === undefined && members.size === FILE.length + others, 'why.file.members');
  const file = {commitment: members.get(NESTED)};
  for (const name of FILE) {
    const value = members.get(name)?.value;
    demand(typeof value === 'string' || (name === 'seed' && value === null), 'why.file.member', {name});
    file[name] = value;
  }
  demand(file.spec === 'riffle/1', 'why.file.spec', file);
  demand(file.seed === null || isHex(file.seed), 'why.file.seed');
  const end = file.tlog_proof.lastIndexOf('\n\n— ') + 2, lines = file.tlog_proof.slice(end).split('\n');
  const tlog = TLOG_PROOF.exec(file.tlog_proof.slice(0, end));
  demand(tlog && lines.pop() === '' && lines.length <= 100, 'why.file.tlog');
  const [, index, path, note, origin, leaves, root] = tlog, number = {index: BigInt(index), leaves: BigInt(leaves)};
  demand(number.index < 2n ** 63n && number.leaves <= MAX_TREE, 'why.file.tlog');
  const signatures = lines.map((line) => {
    const [, by, base64] = /^— ([^ ]+) (.+)$/.exec(line) ?? [];
    const data = base64 && isBase64(base64) ? unbase64(base64) : [];
    // There are 4 bytes of the key's hash before the signature.
    demand(by && !IN_NO_NAME.test(by) && data.length > 4, 'why.file.tlog');
    return {by, data};
  });
  const key = await readKey(file.log_key);
  const hashes = path.split('\n').slice(0, -1).map(unbase64);
  return {...file, ...number, key, path: hashes, note, origin, root: hex(unbase64(root)), signatures};
}
async function readKey(text) {
  const [, name, id, base64] = LOG_KEY.exec(text) ?? [], point = name && unbase64(base64);
  demand(name && point[0] === 1 && hex(await sha256(name, '\n', point)).startsWith(id), 'why.key');
  return {name, id, point: point.slice(1)};
}
// Where a path leads from a leaf in a tree of size leaves; undefined if it does not have the length for that.
async function rootOf(leaf, index, size, path) {
  if (index >= size || (path.length > 0) !== (size > 1n)) return undefined;
  if (size === 1n) return leaf;
  const half = 2n ** BigInt((size - 1n).toString(2).length - 1), rest = path.slice(0, -1); // RFC 6962 splits it there
  const below = await (index < half ? rootOf(leaf, index, half, rest) : rootOf(leaf, index - half, size - half, rest));
  return below && sha256(Uint8Array.of(1), ...index < half ? [below, path.at(-1)] : [path.at(-1), below]);
}

// A step is ok, wrong, unchecked (it was asked for or is required, and something is missing) or skipped (nobody asked).
class Steps extends Array {
  add(name, state, message) { this.push({name, state, message}); }
  find(name) { return Array.prototype.find.call(this, (step) => step.name === name); }
  first(state) { return Array.prototype.find.call(this, (step) => step.state === state); }
  has(name, state) { return this.find(name)?.state === state; }
}
const short = (text, most = 60) => { // so many characters at most, of 2 units each at most
  const start = [...text.slice(0, 2 * most + 2)];
  return start.length > most ? `${start.slice(0, most).join('')}...` : text;
};

// Checks one proof file. given has key, policy, items, salt, handOf and one of answer, order, hand and cards, if any.
async function checkFile(node, given, isNested) {
  const entry = {steps: new Steps()}, {steps} = entry;
  try {
    const file = await readFile(node, isNested);
    demand(!given.key || given.key === file.log_key, 'why.file.key', {has: file.log_key, given: given.key});
    demand(!hasLogs(given) || given.policy.logs.includes(file.log_key), 'why.file.policy', {has: file.log_key});
    entry.file = file;
    steps.add('proof', 'ok', message(hasKey(given) ? 'proof.key' : 'proof.no-key'));
  } catch (error) {
    steps.add('proof', error instanceof Fault && !(error instanceof NoFile) ? 'wrong' : 'unchecked', reasonOf(error));
    return entry;
  }
  try {
    const {file} = entry, record = await readRecord(file.record);
    if (!USES.has(record.kind)) steps.add('record', 'unchecked', message('why.record.kind', record));
    else {
      demand(file.client_seed === (record.client_seed ?? ''), 'why.record.client-seed');
      demand(deals(record) || file.seed === null, 'why.record.seed', record);
      entry.record = record;
      steps.add('record', 'ok', describe(record));
    }
  } catch (error) { steps.add('record', error instanceof Fault ? 'wrong' : 'unchecked', reasonOf(error)); }
  if (entry.record) await replay(entry, given);
  if (entry.record && given.cards) await checkHand(entry, given.cards);
  await checkInclusion(entry);
  await checkSignature(entry);
  await checkWitnesses(entry, given);
  return entry;
}
async function checkInclusion({file, steps}) {
  const leaf = await sha256(Uint8Array.of(0), file.record), top = await rootOf(leaf, file.index, file.leaves, file.path);
  if (file.index >= file.leaves) {
    steps.add('inclusion', 'wrong', message('why.index', {index: file.index, size: file.leaves}));
  } else if (!top || hex(top) !== file.root) steps.add('inclusion', 'wrong', message('why.path'));
  else steps.add('inclusion', 'ok', message('inclusion', {index: file.index, size: file.leaves}));
}
async function checkSignature({file: {key, origin, note, signatures}, steps}) {
  const own = signatures.filter(({by, data}) => by === key.name && hex(data).startsWith(key.id));
  let holds = false;
  try {
    const verifier = await subtle.importKey('raw', key.point, 'Ed25519', false, ['verify']), text = utf8(note);
    holds = (await Promise.all(own.map(({data}) => subtle.verify('Ed25519', verifier, data.slice(4), text)))).every(Boolean);
  } catch { // the key is no point of the curve
  }
  if (origin !== key.name) steps.add('signature', 'wrong', message('why.origin', {origin, log: key.name}));
  else if (own.length === 0) steps.add('signature', 'wrong', message('why.unsigned', {log: key.name}));
  else if (!holds) steps.add('signature', 'wrong', message('why.signature'));
  else steps.add('signature', 'ok', message('signature', {log: key.name}));
}

// ---- Witnesses: docs/spec.md, "Witnesses"

const WITNESS_KEY = new RegExp(`^(${KEY_NAME})\\+([0-9a-f]{8})\\+(${B}{44}|${B}{1750}${END})$`, 'u');
const hasLogs = ({policy}) => policy?.logs.length > 0;
const hasKey = (given) => given.key || hasLogs(given); // the log of a file must be one that was given
async function readPolicy(text) {
  const names = new Set(['none']), seen = new Set(), groups = [], policy = {logs: [], witnesses: []};
  const define = (name) => { demand(!names.has(name), 'why.policy.name', {name}); names.add(name); };
  const own = (name, point) => { // no two logs or witnesses share a key, or a name in one
    demand(!seen.has(`name ${name}`) && !seen.has(hex(point)), 'why.policy.twice');
    seen.add(`name ${name}`).add(hex(point));
  };
  const lines = {
    log: async (key) => {
      const {name, point} = await readKey(key);
      own(name, point);
      policy.logs.push(key);
    },
    witness: async (name, key) => {
      const [, keyName, id, base64] = WITNESS_KEY.exec(key) ?? [], bytes = base64 && unbase64(base64);
      demand(bytes && (bytes[0] === 4 && bytes.length === 33 || bytes[0] === 6 && bytes.length === 1313) &&
        hex(await sha256(keyName, '\n', bytes)).startsWith(id), 'why.policy.witness');
      own(keyName, bytes.slice(1));
      define(name);
      policy.witnesses.push({name, keyName, id, verify: await verifierOf(bytes, keyName)});
    },
    group: (name, number, ...members) => {
      const least = {any: 1, all: members.length}[number] ?? (/^[1-9]\d*$/.test(number) ? Number(number) : 0);
      demand(least >= 1 && least <= members.length, 'why.policy.group', {members: members.length, number});
      demand(members.every((member) => member !== 'none' && names.has(member)) && new Set(members).size === members.length,
        'why.policy.member');
      define(name);
      groups.push({name, least, members});
    },
    quorum: (name) => { demand(!policy.quorum && names.has(name), 'why.policy.end'); policy.quorum = name; },
  };
  for (const [i, line] of text.split('\n').entries()) {
    const [keyword, ...words] = line.replace(/\r$/, '').split(/[ \t]+/).filter(Boolean);
    if (!keyword || keyword.startsWith('#')) continue;
    try {
      const [least, most] = {__proto__: null, log: [1, 2], witness: [2, 3], group: [3, Infinity], quorum: [1, 1]}[keyword] ?? [];
      demand(words.length >= least && words.length <= most, 'why.policy.line');
      await lines[keyword](...words);
    } catch (error) { throw new Fault(message('why.line', {n: i + 1, what: reasonOf(error)})); }
  }
  demand(policy.quorum, 'why.policy.quorum');
  const suffice = (cosigned) => { // each group is counted once, after its members
    const met = new Set(cosigned);
    for (const {name, least, members} of groups) if (members.filter((member) => met.has(member)).length >= least) met.add(name);
    return met.has(policy.quorum);
  };
  return {...policy, suffice};
}
// What verifies the cosignatures of a witness with a key of this name: C2SP tlog-cosignature. Undefined if that cannot be checked.
async function verifierOf([algorithm, ...bytes], name) {
  const point = Uint8Array.from(bytes);
  if (algorithm === 4) {
    const key = await subtle.importKey('raw', point, 'Ed25519', false, ['verify']).catch(() => undefined);
    return async (signature, time, note) => key && signature.length === 64 &&
      subtle.verify('Ed25519', key, signature, utf8(`cosignature/v1\ntime ${time}\n${note}`));
  }
  const {ml_dsa44: mldsa} = await import('@noble/post-quantum/ml-dsa.js').catch(() => ({}));
  const number = (n) => unhex(BigInt(n).toString(16).padStart(16, '0')), long = (text) => concat([Uint8Array.of(utf8(text).length), text]);
  return mldsa && ((signature, time, note) => {
    const [origin, size, root] = note.split('\n');
    const signed = concat(['subtree/v1\n\0', long(name), number(time), long(origin), number(0), number(size), unbase64(root)]);
    try { return mldsa.verify(signature, signed, point); } catch { return false; } // of another length
  });
}
// The cosignatures by the witnesses, in the order of the policy, or the name of one of whom a line is wrong.
async function cosignatures({note, signatures}, {witnesses}) {
  const by = [], LAST = 253402300799n; // the last second of the year 9999
  for (const {name, keyName, id, verify} of witnesses) {
    const own = signatures.filter((line) => verify && line.by === keyName && hex(line.data).startsWith(id));
    const times = own.map(({data}) => BigInt(`0x0${hex(data.slice(4, 12))}`));
    const isIn = (time) => time > 0n && time <= LAST;
    const holds = own.map(async ({data}, i) => isIn(times[i]) && verify(data.slice(12), times[i], note));
    if (!(await Promise.all(holds)).every(Boolean)) return {wrong: name};
    if (own.length > 0) by.push({name, time: new Date(Number(times[0]) * 1000).toISOString().replace('.000', '')});
  }
  return {by};
}
async function checkWitnesses({file, steps}, {policy}) {
  if (!policy || policy.quorum === 'none') return;
  const {by, wrong} = await cosignatures(file, policy), {witnesses} = policy;
  if (wrong) return steps.add('witnesses', 'wrong', message('why.cosignature', {name: wrong}));
  const isMet = policy.suffice(by.map(({name}) => name)), names = by.map(({name, time}) => `${name} (${time})`);
  steps.add('witnesses', isMet ? 'ok' : 'unchecked', message(isMet ? 'witnesses' : 'witnesses.few', {
    by: by.length, all: witnesses.length, names: names.length > 0 ? names : undefined,
    unchecked: witnesses.every(({verify}) => verify) ? undefined : 'ML-DSA-44'}));
}

// Checks that an earlier commitment in the same log fixed the order of a shuffle or a shoe, except for the client seed.
async function checkCommitted(steps, entries, {policy}) {
  const own = new Steps();
  for (const entry of entries) {
    const beacon = entry.record && await checkCommitment(own, entry, policy);
    if (beacon) steps.beacon = beacon;
  }
  const step = own.first('wrong') ?? own.first('unchecked') ?? own.first('skipped') ?? own[0];
  if (step) steps.push(step);
}
async function checkCommitment(steps, {file, record}, policy) { // returns the beacon, if its signature holds
  const id = record.commitment_id, wrong = (why, values) => steps.add('committed', 'wrong', message(why, values));
  if (!file.commitment) {
    if (usesCommitment(record)) steps.add('committed', 'skipped', message('committed.missing', {id}));
    return;
  }
  if (!usesCommitment(record)) {
    wrong('why.commitment.none');
    return;
  }
  const other = await checkFile(file.commitment, {key: file.log_key}, true);
  const failed = other.steps.first('wrong'), made = other.record, {index} = other.file ?? {};
  const same = (name) => JSON.stringify(made[name]) === JSON.stringify(record[name]);
  if (other.steps.has('proof', 'unchecked')) {
    steps.add('committed', 'unchecked', message('why.commitment.unread', {what: other.steps.find('proof').message}));
  } else if (failed) wrong('why.commitment.proof', {step: failed.name, what: failed.message});
  else if (made && index >= file.index) wrong('why.commitment.later', {index, used: file.index});
  else if (made?.kind !== 'commitment') wrong('why.commitment.kind');
  else if (made.id !== id) wrong('why.commitment.id', made);
  else if (!same('count')) wrong('why.commitment.book', {has: record.count ?? 0, count: made.count ?? 0});
  else if (made.count && !await isRoundOf(record, made)) wrong('why.commitment.path', record);
  else if (!made.count && !same('commitment')) wrong('why.commitment.value', {has: record.commitment, made: made.commitment});
  else if (!STATEMENT.every(same)) wrong('why.commitment.statement');
  else if (record.time >= made.deadline) wrong('why.commitment.deadline', {time: record.time, deadline: made.deadline});
  else {
    const unfit = await whyNotJoined(record, made), players = playersOf(made);
    if (unfit) {
      steps.add('committed', 'wrong', unfit);
      return;
    }
    const round = made.beacon && roundOf(made.beacon), time = round && timeOf(round);
    const holds = made.beacon ? await isSignature(record.client_seed, round) : true;
    if (holds === undefined) {
      const lacks = message('why.beacon.package', {what: 'the package @noble/curves'});
      steps.add('committed', 'unchecked', round ? lacks : message('why.beacon.unknown', made));
    } else if (!holds) wrong('why.beacon', made);
    else steps.add('committed', 'ok', message('committed', {id, players, ...round && {beacon: made.beacon, time}}));
    if (!round || !holds) return;
    const {by = []} = policy ? await cosignatures(other.file, policy) : {};
    const before = by.filter(({time: at}) => at < time.replace('.000000', '')).map(({name}) => name);
    return {name: made.beacon, time, cosigned: Boolean(policy && policy.quorum !== 'none' && policy.suffice(before))};
  }
}
// Why the client seed does not join the seeds of the commitment's players; nothing if it does. The record has the joined text if that
// is longer than 256 bytes, and the client seed is its digest then.
async function whyNotJoined({client_seed: text, joined}, made) {
  const names = playersOf(made), shown = joined ?? text;
  if (!names) return joined && message('why.players.none');
  const seeds = new Map(shown.split(' ').map((part) => part.split(/:([^]*)/))); // up to the first colon, and from it
  const [unknown] = [...seeds.keys()].filter((name) => !names.includes(name)).sort(byBytes);
  if (unknown !== undefined) return message('why.player.unknown', {name: short(unknown)});
  for (const name of names) {
    const seed = seeds.get(name);
    if (!seeds.has(name)) return message('why.player.missing', {name});
    if (!PLAYER_SEED.test(seed ?? '')) return message('why.player.form', {name});
    if (hex(await sha256(`${name}\n${seed}`)) !== made.players[name]) return message('why.player.hash', {name});
  }
  return shown !== names.map((name) => `${name}:${seeds.get(name)}`).join(' ') && message('why.players.joined');
}
const knownSignatures = new Map(); // of rounds, each of which has one
// Whether a text is the signature of a round of quicknet; undefined if that cannot be checked.
async function isSignature(text, round) {
  if (round === undefined) return undefined;
  if (!/^[0-9a-f]{96}$/.test(text)) return false;
  if (knownSignatures.has(round)) return knownSignatures.get(round) === text;
  const curves = await import('@noble/curves/bls12-381.js').catch(() => undefined);
  if (!curves) return undefined;
  const {shortSignatures: bls} = curves.bls12_381, number = await sha256(unhex(round.toString(16).padStart(16, '0')));
  try {
    if (!bls.verify(unhex(text), bls.hash(number, QUICKNET.hash), unhex(QUICKNET.key))) return false;
  } catch { return false; } // no point
  knownSignatures.set(round, text);
  return true;
}

async function isRoundOf({commitment, count, round, path}, book) {
  const leaf = await sha256(Uint8Array.of(0), unhex(commitment)), top = await rootOf(leaf, BigInt(round - 1), BigInt(count), path.map(unhex));
  return top !== undefined && hex(top) === book.commitment;
}

// ---- Verifying: the seed, the order that follows from it, and the items

function statementOf(record, seed) {
  const lines = STATEMENT.map((name) => name in record ? `${name} ${record[name]}\n` : ''); // hands with commas
  return `riffle/1\n${lines.join('')}seed ${seed}\n`;
}
async function replay(entry, given) {
  const {file, record, steps} = entry, {answer, items} = given, asked = answer ?? given.order ?? given.hand;
  if (!deals(record)) {
    for (const [name, text] of [['order', asked], ['items', items]])
      if (text) steps.add(name, 'unchecked', message('none', record));
    return;
  }
  const answered = file.seed === null ? seedOfAnswer(answer, record) : undefined;
  if (answered) file.seed = answered;
  if (file.seed === null) {
    for (const name of ['seed', 'commitment', 'keys']) steps.add(name, 'skipped', message('held-back'));
    const other = answer && otherNames(answer, entry), isSealed = given.cards && isSealing(record);
    steps.add('order', other ? 'wrong' : isSealed ? 'skipped' : 'unchecked', other || message('held-back.order'));
    await checkItems(entry, given);
    return;
  }
  const {algorithm, size, draw, repeat} = record, blocks = file.seed.match(/.{1,64}/g), few = draw > 1024 ? 0 : draw;
  const results = Array.from({length: few}, (_, i) => BigInt(size - i)).reduce((product, n) => product * n, 1n);
  const wanted = entry.blocks = Math.ceil(((results - 1n).toString(2).length + 64) / 256); // log2 rounded up gives the same
  const got = Math.floor(file.seed.length / 64);
  steps.add('seed', 'ok', message(got < wanted ? 'seed.short' : 'seed', {blocks: got, wanted,
    complete: draw > 1024 ? message('seed.complete') : undefined, source: answered && message('seed.answer')}));

  entry.statement = statementOf(record, file.seed);
  const hash = await sha256(entry.statement);
  if (hex(hash) !== record.commitment) {
    steps.add('commitment', 'wrong', message('why.digest', {digest: hex(hash), commitment: record.commitment}));
    return;
  }
  steps.add('commitment', 'ok', message('commitment', record));

  if (!/^(.{64}){1,213}$/.test(file.seed) || new Set(blocks).size !== blocks.length) {
    steps.add('keys', 'wrong', message('why.keys'));
    return;
  }
  const fixed = concat(['riffle/1 key\n', hash, file.client_seed]);
  entry.keys = await Promise.all(blocks.map((block) => deriveKey(block, fixed)));
  steps.add('keys', 'ok', message('keys', {blocks: blocks.length, bytes: utf8(file.client_seed).length}));

  const cost = costOf(record, blocks.length);
  if (cost > MAX_COST) {
    entry.cost = cost;
    steps.add('order', 'unchecked', message('order.cost', {steps: String(cost)}));
    await checkItems(entry, given);
    return;
  }
  entry.orders = [];
  for (let number = 0; number < repeat; number++) entry.orders.push(await replayShuffle(record, entry.keys, number));
  const {cut_range: range} = record, drawn = range && await drawCut(range, entry.keys);
  if (range && drawn !== record.cut) {
    entry.orders = undefined;
    steps.add('order', 'wrong', message('why.cut', {...record, ...rangeOf(record), drawn}));
    return;
  }
  const digest = hex(await sha256(entry.orders.map((positions) => `${JSON.stringify(positions)}\n`).join('')));
  steps.add('order', 'ok', message('order', {...record, ...rangeOf(record), cut: drawn, digest}));
  const step = steps.at(-1);
  await checkItems(entry, given);
  if (asked) compareOrder(step, entry, given);
  await checkRoot(entry);
}

// The codes of all cards, R1*2 for R1 twice, made from internal/deck/data by web/tables.mjs: do not edit.
const DECKS = {
  "standard52": "AS 2S 3S 4S 5S 6S 7S 8S 9S TS JS QS KS AH 2H 3H 4H 5H 6H 7H 8H 9H TH JH QH KH AD 2D 3D 4D 5D 6D 7D 8D 9D TD JD QD KD AC 2C 3C 4C 5C 6C 7C 8C 9C TC JC QC KC",
  "standard54": "AS 2S 3S 4S 5S 6S 7S 8S 9S TS JS QS KS AH 2H 3H 4H 5H 6H 7H 8H 9H TH JH QH KH AD 2D 3D 4D 5D 6D 7D 8D 9D TD JD QD KD AC 2C 3C 4C 5C 6C 7C 8C 9C TC JC QC KC X1 X2",
  "euchre24": "AS 9S TS JS QS KS AH 9H TH JH QH KH AD 9D TD JD QD KD AC 9C TC JC QC KC",
  "piquet32": "AS 7S 8S 9S TS JS QS KS AH 7H 8H 9H TH JH QH KH AD 7D 8D 9D TD JD QD KD AC 7C 8C 9C TC JC QC KC",
  "pinochle48": "AS*2 9S*2 TS*2 JS*2 QS*2 KS*2 AH*2 9H*2 TH*2 JH*2 QH*2 KH*2 AD*2 9D*2 TD*2 JD*2 QD*2 KD*2 AC*2 9C*2 TC*2 JC*2 QC*2 KC*2",
  "spanish40": "1O 2O 3O 4O 5O 6O 7O 10O 11O 12O 1C 2C 3C 4C 5C 6C 7C 10C 11C 12C 1E 2E 3E 4E 5E 6E 7E 10E 11E 12E 1B 2B 3B 4B 5B 6B 7B 10B 11B 12B",
  "spanish48": "1O 2O 3O 4O 5O 6O 7O 8O 9O 10O 11O 12O 1C 2C 3C 4C 5C 6C 7C 8C 9C 10C 11C 12C 1E 2E 3E 4E 5E 6E 7E 8E 9E 10E 11E 12E 1B 2B 3B 4B 5B 6B 7B 8B 9B 10B 11B 12B",
  "tarot78": "AS 2S 3S 4S 5S 6S 7S 8S 9S TS JS NS QS KS AH 2H 3H 4H 5H 6H 7H 8H 9H TH JH NH QH KH AD 2D 3D 4D 5D 6D 7D 8D 9D TD JD ND QD KD AC 2C 3C 4C 5C 6C 7C 8C 9C TC JC NC QC KC T1 T2 T3 T4 T5 T6 T7 T8 T9 T10 T11 T12 T13 T14 T15 T16 T17 T18 T19 T20 T21 T0",
  "hanafuda48": "01B 01R 01C1 01C2 02A 02R 02C1 02C2 03B 03R 03C1 03C2 04A 04R 04C1 04C2 05A 05R 05C1 05C2 06A 06R 06C1 06C2 07A 07R 07C1 07C2 08B 08A 08C1 08C2 09A 09R 09C1 09C2 10A 10R 10C1 10C2 11B 11A 11R 11C1 12B 12C1 12C2 12C3",
  "uno108": "R0 R1*2 R2*2 R3*2 R4*2 R5*2 R6*2 R7*2 R8*2 R9*2 RS*2 RR*2 RD*2 Y0 Y1*2 Y2*2 Y3*2 Y4*2 Y5*2 Y6*2 Y7*2 Y8*2 Y9*2 YS*2 YR*2 YD*2 G0 G1*2 G2*2 G3*2 G4*2 G5*2 G6*2 G7*2 G8*2 G9*2 GS*2 GR*2 GD*2 B0 B1*2 B2*2 B3*2 B4*2 B5*2 B6*2 B7*2 B8*2 B9*2 BS*2 BR*2 BD*2 W*4 WF*4",
  "uno112": "R0 R1*2 R2*2 R3*2 R4*2 R5*2 R6*2 R7*2 R8*2 R9*2 RS*2 RR*2 RD*2 Y0 Y1*2 Y2*2 Y3*2 Y4*2 Y5*2 Y6*2 Y7*2 Y8*2 Y9*2 YS*2 YR*2 YD*2 G0 G1*2 G2*2 G3*2 G4*2 G5*2 G6*2 G7*2 G8*2 G9*2 GS*2 GR*2 GD*2 B0 B1*2 B2*2 B3*2 B4*2 B5*2 B6*2 B7*2 B8*2 B9*2 BS*2 BR*2 BD*2 W*4 WF*4 WS WC*3",
  "mahjong136": "1m*4 2m*4 3m*4 4m*4 5m*4 6m*4 7m*4 8m*4 9m*4 1p*4 2p*4 3p*4 4p*4 5p*4 6p*4 7p*4 8p*4 9p*4 1s*4 2s*4 3s*4 4s*4 5s*4 6s*4 7s*4 8s*4 9s*4 1z*4 2z*4 3z*4 4z*4 5z*4 6z*4 7z*4",
  "mahjong144": "1m*4 2m*4 3m*4 4m*4 5m*4 6m*4 7m*4 8m*4 9m*4 1p*4 2p*4 3p*4 4p*4 5p*4 6p*4 7p*4 8p*4 9p*4 1s*4 2s*4 3s*4 4s*4 5s*4 6s*4 7s*4 8s*4 9s*4 1z*4 2z*4 3z*4 4z*4 5z*4 6z*4 7z*4 1q 2q 3q 4q 1f 2f 3f 4f",
  "sichuan108": "1m*4 2m*4 3m*4 4m*4 5m*4 6m*4 7m*4 8m*4 9m*4 1p*4 2p*4 3p*4 4p*4 5p*4 6p*4 7p*4 8p*4 9p*4 1s*4 2s*4 3s*4 4s*4 5s*4 6s*4 7s*4 8s*4 9s*4",
  "riichi136": "1m*4 2m*4 3m*4 4m*4 5m*3 0m 6m*4 7m*4 8m*4 9m*4 1p*4 2p*4 3p*4 4p*4 5p*3 0p 6p*4 7p*4 8p*4 9p*4 1s*4 2s*4 3s*4 4s*4 5s*3 0s 6s*4 7s*4 8s*4 9s*4 1z*4 2z*4 3z*4 4z*4 5z*4 6z*4 7z*4",
  "sanguosha108": "sha-S7 sha-S8*2 sha-S9*2 sha-ST*2 sha-HT*2 sha-HJ sha-D6 sha-D7 sha-D8 sha-D9 sha-DT sha-DK sha-C2 sha-C3 sha-C4 sha-C5 sha-C6 sha-C7 sha-C8*2 sha-C9*2 sha-CT*2 sha-CJ*2 shan-H2*2 shan-HK shan-D2*2 shan-D3 shan-D4 shan-D5 shan-D6 shan-D7 shan-D8 shan-D9 shan-DT shan-DJ*2 tao-H3 tao-H4 tao-H6 tao-H7 tao-H8 tao-H9 tao-HQ tao-DQ guohe-S3 guohe-S4 guohe-SQ guohe-HQ guohe-C3 guohe-C4 shunshou-S3 shunshou-S4 shunshou-SJ shunshou-D3 shunshou-D4 wuxie-SJ wuxie-DQ wuxie-CQ wuxie-CK wuzhong-H7 wuzhong-H8 wuzhong-H9 wuzhong-HJ nanman-S7 nanman-SK nanman-C7 juedou-SA juedou-DA juedou-CA jiedao-CQ jiedao-CK wugu-H3 wugu-H4 taoyuan-HA wanjian-HA lebu-S6 lebu-H6 lebu-C6 shandian-SA shandian-HQ liannu-DA liannu-CA hanbing-S2 qinggang-S6 shuanggu-S2 guanshi-D5 shemao-SQ qinglong-S5 fangtian-DQ qilin-H5 bagua-S2 bagua-C2 renwang-C2 jueying-S5 dilu-C5 zhuahuang-HK chitu-H5 dayuan-SK zixing-DK",
  "sanguosha160": "sha-S7 sha-S8*2 sha-S9*2 sha-ST*2 sha-HT*2 sha-HJ sha-D6 sha-D7 sha-D8 sha-D9 sha-DT sha-DK sha-C2 sha-C3 sha-C4 sha-C5 sha-C6 sha-C7 sha-C8*2 sha-C9*2 sha-CT*2 sha-CJ*2 shan-H2*2 shan-H8 shan-H9 shan-HJ shan-HQ shan-HK shan-D2*2 shan-D3 shan-D4 shan-D5 shan-D6*2 shan-D7*2 shan-D8*2 shan-D9 shan-DT*2 shan-DJ*3 tao-H3 tao-H4 tao-H5 tao-H6*2 tao-H7 tao-H8 tao-H9 tao-HQ tao-D2 tao-D3 tao-DQ leisha-S4 leisha-S5 leisha-S6 leisha-S7 leisha-S8 leisha-C5 leisha-C6 leisha-C7 leisha-C8 huosha-H4 huosha-H7 huosha-HT huosha-D4 huosha-D5 jiu-S3 jiu-S9 jiu-D9 jiu-C3 jiu-C9 guohe-S3 guohe-S4 guohe-SQ guohe-HQ guohe-C3 guohe-C4 shunshou-S3 shunshou-S4 shunshou-SJ shunshou-D3 shunshou-D4 wuxie-SJ wuxie-SK wuxie-HA wuxie-HK wuxie-DQ wuxie-CQ wuxie-CK wuzhong-H7 wuzhong-H8 wuzhong-H9 wuzhong-HJ nanman-S7 nanman-SK nanman-C7 juedou-SA juedou-DA juedou-CA jiedao-CQ jiedao-CK wugu-H3 wugu-H4 taoyuan-HA wanjian-HA tiesuo-SJ tiesuo-SQ tiesuo-CT tiesuo-CJ tiesuo-CQ tiesuo-CK huogong-H2 huogong-H3 huogong-DQ lebu-S6 lebu-H6 lebu-C6 shandian-SA shandian-HQ bingliang-ST bingliang-C4 liannu-DA liannu-CA hanbing-S2 qinggang-S6 shuanggu-S2 guanshi-D5 shemao-SQ qinglong-S5 fangtian-DQ qilin-H5 guding-SA zhuque-DA bagua-S2 bagua-C2 renwang-C2 tengjia-S2 tengjia-C2 baiyin-CA jueying-S5 dilu-C5 zhuahuang-HK chitu-H5 dayuan-SK zixing-DK hualiu-DK",
  "werewolf12": "werewolf*4 villager*4 seer witch hunter idiot",
  "dominoes28": "0-0 0-1 0-2 0-3 0-4 0-5 0-6 1-1 1-2 1-3 1-4 1-5 1-6 2-2 2-3 2-4 2-5 2-6 3-3 3-4 3-5 3-6 4-4 4-5 4-6 5-5 5-6 6-6",
  "paigow32": "6-6*2 1-1*2 4-4*2 1-3*2 5-5*2 3-3*2 2-2*2 5-6*2 4-6*2 1-6*2 1-5*2 3-6 4-5 2-6 3-5 2-5 3-4 2-4 1-4 2-3 1-2",
  "set81": "1RDS 1RDT 1RDO 1RSS 1RST 1RSO 1ROS 1ROT 1ROO 1GDS 1GDT 1GDO 1GSS 1GST 1GSO 1GOS 1GOT 1GOO 1PDS 1PDT 1PDO 1PSS 1PST 1PSO 1POS 1POT 1POO 2RDS 2RDT 2RDO 2RSS 2RST 2RSO 2ROS 2ROT 2ROO 2GDS 2GDT 2GDO 2GSS 2GST 2GSO 2GOS 2GOT 2GOO 2PDS 2PDT 2PDO 2PSS 2PST 2PSO 2POS 2POT 2POO 3RDS 3RDT 3RDO 3RSS 3RST 3RSO 3ROS 3ROT 3ROO 3GDS 3GDT 3GDO 3GSS 3GST 3GSO 3GOS 3GOT 3GOO 3PDS 3PDT 3PDO 3PSS 3PST 3PSO 3POS 3POT 3POO",
};
// Some roles depend on parameters, which have defaults.
const undercover = ({players = 6, undercover = players <= 6 ? 1 : players <= 10 ? 2 : 3, blank = 0, ...others}) => {
  const civilians = players - undercover - blank;
  const fits = players >= 4 && players <= 16 && undercover >= 1 && undercover <= 7 && blank <= 6 && 2 * civilians > players;
  return fits && Object.keys(others).length === 0 ? `civilian*${civilians} undercover*${undercover} blank*${blank}` : undefined;
};
const werewolf = ({players = 12, werewolves = players <= 7 ? 2 : players <= 11 ? 3 : players <= 14 ? 4 : 5,
  hunter = Number(players > 8), idiot = Number(players > 11), ...others}) => {
  const villagers = players - werewolves - 2 - hunter - idiot;
  const fits = players >= 6 && players <= 18 && werewolves >= 1 && werewolves <= 6 && hunter <= 1 && idiot <= 1 && villagers >= 0;
  return fits && Object.keys(others).length === 0 ?
    `werewolf*${werewolves} villager*${villagers} seer witch hunter*${hunter} idiot*${idiot}` : undefined;
};
const VARIABLE = {undercover, werewolf};
/** Returns the codes of all cards of a deck; undefined for one that is not known here. */
export function codesOf(type, parameters) {
  const isKnown = Object.hasOwn(DECKS, type) && !parameters;
  const runs = Object.hasOwn(VARIABLE, type) ? VARIABLE[type](parameters ?? {}) : isKnown ? DECKS[type] : undefined;
  return runs?.split(' ').flatMap((run) => { const [code, n = 1] = run.split('*'); return Array(Number(n)).fill(code); });
}

// The input of a shuffle, by number, which is a position in it. A seal commits to a card's text; the instance of a deck's
// card tells it from equal ones.
const numbers = (size) => ({size, text: String});
function cardsOf(codes, size) {
  const counts = {__proto__: null}, instances = codes.map((code) => counts[code] = (counts[code] ?? 0) + 1), n = codes.length;
  return {size, text: (number) => codes[number % n],
    instance: (number) => instances[number % n] + Math.floor(number / n) * counts[codes[number % n]]};
}
const plainText = (cards, number) => cards.instance ? cards.text(number) : canonical(parse(cards.text(number)));

const digestOf = async (text) => `sha256:${hex(await sha256(text))}`;
const salted = async (digest, salt) => salt ? digestOf(`riffle/1 items\nsalt ${salt}\n${digest}\n`) : digest;
// Adds the step items, which compares what was shuffled with the input of the record, and sets the cards if they are known.
async function checkItems(entry, {items, salt}) {
  const {record, steps} = entry, {input, size, items_digest: rule} = record, words = input.split(' ');
  const conclude = (state, said, cards) => { steps.add('items', state, said); entry.cards = cards; };
  if (changesShoe(record)) {
    return conclude(items ? 'unchecked' : 'skipped', message('items.places'), numbers(size));
  }
  if (items) {
    const digest = await salted(await digestOf(items.text), salt), list = items.value;
    if (rule && rule !== 'salted/1') return conclude('unchecked', message('items.rule', {rule}));
    if (rule && !salt) return conclude('unchecked', message('items.salt'));
    if (!rule && salt) return conclude('wrong', message('why.items.salt'));
    if (!input.endsWith(` ${digest}`)) return conclude('wrong', message('why.items.digest', {digest, input}));
    if (list.length !== size) return conclude('wrong', message('why.items.count', {given: list.length, size}));
    return conclude('ok', message('items'), words[0] === 'deck' ?
      cardsOf(list.map((node) => string(node) ?? node.text), size) : {size, text: (number) => list.at(number).text});
  }
  if (input === 'range') return conclude('ok', message('items.range'), numbers(size));
  if (words[0] !== 'deck') return conclude('skipped', message('items.missing'));
  const [, type, copies, digest] = words, codes = codesOf(type, record.parameters);
  if (!codes) return conclude('skipped', message('items.deck.unknown', {type}));
  if (size % codes.length !== 0 || copies !== `x${size / codes.length}`) {
    return conclude('wrong', message('why.deck.size', {size, input, type, cards: codes.length}));
  }
  if (size > MAX_DECK) return conclude('unchecked', message('items.deck.large', {size, most: MAX_DECK}));
  const all = Array(size / codes.length).fill(codes.map((code) => `"${code}"`).join()).join();
  if (digest !== `sha256:${hex(await sha256(`[${all}]`))}`) {
    return conclude('wrong', message('why.deck', {input, type}));
  }
  return conclude('ok', message('items.deck', {decks: size / codes.length, type}), cardsOf(codes, size));
}

// ---- Verifying: the answer, the order or the hand, compared with the replay

const ANSWER_MEMBERS = [ // of which none is ignored
  'audit_id', 'log_index', 'algorithm', 'items', 'hands', 'rest', 'shuffles', 'commitment', 'round', 'seed'];
function readAnswer(text) {
  const {value: members} = parse(text);
  demand(members instanceof Map, 'why.answer');
  demand(['items', 'hands', 'shuffles'].some((name) => members.has(name)), 'why.answer.empty');
  for (const name of ['items', 'hands', 'rest', 'shuffles'])
    demand(!members.has(name) || isList(members.get(name)), 'why.answer.array', {name});
  const [unknown] = [...members.keys()].filter((name) => !ANSWER_MEMBERS.includes(name)).sort(byBytes);
  demand(unknown === undefined, 'why.answer.member', {name: short(unknown ?? '')});
  return members;
}
function seedOfAnswer(answer, record) { // the seed that the answer to the request of the record has
  const id = answer?.get('audit_id'), seed = string(answer?.get('seed'));
  return (!id || string(id) === record.id) && isHex(seed ?? '') ? seed : undefined;
}
// Says what in an answer is not of the record, such as its id or its place in the log.
function otherNames(answer, {file, record}) {
  if (record.kind !== 'shuffle') return undefined;
  const is = (want) => (got) => string(got) === want;
  const rules = {audit_id: is(record.id), algorithm: is(record.algorithm), commitment: is(record.commitment),
    round: (got) => whole(got) === record.round, seed: (got) => file.seed === null || string(got) === file.seed,
    log_index: (got) => whole(got) >= 0 && BigInt(whole(got)) === file.index};
  const other = Object.keys(rules).find((name) => answer.get(name) && !rules[name](answer.get(name)));
  return other && message('why.answer.other', {name: other});
}
function compareOrder(step, entry, {answer, order, hand, handOf}) {
  const {record, cards} = entry, {kind, input} = record;
  const conclude = (state, said) => Object.assign(step, {state, message: said});
  const other = answer && otherNames(answer, entry), replayed = step.message;
  if (other) return conclude('wrong', other);
  if (!cards) return conclude('unchecked', message('order.items'));
  const isOther = kind !== 'shuffle' && (kind !== 'shoe' || answer);
  if (isOther) return conclude('unchecked', message('order.other', {order: replayed}));
  try {
    const dealt = new Dealt(entry);
    if (hand) {
      entry.match = dealt.find(hand.elements(input), handOf);
      return conclude('ok', message('order.hands', {order: replayed, match: describeMatch(entry.match)}));
    }
    dealt.check(answer ? partsOfAnswer(answer, record) : partsOfOrder(order.elements(input), record));
    entry.match = {};
    return conclude('ok', message('order.given', {order: replayed}));
  } catch (error) { return conclude('wrong', reasonOf(error)); }
}
function partOf(part) {
  if (typeof part === 'number') return message('part', {n: part});
  return message(part === 'rest' ? 'part.rest' : 'part.whole');
}
function describeMatch({part, cards, shuffle, sorted, noun}) {
  const hand = message(`match.${noun}s`, {cards, part: partOf(part)});
  return message(sorted ? 'match.sorted' : 'match', {parts: hand, shuffle});
}

// What an order or an answer says of each shuffle, in every form that it has: what is given as each part, which is the
// number of a hand, 'rest' or 'all'.
const fail = (id, values) => { throw new Fault(message(id, values)); };
function elementsOf(node) {
  demand(isList(node), 'why.json.array');
  return node.value;
}
function partsOfDeal(shuffle, hands, rest) {
  const parts = [...hands].map((hand, i) => ({shuffle, part: i + 1, given: elementsOf(hand)}));
  return [...parts, {shuffle, part: 'rest', given: elementsOf(rest)}];
}
function partsOfShuffles(shuffles, repeat, hands) {
  demand(shuffles.length === repeat, 'why.order.shuffles', {given: shuffles.length, repeat});
  return [...shuffles].flatMap((node, shuffle) => {
    const elements = elementsOf(node);
    if (hands.length === 0) return [{shuffle, part: 'all', given: elements}];
    demand(elements.length === hands.length + 1, 'why.order.parts', {n: shuffle + 1, hands: hands.length});
    const parts = [...elements];
    return partsOfDeal(shuffle, parts.slice(0, -1), parts.at(-1));
  });
}
function partsOfOrder(elements, {repeat}) {
  if (repeat === 1) return [{shuffle: 0, part: 'all', given: elements}];
  demand(elements.every(isList), 'why.order.shuffles', {given: 1, repeat});
  return partsOfShuffles(elements, repeat, []);
}
function partsOfAnswer(answer, {repeat, hands = []}) {
  const [items, dealt, rest, shuffles] = ['items', 'hands', 'rest', 'shuffles'].map((name) => answer.get(name)?.value);
  demand(repeat === 1 || (shuffles && !items && !dealt && !rest), 'why.order.shuffles', {given: 1, repeat});
  demand(!dealt || dealt.length === hands.length, 'why.order.hands', {given: dealt?.length, dealt: hands.length});
  demand(!shuffles || shuffles.length === repeat, 'why.order.shuffles', {given: shuffles?.length, repeat});
  demand(!dealt === !rest, 'why.order.rest');
  const parts = [];
  if (items) parts.push({shuffle: 0, part: 'all', given: items});
  if (dealt) parts.push(...partsOfDeal(0, dealt, answer.get('rest')));
  else if (rest) parts.push({shuffle: 0, part: 'rest', given: rest});
  if (shuffles) parts.push(...partsOfShuffles(shuffles, repeat, hands));
  return parts;
}

class Dealt { // the orders that were replayed, to compare what is given with them
  #keys = []; // of the cards, by their numbers
  constructor({record: {repeat, draw, hands = []}, orders, cards}) {
    Object.assign(this, {repeat, draw, hands, orders, cards});
  }
  get parts() { // that are not empty
    const dealt = this.hands.reduce((sum, n) => sum + n, 0);
    return [...this.hands.map((_, i) => i + 1), ...this.hands.length > 0 && dealt < this.draw ? ['rest'] : []];
  }
  numbersOf(shuffle, part) { // without hands, the rest is all
    const order = this.orders[shuffle];
    if (part === 'all') return order;
    const from = this.hands.slice(0, part === 'rest' ? undefined : part - 1).reduce((sum, n) => sum + n, 0);
    return order.slice(from, part === 'rest' ? this.draw : from + this.hands[part - 1]);
  }
  keyOf(number) {
    return this.#keys[number] ??= this.cards.instance ? `"${this.cards.text(number)}"` : plainText(this.cards, number);
  }
  isCard(node) { return this.cards.instance && node.value instanceof Map; } // with all its details
  read(node) {
    if (!this.isCard(node)) return {key: canonical(node)};
    const code = string(node.value.get('code')), instance = whole(node.value.get('instance'));
    return code !== undefined && instance > 0 ? {key: `"${code}"`, instance} : {};
  }
  isAt(number, node) {
    const {key, instance} = this.read(node);
    return key === this.keyOf(number) && (!this.isCard(node) || instance === this.cards.instance(number));
  }
  isSequence(numbers, given) {
    return numbers.length === given.length && numbers.every((number, i) => this.isAt(number, given.at(i)));
  }
  isSet(numbers, given) { // each as often, in any sequence
    const left = new Map(), {instance: instanceOf} = this.cards;
    const add = (key, n) => { left.set(key, (left.get(key) ?? 0) + n); return left.get(key) >= 0; };
    if (numbers.length !== given.length) return false;
    for (const number of numbers) {
      add(this.keyOf(number), 1);
      if (instanceOf) add(`${this.keyOf(number)} ${instanceOf(number)}`, 1);
    }
    return given.every((node) => {
      const {key, instance} = this.read(node);
      return add(key, -1) && (!instance || add(`${key} ${instance}`, -1));
    });
  }
  check(parts) { // throws what is other than it was dealt
    const differ = ({shuffle, part}, id, values) => {
      const what = message(id, {...values, part: partOf(part)});
      throw new Fault(this.repeat > 1 ? message('why.order.shuffle', {n: shuffle + 1, what}) : what);
    };
    const numbers = parts.map(({shuffle, part}) => this.numbersOf(shuffle, part));
    parts.forEach((part, i) => {
      const {length} = part.given, dealt = numbers[i].length;
      if (length !== dealt) differ(part, 'why.dealt.count', {given: length, dealt});
    });
    parts.forEach((part, i) => numbers[i].forEach((number, place) => {
      const node = part.given.at(place), key = this.keyOf(number);
      if (this.isAt(number, node)) return;
      const want = this.isCard(node) ? `{"code":${key},"instance":${this.cards.instance(number)}}` : key;
      differ(part, 'why.dealt.item', {item: short(node.text), place, replayed: short(want)});
    }));
  }
  find(given, handOf) { // which hand of the deal is given, or the rest; throws if it is none, or another one
    const named = handOf === undefined ? undefined : partOf(handOf), noun = this.cards.instance ? 'card' : 'item';
    if (named && !this.parts.includes(handOf)) fail('why.hand.file', {part: named, hands: this.hands.length});
    const search = (parts) => {
      for (const sorted of [false, true]) { // players sort their hands; the order of the rest, a wall, is the game
        for (const shuffle of this.orders.keys()) {
          const part = parts.find((one) => {
            const numbers = this.numbersOf(shuffle, one);
            return sorted && one !== 'rest' ? this.isSet(numbers, given) : this.isSequence(numbers, given);
          });
          if (part) return {part, cards: given.length, sorted, noun, ...this.repeat > 1 && {shuffle: shuffle + 1}};
        }
      }
      return undefined;
    };
    const match = search(named ? [handOf] : this.parts), other = named && !match && search(this.parts);
    if (other) fail('why.hand.other', {part: named, other: partOf(other.part)});
    return match ?? (named ? fail('why.hand.none', {part: named}) : fail('why.hand', {hands: this.hands.length}));
  }
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
    const salt = await subtle.sign('HMAC', key, concat([prefix, bytes8(position)]));
    return leafOf(new Uint8Array(salt), position, cards.text(number));
  };
  const root = hex(await rootOfLeaves(await Promise.all(order.map(leaf))));
  return root === record.root ? undefined : message('why.root', {root, sealed: record.root});
}
async function checkRoot(entry) { // of one record
  const {record, steps, orders, cards} = entry;
  if (!('root' in record)) return;
  if (record.kind === 'reshuffle') steps.add('root', 'skipped', message('root.shoe'));
  else if (!cards) steps.add('root', 'skipped', message('root.items'));
  else {
    const other = await otherRoot(entry, orders[0], cards);
    steps.add('root', other ? 'wrong' : 'ok', other ?? message('root'));
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
  const wrong = ['why.record.member', {name: 'cards'}];
  demand(typeof text === 'string' && text !== '', ...wrong);
  const refs = [];
  for (const word of text.split(' ')) {
    const [, seal, from, to = from] = /^([1-9]\d{0,15}):(0|[1-9]\d{0,15})(?:-(0|[1-9]\d{0,15}))?$/.exec(word) ?? [];
    const [version, first, last] = [seal, from, to].map(Number), isRun = [version, first, last].every(Number.isSafeInteger);
    demand(isRun && Math.abs(last - first) < MAX_CARDS && refs.length < MAX_CARDS, ...wrong);
    for (let at = first, step = last < first ? -1 : 1; ; at += step) {
      refs.push(`${seal}:${at}`);
      if (at === last) break;
    }
  }
  demand(refs.length <= MAX_CARDS && new Set(refs).size === refs.length && writeCards(refs) === text, ...wrong);
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
    demand(this.piles.has(place), 'why.move.pile');
    return this.piles.get(place);
  }
  set(place, cards) {
    if (place === 'shoe') this.deck = cards;
    else if (place === 'dealt') this.dealt = cards;
    else this.piles.set(place, cards);
  }
  take(from, end, count) {
    const cards = this.at(from);
    demand(count <= cards.length, 'why.move.few', {wanted: count, there: cards.length});
    return (end === 'top') === (from === 'shoe') ? cards.slice(0, count) : cards.slice(cards.length - count).reverse();
  }
  move({from, to, put}, refs) {
    const taken = new Set(refs), lying = new Set(this.at(from)), left = (cards) => cards.filter((ref) => !taken.has(ref));
    demand(refs.every((ref) => lying.has(ref)), 'why.move.absent');
    for (const place of from === 'out' ? ['dealt', ...this.names()] : [from]) this.set(place, left(this.at(place)));
    const isNew = to.startsWith('pile ') && !this.piles.has(to);
    demand(!isNew || this.piles.size < MAX_PILES, 'why.move.limits');
    const there = isNew ? [] : this.at(to);
    this.set(to, to !== 'dealt' && (put === 'top') === (to === 'shoe') ? [...refs, ...there] : [...there, ...refs]);
    this.version++;
  }
  shuffle(place) {
    demand(this.seals++ < MAX_SEALS, 'why.move.limits');
    const sealed = allOf(++this.version, this.at(place).length);
    if (place === 'all') Object.assign(this, {deck: sealed, dealt: [], piles: new Map()});
    else this.set(place, sealed);
  }
}

// ---- Shoes: one hand

function readHand(text) {
  const node = parse(text), isAnswer = node.value instanceof Map && node.value.has('cards');
  const list = isAnswer ? node.value.get('cards') : node;
  demand(node.value instanceof Map || isList(node), 'why.cards');
  demand(list === node || isList(list), 'why.json.array');
  const cards = isList(list) ? list.value : [list];
  demand(cards.length >= 1 && cards.length <= MAX_CARDS, 'why.cards.count', {cards: cards.length, most: MAX_CARDS});
  return cards.map((card, i) => {
    try { return readCard(card); } catch (error) { throw new Fault(message('why.card', {n: i, what: reasonOf(error)})); }
  });
}
function readCard(node) {
  demand(node.value instanceof Map, 'why.card.object');
  const get = (name) => node.value.get(name);
  const given = (name) => get(name) && get(name).value !== null ? get(name) : undefined;
  const number = (name) => { demand(whole(get(name)) >= 0, 'why.card.number', {name}); return whole(get(name)); };
  const card = {sealedBy: string(get('sealed_by')), position: number('position')};
  demand(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(card.sealedBy), 'why.card.sealer');
  for (const name of ['card', 'instance']) if (get(name)) card[name] = number(name);
  const code = given('code'), item = get('item'), salt = given('salt'), path = given('path');
  demand(Boolean(code) !== Boolean(item), 'why.card.text');
  if (code) {
    demand(/^[A-Za-z0-9-]+$/.test(string(code) ?? ''), 'why.card.code');
    Object.assign(card, {isCode: true, texts: [code.value], plain: code.value});
  } else Object.assign(card, {isCode: false, texts: layouts(item), plain: canonical(item)});
  demand(Boolean(salt) === Boolean(path), 'why.card.proof');
  if (!salt) return card;
  demand(isList(path) && path.value.length <= 64, 'why.card.proof');
  const hashes = [salt, ...path.value].map((hash) => string(hash) ?? '');
  demand(hashes.every((hash) => DIGEST.test(hash)), 'why.card.hash');
  return Object.assign(card, {salt: unhex(hashes[0]), path: hashes.slice(1).map(unhex)});
}
// The texts of an item that may have been sealed: the written one, and other programs' escapes of the same strings.
function layouts(node) {
  const shortest = shortestOf(node);
  return [node.text, shortest, shortest.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)];
}
function shortestOf(node) {
  if (isList(node)) return `[${node.value.map(shortestOf).join()}]`;
  if (!(node.value instanceof Map)) return typeof node.value === 'string' ? JSON.stringify(node.value) : node.text;
  return `{${[...node.value].map(([name, value]) => `${JSON.stringify(name)}:${shortestOf(value)}`).join()}}`;
}

// A sealing is an order of cards that a record commits to. Its input, cards and order may be unknown.
function sealingOf({record, cards, orders}) {
  if (record.kind === 'reshuffle') return {record}; // the shoe's first record names its cards
  if (record.kind !== 'shoe') return undefined;
  const order = 'root' in record ? orders?.[0] : Array.from({length: record.size}, (_, i) => i);
  return {record, input: record.input, cards, order};
}
// Compares every card with the sealing that it names. wrong says which was not sealed there, missing why one is unknown.
async function prove(hand, sealings) {
  const proven = [], seen = new Set();
  let missing;
  for (const card of hand) {
    const {sealedBy, position} = card, place = `${sealedBy} ${position}`;
    const sealing = sealings.find(({record}) => record.id === sealedBy);
    if (seen.has(place)) return {proven: [], wrong: message('why.sealed.twice', {position, id: sealedBy})};
    seen.add(place);
    if (!sealing) continue;
    const name = message('hand.card', {card: short(card.texts[0]), position});
    const {wrong, unknown} = await checkCard(sealing, card);
    if (wrong) return {proven: [], wrong: message('why.sealed', {card: name, what: wrong})};
    if (unknown) missing = message(unknown, {card: name});
    else proven.push(name);
  }
  return {proven, missing};
}
async function checkCard({record, input, cards, order}, card) {
  const {position, path, salt} = card;
  const isAt = (number) => (cards.instance ? card.isCode : true) && plainText(cards, number) === card.plain;
  if (input && input.startsWith('deck ') !== card.isCode) return {wrong: message('why.sealed.input', {input})};
  if (position >= record.size) return {wrong: message('why.sealed.size', record)};
  if ('root' in record && !salt) return {unknown: 'hand.proof'};
  if (!('root' in record) && !cards) return {unknown: 'hand.unshuffled'};
  if ('root' in record) {
    let isSealed = false;
    for (const text of card.texts) {
      const root = await rootOf(await leafOf(salt, position, text), BigInt(position), BigInt(record.size), path);
      isSealed ||= root !== undefined && hex(root) === record.root;
    }
    if (!isSealed) return {wrong: message('why.sealed.path')};
  } else if (!isAt(position)) return {wrong: message('why.sealed.card')};
  const {card: said, instance} = card, lay = order?.[position], number = lay ?? said;
  const isOther = said !== undefined && said !== number || number !== undefined && cards && (number >= cards.size || !isAt(number) ||
    instance !== undefined && cards.instance && cards.instance(number) !== instance);
  return isOther ? {wrong: message('why.sealed.card')} : {};
}
function describeHand(hand, proven, others) {
  const list = proven.length > 13 ? [...proven.slice(0, 13), '...'] : proven;
  return message('hand', {proven: proven.length, cards: hand.length, list, others});
}

async function checkHand(entry, hand) { // with the proof of one record
  const {record, steps} = entry, sealing = sealingOf(entry);
  if (!sealing) {
    Object.assign(entry, {proven: 0, others: hand.length, missing: []});
    steps.add('hand', 'unchecked', message('hand.kind', record));
    return;
  }
  const {proven, missing, wrong} = await prove(hand, [sealing]), others = hand.length - proven.length;
  const ids = new Set(hand.map(({sealedBy}) => sealedBy));
  Object.assign(entry, {proven: proven.length, others, missing: [...ids].filter((id) => id !== record.id)});
  if (wrong) steps.add('hand', 'wrong', wrong);
  else if (missing) steps.add('hand', 'unchecked', missing);
  else if (proven.length === 0) steps.add('hand', 'unchecked', message('hand.none'));
  else steps.add('hand', others > 0 ? 'unchecked' : 'ok', describeHand(hand, proven, others || undefined));
}

// ---- Shoes: the whole shoe

// Checks every file alone. If no key is given, all have to have the key of the first.
async function openShoe(files, {key, policy, items, salt, answer, order}) {
  const entries = [];
  for (const [i, node] of files.entries()) {
    entries.push(await checkFile(node, {key, policy, ...i === 0 && {items, salt, answer, order}}));
    key ||= entries.at(-1).file?.log_key;
  }
  return {entries, steps: new Steps(), record: entries[0].record, file: entries[0].file};
}
const COMMON = {inclusion: 'inclusions', signature: 'signatures', witnesses: 'witnesses.all'}; // what all files have
// Adds a step that the files have in common: the first that is wrong, or else unchecked, or else that all hold.
function inEvery(shoe, name, said) {
  const {entries, steps} = shoe;
  for (const state of ['wrong', 'unchecked']) {
    const i = entries.findIndex((entry) => entry.steps.has(name, state));
    if (i >= 0) return steps.add(name, state, message('file', {n: i + 1, what: entries[i].steps.find(name).message}));
  }
  if (entries.some((entry) => entry.steps.find(name))) steps.add(name, 'ok', said);
  return undefined;
}
const isHeldBack = ({file, record}) => Boolean(record && deals(record) && file.seed === null);
const heldBackIn = ({entries}) => entries.filter(isHeldBack).length;
// Says how many seeds are held back; undefined for none.
function withheld(shoe) {
  const seeds = heldBackIn(shoe);
  return seeds === 0 ? undefined : message(shoe.closed ? 'withheld.closed' : 'withheld', {seeds});
}
// Adds the steps that every file with a seed has, each with the number of files in which it holds.
function addReplays(shoe, {answer, order, cards}) {
  const {entries, steps} = shoe, held = heldBackIn(shoe);
  for (const name of ['seed', 'commitment', 'keys', 'order']) {
    const right = entries.map((entry) => entry.steps.find(name)).filter((step) => step?.state === 'ok');
    const n = right.length, isOrder = name === 'order', isDealt = n + held > 0;
    const state = isOrder && held > 0 && !cards ? 'unchecked' : n > 0 && !(isOrder && held > 0) ? 'ok' : 'skipped';
    const warning = right.find((step) => step.message.id === 'seed.short')?.message;
    const said = message(`replays.${name}`, {seeds: n, orders: n, warning, withheld: withheld(shoe)});
    const isOther = isOrder && (answer || order) && !entries[0].match;
    if (isOther || entries.some((entry) => entry.steps.has(name, 'wrong'))) inEvery(shoe, name, said);
    else if (isDealt && name === 'seed' && n === 0) steps.add(name, state, withheld(shoe));
    else if (isDealt) steps.add(name, state, said);
  }
}

async function verifyShoe(files, given) {
  const shoe = await openShoe(files, given), {steps, entries, record, file} = shoe;
  const changes = entries.length - 1, last = entries.at(-1);
  Object.assign(shoe, {changes, closed: false, proven: 0});
  inEvery(shoe, 'proof', message(hasKey(given) ? 'proofs.key' : 'proofs.no-key', {files: entries.length}));
  if (steps.first('unchecked')) return shoe;
  if (!steps.first('wrong')) inEvery(shoe, 'record', record && message('record.changes', {record: describe(record), changes}));
  if (steps.has('record', 'ok')) {
    shoe.closed = last.record.kind === 'close';
    const broken = brokenChain(entries), values = {last: entries.length, from: file.index, to: last.file.index};
    steps.add('chain', broken ? 'wrong' : 'ok', broken ?? message('chain', values));
  }
  addReplays(shoe, given);
  const items = entries[0].steps.find('items');
  if (items) steps.push(items);
  for (const [name, id] of Object.entries(COMMON)) inEvery(shoe, name, message(id));
  await checkCommitted(steps, entries, given);
  if (steps.first('wrong') || !steps.has('record', 'ok')) return shoe;

  const {sealings, layout, wrong: moved, random} = follow(entries);
  if (moved) {
    steps.add('moves', 'wrong', moved);
    return shoe;
  }
  const lie = {deck: layout.deck.length, dealt: layout.dealt.length, piles: layout.piles.size};
  steps.add('moves', random > 0 ? 'unchecked' : 'ok', message('moves', {...lie, random: random || undefined}));
  await checkRoots(shoe, sealings);
  if (given.cards) {
    const {proven, missing, wrong} = await prove(given.cards, sealings), others = given.cards.length - proven.length;
    if (wrong) steps.add('hand', 'wrong', wrong);
    else if (missing) steps.add('hand', 'unchecked', missing);
    else if (others > 0) steps.add('hand', 'unchecked', message('hand.shoe', {cards: others}));
    else {
      shoe.proven = proven.length;
      steps.add('hand', 'ok', describeHand(given.cards, proven));
    }
  }
  if (shoe.closed) steps.add('closed', 'ok', message('closed'));
  else steps.add('closed', given.cards ? 'skipped' : 'unchecked', message('closed.not'));
  return shoe;
}
// Says why the records are not all records of one shoe, from the first on; undefined if they are.
function brokenChain(entries) {
  const [{record: first}] = entries;
  if (first.kind !== 'shoe') return message('why.chain.first', first);
  for (let i = 1; i < entries.length; i++) {
    const {record, file: {index}} = entries[i], {record: before, file: {index: earlier}} = entries[i - 1];
    const {id, kind} = record, version = i + 1;
    if (!changesShoe(record) || record.audit_id !== first.id) return message('why.chain.shoe', {id, shoe: first.id});
    if (record.version !== version) return message('why.chain.version', {id, made: record.version, version});
    if (index <= earlier) return message('why.chain.index', {version, index, earlier});
    if (!deals(record) && record.commitment !== first.commitment) return message('why.chain.commitment', {version});
    if (before.kind === 'close' || before.kind === 'expire' && kind !== 'close') return message('why.chain.end', {version, kind});
  }
  return undefined;
}
// Follows the cards from record to record. wrong says which change is not allowed where it is.
function follow(entries) {
  const [first] = entries, layout = new Layout(first.record.size), sealings = [{...sealingOf(first), entry: first}];
  const orders = {1: sealings[0].order}; // the numbers of the cards at the positions of each sealing
  let random = 0;
  for (const entry of entries.slice(1)) {
    try { random += change(entry); } catch (error) {
      return {wrong: message('why.version', {version: entry.record.version, what: reasonOf(error)})};
    }
  }
  return {sealings, layout, random};

  function change(entry) { // returns 1 for a draw at random without a seed
    const {record, orders: replays} = entry, {kind, from, taken, size} = record;
    if (kind === 'close' || kind === 'expire') { layout.version++; return 0; }
    const lying = layout.at(from), place = placeOf(from);
    if (kind === 'reshuffle' || taken === 'random') demand(lying.length === size, 'why.move.size', {size, lying: lying.length, place});
    if (kind === 'reshuffle') {
      const numbers = lying.map((ref) => { const [seal, at] = ref.split(':'); return orders[seal]?.[at]; });
      layout.shuffle(from);
      const order = numbers.includes(undefined) ? undefined : replays?.[0].map((at) => numbers[at]);
      orders[layout.version] = order;
      sealings.push({record, entry, input: sealings[0].input, cards: sealings[0].cards, order});
      return 0;
    }
    const refs = 'cards' in record ? readCards(record.cards) : [];
    const drawn = () => replays?.[0].map((at) => lying[at]);
    const want = taken === 'random' ? drawn() : taken === 'cards' ? undefined : layout.take(from, taken, refs.length);
    const found = want && writeCards(want);
    demand(!want || found === record.cards, 'why.move.cards', {place, how: message(`how.${taken}`), found, cards: record.cards});
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
    if (other) wrong ??= message('why.version', {version: record.version ?? 1, what: other});
  }
  const add = (state, said) => shoe.steps.add('root', state, said);
  if (wrong) add('wrong', wrong);
  else if (roots + unknown === 0) add('skipped', message('roots.none'));
  else if (unknown === 0) add('ok', message('roots', {records: roots}));
  else add('skipped', withheld(shoe) ?? message('root.items'));
}

// ---- Messages

// What is said is a message: the id of a text in the table, and the values that this text names. They are texts, numbers,
// messages, and lists of texts or messages. Any that is undefined is left out.
function message(id, values = {}) {
  const named = [...MESSAGES[id].matchAll(/\{(\w+)/g)].map(([, name]) => [name, values[name]]);
  const there = named.filter(([, value]) => value !== undefined);
  return {id, values: Object.fromEntries(there.map(([name, value]) => [name, valueOf(value)]))};
}
function valueOf(value) {
  if (Array.isArray(value)) return value.map(valueOf);
  if (typeof value === 'bigint') return value <= Number.MAX_SAFE_INTEGER ? Number(value) : String(value);
  return typeof value === 'string' ? printable(short(value, 300)) : value;
}
const printable = (text) => text.replace(/[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, '\ufffd');

// The text of a message by a table, in which {name} is a value, {name:noun} a number of things, and [...] is left out if a value
// in it is missing. comma is between the elements of a list.
export function render({id, values}, table = MESSAGES, comma = ', ') {
  const shown = (value) => {
    if (Array.isArray(value)) return value.map(shown).join(comma);
    return typeof value === 'object' ? render(value, table, comma) : String(value);
  };
  const fill = (text) => text.replace(/\{(\w+):?(\w*)\}/g, (_, name, noun) => noun ? count(values[name], noun) : shown(values[name]));
  const isComplete = (text) => [...text.matchAll(/\{(\w+)/g)].every(([, name]) => name in values);
  return table[id].split(/\[(.*?)\]/).map((text, i) => i % 2 === 0 || isComplete(text) ? fill(text) : '').join('');
}

// The texts of messages, made from internal/audit/message/messages.json by web/tables.mjs: do not edit.
const MESSAGES = {
  "text": "{text}",
  "verified": "Verified: {what}.",
  "verified.except": "Verified except for the commitment: {what}. Not proven: that the seed was fixed before the client seed was known.",
  "unchecked": "Not checked to the end: {what}.",
  "unproven": "Not proven yet: {what}; {found}.",
  "false": "This proof does NOT verify: it fails at the step {step}.",
  "refused": "Not checked: {reason}.",
  "no-key": "Not established: no key of the log was given, and the one in the file shows only that the file agrees with itself.",
  "what.step": "the step {step} could not be checked",
  "what.but": "{what}, but the step {step} could not be checked",
  "what.cost": "the record is in the log of {log}, but replaying it takes {steps} steps; verifiers replay up to 1,073,741,824",
  "what.record": "the record is in the log of {log}",
  "what.unfit": "the record is in the log of {log}, but the files given for comparison do not fit it",
  "what.unknown-kind": "the record is in the log of {log}, but of a kind that this version does not know",
  "what.follows": "the order follows from the seed and the record, and the record is in the log of {log}",
  "what.order": "the order is the one given and follows from the seed and the record, and the record is in the log of {log}",
  "what.hands": "these are {match}; the order follows from the seed and the record, and the record is in the log of {log}",
  "what.open-shoe": "the file has no seed, which is secret until the shoe is closed",
  "what.held-back": "the file has no seed, which is secret until it is revealed",
  "what.open-seeds": "the shoe is still open, and its seeds are secret until it is closed",
  "what.sealed": "the {sealed}",
  "sealed.one": "1 card of the hand was sealed at its position",
  "sealed": "{cards} cards of the hand were sealed at their positions",
  "what.cards": "the {sealed} by what is in the log of {log}, and none could be exchanged since",
  "what.partly": "of the {cards:card} of the hand, what was given proves {proven} and NOT {others}",
  "what.fits": "the first record of the shoe and its {changes:change} are in the log of {log}, and fit together",
  "what.cards.so-far": "the {sealed}; {found} so far",
  "what.shoe": "the whole shoe, from its first record to its last, which are in the log of {log}",
  "note.reason": "The step {step}: {text}.",
  "note.later": "A later version may be able to check it.",
  "note.witnessed": "Enough witnesses of the policy have cosigned this history of the log.",
  "note.anybody": "Anybody can make such a file. Get the key of the log from another source than the file, and give it as well.",
  "note.if": "If the key is the right one: {headline}",
  "note.sealed": "The cards were sealed, and none of them can be exchanged: a hand that was drawn is proven alone.",
  "note.committed-to": "Nothing committed to can be exchanged before the seed is revealed.",
  "note.no-order": "No order was given to compare it with: give the answer as well.",
  "note.sealed-order": "The cards were sealed in this order.",
  "note.whole-shoe": "Only the proof of the whole shoe shows that every change found its cards where it says.",
  "note.several-seeds": "This proof cannot rule out that the operator drew several seeds and logged one. Use a commitment to rule that out.",
  "note.hidden": "The other cards of the shoe stay hidden until it is closed, and then the whole shoe can be checked.",
  "note.hidden-shoe": "The other cards stay hidden until the shoe is closed.",
  "note.give": "Give the proof of each record that they name as sealed_by as well: {records}.",
  "note.shoe": "Every order follows from its seed, every card was where the records say, and none was exchanged.",
  "note.shoe.cards": "Every order follows from its seed, and every change found its cards where it says. The cards themselves were not compared.",
  "note.hand": "The hand is proven: {sealed}, and none could be exchanged since.",
  "note.beacon": "The commitment {id} fixed the order, except for the client seed, and that is the signature of {beacon}: nobody knew it before {time}, and neither the operator nor a player chose it.",
  "note.players": "The commitment {id} fixed the order, except for the client seed, and that joins the seeds of {players}, whose hashes the commitment has: each of them had fixed a seed before, and nobody could choose the last input, if one of them or the operator is honest.",
  "note.anew": "That is so of the order that used the commitment: cards that were shuffled anew, or drawn at random, have seeds of their own, which no commitment fixed.",
  "note.beacon.cosigned": "Enough witnesses of the policy had cosigned the log with the commitment before then.",
  "note.beacon.clock": "That the commitment was in the log before then is what the log's own clock says: a proof of the commitment that witnesses of a policy cosigned in time would show it.",
  "note.commitment": "The commitment {id} fixed the order, except for the client seed, before the client seed was known: if that was new when the commitment was in the log, nobody can have picked a seed for its order.",
  "note.commitment.missing": "It names the commitment {id}: give the proof of that record as well (GET /audits/{id}/proof).",
  "purpose.commitment": "It is a commitment: the seed and the statement cannot be exchanged any more. The seed is held until it is used, before {deadline}, by a shuffle or a shoe that names it; if none does, a void follows in the log. It has no order of its own.",
  "purpose.book": "It is a book: the seeds of its {count} rounds and the statement cannot be exchanged any more. The rounds are used in their order, before {deadline}, each by a shuffle that names the book; if some are left, a void follows in the log. It has no order of its own.",
  "purpose.says": "It says that {what}, and has no order of its own.",
  "purpose.change": "It is a change of the shoe {audit_id}, and has no order of its own: give the proofs of the whole shoe to follow its cards.",
  "record": "{id}, of {time}: {what}",
  "record.changes": "{record}; {changes:change}",
  "stated": "{draw} of {size}, shuffled by {algorithm}[, {times} times][; reference {reference}][; round {round} of the book of {of}][; the client seed will be the signature of {beacon}][; the client seed will join the seeds of {players}]",
  "stated.unshuffled": "{size}, in the order of the input[; reference {reference}][; round {round} of the book of {of}][; the client seed will be the signature of {beacon}][; the client seed will join the seeds of {players}]",
  "record.shuffle": "{stated}",
  "record.shoe": "a shoe: {stated}[; a cut card behind {cut}][, drawn from {low} to {high}][; it replaces the shoe {audit_id}]",
  "record.commitment": "a commitment to {stated}, until {deadline}",
  "record.book": "a book of {count} commitments, each to {stated}, until {deadline}",
  "record.reveal": "the seed of {audit_id} was made public",
  "record.void": "the commitment {commitment_id} was not used in time",
  "record.void.book": "the book {commitment_id} was not used up in time: its rounds from {round} to {count} are void",
  "record.change": "version {version} of the shoe {audit_id}: {what}",
  "change.reshuffle": "{from}, {size:card}, sealed in a new order by {algorithm}[; a cut card behind {cut}][, drawn from {low} to {high}]",
  "change.close": "closed",
  "change.expire": "over, and not closed",
  "change.none": "no cards put on {to}",
  "change.moved": "{cards:card} taken {how} {from}[ and put to the {put} of {to}]",
  "how.random": "at random from",
  "how.cards": "by name from",
  "how.top": "from the top of",
  "how.bottom": "from the bottom of",
  "end.top": "top",
  "end.bottom": "bottom",
  "place.shoe": "the deck",
  "place.dealt": "the dealt cards",
  "place.out": "anywhere outside the deck",
  "place.all": "all cards",
  "place.pile": "the pile {pile}",
  "part": "hand {n}",
  "part.rest": "the rest",
  "match.cards": "the {cards:card} of {part}",
  "match.items": "the {cards:item} of {part}",
  "match": "{parts}[ of shuffle {shuffle}] of this deal, in the order dealt",
  "match.sorted": "{parts}[ of shuffle {shuffle}] of this deal, in another order than they were dealt",
  "proof.key": "the file is well-formed; its log key is the one given",
  "proof.no-key": "the file is well-formed; no log key was given: the one in the file is used",
  "proofs.key": "{files} files are well-formed; all have the log key that was given",
  "proofs.no-key": "{files} files are well-formed; no log key was given: the one in the first is used",
  "file": "file {n}, from 1: {what}",
  "inclusion": "the record is number {index}, from 0, of the {size} in the tree",
  "inclusions": "every record is in the tree of its file",
  "signature": "the checkpoint is signed with the key of {log}",
  "signatures": "every checkpoint is signed with the key",
  "witnesses": "{by} of {all} witnesses cosigned the checkpoint[: {names}]; that is enough by the policy[; cosignatures by {unchecked} are not checked here]",
  "witnesses.few": "{by} of {all} witnesses cosigned the checkpoint[: {names}]; that is not enough by the policy[; cosignatures by {unchecked} are not checked here]",
  "witnesses.all": "enough witnesses cosigned every checkpoint",
  "committed": "the commitment {id} is earlier in the same log: it fixed seed and statement, and was used before its deadline[; the client seed is the signature of {beacon}, published at {time}][; the client seed joins the seeds of {players}, and each fits its hash]",
  "committed.missing": "the record names the commitment {id}, and no proof of it was given",
  "none": "a record of kind {kind} has none",
  "held-back": "the seed is held back",
  "held-back.order": "the seed is held back, and the order follows from it",
  "seed": "{blocks:block} of 256 bits; riffle/1 asks for {wanted}[; {complete}][; {source}]",
  "seed.short": "warning: {blocks:block} of 256 bits, and riffle/1 asks for {wanted}[; {complete}][; {source}]",
  "seed.complete": "computationally, not exhaustively, complete",
  "seed.answer": "the answer gave it, and the file has none",
  "commitment": "the SHA-256 of the statement with its seed is the record's commitment, {commitment}",
  "keys": "{blocks} derived from the seed, the commitment and a client seed of {bytes} bytes",
  "order": "{draw} of {size} replayed by {algorithm}, {repeat:time}[; the cut, {cut}, is the one drawn from {low} to {high}][; the SHA-256 of the positions is {digest}]",
  "order.given": "{order}; it is the order given",
  "order.hands": "{order}; given are {match}",
  "order.other": "{order}; of a record of this kind no order can be compared",
  "order.items": "replayed, but comparing it with the order given needs the items of the record",
  "order.cost": "replaying it takes {steps} steps; verifiers replay up to 1,073,741,824",
  "replays.seed": "{seeds:seed}[: {warning}][; {withheld}]",
  "replays.commitment": "{seeds:seed}: each opens the commitment in its record[; {withheld}]",
  "replays.keys": "the keys of {orders:order} derived[; {withheld}]",
  "replays.order": "{orders:order} replayed[; {withheld}]",
  "withheld": "{seeds:seed} held back until the shoe is closed",
  "withheld.closed": "{seeds:seed} held back in these files, and public since the shoe was closed: get the files again",
  "items.places": "the record names cards by their places: only the proof of the whole shoe says which cards they were",
  "items.range": "the numbers from 0 on; there is nothing to compare",
  "items.missing": "not given; the record has their digest",
  "items.rule": "their digest was taken by the rule {rule}, which is not known here: a later version may be able to check it",
  "items.salt": "their digest is salted, and the salt was not given",
  "items": "the items given have the digest in the record",
  "items.deck.unknown": "there is no such deck type {type} here: the codes of its cards can be given as items",
  "items.deck.large": "the digest of {size} cards is not computed; the limit is {most}",
  "items.deck": "{decks:deck} of {type}, whose cards have the digest in the record",
  "root.shoe": "only the proof of the whole shoe says which cards were there",
  "root.items": "the cards are not known, for the items were not given",
  "root": "salts from the seed and the cards in this order have the root in the record",
  "roots": "salts from the seeds and the cards in their orders have the roots in {records:record}",
  "roots.none": "nothing was sealed",
  "chain": "each of the versions 1 to {last} has its record, in the order of the log, from number {from} to number {to}",
  "moves": "every change found its cards where it says; {deck} are in the deck, {dealt} are dealt, {piles:pile}[; but {random:draw} at random without a seed]",
  "closed": "the last record closes the shoe",
  "closed.not": "the last record does not close the shoe: unseen cards stay hidden until it is closed, and more changes may follow",
  "hand": "{proven} of the {cards:card} of the hand, sealed where it says: {list}[; {others} were sealed by other records]",
  "hand.card": "{card} at position {position}",
  "hand.shoe": "{cards:card} of the hand, sealed by no record of this shoe",
  "hand.none": "no card of the hand was sealed by what was given: give the proof of the record that sealed_by names",
  "hand.kind": "a record of kind {kind} has sealed no cards: give the proof of the record that sealed_by names",
  "hand.proof": "{card}: it has no salt and path: ask for it with proof=true",
  "hand.unshuffled": "{card}: the shoe was not shuffled, and its cards were not given",
  "why.json": "not JSON",
  "why.json.twice": "a member is there twice",
  "why.json.array": "not a JSON array",
  "why.file.json": "it is not JSON, and so not a proof file",
  "why.file.record": "it has no member record, and so is not a proof file",
  "why.file.members": "it has not the six members of a proof file, each once",
  "why.file.member": "its member {name} is missing, or not a string",
  "why.file.spec": "the file is of \"{spec}\", not of riffle/1",
  "why.file.seed": "its seed is not in lower-case hex, two digits a byte",
  "why.file.tlog": "its tlog_proof does not have its form",
  "why.file.key": "the log of the file has the key {has}, and the key given is {given}",
  "why.file.policy": "the log of the file has the key {has}, which the policy does not name",
  "why.key": "not a log key: it must be the verifier key of a log, <name>+<key hash>+<key>",
  "why.record": "not a record, which is one JSON object with each member once",
  "why.record.kind": "a record of an unknown kind, \"{kind}\": a later version may be able to check it",
  "why.record.missing": "the record's {name} is missing",
  "why.record.member": "the record's {name} is not valid[: {text}]",
  "why.record.client-seed": "the file and the record have different client seeds",
  "why.record.seed": "a record of kind {kind} has no seed, and the file has one",
  "why.index": "the tree has {size} records, and this claims to be number {index}, from 0",
  "why.path": "the hashes do not lead from this record to the root of the checkpoint",
  "why.origin": "the checkpoint is of \"{origin}\", and the key is of \"{log}\"",
  "why.unsigned": "the checkpoint is not signed by the key of {log}",
  "why.signature": "a signature of the checkpoint, of the name and hash of the key, is wrong",
  "why.cosignature": "the cosignature of \"{name}\" is wrong",
  "why.commitment.unread": "the proof of the commitment: {what}",
  "why.commitment.proof": "the proof of the commitment fails at the step {step}: {what}",
  "why.commitment.kind": "the proof given is not of a commitment",
  "why.commitment.none": "the file has the proof of a commitment, and its record names none",
  "why.commitment.id": "the record does not say that it used the commitment {id}",
  "why.commitment.book": "the record names a book of {has:round}, and the commitment has {count}",
  "why.commitment.path": "the path does not lead from round {round} to the commitment of the book",
  "why.commitment.value": "the record has the commitment {has}, and {made} was committed to",
  "why.commitment.statement": "the record states something other than the commitment",
  "why.commitment.deadline": "the record is of {time}, and the deadline was {deadline}",
  "why.commitment.later": "the commitment is number {index} in the log, from 0, and so not before the record that used it, which is number {used}",
  "why.players.none": "the record has a joined text, and the commitment has no players",
  "why.players.joined": "the client seed is not name:seed of each player, sorted by name, with single spaces",
  "why.player.unknown": "the commitment has no player \"{name}\"",
  "why.player.missing": "the seed of {name} is missing",
  "why.player.form": "the seed of {name} must have 1 to 64 of the characters A-Z, a-z, 0-9, - and _",
  "why.player.hash": "the seed of {name} does not fit the hash in the commitment",
  "why.beacon": "the client seed is not the signature of {beacon}, which has 96 hex digits in lower case",
  "why.beacon.unknown": "a beacon that is not known here, \"{beacon}\"",
  "why.beacon.package": "checking a signature takes {what}",
  "why.digest": "the statement with its seed has the SHA-256 {digest}, but the record commits to {commitment}",
  "why.keys": "the seed is not 1 to 213 blocks of 32 bytes, each different",
  "why.cut": "the seed draws the cut {drawn} from {low} to {high}, and the record says {cut}",
  "why.items.salt": "a salt was given, and the record says that nothing is salted",
  "why.items.digest": "the items given have the digest {digest}, and the record is of {input}",
  "why.items.count": "the items given are {given}, and the record is of {size}",
  "why.deck.size": "the record is of {size:card} and says {input}, and one deck of {type} has {cards}",
  "why.deck": "the deck of the record, {input}, is not the {type} that comes with Riffle",
  "why.root": "the cards in this order have the root {root}, and the record has {sealed}",
  "why.answer": "not an answer of POST /shuffle, which is a JSON object",
  "why.answer.empty": "an object without items, hands or shuffles: not an answer of POST /shuffle",
  "why.answer.array": "an answer whose {name} are not an array",
  "why.answer.member": "an answer with the member {name}, which no answer of POST /shuffle has",
  "why.answer.other": "the answer has another {name} than the record",
  "why.part": "\"{text}\" is not a hand: hands are numbered from 1, and the remaining cards are the rest",
  "why.order.shuffle": "shuffle {n}: {what}",
  "why.order.shuffles": "the order given is of {given:shuffle}, and there were {repeat}",
  "why.order.hands": "the order given has {given:hand}, and {dealt} were dealt",
  "why.order.rest": "the answer has only one of hands and rest",
  "why.order.parts": "shuffle {n} of the order given is not {hands:hand} and the rest",
  "why.hand": "it is no hand of this deal, which has {hands:hand}",
  "why.hand.file": "{part} is not of this deal, which has {hands:hand}",
  "why.hand.other": "it is not {part}, but {other}",
  "why.hand.none": "it is not {part} of this deal, nor another hand of it",
  "why.dealt.count": "{part} has {given:item}, and {dealt} were dealt",
  "why.dealt.item": "{part} has {item} at place {place}, from 0, where the replay has {replayed}",
  "why.cards": "neither an answer of a shoe nor cards",
  "why.cards.count": "a hand of {cards:card}, and there are 1 to {most}",
  "why.card": "card {n}, from 0: {what}",
  "why.card.object": "it is not an object",
  "why.card.number": "its {name} is not a number from 0 on",
  "why.card.sealer": "its sealed_by is not the id of a record",
  "why.card.text": "it must have either a code or an item",
  "why.card.code": "its code is invalid: codes are ASCII letters, digits and hyphens",
  "why.card.proof": "it takes both salt and path to prove it",
  "why.card.hash": "its salt or a hash of its path is not 64 hex digits in lower case",
  "why.sealed": "{card}: {what}",
  "why.sealed.twice": "two cards of the hand claim position {position} of {id}",
  "why.sealed.input": "the record is of {input}, and it is none of those",
  "why.sealed.size": "only {size} cards were sealed",
  "why.sealed.path": "salt and path do not lead from this card and position to the root",
  "why.sealed.card": "the card there has another number, code, item or instance",
  "why.chain.first": "the first record is of kind {kind}, and must be of kind shoe",
  "why.chain.shoe": "the record {id} does not change the shoe {shoe}",
  "why.chain.version": "the record {id} made version {made}, where version {version} has to follow",
  "why.chain.index": "version {version} is number {index} in the log, from 0, and so not after the one before, which is number {earlier}",
  "why.chain.commitment": "version {version} does not have the commitment of the shoe",
  "why.chain.end": "version {version} is of kind {kind}, and the shoe had ended",
  "why.version": "version {version}: {what}",
  "why.move.size": "it is of {size:card}, and {lying} lay in {place}",
  "why.move.cards": "the cards to take {how} {place} are {found}, and the record says {cards}",
  "why.move.few": "{wanted} cards are wanted, and there are {there}",
  "why.move.pile": "there is no such pile",
  "why.move.absent": "these cards are not there",
  "why.move.limits": "a shoe has at most 256 piles and 4096 seals",
  "why.line": "line {n}: {what}",
  "why.policy.quorum": "it has no quorum: a line such as quorum NAME says which witness or group has to cosign",
  "why.policy.end": "the quorum is one that no line before it names, or there are two",
  "why.policy.line": "it is no line of a policy, by its first word or by how many words follow",
  "why.policy.witness": "not a witness with its verifier key, of type 04 or 06",
  "why.policy.twice": "the key or its name is there twice",
  "why.policy.name": "there is another witness or group \"{name}\"",
  "why.policy.group": "a group of {members} cannot need {number} of them",
  "why.policy.member": "a member that no line before it names, or twice",
  "why.given": "the {input}: {what}",
  "why.given.long": "it is longer than {most} MiB",
  "why.given.one": "give the answer, the order or one hand, and not several of them",
  "why.given.no-hand": "there is no hand to compare: give its cards as well",
  "why.given.salt": "a salt of items is 16 to 128 of the characters A-Z, a-z, 0-9, - and _, such as 16 random bytes in hex",
  "why.given.no-items": "a salt was given without the items: salt and items have their digest together",
  "part.whole": "the order given",
};

// ---- Records as messages

const placeOf = (place) => place.startsWith('pile ') ? message('place.pile', {pile: place.slice(5)}) : message(`place.${place}`);
const rangeOf = ({cut_range: [low, high] = []}) => ({low, high});
const stated = (record) => message(record.kind === 'shoe' && record.draw === 0 ? 'stated.unshuffled' : 'stated',
  {...record, times: record.repeat > 1 ? record.repeat : undefined, of: record.round && record.count,
    players: playersOf(record), reference: JSON.stringify(record.reference)});
const describe = (record) => message('record', {...record, what: whatOf(record)});
function whatOf(record) {
  const {kind, count} = record;
  if (changesShoe(record)) return message('record.change', {...record, what: changeOf(record)});
  if (kind === 'reveal') return message('record.reveal', record);
  if (kind === 'void') return message(count ? 'record.void.book' : 'record.void', record);
  return message(kind === 'commitment' && count ? 'record.book' : `record.${kind}`, {...record, ...rangeOf(record), stated: stated(record)});
}
function changeOf(record) { // of a shoe
  const {kind, from, to, put, taken, cards} = record;
  if (kind === 'close' || kind === 'expire') return message(`change.${kind}`);
  if (kind === 'reshuffle') return message('change.reshuffle', {...record, ...rangeOf(record), from: placeOf(from)});
  if (!cards) return message('change.none', {to: placeOf(to)});
  return message('change.moved', {cards: readCards(cards).length, how: message(`how.${taken}`), from: placeOf(from),
    ...to !== 'dealt' && {to: placeOf(to), put: message(`end.${put}`)}});
}
function purposeOf(record) { // of one that has no order
  const {kind, count} = record;
  if (kind === 'commitment') return message(count ? 'purpose.book' : 'purpose.commitment', record);
  if (kind === 'reveal' || kind === 'void') return message('purpose.says', {what: whatOf(record)});
  return message(changesShoe(record) ? 'purpose.change' : `purpose.${kind}`, record);
}

// ---- Verdicts

// A verdict has a summary for programs, a headline and notes.
const verified = (summary, what, ...notes) => ({verdict: 'verified', summary, headline: message('verified', {what}), notes});
const unchecked = (summary, what, ...notes) => ({verdict: 'unchecked', summary, headline: message('unchecked', {what}), notes});
const unproven = (summary, what, found, ...notes) => ({verdict: 'unchecked', summary, headline: message('unproven', {what, found}), notes});
const lacking = (step) => ({id: 'incomplete', step});
const incomplete = ({name: step}, what, ...notes) => unchecked(lacking(step), message('what.but', {what, step}), ...notes);

// The verdict on what was found of a record, a hand or a shoe. sayOf is what to say if nothing is false.
function conclude(found, given, sayOf) {
  const {steps, file, record} = found, failed = steps.first('wrong'), missing = steps.first('unchecked');
  if (failed) {
    const {name: step} = failed;
    return {verdict: 'false', summary: {id: 'false', step}, headline: message('false', {step}), notes: []};
  }
  if (steps.has('proof', 'unchecked')) {
    const step = 'proof';
    return unchecked(lacking(step), message('what.step', {step}), message('note.reason', {step, text: missing.message}));
  }
  const log = logName(file.log_key), {beacon} = steps, isCommitted = steps.has('committed', 'ok');
  const {players} = steps.find('committed')?.message.values ?? {};
  const said = record ? sayOf(found, log, missing) :
    unchecked({id: 'unknown-kind'}, message('what.unknown-kind', {log}), message('note.later'));
  const {verdict, summary, headline, notes} = said;
  if (verdict === 'verified' && steps.has('committed', 'skipped')) {
    said.headline = message('verified.except', headline.values);
    summary.commitment = 'missing';
  }
  if (record) notes.push(...notesOfCommitment(found));
  if (isCommitted && beacon) Object.assign(summary, {beacon: beacon.name, cosigned: beacon.cosigned});
  else if (isCommitted && players) summary.players = players;
  if (steps.has('witnesses', 'ok')) {
    notes.push(message('note.witnessed'));
    summary.witnessed = true;
  }
  if (hasKey(given)) return said;
  return {verdict: 'unchecked', summary: {id: 'no-key', if: summary}, headline: message('no-key'),
    notes: [message('note.anybody'), message('note.if', said), ...notes]};
}
function notesOfCommitment({steps, entries = []}) {
  const {beacon} = steps, {id, players} = steps.find('committed')?.message.values ?? {};
  if (steps.has('committed', 'skipped')) return [message('note.commitment.missing', {id})];
  if (!steps.has('committed', 'ok')) return [];
  const later = entries.some(({record}) => record && deals(record) && !usesCommitment(record)) ? [message('note.anew')] : [];
  if (!beacon) return [players ? message('note.players', {id, players}) : message('note.commitment', {id}), ...later];
  const {name, time, cosigned} = beacon;
  return [message('note.beacon', {id, beacon: name, time}),
    message(cosigned ? 'note.beacon.cosigned' : 'note.beacon.clock'), ...later];
}
function sayOfRecord({steps, file, record, match, cost}, log, missing) {
  const isShuffle = record.kind === 'shuffle', inLog = message('what.record', {log}), follows = message('what.follows', {log});
  if (!deals(record)) {
    const purpose = purposeOf(record);
    if (!missing) return verified({id: 'record', kind: record.kind}, inLog, purpose);
    if (missing.name === 'witnesses') return incomplete(missing, inLog, purpose);
    return unchecked(lacking(missing.name), message('what.unfit', {log}), purpose);
  }
  if (isHeldBack({file, record})) {
    const [what, note] = isShuffle ? ['what.held-back', 'note.committed-to'] : ['what.open-shoe', 'note.sealed'];
    return unproven({id: 'held-back'}, message(what), inLog, message(note));
  }
  if (cost) return unchecked({id: 'cost', steps: String(cost)}, message('what.cost', {log, steps: String(cost)}));
  if (missing) return incomplete(missing, follows);
  const notes = [];
  if (!match && isShuffle) notes.push(message('note.no-order'));
  if (!match && steps.has('root', 'ok')) notes.push(message('note.sealed-order'));
  if (!match && !isShuffle) notes.push(message('note.whole-shoe'));
  if (isShuffle && !usesCommitment(record)) notes.push(message('note.several-seeds'));
  if (!match) return verified({id: 'follows'}, follows, ...notes);
  if (!match.part) return verified({id: 'order'}, message('what.order', {log}), ...notes);
  const {part: hand, cards, shuffle, sorted} = match;
  const summary = {id: sorted ? 'hand-set' : 'hand', hand, cards, ...shuffle && {shuffle}};
  return verified(summary, message('what.hands', {match: describeMatch(match), log}), ...notes);
}
const sealedCards = (cards) => message(cards === 1 ? 'sealed.one' : 'sealed', {cards});
function sayOfHand(hand, log, missing) {
  const {proven, others} = hand, sealed = sealedCards(proven);
  if (!missing) {
    const notes = isHeldBack(hand) ? [message('note.hidden')] : [];
    return verified({id: 'cards', cards: proven}, message('what.cards', {sealed, log}), ...notes);
  }
  if (others === 0) return incomplete(missing, message('what.sealed', {sealed}));
  const notes = hand.missing.length > 0 ? [message('note.give', {records: hand.missing})] : [];
  return unchecked(lacking(missing.name), message('what.partly', {cards: proven + others, proven, others}), ...notes);
}
function sayOfShoe({steps, changes, closed, proven}, log, missing) {
  const fits = message('what.fits', {changes, log}), sealed = sealedCards(proven);
  const notes = proven > 0 ? [message('note.hand', {sealed})] : [];
  const isSecret = [...steps].every(({name, state}) => state !== 'unchecked' || name === 'closed' || name === 'order');
  if (missing && !closed && isSecret) return unproven({id: 'open-shoe', changes}, message('what.open-seeds'), fits, ...notes);
  if (missing) return incomplete(missing, fits, ...notes);
  if (!closed) {
    const what = message('what.cards.so-far', {sealed, found: fits});
    return verified({id: 'cards', cards: proven}, what, message('note.hidden-shoe'));
  }
  const followed = message(steps.has('root', 'ok') ? 'note.shoe' : 'note.shoe.cards');
  return verified({id: 'shoe', changes}, message('what.shoe', {log}), followed, ...notes);
}

// ---- What was given: docs/spec.md, "Inputs of a verifier"

class Refusal extends Fault { // of an input, so that nothing is concluded
  constructor(input, said) { super(said); this.input = input; }
}
const withoutMark = (text) => text.startsWith('\ufeff') ? text.slice(1) : text;
function trim(text) { // drops white space around it
  const isSpace = (i) => ' \t\r\n'.includes(text[i]);
  let from = 0, to = text.length;
  while (from < to && isSpace(from)) from++;
  while (from < to && isSpace(to - 1)) to--;
  return text.slice(from, to);
}
// A list is a JSON array, or lines that are strings. The elements depend on the input: in a range, digits are a number.
const isArray = (text) => trim(text).startsWith('[');
function readList(text) {
  const array = isArray(text) ? parse(text) : undefined;
  return {text, elements: (input) => (array ?? parse(arrayOf(text, input === 'range'))).value};
}
const readItems = (text) => parse(isArray(text) ? text : arrayOf(text, false));
function arrayOf(text, isRange) { // the JSON of lines, of which there may be millions
  const chunks = [];
  let pieces = [];
  for (let from = 0, to; from < text.length; from = to + 1) {
    to = text.indexOf('\n', from);
    if (to < 0) to = text.length;
    const line = text.slice(from, text[to] === '\n' && text[to - 1] === '\r' && to > from ? to - 1 : to);
    pieces.push(isRange && /^\d+$/.test(line) ? line.replace(/^0+(?=\d)/, '') : JSON.stringify(line));
    if (pieces.length === 10_000) {
      chunks.push(pieces.join());
      pieces = [];
    }
  }
  if (pieces.length > 0) chunks.push(pieces.join());
  return `[${chunks.join()}]`;
}
function readHandOf(text) {
  const number = Number(text);
  demand(text === 'rest' || (/^[1-9]\d*$/.test(text) && Number.isSafeInteger(number)), 'why.part', {text});
  return text === 'rest' ? text : number;
}
function readSalt(text) {
  const salt = trim(text);
  demand(/^[A-Za-z0-9_-]{16,128}$/.test(salt), 'why.given.salt');
  return salt;
}
async function readLogKey(text) {
  const key = trim(text);
  await readKey(key);
  return key;
}
const INPUTS = { // by their names in docs/spec.md: the option for each, and its parser
  key: ['key', readLogKey], policy: ['policy', readPolicy], answer: ['answer', readAnswer], order: ['order', readList],
  hand: ['hand', readList], hand_of: ['handOf', readHandOf], items: ['items', readItems], salt: ['salt', readSalt]};
async function readGiven(options) {
  const given = {}, isGiven = (option) => (options[option] ?? undefined) !== undefined;
  const compared = ['answer', 'order', 'hand'].filter(isGiven);
  if (compared.length > 1) throw refusalOf(compared[0], message('why.given.one'));
  if (isGiven('handOf') && !isGiven('hand')) throw refusalOf('hand_of', message('why.given.no-hand'));
  if (isGiven('salt') && !isGiven('items')) throw refusalOf('salt', message('why.given.no-items'));
  for (const [input, [option, read]] of Object.entries(INPUTS)) {
    if (!isGiven(option)) continue;
    const text = String(options[option]);
    demandLength(input, text);
    try { given[option] = await read(withoutMark(text)); } catch (error) { throw refusalOf(input, reasonOf(error)); }
  }
  return given;
}
const refusalOf = (input, what) => new Refusal(input, message('why.given', {input, what}));
function demandLength(input, text) {
  const isLong = text.length > MAX_TEXT || text.length > MAX_TEXT / 3 && utf8(text).length > MAX_TEXT;
  if (isLong) throw refusalOf(input, message('why.given.long', {most: MAX_MIB}));
}

// Reads the proof and all else. A hand is cards of a shoe if the proof or its record is of one, and otherwise a list.
async function readAll(proof, options) {
  const text = typeof proof === 'string' ? proof : '';
  demandLength('proof', text);
  const {isShoe, files} = readProof(withoutMark(text)), {hand, ...given} = await readGiven(options);
  if (!hand) return {files, given};
  const record = await readFile(files[0]).then((file) => readRecord(file.record)).catch(() => undefined);
  if (!isShoe && !shoeOf(record)) return {files, given: {...given, hand}};
  try { return {files, given: {...given, cards: readHand(hand.text)}}; } catch (error) {
    throw refusalOf('hand', reasonOf(error));
  }
}
// Checks the proof file of one record, with what is calculated of it: its statement, keys, orders and cards.
async function checkAlone(node, given) {
  const entry = await checkFile(node, given);
  if (entry.record) await checkCommitted(entry.steps, [entry], given);
  return entry;
}
export async function traceText(proof, options = {}) {
  const {files, given} = await readAll(proof, options);
  return checkAlone(files[0], given);
}

export async function verify(proof, options = {}) {
  try {
    const {files, given} = await readAll(proof, options), isWhole = files.length > 1;
    const found = await (isWhole ? verifyShoe(files, given) : checkAlone(files[0], given));
    const say = isWhole ? sayOfShoe : given.cards ? sayOfHand : sayOfRecord;
    const {verdict, summary, headline, notes} = conclude(found, given, say);
    const state = {ok: true, wrong: false};
    const steps = [...found.steps].map(({name, state: is, message: said}) =>
      ({name, ok: state[is] ?? null, text: render(said), message: said}));
    return {verdict, ...inWords(headline, notes), steps, summary};
  } catch (error) { return refusal(error); }
}
function refusal(error) {
  const headline = message('refused', {reason: reasonOf(error)});
  return {verdict: 'unchecked', ...inWords(headline, []), steps: [], summary: {id: 'refused', input: error.input}};
}
function inWords(headline, notes) {
  return {headline: render(headline), notes: notes.map((note) => render(note)), messages: [headline, ...notes]};
}

// ---- As a program

const HELP = `usage: riffle.mjs [options] PROOF

Checks a proof file: of a record as GET /audits/{id}/proof answers it, or of a whole shoe as GET /shoes/{id}/proof does.

  --key FILE-OR-KEY   public key of the log, from another source than the proof
  --policy FILE       the logs and witnesses that are trusted, and how many of these have to cosign (C2SP tlog-policy)
  --answer FILE       what was answered: the whole answer of POST /shuffle
  --order FILE        instead of it, everything that was dealt: a JSON array, or plain lines
  --hand FILE         instead of it, one hand of the deal, or cards that were drawn from a shoe, with salt and path
  --hand-of N         which hand of the deal it is: a number from 1, or rest
  --items FILE        what was shuffled: a JSON array, or plain lines; decks are built in
  --salt SALT         the items_salt that the items were sent with
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
  const {readFileSync, statSync} = await load('node:fs'), {parseArgs} = await load('node:util');
  const text = {type: 'string'}, flag = {type: 'boolean'};
  const read = (input, path) => {
    let bytes;
    try {
      const about = statSync(path);
      if (about.isDirectory()) throw new Error('it is a folder');
      if (about.size > MAX_TEXT) throw new Error(`it is longer than ${MAX_MIB} MiB`);
      bytes = readFileSync(path);
      return new TextDecoder('utf-8', {fatal: true, ignoreBOM: true}).decode(bytes);
    } catch (error) {
      const why = {ENOENT: 'there is no such file', ERR_ENCODING_INVALID_ENCODED_DATA: 'it is not UTF-8'}[error.code];
      throw refusalOf(input, message('text', {text: `${path}: ${why ?? error.message}`}));
    }
  };
  process.exitCode = 2;
  let values, paths;
  try {
    ({values, positionals: paths} = parseArgs({allowPositionals: true, options: {key: text, policy: text, answer: text,
      order: text, hand: text, 'hand-of': text, items: text, salt: text, json: flag, help: flag}}));
    if (!values.help && paths.length !== 1) throw new Error('expected one PROOF');
  } catch ({message}) {
    console.error(`riffle.mjs: ${message}; see --help`);
    return;
  }
  if (values.help) {
    console.log(HELP);
    process.exitCode = 0;
    return;
  }
  const {key, salt, 'hand-of': handOf} = values, options = {key, salt, handOf};
  let result;
  try {
    for (const input of ['policy', 'answer', 'order', 'hand', 'items'])
      if (values[input] !== undefined) options[input] = read(input, values[input]);
    if (key !== undefined && !LOG_KEY.test(key)) options.key = read('key', key);
    result = await verify(read('proof', paths[0]), options);
  } catch (error) { result = refusal(error); }
  process.stdout.on('error', ({message}) => {
    console.error(`riffle.mjs: nothing can be printed: ${message}`);
    process.exit(2);
  });
  if (values.json) console.log(JSON.stringify(result));
  else console.log(inLines(result).join('\n'));
  process.exitCode = {verified: 0, false: 1, unchecked: 2}[result.verdict];
}
function inLines({headline, notes, steps}) {
  const word = {true: 'ok', false: 'WRONG', null: 'not checked'};
  const lines = steps.map(({name, ok, text}) => `${name.padEnd(12)} ${word[ok]}: ${text}`);
  return [headline, ...notes, ...(lines.length > 0 ? [''] : []), ...lines];
}
