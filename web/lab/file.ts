// Reads a file of orders, one a line, in the forms that riffle fairness reads.
import {text} from '../page';

/** Batch has orders of n items, one after the other. An item is its place in the order before the shuffle. */
export interface Batch {
  n: number;
  orders: Uint8Array<ArrayBuffer>;
  last: boolean;
}

const mostItems = 256,
  longestLine = 1 << 16,
  batchSize = 1 << 18;

/** ordersIn yields the orders of a file. Its errors are for readers. It keeps one batch in memory. */
export async function* ordersIn(file: Blob): AsyncGenerator<Batch> {
  let items: Map<string, number> | undefined,
    number = 0,
    batch: number[] = [];
  const lastSeen: number[] = []; // by item, the line that last had it
  for await (const line of linesOf(file)) {
    number++;
    if (line === '') continue;
    const words = wordsOf(line);
    if (!words) throw new Error(text('lab.file.form', number));
    items ??= itemsOf(words);
    if (words.length !== items.size) throw new Error(text('lab.file.items', number));
    for (const word of words) {
      const item = items.get(word);
      if (item === undefined || lastSeen[item] === number) throw new Error(text('lab.file.items', number));
      lastSeen[item] = number;
      batch.push(item);
    }
    if (batch.length >= batchSize) {
      yield {n: items.size, orders: Uint8Array.from(batch), last: false};
      batch = [];
    }
  }
  if (!items) throw new Error(text('lab.file.empty'));
  yield {n: items.size, orders: Uint8Array.from(batch), last: true};
}

/** linesOf yields the lines of a file without white space at their ends. */
async function* linesOf(file: Blob): AsyncGenerator<string> {
  const reader = file
    .stream()
    .pipeThrough(new TextDecoderStream('utf-8', {fatal: true}))
    .getReader();
  let rest = '';
  try {
    for (;;) {
      const {value, done} = await reader.read();
      const lines = (rest + (value ?? '')).split('\n');
      rest = done ? '' : lines.pop()!;
      for (const line of lines) yield line.trim();
      if (rest.length > longestLine) throw new Error(text('lab.file.long'));
      if (done) return;
    }
  } catch (error) {
    throw error instanceof TypeError ? new Error(text('lab.file.binary')) : error; // not UTF-8
  } finally {
    void reader.cancel().catch(() => {});
  }
}

/** wordsOf splits a line at commas or white space, or as a JSON array; undefined if it is neither. */
function wordsOf(line: string): string[] | undefined {
  let list = line;
  if (/[^\P{Cc}\t]/u.test(line)) return undefined; // of a binary file
  if (line.startsWith('[')) {
    if (line.includes('"')) return elementsOf(line);
    list = line.slice(1).replace(/\]$/, '');
    if (/[[\]{}]/.test(list)) return undefined;
  }
  if (!list.includes(',')) return list.split(/\s+/).filter((word) => word !== '');
  const words = list.split(',').map((word) => word.trim());
  return words.includes('') ? undefined : words;
}

function elementsOf(line: string): string[] | undefined {
  try {
    const list: unknown = JSON.parse(line);
    if (!Array.isArray(list) || list.some((item) => item !== null && typeof item === 'object')) return undefined;
    return list.map((item) => (typeof item === 'string' ? item : JSON.stringify(item)));
  } catch {
    return undefined;
  }
}

/** itemsOf numbers the words of the first line: integers by value, others as text. */
function itemsOf(words: string[]): Map<string, number> {
  const integers = words.every((word) => /^[+-]?\d+$/.test(word));
  const sorted = words.toSorted(integers ? (a, b) => Number(a) - Number(b) : (a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const items = new Map(sorted.map((word, place) => [word, place]));
  if (items.size !== words.length || items.size < 2 || items.size > mostItems)
    throw new Error(text('lab.file.first', mostItems));
  return items;
}
