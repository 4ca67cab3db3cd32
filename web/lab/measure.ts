// What a number of orders show, and how likely a fair shuffle is to deviate as far: the statistics that the service's own shuffles
// are tested with (internal/shuffle), in the browser.
import {jStat} from 'jstat';

/** A Count is how often each value of something came up, with the law that a fair shuffle follows. */
export interface Count { seen: number[]; law: number[] }

/** A Finding is a statistic: chi-square with its degrees of freedom where it has them, and p. */
export interface Finding { name: 'positions' | 'orders' | 'fixedPoints' | 'cycles' | 'risingSequences' | 'repeats'; x?: number; freedom?: number; p: number }

/** A Measurement is what is known after some runs. */
export interface Measurement {
  n: number; runs: number;
  positions: number[]; // how often each card came to each place: place * n + card
  orders?: number[]; // how often each of the n! orders came up, for n of at most mostOrders
  fixedPoints: Count; cycles: Count; risingSequences: Count;
  repeats?: number; // how many runs gave an order that had come up before, for n of at least leastRepeats
  findings: Finding[];
}

/** mostOrders is the longest list all orders of which are counted. */
export const mostOrders = 5;

/** leastRepeats is the shortest list in which no order should come up twice. */
const leastRepeats = 15;

/** factorial returns how many orders n cards have. */
export const factorial = (n: number): number => n < 2 ? 1 : n * factorial(n - 1);

/** Meter counts orders of n cards. */
export class Meter {
  runs = 0;
  readonly #positions: Float64Array;
  readonly #orders: Float64Array | undefined;
  readonly #fixedPoints: Float64Array;
  readonly #cycles: Float64Array;
  readonly #risingSequences: Float64Array;
  readonly #place: Int32Array;
  readonly #visited: Int32Array;
  readonly #known = new Set<number>(); // 52 bits of a hash of each order
  #repeats = 0;

  constructor(readonly n: number) {
    this.#positions = new Float64Array(n * n);
    if (n <= mostOrders) this.#orders = new Float64Array(factorial(n));
    this.#fixedPoints = new Float64Array(n + 1);
    this.#cycles = new Float64Array(n + 1);
    this.#risingSequences = new Float64Array(n + 1);
    this.#place = new Int32Array(n);
    this.#visited = new Int32Array(n).fill(-1);
  }

  /** add counts one order: which card is at each place. */
  add(order: ArrayLike<number>): void {
    const n = this.n, place = this.#place, visited = this.#visited, run = this.runs++;
    let fixed = 0, cycles = 0, sequences = 1;
    for (let at = 0; at < n; at++) {
      const card = order[at]!;
      this.#positions[at * n + card]!++;
      place[card] = at;
      if (card === at) fixed++;
      if (visited[at] !== run) {
        cycles++;
        for (let next = at; visited[next] !== run; next = order[next]!) visited[next] = run;
      }
    }
    for (let card = 1; card < n; card++) if (place[card]! < place[card - 1]!) sequences++;
    this.#fixedPoints[fixed]!++;
    this.#cycles[cycles]!++;
    this.#risingSequences[sequences]!++;
    if (this.#orders) this.#orders[rank(order, n)]!++;
    if (n >= leastRepeats) {
      const hash = hashOf(order, n);
      if (this.#known.has(hash)) this.#repeats++;
      else this.#known.add(hash);
    }
  }

  /** measurement returns what is known so far. */
  measurement(): Measurement {
    const {n, runs} = this, positions = Array.from(this.#positions), orders = this.#orders && Array.from(this.#orders);
    const count = (seen: Float64Array, law: number[]): Count => ({seen: Array.from(seen), law});
    const fixedPoints = count(this.#fixedPoints, fixedPointLaw(n)), cycles = count(this.#cycles, cycleLaw(n));
    const risingSequences = count(this.#risingSequences, risingSequenceLaw(n)), findings: Finding[] = [];
    if (runs > 0 && n > 1) {
      const x = pearson(positions, runs / n) * (n - 1) / n, freedom = (n - 1) ** 2;
      findings.push({name: 'positions', x, freedom, p: chiSquare(x, freedom)});
      if (orders) {
        const x = pearson(orders, runs / orders.length), freedom = orders.length - 1;
        findings.push({name: 'orders', x, freedom, p: chiSquare(x, freedom)});
      }
      if (n >= leastRepeats) findings.push({name: 'repeats', p: this.#repeats === 0 ? 1 : jStat.lowRegGamma(this.#repeats, runs * (runs - 1) / 2 / factorial(n))});
      findings.push({name: 'fixedPoints', p: pOf(fixedPoints, runs)}, {name: 'cycles', p: pOf(cycles, runs)}, {name: 'risingSequences', p: pOf(risingSequences, runs)});
    }
    return {n, runs, positions, orders, fixedPoints, cycles, risingSequences, repeats: n >= leastRepeats ? this.#repeats : undefined, findings};
  }
}

/** hashOf returns 52 bits that two different orders hardly ever share. */
function hashOf(order: ArrayLike<number>, n: number): number {
  let a = 0x811c9dc5, b = 0x9e3779b9;
  for (let i = 0; i < n; i++) {
    a = Math.imul(a ^ order[i]!, 0x01000193);
    b = Math.imul((b << 5) + (b >>> 27) + order[i]!, 0x85ebca6b);
  }
  return ((a ^ (a >>> 15)) >>> 0) * 2 ** 20 + ((b ^ (b >>> 13)) >>> 12);
}

/** rank numbers the orders of n cards from 0 to n!-1. */
export function rank(order: ArrayLike<number>, n: number): number {
  let number = 0;
  for (let i = 0; i < n; i++) {
    let smaller = 0;
    for (let j = i + 1; j < n; j++) if (order[j]! < order[i]!) smaller++;
    number = number * (n - i) + smaller;
  }
  return number;
}

/** orderOf is the inverse of rank. */
export function orderOf(number: number, n: number): number[] {
  const digits: number[] = [], left = Array.from({length: n}, (_, i) => i);
  for (let base = 1; base <= n; base++) {
    digits.unshift(number % base);
    number = Math.floor(number / base);
  }
  return digits.map((digit) => left.splice(digit, 1)[0]!);
}

const pearson = (counts: number[], expected: number) => counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);

/** chiSquare is the p-value of x. With few degrees of freedom only the upper tail counts. */
export function chiSquare(x: number, freedom: number): number {
  if (freedom < 1) return 1;
  const under = jStat.lowRegGamma(freedom / 2, x / 2), above = Math.max(0, 1 - under);
  return freedom < 20 ? above : Math.min(1, 2 * Math.min(above, under));
}

/** normal is the p-value of a mean that is off by so much, of samples that have the variance. */
const normal = (off: number, variance: number, samples: number) => variance === 0 ? 1 : jStat.erfc(Math.abs(off) / Math.sqrt(2 * variance / samples));

/** pOf compares mean, variance and the whole distribution of a value with its law. */
function pOf({seen, law}: Count, samples: number): number {
  const mean = law.reduce((sum, p, v) => sum + v * p, 0), moment = (k: number) => law.reduce((sum, p, v) => sum + (v - mean) ** k * p, 0);
  const variance = moment(2), sum = (k: number) => seen.reduce((all, count, v) => all + (v - mean) ** k * count, 0) / samples;
  return Math.min(1, 3 * Math.min(normal(sum(1), variance, samples), normal(sum(2) - variance, moment(4) - variance ** 2, samples), fit(seen, law, samples)));
}

/** fit is the p-value of counts whose outcomes follow the law, pooled until ten or more are expected. */
function fit(seen: number[], law: number[], samples: number): number {
  if (seen.some((count, i) => law[i] === 0 && count > 0)) return 0;
  const pools: {expected: number; seen: number}[] = [];
  let enough = true;
  seen.forEach((count, i) => {
    if (enough) pools.push({expected: 0, seen: 0});
    const last = pools.at(-1)!;
    last.expected += samples * law[i]!;
    last.seen += count;
    enough = last.expected >= 10;
  });
  if (!enough && pools.length > 1) {
    const rest = pools.pop()!, last = pools.at(-1)!;
    last.expected += rest.expected;
    last.seen += rest.seen;
  }
  return chiSquare(pools.reduce((sum, pool) => sum + (pool.seen - pool.expected) ** 2 / pool.expected, 0), pools.length - 1);
}

/** fixedPointLaw: choose the v that stay, 1/v!, and derange the others. */
export function fixedPointLaw(n: number): number[] {
  return Array.from({length: n + 1}, (_, v) => {
    let sum = 0;
    for (let i = 0, term = 1; i <= n - v; term /= -++i) sum += term;
    return Math.max(0, sum / factorial(v)); // n-1 of n cannot stay
  });
}

/** cycleLaw: the j-th card closes a cycle with probability 1/j. */
export function cycleLaw(n: number): number[] {
  let law = [1];
  for (let j = 1; j <= n; j++) law = Array.from({length: j + 1}, (_, v) => (law[v] ?? 0) * (1 - 1 / j) + (law[v - 1] ?? 0) / j);
  return law;
}

/** risingSequenceLaw: the Eulerian numbers over n!. */
export function risingSequenceLaw(n: number): number[] {
  let law = [0, 1];
  for (let j = 2; j <= n; j++) law = Array.from({length: j + 1}, (_, v) => (v * (law[v] ?? 0) + (j - v + 1) * (law[v - 1] ?? 0)) / j);
  return law;
}
