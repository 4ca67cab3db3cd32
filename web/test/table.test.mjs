// How the table lays cards, mahjong tiles and dominoes.
import assert from 'node:assert/strict';
import {after, before, test} from 'node:test';
import {browse, open, start} from './service.mjs';

let service, browser;

before(async () => {
  [browser, service] = await Promise.all([browse(), start()]);
});
after(async () => {
  await browser.close();
  await service.stop();
});

/** deal shuffles a deck type, after what fill does to the form, and returns the page and the answer. */
async function deal(deck, width, fill = async () => {}) {
  const opened = await open(browser, `${service.base}/`, {viewport: {width, height: 900}}),
    {page} = opened;
  await page.selectOption('form select', deck);
  await fill(page);
  await page.click('button.main');
  await page.waitForSelector('.felt img[src]');
  await page.getByRole('tab', {name: 'Answer'}).click();
  const {items = [], hands = [], rest = []} = JSON.parse(await page.locator('#program').textContent());
  return {...opened, hands, rest, order: [...hands.flat(), ...rest, ...items]};
}

/** codes returns the codes of the pictures that a selector finds. */
const codes = (page, selector) =>
  page.locator(selector).evaluateAll((images) => images.map(({dataset}) => dataset.code));

/** middles returns the middles of the boxes that a selector finds. */
const middles = (page, selector) =>
  page.locator(selector).evaluateAll((elements) =>
    elements.map((element) => {
      const {x, y, width, height} = element.getBoundingClientRect();
      return {x: x + width / 2, y: y + height / 2};
    }),
  );

test('mahjong is a square wall, clockwise from the upper left', async () => {
  const {page, wrong, order, close} = await deal('sichuan108', 1200);
  assert.deepEqual(await codes(page, '.wall img'), order);
  assert.deepEqual(
    await page.locator('.wall ol').evaluateAll((walls) => walls.map((wall) => wall.children.length)),
    [13, 14, 13, 14],
  );
  const [top, right, bottom, left] = await middles(page, '.wall ol');
  assert.ok(top.y < right.y && left.x < top.x && top.x < right.x && right.y < bottom.y);
  for (const [wall, ahead] of [
    [1, ({x}) => x],
    [2, ({y}) => y],
    [3, ({x}) => -x],
    [4, ({y}) => -y],
  ]) {
    const places = (await middles(page, `.wall ol:nth-of-type(${wall}) li`)).map(ahead);
    assert.deepEqual(
      places,
      places.toSorted((a, b) => a - b),
      `wall ${wall}`,
    );
  }
  assert.deepEqual(wrong, []);
  await close();
});

test('on a phone the wall is folded, and tiles are large enough to read', async () => {
  const {page, wrong, order, close} = await deal('mahjong144', 390);
  assert.deepEqual(await codes(page, '.wall img'), order);
  assert.ok((await page.locator('.wall img').first().boundingBox()).width > 30);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  assert.deepEqual(wrong, []);
  await close();
});

test('hands leave gaps in the wall, and the dead wall is marked', async () => {
  const {page, hands, rest, close} = await deal('riichi136', 1200, (page) => page.selectOption('#hands', 'riichi'));
  assert.deepEqual(await codes(page, '.racks img'), hands.flat());
  assert.equal(await page.locator('.wall .gap').count(), 53);
  assert.deepEqual(await codes(page, '.wall img'), rest);
  assert.deepEqual(await codes(page, '.wall .dead img'), rest.slice(-14));
  await close();
});

test('tiles that were not drawn lie face down', async () => {
  const {page, order, close} = await deal('mahjong136', 1200, (page) => page.fill('input[name=draw]', '10'));
  assert.deepEqual(await codes(page, '.wall img'), [...order, ...Array(126).fill('back')]);
  await close();
});

test('what fits into no wall is in rows', async () => {
  const {page, order, close} = await deal('mahjong136', 1200, (page) => page.fill('input[name=decks]', '2'));
  assert.equal(await page.locator('.wall').count(), 0);
  assert.deepEqual(await codes(page, '.cards img'), order);
  await close();
});

test('dominoes are tiles twice as high as wide', async () => {
  const {page, order, close} = await deal('dominoes28', 390);
  assert.deepEqual(await codes(page, '.dominoes img'), order);
  const {width, height} = await page.locator('.dominoes img').first().boundingBox();
  assert.ok(Math.abs(height / width - 2) < 0.01);
  await close();
});

/** boxes returns the boxes of what a selector finds. */
const boxes = (page, selector) =>
  page.locator(selector).evaluateAll((elements) => elements.map((element) => element.getBoundingClientRect().toJSON()));

const bridge = (page) => page.selectOption('#hands', 'bridge');

test('bridge lies around the table, sorted by suit until it is asked for as dealt', async () => {
  const {page, wrong, hands, close} = await deal('standard52', 1280, bridge);
  const [north, east, south, west] = await boxes(page, '.hand');
  assert.ok(north.y < east.y && Math.abs(east.y - west.y) < 1 && east.y < south.y);
  assert.ok(west.x < north.x && Math.abs(north.x - south.x) < 1 && south.x < east.x);
  for (const [i, hand] of hands.entries()) {
    const place = (code) => 100 * 'SHCD'.indexOf(code[1]) + 'AKQJT98765432'.indexOf(code[0]);
    assert.deepEqual(
      await codes(page, `.hand:nth-child(${i + 1}) img`),
      hand.toSorted((a, b) => place(a) - place(b)),
    );
  }
  await page.getByRole('button', {name: 'As dealt'}).click();
  assert.deepEqual(await codes(page, '.hand img'), hands.flat());
  assert.deepEqual(wrong, []);
  await close();
});

test('on a phone all four hands of bridge are in the window once they are dealt', async () => {
  const {page, close} = await open(browser, `${service.base}/?hands=bridge`, {viewport: {width: 390, height: 844}});
  await page.click('button.main');
  await page.waitForSelector('.hand img[src]');
  await page.waitForFunction(() => document.querySelector('.felt').getBoundingClientRect().top < 50);
  const all = await boxes(page, '.hand');
  assert.equal(new Set(all.map(({x}) => x)).size, 1);
  assert.ok(all.every(({bottom, width}) => bottom < 844 && width > 300));
  await close();
});

test('a pack of 52 is in rows of 13, and all faces come in one document', async () => {
  for (const width of [390, 1280]) {
    const opened = await open(browser, `${service.base}/`, {viewport: {width, height: 900}}),
      pictures = [];
    opened.page.on('request', (request) => {
      if (request.url().includes('/cards/')) pictures.push(new URL(request.url()).pathname);
    });
    await opened.page.click('button.main');
    await opened.page.waitForFunction(() => document.querySelectorAll('.felt img[src^=blob]').length === 52);
    await opened.page.waitForFunction(() =>
      [...document.querySelectorAll('.felt img')].every(({naturalWidth}) => naturalWidth > 0),
    );
    const heights = (await boxes(opened.page, '.felt img')).map(({y}) => Math.round(y));
    assert.deepEqual(
      [...new Set(heights)].map((height) => heights.filter((y) => y === height).length),
      [13, 13, 13, 13],
    );
    assert.deepEqual(pictures, ['/cards/standard52']);
    assert.deepEqual(opened.wrong, []);
    await opened.close();
  }
});

test('a long rest is folded', async () => {
  const {page, rest, close} = await deal('uno108', 390, (page) => page.selectOption('#hands', 'uno:4'));
  assert.equal(rest.length, 80);
  assert.equal(await page.locator('.rest img').first().isVisible(), false);
  await page.getByText('The rest: 80 cards').click();
  assert.deepEqual(await codes(page, '.rest img'), rest);
  assert.ok((await page.locator('.rest').boundingBox()).height < 844);
  await close();
});
