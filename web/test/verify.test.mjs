// What /verify finds of records, hands and shoes, with the words of riffle verify.
import assert from 'node:assert/strict';
import {readFile} from 'node:fs/promises';
import {after, before, test} from 'node:test';
import decode from 'qr/decode.js';
import {browse, give, open, shuffle, start} from './service.mjs';

let service, browser;

before(async () => {
  [browser, service] = await Promise.all([browse(), start()]);
});
after(async () => {
  await browser.close();
  await service.stop();
});

/** post changes a shoe. */
async function post(path, body = {}) {
  const answer = await fetch(`${service.base}/shoes${path}`, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: {'Content-Type': 'application/json'},
  });
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}

/** get fetches a text once a checkpoint covers its record. */
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

/** says waits for a verdict and a first line, in the words of the verifier. */
async function says(page, verdict, headline) {
  await page.locator('.report .words').getByText(headline).first().waitFor({state: 'attached'});
  assert.equal(await page.locator('.report .verdict').getAttribute('class'), `verdict ${verdict}`);
}

test('a shoe by its id: what is known while it is open, its hands, and all of it once it is closed', async () => {
  const {shoe_id: id, audit_id: first} = await deal();
  const {page, wrong, close} = await open(browser, `${service.base}/verify`);
  await page.fill('textarea', id);
  await page.click('button.main');
  await says(
    page,
    'unchecked',
    new RegExp(
      '^Not proven yet: the shoe is still open, and its seeds are secret until it is closed; ' +
        'the first record of the shoe and its 2 changes are in ',
    ),
  );
  await page.getByText('This shoe is open').waitFor();
  await finds(
    page,
    'unchecked',
    'Not proven yet: the shoe is not closed, and its seeds are secret until it is. ' +
      'So far its first record and 2 changes fit together.',
  );
  assert.ok(
    !page.url().includes(id) && !(await page.locator('.report').innerHTML()).includes(id),
    'the secret id is in a link',
  );
  await page.waitForURL(new RegExp(`/a/${first}$`));
  await page.getByRole('button', {name: 'Pile alice: 2'}).click();
  await says(page, 'verified', /^Verified: the 2 cards of the hand were sealed at their positions; /);
  await page.getByRole('button', {name: 'Dealt: 3'}).click();
  await says(page, 'verified', /^Verified: the 3 cards of the hand/);
  await post(`/${id}/close`);
  await page.goto(`${service.base}/verify?id=${id}`);
  await says(page, 'verified', /^Verified: the whole shoe, from its first record to its last/);
  await page.getByText('This shoe is closed').waitFor();
  await page.waitForURL(new RegExp(`[?]id=${id}$`));
  assert.deepEqual(wrong, []);
  await close();
});

test('a link shows a player the verdict and the cards in the first screen of a phone', async () => {
  const {audit_id: id, hands} = await shuffle(service.base, {deck: 'standard52', hands: 'bridge', reveal: 'now'});
  const {page, wrong, close} = await open(browser, `${service.base}/verify?id=${id}`, {
    viewport: {width: 390, height: 844},
  });
  await page.waitForFunction(() => document.querySelectorAll('.felt img[src]').length === 52);
  const bottom = async (selector) => {
    const {y, height} = await page.locator(selector).boundingBox();
    return y + height;
  };
  assert.ok((await bottom('.report .verdict')) < 300);
  assert.ok((await bottom('.felt .hand:nth-child(4)')) < 844, 'the last hand is below the first screen');
  assert.ok(!(await page.locator('.steps').isVisible()));
  await page.getByText('How we know').click();
  assert.ok(await page.locator('.steps').isVisible());
  await page.getByRole('button', {name: 'As dealt', exact: true}).click();
  assert.deepEqual(
    await page.locator('.felt img').evaluateAll((images) => images.map(({dataset}) => dataset.code)),
    hands.flat(),
  );
  await page.getByRole('button', {name: '3', exact: true}).click();
  await page.waitForURL(`${service.base}/a/${id}?hand=3`);
  await page.reload();
  await page.locator('.lit').getByText('Player 3').waitFor();
  assert.ok((await page.locator('.report .link a').getAttribute('href')).endsWith('?hand=3'));
  assert.deepEqual(wrong, []);
  await close();
});

test('what is no card is listed, and what is secret lies face down', async () => {
  const items = ['ann', 'bob <b>', {cyn: 1}],
    drawn = await shuffle(service.base, {items, reveal: 'now'}),
    [proof, key] = await proven(drawn.audit_id);
  const {page, wrong, close} = await open(browser, `${service.base}/verify`);
  await give(page, {proof, key, items});
  await page.locator('.entries li').first().waitFor();
  assert.deepEqual(
    await page.locator('.entries li').allTextContents(),
    drawn.items.map((item) => (typeof item === 'string' ? item : JSON.stringify(item))),
  );
  const {audit_id: secret} = await shuffle(service.base, {deck: 'standard52'});
  await page.goto(`${service.base}/verify?id=${secret}`);
  await page.getByText('The order is already fixed.').waitFor();
  assert.equal(await page.locator('.felt img[data-code=back]').count(), 13);
  assert.deepEqual(wrong, []);
  await close();
});

test('no card is shown of a proof that is false', async () => {
  const {audit_id: id} = await shuffle(service.base, {deck: 'standard52', reveal: 'now'}),
    [proof, key] = await proven(id);
  const {page, close} = await open(browser, `${service.base}/verify`);
  const {seed} = JSON.parse(proof);
  await give(page, {proof: proof.replace(seed, seed.replace(/^./, seed[0] === '0' ? '1' : '0')), key});
  await finds(page, 'false', 'Wrong');
  assert.equal(await page.locator('.felt').count(), 0);
  await close();
});

test('a shoe that is over', async () => {
  const {shoe_id: id} = await deal();
  assert.ok((await fetch(`${service.base}/shoes/${id}`, {method: 'DELETE'})).ok);
  const {page, close} = await open(browser, `${service.base}/verify?id=${id}`);
  await says(page, 'unchecked', /^Not proven yet: the shoe is still open/);
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
  assert.ok((await page.getByText("The shoe's first record").getAttribute('href')).endsWith(`/a/${first}`));
  await page.getByText('Check the whole shoe').click();
  await says(page, 'verified', /^Verified: the whole shoe/);
  const {drawn: alone} = await deal();
  await page.goto(`${service.base}/verify?id=${alone.audit_id}`);
  await page.getByText('Check the whole shoe').click();
  await page.getByText('The shoe has no reference').waitFor();
  await says(page, 'verified', /^Verified: the record is in the log/);
  await close();
});

test('a hand of a shoe is compared with the proof of the record that sealed it', async () => {
  const {audit_id: first, drawn} = await deal(),
    [proof, key] = await proven(first);
  const {page, close} = await open(browser, `${service.base}/verify`);
  await give(page, {proof, key, hand: drawn});
  await says(
    page,
    'verified',
    /^Verified: the 2 cards of the hand were sealed at their positions by what is in the log/,
  );
  await close();
});

test('a proof of another log is told from one of this log', async () => {
  const other = await start();
  const {audit_id: id} = await shuffle(other.base, {deck: 'standard52', reveal: 'now'});
  const proof = await get(other.base, `/audits/${id}/proof`),
    [own, others] = await Promise.all([service, other].map(({base}) => get(base, '/log/key')));
  await other.stop();
  const {page, close} = await open(browser, `${service.base}/verify`);
  await give(page, {proof});
  await says(page, 'unchecked', /^Not established: no key of the log was given/);
  await page.getByText('Check with the key of this log').click();
  await says(page, 'false', 'This proof does NOT verify: it fails at the step proof.');
  assert.ok((await page.locator('.steps').textContent()).includes(others.trim()));
  await page.getByText('Start anew').click();
  await give(page, {proof, key: own});
  await says(page, 'false', 'This proof does NOT verify: it fails at the step proof.');
  await page.getByText('Start anew').click();
  await give(page, {proof, key: others});
  await says(page, 'verified', /^Verified: the order follows from the seed and the record/);
  await close();
});

test('the report of a shuffle is one page with a code that leads back to it', async () => {
  const {audit_id: id} = await shuffle(service.base, {
    deck: 'standard52',
    hands: 'bridge',
    reference: 'table 3, board 7',
    client_seed: 'ann:4711 bob:0815',
    reveal: 'now',
  });
  const link = `${service.base}/a/${id}`,
    {page, close} = await open(browser, link);
  await says(page, 'verified', /^Verified: the order follows/);
  for (const format of ['A4', 'Letter']) {
    assert.equal(
      (await page.pdf({format, margin: {top: '1cm', bottom: '1cm', left: '1cm', right: '1cm'}}))
        .toString('latin1')
        .match(/\/Type \/Page\b/g).length,
      1,
      format,
    );
  }
  const picture = (await page.locator('svg.code').screenshot()).toString('base64');
  await page.goto('about:blank');
  const pixels = await page.evaluate(async (picture) => {
    const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${picture}`)).blob()),
      context = new OffscreenCanvas(image.width, image.height).getContext('2d');
    context.drawImage(image, 0, 0);
    return {
      width: image.width,
      height: image.height,
      data: [...context.getImageData(0, 0, image.width, image.height).data],
    };
  }, picture);
  assert.equal(decode({...pixels, data: Uint8Array.from(pixels.data)}), link);
  await close();
});

/** proven returns the proof of a shuffle and the key of the log. */
const proven = async (id) => Promise.all([get(service.base, `/audits/${id}/proof`), get(service.base, '/log/key')]);

/** finds waits for the first line of a verdict. */
async function finds(page, verdict, line) {
  await page.locator(`.report .verdict.${verdict}`).getByText(line).waitFor();
}

test('a false list of winners is wrong, and the true one is verified', async () => {
  const items = ['ann', 'bob', 'cyn', 'dan', 'eve', 'fay'],
    {audit_id: id, items: winners} = await shuffle(service.base, {items, draw: 3, reveal: 'now'});
  const [proof, key] = await proven(id),
    {page, wrong, close} = await open(browser, `${service.base}/verify`);
  await give(page, {proof, key, order: [...winners].reverse(), items});
  await finds(page, 'false', 'Wrong: what you gave is not what was dealt, or not in that order.');
  assert.equal(await page.locator('.given input[name=answer]').count(), 0);
  await page.getByLabel('Take out everything that was dealt').click();
  await finds(page, 'verified', 'Nothing was given to compare it with.');
  await page.getByLabel('everything that was dealt', {exact: true}).fill(winners.join('\n'));
  await page.getByLabel('everything that was dealt', {exact: true}).press('Tab');
  await finds(page, 'verified', 'Verified: this is the order that was dealt, and it follows from the seed.');
  await page.getByText('Start anew').click();
  assert.equal((await page.locator('.given').count()) + (await page.locator('.report').count()), 0);
  assert.deepEqual(wrong, []);
  await close();
});

test('a text that is not in its form is refused by name, and can be taken out', async () => {
  const {audit_id: id, ...answer} = await shuffle(service.base, {deck: 'standard52', draw: 5, reveal: 'now'}),
    [proof, key] = await proven(id);
  const {page, close} = await open(browser, `${service.base}/verify`);
  await give(page, {proof, key, answer: {cards: answer.items}});
  await finds(page, 'unchecked', 'Not checked: answer of the service: this does not have the form that it needs.');
  await page.getByLabel('Take out answer of the service').click();
  await give(page, {answer: {items: answer.items}});
  await finds(page, 'verified', 'this is the order that was dealt');
  await close();
});

test('a file is for the field on which it is dropped, and is the proof anywhere else', async () => {
  const {audit_id: id, items} = await shuffle(service.base, {deck: 'standard52', draw: 5, reveal: 'now'}),
    [proof, key] = await proven(id);
  const {page, close} = await open(browser, `${service.base}/verify`);
  const drop = async (place, text) => {
    const data = await page.evaluateHandle((text) => {
      const files = new DataTransfer();
      files.items.add(new File([text], 'dropped.json'));
      return files;
    }, text);
    await page.dispatchEvent(place, 'drop', {dataTransfer: data});
  };
  await drop('h1', proof);
  await page.locator('.report').waitFor();
  await drop('li:has(input[name=key])', key);
  await finds(page, 'verified', 'Nothing was given to compare it with.');
  await drop('li:has(input[name=order])', JSON.stringify(items));
  await finds(page, 'verified', 'this is the order that was dealt');
  await close();
});

test('one hand of a deal is told, in any order, and may be said to be another', async () => {
  const {audit_id: id, hands} = await shuffle(service.base, {deck: 'standard52', hands: 'bridge', reveal: 'now'}),
    [proof, key] = await proven(id);
  const {page, close} = await open(browser, `${service.base}/verify`);
  await give(page, {proof, key: `\ufeff${key}\r\n`, order: hands.flat()});
  await finds(page, 'verified', 'this is the order that was dealt');
  await page.getByLabel('Take out everything that was dealt').click();
  await give(page, {hand: hands[1]});
  await finds(page, 'verified', 'Verified: these are the 13 cards of hand 2 of this deal, in the order dealt.');
  await page.getByLabel('Which hand is it?').selectOption('3');
  await finds(page, 'false', 'Wrong: what you gave is not what was dealt');
  await page.getByLabel('Which hand is it?').selectOption('2');
  await finds(page, 'verified', 'hand 2');
  await page.getByLabel('Take out my hand').click();
  await give(page, {hand: [...hands[0]].sort()});
  await finds(page, 'false', 'Wrong');
  await page.getByLabel('Which hand is it?').selectOption('');
  await finds(
    page,
    'verified',
    'Verified: these are the 13 cards of hand 1 of this deal, in another order than they were dealt.',
  );
  await close();
});

test('items that are objects, with a salt that is typed', async () => {
  const items = Array.from({length: 8}, (_, i) => ({position: i, code: `p${i}`})),
    salt = '00112233445566778899aabbccddeeff';
  const {audit_id: id, items: order} = await shuffle(service.base, {items, items_salt: salt, reveal: 'now'}),
    [proof, key] = await proven(id);
  const {page, close} = await open(browser, `${service.base}/verify`);
  await give(page, {proof, key, order, items});
  await page.locator('.report .verdict.unchecked').waitFor();
  await page.getByLabel('salt of the entries', {exact: true}).fill(salt);
  await page.getByLabel('salt of the entries', {exact: true}).press('Tab');
  await finds(page, 'verified', 'this is the order that was dealt');
  await close();
});

test('a proof without that of its commitment says that this is missing', async () => {
  const commitment = await fetch(`${service.base}/commitments`, {
    method: 'POST',
    body: '{"deck":"standard52"}',
    headers: {'Content-Type': 'application/json'},
  });
  const {audit_id: id} = await shuffle(service.base, {
    commitment_id: (await commitment.json()).commitment_id,
    client_seed: 'ann:4711',
    reveal: 'now',
  });
  const [proof, key] = await proven(id),
    {page, close} = await open(browser, `${service.base}/verify`);
  await give(page, {proof: {...JSON.parse(proof), commitment_proof: undefined}, key});
  await finds(page, 'verified', 'Verified except for the commitment: the order follows from the seed.');
  await close();
});

test('in Chinese the link to no record says so in Chinese', async () => {
  const {page, close} = await open(browser, `${service.base}/a/${'0'.repeat(8)}-0000-7000-8000-${'0'.repeat(12)}`, {
    locale: 'zh-CN',
  });
  await page.getByText('没有这个编号的记录').waitFor();
  await close();
});

test('in Chinese the page says everything in Chinese', async () => {
  const {audit_id: id, hands} = await shuffle(service.base, {deck: 'standard52', hands: 'bridge', reveal: 'now'}),
    [proof, key] = await proven(id);
  const {audit_id: secret} = await shuffle(service.base, {deck: 'standard52'});
  const {page, close} = await open(browser, `${service.base}/verify`, {locale: 'zh-CN'});
  const english = () =>
    page.evaluate(() => {
      // words outside of what is marked as English, and of names: of files, logs, decks and algorithms
      const main = document.querySelector('#main > div').cloneNode(true);
      main.querySelectorAll('[lang=en], bdi, dd, code, a').forEach((node) => node.remove());
      const names = /[\w.-]+\.(json|txt)|UTC|GET|SHA-256|fisher-yates|standard52|riffle\/[0-9a-f]+|[0-9a-f-]{36,64}/g;
      return main.textContent.replace(names, '').match(/[A-Za-z]{3,}/g) ?? [];
    });
  await give(page, {proof, key, hand: hands[1]});
  await finds(page, 'verified', '核验通过：这正是这次发牌中第 2 家的 13 张牌，顺序与发牌时相同。');
  await page.waitForSelector('.lit img[src]');
  await page.getByText('凭什么这样说').click();
  assert.deepEqual(await english(), []);
  await page.getByText('重新开始').click();
  await page.fill('textarea', secret);
  await page.click('button.main');
  await finds(page, 'unchecked', '尚未证明：种子仍然保密，还没有公开。');
  assert.deepEqual(await english(), []);
  await close();
});

test("in Chinese the verifier's own words are in Chinese, also why a step fails", async () => {
  const {audit_id: id, hands} = await shuffle(service.base, {deck: 'standard52', hands: 'bridge', reveal: 'now'}),
    [proof, key] = await proven(id);
  const {page, wrong, close} = await open(browser, `${service.base}/verify`, {locale: 'zh-CN'});
  const shows = (place, text) => page.locator(place).getByText(text).waitFor({state: 'attached'});
  await give(page, {proof, key, hand: hands[1]});
  await shows('.words p', /^核验通过：这是.*的 13 张牌，顺序.*；顺序由种子和记录得出，且记录在 .* 的日志中。$/);
  await shows('.words p', /^此证明不能排除运营者抽取过多个种子而只记录其中一个；使用承诺才能排除。$/);
  await shows(
    '.step-true',
    /order: 以 fisher-yates 重新洗牌，52 项中的 52 项，共 1 次；各位置的 SHA-256 是 [0-9a-f]{64}；/,
  );
  assert.equal(await page.locator('.words [lang=en]').count(), 0);
  await page.getByText('重新开始').click();
  await give(page, {proof: proof.replace('fisher-yates', 'sattolo'), key});
  await shows('.words p', '此证明不成立：在步骤 commitment 上有误。');
  await shows(
    '.step-false .quiet',
    /^commitment: 声明连同种子的 SHA-256 是 [0-9a-f]{64}，而记录承诺的是 [0-9a-f]{64}$/,
  );
  await page.getByText('重新开始').click();
  await give(page, {proof, policy: 'quorum nobody'});
  await shows('.words p', /^未核验：policy：第 1 行：quorum 所指的名字在此前各行中没有，或者有两个 quorum。$/);
  assert.deepEqual(wrong, []);
  await close();
});

test("the link to a deal tells the players' hands from the board and the walls, and asks only for those", async () => {
  for (const [deck, hands, players, parts] of [
    ['standard52', 'holdem:6', 6, ['Burnt card', 'Flop', 'Burnt card', 'Turn', 'Burnt card', 'River']],
    ['mahjong136', 'mahjong-wall', 4, []],
    ['standard52', [2, 2, 2], 3, []],
  ]) {
    const {audit_id: id} = await shuffle(service.base, {deck, hands, reveal: 'now'});
    const {page, wrong, close} = await open(browser, `${service.base}/a/${id}`);
    await page.locator('.hands').waitFor();
    assert.equal(await page.locator('.which button').count(), players, deck);
    assert.deepEqual((await page.locator('.hand h3').allInnerTexts()).slice(players), parts);
    assert.deepEqual(wrong, []);
    await close();
  }
});

test('the link to a raffle shows which entries were drawn, and their names once the list is given', async () => {
  const items = ['ann', 'bob', 'cyn', 'dan'],
    {audit_id: id, items: drawn} = await shuffle(service.base, {items, draw: 2, reveal: 'now'});
  const {page, wrong, close} = await open(browser, `${service.base}/a/${id}`);
  const entries = page.locator('.entries li');
  await entries.first().waitFor();
  assert.deepEqual(
    await entries.allInnerTexts(),
    drawn.map((item) => `Entry ${items.indexOf(item) + 1}`),
  );
  await give(page, {items});
  await entries.getByText(drawn[0]).waitFor();
  assert.deepEqual(await entries.allInnerTexts(), drawn);
  assert.deepEqual(wrong, []);
  await close();
});

test('the link to a commitment says whether anything used it, and leads to that', async () => {
  const quick = await start('-deadline', '1s');
  const commit = async () =>
    (
      await (
        await fetch(`${quick.base}/commitments`, {
          method: 'POST',
          body: '{"size": 5}',
          headers: {'Content-Type': 'application/json'},
        })
      ).json()
    ).commitment_id;
  const used = await commit(),
    {audit_id: id} = await shuffle(quick.base, {commitment_id: used, client_seed: 'x'}),
    lost = await commit();
  const {page, wrong, close} = await open(browser, `${quick.base}/a/${used}`);
  assert.ok((await page.getByText('See the deal').getAttribute('href')).endsWith(`/a/${id}`));
  while (!(await get(quick.base, `/commitments/${lost}`)).includes('"void"'))
    await new Promise((done) => setTimeout(done, 50));
  await page.goto(`${quick.base}/a/${lost}`);
  await page.getByText('This commitment is void').click();
  await page.getByText('See the commitment').click();
  await page.waitForURL(`${quick.base}/a/${lost}`);
  assert.deepEqual(wrong, []);
  await close();
  await quick.stop();
});

test('the link to a commitment with a beacon says when its round is published', async () => {
  const made = await fetch(`${service.base}/commitments`, {
    method: 'POST',
    body: '{"size": 5, "beacon": {"chain": "quicknet", "after": "1m"}}',
    headers: {'Content-Type': 'application/json'},
  });
  const {commitment_id: id, beacon} = await made.json();
  const {page, wrong, close} = await open(browser, `${service.base}/a/${id}`);
  await page.getByText(`the signature of quicknet ${beacon.round}, a public beacon, published at`).waitFor();
  assert.deepEqual(wrong, []);
  await close();
});

test('the link to a commitment with players names them', async () => {
  const made = await fetch(`${service.base}/commitments`, {
    method: 'POST',
    body: `{"size": 5, "players": {"bob": "${'0'.repeat(64)}", "ann": "${'1'.repeat(64)}"}}`,
    headers: {'Content-Type': 'application/json'},
  });
  const {page, wrong, close} = await open(browser, `${service.base}/a/${(await made.json()).commitment_id}`);
  await page.getByText('Its client seed joins the seeds of ann, bob.').waitFor();
  assert.deepEqual(wrong, []);
  await close();
});

test('a proof whose client seed is of a beacon or of players says so, in both languages', async () => {
  const read = async (name) =>
    JSON.parse(await readFile(new URL(`../../testdata/riffle1/${name}.json`, import.meta.url))).verdicts;
  const vectors = [...(await read('beacons')), ...(await read('players'))];
  const of = (name) => {
    const {proof, key, policy} = vectors.find((vector) => vector.name === name);
    return {proof, key, ...(policy && {policy})};
  };
  for (const [locale, name, said] of [
    ['en', 'a shuffle with the signature as its client seed', /signature of quicknet 1000, .*own clock/],
    [
      'en',
      'a commitment that witnesses cosigned before the round',
      /signature of quicknet 1000, .*witnesses of the policy had seen/,
    ],
    ['zh-CN', 'a commitment that witnesses cosigned before the round', /公共信标 quicknet 1000 的签名.*见证人/],
    ['en', 'a joined text of 257 bytes', /joins the seeds of ann, bob, cyn,? and dan, each fixed before/],
    ['zh-CN', 'two players', /由 ann和bob 的种子合并而成/],
  ]) {
    const {page, wrong, close} = await open(browser, `${service.base}/verify`, {locale});
    await give(page, of(name));
    await page.locator('.report p').getByText(said).first().waitFor();
    assert.deepEqual(wrong, []);
    await close();
  }
});
