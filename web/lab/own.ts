// Runs a shuffle of the reader's own, or of whoever made the link to it. This script is the text of
// a document that the service and the page both sandbox, so its origin is opaque: it shares no
// storage with the pages. The document runs the same script again as a worker, which ends with the
// frame even in an endless loop. The policy of the document, which the worker inherits, allows
// compiling the function and no request. Whatever is sent from here may be the function's own
// words.

/**
 * An OwnJob is a function body that gets the array a and returns it in another order. Orders are
 * sent in batches of so many.
 */
export interface OwnJob {
  code: string;
  n: number;
  runs: number;
  batch: number;
}

/** A Sent is an answer: orders of n cards, one after the other, or an error. */
export type Sent = {orders: Uint8Array} | {error: string};

function run({code, n, runs, batch}: OwnJob, port: MessagePort): void {
  try {
    const shuffle = new Function('a', code) as (a: number[]) => unknown;
    for (let left = runs; left > 0; left -= batch) {
      const count = Math.min(left, batch),
        orders = new Uint8Array(count * n);
      for (let i = 0; i < count; i++) {
        const a = Array.from({length: n}, (_, card) => card),
          result = shuffle(a),
          order = Array.isArray(result) ? (result as unknown[]) : a;
        if (
          order.length !== n ||
          new Set(order).size !== n ||
          order.some((card) => !Number.isInteger(card) || (card as number) < 0 || (card as number) >= n)
        ) {
          throw new Error(`${JSON.stringify(order).slice(0, 200)} is not an order of the ${n} cards`);
        }
        orders.set(order as number[], i * n);
      }
      port.postMessage({orders} satisfies Sent, [orders.buffer]);
    }
  } catch (error) {
    port.postMessage({error: String(error)} satisfies Sent);
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
