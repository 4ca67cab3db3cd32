// Opens seeds of commitments with time locks on /verify, as tlock-js and Riffle sealed them.
import assert from 'node:assert/strict';
import {mkdtemp, readFile, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {setTimeout} from 'node:timers/promises';
import {build} from 'esbuild';
import {timelockDecrypt, timelockEncrypt} from 'tlock-js';
import {traceText} from '../../verifiers/riffle.mjs';
import {browse, give, open, start} from './service.mjs';

const {verdicts, opened} = JSON.parse(
  await readFile(new URL('../../testdata/riffle1/timelocks.json', import.meta.url)),
);
const signatures = Object.fromEntries(opened.map(({round, signature}) => [round, signature])),
  texts = (name) => verdicts.find((vector) => vector.name === name).texts.map(({text}) => text);

/** drand is the client of drand for tlock-js, without a network. */
const drand = {
  get: async (round) => ({round, signature: signatures[round]}),
  chain: () => ({
    info: async () => ({
      hash: '52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971',
      public_key:
        '83cf0f2896adee7eb8b5f01fcad3912212c437e0073e911fb90022d3e760183c8c4b450b6a0a6c3ac6a5776a2d106451' +
        '0d1fec758c921cc22b0e17e63aaf4bcb5ed66304de9cf809bd274ca73bab4af5a6e9c76a4bc09e76eae8991ef5ece45a',
      genesis_time: 1692803367,
      period: 3,
      schemeID: 'bls-unchained-g1-rfc9380',
    }),
  }),
  options: {disableBeaconVerification: true},
};

const armor = (base64) =>
  `-----BEGIN AGE ENCRYPTED FILE-----\n${base64.replace(/(.{64})(?=.)/g, '$1\n')}\n-----END AGE ENCRYPTED FILE-----\n`;

let service, browser, opens;

before(async () => {
  [browser, service] = await Promise.all([browse(), start()]);
  const {outputFiles} = await build({
    entryPoints: [new URL('../open.ts', import.meta.url).pathname],
    bundle: true,
    format: 'esm',
    platform: 'node',
    nodePaths: [new URL('../node_modules', import.meta.url).pathname],
    write: false,
  });
  const file = join(await mkdtemp(join(tmpdir(), 'riffle-')), 'open.mjs');
  await writeFile(file, outputFiles[0].contents);
  opens = (await import(file)).open;
});
after(async () => {
  await browser.close();
  await service.stop();
});

test('the page opens what Riffle does', async () => {
  for (const {name, record, signature, seed} of opened)
    assert.equal(await opens(JSON.parse(record), signature), seed ?? undefined, name);
});

test('tlock-js opens what Riffle seals, and Riffle what it seals', async () => {
  const mine = opened.filter(({name}) => name.endsWith('sealed by Riffle'));
  assert.equal(mine.length, 2);
  for (const {record, seed} of mine) {
    const text = await timelockDecrypt(armor(JSON.parse(record).sealed_seed), drand);
    assert.equal(text.toString('hex'), seed);
  }
  const {record, seed} = mine[0],
    sealed = await timelockEncrypt(1000, Buffer.from(seed, 'hex'), drand);
  const theirs = {...JSON.parse(record), sealed_seed: sealed.replace(/-----.*-----|\n/g, '')};
  assert.equal(await opens(theirs, signatures[1000]), seed);
});

test('a shuffle whose seed was held back is checked once its seed is opened, however it is given', async () => {
  const two = texts('a shuffle that used it, whose seed is held back');
  for (const list of [
    two,
    [two.join('')],
    [`[${two}]`],
    [JSON.stringify(JSON.parse(`[${two.toReversed()}]`), null, 2)],
  ]) {
    const {page, wrong, close} = await open(browser, `${service.base}/verify`);
    await give(page, ...list);
    await page.getByText('the signature of quicknet 1000, a public beacon, everybody can open').waitFor();
    await page.fill('textarea[name=signature]', signatures[1001]);
    const button = page.getByRole('button', {name: 'Open the seed'});
    await button.click();
    await page.getByText('That is not the signature of quicknet 1000').waitFor();
    const [head, tail] = [signatures[1000].slice(0, 48).toUpperCase(), signatures[1000].slice(48)];
    await page.fill('textarea[name=signature]', `{"round":1000, "signature": "${head}\n ${tail} "}`);
    await button.click();
    await page.locator('.report .verdict').getByText('Verified').waitFor();
    assert.equal(await page.locator('.lock').count(), 1);
    assert.deepEqual(wrong, []);
    await close();
  }
});

test('with a beacon no other client seed than its signature counts', async () => {
  const {page, wrong, close} = await open(browser, `${service.base}/verify`);
  await give(page, ...texts('a commitment with a beacon and a time lock'));
  await page.fill('textarea[name=signature]', signatures[1000]);
  await page.fill('input[name=client_seed]', 'mine');
  await page.getByRole('button', {name: 'Open the seed'}).click();
  await page.getByText('That is not the signature of quicknet 995').waitFor();
  assert.deepEqual(wrong, []);
  await close();
});

test('the order that a void commitment did not deal is shown, and a lie, in both languages', async () => {
  const [used] = texts('a shuffle that used it, with its seed'),
    {orders} = await traceText(used);
  for (const [locale, button, said] of [
    ['en', 'Open the seed', 'other than the seed'],
    ['zh-CN', '打开种子', '封存的不是'],
  ]) {
    const show = async (list) => {
      const {page, wrong, close} = await open(browser, `${service.base}/verify`, {locale});
      await give(page, ...list);
      await page.fill('textarea[name=signature]', signatures[1000]);
      await page.fill('input[name=client_seed]', 'spring');
      await page.getByRole('button', {name: button}).click();
      return {page, wrong, close};
    };
    const void_ = await show(texts('a void commitment with a time lock'));
    await void_.page.getByText(JSON.parse(used).seed).waitFor();
    assert.equal((await void_.page.locator('.lock .order').textContent()).endsWith(` ${orders[0].join(' ')}`), true);
    assert.deepEqual(void_.wrong, []);
    await void_.close();

    const other = JSON.parse(opened.find(({name}) => name === 'another seed').record).sealed_seed;
    const [made] = texts('a commitment with a time lock');
    const lie = await show([made.replace(/(sealed_seed\\":\\")[^"\\]*/, `$1${other}`)]);
    await lie.page.locator('.lock .false').getByText(said).waitFor();
    await lie.close();
  }
});

test('before its round a commitment says when its seed opens, and so does the record that voids it', async () => {
  const opens_at_round = Math.floor((Date.now() / 1000 - 1692803367) / 3) + 400;
  const body = JSON.stringify({size: 5, opens_at_round, expires_in: 1});
  const headers = {'Content-Type': 'application/json'};
  const made = await (await fetch(`${service.base}/commitments`, {method: 'POST', body, headers})).json();
  let voided;
  while (!voided) {
    await setTimeout(100);
    voided = (await (await fetch(`${service.base}/commitments/${made.commitment_id}`)).json()).audit_id;
  }
  for (const id of [made.commitment_id, voided]) {
    const {page, wrong, close} = await open(browser, `${service.base}/a/${id}`);
    await page
      .getByText(`the signature of quicknet ${made.opens_at.round}, a public beacon, everybody can open`)
      .waitFor();
    assert.equal(await page.locator('textarea[name=signature]').count(), 0);
    assert.deepEqual(wrong, []);
    await close();
  }
});
