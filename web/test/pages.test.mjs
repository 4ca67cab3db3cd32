// The pages in a real browser, over the real service.
import assert from 'node:assert/strict';
import {mkdtemp, readFile, rm, truncate, writeFile} from 'node:fs/promises';
import {createRequire} from 'node:module';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {browse, give, everyLook, more, open, shuffle, start, startWithKey} from './service.mjs';

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const paths = ['/', '/verify', '/fairness', '/explore', '/docs', '/docs/api/shuffle', '/docs/guides/shuffle-and-draw'];
let service, browser, folder;

before(async () => {
  [browser, service, folder] = await Promise.all([browse(), start(), mkdtemp(join(tmpdir(), 'riffle-files-'))]);
});
after(async () => {
  await browser.close();
  await service.stop();
  await rm(folder, {recursive: true});
});

/** violations returns what axe finds on a page of WCAG 2.2 AA. */
async function violations(page) {
  const found = await page.evaluate(async () =>
    axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']}),
  );
  return found.violations.map(
    ({id, nodes}) =>
      `${id}: ${nodes
        .slice(0, 3)
        .map(({html}) => html.slice(0, 120))
        .join(' | ')}`,
  );
}

// Any two of width, language and theme are in one of these together. Each page has one of them, and with
// RIFFLE_PAGES=all every one.
const looks = [
  [390, 'en', 'dark'],
  [390, 'zh-CN', 'light'],
  [1200, 'en', 'light'],
  [1200, 'zh-CN', 'dark'],
];
for (const [i, path] of paths.entries()) {
  for (const [width, locale, colorScheme] of everyLook ? looks : [looks[i % looks.length]]) {
    test(`${path} at ${width} px, ${locale}, ${colorScheme}`, async () => {
      // axe is added past the policy of the page, which would refuse it.
      const {page, wrong, close} = await open(browser, service.base + path, {
        viewport: {width, height: 900},
        locale,
        colorScheme,
        bypassCSP: true,
      });
      await page.addScriptTag({path: axe});
      assert.deepEqual(await violations(page), []);
      assert.ok(
        await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
        'the page is wider than the window',
      );
      assert.deepEqual(wrong, []);
      await close();
    });
  }
}

test('a shuffle is dealt and checked on the table', async () => {
  const {page, wrong, close} = await open(browser, service.base);
  await more(page);
  await page.selectOption('form select', 'standard54');
  await page.selectOption('#hands', 'doudizhu');
  await page.click('button.main');
  await page.waitForSelector('.hands');
  assert.equal(await page.locator('.felt img').count(), 54);
  await page.getByText('Check it here').click();
  await page.waitForSelector('.verdict.verified');
  for (const [language, url] of [
    ['curl', `curl ${service.base}/shuffle`],
    ['TypeScript', `fetch('${service.base}/shuffle'`],
    ['Python', `Request("${service.base}/shuffle"`],
  ]) {
    await page.getByRole('tab', {name: language}).click();
    const program = await page.locator('#program').textContent();
    assert.ok(program.includes(url));
    assert.doesNotMatch(program, /reveal/, 'a game would show every hand');
  }
  assert.deepEqual(wrong, []);
  await close();
});

test('roles lie face down', async () => {
  const {page, close} = await open(browser, `${service.base}/`);
  await more(page);
  await page.selectOption('form select', 'werewolf12');
  await page.click('button.main');
  await page.waitForSelector('.cards button');
  assert.equal(await page.locator('.cards button').count(), 12);
  await page.getByText('Touch a card to turn it over.').waitFor();
  await page.locator('.cards button').first().press('Enter');
  assert.equal(await page.locator('.cards button').count(), 11);
  await close();
});

test('a deal and its setting stay when the page is loaded again or changes its language', async () => {
  const {page, wrong, close} = await open(browser, `${service.base}/?deck=standard54&hands=doudizhu`);
  await page.fill('input[name=client_seed]', 'ann & bob');
  await page.click('button.main');
  await page.waitForSelector('.hand img[src]');
  const id = await page.locator('.facts a').textContent(),
    cards = () => page.locator('.felt img').evaluateAll((images) => images.map(({dataset}) => dataset.code)),
    dealt = await cards();
  assert.equal(new URL(page.url()).search, `?client_seed=ann+%26+bob&deck=standard54&hands=doudizhu&deal=${id}`);
  await page.click('#language');
  await page.getByRole('heading', {name: '洗一副牌'}).waitFor();
  await page.waitForSelector('.hand img[src]');
  assert.deepEqual(await cards(), dealt);
  await page.waitForSelector('.fingerprint a.verified');
  assert.equal(await page.inputValue('input[name=client_seed]'), 'ann & bob');
  assert.equal(await page.inputValue('#hands'), 'doudizhu');
  await more(page);
  await page.selectOption('form select', 'set81');
  await page.waitForURL(`${service.base}/?client_seed=ann+%26+bob&deck=set81&deal=${id}`);
  await page.reload();
  await page.waitForSelector('.hand img[src]');
  assert.deepEqual(await cards(), dealt); // fields ask for the next deal
  assert.equal(await page.inputValue('form select'), 'set81');
  assert.deepEqual(wrong, []);
  await close();
});

test('a path that is not there is a page for browsers, and pictures are compressed', async () => {
  for (const path of ['/nowhere', '/docs/nowhere']) {
    const {page, wrong, close} = await open(browser, service.base + path, {locale: 'zh-CN'});
    await page.getByRole('heading', {name: '这里什么也没有'}).waitFor();
    assert.match(await page.locator('link[rel=icon]').getAttribute('href'), /svg/);
    await page.getByRole('link', {name: '回到牌桌'}).click();
    await page.getByRole('heading', {name: '洗一副牌'}).waitFor();
    assert.deepEqual(wrong.length, 1, 'the status 404'); // which Chromium writes to the console
    await close();
  }
  const answer = await fetch(`${service.base}/nowhere`);
  assert.equal(answer.headers.get('content-type'), 'application/problem+json');
  for (const path of ['/cards/standard52', '/cards/standard52/KS.svg'])
    assert.equal((await fetch(service.base + path)).headers.get('content-encoding'), 'gzip', path);
});

test('links are copied', async () => {
  const {audit_id: id, log_index: index} = await shuffle(service.base, {size: 5, reveal: 'now'});
  const {page, wrong, close} = await open(browser, `${service.base}/verify?id=${id}`, {
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  for (const [from, link] of [
    [`/verify?id=${id}`, `/a/${id}`],
    [`/a/${id}`, `/a/${id}`],
    [`/explore#${index}`, `/explore?record=${index}`],
  ]) {
    await page.goto(service.base + from);
    await page.getByText('Copy the link').click();
    await page.getByText('Copied').waitFor();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), service.base + link);
  }
  assert.deepEqual(wrong, []);
  await close();
});

test('a refused request does not change the table', async () => {
  const {page, close} = await open(browser, `${service.base}/`);
  await more(page);
  await page.fill('input[name=draw]', '99');
  await page.click('button.main');
  await page.waitForSelector('[role=alert]');
  assert.match(await page.locator('[role=alert]').textContent(), /99/);
  assert.ok(await page.locator('button.main').isEnabled());
  await page.fill('input[name=draw]', '-1');
  await page.click('form summary');
  await page.click('button.main');
  await page.locator('input[name=draw]:invalid').waitFor(); // a folded field is shown when it is wrong
  await close();
});

test('hostile text is shown as text', async () => {
  const reference = '<img src=x onerror=alert(1)>';
  const {audit_id: id} = await shuffle(service.base, {
    items: ['<script>alert(1)</script>', 'b'],
    reference,
    reveal: 'now',
  });
  for (const path of [`/verify?id=${id}`, '/explore']) {
    const {page, wrong, close} = await open(browser, service.base + path);
    await page.getByText(reference).first().waitFor();
    assert.equal(await page.locator('img[src=x]').count(), 0);
    assert.deepEqual(wrong, []);
    await close();
  }
});

test('an audit link is opened, seen, checked and printed', async () => {
  const {audit_id: id} = await shuffle(service.base, {deck: 'standard52', reveal: 'now'});
  const {page, wrong, close} = await open(browser, `${service.base}/verify?id=${id}`);
  await page.waitForSelector('.verdict.verified');
  assert.ok(await page.locator('svg.code').isVisible());
  assert.ok((await page.pdf()).length > 10_000);
  assert.deepEqual(wrong, []);
  await close();
});

test('what is no proof gets a clear message, and the page lives on', async () => {
  const {audit_id: id} = await shuffle(service.base, {size: 5, reveal: 'now'});
  const {page, wrong, close} = await open(browser, `${service.base}/verify`);
  const large = join(folder, 'large'),
    binary = join(folder, 'binary');
  await writeFile(large, '');
  await truncate(large, 1 << 30);
  await writeFile(binary, Uint8Array.of(0xff, 0xfe, 0));
  for (const [file, message] of [
    [large, /64 MiB/],
    [binary, /UTF-8/],
  ]) {
    await page.setInputFiles('input[name=proof]', file);
    await page.getByText(message).waitFor();
  }
  await page.fill('textarea', `https://elsewhere.example/verify?id=${id}`);
  await page.click('button.main');
  await page.getByText('This is a link to another log').waitFor();
  for (const given of [id, `${service.base}/verify?id=${id}&lang=en`, `${service.base}/a/${id}?hand=1`]) {
    await page.fill('textarea', given);
    await page.click('button.main');
    await page.waitForSelector('.verdict.verified');
    await page.getByText('Start anew').click();
  }
  assert.deepEqual(wrong, []);
  await close();
});

// verifiers/vectors.mjs gives all vectors to the same verifier.
test(`every ${everyLook ? '' : 'eighth '}vector gets its verdict`, async () => {
  const read = async (name) =>
    JSON.parse(await readFile(new URL(`../../testdata/riffle1/${name}.json`, import.meta.url))).verdicts;
  const verdicts = [
    ...(await read('verdicts')),
    ...(await read('witnesses')),
    ...(await read('books')),
    ...(await read('beacons')),
    ...(await read('players')),
  ];
  const {page, wrong, close} = await open(browser, `${service.base}/verify`);
  const different = [];
  for (const vector of verdicts.filter((_, i) => everyLook || i % 8 === 0)) {
    const {name, verdict, proof, hand_of: handOf} = vector,
      inputs = ['key', 'policy', 'answer', 'order', 'hand', 'items', 'salt'].filter((input) => input in vector);
    await give(page, {proof});
    await page.locator('.report .verdict').first().waitFor();
    // The page asks for what can be compared with the record, and for the hand when it is known that there are any.
    const asked = await page.locator('.given input').evaluateAll((fields) => fields.map(({name}) => name));
    if (handOf === undefined && inputs.every((input) => asked.includes(input))) {
      await give(page, Object.fromEntries(inputs.map((input) => [input, vector[input]])));
      for (const input of inputs) await page.locator('.given bdi').getByText(`${input}.json`).waitFor();
      const got = await page.locator('.report .verdict').first().getAttribute('class');
      if (got !== `verdict ${verdict}`) different.push(`${name}: ${got}, want ${verdict}`);
      const untold = await page.locator('.report .steps li:not(:has(.claim))').allTextContents();
      if (untold.length > 0) different.push(`${name}: not in plain words: ${untold}`);
    }
    await page.getByText('Start anew').click();
  }
  assert.deepEqual(different, []);
  assert.deepEqual(wrong, []);
  await close();
});

test('the page that checks works without a network', async () => {
  const own = await start();
  const {audit_id: id} = await shuffle(own.base, {size: 10, reveal: 'now'});
  let proof;
  do proof = await fetch(`${own.base}/audits/${id}/proof`);
  while (proof.status === 503);
  const {page, close} = await open(browser, `${own.base}/verify`);
  await page.evaluate(async () => {
    await navigator.serviceWorker.ready;
  });
  await own.stop();
  await page.reload();
  await page.fill('textarea', await proof.text());
  await page.click('button.main');
  await page.waitForSelector('.verdict');
  assert.match(await page.locator('.steps').textContent(), /signed/);
  await close();
});

test('the log only grew, or an alarm explains itself', async () => {
  const own = await start();
  await shuffle(own.base, {size: 5});
  const {page, wrong, close} = await open(browser, `${own.base}/explore`);
  await page.waitForSelector('table');
  for (let i = 0; i < 5; i++) await shuffle(own.base, {size: 5});
  await page.reload({waitUntil: 'networkidle'});
  await page.getByText('5 records more').waitFor();
  await page.fill('input[name=wanted]', '3');
  await page.click('form button');
  await page.getByText('The record is in the tree.').waitFor();
  assert.deepEqual(wrong, []);
  const other = await start(); // another log under the same address
  await shuffle(other.base, {size: 5});
  await page.route(`${own.base}/log/**`, async (route) =>
    route.fulfill({response: await route.fetch({url: route.request().url().replace(own.base, other.base)})}),
  );
  await page.reload({waitUntil: 'networkidle'});
  await page.getByText('This is another log').waitFor();
  await close();
  await own.stop();
  await other.stop();
});

test('the laboratory tells a fair shuffle from a wrong one', async () => {
  const {page, wrong, close} = await open(browser, `${service.base}/fairness#n=4&shuffle=fisher-yates&runs=40000`);
  for (const [shuffle, verdict] of [
    ['fisher-yates', 'verified'],
    ['any-place', 'failed'],
    ['off-by-one', 'failed'],
    ['sattolo', 'unchecked'],
    ['riffle-3', 'failed'],
  ]) {
    await page.selectOption('form select', shuffle);
    await page.click('button.main');
    await page.waitForSelector('button.main:enabled');
    assert.match(await page.locator('.verdict').getAttribute('class'), new RegExp(verdict), shuffle);
  }
  assert.deepEqual(wrong, []);
  await close();
});

test("a function of the reader's own is measured, and stopped if it never ends", async () => {
  const {page, close} = await open(browser, `${service.base}/fairness#n=5&shuffle=own&runs=2000`);
  for (const [code, shown] of [
    ['a.sort(() => Math.random() - 0.5)', '.verdict.failed'],
    ['for (;;) {}', '[role=alert]'],
    ['a.sort(() => Math.random() - 0.5); self.runs = (self.runs ?? 0) + 1; while (self.runs > 1500);', '[role=alert]'],
    ['return [1, 1, 1, 1, 1];', '[role=alert]'],
  ]) {
    await page.fill('textarea', code);
    await page.click('button.main');
    await page.waitForSelector(shown);
    assert.equal(await page.locator('.verdict').count(), shown === '[role=alert]' ? 0 : 1, 'an old verdict stays');
  }
  const requests = [];
  page.on('request', (request) => requests.push(request.url()));
  await page.fill('textarea', 'fetch("/shuffle"); return a;');
  await page.click('button.main');
  await page.waitForSelector('button.main:enabled');
  assert.deepEqual(
    requests.filter((url) => url.endsWith('/shuffle')),
    [],
  );
  await close();
});

test("a function of the reader's own is taken in every usual form", async () => {
  const {page, close} = await open(browser, `${service.base}/fairness`);
  const body =
    'for (let i = a.length - 1; i > 0; i--) { ' +
    'const j = Math.floor(Math.random() * (i + 1)); [a[i], a[j]] = [a[j], a[i]]; }';
  const sorted = 'a.map((x) => [Math.random(), x]).sort(([p], [q]) => p - q).map(([, x]) => x)';
  for (const [code, shown] of [
    [body, '.verdict.verified'],
    [`function shuffle(a) { ${body} }`, '.verdict.verified'],
    [`// mine\nexport default function shuffle(a) { ${body} return a; }\n`, '.verdict.verified'],
    [`const shuffle = (a) => ${sorted};`, '.verdict.verified'],
    [`(a) => ${sorted}`, '.verdict.verified'],
    [
      `const swap = (a, i, j) => { [a[i], a[j]] = [a[j], a[i]]; };\nexport const mix = (a) => { ${body} };`,
      '.verdict.verified',
    ],
    [`const shuffle = (a) => ${sorted};\nfunction helper() {}`, '.verdict.verified'],
    [`function mix(list) { return ${sorted.replace('a.', 'list.')}; }\nreturn mix(a);`, '.verdict.verified'],
    [`return Uint8Array.from(${sorted});`, '.verdict.verified'],
    [`module.exports = function shuffle(a) { ${body} return a; };`, '.verdict.verified'],
    [`function shuffle(a) { ${body} return a; }\nmodule.exports = { shuffle };`, '.verdict.verified'],
    [`Array.prototype.shuffle = function () { const a = this; ${body} };`, '.verdict.verified'],
    [sorted, '.verdict.verified'],
    ['function shuffle(a) { a.sort(() => Math.random() - 0.5); }', '.verdict.failed'],
    ['return a;', /as it was in 500 of 500 runs/],
    [`function shuffle(a) { a = ${sorted}; }`, /as it was in 500 of 500 runs/],
    ['const shuffle = (a) => a.reverse();', /the same order in 500 of 500 runs/],
    [`const shuffle = async (a) => ${sorted};`, /returns a promise/],
    ['const shuffle = (a) => a.slice(1);', /gave \[1,2,3,4\], which is not an order/],
    ['const shuffle = (a: number[]) => a;', /SyntaxError/],
  ]) {
    await page.goto('about:blank'); // what is shown is never of the case before
    await page.goto(`${service.base}/fairness#${new URLSearchParams({n: 5, shuffle: 'own', runs: 3000, code})}`);
    await page.click('button.main');
    const alert = page.waitForSelector(typeof shown === 'string' ? `${shown}, [role=alert]` : '[role=alert]');
    if (typeof shown === 'string') assert.match(await (await alert).getAttribute('class'), /verdict/, code);
    else assert.match(await (await alert).textContent(), shown, code);
  }
  await close();
});

test('with keys, a page asks for a token and keeps it in the tab', async () => {
  const own = await startWithKey('shuffle, read'),
    {token} = own;
  const {page, close} = await open(browser, `${own.base}/`);
  await page.fill('input[name=token]', token);
  await page.click('.problem button');
  await page.click('button.main');
  await page.waitForSelector('.felt .fan img');
  await page.waitForFunction(() =>
    [...document.querySelectorAll('.felt img')].every((image) => image.naturalWidth > 0),
  );
  assert.equal(await page.evaluate(() => sessionStorage.getItem('riffle-token')), token);
  assert.equal(await page.evaluate(() => Object.values(localStorage).join('').includes('rfl_')), false);
  await close();
  await own.stop();
});
