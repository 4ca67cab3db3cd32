// A browser for tests in Go: each line of the input is an array of a command and its arguments, and is answered by
// a line with the value or the error.
import {createInterface} from 'node:readline';
import {setTimeout} from 'node:timers/promises';
import {browse} from './service.mjs';

const browser = await browse(),
  page = await browser.newPage(),
  commands = {
    open: (url) => page.goto(url),
    // Pages do not allow waitForFunction, which evaluates the text itself.
    until: async (expression) => {
      for (const end = Date.now() + 120_000; !(await page.evaluate(expression)); await setTimeout(50)) {
        if (Date.now() > end) throw new Error('this did not become true');
      }
    },
    upload: (selector, file) => page.setInputFiles(selector, file),
    evaluate: (expression) => page.evaluate(expression),
  };
page.setDefaultTimeout(120_000); // the machine may be busy
for await (const line of createInterface({input: process.stdin})) {
  const [command, ...given] = JSON.parse(line);
  let answer;
  try {
    const value = await commands[command](...given);
    answer = command === 'evaluate' ? {value} : {};
  } catch (error) {
    answer = {error: String(error)};
  }
  console.log(JSON.stringify(answer));
}
await browser.close();
