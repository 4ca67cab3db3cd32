// What the laboratory measures is what Go measures: the statistics of internal/fairness, on the same orders.
import assert from 'node:assert/strict';
import {readFile} from 'node:fs/promises';
import {createRequire} from 'node:module';
import {after, before, test} from 'node:test';
import {browse, open, sizeOf, start, startWithKey} from './service.mjs';

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const vectors = JSON.parse(await readFile(new URL('../../testdata/fairness.json', import.meta.url), 'utf8'));
let service, browser;

before(async () => {
  [browser, service] = await Promise.all([browse(), start()]);
});
after(async () => {
  await browser.close();
  await service.stop();
});

/** xorshift returns the integers that the vectors are made with. */
function xorshift(state) {
  return (n) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % n;
  };
}

/** ordersOf makes the orders of a vector, one after the other. */
function ordersOf({shuffle, n, runs}) {
  const orders = new Uint8Array(n * runs);
  let below = xorshift(2463534242 | 0);
  for (let run = 0; run < runs; run++) {
    const a = orders.subarray(run * n, run * n + n);
    const swap = (i, j) => {
      [a[i], a[j]] = [a[j], a[i]];
    };
    a.forEach((_, i) => {
      a[i] = i;
    });
    if (shuffle === 'few') below = xorshift(((run + 1) % 500) + 1);
    for (let i = 0; i < n; i++) {
      if (shuffle === 'any-place') swap(i, below(n));
      else if (shuffle === 'sattolo' && i < n - 1) swap(i, i + 1 + below(n - i - 1));
      else if (i < n - 1) swap(i, i + below(n - i));
    }
  }
  return orders;
}

/** agree tells whether two numbers are equal to a billionth. */
const agree = (a, b) =>
  a === b ||
  Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b)) ||
  Math.max(Math.abs(a), Math.abs(b)) < 1e-290;

const camel = (name) => name.replace(/_(.)/g, (_, letter) => letter.toUpperCase());

function compare(got, want, of) {
  assert.deepEqual(
    got.map(({name}) => name),
    want.map(({name}) => camel(name)),
    of,
  );
  want.forEach((finding, i) => {
    for (const member of ['runs', 'needed', 'x', 'freedom', 'p', 'mean', 'expected']) {
      const expected = Number(finding[member] ?? 0),
        found = got[i][member] ?? 0;
      assert.ok(agree(found, expected), `${of}, ${finding.name}: ${member} is ${found}, and Go has ${expected}`);
    }
  });
}

test("the laboratory's worker finds what Go finds in the same orders", async () => {
  const {page, close} = await open(browser, `${service.base}/fairness`, {bypassCSP: true});
  for (const vector of vectors) {
    const measured = await page.evaluate(
      async ({n, runs, base64}) => {
        const {'lab/worker': name, worker} = JSON.parse(document.documentElement.dataset.workers),
          bytes = await (await fetch(`data:;base64,${base64}`)).arrayBuffer();
        const policy = trustedTypes.createPolicy(`test-${Math.random()}`, {createScriptURL: (url) => url});
        const meter = new Worker(policy.createScriptURL(`/static/${worker ?? name}`), {type: 'module'});
        meter.postMessage({n, runs, shuffle: 'own', cyclic: true, token: ''});
        meter.postMessage({orders: new Uint8Array(bytes), last: true});
        return new Promise((found) => {
          meter.onmessage = ({data}) => {
            if (data.done) found(data.measurement);
          };
        });
      },
      {...vector, base64: Buffer.from(ordersOf(vector)).toString('base64')},
    );
    const of = `${vector.shuffle} of ${vector.n}, ${vector.runs} runs`;
    compare(measured.findings, vector.findings, of);
    compare(measured.cyclic ?? [], vector.cyclic ?? [], `${of}, among cycles`);
  }
  await close();
});

/** run measures a setting on the page and waits for the end. */
async function run(page, setting) {
  await page.evaluate(
    (hash) =>
      new Promise((followed) => {
        addEventListener('hashchange', () => setTimeout(followed), {once: true}); // after the page's own listener
        location.hash = hash;
      }),
    setting,
  );
  await page.click('button.main'); // waits for the run that a link begins
  await page.waitForSelector('button.main:enabled');
}

for (const [locale, single, several] of [
  ['en', 'one ring through all 9 cards', /[2-9] rings of 9 cards/],
  ['zh-CN', '全部 9 张牌连成一个环', /9 张牌连成 [2-9] 个环/],
]) {
  test(`the cycles of the last order are rings, in ${locale}`, async () => {
    const {page, wrong, close} = await open(browser, `${service.base}/fairness`, {locale});
    await run(page, 'n=9&shuffle=sattolo&runs=300');
    assert.equal(await page.locator('.ring').count(), 1);
    const ring = (await page.locator('.ring').getAttribute('aria-label')).split(' → ').map(Number);
    assert.deepEqual([ring.length, ring[0], ring[9]], [10, 1, 1]);
    assert.deepEqual(ring.slice(0, 9).toSorted(), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
    await page.getByText(single).waitFor();
    await run(page, 'n=9&shuffle=off-by-one&runs=300'); // the last card stays
    const rings = await page
      .locator('.ring')
      .evaluateAll((list) => list.map((ring) => ring.getAttribute('aria-label')));
    assert.ok(rings.length > 1 && rings.includes('9 → 9'), rings.join(', '));
    assert.match(await page.locator('.rings + p').textContent(), several);
    assert.deepEqual(wrong, []);
    await close();
  });
}

test('too few runs are not judged', async () => {
  const {page, close} = await open(browser, `${service.base}/fairness`);
  await run(page, 'n=52&shuffle=fisher-yates&runs=519');
  assert.equal(await page.locator('.verdict').textContent(), 'Not enough to judge: it takes 520 runs or more.');
  assert.match(await page.locator('.statistics').textContent(), /needs 520 runs/);
  await run(page, 'n=52&shuffle=fisher-yates&runs=520');
  assert.match(await page.locator('.verdict').getAttribute('class'), /verified/);
  await close();
});

test('purple is more often than it should be, orange less', async () => {
  const {page, close} = await open(browser, `${service.base}/fairness`);
  await run(page, 'n=4&shuffle=off-by-one&runs=400'); // card 4 is always at place 4
  const [never, always] = await page.locator('#positions image').evaluate(async (raster) => {
    const image = new Image(),
      canvas = document.createElement('canvas'),
      context = canvas.getContext('2d');
    image.src = raster.getAttribute('href') ?? raster.getAttributeNS('http://www.w3.org/1999/xlink', 'href');
    await image.decode();
    context.drawImage(image, 0, 0);
    return [context.getImageData(3, 0, 1, 1).data, context.getImageData(3, 3, 1, 1).data].map(
      ([red, , blue]) => blue - red,
    );
  });
  assert.ok(never < 0 && always > 0, `${never} ${always}`);
  await close();
});

test('a measurement is saved, and a link restores its setting', async () => {
  const {page, wrong, close} = await open(browser, `${service.base}/fairness#n=4&shuffle=any-place&runs=20000`);
  await page.click('button.main');
  await page.waitForSelector('button.main:enabled');
  const saved = async (picture, format) => {
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.locator(`#${picture} ~ .actions`).first().getByText(format).click(),
    ]);
    return readFile(await download.path());
  };
  for (const picture of ['positions', 'orders']) {
    assert.equal((await saved(picture, 'PNG')).subarray(1, 4).toString(), 'PNG');
    const svg = (await saved(picture, 'SVG')).toString();
    assert.match(svg, /^<svg[\s\S]*<\/svg>$/);
    assert.doesNotMatch(svg, /var\(/);
  }
  const rows = (await saved('orders', 'CSV'))
    .toString()
    .trim()
    .split('\n')
    .map((row) => row.split(','));
  assert.deepEqual(
    [rows.length, rows[1][0], rows.slice(1).reduce((sum, row) => sum + Number(row[1]), 0)],
    [25, '1 2 3 4', 20000],
  );
  assert.equal((await saved('positions', 'CSV')).toString().split('\n')[0], 'place,card 1,card 2,card 3,card 4');
  const link = await page.getByText('Link to this setting').getAttribute('href');
  const again = await open(browser, `${service.base}/fairness${link}`);
  assert.deepEqual(
    await again.page.locator('form select, form input').evaluateAll((fields) => fields.map(({value}) => value)),
    ['any-place', '4', '20000'],
  );
  assert.deepEqual([...wrong, ...again.wrong], []);
  await Promise.all([close(), again.close()]);
});

for (const [width, colorScheme, locale] of [
  [390, 'dark', 'zh-CN'],
  [1200, 'light', 'en'],
]) {
  test(`a measurement is accessible at ${width} px, ${colorScheme}, ${locale}`, async () => {
    const {page, wrong, close} = await open(browser, `${service.base}/fairness`, {
      viewport: {width, height: 900},
      colorScheme,
      locale,
      bypassCSP: true,
    });
    await page.addScriptTag({path: axe});
    for (const setting of ['n=5&shuffle=any-place&runs=2000', 'n=52&shuffle=sattolo&runs=2000']) {
      await run(page, setting);
      const {violations} = await page.evaluate(() =>
        axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']}),
      );
      assert.deepEqual(
        violations.map(({id, nodes}) => `${id}: ${nodes[0].html.slice(0, 200)}`),
        [],
      );
      assert.ok(
        await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
        'the page is wider than the window',
      );
    }
    assert.deepEqual(wrong, []);
    await close();
  });
}

test('each algorithm is shown step by step, with its choices', async () => {
  const {page, wrong, close} = await open(browser, `${service.base}/fairness`);
  const openPlaces = () => page.locator('.slots .open').count();
  for (const [name, choices, left] of [
    ['strike-out', '6 × 5 × 4 × 3 × 2 × 1 = 720', 5],
    ['fisher-yates', '6 × 5 × 4 × 3 × 2 = 720', 5],
    ['durstenfeld', '6 × 5 × 4 × 3 × 2 = 720', 5],
    ['inside-out', '1 × 2 × 3 × 4 × 5 × 6 = 720', 2],
    ['sattolo', '5 × 4 × 3 × 2 × 1 = 120. Six cards have 120 single cycles', 4],
    ['Naive shuffle (swap with any place)', '6 × 6 × 6 × 6 × 6 × 6 = 46,656', 6],
  ]) {
    await page.locator('.tabs').getByText(name, {exact: true}).click();
    await page.getByText('Next step').click();
    assert.equal(await openPlaces(), left, name);
    while (await page.getByText('Next step').isEnabled()) await page.getByText('Next step').click();
    assert.equal(await openPlaces(), 0, name);
    const cards = (await page.locator('.slots').last().locator('li').allTextContents()).map(Number);
    assert.deepEqual(cards.toSorted(), [1, 2, 3, 4, 5, 6], name);
    if (name === 'sattolo')
      assert.ok(
        cards.every((card, place) => card !== place + 1),
        'a card stays',
      );
    await page.getByText(`Choices: ${choices}`).waitFor();
  }
  assert.deepEqual(wrong, []);
  await close();
});

test('cards slide from step to step, unless less motion is asked for', async () => {
  for (const [reducedMotion, count] of [
    ['no-preference', 1],
    ['reduce', 0],
  ]) {
    const {page, wrong, close} = await open(browser, `${service.base}/fairness#n=3`, {reducedMotion});
    await page.getByText('Next step').click();
    const sliding = await page.evaluate(
      () => document.getAnimations().filter(({effect}) => effect.target.dataset.card !== undefined).length,
    );
    assert.equal(sliding, count, reducedMotion);
    assert.equal(await page.locator('.slots s').count(), 1, 'one number is crossed out');
    assert.deepEqual(wrong, []);
    await close();
  }
});

test('the laboratory opens with a wrong shuffle beside a fair one, and writes no record', async () => {
  const before = await sizeOf(service.base),
    {page, wrong, close} = await open(browser, `${service.base}/fairness`),
    outcomes = page.locator('.outcome');
  await outcomes.nth(0).getByText('almost never do this: 100,000 runs').waitFor();
  await outcomes.nth(1).getByText('Looks fair: 100,000 runs').waitFor();
  // The law of the naive shuffle puts card j + 1 most often at place j, 1.37 times as often at the ends.
  const [, card, place, ratio, fair] = /^Card (\d+) lands at place (\d+): (.+) times as .+: (.+) times\.$/.exec(
    await page.locator('.hero .reading').textContent(),
  );
  assert.ok(card > place && ratio > 1.3 && ratio < 1.5 && fair > 0.85 && fair < 1.15, `${card} ${place} ${ratio}`);
  const hero = page.locator('.hero'),
    matrix = hero.locator('canvas').first();
  await matrix.hover({position: {x: 1, y: 1}});
  await hero.getByText(/^Card 1 lands at place 1: /).waitFor();
  for (const key of ['ArrowLeft', 'ArrowRight', 'ArrowDown', 'ArrowDown']) await matrix.press(key);
  await hero.getByText(/^Card 2 lands at place 3: /).waitFor();
  assert.equal(await hero.locator('.cell').count(), 2);
  await page.getByRole('button', {name: 'Off by one'}).click();
  await outcomes.nth(0).getByText('almost never do this').waitFor();
  const {width, height} = await matrix.boundingBox();
  await matrix.hover({position: {x: width - 2, y: height - 2}});
  await hero.getByText(/^Card 52 lands at place 52: 52.00 times/).waitFor();
  assert.equal(await sizeOf(service.base), before);
  await close();
  const moving = await open(browser, `${service.base}/fairness`, {reducedMotion: 'no-preference'});
  await moving.page.getByText('Stop').click();
  await moving.page.getByText('Again').first().waitFor();
  assert.doesNotMatch(await moving.page.locator('.outcome').first().textContent(), /100,000/);
  await moving.close();
  const linked = await open(browser, `${service.base}/fairness#n=5&shuffle=fisher-yates&runs=2000`);
  assert.equal(await linked.page.locator('.verdict, .waiting').count(), 0);
  assert.match(await linked.page.locator('.outcome').first().textContent(), /^0 runs/);
  assert.deepEqual(moving.wrong, []);
  assert.deepEqual([...wrong, ...linked.wrong], []);
  await linked.close();
});

test('the ways of three cards fall into the orders', async () => {
  const {page, wrong, close} = await open(browser, `${service.base}/fairness`),
    why = page.locator('.why'),
    fallen = () =>
      why.locator('circle').evaluateAll((dots) => {
        const bins = Object.groupBy(dots, (dot) => Math.round(dot.getAttribute('cx')));
        return Object.values(bins).map(({length}) => length);
      });
  await why.getByText('3 × 3 × 3 choices make 27 ways').waitFor();
  assert.deepEqual(await why.locator('tspan').allTextContents(), ['4', '5', '5', '5', '4', '4']);
  assert.deepEqual(await fallen(), [4, 5, 5, 5, 4, 4]);
  assert.deepEqual(await why.locator('.more[r]').count(), 15);
  await why.getByText('Fair shuffle').click();
  await why.getByText('3 × 2 × 1 choices make 6 ways').waitFor();
  assert.deepEqual(await fallen(), [1, 1, 1, 1, 1, 1]);
  assert.deepEqual(wrong, []);
  await close();
});

test('riffles are as far from fair as Bayer and Diaconis found', async () => {
  const {page, wrong, close} = await open(browser, `${service.base}/fairness`),
    riffles = page.locator('.riffles'),
    slider = riffles.locator('input');
  assert.deepEqual(
    (await riffles.locator('#distances svg').textContent()).match(/[01]\.\d{3}/g),
    ['1.000', '1.000', '1.000', '1.000', '0.924', '0.614', '0.334', '0.167', '0.085', '0.043'], // their table 1
  );
  await riffles.getByText('from a fair one 67 times in 100').waitFor();
  await slider.press('Home');
  await riffles.getByText('1 riffle by hand').waitFor();
  await riffles.getByText('Now there are 2.0 on average; a fair shuffle has 26.5').waitFor();
  // The first card stays on top or has k cards of the lower packet before it, with probability 2^-k.
  await riffles.getByText('Card 1 lands at place 1: 26.00 times').waitFor();
  await riffles.locator('canvas').first().press('ArrowDown');
  await riffles.getByText('Card 1 lands at place 2: 13.00 times').waitFor();
  for (const key of ['ArrowUp', 'ArrowRight']) await riffles.locator('canvas').first().press(key);
  await riffles.getByText('Card 2 lands at place 1: 0.00 times').waitFor();
  assert.deepEqual(wrong, []);
  await close();
});

test('with keys, the laboratory asks for a token, and says that the service has gone', async () => {
  const own = await startWithKey('shuffle'),
    {token} = own,
    {page, close} = await open(browser, `${own.base}/fairness#n=5&shuffle=fisher-yates&runs=20000`);
  await page.click('button.main');
  await page.fill('input[name=token]', token);
  await page.click('.problem button');
  await page.waitForSelector('.verdict');
  await own.stop();
  await page.click('button.main');
  await page.getByText('The service cannot be reached').waitFor();
  await page.selectOption('select', 'any-place'); // needs no service, and 2,000 runs would not always show it
  await page.click('button.main');
  await page.waitForSelector('.verdict.failed');
  assert.equal(await page.locator('.problem').count(), 0);
  await close();
});

test('the laboratory measures the orders of a file, which stays in the browser', async () => {
  const {page, wrong, close} = await open(browser, `${service.base}/fairness`);
  const requests = [];
  await page.selectOption('form select', 'file');
  page.on('request', (request) => requests.push(request.url()));
  const run = async (text) => {
    await page.setInputFiles('input[type=file]', {
      name: 'orders.txt',
      mimeType: 'text/plain',
      buffer: Buffer.from(text),
    });
    await page.click('button.main');
  };
  const lines = (shuffle, write) => {
    const orders = ordersOf({shuffle, n: 5, runs: 20_000});
    return Array.from({length: 20_000}, (_, i) => write([...orders.subarray(5 * i, 5 * i + 5)])).join('\n');
  };
  try {
    for (const [shuffle, write, verdict] of [
      ['sattolo', (a) => a.join(','), /almost never do this: 20,000 runs show/],
      ['fair', (a) => JSON.stringify(a.map((card) => `card ${card}`)), /Looks fair: 20,000 runs/],
      ['any-place', (a) => a.map((card) => card + 1).join(' '), /almost never do this: 20,000 runs show/],
      ['fair', (a) => `\ufeff${JSON.stringify(a.map((card) => (card ? `c${card}` : null)))}`, /Looks fair/],
    ]) {
      await run(lines(shuffle, write));
      await page.locator('.verdict', {hasText: verdict}).waitFor();
      assert.match(await page.locator('.results h2').textContent(), /A file of orders, 5 cards, 20,000 runs/);
    }
    for (const [text, problem] of [
      ['', 'The file has no orders'],
      ['1 2 3\n1 2 2', 'Line 2 must have every item'],
      ['1 2 3\n1 2', 'Line 2 must have every item'],
      ['1', 'The first line must have 2 to 256 different items'],
      ['1 1', 'The first line must have'],
      ['1,,2', 'Line 1 is no list'],
      ['[[1,2],[2,1]]', 'Line 1 is no list'],
      [`${'1 '.repeat(40_000)}`, 'A line is longer'],
      ['1 2\u0001', 'Line 1 is no list'],
      [Buffer.from([0xff, 0xfe, 0x31]), 'not text in UTF-8'],
    ]) {
      await run(text);
      await page.getByText(problem).waitFor();
    }
    const dropped = await page.evaluateHandle(
      (text) => {
        const data = new DataTransfer();
        data.items.add(new File([text], 'orders.csv'));
        return data;
      },
      lines('sattolo', String),
    );
    await page.dispatchEvent('.hero', 'dragover', {dataTransfer: dropped});
    await page.locator('main > .over').waitFor();
    await page.dispatchEvent('.hero', 'drop', {dataTransfer: dropped});
    await page.locator('main > :not(.over) > form + .results ~ .hero').waitFor(); // it comes first
    await page.locator('.verdict', {hasText: 'almost never do this: 20,000 runs show'}).waitFor();
    await page.locator('form').getByText('orders.csv').waitFor();
    assert.deepEqual(wrong, []);
    assert.deepEqual(
      requests.filter((url) => !url.startsWith(`${service.base}/static/`)),
      [],
    );
  } finally {
    await close();
  }
});

test('the p beside a chi-squared is the p of that test', async () => {
  const {page, wrong, close} = await open(browser, `${service.base}/fairness`);
  await run(page, 'n=3&shuffle=fisher-yates&runs=30000');
  const rows = await page
    .locator('.statistics tbody tr')
    .evaluateAll((list) => list.map((row) => [...row.cells].map(({textContent}) => textContent)));
  const ofTwo = rows.filter(([, , freedom]) => freedom === '2');
  assert.ok(ofTwo.length > 0, JSON.stringify(rows));
  await page.getByText('For statisticians').click();
  // With two degrees of freedom the tail is exp(-x / 2); x is shown to a tenth.
  for (const [name, x, , p] of ofTwo) assert.ok(Math.abs(Number(p) - Math.exp(-x / 2)) < 0.03, `${name}: ${x}, ${p}`);
  await page.getByText('three times the least p of distribution, mean and variance').first().waitFor();
  assert.deepEqual(wrong, []);
  await close();
});
