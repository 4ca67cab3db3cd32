// Runs a shuffle of the reader's own, or of whoever made the link to it. This script is the text of
// a document that the service and the page both sandbox, so its origin is opaque: it shares no
// storage with the pages. The document runs the same script again as a worker, which ends with the
// frame even in an endless loop. The policy of the document, which the worker inherits, allows
// compiling the function and no request. Whatever is sent from here may be the function's own
// words.

/** An OwnJob is a shuffle in any form that compile knows. Orders are sent in batches of so many. */
export interface OwnJob {
  code: string;
  n: number;
  runs: number;
  batch: number;
}

/**
 * A Mistake leaves nothing to measure: the list as it was, or the same other order, each time; what is no
 * order of the cards; or a promise.
 */
export type Mistake = 'unchanged' | 'same' | 'disorder' | 'promise';

/** A Sent is an answer: orders of n cards, one after the other, or an error, or a mistake with its runs or result. */
export type Sent = {orders: Uint8Array} | {error: string} | {mistake: Mistake; shown: number | string};

class Mistaken extends Error {
  constructor(
    readonly mistake: Mistake,
    readonly shown: number | string,
  ) {
    super();
  }
}

type Shuffle = (this: unknown, a: number[]) => unknown;

/** returning returns a body that returns the value of code, or undefined if that is not an expression. */
function returning(code: string): string | undefined {
  const body = `return (\n${code.replace(/;\s*$/, '')}\n)`;
  try {
    new Function(body);
    return body;
  } catch {
    return undefined;
  }
}

/** functionOf returns the function that a body returns without a list, or undefined for all others. */
function functionOf(body: string): Shuffle | undefined {
  try {
    const value: unknown = new Function(body)();
    return typeof value === 'function' ? (value as Shuffle) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * compile returns a shuffle, written as a function, as a program that declares one, or as the body of one or
 * an expression, which get the array a. A program that touches a itself is a body, whatever it declares.
 */
function compile(code: string, n: number): Shuffle {
  const source = code.replace(/^\s*(?:export\s+(?:default\s+)?|(?:module\.)?exports(?:\.\w+)?\s*=\s*)/gm, ''),
    expression = returning(source),
    whole = expression && functionOf(expression);
  if (whole) return (a) => whole.call(a, a); // a method has the list as this
  const declarations = source.matchAll(/(?:^|[;}])\s*(?:async\s+)?(?:function|const|let|var)\s+([A-Za-z_$][\w$]*)/gm),
    names = new Set([...declarations].map(([, name]) => name!)),
    known = [...names].map((name) => `${name}: typeof ${name} === 'function' ? ${name} : undefined`),
    body = new Function('a', 'declared$', `${expression ?? source}\n;declared$({${known.join()}});`) as (
      a: number[],
      declared: (functions: Record<string, Shuffle | undefined>) => void,
    ) => unknown;
  let touched = false,
    found: Shuffle | undefined;
  const touch = () => {
      touched = true;
      return undefined;
    },
    list = Array.from({length: n}, (_, card) => card),
    handler = {get: (...args: [number[], string]) => touch() ?? Reflect.get(...args)};
  body(new Proxy(list, {...handler, set: (...args) => touch() ?? Reflect.set(...args)}), (functions) => {
    const all = Object.entries(functions).filter(([, value]) => value);
    found = (all.findLast(([name]) => /shuffle/i.test(name)) ?? all.at(-1))?.[1];
  });
  return touched || !found ? (a) => body(a, () => {}) : found;
}

/** leastSame is how many runs a fair shuffle gives the same order in with a probability below 1e-9. */
function leastSame(n: number): number {
  let bits = 0;
  for (let i = 2; i <= n; i++) bits += Math.log2(i);
  return 2 + Math.ceil(30 / bits);
}

/** orderOf runs a shuffle and returns the order that it gave. */
function orderOf(shuffle: Shuffle, n: number): number[] {
  const a = Array.from({length: n}, (_, card) => card),
    result = shuffle(a);
  if (result instanceof Promise) throw new Mistaken('promise', '');
  const order = Array.isArray(result) || ArrayBuffer.isView(result) ? Array.from(result as number[]) : a;
  if (
    order.length !== n ||
    new Set(order).size !== n ||
    order.some((card) => !Number.isInteger(card) || card < 0 || card >= n)
  )
    throw new Mistaken('disorder', JSON.stringify(order).slice(0, 200));
  return order;
}

function run({code, n, runs, batch}: OwnJob, port: MessagePort): void {
  const send = (sent: Sent) => port.postMessage(sent);
  try {
    const shuffle = compile(code, n);
    let first: string | undefined,
      differs = false;
    for (let left = runs; left > 0; left -= batch) {
      const count = Math.min(left, batch),
        orders = new Uint8Array(count * n);
      for (let i = 0; i < count; i++) {
        const order = orderOf(shuffle, n);
        orders.set(order, i * n);
        first ??= order.join();
        differs ||= order.join() !== first;
      }
      if (!differs && count >= leastSame(n)) {
        const mistake = orders.subarray(0, n).every((card, i) => card === i) ? 'unchanged' : 'same';
        throw new Mistaken(mistake, count);
      }
      send({orders});
    }
  } catch (error) {
    send(error instanceof Mistaken ? {mistake: error.mistake, shown: error.shown} : {error: String(error)});
  }
}

const script = globalThis.document?.currentScript?.textContent;
addEventListener('message', ({source, data, ports}: MessageEvent<OwnJob>) => {
  if (script === undefined) {
    delete (globalThis as {Worker?: unknown}).Worker; // one is enough
    run(data, ports[0]!);
  } else if (source === parent && parent !== self) {
    new Worker(URL.createObjectURL(new Blob([script!]))).postMessage(data, [...ports]);
  }
});
