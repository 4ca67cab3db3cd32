// Text of strangers in the place of an id. None of it reaches the log or the token.
import assert from 'node:assert/strict';
import {after, before, test} from 'node:test';
import {browse, startWithKey} from './service.mjs';

let browser;

before(async () => { browser = await browse(); });
after(async () => { await browser.close(); });

/** sizeOf returns the number of records of a log. */
const sizeOf = async (base, headers = {}) => Number((await (await fetch(`${base}/log/checkpoint`, {headers})).text()).split('\n')[1]);

const id = '00000000-0000-4000-8000-000000000000';

// Text that is no id, and would lead elsewhere in its place: to a deal, which writes a record, or to a deck of deckofcardsapi.
const strange = ['', '..', '../decks/standard52#', '../decks/standard52%23', '../api/deck/new/%23', '..%2fdecks%2fstandard52%3f', '%2e%2e/decks/standard52?', '#', '?'];
const stranger = [...strange, '.', '%2e%2e', '../decks/standard52%3f', '../../decks/standard52', '/decks/standard52', '//elsewhere.example/x', '\\..\\decks\\standard52#', 'a/b',
  `${id}/../../decks/standard52#`, `${id}%2f..%2f..%2fdecks%2fstandard52%23`, `${id}#`, `${id}%23`, `${id}%3fproof`, 'constructor', '__proto__'];
const links = [
  ...stranger.flatMap((id) => [`/verify?id=${id}`, `/#shoe=${id}`]),
  ...strange.map((id) => `/verify?id=${encodeURIComponent(id)}`),
  ...['..', '../decks/standard52#', '..%2fdecks%2fstandard52%3f', '?'].flatMap((id) => [`/#${id}`, `/fairness#shuffle=own&n=${id}&code=${id}`, `/explore?id=${id}#${id}`, `/docs#/${id}/${id}`, `/docs?url=${id}&configUrl=${id}#/shuffles/${id}`]),
  ...['constructor', '__proto__', '..'].map((id) => `/fairness#shuffle=${id}`),
];
// The pages may send these requests, whatever the link.
const expected = [
  /^GET \/(verify|explore|fairness|docs)?(\?.*)?$/, /^GET \/static\/[\w-]+\.(js|css)$/, /^GET \/verify-worker\.js$/, /^GET \/decks$/, /^GET \/log\/(key|checkpoint)$/,
  /^GET \/commitments\?status=(void|late|open)$/, /^(GET|HEAD) \/openapi\.yaml$/, new RegExp(`^GET /(shoes/${id}|shoes/${id}/proof|audits/${id}/proof)$`),
];

test('no link of a page leads its requests elsewhere', async (t) => {
  const own = await startWithKey('shuffle, read'), {token, base} = own;
  t.after(own.stop);
  const context = await browser.newContext(), wrong = [], rest = [...links];
  await context.addInitScript((token) => { if (origin !== 'null') sessionStorage.setItem('riffle-token', token); }, token);
  const follow = async () => {
    const page = await context.newPage();
    let link;
    page.on('pageerror', (error) => wrong.push(`${link}: ${error}`));
    page.on('request', (request) => {
      const {protocol, origin, pathname, search} = new URL(request.url()), asked = origin === base ? `${request.method()} ${pathname}${search}` : request.url();
      if (!/^(data|blob):$/.test(protocol) && !expected.some((form) => form.test(asked))) wrong.push(`${link}: ${asked}`);
    });
    for (link = rest.pop(); link !== undefined; link = rest.pop()) {
      await page.goto('about:blank');
      await page.goto(base + link, {waitUntil: 'networkidle'});
      if (!await page.locator('main h1').first().isVisible() && !await page.locator('.swagger-ui').isVisible()) wrong.push(`${link}: nothing is shown`);
    }
  };
  await Promise.all([follow(), follow(), follow(), follow()]);
  assert.deepEqual(wrong, []);
  assert.equal(await sizeOf(base, {Authorization: `Bearer ${token}`}), 0);
  await context.close();
});
