// Wrong shuffles, each found in real programs, and a fair one to compare with. Their randomness is the
// browser's unless that is the mistake.

/** A Shuffle puts a into another order. It is called again and again with the cards in order. */
export type Shuffle = (a: Uint8Array) => void;

const words = new Uint32Array(16384);
let used = words.length;

/** word returns 32 random bits. */
function word(): number {
  if (used === words.length) {
    crypto.getRandomValues(words);
    used = 0;
  }
  return words[used++]!;
}

/**
 * below returns a uniform integer below n, by multiplication and rejection (Lemire, 2019). n is far
 * below 2^20, so that products are exact.
 */
export function below(n: number): number {
  for (;;) {
    const product = word() * n,
      low = product >>> 0;
    if (low >= n || low >= 2 ** 32 % n) return Math.floor(product / 2 ** 32);
  }
}

const swap = (a: Uint8Array, i: number, j: number) => {
  const x = a[i]!;
  a[i] = a[j]!;
  a[j] = x;
};

/** fisherYates is right, over integers that may not be. */
function fisherYates(a: Uint8Array, integer: (n: number) => number): void {
  for (let i = 0; i < a.length - 1; i++) swap(a, i, i + integer(a.length - i));
}

/** xorshift is a generator with a state of 32 bits (Marsaglia, "Xorshift RNGs", 2003). */
function xorshift(seed: number): () => number {
  let x = seed || 1;
  return () => {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    return x >>> 0;
  };
}

/** riffle cuts and interleaves once: the model of Gilbert, Shannon and Reeds. */
function riffle(a: Uint8Array): void {
  let cut = 0;
  for (let i = 0; i < a.length; i++) cut += word() & 1;
  const from = a.slice();
  for (let at = 0, left = 0, right = cut; at < a.length; at++) {
    const lefts = cut - left,
      rights = a.length - right;
    a[at] = below(lefts + rights) < lefts ? from[left++]! : from[right++]!;
  }
}

/** fair is the algorithm that the service uses, over the browser's random numbers: it writes no record. */
export const fair: Shuffle = (a) => fisherYates(a, below);

/** wrong are the wrong shuffles by name. */
export const wrong: Record<string, Shuffle> = {
  'any-place': (a) => {
    for (let i = 0; i < a.length; i++) swap(a, i, below(a.length));
  },
  'random-comparator': (a) => {
    a.set(Array.from(a).sort(() => (word() & 1) - 0.5));
  },
  'off-by-one': (a) => {
    for (let i = 0; i < a.length - 1; i++) swap(a, i, i + below(Math.max(1, a.length - i - 1)));
  },
  modulo: (a) => fisherYates(a, (n) => (word() >>> 23) % n),
  'seed-32': (a) => {
    const next = xorshift(word());
    fisherYates(a, (n) => Math.floor((next() / 2 ** 32) * n));
  },
  ...Object.fromEntries(
    Array.from({length: 10}, (_, i) => [
      `riffle-${i + 1}`,
      (a: Uint8Array) => {
        for (let k = 0; k <= i; k++) riffle(a);
      },
    ]),
  ),
};
