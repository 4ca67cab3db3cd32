// Runs clients/scenarios.json against the service at RIFFLE_URL; `go test ./clients` starts it. What bounds retries is
// tested without it.
import assert from 'node:assert/strict';
import {randomUUID} from 'node:crypto';
import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {test} from 'node:test';
import {deal, draw, pick, Riffle, RiffleError, UnreachableError, verify, verifyDeal} from 'riffle';

const {RIFFLE_URL: url, RIFFLE_SCENARIOS: table} = process.env;

for (const scenario of JSON.parse(readFileSync(table, 'utf8')).scenarios)
  test(scenario.name, {concurrency: true}, () => play(scenario));

async function play({random = [], faults = [], token = 'table', patience, steps}) {
  const saved = Object.fromEntries(random.map((name) => [name, randomUUID()]));
  const riffle = new Riffle(faults.length ? `${url}/faults/${randomUUID()}/${faults}` : url, {
    token: process.env[`RIFFLE_TOKEN_${token.toUpperCase()}`],
    patience,
  });
  const fill = (value) => {
    if (typeof value === 'string' && value.startsWith('$')) return saved[value.slice(1)];
    if (Array.isArray(value)) return value.map(fill);
    return value && typeof value === 'object'
      ? Object.fromEntries(Object.entries(value).map(([name, v]) => [name, fill(v)]))
      : value;
  };
  for (const step of steps) {
    const {expect = {}, problem, save = {}, at_once: times = 1} = step;
    let result;
    if (problem) {
      const error = await call(riffle, step, fill).then(assert.fail, (error) => error);
      assert(error instanceof RiffleError, String(error.stack));
      result = error.problem;
    } else {
      const [first, ...others] = await Promise.all(Array.from({length: times}, () => call(riffle, step, fill)));
      for (const other of others) assert.deepEqual(other, first);
      result = first;
    }
    for (const [path, want] of Object.entries(problem ?? expect))
      assert.deepEqual(at(result, path), fill(want), `${step.operation ?? 'verify'}: ${path}`);
    for (const [name, path] of Object.entries(save)) saved[name] = at(result, path);
  }
}

async function call(riffle, {request, path, query, key, if_match, body, verify: given}, fill) {
  if (given) {
    const {proof, ...texts} = fill(given);
    return verify(proof, texts);
  }
  const [method, pattern] = request.split(' '),
    header = {'Idempotency-Key': key && fill(key), 'If-Match': if_match};
  const init = {params: {path: fill(path), query: fill(query), header}, body: fill(body)};
  return riffle[method.toLowerCase()](pattern, init);
}

const at = (value, path) => (path === '' ? value : path.split('.').reduce((in_, name) => in_?.[name], value));

test('a game is dealt by name', async () => {
  const riffle = new Riffle(url, {token: process.env.RIFFLE_TOKEN_TABLE}),
    key = randomUUID(),
    asked = {deck: 'standard52', game: 'holdem', players: 6};
  const dealt = await deal(riffle, asked, key),
    {players, parts, board, rest, answer} = dealt;
  assert.deepEqual(await deal(riffle, asked, key), dealt);
  assert.deepEqual(
    players.map((hand) => hand.length),
    [2, 2, 2, 2, 2, 2],
  );
  assert.deepEqual(board, [...parts.flop, ...parts.turn, ...parts.river]);
  assert.deepEqual([parts.burn.length, board.length, rest.length], [3, 5, 32]);
  const path = {id: answer.audit_id};
  await riffle.post('/audits/{id}/reveal', {params: {path}, body: {seed: answer.seed}});
  assert.equal((await verifyDeal(riffle, dealt, await riffle.get('/log/key'))).verdict, 'verified');

  assert.equal((await deal(riffle, {deck: 'werewolf', game: 'werewolf', players: 8})).players.length, 8);
  const {shoe_id} = await riffle.post('/shoes', {body: {deck: 'standard52'}});
  assert.equal((await draw(riffle, shoe_id, 3)).length, 3);
  const {cards} = await riffle.deck('standard52', {decks: 2, draw: 60}, randomUUID());
  assert.deepEqual([cards.length, cards[0].code.length, typeof cards[0].name.zh], [60, 2, 'string']);
  assert.ok(['ann', 'bob'].includes((await pick(riffle, ['ann', 'bob'])).winners[0]));
});

test('the package is there for require as well', async () => {
  const required = createRequire(import.meta.url)('riffle'),
    riffle = new required.Riffle(url, {token: process.env.RIFFLE_TOKEN_TABLE});
  const answer = await riffle.post('/shuffle', {body: {deck: 'uno108', reveal: 'now'}});
  const proof = await riffle.get('/audits/{id}/proof', {params: {path: {id: answer.audit_id}}});
  assert.equal((await required.verify(proof, {key: await riffle.get('/log/key'), answer})).verdict, 'verified');
});

const busy = async () => new Response('', {status: 503, headers: {'Retry-After': '3600'}});

test('a Retry-After beyond the patience of the client is not waited for', async () => {
  let asked = 0;
  const riffle = new Riffle('http://localhost', {
    fetch: () => {
      asked++;
      return busy();
    },
  });
  await assert.rejects(riffle.get('/decks'), {status: 503});
  assert.equal(asked, 1);
});

test('a signal ends the wait, and its reason is the error', async () => {
  const riffle = new Riffle('http://localhost', {patience: 86_400_000, fetch: busy});
  const asked = new AbortController(),
    answer = riffle.get('/decks', {signal: asked.signal});
  setTimeout(() => asked.abort(new Error('the table was closed')), 10);
  await assert.rejects(answer, {message: 'the table was closed'});
});

test('a failing network is an error of its own when patience ends, and is not retried without', async () => {
  const riffle = new Riffle('http://localhost:1', {patience: 0});
  const error = await riffle.post('/shuffle', {body: {size: 2}}).then(assert.fail, (error) => error);
  assert(error instanceof UnreachableError && !error.timedOut, String(error));
  assert.equal(error.cause.name, 'TypeError');
  assert.match(error.message, /^no answer after 1 attempt: ./);
});

// A service that answers after so many milliseconds, and with the rest of the answer after so many more.
const slow = (first, then) => async (request) => {
  const {signal} = request,
    wait = (milliseconds) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(resolve, milliseconds);
        signal.addEventListener('abort', () => reject(signal.reason) ?? clearTimeout(timer));
      });
  await wait(first);
  const encode = (text) => new TextEncoder().encode(text);
  const body = async function* () {
    yield encode('{"decks":');
    await wait(then);
    yield encode('[]}');
  };
  return new Response(ReadableStream.from(body()), {headers: {'Content-Type': 'application/json'}});
};

test('a silent service is given up, before its answer and in the middle of it', async () => {
  for (const [first, then] of [
    [3_600_000, 0],
    [0, 3_600_000],
  ]) {
    const riffle = new Riffle('http://localhost', {fetch: slow(first, then), patience: 0, timeout: 30});
    const error = await riffle.get('/decks').then(assert.fail, (error) => error);
    assert(error instanceof UnreachableError && error.timedOut, String(error));
    const gone = riffle.get('/decks', {timeout: Infinity, signal: AbortSignal.timeout(30)});
    await assert.rejects(gone, {name: 'TimeoutError'}); // the reason of the signal
  }
  const riffle = new Riffle('http://localhost', {fetch: slow(40, 40), patience: 0, timeout: 1});
  assert.deepEqual(await riffle.get('/decks', {timeout: 5000}), {decks: []});
});

test('hooks see every attempt and can set its headers', async () => {
  const answers = [
    () => Promise.reject(new TypeError('the cable is cut')),
    () => new Response('', {status: 503}),
    ({headers}) => Response.json({traced: headers.get('traceparent')}),
  ];
  const seen = [];
  const riffle = new Riffle('http://localhost', {
    fetch: async (request) => answers.shift()(request),
    onRequest: ({request, attempt}) => request.headers.set('traceparent', `trace-${attempt}`),
    onResponse: ({path, request, attempt, status, error, milliseconds, retryIn}) => {
      assert(milliseconds >= 0);
      seen.push([request.method, path, attempt, status ?? error.message, retryIn > 0]);
    },
  });
  const params = {path: {id: randomUUID()}};
  assert.deepEqual(await riffle.post('/shoes/{id}/draw', {params, body: {count: 1}}), {traced: 'trace-3'});
  assert.deepEqual(seen, [
    ['POST', '/shoes/{id}/draw', 1, 'the cable is cut', true],
    ['POST', '/shoes/{id}/draw', 2, 503, true],
    ['POST', '/shoes/{id}/draw', 3, 200, false],
  ]);
});

test('what others answer in place of the service is an error that shows it', async () => {
  const page = '<h1>Log in</h1>',
    problem = {'Content-Type': 'application/problem+json'};
  for (const [body, status, headers, shown] of [
    [page, 200, {'Content-Type': 'text/html'}, page],
    ['{"detail": ', 422, problem, '{"detail": '],
    ['null', 422, problem, 'null'],
    ['{}', 422, problem, '{}'],
    ['{"message":"no route"}', 404, {'Content-Type': 'application/json'}, '{"message":"no route"}'],
    ['', 301, {Location: 'https://riffle.example/shuffle'}, 'a redirect to https://riffle.example/shuffle'],
  ]) {
    const answer = (request) => {
      assert.equal(request.redirect, 'manual');
      return new Response(body, {status, headers});
    };
    const riffle = new Riffle('http://localhost', {fetch: async (request) => answer(request)});
    const error = await riffle.post('/shuffle', {body: {size: 2}}).then(assert.fail, (error) => error);
    assert(error instanceof RiffleError, String(error));
    assert.deepEqual([error.status, error.problem.detail], [status, `This is no answer of the service: ${shown}`]);
  }
  const headers = {'Content-Type': 'application/problem+json; charset=utf-8'};
  const refused = async () => Response.json({status: 422, title: 'No', detail: 'no cards'}, {status: 422, headers});
  await assert.rejects(new Riffle('http://localhost', {fetch: refused}).get('/decks'), {message: '422 No: no cards'});
});

test('a signal that a hook aborts is not waited for', {timeout: 5000}, async () => {
  const closed = new AbortController(),
    riffle = new Riffle('http://localhost', {
      fetch: busy,
      patience: 86_400_000,
      onResponse: () => closed.abort(new Error('the table was closed')),
    });
  await assert.rejects(riffle.get('/decks', {signal: closed.signal}), {message: 'the table was closed'});
});

test('a base URL without a scheme is refused at once', () => {
  for (const url of ['localhost:8080', 'riffle.example:443/poker', 'ftp://localhost'])
    assert.throws(() => new Riffle(url), {name: 'TypeError', message: /https:\/\/riffle.example/});
  for (const url of ['HTTP://localhost', new URL('https://localhost'), '/poker', '']) new Riffle(url);
});
