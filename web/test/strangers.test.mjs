// Code and text of strangers: a function that comes with a link, files that were put into a cache,
// and text in the place of an id. None of it reaches the log, the token, or the pages.
import assert from 'node:assert/strict';
import {createServer} from 'node:http';
import {after, before, test} from 'node:test';
import {browse, everyLook, open, shuffle, sizeOf, start, startWithKey} from './service.mjs';

let service, browser, elsewhere, called;

before(async () => {
  [browser, service] = await Promise.all([browse(), start()]);
  elsewhere = createServer((request, answer) => {
    called.push(request.url);
    answer.setHeader('Access-Control-Allow-Origin', '*').end();
  });
  elsewhere.on('upgrade', (request, socket) => {
    called.push(request.url);
    socket.destroy();
  });
  await new Promise((listening) => {
    elsewhere.listen(0, '127.0.0.1', listening);
  });
});
after(async () => {
  elsewhere.closeAllConnections();
  elsewhere.close();
  await Promise.all([browser.close(), service.stop()]);
});

const linkTo = (code, runs = 1, n = 3) => `/fairness#${new URLSearchParams({n, shuffle: 'own', runs, code})}`;

/**
 * hostile is a function that tries all ways out of its worker, and reports those that are open as
 * its error. It keeps the worker from saying that it is done.
 */
const hostile = (here, there) => `
if (self.tried) return a;
self.tried = true;
const send = self.postMessage.bind(self), found = {}, sendPort = MessagePort.prototype.postMessage;
let port;
const report = (message) => port ? sendPort.call(port, message) : send(message);
self.postMessage = () => {};
MessagePort.prototype.postMessage = function () { port = this; };
const here = ${JSON.stringify(here)}, there = ${JSON.stringify(there)};
const opened = (target, yes, no = 'error') => new Promise((good, bad) => {
  target.addEventListener(yes, good);
  target.addEventListener(no, bad);
});
const script = (text) => URL.createObjectURL(new Blob([text], {type: 'text/javascript'}));
const asks = (url) => new Promise((good, bad) => {
  const code = "fetch('" + url + "', {mode: 'no-cors'}).then(() => postMessage(0), () => postMessage(1))";
  const worker = new Worker(script(code));
  worker.onmessage = ({data}) => data === 0 ? good() : bad();
  worker.onerror = bad;
});
const ways = {
  fetchHere: () => fetch(here + '/log/key'),
  fetchThere: () => fetch(there + '/fetch', {mode: 'no-cors'}),
  shuffle: () => fetch(here + '/decks/standard52', {mode: 'no-cors'}),
  xhr: () => { const request = new XMLHttpRequest(); request.open('GET', here + '/log/key', false); request.send(); },
  socket: () => opened(new WebSocket(there.replace('http', 'ws') + '/socket'), 'open'),
  events: () => opened(new EventSource(there + '/events'), 'open'),
  transport: () => new WebTransport(there.replace('http', 'https')).ready,
  importHere: () => importScripts(here + '/openapi.yaml'),
  importThere: () => importScripts(there + '/import'),
  importData: () => importScripts('data:text/javascript,1'),
  importBlob: () => importScripts(script('1')),
  moduleHere: () => import(here + '/verify-worker.js'),
  moduleThere: () => import(there + '/module'),
  moduleData: () => import('data:text/javascript,1'),
  font: () => new FontFace('x', 'url(' + there + '/font)').load(),
  cache: () => caches.open('stranger').then((cache) => cache.put(here + '/verify', new Response('stranger'))),
  database: () => opened(indexedDB.open('stranger'), 'success'),
  files: () => navigator.storage.getDirectory(),
  locks: () => navigator.locks.request('stranger', () => {}),
  cookies: () => cookieStore.get('language').then((found) => found.value),
  local: () => localStorage.length, session: () => sessionStorage.length, cookie: () => document.cookie,
  workers: () => navigator.serviceWorker.getRegistrations(),
  peers: () => new RTCPeerConnection(),
  shared: () => new SharedWorker(script('')),
  workerHere: () => asks(here + '/log/key'),
  workerThere: () => asks(there + '/worker'),
  workerOf: () => opened(new Worker(here + '/verify-worker.js'), 'message'),
  top: () => top.location,
  parent: () => parent.location,
  open: () => open(there + '/open'),
  beacon: () => navigator.sendBeacon(there + '/beacon', ''),
};
try { new BroadcastChannel('stranger').postMessage('stranger'); } catch {}
Promise.all(Object.keys(ways).map(async (name) => {
  const waiting = new Promise((good, bad) => setTimeout(bad, 2000));
  try { await Promise.race([ways[name](), waiting]); found[name] = true; } catch {}
})).then(() => report({error: 'open: [' + Object.keys(found) + ']'}));
return a;`;

test('a function that comes with a link runs when asked for, and reaches nothing', async () => {
  called = [];
  const there = `http://localhost:${elsewhere.address().port}`;
  const {page, close} = await open(browser, `${service.base}/verify`);
  const {audit_id: id} = await shuffle(service.base, {size: 5, reveal: 'now'}); // the log has a record
  await page.evaluate(() => {
    sessionStorage.setItem('riffle-token', 'secret');
    document.cookie = 'language=en; path=/';
  });
  const size = await sizeOf(service.base);
  const listener = await page.context().newPage();
  await listener.goto(`${service.base}/explore`);
  await listener.waitForFunction(() => localStorage.length > 0); // the page has kept the checkpoint
  await listener.goto(`${service.base}/verify`); // which asks for nothing from time to time
  await listener.evaluate(() => {
    self.heard = [];
    new BroadcastChannel('stranger').onmessage = ({data}) => self.heard.push(data);
  });
  const before = await stored(listener);
  await page.goto(service.base + linkTo(hostile(service.base, there)), {waitUntil: 'networkidle'});
  assert.deepEqual([page.workers().length, page.frames().length], [0, 1]);
  const asked = [];
  page.context().on('request', (request) => asked.push(request));
  await page.click('button.main');
  await page.getByText('open: [').waitFor();
  assert.match(await page.locator('[role=alert]').textContent(), /open: \[\]/);
  // A request that the policy refuses is reported, and never sent.
  const sent = asked.filter((request) => request.failure()?.errorText !== 'csp').map((request) => request.url());
  assert.deepEqual(
    sent.filter((url) => !url.startsWith('blob:') && !url.startsWith(`${service.base}/static/`)),
    [],
  );
  assert.deepEqual(called, []);
  assert.deepEqual(await listener.evaluate(() => self.heard), []);
  assert.deepEqual(await stored(listener), before);
  assert.equal(await sizeOf(service.base), size);
  await page.getByText('came with the link').waitFor();
  await page.goto(`${service.base}/verify?id=${id}`);
  await page.waitForSelector('.verdict.verified');
  await close();
});

/** stored returns the names of what this origin has stored. */
const stored = (page) =>
  page.evaluate(async () => [
    ...(await caches.keys()).filter((name) => !name.startsWith('verify')),
    ...(await indexedDB.databases()).map(({name}) => name),
    ...Object.keys(localStorage),
  ]);

test('the frame that runs a function of strangers is of no origin', async () => {
  const {page, close} = await open(browser, service.base + linkTo('for (;;) {}'));
  await page.click('button.main');
  const frame = await waitFor(() => page.frames().find((frame) => frame !== page.mainFrame()));
  await waitFor(() => page.workers().some((worker) => worker.url().startsWith('blob:')));
  const reached = await frame.evaluate(async (here) => {
    const found = [];
    const ways = {
      origin: () => {
        if (self.origin === 'null') throw new Error();
      },
      local: () => localStorage,
      session: () => sessionStorage,
      cookie: () => document.cookie,
      parent: () => parent.document,
      top: () => {
        top.location = 'about:blank';
      },
      popup: () => {
        if (!window.open('about:blank')) throw new Error();
      },
      caches: () => caches.keys(),
      fetch: () => fetch(`${here}/log/key`, {mode: 'no-cors'}),
      picture: () => {
        const image = new Image();
        image.src = `${here}/cards/standard52/AS.svg`;
        return image.decode();
      },
      inline: () => {
        const script = document.createElement('script');
        script.textContent = 'self.ran = true';
        document.head.append(script);
        if (!self.ran) throw new Error();
      },
      beacon: () =>
        new Promise((_, bad) => {
          document.addEventListener('securitypolicyviolation', bad);
          navigator.sendBeacon(`${here}/shuffle`, '{}');
        }),
      workers: () => navigator.serviceWorker.getRegistrations(),
      database: () =>
        new Promise((good, bad) => {
          const asked = indexedDB.open('x');
          asked.onsuccess = good;
          asked.onerror = bad;
        }),
      form: () =>
        new Promise((_, bad) => {
          const form = document.createElement('form');
          document.addEventListener('securitypolicyviolation', bad);
          form.action = `${here}/shuffle`;
          document.body.append(form);
          form.submit();
          setTimeout(bad, 500); // the sandbox reports nothing
        }),
    };
    for (const name of Object.keys(ways)) {
      try {
        await ways[name]();
        found.push(name);
      } catch {}
    }
    return found;
  }, service.base);
  assert.deepEqual(reached, []);
  // An endless loop ends with Stop, and with its frame.
  await page.getByText('Stop').click();
  await waitFor(() => page.workers().length === 0 && page.frames().length === 1);
  assert.ok(await page.locator('button.main').isEnabled());
  await close();
});

/** waitFor waits until a function returns a value. */
async function waitFor(get) {
  for (let i = 0; i < 600; i++) {
    const found = get();
    if (found) return found;
    await new Promise((done) => setTimeout(done, 50));
  }
  throw new Error(`never: ${get}`);
}

test('what a function of strangers sends is nothing but orders', async () => {
  const {page, wrong, close} = await open(browser, `${service.base}/fairness`);
  const forged = [
    'null',
    '"x"',
    '{}',
    '{orders: "x"}',
    '{orders: [0, 1, 2]}',
    '{orders: new Uint8Array(0), last: true}',
    '{orders: new Uint8Array(3)}',
    '{orders: new Uint16Array([0, 1, 2])}',
    '{orders: Uint8Array.of(0, 1, 3)}',
    '{orders: new Uint8Array(1 << 26)}',
    '{orders: {length: 3, 0: 0, 1: 1, 2: 2}}',
    '{measurement: {runs: 9}, done: true}',
    '{error: {}}',
    '{refused: {status: 401, message: "x"}, done: true}',
  ];
  for (const message of forged) {
    const code = `const send = MessagePort.prototype.postMessage;
      MessagePort.prototype.postMessage = function () { send.call(this, ${message}); };
      return a;`;
    await page.goto(service.base + linkTo(code));
    await page.click('button.main');
    await page.locator('[role=alert]').getByText('The function could not be run.').waitFor();
    assert.equal(await page.locator('.verdict, input[name=token]').count(), 0, message);
    await page.goto('about:blank');
  }
  await page.goto(service.base + linkTo('throw "x".repeat(1e6);'));
  await page.click('button.main');
  assert.ok((await page.locator('[role=alert]').textContent()).length < 1000);
  assert.deepEqual(wrong, []);
  await close();
});

/** kept waits until the worker of a page has what it keeps. */
const kept = (page) =>
  page.waitForFunction(async () => {
    const {active} = await navigator.serviceWorker.ready,
      urls = [];
    for (const name of await caches.keys())
      urls.push(...(await (await caches.open(name)).keys()).map(({url}) => new URL(url).pathname));
    return active.state === 'activated' && urls.filter((path) => path.startsWith('/static/')).length > 3;
  });

test('what was put into a cache is never served', async () => {
  const {page, close} = await open(browser, `${service.base}/verify`);
  await kept(page);
  const poison = () =>
    page.evaluate(async () => {
      const files = performance
        .getEntriesByType('resource')
        .map(({name}) => name)
        .filter((name) => name.includes('/static/'));
      for (const name of ['a', 'verify', ...(await caches.keys())]) {
        const cache = await caches.open(name);
        for (const url of [
          ...files,
          ...(await cache.keys()).map(({url}) => url),
          location.origin + location.pathname,
        ]) {
          const html = url.endsWith('/verify'),
            type = html ? 'text/html' : url.endsWith('.css') ? 'text/css' : 'text/javascript';
          await cache.put(
            url,
            new Response(html ? '<title>poison</title>' : 'localStorage.poison = 1', {
              headers: {'Content-Type': type, Refresh: '0; url=/explore'},
            }),
          );
        }
      }
    });
  await poison();
  const other = await page.context().newPage(),
    {audit_id: id} = await shuffle(service.base, {size: 5, reveal: 'now'});
  await other.goto(`${service.base}/verify?id=${id}`);
  await other.waitForSelector('.verdict.verified', {timeout: 10_000});
  assert.equal(await other.evaluate(() => localStorage.getItem('poison')), null);
  await poison();
  await page.context().setOffline(true);
  await assert.rejects(other.reload()); // nothing is better than something else
  assert.equal(await page.evaluate(() => localStorage.getItem('poison')), null);
  await close();
});

test('the worker deletes what an earlier release has kept, and nothing else', async (t) => {
  const own = await start();
  t.after(own.stop);
  const {page, wrong, close} = await open(browser, `${own.base}/docs`), // which starts no worker
    earlier = `verify ${'0'.repeat(16)}`;
  await page.evaluate(async (earlier) => {
    await caches.open('of another program');
    await caches.open(earlier);
  }, earlier);
  await page.goto(`${own.base}/verify`);
  await kept(page);
  // A page may take the worker for active before that.
  await page.waitForFunction(async (name) => !(await caches.has(name)), earlier);
  await page.context().setOffline(true);
  await page.goto(`${own.base}/verify`);
  await page.fill('textarea', '{"record": "{}"}');
  await page.click('button.main');
  await page.waitForSelector('.verdict');
  assert.ok((await page.evaluate(() => caches.keys())).includes('of another program'));
  assert.deepEqual(
    wrong.filter((message) => !message.includes('ERR_CONNECTION_REFUSED')),
    [],
  );
  await close();
});

const id = '00000000-0000-4000-8000-000000000000';

// Text that is no id, and would lead elsewhere in its place: to a deal, which writes a record, or
// to a deck of deckofcardsapi.
const strange = [
  '',
  '..',
  '../decks/standard52#',
  '../decks/standard52%23',
  '../api/deck/new/%23',
  '..%2fdecks%2fstandard52%3f',
  '%2e%2e/decks/standard52?',
  '#',
  '?',
];
const stranger = [
  ...strange,
  '.',
  '%2e%2e',
  '../decks/standard52%3f',
  '../../decks/standard52',
  '/decks/standard52',
  '//elsewhere.example/x',
  '\\..\\decks\\standard52#',
  'a/b',
  `${id}/../../decks/standard52#`,
  `${id}%2f..%2f..%2fdecks%2fstandard52%23`,
  `${id}#`,
  `${id}%23`,
  `${id}%3fproof`,
  'constructor',
  '__proto__',
];
const links = [
  ...stranger.flatMap((id) => [`/verify?id=${id}`, `/a/${id}`, `/#shoe=${id}`]),
  ...strange.map((id) => `/verify?id=${encodeURIComponent(id)}`),
  ...['..', '../decks/standard52#', '..%2fdecks%2fstandard52%3f', '?'].flatMap((id) => [
    `/#${id}`,
    `/fairness#shuffle=own&n=${id}&code=${id}`,
    `/explore?id=${id}&kind=${id}&since=${id}&until=${id}&before=${id}#${id}`,
    `/docs#/${id}/${id}`,
    `/docs?x=${id}#/shuffles/${id}`,
  ]),
  ...['constructor', '__proto__', '..'].map((id) => `/fairness#shuffle=${id}`),
];
// The pages may send these requests, whatever the link.
const expected = [
  /^GET \/(verify|explore|fairness|docs|a\/[^/]*)?(\?.*)?$/,
  /^GET \/static\/[\w-]+\.(js|css)$/,
  /^GET \/verify-worker\.js$/,
  /^GET \/decks$/,
  /^GET \/cards\/[a-z]+\d+\/[\dA-Za-z]+\.svg$/, // of the games that the table offers
  /^GET \/log\/(key|checkpoint)$/,
  /^GET \/commitments\?status=(void|late|open)&limit=1000$/,
  /^GET \/commitments\?status=void&limit=1000&after=[\da-f]{8}-[\da-f]{4}-7000-8000-0{12}$/, // of the last day
  new RegExp(`^GET /(shoes/${id}|shoes/${id}/proof|audits/${id}/proof)$`),
];

test('no link of a page leads its requests elsewhere', async (t) => {
  const own = await startWithKey('shuffle, read'),
    {token, base} = own;
  t.after(own.stop);
  const context = await browser.newContext(),
    wrong = [],
    rest = links.filter((_, i) => everyLook || i % 3 === 0);
  await context.addInitScript((token) => {
    if (origin !== 'null') sessionStorage.setItem('riffle-token', token);
  }, token);
  const follow = async () => {
    const page = await context.newPage();
    let link;
    page.on('pageerror', (error) => wrong.push(`${link}: ${error}`));
    page.on('request', (request) => {
      const {protocol, origin, pathname, search} = new URL(request.url()),
        asked = origin === base ? `${request.method()} ${pathname}${search}` : request.url();
      if (!/^(data|blob):$/.test(protocol) && !expected.some((form) => form.test(asked)))
        wrong.push(`${link}: ${asked}`);
    });
    for (link = rest.pop(); link !== undefined; link = rest.pop()) {
      await page.goto('about:blank');
      await page.goto(base + link, {waitUntil: 'networkidle'});
      if (!(await page.locator('main h1').first().isVisible())) wrong.push(`${link}: nothing is shown`);
    }
  };
  await Promise.all([follow(), follow(), follow(), follow()]);
  assert.deepEqual(wrong, []);
  assert.equal(await sizeOf(base, {Authorization: `Bearer ${token}`}), 0);
  await context.close();
});
