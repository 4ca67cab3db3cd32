// Checks proof files of riffle/1 as docs/spec.md says, in browsers and Node 20, with WebCrypto and nothing else.
//
//     const {steps, verdict, order} = await verify(proof, {key, items, order});
//
// All are texts: the proof file; the log's verifier key, from somewhere else; the JSON array of what was shuffled (of a
// deck all its codes); the answer: the array of items or of positions, or all that the service answered. A step is
// {step, ok, detail}, ok null if it cannot be checked. The verdict is "failed" if one is false, else "unchecked" if one
// is null, else "verified". The order returned has the positions of each shuffle. replay(record, seed) needs no log.
//
// node riffle.mjs [--key FILE] [--items FILE] [--order FILE] PROOF... exits with 0: verified, 1: one failed, 2: else.

const {subtle} = globalThis.crypto;
const ONE_SHUFFLE = 2 ** 23, ALL_SHUFFLES = 2 ** 26; // items that this program goes through; more are not checked
const STRING = '"[^"\\\\]*(?:\\\\.[^"\\\\]*)*"', HASH = '[A-Za-z0-9+/]{43}=';
const DIGEST = /^[0-9a-f]{64}$/, UUID7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const INPUT = /^(range|items sha256:[0-9a-f]{64}|deck [a-z0-9-]+ x[1-9][0-9]* sha256:[0-9a-f]{64})$/;
const TLOG_PROOF = new RegExp(`^c2sp\\.org/tlog-proof@v1\nindex (0|[1-9][0-9]*)\n((?:${HASH}\n)*)\n` +
  `(([^\n]+)\n([1-9][0-9]*)\n(${HASH})\n)\n((?:— [^ \n]+ [A-Za-z0-9+/=]+\n)+)$`);
// For n items: the first bound, the step to the next, their number, and what the i-th integer u swaps.
const ALGORITHMS = {
  'fisher-yates': (n) => [n, -1, n - 1, (i, u) => [i, i + u]],
  'durstenfeld': (n) => [n, -1, n - 1, (i, u) => [n - 1 - i, u]],
  'inside-out': (n) => [2, 1, n - 1, (i, u) => [i + 1, u]],
  'strike-out': (n) => [n, -1, n - 1],
  'sattolo': (n) => [n - 1, -1, n - 2, (i, u) => [i, i + 1 + u]],
};

const demand = (truth, message) => { if (!truth) throw new Error(message); };
const join = async (...parts) => new Uint8Array(await new Blob(parts).arrayBuffer()); // strings become UTF-8
const sha256 = async (...parts) => new Uint8Array(await subtle.digest('SHA-256', await join(...parts)));
const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
const unhex = (text) => Uint8Array.from(text.match(/../g), (pair) => parseInt(pair, 16));
const unbase64 = (text) => {
  demand(btoa(atob(text)) === text, `${text} is not base64 in its one form`);
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
};

const compact = (json) => json.replace(new RegExp(`(${STRING})|[ \t\n\r]+`, 'g'), '$1'); // json has to be valid
// Reads JSON in which no member stands twice: JSON.parse takes the last one, and so has fewer members than colons.
function readObject(json) {
  let members = -1; // the first is the whole
  const value = JSON.parse(json, function count(_, part) { members += Array.isArray(this) ? 0 : 1; return part; });
  demand(value && typeof value === 'object' && !Array.isArray(value), 'this is not a JSON object');
  demand(json.replace(new RegExp(STRING, 'g'), '').split(':').length - 1 === members, 'a member stands twice');
  return value;
}
// The texts of an array's elements or an object's members, as they were written but for the white space.
function split(json) {
  JSON.parse(json);
  const text = compact(json), parts = [];
  let depth = 0, start = 1;
  for (const {0: token, index} of text.matchAll(new RegExp(`${STRING}|[[\\]{},]`, 'g'))) {
    depth += {'[': 1, '{': 1, ']': -1, '}': -1}[token] ?? 0;
    if (depth > 1 || (depth === 1 && token !== ',') || index <= start) continue;
    parts.push(text.slice(start, index));
    start = index + 1;
  }
  return parts;
}

function readRecord(text) {
  const record = readObject(text), {kind, algorithm, size, draw} = record;
  const like = (form) => (value) => typeof value === 'string' && form.test(value);
  const whole = (low, high = Infinity) => (value) => Number.isSafeInteger(value) && value >= low && value <= high;
  const maybe = (rule) => (value) => value === undefined || rule(value);
  const isTime = (time) => like(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)(time) &&
    new Date(time).toISOString().slice(0, 19) === time.slice(0, 19); // 30 February would become 2 March
  const rules = {id: like(UUID7), time: isTime, kind: like(/^[a-z0-9_-]+$/), spec: like(/^riffle\/1$/)};
  if (kind === 'reveal') Object.assign(rules, {audit_id: like(UUID7), commitment: like(DIGEST)});
  if (kind === 'shuffle') Object.assign(rules, {
    algorithm: (name) => Object.hasOwn(ALGORITHMS, name),
    size: (n) => whole(0)(n) && !(n === 1 && algorithm === 'sattolo'), draw: whole(0, size), repeat: whole(1),
    hands: maybe((hands) => Array.isArray(hands) && hands.length > 0 && hands.every(whole(1)) &&
      hands.reduce((sum, hand) => sum + hand) <= draw),
    input: like(INPUT), reference: maybe(like(/^[\p{L}\p{M}\p{N}\p{P}\p{S} ]{1,128}$/u)),
    parameters: maybe((map) => map && typeof map === 'object' && Object.values(map).every(Number.isSafeInteger)),
    client_seed: maybe((seed) => like(/^[^\0\p{Cs}]+$/u)(seed) && new TextEncoder().encode(seed).length <= 256),
    reveal: maybe(like(/^now$/)), commitment: like(DIGEST),
  });
  for (const [name, rule] of Object.entries(rules)) demand(rule(record[name]), `${name} is not valid`);
  return record;
}

// The formula's k. It rounds log2(n!/(n-m)!) up, which does not change k.
export function seedBlocks({size, draw}) {
  let results = 1n;
  for (let i = 0; draw <= 1024 && i < draw; i++) results *= BigInt(size - i);
  return Math.ceil(((results - 1n).toString(2).length + 64) / 256);
}

async function deriveKeys(seed, commitment, clientSeed) {
  const blocks = seed.match(/.{1,64}/g) ?? [];
  demand(blocks.length >= 1 && blocks.length <= 213 && blocks.at(-1).length === 64, 'the seed is not 1 to 213 blocks');
  demand(new Set(blocks).size === blocks.length, 'two blocks of the seed are equal');
  const message = await join('riffle/1 key\n', commitment, clientSeed);
  return Promise.all(blocks.map(async (block) => {
    const key = await subtle.importKey('raw', unhex(block), {name: 'HMAC', hash: 'SHA-256'}, false, ['sign']);
    return subtle.importKey('raw', await subtle.sign('HMAC', key, message), 'AES-CTR', true, ['encrypt']);
  }));
}

// The words of one shuffle's keystream that stand in 64 counter blocks, from this one on.
export async function keystream(keys, shuffle, block) {
  const counter = new DataView(new ArrayBuffer(16)), sum = new Uint32Array(256), view = new DataView(sum.buffer);
  counter.setBigUint64(0, BigInt(shuffle));
  counter.setBigUint64(8, BigInt(block));
  for (const key of keys) {
    const stream = await subtle.encrypt({name: 'AES-CTR', counter, length: 64}, key, new Uint8Array(1024));
    new Uint32Array(stream).forEach((part, i) => { sum[i] ^= part; });
  }
  return Array.from({length: 128}, (_, i) => view.getBigUint64(8 * i));
}

async function replayShuffle({algorithm, size, draw}, keys, shuffle, needed) {
  const [first, step, total, swap] = ALGORITHMS[algorithm](size), integers = [];
  const bound = (i) => BigInt(first + step * i);
  for (let words = [], used = 0; integers.length < needed;) {
    const group = [bound(integers.length)];
    let product = group[0], x, served;
    for (let i = integers.length + 1; i < total && product * bound(i) <= 2n ** 56n; i++) {
      group.push(bound(i));
      product *= bound(i);
    }
    do {
      if (used % 128 === 0) words = await keystream(keys, shuffle, used / 2);
      x = words[used++ % 128];
      served = group.map((b) => { const wide = x * b; x = BigInt.asUintN(64, wide); return Number(wide >> 64n); });
    } while (x < 2n ** 64n % product);
    integers.push(...served);
  }
  if (!swap) {
    const left = Array.from({length: size}, (_, i) => i);
    return [...integers.map((s) => left.splice(s, 1)[0]), ...left].slice(0, draw);
  }
  if (algorithm === 'sattolo' && integers.length === total) integers.push(0); // the last swap has one candidate
  const moved = new Map(), at = (place) => moved.get(place) ?? place; // only what moved, for n may be 2^53 - 1
  for (const [i, u] of integers.entries()) {
    const [p, q] = swap(i, u), item = at(p);
    moved.set(p, at(q)).set(q, item);
  }
  return Array.from({length: draw}, (_, i) => at(i));
}

// Compares the answer with the replayed order: of the items if there are some, else of positions.
function compareOrder({order: orders, steps}, {repeat, hands = [], input}, items, answer) {
  const deal = (order, at = 0) => [...hands.map((hand) => order.slice(at, at += hand)), order.slice(at)];
  const dealt = orders.map((order) => deal(order)), all = repeat === 1 ? orders[0] : orders;
  const right = {shuffles: hands.length ? dealt : orders, all};
  if (repeat === 1) Object.assign(right, {items: orders[0], hands: dealt[0].slice(0, -1), rest: dealt[0].at(-1)});
  const write = (name) => JSON.stringify(right[name])?.replace(/\d+/g, (place) => items ? items[place] : place);
  const members = Array.isArray(JSON.parse(answer)) ? [`"all":${compact(answer)}`] :
    split(answer).filter((member) => /^"(items|hands|rest|shuffles)":/.test(member));
  const names = members.map((member) => member.split('"')[1]);
  const same = names.length > 0 && members.every((member, i) => member === `"${names[i]}":${write(names[i])}`);
  const open = !same && !items && input !== 'range' && answer.includes('"'); // these are no positions
  demand(same || open, 'the seed gives another order than the answer');
  Object.assign(steps.at(-1), open ? {ok: null, detail: 'it takes the items to compare'} : {detail: 'as answered'});
}

async function readKey(text) {
  const [, name, id, base64] = /^([^\s+\x00-\x1f\x7f-\x9f]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]{44})$/.exec(text) ?? [];
  demand(name && unbase64(base64)[0] === 1, 'the verifier key does not have its form');
  demand(hex(await sha256(name, '\n', unbase64(base64))).startsWith(id), 'the verifier key does not have its hash');
  return {name, id, point: unbase64(base64).slice(1)};
}

async function readProof(text) {
  const {spec, record, seed, client_seed, tlog_proof, log_key} = readObject(text);
  const form = JSON.stringify({spec, record, seed, client_seed, tlog_proof, log_key}) + '\n';
  demand(text === form.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029') && spec === 'riffle/1' &&
    [record, client_seed, tlog_proof, log_key].every((part) => typeof part === 'string' && !/\p{Cs}/u.test(part)) &&
    (seed === null || /^([0-9a-f]{2})*$/.test(seed)), 'the file does not have its form');
  const [, index, path, note, origin, size, root, lines] = TLOG_PROOF.exec(tlog_proof) ?? [];
  demand(index, 'tlog_proof does not have its form');
  const signatures = lines.trimEnd().split('\n').map((line) => [line.split(' ')[1], unbase64(line.split(' ')[2])]);
  return {record, seed, client_seed, log_key, note, origin, signatures, ...await readKey(log_key), index: BigInt(index),
    size: BigInt(size), root: hex(unbase64(root)), path: path.split('\n').slice(0, -1).map(unbase64)};
}

async function rootOf({record, index: i, size, path}) {
  let hash = await sha256(Uint8Array.of(0), record), last = size - 1n;
  demand(i <= last, 'the tree does not reach to the index');
  for (const other of path) {
    demand(last > 0n, 'the path is too long');
    const isRight = i % 2n === 1n || i === last;
    hash = await sha256(Uint8Array.of(1), ...(isRight ? [other, hash] : [hash, other]));
    while (isRight && i % 2n === 0n && i > 0n) [i, last] = [i / 2n, last / 2n];
    [i, last] = [i / 2n, last / 2n];
  }
  demand(last === 0n, 'the path is too short');
  return hex(hash);
}

async function isSigned({name, id, point, origin, note, signatures}) {
  const key = await subtle.importKey('raw', point, 'Ed25519', false, ['verify']), signed = await join(note);
  const own = signatures.filter(([by, bytes]) => by === name && hex(bytes.slice(0, 4)) === id);
  const checks = await Promise.all(own.map(([, bytes]) => subtle.verify('Ed25519', key, bytes.slice(4), signed)));
  return origin === name && own.length > 0 && checks.every(Boolean);
}

// Collects the steps: body begins each one, and throws where one fails.
async function collect(body) {
  const result = {steps: [], order: null}, {steps} = result;
  try {
    await body(result, (step, outcome) => { steps.push({step, ok: true, detail: '', ...outcome}); });
  } catch ({message}) { Object.assign(steps.at(-1), {ok: false, detail: message}); }
  const has = (ok) => steps.some((step) => step.ok === ok);
  return {...result, verdict: has(false) ? 'failed' : has(null) ? 'unchecked' : 'verified'};
}

async function replayRecord(result, begin, record, seed) {
  const {algorithm, size, draw, repeat, hands, input, reference, client_seed = '', commitment} = record;
  const blocks = seedBlocks(record), [, , total] = ALGORITHMS[algorithm](size);
  begin('seed', {detail: seed.length / 64 < blocks ? `warning: shorter than the ${blocks} blocks it should have` : ''});
  begin('commitment');
  result.statement = `riffle/1\nalgorithm ${algorithm}\nsize ${size}\ndraw ${draw}\nrepeat ${repeat}\n` +
    `${hands ? `hands ${hands}\n` : ''}input ${input}\n${reference ? `reference ${reference}\n` : ''}seed ${seed}\n`;
  const hash = await sha256(result.statement);
  demand(hex(hash) === commitment, 'the statement with this seed does not have the commitment of the record');
  begin('keys');
  result.keys = await deriveKeys(seed, hash, client_seed);
  const needed = Math.max(0, /^(durstenfeld|inside-out)$/.test(algorithm) ? total : Math.min(draw, total));
  const work = Math.max(1, draw, needed, algorithm === 'strike-out' ? size : 0);
  const isLong = work > ONE_SHUFFLE || work * repeat > ALL_SHUFFLES;
  begin('order', isLong && {ok: null, detail: 'it is too long for this program'});
  if (isLong) return;
  result.order = [];
  for (let shuffle = 0; shuffle < repeat; shuffle++)
    result.order.push(await replayShuffle(record, result.keys, shuffle, needed));
}

// Checks a record and its seed alone.
export const replay = (text, seed) => collect(async (result, begin) => {
  begin('record');
  const record = readRecord(text);
  demand(record.kind === 'shuffle', 'the record is no shuffle');
  await replayRecord(result, begin, record, seed);
});

export async function verify(text, {key, items, order} = {}) {
  const parts = items === undefined ? null : split(items); // what is not JSON throws: then nothing can be checked
  if (order !== undefined) JSON.parse(order);
  return collect(async (result, begin) => {
    begin('proof', key === undefined && {ok: null, detail: 'no key was given: that in the file may be anyone\'s'});
    const proof = await readProof(text);
    demand(key === undefined || key.trim() === proof.log_key, 'the file has another key than the one given');
    begin('record');
    const record = readRecord(proof.record);
    result.steps.at(-1).detail = `${record.kind} ${record.id}`;
    demand(proof.client_seed === (record.client_seed ?? ''), 'the client seed is not that of the record');
    const fits = !parts || (record.size === parts.length &&
      record.input.endsWith(` sha256:${hex(await sha256(compact(items)))}`));
    if (record.kind === 'shuffle' && proof.seed !== null) await replayRecord(result, begin, record, proof.seed);
    else if (record.kind === 'shuffle' || order) begin('order', {ok: null, detail: 'there is no seed to replay'});
    if (order !== undefined && result.order && fits) compareOrder(result, record, parts, order);
    if (parts) begin('items');
    demand(fits, 'these are not the items that the record is about');
    begin('inclusion', {detail: `record ${proof.index} of ${proof.size}`});
    demand(await rootOf(proof) === proof.root, 'the path does not lead to the root');
    begin('signature', {detail: proof.name});
    demand(await isSigned(proof), 'the key has not signed this checkpoint');
  });
}

async function main({argv, exit}) {
  const {readFile} = await import('node:fs/promises'), options = {}, verdicts = new Set();
  let paths = argv.slice(2);
  try {
    const read = async (path) => new TextDecoder('utf-8', {fatal: true, ignoreBOM: true}).decode(await readFile(path));
    for (; /^--(key|items|order)$/.test(paths[0]); paths = paths.slice(2))
      options[paths[0].slice(2)] = await read(paths[1] ?? '');
    demand(paths.length, 'no PROOF was given');
    for (const path of paths) {
      const {steps, verdict} = await verify(await read(path), options);
      for (const {step, ok, detail} of steps)
        console.log(`${ok ? 'ok' : ok === null ? '?' : 'FAILED'}\t${step}\t${detail}`);
      console.log(`${path}: ${verdict}`);
      verdicts.add(verdict);
    }
  } catch ({message}) { console.error(`cannot be checked: ${message}`); verdicts.add('unchecked'); }
  exit(verdicts.has('failed') ? 1 : verdicts.has('unchecked') ? 2 : 0);
}
const {process} = globalThis;
if (process?.argv?.[1] && (await import('node:url')).pathToFileURL(process.argv[1]).href === import.meta.url) {
  process.removeAllListeners('warning'); // Node 20 calls Ed25519 experimental
  await main(process);
}
