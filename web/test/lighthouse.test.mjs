// Lighthouse's scores of every page, on a phone and on a desktop, at night. It simulates a slow network and a
// slow processor from what it measures, which a busy machine disturbs: a page has three attempts.
import assert from 'node:assert/strict';
import {after, before, test} from 'node:test';
import {launch} from 'chrome-launcher';
import lighthouse, {desktopConfig} from 'lighthouse';
import {browserPath, shuffle, start} from './service.mjs';

const least = 0.95,
  attempts = 3;
const paths = ['/', '/verify', '/fairness', '/explore', '/docs', '/docs/guides/shuffle-and-draw'];
let service, chrome;

before(async () => {
  const browser = {
    chromePath: browserPath,
    chromeFlags: ['--headless=new', '--no-sandbox'],
  };
  [service, chrome] = await Promise.all([start(), launch(browser)]);
  for (let i = 0; i < 20; i++) await shuffle(service.base, {deck: 'standard52', reveal: 'now'});
});
after(async () => {
  chrome.kill();
  await service.stop();
});

/** measure returns the categories of a page whose score is too low, with the audits that cost points. */
async function measure(url, config) {
  const {lhr} = await lighthouse(
    url,
    {port: chrome.port, onlyCategories: ['performance', 'accessibility'], logLevel: 'error'},
    config,
  );
  return Object.values(lhr.categories)
    .filter(({score}) => score < least)
    .map(({id, score, auditRefs}) => {
      const costly = auditRefs
        .map((ref) => ({...ref, ...lhr.audits[ref.id]}))
        .filter((audit) => audit.weight > 0 && audit.score !== null && audit.score < 1);
      const costs = costly.map((audit) => `${audit.id} ${audit.score} ${audit.displayValue ?? ''}`);
      return `${id} ${score}: ${costs.join(', ')}`;
    });
}

const devices = [
  ['a phone', undefined],
  ['a desktop', desktopConfig],
];
for (const path of paths) {
  for (const [device, config] of devices) {
    test(`${path} on ${device}`, async () => {
      let low;
      for (let i = 0; i < attempts && low?.length !== 0; i++) low = await measure(service.base + path, config);
      assert.deepEqual(low, []);
    });
  }
}
