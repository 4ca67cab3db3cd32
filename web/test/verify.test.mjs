// What /verify finds of records, hands and shoes, with the words of riffle verify.
import assert from 'node:assert/strict';
import {after, before, test} from 'node:test';
import decode from 'qr/decode.js';
import {browse, open, shuffle, start} from './service.mjs';

let service, browser;

before(async () => { [browser, service] = await Promise.all([browse(), start()]); });
after(async () => {
  await browser.close();
  await service.stop();
});

/** post changes a shoe. */
async function post(path, body = {}) {
  const answer = await fetch(`${service.base}/shoes${path}`, {method: 'POST', body: JSON.stringify(body), headers: {'Content-Type': 'application/json'}});
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}

/** get fetches a text, once a checkpoint covers what it is of. */
async function get(base, path) {
  for (;;) {
    const answer = await fetch(base + path);
    if (answer.ok) return answer.text();
    if (answer.status !== 503) throw new Error(await answer.text());
    await new Promise((done) => setTimeout(done, 50));
  }
}

/** deal makes a shoe from which cards were drawn, to a pile and to none. */
async function deal(body = {}) {
  const shoe = await post('', {deck: 'standard52', expires_in: 3600, ...body});
  await post(`/${shoe.shoe_id}/draw`, {count: 3});
  const drawn = await post(`/${shoe.shoe_id}/draw?proof=true`, {count: 2, to: 'alice'});
  return {...shoe, drawn};
}

const give = (page, ...texts) => page.setInputFiles('input[type=file]', texts.map((text, i) => ({name: `${i}.json`, mimeType: 'application/json', buffer: Buffer.from(text)})));

/** says waits for a verdict and a first line. */
async function says(page, verdict, headline) {
  await page.locator('.report').getByText(headline).waitFor();
  assert.equal(await page.locator('.report .verdict').getAttribute('class'), `verdict ${verdict}`);
}

test('a shoe by its id: what is known while it is open, its hands, and all of it once it is closed', async () => {
  const {shoe_id: id, audit_id: first} = await deal();
  const {page, wrong, close} = await open(browser, `${service.base}/verify`);
  await page.fill('textarea', id);
  await page.click('button.main');
  await says(page, 'unchecked', /^Not checked to the end: the first record of the shoe and its 2 change\(s\) are in .*, and fit together; but the step order could not be checked\./);
  await page.getByText('This shoe is open').waitFor();
  assert.ok(!page.url().includes(id) && !(await page.locator('.report').innerHTML()).includes(id), 'the secret id is in a link');
  assert.ok(page.url().endsWith(`?id=${first}`));
  await page.getByRole('button', {name: 'Pile alice: 2'}).click();
  await says(page, 'verified', /^Verified: the 2 card\(s\) of the hand were sealed at their positions; /);
  await page.getByRole('button', {name: 'Dealt: 3'}).click();
  await says(page, 'verified', /^Verified: the 3 card\(s\) of the hand/);
  await post(`/${id}/close`);
  await page.goto(`${service.base}/verify?id=${id}`);
  await says(page, 'verified', /^Verified: the whole shoe, from its first record to its last/);
  await page.getByText('This shoe is closed').waitFor();
  assert.ok(page.url().endsWith(`?id=${id}`));
  assert.deepEqual(wrong, []);
  await close();
});

test('a shoe that is over', async () => {
  const {shoe_id: id} = await deal();
  assert.ok((await fetch(`${service.base}/shoes/${id}`, {method: 'DELETE'})).ok);
  const {page, close} = await open(browser, `${service.base}/verify?id=${id}`);
  await says(page, 'unchecked', /but the step order could not be checked/);
  await page.getByText('This shoe is over, but was not closed').waitFor();
  assert.ok(!page.url().includes(id));
  await close();
});

test('a record of a shoe leads to the others', async () => {
  const {shoe_id: id, audit_id: first, drawn} = await deal({reference: 'table 1'});
  await post(`/${id}/close`);
  const {page, close} = await open(browser, `${service.base}/verify?id=${drawn.audit_id}`);
  await says(page, 'verified', /^Verified: the record is in the log/);
  await page.getByText('This record is of a shoe').waitFor();
  assert.ok((await page.getByText("The shoe's first record").getAttribute('href')).endsWith(`/verify?id=${first}`));
  await page.getByText('Check the whole shoe').click();
  await says(page, 'verified', /^Verified: the whole shoe/);
  const {drawn: alone} = await deal();
  await page.goto(`${service.base}/verify?id=${alone.audit_id}`);
  await page.getByText('Check the whole shoe').click();
  await page.getByText('The shoe has no reference').waitFor();
  await says(page, 'verified', /^Verified: the record is in the log/);
  await close();
});

test('a hand without its proof is looked up only when that is asked for', async () => {
  const {audit_id: first, drawn} = await deal();
  const {page, close} = await open(browser, `${service.base}/verify`);
  const asked = [];
  page.on('request', (request) => asked.push(request.url()));
  await give(page, JSON.stringify(drawn));
  await page.locator('.warned').getByText(first).waitFor();
  assert.deepEqual(asked.filter((url) => url.startsWith(service.base)), []);
  await page.getByText('Look it up in this log').click();
  await says(page, 'verified', /^Verified: the 2 card\(s\) of the hand were sealed at their positions by the record, which is in the log/);
  await close();
});

test('a proof of another log is told from one of this log', async () => {
  const other = await start();
  const {audit_id: id} = await shuffle(other.base, {deck: 'standard52', reveal: 'now'});
  const proof = await get(other.base, `/audits/${id}/proof`), [own, others] = await Promise.all([service, other].map(({base}) => get(base, '/log/key')));
  await other.stop();
  const {page, close} = await open(browser, `${service.base}/verify`);
  await give(page, proof);
  await says(page, 'unchecked', /^Not established: no key of the log was given/);
  await page.getByText('Check with the key of this log').click();
  await says(page, 'false', 'This proof does NOT verify: it fails at the step proof.');
  assert.ok((await page.locator('.steps').textContent()).includes(others.trim()));
  await give(page, proof, own);
  await says(page, 'false', 'This proof does NOT verify: it fails at the step proof.');
  await give(page, proof, others);
  await says(page, 'verified', /^Verified: the order follows from the seed and the record/);
  await close();
});

test('the report of a shuffle is one page with a code that leads back to it', async () => {
  const {audit_id: id} = await shuffle(service.base, {deck: 'standard52', hands: 'bridge', reference: 'table 3, board 7', client_seed: 'ann:4711 bob:0815', reveal: 'now'});
  const link = `${service.base}/verify?id=${id}`, {page, close} = await open(browser, link);
  await says(page, 'verified', /^Verified: the order follows/);
  for (const format of ['A4', 'Letter']) {
    assert.equal((await page.pdf({format, margin: {top: '1cm', bottom: '1cm', left: '1cm', right: '1cm'}})).toString('latin1').match(/\/Type \/Page\b/g).length, 1, format);
  }
  const picture = (await page.locator('svg.code').screenshot()).toString('base64');
  await page.goto('about:blank');
  const pixels = await page.evaluate(async (picture) => {
    const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${picture}`)).blob()), context = new OffscreenCanvas(image.width, image.height).getContext('2d');
    context.drawImage(image, 0, 0);
    return {width: image.width, height: image.height, data: [...context.getImageData(0, 0, image.width, image.height).data]};
  }, picture);
  assert.equal(decode({...pixels, data: Uint8Array.from(pixels.data)}), link);
  await close();
});
