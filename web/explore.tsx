// The log: its checkpoint, whether it only grew since this browser last looked, its records, and
// the place of one in the tree.
import {bytesToHex} from '@noble/hashes/utils.js';
import {render} from 'preact';
import {useEffect, useRef, useState} from 'preact/hooks';
import {counted, idIn, named, language, path, prefix, Problem, send, shortTime, text, verifyLink} from './page';
import {Refused} from './refused';
import {Share} from './share';
import {
  join,
  leafHash,
  openCheckpoint,
  pathOf,
  relate,
  Tiles,
  type Branch,
  type Checkpoint,
  type Relation,
} from './tree';

/** A Seen is a checkpoint that this browser saw before. A log of another key has replaced the log. */
interface Seen {
  earlier: Checkpoint;
  key: string;
  at: number;
  relation: Relation | 'replaced';
}

/** A View is the log at a checkpoint, and the one that this browser saw last time. */
interface View {
  checkpoint: Checkpoint;
  tiles: Tiles;
  key: string;
  seen?: Seen;
}

const storedName = `checkpoint ${prefix}`;

/** often is after how many milliseconds the log is looked at again. */
const often = 10_000;

const fetchBytes = async (tile: string) =>
  new Uint8Array(await (await send(path(['log', ...tile.split('/')]))).arrayBuffer());

/** recall returns the checkpoint that this browser kept, if it did. */
async function recall(): Promise<{earlier: Checkpoint; key: string; at: number} | undefined> {
  try {
    const {note, key, at} = JSON.parse(localStorage.getItem(storedName)!) as {note: string; key: string; at: number};
    return {earlier: await openCheckpoint(note, key), key, at};
  } catch {
    return undefined; // nothing, or nothing that any key has signed
  }
}

/**
 * look fetches the checkpoint, compares it with the last one that this browser saw, and keeps it.
 * What it was compared with first stays in view.
 */
async function look(current?: View): Promise<View> {
  // Also the key, for the log may be another one.
  const fetchText = async (name: string) => (await send(path(['log', name]), {cache: 'no-cache'})).text();
  const [key, note] = await Promise.all([fetchText('key'), fetchText('checkpoint')]);
  const checkpoint = await openCheckpoint(note, key),
    tiles = new Tiles(checkpoint.size, fetchBytes),
    kept = await recall();
  const seen: Seen | undefined = kept && {
    ...kept,
    relation: kept.key === key ? await relate(tiles, kept.earlier, checkpoint) : 'replaced',
  };
  if (seen && seen.relation !== 'grew') return {checkpoint, tiles, key, seen}; // the evidence is kept
  if (current && current.checkpoint.root === checkpoint.root && !alarms(current)) return current;
  localStorage.setItem(storedName, JSON.stringify({note, key, at: Date.now()}));
  return {checkpoint, tiles, key, seen: current && !alarms(current) ? (current.seen ?? seen) : seen};
}

const alarms = ({seen}: View) => seen !== undefined && seen.relation !== 'grew';

/** fromLink returns the index of the record that the page's address names. */
function fromLink(): number | undefined {
  const record = new URLSearchParams(location.search).get('record') ?? location.hash.slice(1);
  return /^\d{1,15}$/.test(record) ? Number(record) : undefined;
}

function Explore() {
  const [view, setView] = useState<View>();
  const [index, setIndex] = useState(fromLink);
  const [visit, setVisit] = useState(0);
  const [problem, setProblem] = useState<Problem>();
  const current = useRef<View | undefined>(undefined);
  const refresh = async () => {
    try {
      current.current = await look(current.current);
      setView(current.current);
      setProblem(undefined);
    } catch (error) {
      setProblem(asProblem(error));
    }
  };
  const again = () => void refresh().then(() => setVisit(visit + 1));
  useEffect(() => {
    void refresh();
    const timer = setInterval(() => {
      if (!document.hidden) void refresh();
    }, often);
    const back = () => setIndex(fromLink());
    addEventListener('popstate', back);
    return () => {
      clearInterval(timer);
      removeEventListener('popstate', back);
    };
  }, []);
  const go = (index: number) => {
    history.pushState(null, '', prefix + path(['explore'], {record: String(index)}));
    setIndex(index);
  };
  const forget = () => {
    localStorage.removeItem(storedName);
    current.current = undefined;
    again();
  };
  return (
    <>
      <h1>{text('explore.heading')}</h1>
      <p class="quiet">{text('explore.lead')}</p>
      {problem && <Refused problem={problem} onToken={again} />}
      {view && (
        <>
          <Grown view={view} onForget={forget} />
          <div class="columns">
            <section class="panel">
              <h2>{text('explore.checkpoint')}</h2>
              <dl class="facts">
                <dt>{text('explore.origin')}</dt>
                <dd>{view.checkpoint.origin}</dd>
                <dt>{text('explore.size')}</dt>
                <dd>{view.checkpoint.size.toLocaleString(language)}</dd>
                <dt>{text('explore.root')}</dt>
                <dd>{view.checkpoint.root}</dd>
                <dt>{text('explore.key')}</dt>
                <dd>{view.key.trim()}</dd>
              </dl>
              <div class="actions">
                <button type="button" onClick={again}>
                  {text('explore.refresh')}
                </button>
              </div>
            </section>
            <Search onFound={go} />
          </div>
          {index !== undefined &&
            (index < view.checkpoint.size ? (
              <Place key={index} view={view} index={index} onGo={go} />
            ) : (
              <p class="panel problem" role="alert">
                {text('explore.beyond', index, view.checkpoint.size)}
              </p>
            ))}
          {view.checkpoint.size > 0 && <Growth view={view} />}
          <div class="columns">
            <Latest view={view} onGo={go} />
            <Unused key={visit} onGo={go} />
          </div>
        </>
      )}
    </>
  );
}

const asProblem = (error: unknown) => (error instanceof Problem ? error : new Problem(0, (error as Error).message));

/** Grown says whether the log only grew since the last visit, and raises the alarm if it did not. */
function Grown({view: {checkpoint, key, seen}, onForget}: {view: View; onForget: () => void}) {
  if (!seen) return <p class="panel">{text('explore.first')}</p>;
  const {earlier, relation} = seen,
    when = new Date(seen.at).toLocaleString(language),
    sizes = [earlier.size, checkpoint.size].map((size) => size.toLocaleString(language));
  if (relation === 'grew')
    return (
      <p class="panel good" role="status">
        ✓ {counted('explore.grew', checkpoint.size - earlier.size, when)}
      </p>
    );
  const why = text(`explore.alarm.${relation}.why`, when, ...sizes);
  const keyNow = relation === 'replaced' ? `${key.trim()}\n\n` : '';
  const evidence =
    `${why}\n\n${text('explore.alarm.evidence')}\n\n` +
    `${seen.key.trim()}\n\n${earlier.text}\n${keyNow}${checkpoint.text}`;
  return (
    <div class="panel problem" role="alert">
      <h2>{text(`explore.alarm.${relation}`)}</h2>
      <p>{why}</p>
      <pre tabIndex={0}>{evidence.slice(why.length + 2)}</pre>
      <div class="actions">
        <a
          class="button"
          download="two-checkpoints.txt"
          href={`data:text/plain;charset=utf-8,${encodeURIComponent(evidence)}`}
        >
          {text('explore.alarm.save')}
        </a>
        <button type="button" onClick={onForget}>
          {text('explore.alarm.forget')}
        </button>
      </div>
    </div>
  );
}

/** Growth draws how many records the log had when. */
function Growth({view}: {view: View}) {
  const place = useRef<HTMLElement>(null);
  const [problem, setProblem] = useState<Problem>();
  useEffect(() => {
    import('./growth')
      .then(({draw}) => draw(view.tiles, place.current!.clientWidth))
      .then((plot) => {
        place.current?.replaceChildren(plot);
        setProblem(undefined);
      })
      .catch((error: unknown) => setProblem(asProblem(error)));
  }, [view]);
  return (
    <section class="panel">
      <h2>{text('explore.growth')}</h2>
      <p class="quiet">{text('explore.growth.what')}</p>
      {problem && <p role="alert">{problem.message}</p>}
      <figure
        class="chart growth"
        ref={place}
        role="img"
        aria-label={text('explore.growth.label', view.checkpoint.size.toLocaleString(language))}
      />
    </section>
  );
}

interface Going {
  onGo: (index: number) => void;
}
interface Audit {
  log_index: number;
  record: {kind: string; time: string; reference?: string};
}

interface Page {
  audits: Audit[];
  next: number | null;
}

/** Search finds records by audit id, by place or by reference. */
function Search({onFound}: {onFound: (index: number) => void}) {
  const [found, setFound] = useState<Page>();
  const [problem, setProblem] = useState<Problem>();
  const last = useRef<() => void>(() => undefined);
  const run = (work: () => Promise<void>) => {
    last.current = () => run(work);
    setProblem(undefined);
    work().catch((error: unknown) => setProblem(asProblem(error)));
  };
  const page = async (reference: string, from: number) =>
    (await (await send(path(['audits'], {reference, from: String(from)}))).json()) as Page;
  const [wanted, setWanted] = useState('');
  const submit = (event: Event) => {
    event.preventDefault();
    const wanted = String(new FormData(event.target as HTMLFormElement).get('wanted')).trim();
    setFound(undefined);
    setWanted(wanted);
    run(async () => {
      if (/^\d{1,15}$/.test(wanted)) return onFound(Number(wanted));
      const id = idIn(wanted);
      if (id) return onFound(((await (await send(path(['audits', id]))).json()) as Audit).log_index);
      setFound(await page(wanted, 0));
    });
  };
  const more = () =>
    run(async () => {
      const {audits, next} = await page(wanted, found!.next!);
      setFound({audits: [...found!.audits, ...audits], next});
    });
  return (
    <section class="panel">
      <h2>{text('explore.search')}</h2>
      <form onSubmit={submit}>
        <label>
          {text('explore.search.what')}
          <input name="wanted" required maxLength={512} />
        </label>
        <div class="actions">
          <button>{text('explore.search.go')}</button>
        </div>
      </form>
      {problem && <Refused problem={problem} onToken={last.current} />}
      {found?.audits.length === 0 && <p role="status">{text('explore.none')}</p>}
      {found && found.audits.length > 0 && (
        <Records list={found.audits.map((audit) => ({index: audit.log_index, ...audit.record}))} onGo={onFound} />
      )}
      {found?.next != null && (
        <div class="actions">
          <button type="button" onClick={more}>
            {text('explore.more')}
          </button>
        </div>
      )}
    </section>
  );
}

interface Row {
  index: number;
  kind: string;
  time: string;
  reference?: string;
}

function Records({list, onGo}: Going & {list: Row[]}) {
  return (
    <div class="wide records">
      <table>
        <thead>
          <tr>
            <th scope="col">{text('explore.place')}</th>
            <th scope="col">{text('explore.kind')}</th>
            <th scope="col">{text('explore.time')}</th>
            <th scope="col">{text('explore.reference')}</th>
          </tr>
        </thead>
        <tbody>
          {list.map((row) => (
            <tr key={row.index}>
              <td>
                <button type="button" onClick={() => onGo(row.index)}>
                  {row.index}
                </button>
              </td>
              <td>{named('kind', row.kind)}</td>
              <td>{shortTime(row.time)}</td>
              <td>{row.reference ?? ''}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const decode = (record: Uint8Array) => new TextDecoder().decode(record);

/** rows is the number of records on a page of the list. */
const rows = 20;

/** Latest lists the newest records, and older ones page by page. Only the first page follows the log. */
function Latest({view, onGo}: Going & {view: View}) {
  const [list, setList] = useState<Row[]>();
  const [chosen, setChosen] = useState<number>();
  const [problem, setProblem] = useState<Problem>();
  const {size} = view.checkpoint,
    newest = Math.min(chosen ?? size - 1, size - 1),
    oldest = Math.max(0, newest - rows + 1);
  useEffect(() => {
    let isCurrent = true;
    const page = Array.from({length: size === 0 ? 0 : newest - oldest + 1}, (_, i) => newest - i);
    Promise.all(
      page.map(async (index) => ({
        index,
        ...(JSON.parse(decode(await view.tiles.record(index))) as Omit<Row, 'index'>),
      })),
    )
      .then((rows) => {
        if (!isCurrent) return;
        setList(rows);
        setProblem(undefined);
      })
      .catch((error: unknown) => setProblem(asProblem(error)));
    return () => {
      isCurrent = false;
    };
  }, [view, newest]);
  return (
    <section class="panel">
      <h2>{text(chosen === undefined ? 'explore.latest' : 'explore.older.heading')}</h2>
      {problem && <p role="alert">{problem.message}</p>}
      {list && (list.length === 0 ? <p>{text('explore.empty')}</p> : <Records list={list} onGo={onGo} />)}
      {size > rows && (
        <div class="actions">
          <button type="button" disabled={oldest === 0} onClick={() => setChosen(oldest - 1)}>
            ← {text('explore.older')}
          </button>
          <button
            type="button"
            disabled={chosen === undefined}
            onClick={() => setChosen(newest + rows < size - 1 ? newest + rows : undefined)}
          >
            {text('explore.newer')} →
          </button>
          <span class="quiet">{text('explore.range', oldest, newest)}</span>
        </div>
      )}
    </section>
  );
}

interface Commitment {
  commitment_id: string;
  log_index: number;
  deadline: string;
  status: Status;
}
type Status = 'void' | 'late' | 'open';
interface Commitments {
  commitments: Commitment[];
  next: string | null;
}

/** Unused lists commitments that were made and not used: an operator could have made many and used the one it liked. */
function Unused({onGo}: Going) {
  const [lists, setLists] = useState<Record<Status, Commitments>>();
  const [problem, setProblem] = useState<Problem>();
  const page = async (status: Status, after: string | null) =>
    (await (await send(path(['commitments'], {status, ...(after !== null && {after})}))).json()) as Commitments;
  const load = async () =>
    setLists({void: await page('void', null), late: await page('late', null), open: await page('open', null)});
  const refuse = (error: unknown) => setProblem(asProblem(error));
  useEffect(() => {
    load().catch(refuse);
  }, []);
  const more = async (status: Status) => {
    const {commitments, next} = await page(status, lists![status].next);
    setLists({...lists!, [status]: {commitments: [...lists![status].commitments, ...commitments], next}});
  };
  const all = lists
    ? (Object.entries(lists) as [Status, Commitments][]).filter(([, {commitments}]) => commitments.length > 0)
    : [];
  const isWarning = all.some(([status]) => status !== 'open');
  return (
    <section class={isWarning ? 'panel warned unused' : 'panel unused'}>
      <h2>{text('explore.unused')}</h2>
      <p class="quiet">{text('explore.unused.why')}</p>
      {problem && (
        <Refused
          problem={problem}
          onToken={() => {
            setProblem(undefined);
            load().catch(refuse);
          }}
        />
      )}
      {lists && all.length === 0 && <p>{text('explore.unused.none')}</p>}
      {all.map(([status, {commitments, next}]) => (
        <details key={status}>
          <summary class={status === 'open' ? '' : 'late'}>
            {text(
              `explore.unused.${status}`,
              `${commitments.length.toLocaleString(language)}${next === null ? '' : '+'}`,
            )}
          </summary>
          <div class="wide">
            <table>
              <thead>
                <tr>
                  <th scope="col">{text('explore.place')}</th>
                  <th scope="col">{text(status === 'open' ? 'explore.until' : 'explore.deadline')}</th>
                </tr>
              </thead>
              <tbody>
                {commitments.map((commitment) => (
                  <tr key={commitment.commitment_id}>
                    <td>
                      <button type="button" onClick={() => onGo(commitment.log_index)}>
                        {commitment.log_index}
                      </button>
                    </td>
                    <td>{shortTime(commitment.deadline)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          {next !== null && (
            <div class="actions">
              <button type="button" onClick={() => void more(status).catch(refuse)}>
                {text('explore.more')}
              </button>
            </div>
          )}
        </details>
      ))}
    </section>
  );
}

/** Place shows a record, its neighbours, and the path from it to the root that the log's key has signed. */
function Place({view, index, onGo}: Going & {view: View; index: number}) {
  const [found, setFound] = useState<{record: string; path: Branch[]; holds: boolean}>();
  const [problem, setProblem] = useState('');
  useEffect(() => {
    void (async () => {
      const bytes = await view.tiles.record(index),
        path = await pathOf(view.tiles, index);
      let hash = leafHash(bytes);
      for (const {start, sibling} of path)
        hash = sibling.start < start ? join(sibling.hash, hash) : join(hash, sibling.hash);
      setFound({record: decode(bytes), path, holds: bytesToHex(hash) === view.checkpoint.root});
      setProblem('');
    })().catch((error: unknown) => setProblem((error as Error).message));
  }, [view]);
  if (problem !== '')
    return (
      <p class="panel problem" role="alert">
        {problem}
      </p>
    );
  if (!found) return <p class="panel">…</p>;
  const record = JSON.parse(found.record) as {id: string};
  return (
    <section class="panel">
      <h2>{text('explore.record', index)}</h2>
      <div class="columns">
        <div>
          <pre tabIndex={0}>{JSON.stringify(record, null, 1)}</pre>
          <div class="actions">
            <button type="button" disabled={index === 0} onClick={() => onGo(index - 1)}>
              ← {index - 1}
            </button>
            <button type="button" disabled={index + 1 >= view.checkpoint.size} onClick={() => onGo(index + 1)}>
              {index + 1} →
            </button>
            <a class="button" href={verifyLink(record.id)}>
              {text('explore.verify')}
            </a>
            <Share link={`${location.origin}${prefix}${path(['explore'], {record: String(index)})}`} />
          </div>
        </div>
        <div>
          <p class={`verdict ${found.holds ? 'verified' : 'failed'}`}>
            {text(found.holds ? 'explore.holds' : 'explore.fails')}
          </p>
          <Tree path={found.path} index={index} size={view.checkpoint.size} />
        </div>
      </div>
    </section>
  );
}

/**
 * Tree draws the path from the root down to a record: what is lit is hashed from the record, what
 * is not comes with the proof.
 */
function Tree({path, index, size}: {path: Branch[]; index: number; size: number}) {
  const rows = path.toReversed(),
    height = 46,
    columns = [110, 330];
  const range = (start: number, count: number) => (count === 1 ? String(start) : `${start} – ${start + count - 1}`);
  let x = 220;
  const drawn = rows.map((branch, i) => {
    const right = branch.sibling.start < branch.start ? 1 : 0,
      from = x,
      lit = columns[right]!,
      other = columns[1 - right]!,
      y = 24 + (i + 1) * height;
    x = lit;
    return {branch, from, lit, other, y};
  });
  return (
    <svg
      class="tree"
      viewBox={`0 0 440 ${48 + rows.length * height}`}
      role="img"
      aria-label={text('explore.tree', index, size, rows.length)}
    >
      {drawn.map(({from, lit, other, y}) => (
        <g key={y}>
          <line x1={from} y1={y - height} x2={other} y2={y} />
          <line x1={from} y1={y - height} x2={lit} y2={y} class="lit" />
        </g>
      ))}
      <Box x={220} y={24} lit label={range(0, size)} />
      {drawn.map(({branch, lit, other, y}) => (
        <g key={y}>
          <Box x={lit} y={y} lit label={range(branch.start, branch.size)} />
          <Box x={other} y={y} label={range(branch.sibling.start, branch.sibling.size)} />
        </g>
      ))}
    </svg>
  );
}

function Box({x, y, label, lit}: {x: number; y: number; label: string; lit?: boolean}) {
  return (
    <g class={lit ? 'lit' : ''}>
      <rect x={x - 92} y={y - 14} width="184" height="28" rx="7" />
      <text x={x} y={y + 5} text-anchor="middle">
        {label}
      </text>
    </g>
  );
}

render(<Explore />, document.getElementById('main')!);
