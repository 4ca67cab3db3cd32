// The pictures of a measurement.
import * as Plot from '@observablehq/plot';
import {useEffect, useRef} from 'preact/hooks';
import {text} from '../page';
import {colours} from './matrix';
import {factorial, orderOf, rank, ways, type Count, type Measurement} from './measure';

/** naiveLaw returns how likely each order of n cards is if each place is swapped with any: all n^n runs, counted. */
function naiveLaw(n: number): number[] {
  const law = new Array<number>(factorial(n)).fill(0);
  for (const order of ways(n, () => 0)) law[rank(order, n)]! += n ** -n;
  return law;
}

/** A Chart is a plot that is drawn anew when its options change. */
export function Chart({options, label, id}: {options: Plot.PlotOptions; label: string; id: string}) {
  const place = useRef<HTMLElement>(null);
  const draw = () => {
    const plot = Plot.plot({
      ...options,
      ariaLabel: label,
      style: {background: 'transparent', color: 'inherit', overflow: 'visible'},
    });
    // The policy refuses them; style.css has what they say.
    plot.querySelectorAll('style').forEach((style) => style.remove());
    plot
      .querySelectorAll('g')
      // Groups have no names.
      .forEach((group) => ['aria-label', 'aria-description'].forEach((name) => group.removeAttribute(name)));
    place.current?.replaceChildren(plot); // unless the measurement has gone
  };
  useEffect(() => {
    const timer = setTimeout(draw); // each in a task of its own, so that the page answers between them
    return () => clearTimeout(timer);
  }, [options]);
  return <figure id={id} class="chart" ref={place} role="img" aria-label={label} />;
}

/** ticksOf returns about five whole numbers from 1 to n. */
const ticksOf = (n: number): number[] =>
  Array.from({length: n}, (_, i) => i + 1).filter((i) => n <= 8 || i === 1 || i % Math.ceil(n / 5) === 0);

/** Positions shows the frequency of each card at each place, on a fixed scale: blank is the expected frequency. */
export function Positions({measurement: {n, runs, positions}}: {measurement: Measurement}) {
  const expected = runs / n,
    off = positions.map((count) => (runs === 0 ? 0 : count / expected - 1));
  return (
    <Chart
      id="positions"
      label={text('lab.positions')}
      options={{
        width: 460,
        height: 460,
        marginLeft: 44,
        marginBottom: 36,
        x: {label: text('lab.card'), ticks: ticksOf(n), tickFormat: 'd'},
        y: {label: text('lab.place'), ticks: ticksOf(n), tickFormat: 'd', reverse: true},
        color: {...colours, legend: false},
        marks: [
          Plot.raster(off, {
            width: n,
            height: n,
            x1: 0.5,
            y1: 0.5,
            x2: n + 0.5,
            y2: n + 0.5,
            imageRendering: 'pixelated',
          }),
        ],
      }}
    />
  );
}

/**
 * Orders draws the count of each order, with the exact law of a fair shuffle and, if asked for, of
 * swapping each place with any.
 */
export function Orders({measurement: {n, runs, orders}, naive}: {measurement: Measurement; naive: boolean}) {
  if (!orders) return null;
  const data = orders.map((count, i) => ({
    order: orderOf(i, n)
      .map((card) => card + 1)
      .join(''),
    share: runs === 0 ? 0 : count / runs,
  }));
  const law = naive ? naiveLaw(n).map((share, i) => ({order: data[i]!.order, share})) : [];
  return (
    <Chart
      id="orders"
      label={text('lab.orders', orders.length)}
      options={{
        width: 640,
        height: 280,
        marginBottom: n < 5 ? 50 : 20,
        x: {
          label: null,
          tickRotate: n === 4 ? -90 : 0,
          ticks: n < 5 ? undefined : [],
          domain: data.map(({order}) => order),
        },
        y: {label: text('lab.share'), percent: true, grid: true},
        marks: [
          Plot.barY(data, {x: 'order', y: 'share', fill: 'var(--accent)'}),
          Plot.ruleY([1 / orders.length], {stroke: 'currentColor', strokeDasharray: '4 3'}),
          Plot.dot(law, {x: 'order', y: 'share', fill: 'var(--bad)', r: n < 5 ? 5 : 2}),
        ],
      }}
    />
  );
}

/** Distribution shows the frequency of each value, with dots for a fair shuffle. */
export function Distribution({
  id,
  label,
  count: {seen, law},
  runs,
}: {
  id: string;
  label: string;
  count: Count;
  runs: number;
}) {
  const shares = seen.map((count, value) => ({value, share: runs === 0 ? 0 : count / runs, law: law[value] ?? 0})),
    isSeen = ({share, law}: (typeof shares)[number]) => share > 0.0005 || law > 0.0005,
    shown = shares.slice(shares.findIndex(isSeen), shares.findLastIndex(isSeen) + 1);
  return (
    <Chart
      id={id}
      label={label}
      options={{
        width: 320,
        height: 200,
        x: {
          label: null,
          type: 'band',
          ticks: shown.length > 16 ? shown.filter((_, i) => i % 5 === 0).map(({value}) => value) : undefined,
        },
        y: {label: text('lab.share'), percent: true, grid: true},
        marks: [
          Plot.barY(shown, {x: 'value', y: 'share', fill: 'var(--accent)'}),
          Plot.dot(shown, {x: 'value', y: 'law', fill: 'currentColor', r: 3}),
        ],
      }}
    />
  );
}
