// Shoes on the table: opened, dealt, shared with others, interrupted, closed and checked.
import assert from 'node:assert/strict';
import {mkdtemp, rm} from 'node:fs/promises';
import {createRequire} from 'node:module';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {browse, open, start, startWithKey} from './service.mjs';

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
let service, browser, folder;

before(async () => {
  [browser, service, folder] = await Promise.all([browse(), start(), mkdtemp(join(tmpdir(), 'riffle-shoes-'))]);
});
after(async () => {
  await browser.close();
  await service.stop();
  await rm(folder, {recursive: true});
});

/** ask sends a request to a service, as any other caller does. */
async function ask(base, method, path, body = {}) {
  const answer = await fetch(base + path, {
    method,
    ...(method === 'POST' && {body: JSON.stringify(body), headers: {'Content-Type': 'application/json'}}),
  });
  assert.ok(answer.ok, `${method} ${path}: ${answer.status}`);
  return answer.json();
}

/** seat makes a shoe of one deck, and opens the table with it. */
async function seat(base, body = {deck: 'standard52'}) {
  const shoe = await ask(base, 'POST', '/shoes', body),
    path = `/shoes/${shoe.shoe_id}`;
  const {page, wrong, close} = await open(browser, `${base}/#shoe=${shoe.shoe_id}`);
  await left(page, shoe.size);
  return {page, wrong, close, path};
}

/** left waits until so many cards are in the deck. */
const left = (page, count) => page.locator('.left', {hasText: new RegExp(`\\b${count} of `)}).waitFor();

const button = (page, name) => page.getByRole('button', {name, exact: true});

/** pile returns the place of a pile on the table. */
const pile = (page, name) =>
  page.locator('.pile', {has: page.getByRole('heading', {name: new RegExp(`^${name} \\(`)})});

async function draw(page, count, to = '') {
  await page.getByLabel('How many').fill(String(count));
  await page.getByLabel('To the hand or pile').fill(to);
  await button(page, 'Draw').click();
}

async function accessible(page) {
  const {violations} = await page.evaluate(async () =>
    axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']}),
  );
  assert.deepEqual(
    violations.map(({id, nodes}) => `${id}: ${nodes[0].html.slice(0, 160)}`),
    [],
  );
  assert.ok(
    await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
    'the page is wider than the window',
  );
}

for (const [width, colorScheme] of [
  [390, 'dark'],
  [1200, 'light'],
]) {
  test(`a shoe is opened, dealt, closed and checked at ${width} px`, async () => {
    const {page, wrong, close} = await open(browser, service.base, {
      viewport: {width, height: 900},
      colorScheme,
      bypassCSP: true,
    });
    await page.addScriptTag({path: axe});
    await page.getByText('A shoe', {exact: true}).click();
    await page.getByLabel('Cut card after').fill('5');
    await accessible(page);
    await button(page, 'Open the shoe').click();
    await left(page, 52);
    await page.waitForURL(/\/#shoe=[0-9a-f-]{36}$/);
    assert.match(await page.locator('.deck').textContent(), /cut card comes after 5/);

    await draw(page, 2, 'alice');
    await left(page, 50);
    assert.equal(await pile(page, 'alice').locator('img').count(), 2);
    assert.match(
      await page.locator('#program').textContent(),
      /^curl .*\/shoes\/[0-9a-f-]{36}\/draw [\s\S]*'\{"count":2,"to":"alice"\}'$/,
    );
    await page.getByLabel('How many').fill('1');
    await button(page, 'Burn').click();
    await left(page, 49);
    const burnt = pile(page, 'burn').locator('img');
    assert.equal(await burnt.getAttribute('data-code'), 'back');
    await button(page, 'Look').click();
    assert.notEqual(await burnt.getAttribute('data-code'), 'back');
    await draw(page, 2);
    await page.getByText('The cut card is reached').waitFor();

    await pile(page, 'Dealt').locator('button').first().click();
    await accessible(page);
    await page.getByLabel('Hand or pile', {exact: true}).fill('discard');
    await button(page, 'Put there').click();
    await page.getByRole('heading', {name: 'discard (1)'}).waitFor();
    await page.getByRole('heading', {name: 'Dealt (1)'}).waitFor();
    await pile(page, 'alice').getByRole('button', {name: 'Shuffle'}).click();
    await page.locator('.moves li').nth(5).waitFor();
    await pile(page, 'Dealt').getByRole('button', {name: 'Return to the deck'}).click();
    await left(page, 48);
    await page.getByText('Reshuffle …').click();
    await page.getByLabel('Which cards').selectOption('all');
    await button(page, 'Reshuffle').click();
    await left(page, 52);
    assert.equal(await page.locator('.pile').count(), 0);
    await draw(page, 3, 'bob');
    await left(page, 49);

    const cards = await page.locator('.pile img').evaluateAll((images) => images.map(({dataset}) => dataset.code));
    await page.reload({waitUntil: 'networkidle'});
    assert.deepEqual(
      await page.locator('.pile img').evaluateAll((images) => images.map(({dataset}) => dataset.code)),
      cards,
    );
    assert.deepEqual(await page.locator('.moves li').allTextContents(), [
      '52 cards were shuffled and sealed. The cut card comes after 5 cards. proof',
      '2 from the top of the deck to “alice”. proof',
      '1 from the top of the deck to “burn”. proof',
      '2 from the top of the deck to the dealt cards. proof',
      '1 from the cards outside the deck to “discard”. proof',
      '2 cards were shuffled and sealed again: “alice”. proof',
      '1 from the dealt cards to the deck. proof',
      '52 cards were shuffled and sealed again: all cards. The cut card comes after 5 cards. proof',
      '3 from the top of the deck to “bob”. proof',
    ]);

    assert.equal(await page.getByText('Seed 1').count(), 0);
    await button(page, 'Close the shoe').click();
    await page.getByText('Seed 3').waitFor();
    await button(page, 'Check the whole shoe here').click();
    await page.waitForSelector('.verdict.verified');
    assert.match(await page.locator('.steps').textContent(), /closed/);
    await page.addScriptTag({path: axe});
    await accessible(page);
    assert.deepEqual(wrong, []);
    await close();
  });
}

test('a shoe that somebody else moves is shown in its new state, and the page lives on', async () => {
  const {page, close, path} = await seat(service.base);
  for (const count of [2, 3]) await ask(service.base, 'POST', `${path}/draw`, {count, to: 'eve'});
  await draw(page, 1);
  await page.getByText('Somebody else has changed this shoe.').waitFor();
  await left(page, 47);
  assert.equal(await pile(page, 'eve').locator('img').count(), 5);
  await button(page, 'Draw').click();
  await left(page, 46);
  assert.equal(await page.locator('[role=alert]').count(), 0);
  await page.locator('.moves li', {hasText: '1 from the top'}).waitFor();
  assert.match(await page.locator('.moves').textContent(), /52 cards.*2 from the top.*3 from the top.*1 from the top/);

  await draw(page, 47);
  await page.getByText('count is 47, but only 46 cards remain.').waitFor();
  await draw(page, 46);
  await left(page, 0);
  await ask(service.base, 'POST', `${path}/close`);
  await draw(page, 1);
  await page.getByText('The shoe was closed by').waitFor();
  await page.locator('.left', {hasText: /^Closed:/}).waitFor();
  await button(page, 'Check the whole shoe here').click();
  await page.waitForSelector('.verdict.verified');
  await close();
});

test('a shoe that has expired deals no more, and can be closed', async () => {
  const {page, close, path} = await seat(service.base);
  await ask(service.base, 'DELETE', path);
  await draw(page, 1);
  await page.getByText('The shoe has expired').waitFor();
  await page.locator('.left', {hasText: /^Expired:/}).waitFor();
  assert.equal(await button(page, 'Draw').count(), 0);
  await button(page, 'Close the shoe').click();
  await page.locator('.left', {hasText: /^Closed:/}).waitFor();
  await close();
});

test('a click whose answer was lost is repeated without drawing twice', async () => {
  const {page, close, path} = await seat(service.base);
  const lost = async (route) => {
    await route.fetch();
    await route.abort();
  };
  for (const [round, place] of ['/draw', '/dealt'].entries()) {
    // the draw itself, and what is read after it
    await page.route(`**${place}`, lost, {times: 1});
    await draw(page, 1);
    await page.getByText('nothing is done twice').waitFor();
    await button(page, 'Draw').click();
    await left(page, 51 - round);
    await page.waitForSelector('button[name=draw]:enabled');
    assert.equal(await page.locator('[role=alert]').count(), 0);
    assert.equal((await ask(service.base, 'GET', path)).remaining, 51 - round);
  }
  await draw(page, 1); // another click is another draw
  await left(page, 49);
  await page.goto(`${service.base}/#shoe`);
  const opened = [];
  page.on('response', async (answer) => {
    if (answer.url().endsWith('/shoes')) opened.push((await answer.json()).audit_id);
  });
  let first;
  await page.route(
    '**/shoes',
    async (route) => {
      first = (await (await route.fetch()).json()).audit_id;
      await route.abort();
    },
    {times: 1},
  );
  await button(page, 'Open the shoe').click();
  await page.getByText('nothing is done twice').waitFor();
  await button(page, 'Open the shoe').click();
  await left(page, 52);
  assert.deepEqual(opened, [first]);
  await page.getByRole('link', {name: 'Another shoe'}).click(); // another click is another shoe
  await button(page, 'Open the shoe').click();
  await left(page, 52);
  assert.equal(new Set(opened).size, 2);
  await close();
});

test('while the service is away the page says so, and the same click works when it is back', async () => {
  const flags = ['-data', join(folder, 'kept')],
    away = await start(...flags);
  const {page, close} = await seat(away.base);
  await draw(page, 1, 'alice');
  await left(page, 51);
  await away.stop();
  await button(page, 'Draw').click();
  await page.getByText('The service cannot be reached.').waitFor();
  assert.equal(await pile(page, 'alice').locator('img').count(), 1);
  const back = await start(...flags, '-addr', new URL(away.base).host.replace('localhost', '127.0.0.1'));
  await button(page, 'Draw').click();
  await left(page, 50);
  assert.equal(await page.locator('[role=alert]').count(), 0);
  await close();
  await back.stop();
});

test('an id that belongs to no shoe is said to be unknown', async () => {
  for (const [id, message] of [
    ['7d0a3c53-5f0e-4c52-9d6b-1f7c5f3a9b10', 'There is no shoe with this id.'],
    ['../decks', 'is not an id'],
    ['%3Cscript%3E', 'is not an id'],
  ]) {
    const {page, close} = await open(browser, `${service.base}/#shoe=${id}`);
    await page.getByText(message).waitFor();
    await page.getByRole('link', {name: 'Another shoe'}).click();
    await button(page, 'Open the shoe').click();
    await left(page, 52);
    await close();
  }
});

test('the address keeps the mode and the shoe', async () => {
  const {page, close} = await seat(service.base);
  const address = page.url();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter'); // the link past the menu
  await left(page, 52);
  await page.waitForURL(address);
  await page.getByText('One shuffle', {exact: true}).click();
  await button(page, 'Deal').waitFor();
  await page.reload();
  await button(page, 'Deal').waitFor();
  await page.goBack();
  await left(page, 52);
  await page.getByText('One shuffle', {exact: true}).click();
  await page.getByText('A shoe', {exact: true}).click();
  await left(page, 52);
  await page.waitForURL(address);
  await close();
});

test('items are shown as the text that they are', async () => {
  const hostile = '<img src=x onerror=alert(1)>';
  const {page, wrong, close} = await seat(service.base, {items: [hostile, {player: 7}]});
  await draw(page, 2);
  await left(page, 0);
  assert.deepEqual(
    (await pile(page, 'Dealt').locator('.item').allTextContents()).sort(),
    [hostile, '{"player":7}'].sort(),
  );
  assert.deepEqual(wrong, []);
  await close();
});

test('with keys, a shoe is dealt and checked with the token of the tab', async () => {
  const own = await startWithKey('deal, read'),
    {token} = own;
  const {page, close} = await open(browser, `${own.base}/#shoe`);
  await page.fill('input[name=token]', token);
  await page.click('.problem button');
  await button(page, 'Open the shoe').click();
  await left(page, 52);
  await draw(page, 2);
  await left(page, 50);
  assert.match(await page.locator('#program').textContent(), /Bearer \$RIFFLE_TOKEN/);
  await button(page, 'Close the shoe').click();
  await button(page, 'Check the whole shoe here').click();
  await page.waitForSelector('.verdict.verified');
  await close();
  await own.stop();
});
