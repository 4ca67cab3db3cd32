// What /explore shows of a log that grows, is empty, goes away or is replaced, and the other pages
// of a service that goes away.
import assert from 'node:assert/strict';
import {cp, mkdtemp, rm} from 'node:fs/promises';
import {createRequire} from 'node:module';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {browse, open, shuffle, start} from './service.mjs';

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
let browser;

before(async () => {
  browser = await browse();
});
after(() => browser.close());

const pages = ['/', '/verify', '/fairness', '/explore', '/docs'];

for (const path of pages) {
  test(`${path} of an empty log`, async () => {
    const service = await start();
    const {page, wrong, close} = await open(browser, service.base + path);
    await page.locator('main :is(h1, h2):visible').first().waitFor();
    if (path === '/explore') await page.getByText('The log has no records yet.').waitFor();
    assert.equal(await page.locator('[role=alert]').count(), 0);
    assert.deepEqual(wrong, []);
    await close();
    await service.stop();
  });
}

// What a reader does on each page, and what shows that it worked.
const acts = {
  '/': [(page) => page.click('button.main'), '.felt .fan img'],
  '/verify': [(page, id) => page.fill('textarea', id).then(() => page.click('button.main')), '.verdict.verified'],
  '/explore': [(page) => page.getByText('Refresh').click(), '.growth svg'],
};

/**
 * withData starts a service that can be stopped and started again, with the same data or with other
 * data, at the same address.
 */
async function withData() {
  const folder = await mkdtemp(join(tmpdir(), 'riffle-log-')),
    data = join(folder, 'data');
  let service = await start('-data', data);
  const {base} = service,
    address = `127.0.0.1:${new URL(base).port}`;
  return {
    base,
    data,
    folder,
    stop: () => service.stop(),
    async again(other = data) {
      service = await start('-data', other, '-addr', address);
    },
    remove: () => rm(folder, {recursive: true}),
  };
}

for (const [path, [act, done]] of Object.entries(acts)) {
  test(`${path} says that the service is away, and works when it is back`, async () => {
    const service = await withData(),
      {audit_id: id} = await shuffle(service.base, {deck: 'standard52', reveal: 'now'});
    const {page, close} = await open(browser, service.base + path);
    await service.stop();
    await act(page, id);
    await page.getByRole('alert').getByText('The service cannot be reached.').first().waitFor();
    await service.again();
    await act(page, id);
    await page.getByRole('alert').first().waitFor({state: 'detached'});
    await page.waitForSelector(done);
    await close();
    await service.stop();
    await service.remove();
  });
}

test('/docs says that the service is away, and searches when it is back', async () => {
  const service = await withData(),
    {page, close} = await open(browser, `${service.base}/docs/guides/verify`);
  await service.stop();
  await page.fill('#search', 'cut');
  await page.locator('#found').getByText('The service cannot be reached.').waitFor();
  await service.again();
  await page.fill('#search', 'cut card');
  await page.waitForSelector('#found a');
  await close();
  await service.stop();
  await service.remove();
});

test('/explore follows a log that grows', async () => {
  const service = await start();
  await shuffle(service.base, {size: 3});
  const {page, wrong, close} = await open(browser, `${service.base}/explore`);
  const label = (size) =>
    page
      .getByRole('img', {name: `The number of records over time, now ${size}`})
      .locator('svg')
      .first();
  await label(1).waitFor();
  for (let i = 0; i < 4; i++) await shuffle(service.base, {size: 3, reference: `hand ${i}`});
  await page.getByText('The log only grew: 4 records more').waitFor(); // without being asked to
  await label(5).waitFor();
  await page.getByText('hand 3').waitFor();
  assert.deepEqual(wrong, []);
  await close();
  await service.stop();
});

test('/explore draws the path of a record in trees of all shapes', async () => {
  const service = await start(),
    {page, wrong, close} = await open(browser, `${service.base}/explore`, {viewport: {width: 390, height: 900}});
  let size = 0;
  for (const [records, ...shown] of [
    [1, [0, 0]],
    [2, [0, 1], [1, 1]],
    [3, [1, 2], [2, 1]],
    [255, [0, 8], [254, 7]],
    [257, [255, 9], [256, 1]],
  ]) {
    for (; size < records; size++) await shuffle(service.base, {size: 3});
    await page.reload({waitUntil: 'networkidle'});
    for (const [index, hashes] of shown) {
      await page.fill('input[name=wanted]', String(index));
      await page.click('form button');
      await page.getByRole('heading', {name: `Record ${index}`, exact: true}).waitFor();
      await page.getByText('The record is in the tree.').waitFor();
      await page
        .getByRole('img', {
          name: `The path from record ${index} to the root of ${records} records takes ${hashes} hashes.`,
        })
        .waitFor();
      assert.equal(await page.locator('.tree g.lit rect').count(), hashes + 1);
    }
    assert.ok(
      await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
      'the page is wider than the window',
    );
  }
  assert.deepEqual(wrong, []);
  await close();
  await service.stop();
});

test('/explore lists older records page by page, and its chart names no group', async () => {
  const service = await start();
  for (let i = 0; i < 45; i++) await shuffle(service.base, {size: 2});
  const {page, wrong, close} = await open(browser, `${service.base}/explore`, {bypassCSP: true});
  const places = async (first) => {
    await page.locator('tbody tr:first-child button', {hasText: new RegExp(`^${first}$`)}).waitFor();
    return (await page.locator('tbody button').allTextContents()).map(Number);
  };
  const from = (first, count) => Array.from({length: count}, (_, i) => first - i);
  assert.deepEqual(await places(44), from(44, 20));
  await page.getByRole('button', {name: 'Older'}).click();
  assert.deepEqual(await places(24), from(24, 20));
  await page.getByRole('button', {name: 'Older'}).click();
  assert.deepEqual(await places(4), from(4, 5));
  await page.getByText('0 to 4').waitFor();
  assert.ok(await page.getByRole('button', {name: 'Older'}).isDisabled());
  await page.getByRole('button', {name: 'Newer'}).click();
  assert.deepEqual(await places(24), from(24, 20));
  await page.waitForSelector('.growth svg');
  await page.addScriptTag({path: axe});
  const {violations} = await page.evaluate(async () =>
    axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'best-practice']}),
  );
  assert.deepEqual(
    violations.map(({id, nodes}) => `${id}: ${nodes[0].html.slice(0, 120)}`),
    [],
  );
  assert.deepEqual(wrong, []);
  await close();
  await service.stop();
});

test('/explore pauses, and keeps pages of older records, kinds and times in its address', async () => {
  const service = await start('-deadline', '1s'),
    send = (path, body) =>
      fetch(service.base + path, {
        method: 'POST',
        body: JSON.stringify(body),
        headers: {'Content-Type': 'application/json'},
      });
  await send('/commitments', {size: 5});
  for (let i = 0; i < 25; i++) await shuffle(service.base, {size: 2, reference: `hand ${i}`});
  while ((await (await fetch(`${service.base}/commitments?status=void`)).json()).commitments.length === 0);
  const {page, wrong, close} = await open(browser, `${service.base}/explore`),
    newest = (place) =>
      page.locator('.records tbody tr:first-child button', {hasText: new RegExp(`^${place}$`)}).waitFor(),
    places = () => page.locator('.records tbody button').allTextContents();
  await newest(26); // the commitment is void
  await page.getByText('Ran out in the last hour: 1. In the last 24 hours: 1.').waitFor();
  await page.getByRole('img', {name: /^Commitments that ran out .* 0, 0, 1$/}).waitFor();
  const age = page.getByText(/^Last checkpoint: \d+ sec. ago$/),
    seconds = await age.textContent();
  await page.waitForFunction(([was]) => document.querySelector('.age').textContent !== was, [seconds]);
  await page.getByRole('button', {name: 'Pause'}).click();
  assert.equal(new URL(page.url()).search, '?before=27');
  await shuffle(service.base, {size: 2});
  await page.getByRole('button', {name: 'Follow (1 more)'}).waitFor();
  assert.equal((await places())[0], '26');
  await page.getByRole('button', {name: 'Follow'}).click();
  await newest(27);
  await page.getByRole('button', {name: 'Older'}).click();
  await newest(7);
  assert.equal(new URL(page.url()).search, '?before=8');
  await page.reload();
  await newest(7);
  await page.getByRole('button', {name: '3', exact: true}).click();
  await page.getByRole('heading', {name: 'Record 3', exact: true}).waitFor();
  assert.equal(new URL(page.url()).search, '?record=3&before=8');
  await page.goBack();
  await page.goBack();
  await newest(27);
  await page.getByText('Filter').click();
  await page.selectOption('select', 'void');
  await newest(26);
  assert.deepEqual(await places(), ['26']);
  await page.selectOption('select', 'shuffle');
  await newest(27);
  await page.getByRole('button', {name: 'Older'}).click();
  await newest(6);
  assert.deepEqual(await places(), ['6', '5', '4', '3', '2', '1']); // 0 is the commitment
  await page.getByRole('button', {name: 'Newer'}).click();
  await newest(27);
  assert.equal(new URL(page.url()).search, '?kind=shuffle');
  await page.getByLabel('Before').fill('2020-01-01T00:00');
  await page.getByText('No such record here.').waitFor();
  assert.equal(new URL(page.url()).search, '?kind=shuffle&until=2020-01-01T00%3A00');
  await page.reload();
  await page.getByText('No such record here.').waitFor();
  await page.getByLabel('Before').fill('');
  await page.getByLabel('From').fill('2020-01-01T00:00');
  await newest(27);
  assert.deepEqual(wrong, []);
  await close();
  await service.stop();
});

test('/explore lists all hits of a reference, page by page', async () => {
  const service = await start();
  for (let i = 0; i < 101; i++) await shuffle(service.base, {size: 2, reference: 'many'});
  const {page, wrong, close} = await open(browser, `${service.base}/explore`),
    hits = page.locator('.panel', {has: page.locator('form')}).locator('tbody tr');
  const find = async (wanted) => {
    await page.fill('input[name=wanted]', wanted);
    await page.click('form button');
  };
  await find('many');
  await hits.nth(99).waitFor();
  assert.equal(await hits.count(), 100);
  await page.getByText('Show more').click();
  await hits.nth(100).waitFor();
  assert.equal(await page.getByText('Show more').count(), 0);
  await find('nobody');
  await page.getByText('No record has this reference.').waitFor();
  await find('101');
  await page.getByText('There is no record 101.').waitFor();
  await find('100');
  await page.getByText('The record is in the tree.').waitFor();
  assert.equal(page.url(), `${service.base}/explore?record=100`);
  // A record has an address: it can be sent, and Back leads to the one before.
  const {audit_id: id} = await shuffle(service.base, {size: 3});
  await page.getByText('Refresh').click();
  await find(`${service.base}/verify?id=${id}`);
  await page.getByRole('heading', {name: 'Record 101'}).waitFor();
  await page.goBack();
  await page.getByRole('heading', {name: 'Record 100'}).waitFor();
  for (const [link, record] of [
    [`${service.base}/audits/${id}/proof`, 101],
    [`${service.base}/explore?record=7`, 7],
    [`${service.base.replace('http://', '')}/a/${id}`, 101],
    [`${service.base}/explore#8`, 8],
  ]) {
    await find(link);
    await page.getByRole('heading', {name: `Record ${record}`, exact: true}).waitFor();
  }
  // The record is shown where the reader sees it, wherever it was asked for.
  await page.locator('.records button', {hasText: '83'}).click();
  await page.getByText('The record is in the tree.').waitFor();
  await page.waitForFunction(() => {
    const heading = [...document.querySelectorAll('h2')].find(({textContent}) => textContent === 'Record 83');
    return heading && heading.getBoundingClientRect().top >= 0 && heading.getBoundingClientRect().bottom < innerHeight;
  });
  await page.goto(`${service.base}/explore?record=100`);
  await page.getByRole('heading', {name: 'Record 100'}).waitFor();
  await page.reload();
  await page.getByRole('heading', {name: 'Record 100'}).waitFor();
  await find(`https://elsewhere.example/verify?id=${id}`);
  await page.getByText('This is a link to another log, https://elsewhere.example/verify').waitFor();
  assert.deepEqual(wrong, []);
  await close();
  await service.stop();
});

test('/explore tells commitments that ran out from those that can be used', async () => {
  const service = await start('-deadline', '2s'),
    commit = async (count) => {
      for (let i = 0; i < count; i++)
        await fetch(`${service.base}/commitments`, {
          method: 'POST',
          body: '{"size": 5}',
          headers: {'Content-Type': 'application/json'},
        });
    };
  await commit(101);
  const {page, close} = await open(browser, `${service.base}/explore`);
  for (;;) {
    const {commitments, next} = await (await fetch(`${service.base}/commitments?status=void`)).json();
    if (next && commitments.length === 100) break;
  }
  await page.getByText('Refresh').click();
  const ranOut = page.getByText(/^Ran out without being used: 101$/);
  await ranOut.waitFor(); // before, some could still be used
  assert.equal(await page.locator('.unused table').isVisible(), false);
  await ranOut.click();
  assert.equal(await page.locator('.unused tbody tr').count(), 101);
  await commit(1);
  await page.getByText('Refresh').click();
  await page.getByText('Can still be used: 1').waitFor();
  await close();
  await service.stop();
});

test('/explore says who cosigned the checkpoint, and how much of a book was used', async () => {
  const service = await start(),
    post = async (path, body) =>
      (
        await fetch(service.base + path, {
          method: 'POST',
          body: JSON.stringify(body),
          headers: {'Content-Type': 'application/json'},
        })
      ).json(),
    {commitment_id} = await post('/commitments', {size: 6, draw: 1, count: 9}),
    {beacon} = await post('/commitments', {size: 6, beacon: {chain: 'quicknet', after: '5m'}});
  assert.equal((await post('/shuffle', {commitment_id, client_seed: 'lucky'})).round, 1);
  const {page, close} = await open(browser, `${service.base}/explore`),
    line = (name, bytes) => `— ${name} ${Buffer.concat([Buffer.from('idid'), bytes]).toString('base64')}\n`,
    time = Buffer.from([0, 0, 0, 0, 0x6b, 0x06, 0xae, 0x80]);
  await page.route('**/log/checkpoint', async (route) => {
    const answer = await route.fetch();
    const witnesses =
      line('one.example/w', Buffer.concat([time, Buffer.alloc(64)])) +
      line('two.example/w', Buffer.concat([time, Buffer.alloc(2420)])) +
      line('three.example', Buffer.alloc(64));
    await route.fulfill({response: answer, body: (await answer.text()) + witnesses});
  });
  await page.reload();
  await page.getByText('one.example/w, 11/25/2026').waitFor();
  await page.getByText('two.example/w, 11/25/2026').waitFor();
  assert.equal(await page.getByText('three.example').count(), 0);
  await page.getByText('Can still be used: 2').click();
  await page.getByText('1 of 9 rounds used').waitFor();
  await page.getByText(`· quicknet ${beacon.round}`).waitFor();
  await close();
  await service.stop();
});

// What the log was when the browser saw it, what it is now, and the alarm: in numbers of records
// that were added to a common beginning.
for (const [name, was, is, alarm] of [
  ['rewritten', 1, 2, 'This log was rewritten'],
  ['of two roots', 2, 2, 'The log has two histories'],
  ['shorter', 2, 1, 'The log got shorter'],
]) {
  test(`/explore raises the alarm over a log that is ${name}`, async () => {
    const service = await withData(),
      add = async (count) => {
        for (let i = 0; i < count; i++) await shuffle(service.base, {size: 4});
      };
    await add(1);
    await service.stop();
    const other = join(service.folder, 'other');
    await cp(service.data, other, {recursive: true});
    await service.again();
    await add(was);
    const {page, close} = await open(browser, `${service.base}/explore`);
    await page.waitForSelector('.growth svg');
    await service.stop();
    await service.again(other);
    await add(is);
    await page.getByText('Refresh').click();
    const raised = page.getByRole('alert');
    await raised.getByText(alarm).waitFor();
    assert.equal(
      (await raised.locator('pre').textContent()).match(/\n— /g).length,
      2,
      'both checkpoints are there, with their signatures',
    );
    await page.reload();
    await raised.getByText(alarm).waitFor(); // it stays until the reader dismisses it
    await raised.getByText('Forget the earlier one').click();
    await page.getByText('This browser looks at this log for the first time.').waitFor();
    await close();
    await service.stop();
    await service.remove();
  });
}

test('/explore tells another log from one that was rewritten', async () => {
  const service = await withData();
  await shuffle(service.base, {size: 4});
  const {page, close} = await open(browser, `${service.base}/explore`);
  await service.stop();
  await service.again(join(service.folder, 'new'));
  await page.getByText('Refresh').click();
  await page.getByRole('alert').getByText('This is another log').waitFor();
  await close();
  await service.stop();
  await service.remove();
});
