// How the table lays cards, mahjong tiles and dominoes.
import assert from 'node:assert/strict';
import {after, before, test} from 'node:test';
import {browse, more, open, shuffle, sizeOf, start} from './service.mjs';

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
  await more(page);
  await page.selectOption('form select', deck);
  await fill(page);
  await page.click('button.main');
  await page.waitForSelector('.felt img:not([data-code=back])');
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
  assert.deepEqual(await codes(page, '.racks .hand img'), hands.flat());
  assert.equal(await page.locator('.wall .gap').count(), 53);
  assert.deepEqual(await codes(page, '.wall img'), rest);
  assert.deepEqual(await codes(page, '.wall .dead img'), rest.slice(-14));
  await close();
});

test('mahjong players sit around the wall, and a dealt dead wall is marked', async () => {
  for (const width of [390, 1280]) {
    const {page, hands, wrong, close} = await deal('mahjong136', width, (page) =>
      page.selectOption('#hands', 'mahjong-wall'),
    );
    for (const path of ['', await page.locator('.facts a').getAttribute('href')]) {
      await page.goto(path ? service.base + path : page.url());
      await page.waitForSelector('.wall img[src]');
      assert.deepEqual(await codes(page, '.racks .hand img'), hands.slice(0, 4).flat());
      assert.deepEqual(await codes(page, '.wall img'), hands.slice(4).flat());
      assert.equal(await page.locator('.which button').count(), path ? 4 : 0, "a wall is nobody's hand");
      assert.deepEqual(await codes(page, '.wall .dead img'), hands[5]);
      assert.deepEqual(await page.locator('.seat').allTextContents(), ['East', 'South', 'West', 'North']);
      const [east, south, west, north] = await middles(page, '.racks .hand'),
        [wall] = await middles(page, '.wall');
      if (width === 390) assert.ok(east.y < south.y && south.y < west.y && west.y < north.y && north.y < wall.y);
      else {
        assert.ok(west.y < wall.y && wall.y < east.y && north.x < wall.x && wall.x < south.x);
        assert.ok(Math.abs(north.y - wall.y) < 60 && Math.abs(south.y - wall.y) < 60);
      }
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    }
    assert.deepEqual(wrong, []);
    await close();
  }
});

test('roles lie in a ring, face down, and none covers another', async () => {
  for (const [width, players] of [
    [390, 18],
    [390, 6],
    [1280, 12],
  ]) {
    const {audit_id: id} = await shuffle(service.base, {
        deck: 'werewolf',
        hands: 'werewolf',
        parameters: {players},
        reveal: 'now',
      }),
      {page, wrong, close} = await open(browser, `${service.base}/a/${id}?hand=2`, {viewport: {width, height: 900}});
    await page.waitForSelector('.ring-of img[data-code=back]');
    const cards = await boxes(page, '.ring-of .hand'),
      [felt] = await boxes(page, '.felt');
    assert.equal(cards.length, players);
    cards.forEach((card, i) => {
      assert.ok(card.x >= felt.x && card.right <= felt.right && card.y >= felt.y && card.bottom <= felt.bottom);
      const next = cards[(i + 1) % players];
      assert.ok(
        next.x >= card.right || next.right <= card.x || next.y >= card.bottom || next.bottom <= card.y,
        `${width}: ${i + 1} of ${players}`,
      );
    });
    await page.getByRole('heading', {name: 'Player 2, yours'}).waitFor();
    await page.locator('.ring-of button').nth(1).press('Enter');
    await page.locator('.hand.lit img:not([data-code=back])').waitFor();
    assert.deepEqual(wrong, []);
    await close();
  }
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

/** posts returns the requests of a page that write, which it adds to the list as they are sent. */
function posts(page) {
  const sent = [];
  page.on('request', (request) => {
    if (request.method() === 'POST') sent.push([new URL(request.url()).pathname, request.postDataJSON()]);
  });
  return sent;
}

test('one click deals each game, and opening the page writes nothing', async (t) => {
  const own = await start();
  t.after(own.stop);
  for (const [width, height] of [
    [390, 844],
    [1280, 900],
  ]) {
    const before = await shuffle(own.base, {size: 5}),
      {page, wrong, close} = await open(browser, `${own.base}/`, {viewport: {width, height}});
    assert.ok((await sizeOf(own.base)) <= before.log_index + 1);
    assert.equal((await shuffle(own.base, {size: 5})).log_index, before.log_index + 1);
    assert.deepEqual([...new Set(await codes(page, '.felt img'))], ['back']);
    const [fan] = await boxes(page, '.down');
    assert.ok(fan.y >= 0 && fan.bottom < height, 'the deck is in the window');
    const games = page.locator('.games button');
    assert.equal(await games.count(), 9);
    assert.equal(await page.locator('form details').getAttribute('open'), null);
    for (const [i, search, hands] of [
      [0, 'deck=standard52&hands=bridge', 4],
      [1, 'deck=standard54&hands=doudizhu', 3],
      [2, 'deck=standard52&hands=holdem%3A4', 10],
      [3, 'deck=mahjong136&hands=mahjong', 4],
      [4, 'deck=tarot78', 0],
      [5, 'deck=hanafuda48', 0],
      [6, 'deck=werewolf12&hands=werewolf', 12],
      [7, 'deck=uno108&hands=uno%3A4', 4],
      [8, 'deck=standard52', 0],
    ]) {
      await games.nth(i).click();
      await page.waitForURL((url) => url.search.startsWith(`?${search}&deal=`));
      assert.equal(await games.nth(i).getAttribute('aria-pressed'), 'true');
      assert.equal(await page.locator('.hands .hand').count(), hands, search);
    }
    assert.deepEqual(wrong, []);
    await close();
  }
});

test('a commitment is made to the setting that is dealt, before the cut is sent, and none is left', async (t) => {
  const own = await start();
  t.after(own.stop);
  const {page, wrong, close} = await open(browser, `${own.base}/`),
    sent = posts(page);
  await page.fill('input[name=client_seed]', 'ann');
  await more(page);
  await page.selectOption('#hands', 'bridge');
  assert.deepEqual(sent, []);
  await page.click('button.main');
  await page.locator('.fingerprint a.verified').getByText('checked').waitFor();
  const fingerprint = await page.locator('.fingerprint code').getAttribute('title'),
    [, [, {commitment_id: id}]] = sent;
  assert.equal((await (await fetch(`${own.base}/commitments/${id}`)).json()).commitment, fingerprint);
  const first = new URL(page.url()).searchParams.get('deal'); // before the click, which may be done at once
  await page.fill('input[name=client_seed]', '');
  await page.click('button.main');
  await page.waitForFunction((id) => !location.search.includes(id), first);
  assert.deepEqual(
    sent.map(([path, {deck, hands, client_seed: cut}]) => [
      path,
      deck,
      hands,
      cut?.replace(/^[\da-f-]{36}$/, 'random'),
    ]),
    [
      ['/commitments', 'standard52', 'bridge', undefined],
      ['/shuffle', undefined, undefined, 'ann'],
      ['/commitments', 'standard52', 'bridge', undefined],
      ['/shuffle', undefined, undefined, 'random'],
    ],
  );
  const {commitments} = await (await fetch(`${own.base}/commitments?status=open`)).json();
  assert.deepEqual(commitments, []);
  assert.deepEqual(wrong, []);
  await close();
});

test('a deal needs no commitment, and a fingerprint that is not of the deal is told', async () => {
  const {page, close} = await open(browser, `${service.base}/?hands=bridge`);
  for (const status of [401, 403, 503]) {
    await page.route('**/commitments', (route) => route.fulfill({status, json: {detail: 'no'}}));
    await page.click('button.main');
    await page.waitForURL(/deal=/);
    await page.waitForSelector('.hand img[src]');
    assert.equal(await page.locator('.fingerprint, [role=alert]').count(), 0);
    await page.goto(`${service.base}/?hands=bridge`);
    await page.waitForSelector('.down');
  }
  await page.route('**/commitments', async (route) => {
    const answer = await (await route.fetch()).json();
    await route.fulfill({json: {...answer, commitment: '0'.repeat(64)}});
  });
  await page.click('button.main');
  await page.locator('.fingerprint a.false').getByText('does not match').waitFor();
  await close();
});

test('Back takes a deal off the table, and Forward lays it again', async () => {
  const {page, order, wrong, close} = await deal('standard52', 1280, (page) => page.selectOption('#hands', 'bridge')),
    shown = () => codes(page, '.felt .hand img'),
    idOf = (url) => new URL(url).searchParams.get('deal'),
    isShown = (id) => page.locator(`.facts a[href*="${id}"]`).waitFor();
  const dealt = await shown(),
    first = idOf(page.url());
  assert.deepEqual(dealt.toSorted(), order.toSorted());
  assert.deepEqual(await page.locator('.seat').allTextContents(), ['North', 'East', 'South', 'West']);
  await page.click('button.main');
  await page.waitForURL((url) => idOf(url) !== first);
  await isShown(idOf(page.url()));
  await page.goBack();
  await isShown(first);
  assert.deepEqual(await shown(), dealt);
  await page.goBack();
  await page.waitForSelector('.felt .empty');
  assert.equal(idOf(page.url()), null);
  await page.goForward();
  await isShown(first);
  assert.deepEqual(await shown(), dealt);
  await page.reload();
  await isShown(first);
  assert.deepEqual(await shown(), dealt);
  await page.getByRole('button', {name: 'Check it here'}).click();
  await page.getByText('Verified: this is the order that was dealt, and it follows from the seed.').waitFor();
  assert.deepEqual(wrong, []);
  await close();
});

test('Back lays a deal again after another deck was chosen, also if the reader is faster than the names', async () => {
  const {page, close} = await deal('standard52', 1280),
    idOf = (url) => new URL(url).searchParams.get('deal'),
    isShown = (id) => page.locator(`.facts a[href*="${id}"]`).waitFor(),
    first = idOf(page.url());
  await page.selectOption('form select', 'uno108');
  await page.click('button.main');
  await page.waitForURL((url) => idOf(url) !== first);
  const second = idOf(page.url());
  await isShown(second);
  await page.goBack();
  await isShown(first);
  assert.equal(idOf(page.url()), first);
  await page.goForward();
  await isShown(second);
  let answer;
  await page.route('**/decks/standard52/cards', (route) => {
    answer = () => route.continue();
  });
  await page.reload();
  await isShown(second);
  const asked = page.waitForRequest('**/decks/standard52/cards');
  await page.goBack();
  await asked;
  await page.goForward();
  await isShown(second);
  const answered = page.waitForResponse('**/decks/standard52/cards');
  await answer();
  await answered;
  await page.waitForTimeout(200);
  await isShown(second);
  await close();
});

test('only bridge and mahjong have seats of the compass', async () => {
  const {page, close} = await deal('uno108', 1280, async (page) => {
    await page.selectOption('#hands', 'sizes');
    await page.locator('[name=sizes]').fill('7 7 7 7');
  });
  assert.deepEqual(await page.locator('.hands h3').allTextContents(), ['Player 1', 'Player 2', 'Player 3', 'Player 4']);
  await close();
});
