// The picture of the README: the table, with a deal that is always the same. Fonts differ between
// machines, so the picture in docs/ has to show nearly what the page shows now. PICTURE=write
// writes it anew (make picture).
import assert from 'node:assert/strict';
import {readFile, writeFile} from 'node:fs/promises';
import {after, before, test} from 'node:test';
import {browse, open, start} from './service.mjs';

const suits = ['S', 'H', 'D', 'C'],
  ranks = 'AKQJT98765432';
let service, browser;

before(async () => {
  [service, browser] = await Promise.all([start(), browse()]);
});
after(async () => {
  await browser.close();
  await service.stop();
});

/** deal is an answer of the service for bridge, whose order is the multiples of 23 modulo 53. */
function deal() {
  const cards = Array.from({length: 52}, (_, i) => ((23 * (i + 1)) % 53) - 1).map(
    (n) => ranks[n % 13] + suits[Math.floor(n / 13)],
  );
  const digest = 'b30e50ef7ddeb0a1d2c3f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b';
  return {
    audit_id: '01a201b9-1999-7029-87cf-accc50ccacbf',
    log_index: 0,
    algorithm: 'fisher-yates',
    commitment: digest,
    seed: digest,
    hands: [0, 1, 2, 3].map((hand) => cards.slice(13 * hand, 13 * hand + 13)),
    rest: [],
  };
}

/** draw returns the picture in a theme. */
async function draw(colorScheme) {
  const {page, wrong, close} = await open(browser, `${service.base}/`, {
    viewport: {width: 900, height: 900},
    colorScheme,
    locale: 'en',
  });
  await page.route('**/shuffle', (route) => route.fulfill({json: deal()}));
  await page.route('**/commitments', (route) => route.fulfill({json: {}}));
  await page.click('.games button'); // bridge
  await page.waitForFunction(
    () =>
      document.querySelectorAll('.felt img').length === 52 &&
      [...document.images].every((image) => image.naturalWidth > 0),
  );
  await page.mouse.move(0, 0);
  await page.evaluate(() => {
    document.activeElement.blur();
    scrollTo(0, 0);
  });
  const felt = await page.locator('.felt').boundingBox();
  const clip = {x: 0, y: 0, width: 900, height: Math.ceil(felt.y + felt.height + 16)};
  const picture = await page.screenshot({type: 'jpeg', quality: 82, clip, fullPage: true});
  assert.deepEqual(wrong, []);
  await close();
  return picture;
}

/** difference returns the share of pixels that two pictures of one size do not have in common; 1 for other sizes. */
async function difference(...pictures) {
  const page = await browser.newPage();
  const share = await page.evaluate(
    async (texts) => {
      const [a, b] = await Promise.all(
        texts.map(async (text) => {
          const bitmap = await createImageBitmap(await (await fetch(`data:image/jpeg;base64,${text}`)).blob());
          const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d');
          context.drawImage(bitmap, 0, 0);
          return context.getImageData(0, 0, bitmap.width, bitmap.height);
        }),
      );
      if (a.width !== b.width || Math.abs(a.height - b.height) > 24) return 1;
      let differ = 0;
      for (let i = 0; i < Math.min(a.data.length, b.data.length); i += 4) {
        if ([0, 1, 2].some((c) => Math.abs(a.data[i + c] - b.data[i + c]) > 48)) differ++;
      }
      return differ / (a.data.length / 4);
    },
    pictures.map((picture) => picture.toString('base64')),
  );
  await page.close();
  return share;
}

for (const theme of ['light', 'dark']) {
  test(`the README shows the table, ${theme}`, async () => {
    const file = new URL(`../../docs/table-${theme}.jpg`, import.meta.url),
      drawn = await draw(theme);
    assert.ok(drawn.length < 200_000, `${drawn.length} bytes`);
    if (process.env.PICTURE === 'write') await writeFile(file, drawn);
    const share = await difference(drawn, await readFile(file));
    assert.ok(
      share < 0.2,
      `docs/table-${theme}.jpg differs from the page in ${(100 * share).toFixed(1)} % of its pixels; run make picture`,
    );
  });
}
