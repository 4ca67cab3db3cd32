// Why the naive shuffle is not fair, for three cards: all its ways, and the orders that they end with.
import {useEffect, useRef, useState} from 'preact/hooks';
import {text} from '../page';
import {factorial, orderOf, rank, ways} from './measure';
import {nameOf} from './words';

const n = 3,
  orders = factorial(n),
  width = 540,
  level = 62, // between two rows of the tree
  ground = 430, // under the dots
  dot = 17;

/** first is the place from which each shuffle chooses what to swap the given one with. */
const first = {'any-place': () => 0, fair: (place: number) => place};

const across = (i: number, of: number) => (width * (i + 0.5)) / of;

/** A row of the tree: the orders after so many swaps. */
const rowsOf = (shuffle: keyof typeof first) =>
  Array.from({length: n + 1}, (_, swaps) => ways(n, first[shuffle], swaps));

/** Why shows the ways of three cards as a tree whose leaves fall into the orders. */
export function Why() {
  const [shuffle, setShuffle] = useState<keyof typeof first>('any-place');
  const [round, setRound] = useState(0);
  const picture = useRef<SVGSVGElement>(null);
  useEffect(() => {
    const seen = new IntersectionObserver(
      ([entry]) => {
        if (!entry!.isIntersecting) return;
        seen.disconnect();
        setRound(1);
      },
      {threshold: 0.6},
    );
    seen.observe(picture.current!);
    return () => seen.disconnect();
  }, []);
  const rows = rowsOf(shuffle),
    leaves = rows[n]!,
    counts = new Array<number>(orders).fill(0),
    fair = leaves.length / orders,
    choices = rows.slice(1).map((row, i) => row.length / rows[i]!.length),
    fallen = leaves.map((order, i) => {
      const bin = rank(order, n);
      return {bin, x: across(bin, orders), y: ground - dot * (counts[bin]!++ + 0.5), from: across(i, leaves.length)};
    }),
    words = text(`lab.why.${shuffle}`, choices.join(' × '), leaves.length, orders, counts.join(', '));
  const sideOf = (bin: number) => (counts[bin]! > fair ? 'more' : counts[bin]! < fair ? 'less' : 'even');
  return (
    <section class="panel why">
      <h2>{text('lab.why')}</h2>
      <div class="chips">
        {(['any-place', 'fair'] as const).map((name) => (
          <button key={name} type="button" aria-pressed={name === shuffle} onClick={() => setShuffle(name)}>
            {nameOf(name)}
          </button>
        ))}
      </div>
      <div class="columns">
        <svg ref={picture} viewBox={`0 0 ${width} ${ground + 56}`} role="img" aria-label={words}>
          {rows.map((row, swaps) =>
            row.map((cards, i) => {
              const x = across(i, row.length),
                y = 18 + swaps * level,
                parent = rows[swaps - 1];
              return (
                <g key={`${swaps}.${i}`}>
                  {parent && (
                    <line
                      x1={across(Math.floor((i * parent.length) / row.length), parent.length)}
                      y1={y - level + 12}
                      x2={x}
                      y2={y - 12}
                    />
                  )}
                  {swaps < n && (
                    <text x={x} y={y + 6}>
                      {cards.map((card) => card + 1).join('')}
                    </text>
                  )}
                </g>
              );
            }),
          )}
          {fallen.map(({bin, x, from}) => (
            <path
              key={from}
              class={sideOf(bin)}
              d={`M${from} ${18 + n * level}C${from} ${ground - 130} ${x} ${ground - 160} ${x} ${ground - 5 * dot - 4}`}
            />
          ))}
          <line class="fair" x1="0" y1={ground - fair * dot} x2={width} y2={ground - fair * dot} />
          <g key={`${shuffle}.${round}`}>
            {fallen.map(({bin, x, y, from}, i) => (
              <circle
                key={from}
                class={sideOf(bin)}
                cx={x}
                cy={y}
                r={dot / 2 - 1}
                style={{'--x': `${from - x}px`, '--y': `${18 + n * level - y}px`, '--delay': `${0.07 * i}s`}}
              />
            ))}
          </g>
          {counts.map((count, bin) => (
            <text key={bin} x={across(bin, orders)} y={ground + 22}>
              {orderOf(bin, n)
                .map((card) => card + 1)
                .join('')}
              <tspan x={across(bin, orders)} dy="24" class={sideOf(bin)}>
                {count}
              </tspan>
            </text>
          ))}
        </svg>
        <div>
          <p class="reading">{words}</p>
          <p>{text(`lab.why.${shuffle}.more`)}</p>
          <p class="quiet">{text('lab.why.line', fair)}</p>
          <button type="button" onClick={() => setRound(round + 1)}>
            {text('lab.why.fall')}
          </button>
        </div>
      </div>
    </section>
  );
}
