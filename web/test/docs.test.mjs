// The docs in a real browser: the contract, whose requests can be sent, and the documents, which can be searched.
import assert from 'node:assert/strict';
import {execSync} from 'node:child_process';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {browse, open, start, startWithKey} from './service.mjs';

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
let service, browser;

before(async () => {
  [browser, service] = await Promise.all([browse(), start()]);
});
after(async () => {
  await browser.close();
  await service.stop();
});

/** send sends the request that is on the page of an operation, and returns what is shown of its answer. */
async function send(page) {
  const sent = page.waitForResponse((answer) => !/static|docs/.test(answer.url()));
  await page.click('#try button.main');
  const answer = await sent;
  await page.getByRole('heading', {name: new RegExp(`^${answer.status()} `)}).waitFor();
  return {answer, text: await page.locator('#answer').textContent()};
}

test('requests are sent from the page of an operation', async () => {
  const home = service.base,
    {page, wrong, close} = await open(browser, `${home}/docs`);
  await page.getByRole('link', {name: 'POST /shuffle', exact: true}).first().click();
  await page.getByLabel('Example').selectOption({label: 'Six numbers out of 49'});
  const shuffled = await send(page);
  assert.equal(shuffled.answer.url(), `${home}/shuffle`);
  assert.equal(JSON.parse(shuffled.text).items.length, 6);
  await page.getByRole('textbox', {name: 'Body'}).fill('{"size":');
  assert.match((await send(page)).text, /"status": 400/);

  await page.goto(`${home}/docs#/decks/listCards`); // as older links have it
  await page.waitForURL(`${home}/docs/api/listCards`);
  await page.getByLabel('type', {exact: true}).fill('uno108');
  await page.getByLabel('parameters', {exact: true}).fill('');
  assert.equal((await send(page)).answer.url(), `${home}/decks/uno108/cards`);
  await page.goto(`${home}/docs/api/dealDeck`);
  await page.getByText('This writes to the log').waitFor(); // although it is a GET
  await page.getByLabel('Example').selectOption({label: 'Undercover'});
  const {answer, text} = await send(page);
  assert.equal(answer.url(), `${home}/decks/undercover?hands=undercover&players=8`);
  assert.equal(JSON.parse(text).hands.length, 8);
  await page.goto(`${home}/docs/api/getAudit`);
  await page.getByLabel('id', {exact: true}).fill('..');
  await page.click('#try button.main');
  await page.getByText('is not an id or a name').waitFor();
  assert.deepEqual(
    wrong.filter((text) => !text.includes('400')),
    [],
  );
  await close();
});

test('every operation shows what it takes and answers', async () => {
  const {page, wrong, close} = await open(browser, `${service.base}/docs`);
  const pages = await page.locator('.calls a').evaluateAll((links) => links.map(({href}) => href));
  assert.ok(pages.length > 30);
  for (const url of pages) {
    await page.goto(url);
    await page.locator('#program').waitFor();
    const shown = await page.locator('main').textContent();
    assert.doesNotMatch(shown, /undefined|\[object/, url);
    assert.match(await page.locator('#program').textContent(), /^curl /, url);
  }
  assert.deepEqual(wrong, []);
  await close();
});

test('the programs of an operation do what they say', async () => {
  const {page, close} = await open(browser, `${service.base}/docs/api/shuffle`);
  await page.getByLabel('Example').selectOption({label: 'Six numbers out of 49'});
  const folder = mkdtempSync(join(tmpdir(), 'programs-'));
  const inGo = (program) => `package main
import ("crypto/rand"; "encoding/json"; "fmt"; "net/http"; "strings")
func main() { if err := run(); err != nil { panic(err) } }
func run() error {
${program}
fmt.Println(len(result["items"].([]any)))
return err
}`;
  for (const [name, file, wrapped, command] of [
    ['curl', 'a.sh', (program) => `${program} -s | grep -o '"items":\\[[^]]*' | tr , '\\n' | wc -l`, 'bash'],
    ['TypeScript', 'a.mjs', (program) => `${program}\nconsole.log(result.items.length)`, 'node'],
    ['Python', 'a.py', (program) => `${program}\nprint(len(result["items"]))`, 'python3'],
    ['Go', 'a.go', inGo, 'go run'],
  ]) {
    await page.getByRole('tab', {name}).click();
    writeFileSync(join(folder, file), wrapped(await page.locator('#program').textContent()));
    assert.equal(execSync(`${command} ${file}`, {cwd: folder, encoding: 'utf8'}).trim(), '6', name);
  }
  rmSync(folder, {recursive: true});
  // What is typed is sent and shown as it is: parsed, the number would be another one.
  await page.getByRole('textbox', {name: 'Body'}).fill('{"items": [12345678901234567890, "it\'s"]}');
  for (const name of ['curl', 'TypeScript', 'Python', 'Go']) {
    await page.getByRole('tab', {name}).click();
    assert.match(await page.locator('#program').textContent(), /\[12345678901234567890,/, name);
  }
  assert.match((await send(page)).text, /12345678901234567890/);
  await close();
});

test('a request without scripts has its query and its key', async () => {
  const {page, close} = await open(browser, `${service.base}/docs/api/listAudits`, {javaScriptEnabled: false}),
    command = () => page.locator('#try').textContent();
  assert.equal(await command(), "curl 'http://localhost:8080/audits?reference=club-7%2Fboard-12'");
  await page.goto(`${service.base}/docs/api/dealDeck`);
  assert.match(await command(), /^curl \S+ \\\n {2}-H "Idempotency-Key: \$\(openssl rand -hex 16\)"$/);
  await close();
});

test('what is typed reaches a shell whole, blanks are no value, and the keyboard moves between programs', async () => {
  const {page, wrong, close} = await open(browser, `${service.base}/docs/api/listCards`),
    type = page.getByLabel('type', {exact: true}),
    program = page.locator('#program');
  await page.getByLabel('parameters', {exact: true}).fill('');
  for (const given of ["it's", '$(date)', 'a;b', 'x*']) {
    await type.fill(given);
    assert.deepEqual(
      execSync(`set -f; printf '%s\\n' ${await program.textContent()}`, {encoding: 'utf8'})
        .trim()
        .split('\n'),
      ['curl', `${service.base}/decks/${encodeURIComponent(given)}/cards`],
    );
  }
  await type.fill('   ');
  await page.click('#try button.main');
  assert.ok(await type.evaluate((field) => field.matches(':invalid')));
  assert.equal(await page.locator('#try h3').count(), 0);

  const tab = (name) => page.getByRole('tab', {name});
  await tab('curl').focus();
  for (const [key, name] of [
    ['ArrowRight', 'TypeScript'],
    ['End', 'Answer'],
    ['ArrowRight', 'curl'],
    ['ArrowLeft', 'Answer'],
    ['Home', 'curl'],
  ]) {
    await page.keyboard.press(key);
    assert.ok(await tab(name).evaluate((tab) => tab === document.activeElement && tab.ariaSelected === 'true'), name);
  }
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'program'); // after the button that copies
  assert.deepEqual(wrong, []);
  await close();
});

test('an answer that breaks off shows its status, and another example forgets the problem', async () => {
  const {page, close} = await open(browser, `${service.base}/docs/api/shuffle`);
  await page.route(`${service.base}/shuffle`, (route) =>
    route.fulfill({contentType: 'application/json', body: '{"items": [1, 2'}),
  );
  assert.equal((await send(page)).text, '{"items": [1, 2');
  await page.reload();
  await page.evaluate(() => {
    const {text} = Response.prototype;
    Response.prototype.text = async function () {
      await text.call(this);
      throw new TypeError('network error');
    };
  });
  await page.click('#try button.main');
  await page.getByRole('alert').getByText('The answer broke off.').waitFor();
  await page.getByRole('heading', {name: /^200 /}).waitFor();
  await page.getByLabel('Example').selectOption({label: 'Six numbers out of 49'});
  assert.equal(await page.locator('#try [role=alert]').count(), 0);
  await close();
});

test('with keys, requests take a token', async () => {
  const own = await startWithKey('shuffle, read'),
    {token} = own;
  const {page, close} = await open(browser, `${own.base}/docs/api/shuffle`);
  await page.click('#try button.main');
  await page.fill('input[name=token]', token);
  const sent = page.waitForResponse((answer) => answer.url().endsWith('/shuffle'));
  await page.click('.problem button');
  assert.equal((await sent).status(), 200);
  assert.match(await page.locator('#program').textContent(), /Bearer \$RIFFLE_TOKEN/);
  await close();
  await own.stop();
});

test('a search finds sections and operations, and leads to them', async () => {
  const {page, wrong, close} = await open(browser, `${service.base}/docs/guides/verify`);
  await page.fill('#search', 'cut card drawn range');
  const found = page.locator('#found a').first(),
    heading = (await found.textContent()).split(': ').at(-1);
  await found.click();
  await page.waitForURL(/\/docs\/.*#/);
  const section = page.locator(`main [id="${new URL(page.url()).hash.slice(1)}"]`);
  assert.equal((await section.textContent()).trim(), heading);
  assert.ok(
    await section.evaluate((element) => element.getBoundingClientRect().top < innerHeight),
    'the section is out of sight',
  );

  await page.fill('#search', 'prove a card');
  await page.getByRole('link', {name: 'Prove a card'}).first().click();
  await page.waitForURL(/docs\/api\/proveCard$/);

  for (const [word, path] of [
    ['texas', '/docs/guides/decks'],
    ['poker', '/docs/guides/decks'],
    ['weights', '/docs/guides/weights'],
    ['coin', '/docs/guides/weights'],
    ['dice', '/docs/guides/weights'],
    ['commitmnet', '/docs/api/getCommitment'], // mistyped
  ]) {
    await page.fill('#search', word);
    await page.locator(`#found li:first-child a[href*="${path}"]`).waitFor();
  }

  await page.fill('#search', 'qqqq');
  await page.getByText('Nothing was found.').waitFor();
  assert.deepEqual(wrong, []);
  await close();
});

test('every link of every document leads somewhere', async () => {
  const {page, wrong, close} = await open(browser, `${service.base}/docs`);
  const home = `${service.base}/`;
  const anchors = new Map(),
    links = [],
    dead = [];
  for (const waiting = [`${home}docs`]; waiting.length > 0; ) {
    const url = waiting.pop();
    if (anchors.has(url)) continue;
    const answer = await page.goto(url);
    if (answer.status() !== 200) dead.push(url);
    anchors.set(url, await page.evaluate(() => [...document.querySelectorAll('[id]')].map(({id}) => id)));
    for (const link of await page.evaluate(() => [...document.links].map((link) => link.href))) {
      links.push([url, link]);
      if (link.startsWith(`${home}docs`)) waiting.push(link.split('#')[0]);
    }
  }
  for (const [from, link] of links) {
    const [to, anchor] = link.split('#');
    const leads =
      anchor === undefined ||
      (to.startsWith('http') && !to.startsWith(service.base)) ||
      anchors.get(to)?.includes(decodeURIComponent(anchor));
    if (!leads) dead.push(`${from}: ${link}`);
    else if (to.startsWith(service.base) && !anchors.has(to)) {
      anchors.set(to, []);
      if (!(await fetch(to)).ok) dead.push(`${from}: ${link}`);
    }
  }
  assert.deepEqual(dead, []);
  assert.deepEqual(wrong, []);
  assert.ok(anchors.size > 20, `${anchors.size} pages`);
  await close();
});

test("a gallery shows every deck in both languages, the operator's own as well", async (t) => {
  const decks = mkdtempSync(join(tmpdir(), 'decks-'));
  t.after(() => rmSync(decks, {recursive: true}));
  const cards = ['sun', 'moon'].map((code) => ({code, glyph: code[0], name: {en: code, zh: code}}));
  const type = {type: 'sky2', name: {en: 'The sky', zh: '天空'}, family: 'sky', size: 2, cards};
  writeFileSync(join(decks, 'sky2.json'), JSON.stringify(type));
  const own = await startWithKey('shuffle, read', '-decks', decks);
  t.after(own.stop);
  for (const [locale, width] of [
    ['en', 1280],
    ['zh', 390],
  ]) {
    const {page, wrong, close} = await open(browser, `${own.base}/docs`, {
      locale,
      viewport: {width, height: 900},
      bypassCSP: true,
    });
    await page.evaluate((token) => sessionStorage.setItem('riffle-token', token), own.token);
    if (width === 390) await page.click('#documents > summary');
    await page.getByRole('link', {name: 'All decks'}).click();
    await page.waitForSelector('.gallery li:nth-child(24)');
    for (const [type, names, size] of [
      ['uno108', ['UNO deck of 108', '优诺牌（108张）'], 108],
      ['sky2', ['The sky', '天空'], 2],
    ]) {
      const deck = page.locator('.gallery li', {has: page.getByText(type, {exact: true})});
      await deck.scrollIntoViewIfNeeded();
      await page.waitForFunction(
        ([type, count]) => {
          const item = [...document.querySelectorAll('.gallery li')].find(
            (item) => item.querySelector('code').textContent === type,
          );
          const pictures = [...item.querySelectorAll('img')];
          return pictures.length === count && pictures.every(({naturalWidth}) => naturalWidth > 0);
        },
        [type, Math.min(size, 5)],
      );
      const shown = await deck.textContent();
      for (const part of [...names, locale === 'en' ? `${size} cards` : `${size} 张`]) assert.ok(shown.includes(part));
      const links = await deck.locator('a').evaluateAll((links) => links.map((link) => link.getAttribute('href')));
      assert.deepEqual(links, [`/cards/${type}`, `/?deck=${type}`, '/docs/guides/decks']);
    }
    await page.addScriptTag({path: axe});
    const {violations} = await page.evaluate(() => axe.run({runOnly: ['wcag2a', 'wcag2aa', 'best-practice']}));
    assert.deepEqual(
      violations.map(({id, nodes}) => `${id}: ${nodes[0].html.slice(0, 120)}`),
      [],
    );
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    assert.deepEqual(wrong, []);
    await page.goto(`${own.base}/`);
    await page.click('form summary');
    await page.click('form a');
    await page.waitForURL(`${own.base}/docs/decks`);
    await close();
  }
});

test('commands in the docs name the address of the page', async () => {
  const {page, wrong, close} = await open(browser, `${service.base}/docs/guides/shuffle-and-draw`);
  const commands = await page.locator('.document pre').allTextContents();
  assert.ok(commands.some((command) => command.includes(`curl -s ${service.base}/shuffle`)));
  assert.ok(!commands.some((command) => /curl -s localhost:8080/.test(command)));
  assert.deepEqual(wrong, []);
  await close();
});
