// Runs a shuffle of the reader's own. Its text is compiled here and nowhere else: the policy of this worker lets it be compiled, and lets
// nothing be fetched.

/** An OwnJob is a function body that gets the array a and returns it in another order. */
export interface OwnJob { code: string; n: number; runs: number }

onmessage = ({data: {code, n, runs}}: MessageEvent<OwnJob>) => {
  try {
    const shuffle = new Function('a', code) as (a: number[]) => unknown;
    for (let left = runs; left > 0;) {
      const batch = Math.min(left, 500), orders = new Uint8Array(batch * n);
      for (let i = 0; i < batch; i++) {
        const a = Array.from({length: n}, (_, card) => card), result = shuffle(a), order = Array.isArray(result) ? result as unknown[] : a;
        if (order.length !== n || new Set(order).size !== n || order.some((card) => !Number.isInteger(card) || (card as number) < 0 || (card as number) >= n)) {
          throw new Error(`${JSON.stringify(order).slice(0, 200)} is not an order of the ${n} cards`);
        }
        orders.set(order as number[], i * n);
      }
      left -= batch;
      postMessage({orders, last: left === 0}, {transfer: [orders.buffer]});
    }
  } catch (error) {
    postMessage({error: String(error)});
  }
};
