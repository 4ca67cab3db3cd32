// The log: its checkpoint, whether it only grew since this browser last looked, its records, and
// the place of one in the tree.
import {bytesToHex} from '@noble/hashes/utils.js';
import {render} from 'preact';
import {useEffect, useRef, useState} from 'preact/hooks';
import {counted, idIn, named, language, path, Problem, send, shortTime, text, verifyLink} from './page';
import {Refused} from './refused';
import {Share} from './share';
import {
  cosigners,
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

/** A Seen is a checkpoint that this browser saw before. A log of another key has replaced that log. */
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

const storedName = 'checkpoint';

/** often is after how many milliseconds the log is looked at again, and a costlier view of it is drawn again. */
const often = 2_000,
  seldom = 30_000;

/** readTile reads a tile of the log. */
const readTile = async (tile: string) =>
  new Uint8Array(await (await send(path(['log', ...tile.split('/')]))).arrayBuffer());

/** isHeld reports whether a record leads to the root of a checkpoint. */
async function isHeld(tiles: Tiles, root: string, index: number): Promise<boolean> {
  let hash = leafHash(await tiles.record(index));
  for (const {start, sibling} of await pathOf(tiles, index))
    hash = sibling.start < start ? join(sibling.hash, hash) : join(hash, sibling.hash);
  return bytesToHex(hash) === root;
}

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
  const fetchText = async (name: string) => (await send(path(['log', name]), {cache: 'no-cache'})).text();
  const note = await fetchText('checkpoint');
  if (current && current.checkpoint.text === note && !alarms(current)) return current;
  const key = await fetchText('key'), // again, for the log may be another one
    checkpoint = await openCheckpoint(note, key),
    tiles = new Tiles(checkpoint.size, readTile),
    kept = await recall();
  const seen: Seen | undefined = kept && {
    ...kept,
    relation: kept.key === key ? await relate(tiles, kept.earlier, checkpoint) : 'replaced',
  };
  if (seen && alarms({seen})) return {checkpoint, tiles, key, seen}; // the evidence is kept
  localStorage.setItem(storedName, JSON.stringify({note, key, at: Date.now()}));
  return {checkpoint, tiles, key, seen: current?.key === key && !alarms(current) ? (current.seen ?? seen) : seen};
}

const alarms = ({seen}: Pick<View, 'seen'>) => seen !== undefined && seen.relation !== 'grew';

/** A Query is what the page's address asks for: a record, and the records to list. */
interface Query {
  record?: number;
  kind: string;
  since: string;
  until: string;
  before?: number;
}

/** kinds are those that the list can be narrowed to. */
const kinds = 'shuffle commitment void reveal shoe draw add return reshuffle close expire'.split(' ');

/** whole and minute are the forms of a place and of a time, in UTC, in the address. */
const whole = /^\d{1,15}$/,
  minute = /^\d{4}-\d\d-\d\dT\d\d:\d\d$/;

/** fromLink returns the query in an address of the page, without the parts that mean nothing. */
function fromLink({search: asked, hash}: {search: string; hash: string} = location): Query {
  const search = new URLSearchParams(asked);
  if (!search.has('record')) search.set('record', hash.slice(1));
  const given = (name: string, form: RegExp) => form.exec(search.get(name) ?? '')?.[0] ?? '';
  const placed = (name: string) => (given(name, whole) === '' ? undefined : Number(given(name, whole)));
  return {
    record: placed('record'),
    kind: kinds.find((kind) => kind === search.get('kind')) ?? '',
    since: given('since', minute),
    until: given('until', minute),
    before: placed('before'),
  };
}

function Explore() {
  const [view, setView] = useState<View>();
  const [query, setQuery] = useState(fromLink);
  const [visit, setVisit] = useState(0);
  const [problem, setProblem] = useState<Problem>();
  const current = useRef<View | undefined>(undefined),
    looking = useRef<Promise<void> | undefined>(undefined);
  // One at a time: an answer that comes late would look like a log that got shorter.
  const refresh = () =>
    (looking.current ??= look(current.current)
      .then((view) => {
        current.current = view;
        setView(view);
        setProblem(undefined);
      })
      .catch((error: unknown) => setProblem(asProblem(error)))
      .finally(() => {
        looking.current = undefined;
      }));
  const again = () => void refresh().then(() => setVisit(visit + 1));
  useEffect(() => {
    void refresh();
    const timer = setInterval(() => {
      if (!document.hidden) void refresh();
    }, often);
    const back = () => setQuery(fromLink());
    addEventListener('popstate', back);
    return () => {
      clearInterval(timer);
      removeEventListener('popstate', back);
    };
  }, []);
  const ask: Asking['onAsk'] = (changes, isNew = true) => {
    const next = {...query, ...changes},
      given = Object.entries(next).filter(([, value]) => value !== undefined && value !== '');
    const address = path(['explore'], Object.fromEntries(given.map(([name, value]) => [name, String(value)])));
    if (isNew) history.pushState(null, '', address);
    else history.replaceState(null, '', address);
    setQuery(next);
  };
  const go = (record: number) => ask({record}),
    index = query.record;
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
              <Age view={view} />
              <dl class="facts">
                <dt>{text('explore.origin')}</dt>
                <dd>{view.checkpoint.origin}</dd>
                <dt>{text('explore.size')}</dt>
                <dd>{view.checkpoint.size.toLocaleString(language)}</dd>
                <dt>{text('explore.root')}</dt>
                <dd>{view.checkpoint.root}</dd>
                <dt>{text('explore.key')}</dt>
                <dd>{view.key.trim()}</dd>
                <Cosigned checkpoint={view.checkpoint} />
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
                {text('explore.beyond', index, view.checkpoint.size.toLocaleString(language))}
              </p>
            ))}
          <div class="columns">
            <Latest view={view} query={query} onGo={go} onAsk={ask} />
            <div>
              <Unused key={visit} onGo={go} />
              {view.checkpoint.size > 0 && <Growth view={view} />}
            </div>
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

/** Cosigned lists the witnesses in the checkpoint, if there are any. */
function Cosigned({checkpoint}: {checkpoint: Checkpoint}) {
  const list = cosigners(checkpoint);
  if (list.length === 0) return null;
  return (
    <>
      <dt>{text('explore.cosigned')}</dt>
      {list.map(({name, time}) => (
        <dd key={name}>{text('explore.cosigner', name, new Date(time).toLocaleString(language))}</dd>
      ))}
      <dd class="quiet">{text('explore.cosigned.note')}</dd>
    </>
  );
}

/** Age counts the time since the checkpoint was signed, which is when its newest record was written. */
function Age({view: {checkpoint, tiles}}: {view: View}) {
  const [time, setTime] = useState<number>();
  const [, setNow] = useState(0);
  useEffect(() => {
    if (checkpoint.size > 0)
      rowOf(tiles, checkpoint.size - 1).then(
        ({time}) => setTime(Date.parse(time)),
        () => {}, // the list says why
      );
  }, [tiles]);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  if (time === undefined) return null;
  return <p class="age">{text('explore.age', ago(Math.max(0, Date.now() - time)))}</p>;
}

/** ago returns so many milliseconds in words, such as "3 sec. ago". */
function ago(milliseconds: number): string {
  const units = [
    ['day', 86_400_000],
    ['hour', 3_600_000],
    ['minute', 60_000],
    ['second', 1000],
  ] as const;
  const [unit, length] = units.find(([, length]) => milliseconds >= length) ?? units[3];
  return new Intl.RelativeTimeFormat(language, {style: 'short'}).format(-Math.floor(milliseconds / length), unit);
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
      const here = `${location.origin}${path(['explore'])}`,
        isHere = URL.canParse(wanted) && wanted.split(/[?#]/)[0] === here,
        {record} = fromLink(isHere ? new URL(wanted) : {search: '', hash: `#${wanted}`});
      if (record !== undefined) return onFound(record);
      const id = idIn(wanted);
      if (id) {
        const {log_index: index} = (await (await send(path(['audits', id]))).json()) as Audit;
        return onFound(index);
      }
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
  id?: string;
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

/** rows is the number of records on a page of the list, and farthest the number that are read for it. */
const rows = 20,
  farthest = 4096;

/** rowOf returns what lists show of a record. */
const rowOf = async (tiles: Tiles, index: number): Promise<Row> => ({
  index,
  ...(JSON.parse(decode(await tiles.record(index))) as Omit<Row, 'index'>),
});

/** countBefore returns how many records are before a time, if none has a time before the previous one's. */
async function countBefore(tiles: Tiles, time: string): Promise<number> {
  let low = 0;
  for (let high = tiles.size; low < high; ) {
    const middle = (low + high) >> 1;
    if ((await rowOf(tiles, middle)).time < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A Listed is a page of the list, the newest record first. The records from first up to end were read for it. */
interface Listed {
  list: Row[];
  first: number;
  end: number;
}

/** collect reads a page of records of a kind, or of all, between two places: those nearest to the first place. */
async function collect(tiles: Tiles, from: number, to: number, kind: string): Promise<Listed> {
  const list: Row[] = [],
    isUp = from < to;
  let at = from;
  for (; at !== to && list.length < rows && Math.abs(at - from) < farthest; at += isUp ? 1 : -1) {
    const row = await rowOf(tiles, isUp ? at : at - 1);
    if (kind === '' || row.kind === kind) list.push(row);
  }
  return {list, first: Math.min(from, at), end: Math.max(from, at)};
}

interface Asking {
  /** onAsk changes the address, which Back undoes if it is a new one. */
  onAsk: (changes: Partial<Query>, isNew?: boolean) => void;
}

/** Latest lists the newest records as they are written, or those before a place, and may be narrowed. */
function Latest({view: {tiles}, query, onGo, onAsk}: Going & Asking & {view: View; query: Query}) {
  const {kind, since, until, before} = query,
    {size} = tiles;
  const [isNarrow] = useState(kind + since + until !== '');
  const [page, setPage] = useState<Listed & {from: number; to: number}>();
  const [problem, setProblem] = useState<Problem>();
  useEffect(() => {
    let isCurrent = true;
    void (async () => {
      const from = since ? await countBefore(tiles, since) : 0,
        to = Math.max(from, until ? await countBefore(tiles, until) : size),
        page = await collect(tiles, Math.min(Math.max(from, before ?? to), to), from, kind);
      if (!isCurrent) return;
      setPage({...page, from, to});
      setProblem(undefined);
    })().catch((error: unknown) => setProblem(asProblem(error)));
    return () => {
      isCurrent = false;
    };
  }, [tiles, kind, since, until, before]);
  const newer = async ({end, to}: {end: number; to: number}) => {
    const next = await collect(tiles, end, to, kind);
    onAsk({before: next.end < to ? next.end : undefined});
  };
  const narrow = ({currentTarget: {name, value}}: {currentTarget: HTMLInputElement | HTMLSelectElement}) =>
    onAsk({[name]: value, before: undefined}, name === 'kind');
  return (
    <section class="panel">
      <h2>{before === undefined || !page ? text('explore.latest') : text('explore.upTo', page.end - 1)}</h2>
      <details class="narrow" open={isNarrow}>
        <summary>{text('explore.narrow')}</summary>
        <div class="fields">
          <label>
            {text('explore.kind')}
            <select name="kind" value={kind} onChange={narrow}>
              <option value="">{text('explore.kind.all')}</option>
              {kinds.map((kind) => (
                <option key={kind} value={kind}>
                  {named('kind', kind)}
                </option>
              ))}
            </select>
          </label>
          {(['since', 'until'] as const).map((name) => (
            <label key={name}>
              {text(`explore.time.${name}`)}
              <input type="datetime-local" name={name} value={query[name]} onChange={narrow} />
            </label>
          ))}
        </div>
      </details>
      {problem && <p role="alert">{problem.message}</p>}
      {page && page.list.length > 0 && <Records list={page.list} onGo={onGo} />}
      {page?.list.length === 0 && <p>{text(size === 0 ? 'explore.empty' : 'explore.none.such')}</p>}
      {page && (
        <div class="actions">
          <button type="button" onClick={() => onAsk({before: before === undefined ? page.end : undefined})}>
            {before === undefined
              ? text('explore.pause')
              : text('explore.follow', (page.to - page.end).toLocaleString(language))}
          </button>
          <button type="button" disabled={page.first <= page.from} onClick={() => onAsk({before: page.first})}>
            ← {text('explore.older')}
          </button>
          <button
            type="button"
            disabled={before === undefined}
            onClick={() => void newer(page).catch((error: unknown) => setProblem(asProblem(error)))}
          >
            {text('explore.newer')} →
          </button>
          {page.end > page.first && <span class="quiet">{text('explore.range', page.first, page.end - 1)}</span>}
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
  count?: number;
  used?: number;
  beacon?: {chain: string; round: number};
}
type Status = 'void' | 'late' | 'open';
interface Commitments {
  commitments: Commitment[];
  next: string | null;
}

/** commitmentsOf returns as many commitments as the service lists at a time, so that few counts are open. */
const commitmentsOf = async (status: Status, after?: string) =>
  (await (await send(path(['commitments'], {status, limit: '1000', ...(after && {after})}))).json()) as Commitments;

const hour = 3_600_000,
  hours = 24;

/** Voids draws how many commitments ran out in each of the last hours: the operator may see that a game drops them. */
function Voids() {
  const [counts, setCounts] = useState<number[]>();
  useEffect(() => {
    const load = async () => {
      const now = Date.now(),
        counts = Array.from({length: hours}, () => 0),
        made = (now - (hours + 1) * hour).toString(16).padStart(12, '0');
      // Ids begin with the time at which they were made.
      let after: string | null = `${made.slice(0, 8)}-${made.slice(8)}-7000-8000-000000000000`;
      for (let pages = 0; after !== null && pages < 8; pages++) {
        const page: Commitments = await commitmentsOf('void', after);
        for (const {deadline} of page.commitments) {
          const past = Math.floor((now - Date.parse(deadline)) / hour);
          if (past >= 0 && past < hours) counts[hours - 1 - past]!++;
        }
        after = page.next;
      }
      setCounts(counts);
    };
    const look = () => void load().catch(() => {}); // the list says why
    look();
    const timer = setInterval(() => document.hidden || look(), seldom);
    return () => clearInterval(timer);
  }, []);
  if (!counts) return null;
  const most = Math.max(1, ...counts),
    all = counts.reduce((sum, count) => sum + count),
    said = text('explore.voids', ...[counts.at(-1)!, all].map((count) => count.toLocaleString(language)));
  return (
    <figure class="chart voids">
      <figcaption>{said}</figcaption>
      {all > 0 && (
        <svg viewBox={`0 0 ${hours * 10} 40`} role="img" aria-label={text('explore.voids.label', counts.join(', '))}>
          {counts.map((count, i) => (
            <rect key={i} x={i * 10 + 1} y={39 - (38 * count) / most} width="8" height={1 + (38 * count) / most} />
          ))}
        </svg>
      )}
    </figure>
  );
}

/** Unused lists commitments that were made and not used: an operator could have made many and used the one it liked. */
function Unused({onGo}: Going) {
  const [lists, setLists] = useState<Record<Status, Commitments>>();
  const [problem, setProblem] = useState<Problem>();
  const load = async () =>
    setLists({void: await commitmentsOf('void'), late: await commitmentsOf('late'), open: await commitmentsOf('open')});
  const refuse = (error: unknown) => setProblem(asProblem(error));
  useEffect(() => {
    load().catch(refuse);
  }, []);
  const more = async (status: Status) => {
    const {commitments, next} = await commitmentsOf(status, lists![status].next!);
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
      <Voids />
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
                    <td>
                      {shortTime(commitment.deadline)}
                      {commitment.count && ` · ${text('explore.rounds', `${commitment.used}`, `${commitment.count}`)}`}
                      {commitment.beacon && ` · ${commitment.beacon.chain} ${commitment.beacon.round}`}
                    </td>
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
  const panel = useRef<HTMLElement>(null);
  useEffect(() => {
    // The reader may have asked from far below, and on a phone all of it is below the first screen.
    const top = panel.current?.getBoundingClientRect().top ?? 0;
    if (top < 0 || top > innerHeight / 2) panel.current?.scrollIntoView();
  }, [found === undefined]);
  useEffect(() => {
    void (async () => {
      const record = decode(await view.tiles.record(index)),
        holds = await isHeld(view.tiles, view.checkpoint.root, index);
      setFound({record, path: await pathOf(view.tiles, index), holds});
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
    <section class="panel" ref={panel}>
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
            <Share link={`${location.origin}${path(['explore'], {record: String(index)})}`} />
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
