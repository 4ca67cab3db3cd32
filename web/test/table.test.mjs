// How the table shows what is no card: mahjong tiles and dominoes.
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
  await page.waitForSelector('.felt img');
  await page.getByRole('tab', {name: 'Answer'}).click();
  const {items = [], hands = [], rest = []} = JSON.parse(await page.locator('#program').textContent());
  return {...opened, hands, rest, order: [...hands.flat(), ...rest, ...items]};
}

/** codes returns the codes of the pictures that a selector finds. */
const codes = (page, selector) =>
  page.locator(selector).evaluateAll((images) => images.map(({src}) => /([^/]+)\.svg$/.exec(src)[1]));

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
