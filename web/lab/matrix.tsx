// A matrix of cards and places as a picture, small and quick enough to be drawn while runs are added.
import * as Plot from '@observablehq/plot';
import type {CanvasHTMLAttributes, TargetedPointerEvent} from 'preact';
import {useEffect, useRef} from 'preact/hooks';
import {text} from '../page';

/** colours are those of all matrices, on a fixed scale: the middle is the expected frequency. */
export const colours: Plot.ScaleOptions = {
  type: 'diverging',
  scheme: 'PuOr',
  reverse: true,
  domain: [-0.5, 0.5],
  clamp: true,
};

/** shades are the colours of deviations from the least to the largest, as the words of an ImageData. */
const shades = (() => {
  const {apply} = Plot.scale({color: colours})!;
  return Array.from({length: 201}, (_, i) => {
    const [red, green, blue] = (apply(i / 200 - 0.5) as string).match(/\d+/g)!.map(Number);
    return red! | (green! << 8) | (blue! << 16) | (255 << 24);
  });
})();

/** Pixels draws deviations, one a pixel, in rows of width. */
function Pixels({off, width, ...rest}: {off: number[]; width: number} & CanvasHTMLAttributes<HTMLCanvasElement>) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const picture = new ImageData(width, off.length / width),
      words = new Int32Array(picture.data.buffer);
    off.forEach((x, i) => {
      words[i] = shades[Math.round(200 * (Math.max(-0.5, Math.min(0.5, x)) + 0.5))]!;
    });
    canvas.current!.getContext('2d')!.putImageData(picture, 0, 0);
  }, [off]);
  return <canvas ref={canvas} width={width} height={off.length / width} {...rest} />;
}

/** A Cell is a card and a place, from 0 on. */
export interface Cell {
  card: number;
  place: number;
}

interface MatrixProps {
  n: number;
  off: number[]; // by how much each card is too often at each place: place * n + card
  label: string;
  cell?: Cell;
  onCell: (cell?: Cell) => void;
}

const moves: Record<string, [card: number, place: number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** Matrix draws deviations and marks a cell, which the reader chooses by pointer, touch or arrow keys. */
export function Matrix({n, off, label, cell, onCell}: MatrixProps) {
  const within = (at: number) => Math.max(0, Math.min(n - 1, Math.floor(at)));
  const point = ({clientX, clientY, currentTarget}: TargetedPointerEvent<HTMLCanvasElement>) => {
    const {left, top, width, height} = currentTarget.getBoundingClientRect();
    onCell({card: within(((clientX - left) / width) * n), place: within(((clientY - top) / height) * n)});
  };
  return (
    <div class="matrix">
      <div class="cells">
        <Pixels
          off={off}
          width={n}
          role="img"
          aria-label={label}
          tabIndex={0}
          onPointerMove={point}
          onPointerDown={point}
          onPointerLeave={({pointerType}) => pointerType === 'mouse' && onCell()}
          onKeyDown={(event) => {
            const move = moves[event.key];
            if (!move) return;
            event.preventDefault();
            const {card, place} = cell ?? {card: 0, place: 0};
            onCell({card: within(card + move[0]), place: within(place + move[1])});
          }}
        />
        {cell && (
          <span class="cell" style={{'--n': n, left: `${(100 * cell.card) / n}%`, top: `${(100 * cell.place) / n}%`}} />
        )}
      </div>
      <p class="axes">
        {text('lab.card')} → {text('lab.place')} ↓
      </p>
    </div>
  );
}

const scale = Array.from({length: 101}, (_, i) => i / 100 - 0.5);

/** Legend says what the colours of a matrix mean. */
export function Legend() {
  return (
    <div class="legend">
      <Pixels off={scale} width={scale.length} aria-hidden="true" />
      <span>{text('lab.legend.less')}</span>
      <span>{text('lab.legend.fair')}</span>
      <span>{text('lab.legend.more')}</span>
    </div>
  );
}
