// The cycles of an order as rings: from each place to the number of the card that lies there.
import {text} from '../page';

/** cyclesOf returns the cycles of an order, each from its least place on. */
function cyclesOf(order: number[]): number[][] {
  const seen = new Set<number>(),
    cycles: number[][] = [];
  order.forEach((_, first) => {
    const cycle: number[] = [];
    for (let place = first; !seen.has(place); place = order[place]!) {
      seen.add(place);
      cycle.push(place + 1);
    }
    if (cycle.length > 0) cycles.push(cycle);
  });
  return cycles.sort((a, b) => b.length - a.length);
}

/** Rings draws the cycles of an order. */
export function Rings({order}: {order: number[]}) {
  const cycles = cyclesOf(order);
  return (
    <>
      <h3>{text('lab.rings')}</h3>
      <ul class="rings">
        {cycles.map((cycle) => (
          <li key={cycle[0]}>
            <Ring cycle={cycle} />
          </li>
        ))}
      </ul>
      <p class="quiet">
        {text(cycles.length === 1 ? 'lab.rings.single' : 'lab.rings.several', cycles.length, order.length)}
      </p>
    </>
  );
}

function Ring({cycle}: {cycle: number[]}) {
  const bead = 13,
    radius =
      cycle.length === 1 ? 0 : Math.max(20 + 4 * Math.min(cycle.length, 10), (cycle.length * 30) / (2 * Math.PI)),
    size = 2 * (radius + bead + 2);
  const at = (step: number) => {
    const angle = (2 * Math.PI * step) / cycle.length - Math.PI / 2;
    return {
      x: size / 2 + radius * Math.cos(angle),
      y: size / 2 + radius * Math.sin(angle),
      turn: (angle * 180) / Math.PI,
    };
  };
  return (
    <svg
      class="ring"
      width={size}
      height={size}
      viewBox={`0 0 ${size} ${size}`}
      role="img"
      aria-label={[...cycle, cycle[0]].join(' → ')}
    >
      {radius > 0 && <circle class="line" cx={size / 2} cy={size / 2} r={radius} />}
      {radius > 0 &&
        cycle.map((place, step) => {
          const {x, y, turn} = at(step + 0.5);
          return (
            <path
              key={place}
              class="arrow"
              d="M-4 -3L4 0L-4 3z"
              transform={`translate(${x} ${y}) rotate(${turn + 90})`}
            />
          );
        })}
      {cycle.map((place, step) => {
        const {x, y} = at(step);
        return (
          <g key={place}>
            <circle class="bead" cx={x} cy={y} r={bead} />
            <text x={x} y={y} dy="0.35em" text-anchor="middle">
              {place}
            </text>
          </g>
        );
      })}
    </svg>
  );
}
