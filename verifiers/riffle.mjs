// Verifies proof files of riffle/1 as specified in docs/spec.md, in browsers and Node 20, with WebCrypto only.
// const {steps, verdict, order} = await verify(proof, {key, items, salt, order, commitment}), all texts: the proof file; the
// log's public key, from another source; the JSON array of the items (for a deck, all codes) and their salt; the order, as an
// array of items or positions or a whole response; the proof file of the commitment. A step that cannot be checked has ok null.
// node riffle.mjs [--key FILE] [--items FILE [--items-salt SALT]] [--order FILE] PROOF... looks for the proofs of commitments
// among the PROOFs and exits with 0 if all verify, 1 if one fails, 2 otherwise.
const {subtle} = globalThis.crypto, MOST = 2 ** 24; // integers or keystreams for a record; longer ones are not replayed
const STRING = '"[^"\\\\]*(?:\\\\.[^"\\\\]*)*"', SPACE = new RegExp(`(${STRING})|[ \t\n\r]+`, 'g');
const NUMBER = new RegExp(`${STRING}|-?(?:0|[1-9]\\d*)(?:\\.\\d+)?(?:[eE][-+]?\\d+)?`, 'g'); // or a string
const DIGEST = /^[0-9a-f]{64}$/, UUID7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const INPUT = /^(range|items sha256:[0-9a-f]{64}|deck [a-z0-9-]+ x[1-9][0-9]* sha256:[0-9a-f]{64})$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/, REFERENCE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]{1,128}$/u;
const STATEMENT = ['algorithm', 'size', 'draw', 'repeat', 'hands', 'input', 'reference'];
const ALL = 'id time kind spec commitment';
const MADE = ALL + ' algorithm size draw repeat input items_digest? hands? parameters? reference?';
const MEMBERS = {__proto__: null, reveal: `${ALL} audit_id`, void: `${ALL} commitment_id`, // ?: optional
  commitment: `${MADE} deadline`, shuffle: `${MADE} client_seed? reveal? commitment_id?`};
const FILE = ['spec', 'record', 'seed', 'client_seed', 'tlog_proof', 'log_key'];
const B = '[A-Za-z0-9+/]', END = '[AEIMQUYcgkosw048]=', HASH = `${B}{42}${END}`; // canonical base64
const SIGNATURE = `(?:${B}{4})+(?:${B}{4}|${B}{2}${END}|${B}{5}[AQgw]==)`, NAME = '[^\\p{White_Space}+\\x00-\\x1f]+';
const LOG_KEY = new RegExp(`^(${NAME})\\+([0-9a-f]{8})\\+(${B}{44})$`, 'u');
const TLOG_PROOF = new RegExp(`^c2sp\\.org/tlog-proof@v1\nindex (0|[1-9]\\d*)\n((?:${HASH}\n)*)\n` +
  `(([^\\x00-\\x1f]+)\n([1-9]\\d*)\n(${HASH})\n)\n((?:— ${NAME} ${SIGNATURE}\n){1,100})$`, 'u');
const ALGORITHMS = { // for n items: the first bound, the step to the next, and what the i-th integer u swaps
  'fisher-yates': (n) => [n, -1, (i, u) => [i, i + u]], 'durstenfeld': (n) => [n, -1, (i, u) => [n - 1 - i, u]],
  'inside-out': (n) => [2, 1, (i, u) => [i + 1, u]], 'strike-out': (n) => [n, -1, null],
  'sattolo': (n) => [n - 1, -1, (i, u) => [i, i + 1 + u]]}; // its last bound is 1, which takes no bits
const demand = (truth, message) => { if (!truth) throw new Error(message); };
const sha256 = async (...parts) => new Uint8Array(await subtle.digest('SHA-256', await new Blob(parts).arrayBuffer()));
const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
const unhex = (text) => Uint8Array.from(text.match(/../g), (pair) => parseInt(pair, 16));
const unbase64 = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
// Parses JSON so that values are equal if written alike: numbers become their texts, and strings begin with '.
const exact = (json) => JSON.parse(json.replace(NUMBER, (token) =>
  token.startsWith('"') ? `"'${token.slice(1)}` : `"${token}"`));
function readRecord(text) {
  const record = JSON.parse(text.replace(NUMBER, (token) => /^("|\d+$)/.test(token) ? token : 'null')); // 5.0 is none
  const colons = (json) => json.replace(new RegExp(STRING, 'g'), '').split(':').length;
  demand(/^\s*{/.test(text) && colons(text) === colons(JSON.stringify(record)), 'not an object, or a duplicate member');
  const like = (form) => (value) => typeof value === 'string' && form.test(value);
  const whole = (low, high = Infinity) => (n) => Number.isSafeInteger(n) && n >= low && n <= high;
  const isTime = (end) => like(TIME)(end) && new Date(end).toJSON()?.slice(0, 19) === end.slice(0, 19); // 30 February
  const rules = {
    id: like(UUID7), time: isTime, kind: like(/^[a-z0-9_-]+$/), spec: like(/^riffle\/1$/), audit_id: like(UUID7),
    algorithm: (name) => Object.keys(ALGORITHMS).includes(name), draw: whole(0, record.size), repeat: whole(1),
    size: (n) => whole(0)(n) && (n !== 1 || record.algorithm !== 'sattolo'), input: like(INPUT),
    items_digest: (rule) => like(/^[a-z0-9-]+\/[1-9]\d*$/)(rule) && record.input.startsWith('items '),
    hands: (all) => all.every(whole(1)) && all.reduce((sum, hand) => sum + hand) <= record.draw, // fails if it is empty
    parameters: (map) => !Array.isArray(map) && Object.keys(map).length > 0 && Object.values(map).every(whole(0)),
    client_seed: (seed) => like(/^[^\0\p{Cs}]+$/u)(seed) && new Blob([seed]).size <= 256, reveal: like(/^now$/),
    deadline: (end) => isTime(end) && end > record.time, reference: like(REFERENCE), commitment: like(DIGEST),
    commitment_id: (id) => like(UUID7)(id) && (record.kind === 'void' || 'client_seed' in record)};
  const members = (MEMBERS[record.kind] ?? 'id time kind spec').split(' ');
  for (const [name, rule] of Object.entries(rules).slice(0, MEMBERS[record.kind] ? Infinity : 4)) {
    const isAllowed = members.includes(name) || members.includes(`${name}?`);
    demand(name in record ? isAllowed && rule(record[name]) : !members.includes(name), `${name} is not valid`);
  }
  return record;
}
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
function isAnswer(orders, {repeat, hands = []}, items, answer) { // compares items, or without them positions
  const deal = (order, at = 0) => [...hands.map((hand) => order.slice(at, at += hand)), order.slice(at)];
  const shuffles = orders.map((order) => order.map((place) => items ? items[place] : String(place)));
  const dealt = shuffles.map((order) => deal(order)), same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
  if (Array.isArray(answer)) return same(answer, repeat === 1 ? shuffles[0] : shuffles);
  const right = {"'shuffles": hands.length ? dealt : shuffles, ...(repeat === 1 &&
    {"'items": shuffles[0], "'hands": dealt[0].slice(0, -1), "'rest": dealt[0].at(-1)})};
  const names = Object.keys(right).filter((name) => name in answer);
  return names.length > 0 && names.every((name) => same(answer[name], right[name]));
}
async function rootOf(leaf, i, size, path) {
  demand(i < size && (path.length > 0) === (size > 1n), 'the path does not have the length for this index and size');
  if (size === 1n) return leaf;
  const half = 2n ** BigInt((size - 1n).toString(2).length - 1), rest = path.slice(0, -1); // RFC 6962 splits it there
  if (i < half) return sha256(Uint8Array.of(1), await rootOf(leaf, i, half, rest), path.at(-1));
  return sha256(Uint8Array.of(1), path.at(-1), await rootOf(leaf, i - half, size - half, rest));
}
export async function verify(text, {key, items, salt, order, commitment} = {}) {
  const isSalt = items !== undefined && /^[\w-]{16,128}$/.test(salt);
  demand(salt === undefined || isSalt, 'a salt is 16 to 128 letters, digits, - and _, and needs the items');
  const [parts, answer] = [items, order].map((json) => json === undefined ? undefined : exact(json)); // may throw
  const steps = [], result = {steps, order: null}, begin = (step, detail = '', ok = true) => steps.push({step, ok, detail});
  try {
    begin('proof', ...(key === undefined ? ['no key was given: that in the file may be anyone\'s', null] : []));
    const file = JSON.parse(text), {seed, tlog_proof, log_key} = file, form = `${JSON.stringify(file, FILE)}\n`;
    demand(text === form.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029') && !/\p{Cs}/u.test(form) &&
      FILE.every((name) => typeof file[name] === 'string' || (name === 'seed' && seed === null)) &&
      /^([0-9a-f]{2})+$/.test(seed ?? '00'), 'the file does not have its form');
    const [, name, id, base64] = LOG_KEY.exec(log_key) ?? [], tlog = TLOG_PROOF.exec(tlog_proof);
    demand(file.spec === 'riffle/1' && tlog && name, 'the spec, tlog_proof or log_key does not have its form');
    const [point, root, ...path] = [base64, tlog[6], ...tlog[2].split('\n').slice(0, -1)].map(unbase64);
    const [, , , note, origin] = tlog, index = result.index = BigInt(tlog[1]), leaves = BigInt(tlog[5]);
    demand(point[0] === 1 && hex(await sha256(name, '\n', point)).startsWith(id), 'log_key has another hash');
    demand(key === undefined || key.trim() === log_key, 'the file has another key than the one given');
    begin('record');
    const record = result.record = readRecord(file.record), {kind, size, draw, repeat, client_seed = ''} = record;
    const isShuffle = kind === 'shuffle', fixed = isShuffle && record.commitment_id;
    const missing = fixed && commitment === undefined ? `: the proof of its commitment ${fixed} was not given` : '';
    Object.assign(steps[1], {ok: MEMBERS[kind] ? true : null, detail: kind + missing});
    demand(!MEMBERS[kind] || (file.client_seed === client_seed && (isShuffle || seed === null)), 'it has other seeds');
    const rule = record.items_digest, isSecret = rule !== undefined && (rule !== 'salted/1' || salt === undefined);
    const isKnown = Boolean(MEMBERS[kind]) && !isSecret, list = isKnown ? parts : undefined; // items that can be compared
    const plain = items && `sha256:${hex(await sha256(items.replace(SPACE, '$1')))}`;
    const digest = salt ? hex(await sha256(`riffle/1 items\nsalt ${salt}\n${plain}\n`)) : plain;
    const fits = !list || (size === list.length && record.input.endsWith(digest) && (salt === undefined || rule !== undefined));
    if (isShuffle && seed !== null) {
      const blocks = seed.match(/.{1,64}/g) ?? [], few = draw > 1024 ? 0 : draw;
      const results = Array.from({length: few}, (_, i) => BigInt(size - i)).reduce((product, n) => product * n, 1n);
      result.blocks = Math.ceil(((results - 1n).toString(2).length + 64) / 256); // log2 rounded up gives the same
      begin('seed', blocks.length < result.blocks ? 'warning: it is shorter than the formula asks for' : '');
      begin('commitment');
      const lines = STATEMENT.map((name) => name in record ? `${name} ${record[name]}\n` : ''); // hands with commas
      result.statement = `riffle/1\n${lines.join('')}seed ${seed}\n`;
      const hash = await sha256(result.statement);
      demand(hex(hash) === record.commitment, 'it is not the SHA-256 of the statement with this seed');
      begin('keys');
      demand(/^(.{64}){1,213}$/.test(seed) && new Set(blocks).size === blocks.length, 'no 1 to 213 different blocks');
      const message = await new Blob(['riffle/1 key\n', hash, client_seed]).arrayBuffer();
      result.keys = await Promise.all(blocks.map((block) => deriveKey(block, message)));
      begin('order');
      const moving = size + size * draw / 2 ** 16; // strike-out takes one out of a list, which moves many
      const work = {'fisher-yates': draw, 'sattolo': draw, 'strike-out': moving}[record.algorithm] ?? size;
      if (repeat * Math.max(work, blocks.length) > MOST) throw new RangeError('it is too long for this program');
      result.order = [];
      for (let r = 0; r < repeat; r++) result.order.push(await replayShuffle(record, result.keys, r));
    } else if (isShuffle || order !== undefined) begin('order', 'there is no seed to replay', null);
    if (order !== undefined && fits && result.order && !isAnswer(result.order, record, list, answer)) {
      const needsItems = !list && record.input !== 'range' && (isSecret || order.includes('"'));
      demand(needsItems, 'the seed gives another order than the answer');
      Object.assign(steps.at(-1), {ok: null, detail: 'it takes the items to compare'});
    }
    if (items !== undefined) begin('items', isSecret ? `their digest is ${rule}` : '', isKnown || null);
    demand(fits, 'these are not the items that the record is about');
    begin('inclusion', `record ${index} of ${leaves}`);
    const top = await rootOf(await sha256(Uint8Array.of(0), file.record), index, leaves, path);
    demand(hex(top) === hex(root), 'the path does not lead to the root');
    begin('signature', name);
    const verifier = await subtle.importKey('raw', point.slice(1), 'Ed25519', false, ['verify']);
    const own = [...tlog[7].matchAll(/— (.+) (.+)\n/g)].map(([, by, data]) => [by, unbase64(data)])
      .filter(([by, data]) => by === name && hex(data).startsWith(id));
    const holds = ([, data]) => subtle.verify('Ed25519', verifier, data.slice(4), new TextEncoder().encode(note));
    const checks = await Promise.all(own.map(holds));
    demand(origin === name && checks.length > 0 && checks.every(Boolean), 'the key has not signed this checkpoint');
    if (fixed && commitment !== undefined) {
      begin('committed');
      const {verdict, record: made, index: before} = await verify(commitment, {key: log_key});
      demand(verdict === 'verified' && made.kind === 'commitment' && made.id === fixed, 'its proof does not hold');
      const same = (name) => JSON.stringify(made[name]) === JSON.stringify(record[name]);
      demand([...STATEMENT, 'commitment'].every(same), 'the commitment is to another statement');
      demand(before < index && record.time < made.deadline, 'it is not between commitment and deadline');
    }
  } catch (error) { // an error of range is that of this program: it is too long, or too deep
    Object.assign(steps.at(-1), {ok: error instanceof RangeError ? null : false, detail: error.message});
  }
  const has = (ok) => steps.some((step) => step.ok === ok);
  return {...result, verdict: has(false) ? 'failed' : has(null) ? 'unchecked' : 'verified'};
}

if (globalThis.process?.argv?.[1] && (await import('node:url')).pathToFileURL(process.argv[1]).href === import.meta.url) {
  const {readFileSync} = await import('node:fs'), {parseArgs} = await import('node:util'), file = {type: 'string'};
  const read = (path) => new TextDecoder('utf-8', {fatal: true, ignoreBOM: true}).decode(readFileSync(path));
  const recordOf = (text) => { try { return JSON.parse(JSON.parse(text).record) ?? {}; } catch { return {}; } };
  const verdicts = [], options = {key: file, items: file, order: file, 'items-salt': file};
  try {
    const {values, positionals} = parseArgs({options, allowPositionals: true});
    const {'items-salt': salt, ...files} = values, given = {salt};
    for (const name in files) given[name] = read(files[name]);
    const texts = positionals.map(read), records = texts.map(recordOf);
    for (const [i, text] of texts.entries()) {
      const {kind, id, commitment_id = NaN} = records[i], index = records.findIndex((other) => other.id === commitment_id);
      const isUsed = kind === 'commitment' && records.some((other) => other.kind === 'shuffle' && other.commitment_id === id);
      const order = isUsed ? undefined : given.order; // of a commitment that was used the shuffle has the order
      const {steps, verdict} = await verify(text, {...given, order, commitment: texts[index]});
      for (const {step, ok, detail} of steps) console.log(`${{true: 'ok', null: '?'}[ok] ?? 'FAILED'}\t${step}\t${detail}`);
      console.log(`${positionals[i]}: ${verdict}`);
      verdicts.push(verdict);
    }
  } catch ({message}) { console.error(`cannot be checked: ${message}`); verdicts.push('unchecked'); }
  process.exitCode = verdicts.includes('failed') ? 1 : verdicts.every((v) => v === 'verified') && verdicts.length ? 0 : 2;
}
