// The log: its checkpoint, whether it only grew since this browser last looked, its records, and the place of one in the tree.
import {bytesToHex} from '@noble/hashes/utils.js';
import {render} from 'preact';
import {useEffect, useState} from 'preact/hooks';
import {language, prefix, send, text, type Problem} from './page';
import {Refused} from './refused';
import {grew, join, leafHash, openCheckpoint, pathOf, Tiles, type Branch, type Checkpoint} from './tree';

/** A View is the log at a checkpoint, and the checkpoint that this browser saw last time. */
interface View { checkpoint: Checkpoint; tiles: Tiles; key: string; seen?: {earlier: Checkpoint; at: number; grew: boolean} }

const storedName = `checkpoint ${prefix}`;

const fetchBytes = async (path: string) => new Uint8Array(await (await send(`/log/${path}`)).arrayBuffer());

/** look fetches the checkpoint, compares it with the last one that this browser saw, and keeps it. */
async function look(): Promise<View> {
  const [key, note] = await Promise.all([send('/log/key').then((answer) => answer.text()), send('/log/checkpoint', {cache: 'no-cache'}).then((answer) => answer.text())]);
  const checkpoint = await openCheckpoint(note, key), tiles = new Tiles(checkpoint.size, fetchBytes), view: View = {checkpoint, tiles, key};
  const stored = localStorage.getItem(storedName);
  if (stored !== null) {
    const {note: before, key: pinned, at} = JSON.parse(stored) as {note: string; key: string; at: number};
    const earlier = await openCheckpoint(before, pinned);
    view.seen = {earlier, at, grew: pinned === key && await grew(tiles, earlier, checkpoint)};
    if (!view.seen.grew) return view; // the evidence is kept
  }
  localStorage.setItem(storedName, JSON.stringify({note, key, at: Date.now()}));
  return view;
}

function Explore() {
  const [view, setView] = useState<View>();
  const [index, setIndex] = useState<number>();
  const [problem, setProblem] = useState<Problem>();
  const refresh = () => {
    setProblem(undefined);
    look().then(setView).catch((error: unknown) => setProblem(error as Problem));
  };
  useEffect(refresh, []);
  return (
    <>
      <h1>{text('explore.heading')}</h1>
      <p class="quiet">{text('explore.lead')}</p>
      {problem && <Refused problem={problem} onToken={refresh} />}
      {view && (
        <>
          <Grown view={view} />
          <div class="columns">
            <section class="panel">
              <h2>{text('explore.checkpoint')}</h2>
              <dl class="facts">
                <dt>{text('explore.origin')}</dt><dd>{view.checkpoint.origin}</dd>
                <dt>{text('explore.size')}</dt><dd>{view.checkpoint.size.toLocaleString(language)}</dd>
                <dt>{text('explore.root')}</dt><dd>{view.checkpoint.root}</dd>
                <dt>{text('explore.key')}</dt><dd>{view.key.trim()}</dd>
              </dl>
              <div class="actions"><button type="button" onClick={refresh}>{text('explore.refresh')}</button></div>
            </section>
            <Search onFound={setIndex} />
          </div>
          {index !== undefined && index < view.checkpoint.size && <Place key={`${index} ${view.checkpoint.size}`} view={view} index={index} onGo={setIndex} />}
          <div class="columns">
            <Latest view={view} onGo={setIndex} />
            <Unused onGo={setIndex} />
          </div>
        </>
      )}
    </>
  );
}

/** Grown says whether the log only grew since the last visit, and raises the alarm if it did not. */
function Grown({view: {checkpoint, seen}}: {view: View}) {
  if (!seen) return <p class="panel">{text('explore.first')}</p>;
  const when = new Date(seen.at).toLocaleString(language);
  if (seen.grew) return <p class="panel good">✓ {text('explore.grew', (checkpoint.size - seen.earlier.size).toLocaleString(language), when)}</p>;
  const evidence = `${seen.earlier.text}\n${checkpoint.text}`;
  return (
    <div class="panel problem" role="alert">
      <h2>{text('explore.forked')}</h2>
      <p>{text('explore.forked.why', when)}</p>
      <pre tabIndex={0}>{evidence}</pre>
      <div class="actions"><a class="button" download="two-checkpoints.txt" href={`data:text/plain;charset=utf-8,${encodeURIComponent(evidence)}`}>{text('explore.forked.save')}</a></div>
    </div>
  );
}

interface Going { onGo: (index: number) => void }
interface Audit { log_index: number; record: {kind: string; time: string; reference?: string} }

/** Search finds records by audit id, by place or by reference. */
function Search({onFound}: {onFound: (index: number) => void}) {
  const [found, setFound] = useState<Audit[]>([]);
  const [problem, setProblem] = useState('');
  const submit = (event: Event) => {
    event.preventDefault();
    const wanted = String(new FormData(event.target as HTMLFormElement).get('wanted')).trim();
    setFound([]);
    setProblem('');
    void (async () => {
      if (/^\d{1,15}$/.test(wanted)) return onFound(Number(wanted));
      if (/^[0-9a-f]{8}-[0-9a-f-]{27}$/i.test(wanted)) return onFound(((await (await send(`/audits/${wanted.toLowerCase()}`)).json()) as Audit).log_index);
      const {audits} = (await (await send(`/audits?reference=${encodeURIComponent(wanted)}`)).json()) as {audits: Audit[]};
      if (audits.length === 0) setProblem(text('explore.none'));
      setFound(audits);
    })().catch((error: unknown) => setProblem((error as Error).message));
  };
  return (
    <section class="panel">
      <h2>{text('explore.search')}</h2>
      <form onSubmit={submit}>
        <label>{text('explore.search.what')}<input name="wanted" required maxLength={512} /></label>
        <div class="actions"><button>{text('explore.search.go')}</button></div>
      </form>
      {problem !== '' && <p role="alert">{problem}</p>}
      {found.length > 0 && <Records list={found.map((audit) => ({index: audit.log_index, ...audit.record}))} onGo={onFound} />}
    </section>
  );
}

interface Row { index: number; kind: string; time: string; reference?: string }

/** shortTime leaves the fraction of a second out. */
const shortTime = (time: string) => time.slice(0, 19).replace('T', ' ');

function Records({list, onGo}: Going & {list: Row[]}) {
  return (
    <div class="wide">
      <table>
        <thead><tr><th scope="col">{text('explore.place')}</th><th scope="col">{text('explore.kind')}</th><th scope="col">{text('explore.time')}</th><th scope="col">{text('explore.reference')}</th></tr></thead>
        <tbody>
          {list.map((row) => (
            <tr key={row.index}>
              <td><button type="button" onClick={() => onGo(row.index)}>{row.index}</button></td>
              <td>{row.kind}</td><td>{shortTime(row.time)}</td><td>{row.reference ?? ''}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const decode = (record: Uint8Array) => new TextDecoder().decode(record);

function Latest({view, onGo}: Going & {view: View}) {
  const [list, setList] = useState<Row[]>([]);
  useEffect(() => {
    const last = Array.from({length: Math.min(10, view.checkpoint.size)}, (_, i) => view.checkpoint.size - 1 - i);
    Promise.all(last.map(async (index) => ({index, ...JSON.parse(decode(await view.tiles.record(index))) as Omit<Row, 'index'>}))).then(setList).catch(() => setList([]));
  }, [view]);
  return <section class="panel"><h2>{text('explore.latest')}</h2>{list.length === 0 ? <p>{text('explore.empty')}</p> : <Records list={list} onGo={onGo} />}</section>;
}

interface Commitment { commitment_id: string; log_index: number; deadline: string; status: string }

/** Unused lists commitments that were made and not used: an operator could have made many and used the one it liked. */
function Unused({onGo}: Going) {
  const [list, setList] = useState<Commitment[]>([]);
  useEffect(() => {
    Promise.all(['void', 'late', 'open'].map(async (status) =>
      ((await (await send(`/commitments?status=${status}&limit=20`)).json()) as {commitments: Commitment[]}).commitments)).then((lists) => setList(lists.flat())).catch(() => setList([]));
  }, []);
  return (
    <section class={list.length > 0 ? 'panel warned' : 'panel'}>
      <h2>{text('explore.unused')}</h2>
      <p class="quiet">{text('explore.unused.why')}</p>
      {list.length === 0 ? <p>{text('explore.unused.none')}</p> : (
        <div class="wide">
          <table>
            <thead><tr><th scope="col">{text('explore.place')}</th><th scope="col">{text('explore.status')}</th><th scope="col">{text('explore.deadline')}</th></tr></thead>
            <tbody>
              {list.map((commitment) => (
                <tr key={commitment.commitment_id}>
                  <td><button type="button" onClick={() => onGo(commitment.log_index)}>{commitment.log_index}</button></td>
                  <td>{commitment.status}</td><td>{shortTime(commitment.deadline)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

/** Place shows a record, its neighbours, and the path from it to the root that the log's key has signed. */
function Place({view, index, onGo}: Going & {view: View; index: number}) {
  const [found, setFound] = useState<{record: string; path: Branch[]; holds: boolean}>();
  const [problem, setProblem] = useState('');
  useEffect(() => {
    void (async () => {
      const bytes = await view.tiles.record(index), path = await pathOf(view.tiles, index);
      let hash = leafHash(bytes);
      for (const {start, sibling} of path) hash = sibling.start < start ? join(sibling.hash, hash) : join(hash, sibling.hash);
      setFound({record: decode(bytes), path, holds: bytesToHex(hash) === view.checkpoint.root});
    })().catch((error: unknown) => setProblem((error as Error).message));
  }, []);
  if (problem !== '') return <p class="panel problem" role="alert">{problem}</p>;
  if (!found) return <p class="panel">…</p>;
  const record = JSON.parse(found.record) as {id: string};
  return (
    <section class="panel">
      <h2>{text('explore.record', index)}</h2>
      <div class="columns">
        <div>
          <pre tabIndex={0}>{JSON.stringify(record, null, 1)}</pre>
          <div class="actions">
            <button type="button" disabled={index === 0} onClick={() => onGo(index - 1)}>← {index - 1}</button>
            <button type="button" disabled={index + 1 >= view.checkpoint.size} onClick={() => onGo(index + 1)}>{index + 1} →</button>
            <a class="button" href={`${prefix}/verify?id=${record.id}`}>{text('explore.verify')}</a>
          </div>
        </div>
        <div>
          <p class={`verdict ${found.holds ? 'verified' : 'failed'}`}>{text(found.holds ? 'explore.holds' : 'explore.fails')}</p>
          <Tree path={found.path} index={index} size={view.checkpoint.size} />
        </div>
      </div>
    </section>
  );
}

/** Tree draws the path from the root down to a record: what is lit is hashed from the record, what is not comes with the proof. */
function Tree({path, index, size}: {path: Branch[]; index: number; size: number}) {
  const rows = path.toReversed(), height = 46, columns = [110, 330];
  const range = (start: number, count: number) => count === 1 ? String(start) : `${start} – ${start + count - 1}`;
  let x = 220;
  const drawn = rows.map((branch, i) => {
    const right = branch.sibling.start < branch.start ? 1 : 0, from = x, lit = columns[right]!, other = columns[1 - right]!, y = 24 + (i + 1) * height;
    x = lit;
    return {branch, from, lit, other, y};
  });
  return (
    <svg class="tree" viewBox={`0 0 440 ${48 + rows.length * height}`} role="img" aria-label={text('explore.tree', index, size, rows.length)}>
      {drawn.map(({from, lit, other, y}) => <g key={y}><line x1={from} y1={y - height} x2={other} y2={y} /><line x1={from} y1={y - height} x2={lit} y2={y} class="lit" /></g>)}
      <Box x={220} y={24} lit label={range(0, size)} />
      {drawn.map(({branch, lit, other, y}) => (
        <g key={y}><Box x={lit} y={y} lit label={range(branch.start, branch.size)} /><Box x={other} y={y} label={range(branch.sibling.start, branch.sibling.size)} /></g>
      ))}
    </svg>
  );
}

function Box({x, y, label, lit}: {x: number; y: number; label: string; lit?: boolean}) {
  return <g class={lit ? 'lit' : ''}><rect x={x - 92} y={y - 14} width="184" height="28" rx="7" /><text x={x} y={y + 5} text-anchor="middle">{label}</text></g>;
}

render(<Explore />, document.getElementById('main')!);
