// How far a deck that was riffled by hand is from a fair shuffle: the exact law of the model of Gilbert,
// Shannon and Reeds, by Bayer and Diaconis, "Trailing the dovetail shuffle to its lair", Annals of Applied
// Probability 2, 1992. Nothing here is sampled.
import * as Plot from '@observablehq/plot';
import {useMemo, useState} from 'preact/hooks';
import {text} from '../page';
import {Chart, Distribution} from './charts';
import {Legend, Matrix, type Cell} from './matrix';
import {risingSequenceLaw} from './measure';
import {nameOf} from './words';

const n = 52,
  most = 10,
  law = risingSequenceLaw(n);

/** binomial is the probability of k heads among so many coins. */
function binomial(coins: number, k: number): number {
  let p = k < 0 || k > coins ? 0 : 0.5 ** coins;
  for (let i = 1; i <= k; i++) p *= (coins - i + 1) / i;
  return p;
}

/**
 * once has the probability that a riffle brings a card to a place: place * n + card. Run backwards, a riffle
 * tosses a coin for each place and moves the cards with heads above the others, in their order. So with heads
 * the card at a place came from below the heads above it, and with tails from below all that lie above and
 * the heads beneath.
 */
const once = Array.from({length: n * n}, (_, at) => {
  const place = Math.floor(at / n),
    card = at % n;
  return (binomial(place, card) + binomial(n - 1 - place, card - place)) / 2;
});

/** after has that for a number of riffles: where one card goes is a Markov chain. */
function after(riffles: number): number[] {
  if (riffles === 1) return once;
  const last = after(riffles - 1),
    next = new Array<number>(n * n).fill(0);
  for (let place = 0; place < n; place++)
    for (let via = 0; via < n; via++)
      for (let card = 0; card < n; card++) next[place * n + card]! += once[place * n + via]! * last[via * n + card]!;
  return next;
}

/** rising is how likely each number of rising sequences is after so many riffles (theorem 1 of the paper). */
function rising(riffles: number): number[] {
  const packets = 2 ** riffles;
  return law.map((p, sequences) => {
    for (let i = 0; i < n; i++) p *= Math.max(0, packets + n - sequences - i) / packets;
    return p;
  });
}

/** The total variation distance to a fair shuffle, 0 to 1 (table 1 of the paper), by the number of riffles less one. */
const distances = Array.from({length: most}, (_, i) =>
  rising(i + 1).reduce((sum, p, sequences) => sum + Math.abs(p - law[sequences]!) / 2, 0),
);

/** Riffles shows what so many riffles do to a deck. */
export function Riffles() {
  const [riffles, setRiffles] = useState(7);
  const [cell, setCell] = useState<Cell>();
  const off = useMemo(() => after(riffles).map((p) => p * n - 1), [riffles]),
    seen = useMemo(() => rising(riffles), [riffles]),
    distance = distances[riffles - 1]!,
    mean = seen.reduce((sum, p, sequences) => sum + p * sequences, 0),
    {card, place} = cell ?? {card: 0, place: 0};
  const bars = useMemo(
    () => ({
      width: 420,
      height: 160,
      marginTop: 24,
      x: {label: text('lab.riffles.count'), type: 'band' as const},
      y: {axis: null},
      marks: [
        Plot.barY(distances, {
          x: (_: number, i: number) => i + 1,
          y: (d: number) => d,
          fill: (_: number, i: number) => (i + 1 === riffles ? 'var(--accent)' : 'var(--line)'),
        }),
        Plot.text(distances, {
          x: (_: number, i: number) => i + 1,
          y: (d: number) => d,
          text: (d: number) => d.toFixed(3),
          dy: -6,
          fill: 'currentColor',
        }),
      ],
    }),
    [riffles],
  );
  return (
    <section class="panel riffles">
      <h2>{text('lab.riffles')}</h2>
      <label>
        {nameOf(`riffle-${riffles}`)}
        <input
          type="range"
          min="1"
          max={most}
          value={riffles}
          onInput={(event) => setRiffles(Number(event.currentTarget.value))}
        />
      </label>
      <div class="columns">
        <div>
          <Matrix n={n} off={off} label={text('lab.positions')} cell={{card, place}} onCell={setCell} />
          <Legend />
          <p>{text('lab.riffles.cell', card + 1, place + 1, (off[place * n + card]! + 1).toFixed(2))}</p>
        </div>
        <div>
          <p class="reading" role="status">
            {text('lab.riffles.told', Math.round(50 * (1 + distance)))}
          </p>
          <h3>{text('lab.riffles.distance')}</h3>
          <Chart id="distances" label={text('lab.riffles.distance')} options={bars} />
          <p>{text('lab.riffles.seven')}</p>
          <h3>{text('lab.risingSequences')}</h3>
          <Distribution id="rising" label={text('lab.risingSequences')} count={{seen, law}} runs={1} />
          <p>{text('lab.riffles.shows', mean.toFixed(1), ((n + 1) / 2).toFixed(1))}</p>
        </div>
      </div>
    </section>
  );
}
