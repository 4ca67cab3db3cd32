// The laboratory: runs a shuffle many times and shows whether it is fair.
import {Fragment, render} from 'preact';
import {useEffect, useRef, useState} from 'preact/hooks';
import {algorithms, cyclic as singleCycles} from './algorithms';
import {Distribution, Orders, Positions} from './lab/charts';
import {Explain} from './lab/explain';
import {ordersIn} from './lab/file';
import {Hero} from './lab/hero';
import {caught, factorial, judged, upperTail, type Finding, type Measurement} from './lab/measure';
import type {Mistake, OwnJob, Sent} from './lab/own';
import {fileOf, startMeter} from './lab/places';
import {Riffles} from './lab/riffles';
import {Rings} from './lab/rings';
import {findingsCSV, ordersCSV, positionsCSV, Save, save} from './lab/save';
import {wrong} from './lab/shuffles';
import {Why} from './lab/why';
import {nameOf, verdictOf} from './lab/words';
import type {Job, Orders as Sorted, Report} from './lab/worker';
import {dropping} from './drop';
import {Problem, text, token} from './page';
import {Refused} from './refused';

/** A Setting says what to measure. The link of the page has it. linked: the code came with the link. */
interface Setting {
  n: number;
  shuffle: string;
  runs: number;
  code: string;
  linked?: boolean;
  file?: File; // with the shuffle "file"
}

const example = `// a has the cards in order. Return it shuffled.
for (let i = 0; i < a.length; i++) {
  const j = Math.floor(Math.random() * a.length);
  [a[i], a[j]] = [a[j], a[i]];
}
return a;`;

/**
 * fromLink returns the setting of the page's link. A function of somebody else's is shown, and runs
 * only when asked for.
 */
function fromLink(): Setting {
  const link = new URLSearchParams(location.hash.slice(1));
  const within = (name: string, least: number, most: number, otherwise: number) => {
    const value = Number(link.get(name) ?? otherwise);
    return Number.isInteger(value) && value >= least && value <= most ? value : otherwise;
  };
  const shuffle = link.get('shuffle') ?? '';
  return {
    n: within('n', 2, 136, 3),
    runs: within('runs', 1, 1_000_000, 100_000),
    code: link.get('code') ?? example,
    linked: link.has('code'),
    shuffle: algorithms.includes(shuffle) || Object.hasOwn(wrong, shuffle) || shuffle === 'own' ? shuffle : 'any-place',
  };
}

const toLink = ({n, shuffle, runs, code}: Setting) =>
  `#${new URLSearchParams({n: String(n), shuffle, runs: String(runs), ...(shuffle === 'own' && {code})}).toString()}`;

/** silence is the time that a function may take for a batch of runs, in milliseconds. */
const silence = 5000,
  batch = 500;

/**
 * ordersOf returns what the frame has sent if these are orders of n cards, at most so many. The
 * code that checks them there runs beside the function, which may send anything.
 */
function ordersOf(sent: unknown, n: number, most: number): Uint8Array | undefined {
  const orders: unknown = (sent as (Sent & {orders: unknown}) | null)?.orders;
  if (!(orders instanceof Uint8Array) || orders.length === 0 || orders.length % n !== 0 || orders.length > n * most)
    return undefined;
  const copy = orders.slice(),
    seen = new Uint32Array(n); // in which order a card was seen last
  return copy.every((card, i) => {
    const order = Math.floor(i / n) + 1,
      isNew = card < n && seen[card] !== order;
    seen[card] = order;
    return isNew;
  })
    ? copy
    : undefined;
}

/** messageOf says why the frame has sent no orders. */
function messageOf(sent: unknown): string {
  const {error, mistake, shown} = (sent ?? {}) as {error?: unknown; mistake?: unknown; shown?: unknown};
  for (const known of ['unchanged', 'same', 'disorder', 'promise'] satisfies Mistake[])
    if (mistake === known) return text(`lab.${known}`, String(shown).slice(0, 200));
  return typeof error === 'string' ? text('lab.threw', error.slice(0, 300)) : text('lab.broken');
}

function Laboratory() {
  const [setting, setSetting] = useState(fromLink);
  const [measured, setMeasured] = useState(setting);
  const [measurement, setMeasurement] = useState<Measurement>();
  const [linked] = useState(location.hash !== ''); // to a setting
  const [first, setFirst] = useState(linked); // the reader's own measurement comes first
  const [over, setOver] = useState(false); // a file is dragged
  // The others write records, or are somebody else's.
  const [running, setRunning] = useState(linked && Object.hasOwn(wrong, setting.shuffle));
  const [problem, setProblem] = useState<Problem>();
  const ends = useRef<(() => void)[]>([]);
  const stop = () => {
    ends.current.forEach((end) => end());
    ends.current = [];
    setRunning(false);
  };
  useEffect(() => {
    const restore = () => setSetting(fromLink());
    addEventListener('hashchange', restore);
    if (running) start();
    return () => {
      removeEventListener('hashchange', restore);
      stop();
    };
  }, []);
  const fail = (message: string, status = 0) => {
    stop();
    setMeasurement(undefined); // of the runs before
    setProblem(new Problem(status, message));
  };
  /** runOwn has a frame of no origin run the code, and passes on the orders that come from there. */
  const runOwn = ({code, n, runs}: Setting, meter: Worker) => {
    const frame = document.createElement('iframe'),
      {port1: port, port2: other} = new MessageChannel();
    let left = runs,
      timer: ReturnType<typeof setTimeout>;
    const wait = () => {
      timer = setTimeout(() => fail(text('lab.endless')), silence);
    };
    frame.sandbox.add('allow-scripts');
    frame.hidden = true;
    frame.src = fileOf('own');
    frame.onload = () => {
      wait();
      // An opaque origin has no name.
      frame.contentWindow!.postMessage({code, n, runs, batch} satisfies OwnJob, '*', [other]);
    };
    port.onmessage = ({data}: MessageEvent<unknown>) => {
      clearTimeout(timer);
      const orders = ordersOf(data, n, Math.min(left, batch));
      if (!orders) return fail(messageOf(data));
      left -= orders.length / n;
      meter.postMessage({orders, last: left === 0} satisfies Sorted, [orders.buffer]);
      if (left > 0) wait();
      else end();
    };
    port.onmessageerror = () => fail(text('lab.broken'));
    const end = () => {
      clearTimeout(timer);
      port.close();
      frame.remove();
    };
    ends.current.push(end);
    document.body.append(frame);
  };
  /** runFile measures the orders of a file, whose first line says how many items there are. */
  const runFile = async (file: File, meter: Worker, job: Job) => {
    let stopped = false,
      begun = false;
    ends.current.push(() => {
      stopped = true;
    });
    try {
      for await (const {n, orders, last} of ordersIn(file)) {
        if (stopped) return;
        if (!begun) meter.postMessage({...job, n} satisfies Job);
        begun = true;
        meter.postMessage({orders, last} satisfies Sorted, [orders.buffer]);
      }
    } catch (error) {
      if (!stopped) fail((error as Error).message);
    }
  };
  const start = (given = setting) => {
    stop();
    setProblem(undefined);
    setMeasurement(undefined);
    setMeasured(given);
    setRunning(true);
    const {n, runs, shuffle, file} = given,
      meter = startMeter();
    ends.current.push(() => meter.terminate());
    meter.onerror = () => fail(text('lab.broken'));
    meter.onmessage = ({data}: MessageEvent<Report>) => {
      if (data.measurement.runs > 0) setMeasurement(data.measurement);
      if (!data.done) return;
      if (data.refused) fail(data.refused.message || text('problem.unreachable'), data.refused.status);
      else stop();
    };
    const job: Job = {n, runs, shuffle, cyclic: shuffle === singleCycles, token: token()};
    if (shuffle === 'file') return void runFile(file!, meter, job); // no link has the file
    history.replaceState(null, '', toLink(given));
    meter.postMessage(job);
    if (shuffle === 'own') runOwn(given, meter);
  };
  const own = (
    <Fragment key="own">
      <Controls setting={setting} running={running} onChange={setSetting} onStart={() => start()} onStop={stop} />
      {problem && <Refused problem={problem} onToken={() => start()} />}
      {running && !measurement && <div class="panel waiting" />}
      {measurement && <Results measurement={measurement} setting={measured} running={running} />}
    </Fragment>
  );
  return (
    <div
      class={over ? 'over' : ''}
      {...dropping(setOver, ([file]) => {
        const given = {...setting, shuffle: 'file', file: file!};
        setSetting(given);
        setFirst(true);
        scrollTo(0, 0);
        start(given);
      })}
    >
      <h1>{text('lab.heading')}</h1>
      <p class="quiet">{text('lab.lead')}</p>
      {first && own}
      <Hero waits={linked} />
      <Why />
      <Riffles />
      <Explain />
      {!first && own}
    </div>
  );
}

interface ControlsProps {
  setting: Setting;
  running: boolean;
  onChange: (setting: Setting) => void;
  onStart: () => void;
  onStop: () => void;
}

function Controls({setting, running, onChange, onStart, onStop}: ControlsProps) {
  const set = (change: Partial<Setting>) => onChange({...setting, ...change});
  return (
    <form
      class="panel"
      onSubmit={(event) => {
        event.preventDefault();
        onStart();
      }}
    >
      <h2>{text('lab.measure')}</h2>
      <div class="fields">
        <label>
          {text('lab.shuffle')}
          <select value={setting.shuffle} onChange={(event) => set({shuffle: event.currentTarget.value})}>
            <optgroup label={text('lab.served')}>
              {algorithms.map((name) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </optgroup>
            <optgroup label={text('lab.wrong')}>
              {Object.keys(wrong).map((name) => (
                <option key={name} value={name}>
                  {nameOf(name)}
                </option>
              ))}
            </optgroup>
            <option value="own">{text('lab.shuffle.own')}</option>
            <option value="file">{text('lab.shuffle.file')}</option>
          </select>
        </label>
        {setting.shuffle === 'file' ? (
          <label>
            {setting.file?.name ?? text('lab.file')}
            <input
              type="file"
              required={!setting.file}
              onChange={(event) => set({file: event.currentTarget.files?.[0]})}
            />
          </label>
        ) : (
          <Amounts n={setting.n} runs={setting.runs} set={set} />
        )}
      </div>
      <p class="quiet">{text(setting.shuffle === 'file' ? 'lab.file.help' : 'lab.file.drop')}</p>
      {setting.shuffle === 'own' && (
        <>
          <label>
            {text('lab.code')}
            <textarea
              value={setting.code}
              rows={7}
              spellcheck={false}
              onInput={(event) => set({code: event.currentTarget.value, linked: false})}
            />
          </label>
          <p class="quiet">
            {setting.linked && <strong>{text('lab.own.linked')}</strong>} {text('lab.own')}
          </p>
        </>
      )}
      <div class="actions">
        <button class="main" disabled={running}>
          {text('lab.run')}
        </button>
        {running && (
          <button type="button" onClick={onStop}>
            {text('lab.stop')}
          </button>
        )}
      </div>
    </form>
  );
}

interface AmountsProps {
  n: number;
  runs: number;
  set: (change: Partial<Setting>) => void;
}

function Amounts({n, runs, set}: AmountsProps) {
  const number = (event: Event) => Number((event.currentTarget as HTMLInputElement).value);
  return (
    <>
      <label>
        {text('lab.n')}
        <input type="number" min="2" max="136" value={n} onInput={(event) => set({n: number(event)})} required />
      </label>
      <label>
        {text('lab.runs')}
        <input
          type="number"
          min="1"
          max="1000000"
          value={runs}
          onInput={(event) => set({runs: number(event)})}
          required
        />
      </label>
    </>
  );
}

function Results({measurement, setting, running}: {measurement: Measurement; setting: Setting; running: boolean}) {
  const {n, runs, findings, cyclic, orders} = measurement,
    [state, words] = verdictOf(measurement, setting.shuffle),
    naive = setting.shuffle === 'any-place';
  const values = (
    <div class="hands">
      {(['fixedPoints', 'cycles', 'risingSequences'] as const).map((name) => (
        <div key={name}>
          <h3>{text(`lab.${name}`)}</h3>
          <Distribution id={name} label={text(`lab.${name}`)} count={measurement[name]} runs={runs} />
          <p class="quiet">{mean(findings.find((finding) => finding.name === name))}</p>
        </div>
      ))}
    </div>
  );
  return (
    <section class="panel results">
      <h2>{text('lab.results', nameOf(setting.shuffle), n, runs.toLocaleString())}</h2>
      <p class={`verdict ${state}`} role="status">
        {running ? '' : words}
      </p>
      <div class="columns">
        <div>
          <h3>{text('lab.positions')}</h3>
          <Positions measurement={measurement} />
          <p class="quiet">{text('lab.positions.scale')}</p>
          <p>{deviation(measurement)}</p>
          <Save id="positions" csv={positionsCSV(measurement)} />
        </div>
        <div>
          {orders ? (
            <>
              <h3>{text('lab.orders', factorial(n))}</h3>
              <Orders measurement={measurement} naive={naive} />
              {naive && <p>{text('lab.naive', n, n ** n, factorial(n))}</p>}
              <Save id="orders" csv={ordersCSV(measurement)} />
            </>
          ) : (
            values
          )}
          <details>
            <summary>{text('lab.statisticians')}</summary>
            <Statistics findings={findings} n={n} />
            {cyclic && (
              <>
                <h3>{text('lab.cyclic')}</h3>
                <Statistics findings={cyclic} n={n - 1} />
              </>
            )}
            {measurement.repeats !== undefined && <p class="quiet">{text('lab.repeats', measurement.repeats)}</p>}
            <div class="actions">
              <button type="button" onClick={() => save('statistics.csv', 'text/csv', findingsCSV(measurement))}>
                CSV
              </button>
            </div>
          </details>
          {setting.shuffle !== 'file' && (
            <div class="actions">
              <a class="button" href={toLink(setting)}>
                {text('lab.link')}
              </a>
            </div>
          )}
        </div>
      </div>
      {orders && values}
      {runs > 0 && <Rings order={measurement.last} />}
    </section>
  );
}

/** deviation says which card came to which place most unlike what it should. */
function deviation({n, runs, positions}: Measurement): string {
  if (runs === 0) return '';
  const off = (count: number) => Math.abs(count - runs / n),
    cell = positions.reduce((most, count, i) => (off(count) > off(positions[most]!) ? i : most), 0);
  return text('lab.deviation', (cell % n) + 1, Math.floor(cell / n) + 1, ((positions[cell]! * n) / runs).toFixed(2));
}

const mean = (finding?: Finding): string =>
  finding?.mean === undefined ? '' : text('lab.mean', finding.mean.toFixed(3), finding.expected!.toFixed(3));

function Statistics({findings, n}: {findings: Finding[]; n: number}) {
  const shown = (p: number) => (p < 1e-15 ? '< 1e-15' : p < 1e-4 ? p.toExponential(1) : p.toFixed(4)),
    wrong = caught(findings);
  return (
    <div class="wide statistics">
      <table>
        <thead>
          <tr>
            <th scope="col">{text('lab.statistic')}</th>
            <th scope="col">χ²</th>
            <th scope="col">{text('lab.freedom')}</th>
            <th scope="col">p</th>
            <th scope="col">{text('lab.corrected')}</th>
          </tr>
        </thead>
        <tbody>
          {findings.map((finding) => (
            <tr key={finding.name} class={wrong.includes(finding) ? 'false' : ''}>
              <td>
                {finding.name === 'repeats' ? text('lab.repeats.name') : text(`lab.${finding.name}`, factorial(n))}
              </td>
              <td>{finding.freedom ? finding.x!.toFixed(1).replace('Infinity', '∞') : ''}</td>
              <td>{finding.freedom || ''}</td>
              <td>{finding.freedom && judged(finding) ? shown(upperTail(finding.x!, finding.freedom)) : ''}</td>
              <td class="mark">
                {judged(finding) ? shown(finding.p) : text('lab.needs', finding.needed.toLocaleString())}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="quiet">{text('lab.corrected.why')}</p>
    </div>
  );
}

render(<Laboratory />, document.getElementById('main')!);
