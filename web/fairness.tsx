// The laboratory: runs a shuffle many times and shows whether it is fair.
import {render} from 'preact';
import {useEffect, useRef, useState} from 'preact/hooks';
import {Distribution, Orders, Positions} from './lab/charts';
import {Explain} from './lab/explain';
import {factorial, mostOrders, type Finding, type Measurement} from './lab/measure';
import type {OwnJob} from './lab/own';
import {algorithms, wrong} from './lab/shuffles';
import type {Job, Orders as OwnOrders, Report} from './lab/worker';
import {prefix, text, token} from './page';
import {trusted} from './trusted';

/** A Setting is what to measure. It stands in the link of the page. */
interface Setting { n: number; shuffle: string; runs: number; code: string }

const example = `// a has the cards in order. Return it shuffled.
for (let i = 0; i < a.length; i++) {
  const j = Math.floor(Math.random() * a.length);
  [a[i], a[j]] = [a[j], a[i]];
}
return a;`;

/** fromLink returns the setting of the page's link. A function of somebody else's is shown, and runs only when asked for. */
function fromLink(): Setting {
  const link = new URLSearchParams(location.hash.slice(1));
  const within = (name: string, least: number, most: number, otherwise: number) => {
    const value = Number(link.get(name) ?? otherwise);
    return Number.isInteger(value) && value >= least && value <= most ? value : otherwise;
  };
  const shuffle = link.get('shuffle') ?? '';
  return {
    n: within('n', 2, 136, 3), runs: within('runs', 1, 1_000_000, 100_000), code: link.get('code') ?? example,
    shuffle: algorithms.includes(shuffle) || shuffle in wrong || shuffle === 'own' ? shuffle : 'any-place',
  };
}

const toLink = ({n, shuffle, runs, code}: Setting) =>
  `#${new URLSearchParams({n: String(n), shuffle, runs: String(runs), ...(shuffle === 'own' && {code})}).toString()}`;

/** workerOf returns the address of a worker of this page. */
function workerOf(name: 'worker' | 'own'): string {
  const names = JSON.parse(document.documentElement.dataset.workers!) as Record<string, string>;
  return trusted(`${prefix}/static/${names[name]}`);
}

/** silence is how long a function of the reader's own may take for 500 runs, in milliseconds. */
const silence = 5000;

function Laboratory() {
  const [setting, setSetting] = useState(fromLink);
  const [measured, setMeasured] = useState(setting);
  const [measurement, setMeasurement] = useState<Measurement>();
  const [running, setRunning] = useState(false);
  const [problem, setProblem] = useState('');
  const workers = useRef<Worker[]>([]);
  const stop = () => {
    workers.current.forEach((worker) => worker.terminate());
    workers.current = [];
    setRunning(false);
  };
  useEffect(() => stop, []);
  const fail = (message: string) => {
    stop();
    setProblem(message);
  };
  const begin = (name: 'worker' | 'own', type: WorkerType) => {
    const worker = new Worker(workerOf(name), {type});
    worker.onerror = () => fail(text('lab.broken'));
    workers.current.push(worker);
    return worker;
  };
  const start = () => {
    stop();
    setProblem('');
    setMeasurement(undefined);
    setMeasured(setting);
    setRunning(true);
    history.replaceState(null, '', toLink(setting));
    const {n, runs, shuffle, code} = setting, meter = begin('worker', 'module');
    meter.onmessage = ({data}: MessageEvent<Report>) => {
      setMeasurement(data.measurement);
      if (data.done === null) return;
      stop();
      if (data.done !== '') setProblem(data.done);
    };
    meter.postMessage({n, runs, shuffle, prefix, token: token()} satisfies Job);
    if (shuffle !== 'own') return;
    const own = begin('own', 'classic'), patience = () => setTimeout(() => fail(text('lab.endless')), silence);
    let timer = patience();
    own.onmessage = ({data}: MessageEvent<OwnOrders | {error: string}>) => {
      clearTimeout(timer);
      if ('error' in data) return fail(data.error);
      meter.postMessage(data);
      if (!data.last) timer = patience();
    };
    own.postMessage({code, n, runs} satisfies OwnJob);
  };
  return (
    <>
      <h1>{text('lab.heading')}</h1>
      <p class="quiet">{text('lab.lead')}</p>
      <Controls setting={setting} running={running} onChange={setSetting} onStart={start} onStop={stop} />
      {problem !== '' && <p class="panel problem" role="alert">{problem}</p>}
      {measurement && <Results measurement={measurement} setting={measured} running={running} />}
      <Explain />
    </>
  );
}

interface ControlsProps { setting: Setting; running: boolean; onChange: (setting: Setting) => void; onStart: () => void; onStop: () => void }

function Controls({setting, running, onChange, onStart, onStop}: ControlsProps) {
  const set = (change: Partial<Setting>) => onChange({...setting, ...change});
  const number = (event: Event) => Number((event.currentTarget as HTMLInputElement).value);
  return (
    <form class="panel" onSubmit={(event) => { event.preventDefault(); onStart(); }}>
      <div class="fields">
        <label>{text('lab.shuffle')}
          <select value={setting.shuffle} onChange={(event) => set({shuffle: event.currentTarget.value})}>
            <optgroup label={text('lab.served')}>{algorithms.map((name) => <option key={name} value={name}>{name}</option>)}</optgroup>
            <optgroup label={text('lab.wrong')}>{Object.keys(wrong).map((name) => <option key={name} value={name}>{nameOf(name)}</option>)}</optgroup>
            <option value="own">{text('lab.shuffle.own')}</option>
          </select>
        </label>
        <label>{text('lab.n')}<input type="number" min="2" max="136" value={setting.n} onInput={(event) => set({n: number(event)})} required /></label>
        <label>{text('lab.runs')}<input type="number" min="1" max="1000000" value={setting.runs} onInput={(event) => set({runs: number(event)})} required /></label>
      </div>
      {setting.shuffle === 'own' && (
        <label>{text('lab.code')}<textarea value={setting.code} rows={7} spellcheck={false} onInput={(event) => set({code: event.currentTarget.value})} /></label>
      )}
      <div class="actions">
        <button class="main" disabled={running}>{text('lab.run')}</button>
        {running && <button type="button" onClick={onStop}>{text('lab.stop')}</button>}
      </div>
    </form>
  );
}

/** nameOf returns the name of a shuffle for readers. */
function nameOf(shuffle: string): string {
  const [, riffles] = /^riffle-(\d+)$/.exec(shuffle) ?? [];
  if (riffles) return text('lab.shuffle.riffles', riffles);
  return algorithms.includes(shuffle) ? shuffle : text(`lab.shuffle.${shuffle as 'own'}`);
}

/** doubtful is the p-value from which on a reader should doubt that a shuffle is fair, to be divided by the number of statistics. */
const doubtful = 1e-4;

function Results({measurement, setting, running}: {measurement: Measurement; setting: Setting; running: boolean}) {
  const {n, runs, findings} = measurement, least = Math.min(1, ...findings.map(({p}) => p));
  const caught = least < doubtful / findings.length, single = setting.shuffle === 'sattolo', naive = setting.shuffle === 'any-place';
  const verdict = caught ? single ? 'lab.verdict.single' : 'lab.verdict.caught' : 'lab.verdict.fair';
  return (
    <section class="panel">
      <h2>{text('lab.results', nameOf(setting.shuffle), n, runs.toLocaleString())}</h2>
      <p class={`verdict ${caught ? single ? 'unchecked' : 'failed' : 'verified'}`} role="status">{running ? '' : text(verdict, runs.toLocaleString())}</p>
      <div class="columns">
        <div>
          <h3>{text('lab.positions')}</h3>
          <Positions measurement={measurement} />
          <p class="quiet">{text('lab.positions.scale')}</p>
        </div>
        <div>
          <Statistics findings={findings} n={n} />
          {measurement.repeats !== undefined && <p class="quiet">{text('lab.repeats', measurement.repeats)}</p>}
          {naive && n <= mostOrders && <p>{text('lab.naive', n, n ** n, factorial(n))}</p>}
        </div>
      </div>
      {measurement.orders && <><h3>{text('lab.orders', factorial(n))}</h3><Orders measurement={measurement} naive={naive} /></>}
      <div class="hands">
        {(['fixedPoints', 'cycles', 'risingSequences'] as const).map((name) => (
          <div key={name}><h3>{text(`lab.${name}`)}</h3><Distribution id={name} label={text(`lab.${name}`)} count={measurement[name]} runs={runs} /></div>
        ))}
      </div>
      <div class="actions">
        <button type="button" onClick={() => save('positions.csv', 'text/csv', csvOf(measurement))}>CSV</button>
        <button type="button" onClick={() => save('positions.svg', 'image/svg+xml', svgOf('positions'))}>SVG</button>
        <button type="button" onClick={() => void savePicture('positions')}>PNG</button>
        <a class="button" href={toLink(setting)}>{text('lab.link')}</a>
      </div>
    </section>
  );
}

function Statistics({findings, n}: {findings: Finding[]; n: number}) {
  const p = (value: number) => value < 1e-15 ? '< 1e-15' : value < 1e-4 ? value.toExponential(1) : value.toFixed(4);
  return (
    <div class="wide">
      <table>
        <thead><tr><th scope="col">{text('lab.statistic')}</th><th scope="col">χ²</th><th scope="col">{text('lab.freedom')}</th><th scope="col">p</th></tr></thead>
        <tbody>
          {findings.map((finding) => (
            <tr key={finding.name} class={finding.p < doubtful / findings.length ? 'false' : ''}>
              <td>{finding.name === 'repeats' ? text('lab.repeats.name') : text(`lab.${finding.name}`, factorial(n))}</td>
              <td>{finding.x?.toFixed(1) ?? ''}</td><td>{finding.freedom ?? ''}</td><td class="mark">{p(finding.p)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function save(name: string, type: string, content: string | Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([content], {type}));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

/** csvOf returns how often each card came to each place. */
function csvOf({n, positions}: Measurement): string {
  const rows = Array.from({length: n}, (_, place) => [place + 1, ...positions.slice(place * n, place * n + n)].join(','));
  return `place,${Array.from({length: n}, (_, card) => `card ${card + 1}`).join(',')}\n${rows.join('\n')}\n`;
}

function svgOf(id: string): string {
  const svg = document.querySelector(`#${id} svg`)!.cloneNode(true) as SVGElement;
  svg.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  svg.setAttribute('style', 'background: white; color: black; font: 10px sans-serif');
  return new XMLSerializer().serializeToString(svg);
}

async function savePicture(id: string): Promise<void> {
  const image = new Image(), url = URL.createObjectURL(new Blob([svgOf(id)], {type: 'image/svg+xml'}));
  image.src = url;
  await image.decode();
  const canvas = document.createElement('canvas');
  canvas.width = image.width * 2;
  canvas.height = image.height * 2;
  const context = canvas.getContext('2d')!;
  context.scale(2, 2);
  context.drawImage(image, 0, 0);
  URL.revokeObjectURL(url);
  canvas.toBlob((blob) => { if (blob) save(`${id}.png`, 'image/png', blob); });
}

render(<Laboratory />, document.getElementById('main')!);
