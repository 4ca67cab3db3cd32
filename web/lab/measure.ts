// What a number of orders show, and how likely a fair shuffle is to deviate as far: the statistics
// of internal/fairness, in the browser. A test holds their values equal to Go's, so that the same
// is measured here and by riffle fairness.
import {tails} from './gamma';

/** A Count has the frequency of each value of a statistic, with a fair shuffle's law. */
export interface Count {
  seen: number[];
  law: number[];
}

/**
 * A Finding is a statistic: chi-square with its degrees of freedom where it has them, and p, which
 * holds from so many runs on.
 */
export interface Finding {
  name:
    | 'positions'
    | 'orders'
    | 'neighbours'
    | 'fixedPoints'
    | 'cycles'
    | 'risingSequences'
    | 'inversions'
    | 'successive'
    | 'repeats';
  runs: number;
  needed: number;
  x?: number;
  freedom?: number;
  p: number;
  mean?: number;
  expected?: number;
}

/** A Measurement is the result after some runs. */
export interface Measurement {
  n: number;
  runs: number;
  last: number[]; // the last order
  positions: number[]; // how often each card came to each place: place * n + card
  orders?: number[]; // how often each of the n! orders came up, for n of at most mostOrders
  fixedPoints: Count;
  cycles: Count;
  risingSequences: Count;
  repeats?: number; // how many runs gave an order that had come up before, for n of at least leastRepeats
  findings: Finding[];
  cyclic?: Finding[]; // compared with single cycles, if asked for
}

/** All orders are shown up to mostOrders items, and counted up to mostRanked. */
export const mostOrders = 5,
  mostRanked = 7;

/**
 * leastRepeats is the shortest list in which hardly any order comes up twice, and mostRemembered
 * how many runs are compared.
 */
const leastRepeats = 15,
  mostRemembered = 2 ** 20;

/** enough is the least expected count of the rarest outcome in a chi-square test. */
const enough = 10;

/** leastMoments is from how many runs on mean and variance of a value are compared with the normal law. */
const leastMoments = 20_000;

/** alpha is how likely a fair shuffle is caught by mistake, or a few times that with the fewest runs. */
const alpha = 1e-6;

/** judged tells whether there were enough runs for p to hold. */
export const judged = ({runs, needed}: Finding): boolean => runs >= needed;

/**
 * caught returns the findings that are significant when all together may be wrong with probability
 * alpha (Holm, 1979).
 */
export function caught(findings: Finding[]): Finding[] {
  const sorted = findings.filter(judged).sort((a, b) => a.p - b.p),
    fair = sorted.findIndex(({p}, i) => p > alpha / (sorted.length - i));
  return fair < 0 ? sorted : sorted.slice(0, fair);
}

/** factorial returns the number of orders of n cards. */
export const factorial = (n: number): number => (n < 2 ? 1 : n * factorial(n - 1));

/** Meter counts orders of n cards. If cyclic, they are compared with single cycles as well. */
export class Meter {
  runs = 0;
  readonly #positions: Float64Array;
  readonly #follows: Float64Array; // what comes after what; n is the edge of the table
  readonly #orders: Float64Array | undefined;
  readonly #circles: Float64Array | undefined;
  readonly #laws: {fixedPoints: number[]; cycles: number[]; risingSequences: number[]; inversions: number[]};
  readonly #fixedPoints: Float64Array;
  readonly #cycles: Float64Array;
  readonly #risingSequences: Float64Array;
  readonly #inversions: Float64Array;
  readonly #successive: Float64Array;
  readonly #place: Int32Array;
  readonly #visited: Int32Array;
  readonly #last: Int32Array;
  readonly #repeats: Repeats | undefined;

  constructor(
    readonly n: number,
    readonly cyclic = false,
  ) {
    this.#positions = new Float64Array(n * n);
    this.#follows = new Float64Array((n + 1) ** 2);
    if (n <= mostRanked) this.#orders = new Float64Array(factorial(n));
    if (cyclic && n > 2 && n <= mostRanked + 1) this.#circles = new Float64Array(factorial(n - 1));
    this.#laws = {
      fixedPoints: fixedPointLaw(n),
      cycles: cycleLaw(n),
      risingSequences: risingSequenceLaw(n),
      inversions: inversionLaw(n),
    };
    this.#fixedPoints = new Float64Array(n + 1);
    this.#cycles = new Float64Array(n + 1);
    this.#risingSequences = new Float64Array(n + 1);
    this.#inversions = new Float64Array((n * (n - 1)) / 2 + 1);
    this.#successive = new Float64Array(n + 1);
    this.#place = new Int32Array(n);
    this.#visited = new Int32Array(n).fill(-1);
    this.#last = new Int32Array(n);
    if (n >= leastRepeats) this.#repeats = new Repeats();
  }

  /** add counts one order: which card is at each place. */
  add(order: ArrayLike<number>): void {
    const n = this.n,
      place = this.#place,
      visited = this.#visited,
      last = this.#last,
      positions = this.#positions,
      follows = this.#follows,
      run = this.runs++;
    let fixed = 0,
      cycles = 0,
      sequences = 1,
      same = 0,
      before = n;
    for (let at = 0; at < n; at++) {
      const card = order[at]!;
      positions[at * n + card]!++;
      follows[before * (n + 1) + card]!++;
      before = card;
      place[card] = at;
      if (card === at) fixed++;
      if (last[at] === card) same++;
      last[at] = card;
      if (visited[at] !== run) {
        cycles++;
        for (let next = at; visited[next] !== run; next = order[next]!) visited[next] = run;
      }
    }
    follows[before * (n + 1) + n]!++;
    for (let card = 1; card < n; card++) if (place[card]! < place[card - 1]!) sequences++;
    this.#fixedPoints[fixed]!++;
    this.#cycles[cycles]!++;
    this.#risingSequences[sequences]!++;
    this.#inversions[inversions(order, n)]!++;
    if (run > 0) this.#successive[same]!++;
    if (this.#orders) this.#orders[rank(order, n)]!++;
    if (this.#circles && cycles === 1) this.#circles[cycleRank(order, n)]!++;
    this.#repeats?.add(order, n);
  }

  /** measurement returns what is known so far. */
  measurement(): Measurement {
    const {n, runs} = this,
      positions = Array.from(this.#positions),
      laws = this.#laws;
    const count = (seen: Float64Array, law: number[]): Count => ({seen: Array.from(seen), law});
    const fixedPoints = count(this.#fixedPoints, laws.fixedPoints),
      cycles = count(this.#cycles, laws.cycles);
    const risingSequences = count(this.#risingSequences, laws.risingSequences),
      orders = this.#orders && Array.from(this.#orders);
    const findings: Finding[] = [];
    if (runs > 0 && n > 1) {
      findings.push(chi('positions', runs, enough * n, (pearson(positions, runs / n) * (n - 1)) / n, (n - 1) ** 2));
      if (orders) findings.push(ordersFinding(orders, runs));
      findings.push(arcs('neighbours', n + 1, runs, this.#follows));
      findings.push(
        valuesOf('fixedPoints', fixedPoints, runs),
        valuesOf('cycles', cycles, runs),
        valuesOf('risingSequences', risingSequences, runs),
      );
      findings.push(valuesOf('inversions', count(this.#inversions, laws.inversions), runs));
      if (runs > 1) findings.push(valuesOf('successive', count(this.#successive, laws.fixedPoints), runs - 1));
      if (this.#repeats) findings.push(this.#repeats.finding(n));
    }
    return {
      n,
      runs,
      last: Array.from(this.#last),
      positions,
      orders: n <= mostOrders ? orders : undefined,
      fixedPoints,
      cycles,
      risingSequences,
      repeats: this.#repeats?.repeats,
      findings,
      cyclic: this.cyclic && n > 2 ? this.#amongCycles() : undefined,
    };
  }

  /** amongCycles compares with single cycles. */
  #amongCycles(): Finding[] {
    const {n, runs} = this,
      single = Array.from({length: n + 1}, (_, cycles) => Number(cycles === 1)),
      findings: Finding[] = [];
    if (runs === 0) return findings;
    findings.push(arcs('positions', n, runs, this.#positions));
    if (this.#circles) findings.push(ordersFinding(Array.from(this.#circles), runs));
    findings.push(valuesOf('cycles', {seen: Array.from(this.#cycles), law: single}, runs));
    if (this.#repeats && n > leastRepeats) findings.push(this.#repeats.finding(n - 1));
    return findings;
  }
}

/**
 * Repeats counts runs that gave an order that had come up before. It remembers 64 bits of a hash of
 * each, in an open hash table.
 */
class Repeats {
  repeats = 0;
  #runs = 0;
  readonly #high = new Uint32Array(2 * mostRemembered);
  readonly #low = new Uint32Array(2 * mostRemembered);

  add(order: ArrayLike<number>, n: number): void {
    if (this.#runs === mostRemembered) return;
    this.#runs++;
    let high = 0x811c9dc5,
      low = 0x9e3779b9;
    for (let i = 0; i < n; i++) {
      high = Math.imul(high ^ order[i]!, 0x01000193);
      low = Math.imul(low ^ order[i]!, 0x85ebca6b);
      low ^= low >>> 13;
    }
    high >>>= 0;
    low = (low | 1) >>> 0; // 0 is an empty slot
    for (let at = (high ^ (low >>> 11)) >>> 0; ; at++) {
      const slot = at % (2 * mostRemembered);
      if (this.#low[slot] === 0) {
        this.#high[slot] = high;
        this.#low[slot] = low;
        return;
      }
      if (this.#low[slot] === low && this.#high[slot] === high) {
        this.repeats++;
        return;
      }
    }
  }

  /** finding compares the number with the law of free! orders. */
  finding(free: number): Finding {
    let expected = (this.#runs * (this.#runs - 1)) / 2;
    for (let i = 1; i <= free; i++) expected /= i;
    const p = this.repeats === 0 ? 1 : tails(this.repeats, expected).lower;
    return {name: 'repeats', runs: this.#runs, needed: 2, p, mean: this.repeats, expected};
  }
}

/** inversions returns the number of pairs of cards in descending order. */
const words = new Int32Array(8);
function inversions(order: ArrayLike<number>, n: number): number {
  let pairs = 0;
  const used = (n + 31) >>> 5;
  words.fill(0, 0, used);
  for (let at = 0; at < n; at++) {
    const card = order[at]!,
      word = card >>> 5;
    pairs += ones(words[word]! >>> (card & 31));
    for (let larger = word + 1; larger < used; larger++) pairs += ones(words[larger]!);
    words[word]! |= 1 << (card & 31);
  }
  return pairs;
}

/** ones returns the number of set bits in a word. */
function ones(word: number): number {
  word -= (word >>> 1) & 0x55555555;
  word = (word & 0x33333333) + ((word >>> 2) & 0x33333333);
  return Math.imul((word + (word >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
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
  const digits: number[] = [],
    left = Array.from({length: n}, (_, i) => i);
  for (let base = 1; base <= n; base++) {
    digits.unshift(number % base);
    number = Math.floor(number / base);
  }
  return digits.map((digit) => left.splice(digit, 1)[0]!);
}

/**
 * ways returns the orders of n cards that all runs of a shuffle end with, each as often as a run does, if
 * each place is swapped with one from first on. It may stop after fewer swaps.
 */
export function ways(n: number, first: (place: number) => number, swaps = n): number[][] {
  let orders = [Array.from({length: n}, (_, card) => card)];
  for (let place = 0; place < swaps; place++)
    orders = orders.flatMap((cards) =>
      Array.from({length: n - first(place)}, (_, i) => {
        const next = [...cards],
          other = first(place) + i;
        [next[place], next[other]] = [next[other]!, next[place]!];
        return next;
      }),
    );
  return orders;
}

/** cycleRank numbers the single cycles through n cards from 0 to (n-1)!-1, by what follows the first. */
function cycleRank(order: ArrayLike<number>, n: number): number {
  const visited: number[] = [];
  for (let card = order[0]!; card !== 0; card = order[card]!) visited.push(card - 1);
  return rank(visited, n - 1);
}

const pearson = (counts: number[], expected: number) =>
  counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);

/** chiSquare is the p-value of x. With few degrees of freedom only the upper tail counts. */
function chiSquare(x: number, freedom: number): number {
  if (x === Infinity) return 0;
  if (freedom < 1) return 1;
  const {lower, upper} = tails(freedom / 2, x / 2);
  return freedom < 20 ? upper : Math.min(1, 2 * Math.min(upper, lower));
}

/** upperTail is the probability of a chi-square of at least x. */
export const upperTail = (x: number, freedom: number): number =>
  x === Infinity ? 0 : freedom < 1 ? 1 : tails(freedom / 2, x / 2).upper;

const chi = (name: Finding['name'], runs: number, needed: number, x: number, freedom: number): Finding => ({
  name,
  runs,
  needed,
  x,
  freedom,
  p: chiSquare(x, freedom),
});

/** ordersFinding compares how often each of all orders came up. Runs that gave none of them make x infinite. */
function ordersFinding(orders: number[], runs: number): Finding {
  const x = orders.reduce((sum, count) => sum + count, 0) === runs ? pearson(orders, runs / orders.length) : Infinity;
  return chi('orders', runs, enough * orders.length, x, orders.length - 1);
}

/**
 * arcs compares how often each of n followed each other one in random cycles through all of them;
 * internal/fairness has the derivation.
 */
function arcs(name: Finding['name'], n: number, runs: number, follows: Float64Array): Finding {
  const expected = runs / (n - 1);
  let x = 0;
  for (let i = 0; i < n; i++) {
    if (follows[i * n + i]! > 0) x = Infinity;
    for (let j = 0; j < i; j++) {
      const there = follows[i * n + j]! - expected,
        back = follows[j * n + i]! - expected;
      x += ((there + back) ** 2 + ((there - back) ** 2 * (n - 2)) / n) / (2 * expected);
    }
  }
  return chi(name, runs, enough * (name === 'positions' ? n : n - 1), x, (n * (n - 3)) / 2 + ((n - 1) * (n - 2)) / 2);
}

/** normal is the p-value of a mean that is off by so much, of runs that have the variance. */
const normal = (off: number, variance: number, runs: number) =>
  variance < 1e-9 ? 1 : tails(0.5, off ** 2 / ((2 * variance) / runs)).upper;

/**
 * valuesOf compares the whole distribution of a value with its law and, where there are runs
 * enough, its mean and variance.
 */
function valuesOf(name: Finding['name'], {seen, law}: Count, runs: number): Finding {
  const {x, freedom} = fit(seen, law, runs),
    most = Math.max(...law),
    moment = (k: number) => law.reduce((sum, p, v) => sum + (v - mean) ** k * p, 0);
  const mean = law.reduce((sum, p, v) => sum + v * p, 0),
    off = (k: number) => seen.reduce((sum, count, v) => sum + (v - mean) ** k * count, 0) / runs;
  const finding = {
    ...chi(name, runs, most === 1 ? 1 : Math.floor((2 * enough) / (1 - most)) + 1, x, freedom),
    mean: mean + off(1),
    expected: mean,
  };
  if (runs < leastMoments) return finding;
  const variance = moment(2),
    spread = normal(off(2) - variance, moment(4) - variance ** 2, runs);
  return {...finding, p: Math.min(1, 3 * Math.min(finding.p, normal(off(1), variance, runs), spread))};
}

/** fit compares counts with the law of their outcomes, pooled until ten or more are expected. */
function fit(seen: number[], law: number[], runs: number): {x: number; freedom: number} {
  const pools: {expected: number; seen: number}[] = [];
  let full = true;
  seen.forEach((count, i) => {
    if (full) pools.push({expected: 0, seen: 0});
    const last = pools.at(-1)!;
    last.expected += runs * law[i]!;
    last.seen += count;
    full = last.expected >= enough;
  });
  if (!full && pools.length > 1) {
    const rest = pools.pop()!,
      last = pools.at(-1)!;
    last.expected += rest.expected;
    last.seen += rest.seen;
  }
  const impossible = seen.some((count, i) => law[i] === 0 && count > 0);
  return {
    x: impossible ? Infinity : pools.reduce((sum, pool) => sum + (pool.seen - pool.expected) ** 2 / pool.expected, 0),
    freedom: pools.length - 1,
  };
}

/** fixedPointLaw: choose the v that stay, 1/v!, and derange the others. */
function fixedPointLaw(n: number): number[] {
  return Array.from({length: n + 1}, (_, v) => {
    if (v === n - 1) return 0; // n-1 of n cannot stay
    let sum = 0;
    for (let i = 0, term = 1; i <= n - v; term /= -++i) sum += term;
    return sum / factorial(v);
  });
}

/** cycleLaw: the j-th card closes a cycle with probability 1/j. */
function cycleLaw(n: number): number[] {
  let law = [1];
  for (let j = 1; j <= n; j++)
    law = Array.from({length: j + 1}, (_, v) => (law[v] ?? 0) * (1 - 1 / j) + (law[v - 1] ?? 0) / j);
  return law;
}

/** risingSequenceLaw: the Eulerian numbers over n!. */
export function risingSequenceLaw(n: number): number[] {
  let law = [0, 1];
  for (let j = 2; j <= n; j++)
    law = Array.from({length: j + 1}, (_, v) => (v * (law[v] ?? 0) + (j - v + 1) * (law[v - 1] ?? 0)) / j);
  return law;
}

/** inversionLaw: the j-th card has 0 to j-1 larger ones before it, all equally likely. */
function inversionLaw(n: number): number[] {
  let law = [1];
  for (let j = 2; j <= n; j++) {
    const next = new Array<number>(law.length + j - 1).fill(0);
    law.forEach((p, v) => {
      for (let larger = 0; larger < j; larger++) next[v + larger]! += p / j;
    });
    law = next;
  }
  return law;
}
