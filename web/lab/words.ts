// What the laboratory calls shuffles, and what it says of a measurement.
import {algorithms, cyclic as singleCycles} from '../algorithms';
import {counted, text} from '../page';
import {caught, judged, type Measurement} from './measure';

/** nameOf returns the name of a shuffle for readers. */
export function nameOf(shuffle: string): string {
  const [, riffles] = /^riffle-(\d+)$/.exec(shuffle) ?? [];
  if (riffles) return counted('lab.shuffle.riffles', Number(riffles));
  return algorithms.includes(shuffle) ? shuffle : text(`lab.shuffle.${shuffle as 'own'}`);
}

/** verdictOf says in a word and a sentence what the findings show. */
export function verdictOf({runs, findings, cyclic}: Measurement, shuffle: string): [state: string, words: string] {
  const [positions] = findings;
  if (caught(findings).length > 0) {
    const single = shuffle === singleCycles && caught(cyclic ?? []).length === 0;
    return single
      ? ['unchecked', text('lab.verdict.single')]
      : ['failed', text('lab.verdict.caught', runs.toLocaleString())];
  }
  if (!positions || !judged(positions))
    return ['unchecked', text('lab.verdict.unjudged', (positions?.needed ?? 1).toLocaleString())];
  return ['verified', text('lab.verdict.fair', runs.toLocaleString())];
}
