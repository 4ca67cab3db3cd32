// Prints how fast the pages are in Chromium: the first paint of each, and the time of /verify
// from an opened file to the verdict, for one proof and for a shoe of 4,096 cards and
// 500 changes. It asserts nothing. /log/key is a line of text, whose paint is the browser's
// own time.
//
//   make page-speed
import {browse, open, shuffle, start} from './test/service.mjs';

const pages = ['/log/key', '/', '/verify', '/fairness', '/explore', '/docs', '/docs/guides/verify'];
const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1];
const milliseconds = (numbers) =>
  `${median(numbers).toFixed(0)} ms (${Math.min(...numbers).toFixed(0)} to ${Math.max(...numbers).toFixed(0)})`;

/** busyShoe deals from a shoe of 4,096 cards: draws from the top and at random, piles, returns, and two reshuffles. */
async function busyShoe(base) {
  const send = async (path, body) => {
    const answer = await fetch(`${base}/shoes${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: {'Content-Type': 'application/json'},
    });
    if (!answer.ok) throw new Error(await answer.text());
    return answer.json();
  };
  const {shoe_id: id} = await send('', {deck: 'piquet32', decks: 128, expires_in: 3600});
  for (let change = 1; change < 500; change++) {
    if (change % 200 === 0) await send(`/${id}/reshuffle`, {cards: 'all'});
    else if (change % 20 === 0) await send(`/${id}/return`, {cards: 'all'});
    else if (change % 10 === 0) await send(`/${id}/draw`, {count: 2, from: 'random'});
    else await send(`/${id}/draw`, change % 3 ? {count: 1 + (change % 5)} : {count: 2, to: `hand${change % 8}`});
  }
  await send(`/${id}/close`, {});
  return proofOf(`${base}/shoes/${id}/proof`);
}

/** proofOf fetches a proof, once a checkpoint covers it. */
async function proofOf(address) {
  for (;;) {
    const answer = await fetch(address);
    if (answer.ok) return answer.text();
    if (answer.status !== 503) throw new Error(await answer.text());
    await new Promise((done) => setTimeout(done, 50));
  }
}

/** verified drops texts on the page, and returns the milliseconds until their verdict was drawn. */
const verified = (page, texts) =>
  page.evaluate(async (texts) => {
    const dropped = new DataTransfer(),
      form = document.querySelector('form');
    texts.forEach((text, i) => dropped.items.add(new File([text], `${i}.json`)));
    const seen = new Promise((done) => {
      const watch = new MutationObserver(() => {
        if (!document.querySelector('.verdict.verified')) return;
        watch.disconnect();
        requestAnimationFrame(() => setTimeout(done));
      });
      watch.observe(document.getElementById('main'), {childList: true, subtree: true});
    });
    const began = performance.now();
    form.dispatchEvent(new DragEvent('drop', {dataTransfer: dropped, bubbles: true, cancelable: true}));
    await seen;
    return performance.now() - began;
  }, texts);

const service = await start(),
  browser = await browse();
try {
  const {audit_id: id} = await shuffle(service.base, {deck: 'standard52', reveal: 'now'});
  const key = await (await fetch(`${service.base}/log/key`)).text(),
    proof = await proofOf(`${service.base}/audits/${id}/proof`);
  const shoe = await busyShoe(service.base);
  for (const path of pages) {
    const times = [];
    for (let run = 0; run < 7; run++) {
      // each in a context of its own, with nothing cached
      const {page, close} = await open(browser, service.base + path);
      times.push(await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0].startTime));
      await close();
    }
    console.log(`first paint of ${path}: ${milliseconds(times)}`);
  }
  for (const [what, text] of [
    ['a proof', proof],
    [`a shoe of 4,096 cards and ${shoe.trim().split('\n').length - 1} changes`, shoe],
  ]) {
    const times = [];
    for (let run = 0; run < 5; run++) {
      const {page, close} = await open(browser, `${service.base}/verify`);
      await page.waitForSelector('form');
      times.push(await verified(page, [text, key]));
      await close();
    }
    console.log(`/verify of ${what}: ${milliseconds(times)}`);
  }
} finally {
  await browser.close();
  await service.stop();
}
