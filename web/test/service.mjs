// The service and a browser, for tests of the pages.
import {spawn} from 'node:child_process';
import {createHash} from 'node:crypto';
import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {chromium} from 'playwright-core';

// The service would take the tests' variables for its own.
const {RIFFLE_PAGES: pages, RIFFLE_SERVER: server, ...env} = process.env;

/** everyLook is set at night: every page is tested in each width, language and theme, and with every vector. */
export const everyLook = pages === 'all';

// The service of a test that failed does not keep the tests from ending, and ends with them.
const started = [];
process.on('exit', () => started.forEach((child) => child.kill('SIGKILL')));

/** start starts the service with more flags, in a new data folder. RIFFLE_SERVER is its binary. */
export async function start(...flags) {
  const data = await mkdtemp(join(tmpdir(), 'riffle-pages-'));
  const child = spawn(server, ['-addr', '127.0.0.1:0', '-data', data, '-access-log=false', ...flags], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const base = await new Promise((found, failed) => {
    let log = '';
    child.stderr.on('data', (text) => {
      log += text;
      const [, address] = /"msg":"listening","addr":"([^"]+)"/.exec(log) ?? [];
      if (address) found(`http://localhost:${address.split(':').at(-1)}`);
    });
    child.on('exit', () => failed(new Error(log)));
  });
  child.unref();
  child.stderr.unref();
  started.push(child);
  return {
    base,
    async stop() {
      child.ref();
      child.kill('SIGTERM');
      await new Promise((done) => {
        child.exitCode === null ? child.on('exit', done) : done();
      });
      await rm(data, {recursive: true});
    },
  };
}

/** startWithKey starts the service for callers with a key that has scopes, and returns its token as well. */
export async function startWithKey(scopes, ...flags) {
  const token = `rfl_${Buffer.alloc(32, 7).toString('base64url')}`,
    digest = createHash('sha256').update(token).digest('hex'),
    folder = await mkdtemp(join(tmpdir(), 'riffle-config-')),
    file = join(folder, 'riffle.yaml');
  await writeFile(file, `keys: [{name: page, sha256: ${digest}, may: [${scopes}]}]\n`);
  const service = await start('-config', file, ...flags);
  return {
    ...service,
    token,
    async stop() {
      await service.stop();
      await rm(folder, {recursive: true});
    },
  };
}

/** browserPath is the headless shell of Chromium, or the browser that CHROMIUM names. */
export const browserPath = process.env.CHROMIUM ?? '/usr/bin/chromium-headless-shell';

/** browse starts the browser. */
export const browse = () =>
  chromium.launch({
    executablePath: browserPath,
    args: ['--no-sandbox', '--disable-quic'],
  });

/**
 * open opens a page and collects what must not happen on it: messages on the console, errors,
 * requests to elsewhere.
 */
export async function open(browser, url, settings = {}) {
  const context = await browser.newContext({
    viewport: {width: 1200, height: 900},
    reducedMotion: 'reduce',
    ...settings,
  });
  const page = await context.newPage(),
    wrong = [],
    {origin} = new URL(url);
  page.on('console', (message) => {
    if (message.type() !== 'log') wrong.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => wrong.push(`error: ${error}`));
  page.on('request', (request) => {
    if (!request.url().startsWith(origin) && !/^(data|blob):/.test(request.url()))
      wrong.push(`request: ${request.url()}`);
  });
  await page.goto(url, {waitUntil: 'networkidle'});
  return {page, wrong, close: () => context.close()};
}

/** more opens the fields of the table that are folded. */
export const more = (page) => page.click('form summary');

/** sizeOf returns the number of records of a log. */
export const sizeOf = async (base, headers = {}) =>
  Number((await (await fetch(`${base}/log/checkpoint`, {headers})).text()).split('\n')[1]);

/** shuffle asks a service for a shuffle and returns the answer. */
export async function shuffle(base, body) {
  const answer = await fetch(`${base}/shuffle`, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: {'Content-Type': 'application/json'},
  });
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}

/** give gives the page /verify a proof, and whatever it is compared with, each as a file in its field. */
export async function give(page, texts) {
  for (const [input, text] of Object.entries(texts))
    await page.setInputFiles(`input[name=${input}]`, {
      name: `${input}.json`,
      mimeType: 'text/plain',
      buffer: Buffer.from(typeof text === 'string' ? text : JSON.stringify(text)),
    });
}
