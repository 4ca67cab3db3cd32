// The docs in a real browser: the contract, whose requests can be sent, and the documents, which can be searched.
import assert from 'node:assert/strict';
import {after, before, test} from 'node:test';
import {browse, open, startWith, startWithKey} from './service.mjs';

let service, browser;

before(async () => {
  [browser, service] = await Promise.all([browse(), startWith('logs: [{name: poker}]')]);
});
after(async () => {
  await browser.close();
  await service.stop();
});

/**
 * execute sends the request of the operation that is open in the viewer, and returns the answer
 * that the viewer shows.
 */
async function execute(page, parameters = {}) {
  const sent = page.waitForResponse(
    (answer) => answer.request().method() !== 'HEAD' && !answer.url().endsWith('/openapi.yaml'),
  );
  await page.click('.opblock.is-open .try-out__btn');
  for (const name of Object.keys(parameters)) await page.getByLabel(name, {exact: true}).last().fill(parameters[name]);
  await page.click('.opblock.is-open .execute');
  const answer = await sent,
    shown = page.locator('.opblock.is-open .live-responses-table tbody .response-col_status');
  await shown.waitFor();
  assert.equal(Number.parseInt(await shown.textContent(), 10), answer.status());
  return answer;
}

for (const log of ['', '/logs/poker']) {
  test(`requests are sent from the viewer of ${log || 'the main log'}`, async () => {
    const {page, wrong, close} = await open(browser, `${service.base}${log}/docs`);
    for (const [call, parameters, path] of [
      ['POST /shuffle', {}, '/shuffle'],
      ['GET /decks/{type}/cards', {type: 'uno108'}, '/decks/uno108/cards'],
    ]) {
      await page.goto(`${service.base}${log}/docs`);
      await page.getByRole('link', {name: call, exact: true}).click();
      await page.waitForSelector('.opblock.is-open');
      const answer = await execute(page, parameters);
      assert.equal(answer.url().split('?')[0], service.base + log + path);
      assert.equal(answer.status(), 200);
    }
    assert.deepEqual(wrong, []);
    await close();
  });
}

test('with keys, the contract and its requests take a token', async () => {
  const own = await startWithKey('shuffle, read'),
    {token} = own;
  const {page, close} = await open(browser, `${own.base}/docs#/shuffles/shuffle`);
  await page.fill('input[name=token]', token);
  await page.click('.problem button');
  await page.waitForSelector('.opblock.is-open');
  assert.equal((await execute(page)).status(), 200);
  // Without it, a token is given to the viewer.
  await page.click('.auth-wrapper .authorize');
  await page.getByRole('button', {name: 'Remove authorization'}).click();
  await page.evaluate(() => sessionStorage.clear());
  await page.fill('.auth-container input', token);
  await page.locator('.auth-btn-wrapper .authorize').click();
  await page.locator('.auth-btn-wrapper .btn-done').click();
  await page.click('.opblock.is-open .try-out__btn'); // which ends the first request
  assert.equal((await execute(page)).status(), 200);
  await close();
  await own.stop();
});

test('a search finds sections and operations, and leads to them', async () => {
  const {page, wrong, close} = await open(browser, `${service.base}/logs/poker/docs/guides/verify`);
  await page.fill('#search', 'cut card drawn range');
  const found = page.locator('#found a').first(),
    heading = (await found.textContent()).split(': ').at(-1);
  await found.click();
  await page.waitForURL(/\/logs\/poker\/docs\/.*#/);
  const section = page.locator(`main [id="${new URL(page.url()).hash.slice(1)}"]`);
  assert.equal((await section.textContent()).trim(), heading);
  assert.ok(
    await section.evaluate((element) => element.getBoundingClientRect().top < innerHeight),
    'the section is out of sight',
  );

  await page.fill('#search', 'prove a card');
  await page.getByRole('link', {name: 'GET /shoes/{id}/cards/{position}/proof'}).click();
  await page.waitForSelector('#operations-shoes-proveCard.is-open');
  await page.fill('#search', 'get the public key of the log'); // the viewer is there already
  await page.getByRole('link', {name: 'GET /log/key'}).click();
  await page.waitForSelector('#operations-log-getLogKey.is-open');

  for (const [word, path] of [
    ['texas', '/docs/guides/decks'],
    ['poker', '/docs/guides/decks'],
    ['weights', '/docs/guides/weights'],
    ['coin', '/docs/guides/weights'],
    ['dice', '/docs/guides/weights'],
  ]) {
    await page.fill('#search', word);
    await page.locator(`#found li:first-child a[href*="${path}#"]`).waitFor();
  }

  await page.fill('#search', 'qqqq');
  await page.getByText('Nothing was found.').waitFor();
  assert.deepEqual(wrong, []);
  await close();
});

test('every link of every document leads somewhere', async () => {
  const {page, wrong, close} = await open(browser, `${service.base}/logs/poker/docs`);
  const home = `${service.base}/logs/poker/`,
    contract = await (await fetch(`${home}openapi.yaml`)).text();
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
      (anchor.startsWith('/')
        ? contract.includes(`operationId: ${anchor.split('/').at(-1)}\n`)
        : anchors.get(to)?.includes(decodeURIComponent(anchor)));
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

test('commands in the docs name the address of the page', async () => {
  const {page, wrong, close} = await open(browser, `${service.base}/docs/guides/shuffle-and-draw`);
  const commands = await page.locator('.document pre').allTextContents();
  assert.ok(commands.some((command) => command.includes(`curl -s ${service.base}/shuffle`)));
  assert.ok(!commands.some((command) => /curl -s localhost:8080/.test(command)));
  assert.deepEqual(wrong, []);
  await close();
});
