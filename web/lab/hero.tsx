// What a visitor sees first: a wrong shuffle beside a fair one, measured while the page is open.
import {useEffect, useRef, useState} from 'preact/hooks';
import {text} from '../page';
import {Legend, Matrix, type Cell} from './matrix';
import type {Measurement} from './measure';
import {startMeter} from './places';
import {nameOf, verdictOf} from './words';
import type {Job, Report} from './worker';

const presets = ['any-place', 'random-comparator', 'off-by-one', 'modulo', 'riffle-7'] as const,
  n = 52,
  runs = 100_000,
  blank = new Array<number>(n * n).fill(0);

/** useRuns measures a shuffle in a worker, anew for each round; round 0 waits. stop ends it where it is. */
function useRuns(shuffle: string, round: number): {report?: Report; stop: () => void} {
  const [report, setReport] = useState<Report>();
  const worker = useRef<Worker>(undefined);
  const stop = () => {
    worker.current?.terminate();
    setReport((last) => last && {...last, done: true});
  };
  useEffect(() => {
    setReport(undefined);
    if (round === 0) return;
    const meter = startMeter();
    worker.current = meter;
    meter.onmessage = ({data}: MessageEvent<Report>) => {
      setReport(data);
      if (data.done) meter.terminate();
    };
    const paced = !matchMedia('(prefers-reduced-motion: reduce)').matches;
    meter.postMessage({n, runs, shuffle, cyclic: false, paced, token: ''} satisfies Job);
    return () => meter.terminate();
  }, [shuffle, round]);
  return {report, stop};
}

const ratio = ({positions, runs}: Measurement, {card, place}: Cell) => (positions[place * n + card]! * n) / runs;

/** farthest returns the cell that is most unlike what it should be. */
function farthest({positions, runs}: Measurement): Cell {
  const off = positions.map((count) => Math.abs(count - runs / n)),
    at = off.indexOf(Math.max(...off));
  return {card: at % n, place: Math.floor(at / n)};
}

/** Hero runs two shuffles side by side; with waits, once the reader asks for it. */
export function Hero({waits}: {waits: boolean}) {
  const [preset, setPreset] = useState<(typeof presets)[number]>('any-place');
  const [round, setRound] = useState(waits ? 0 : 1);
  const [chosen, setChosen] = useState<Cell>();
  const wrong = useRuns(preset, round),
    fair = useRuns('fair', round);
  const running = round > 0 && !(wrong.report?.done && fair.report?.done),
    measured = wrong.report?.measurement,
    compared = fair.report?.measurement,
    cell = chosen ?? (measured && wrong.report?.done ? farthest(measured) : undefined);
  const side = (shuffle: string, report?: Report) => {
    const [state, words] = report?.done ? verdictOf(report.measurement, shuffle) : ['', ''];
    return (
      <figure>
        <figcaption>
          <h2>{nameOf(shuffle)}</h2>
          <p class={`outcome ${state}`}>
            {words || text('lab.results.runs', (report?.measurement.runs ?? 0).toLocaleString())}
          </p>
          <p class="quiet">{text(`lab.how.${shuffle as 'fair'}`)}</p>
        </figcaption>
        <Matrix
          n={n}
          off={report?.measurement.positions.map((count) => (count * n) / report.measurement.runs - 1) ?? blank}
          label={`${nameOf(shuffle)}: ${words || text('lab.positions')}`}
          cell={cell}
          onCell={setChosen}
        />
      </figure>
    );
  };
  return (
    <section class="panel hero">
      <div class="chips" role="group" aria-label={text('lab.wrong')}>
        {presets.map((name) => (
          <button
            key={name}
            type="button"
            aria-pressed={name === preset}
            onClick={() => {
              setPreset(name);
              setRound(Math.max(1, round));
            }}
          >
            {nameOf(name)}
          </button>
        ))}
      </div>
      <div class="pair">
        {side(preset, wrong.report)}
        {side('fair', fair.report)}
        <div class="aside">
          <Legend />
          <p class="reading" role="status">
            {cell && measured && compared && !running
              ? text(
                  'lab.reading',
                  cell.card + 1,
                  cell.place + 1,
                  ratio(measured, cell).toFixed(2),
                  ratio(compared, cell).toFixed(2),
                )
              : ''}
          </p>
          <p class="quiet">{text('lab.reading.help')}</p>
          {running ? (
            <button
              type="button"
              onClick={() => {
                wrong.stop();
                fair.stop();
              }}
            >
              {text('lab.stop')}
            </button>
          ) : (
            <button type="button" onClick={() => setRound(round + 1)}>
              {text(round === 0 ? 'lab.run' : 'lab.again')}
            </button>
          )}
        </div>
      </div>
    </section>
  );
}
