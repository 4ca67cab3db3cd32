// What each algorithm does to a short list, step by step.
import {below} from './shuffles';

/**
 * A Frame is the list after a step: what is where, which places the step touched, between which places the
 * next one may choose, and the words for it.
 */
export interface Frame {
  cards: (number | null)[];
  out?: number[];
  touched: number[];
  open: number[];
  words: 'start' | 'swap' | 'stay' | 'strike' | 'insert' | 'any' | 'end';
  values: number[];
}

const range = (from: number, to: number) => Array.from({length: Math.max(0, to - from)}, (_, i) => from + i);

/** explain returns the frames of a shuffle of n cards. */
export function explain(algorithm: string, n: number): Frame[] {
  const cards: (number | null)[] = range(0, n);
  const start = algorithm === 'sattolo' ? range(1, n) : algorithm === 'inside-out' ? [0] : range(0, n);
  const frames: Frame[] = [
    {
      cards: [...cards],
      out: algorithm === 'strike-out' ? [] : undefined,
      touched: [],
      open: start,
      words: 'start',
      values: [n],
    },
  ];
  const swap = (i: number, j: number, choices: number, open: number[], any = false) => {
    [cards[i], cards[j]] = [cards[j]!, cards[i]!];
    const words = any ? 'any' : i === j ? 'stay' : 'swap';
    frames.push({cards: [...cards], touched: [i, j], open, words, values: [choices, i + 1, j + 1]});
  };
  switch (algorithm) {
    case 'durstenfeld':
      for (let i = n - 1; i > 0; i--) swap(i, below(i + 1), i + 1, range(0, i));
      break;
    case 'sattolo':
      for (let i = 0; i < n - 1; i++) swap(i, i + 1 + below(n - 1 - i), n - 1 - i, range(i + 2, n));
      break;
    case 'any-place':
      for (let i = 0; i < n; i++) swap(i, below(n), n, range(0, n), true);
      break;
    case 'inside-out': {
      const made: number[] = [];
      for (let i = 0; i < n; i++) {
        const j = below(i + 1);
        if (j < i) made.push(made[j]!);
        made[j] = i;
        frames.push({
          cards: [...made, ...Array.from({length: n - made.length}, () => null)],
          touched: [j, i],
          open: range(0, Math.min(n, i + 2)),
          words: 'insert',
          values: [i + 1, i + 1, j + 1],
        });
      }
      break;
    }
    case 'strike-out': {
      const out: number[] = [];
      for (let left = n; left > 0; left--) {
        const k = below(left),
          place = cards.flatMap((card, place) => (card === null ? [] : [place]))[k]!;
        out.push(cards[place]!);
        cards[place] = null;
        frames.push({
          cards: [...cards],
          out: [...out],
          touched: [place],
          open: cards.flatMap((card, place) => (card === null ? [] : [place])),
          words: 'strike',
          values: [left, k + 1],
        });
      }
      break;
    }
    default:
      for (let i = 0; i < n - 1; i++) swap(i, i + below(n - i), n - i, range(i + 1, n));
  }
  frames.push({...frames.at(-1)!, touched: [], open: [], words: 'end', values: []});
  return frames;
}
