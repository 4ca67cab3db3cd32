// Checks what a reader gives: proofs, hands, shoes, or the id of a record or a shoe. Nothing but
// that id leaves the browser.
import {render} from 'preact';
import {useEffect, useRef, useState} from 'preact/hooks';
import qrcode from 'qrcode-generator';
import {
  check,
  keyOfLog,
  Line,
  looksLike,
  proofOf,
  proofOfShoe,
  recordsOf,
  Steps,
  type Check,
  type Shown,
  type Text,
} from './check';
import {keepOffline} from './offline';
import {dropping} from './drop';
import {idIn, idOfPage, isShoeId, named, path, Problem, send, shortTime, text, verifyLink} from './page';
import {Refused} from './refused';
import {Share} from './share';
import {Shown as Cards} from './verify-cards';
import {type Given, List, printable, roleOf} from './verify-given';
import {byReference, Part, sealers, shoeOf, State, type Hand, type Shoe} from './verify-shoe';

/** mostBytes is the largest file that is read. The proof of the longest shoe has a tenth of it. */
const mostBytes = 64 << 20;

/** A Subject was looked up in this log. Links name its id. */
interface Subject {
  id?: string;
  shoe?: Shoe;
  hand?: Hand;
  isWhole?: boolean;
}

/** Everything has the reader's texts, the texts that were looked up, and the verdict on all of them. */
interface Everything {
  texts: Given[];
  salt: string;
  handOf: string;
  anyOrder: boolean;
  subject: Subject;
  check?: Check;
}

const nothing: Everything = {texts: [], salt: '', handOf: '', anyOrder: false, subject: {}};

/** checked checks everything anew. A salt that was typed is one more text, the last. */
async function checked(all: Everything): Promise<Everything> {
  const texts: Text[] = all.texts.map((given) => ({
    name: given.name,
    text: given.text,
    role: given.role && roleOf(given),
  }));
  if (texts.length === 0) return {...all, check: undefined};
  if (all.salt) texts.push({name: text('verify.salt'), text: all.salt, role: 'salt'});
  const handOf = all.texts.some((given) => ['answer', 'order', 'list'].includes(roleOf(given)!)) ? all.handOf : '';
  return {...all, check: await check(texts, {handOf, anyOrder: all.anyOrder})};
}

/** asGiven sorts texts. isLookedUp says that they are of this service. */
const asGiven = (texts: Text[], isLookedUp = false): Promise<Given[]> =>
  Promise.all(texts.map(async (given) => ({...given, looks: await looksLike(given.text), isLookedUp})));

/** own returns the reader's texts that have a role. */
const own = ({texts}: Everything) => texts.filter(({isLookedUp, looks, role}) => !isLookedUp && (looks ?? role));

async function add(all: Everything, texts: Text[]): Promise<Everything> {
  const kept = all.texts.filter(({looks, role}) => looks ?? role),
    added = await asGiven(texts);
  const isNew = (given: Given) => !kept.some(({name, text}) => name === given.name && text === given.text);
  return checked({...all, texts: [...kept, ...added.filter(isNew)]});
}

/** withKey adds the key of this log if the reader has given none. */
async function withKey(texts: Given[]): Promise<Given[]> {
  if (texts.some((given) => roleOf(given) === 'key')) return texts;
  return [...texts, ...(await asGiven([{name: text('verify.name.key'), text: await keyOfLog()}], true))];
}

/** lookUp checks texts of this service, in place of those looked up before, with the reader's own. */
async function lookUp(all: Everything, found: Text[], subject: Subject): Promise<Everything> {
  return checked({...all, texts: await withKey([...own(all), ...(await asGiven(found, true))]), subject});
}

async function checkShoe(all: Everything, shoeId: string, hand?: Hand): Promise<Everything> {
  const cards = hand && (await (await send(path(['shoes', shoeId, ...hand.place], {proof: 'true'}))).text());
  const texts: Text[] = [await proofOfShoe(shoeId)],
    shoe = (await (await send(path(['shoes', shoeId]))).json()) as Shoe;
  if (hand && cards) texts.push({name: hand.name, text: cards, role: 'hand'});
  return lookUp(all, texts, {id: shoe.status === 'closed' ? shoeId : shoe.audit_id, shoe, hand});
}

/** loneOf returns the ids of the records that sealed a hand, if there is no proof. */
function loneOf({check, texts}: Everything): string[] {
  if (check?.summary.why !== 'no-proof') return [];
  return texts.flatMap((given) => (roleOf(given) === 'hand' ? sealers(given.text) : []));
}

async function readFile(file: File): Promise<Text> {
  const name = printable(file.name);
  if (file.size > mostBytes) throw new Problem(0, text('verify.tooLong', name, mostBytes >> 20));
  const bytes = await file.arrayBuffer();
  try {
    return {name, text: new TextDecoder('utf-8', {fatal: true}).decode(bytes)};
  } catch {
    throw new Problem(0, text('verify.binary', name));
  }
}

/** unknown says that the log has no such record, in the language of the page. */
function unknown(error: unknown): never {
  throw error instanceof Problem && error.status === 404 ? new Problem(404, text('verify.unknown')) : error;
}

function Verify() {
  const [all, setAll] = useState(nothing);
  const [problem, setProblem] = useState<Problem>();
  const [busy, setBusy] = useState(0);
  const [over, setOver] = useState(false);
  const [lit, setLit] = useState(handInLink);
  const paste = useRef<HTMLTextAreaElement>(null);
  const last = useRef<() => void>(() => undefined);
  const latest = useRef({all: nothing, queue: Promise.resolve()});
  /**
   * run does one change after the other. If it fails, the verdict before stays only if the change
   * was to look further.
   */
  const run = (work: (all: Everything) => Promise<Everything>, isFurther = false) => {
    const {current} = latest;
    last.current = () => run(work, isFurther);
    setBusy((n) => n + 1);
    setProblem(undefined);
    current.queue = current.queue.then(async () => {
      try {
        current.all = await work(current.all);
      } catch (error) {
        if (!isFurther) current.all = {...current.all, check: undefined};
        if (current === latest.current)
          setProblem(error instanceof Problem ? error : new Problem(0, (error as Error).message));
      }
      if (current === latest.current) {
        setAll(current.all);
        setBusy((n) => n - 1);
      }
    });
  };
  const anew = () => {
    latest.current = {all: nothing, queue: Promise.resolve()};
    setAll(nothing);
    setProblem(undefined);
    setBusy(0);
    setLit(undefined);
    paste.current!.value = '';
    history.replaceState(null, '', path(['verify']));
  };
  const files = (list: FileList) => {
    const chosen = [...list];
    run(async (all) => add(all, await Promise.all(chosen.map(readFile))));
  };
  const find = async (all: Everything, id: string) =>
    isShoeId(id) ? checkShoe(all, id) : lookUp(all, [await proofOf(id).catch(unknown)], {id});
  useEffect(() => {
    const id = idOfPage(location)?.trim().toLowerCase();
    if (id) run((all) => find(all, id));
    keepOffline();
  }, []);
  const submit = (event: Event) => {
    event.preventDefault();
    const value = paste.current!.value.trim();
    setLit(undefined);
    run((all) => {
      const id = idIn(value);
      return id ? find(all, id) : add(all, [{name: text('verify.pasted'), text: value}]);
    });
  };
  const {texts, subject} = all,
    {id, shoe, hand} = subject,
    lone = loneOf(all);
  const first =
    id &&
    !shoe &&
    !subject.isWhole &&
    texts
      .filter(({isLookedUp}) => isLookedUp)
      .flatMap(recordsOf)
      .map(shoeOf)[0];
  useEffect(() => {
    if (id) history.replaceState(null, '', verifyLink(id, lit));
  }, [id, lit]);
  const hasAnswer = texts.length > 0 || busy > 0 || problem !== undefined;
  const form = (
    <form key="form" class={over ? 'panel over' : 'panel'} onSubmit={submit}>
      {hasAnswer && <h2>{text('verify.another')}</h2>}
      <p class="quiet">{text('verify.lead')}</p>
      <label>
        {text('verify.paste')}
        <textarea ref={paste} rows={4} spellcheck={false} required />
      </label>
      <div class="actions">
        <button class="main" disabled={busy > 0}>
          {text('verify.check')}
        </button>
        <label class="button">
          {text('verify.choose')}
          <input
            type="file"
            multiple
            class="hidden"
            onChange={(event) => {
              if (event.currentTarget.files?.length) files(event.currentTarget.files);
              event.currentTarget.value = '';
            }}
          />
        </label>
        {hasAnswer && (
          <button type="button" onClick={anew}>
            {text('verify.anew')}
          </button>
        )}
      </div>
      <p class="quiet">{text('verify.what')}</p>
    </form>
  );
  return (
    <div {...dropping(setOver, files)}>
      <h1 class={hasAnswer ? 'small' : ''}>{text('verify.heading')}</h1>
      {!hasAnswer && form}
      {busy > 0 && (
        <p class="panel" role="status">
          {text('verify.busy')}
        </p>
      )}
      {lone.length > 0 && (
        <div class="panel warned" role="alert">
          <p>{text('verify.lone', lone.join(', '))}</p>
          <div class="actions">
            <button
              type="button"
              onClick={() => run(async (all) => lookUp(all, await Promise.all(lone.map(proofOf)), {}))}
            >
              {text('verify.lone.fetch')}
            </button>
          </div>
        </div>
      )}
      {problem && <Refused problem={problem} onToken={last.current} />}
      {all.check && busy === 0 && (
        <Report
          key="report"
          all={all}
          check={all.check}
          lit={lit}
          onLit={setLit}
          onKey={() => run(async (all) => checked({...all, texts: await withKey(all.texts)}))}
        />
      )}
      {own(all).length > 0 && (
        <List key="list" {...all} onChange={(change) => run((all) => checked({...all, ...change}))} />
      )}
      {shoe && (
        <State
          key="state"
          shoe={shoe}
          hand={hand}
          onHand={(hand) => run((all) => checkShoe(all, shoe.shoe_id, hand), true)}
        />
      )}
      {first && (
        <Part
          key="part"
          id={id}
          first={first}
          onWhole={(first) =>
            run(async (all) => lookUp(all, [await byReference(first)], {id: first, isWhole: true}), true)
          }
        />
      )}
      {hasAnswer && form}
    </div>
  );
}

/** handInLink returns the number of the hand that the page's address lights. */
function handInLink(): number | undefined {
  const hand = new URLSearchParams(location.search).get('hand') ?? '';
  return /^[1-9]\d{0,2}$/.test(hand) ? Number(hand) : undefined;
}

/**
 * Report is what can be printed: the verdict, the cards, the steps, what was checked, and a link to it if all
 * of it was looked up.
 */
function Report({
  all: {texts, salt, subject},
  check,
  lit,
  onLit,
  onKey,
}: {
  all: Everything;
  check: Check;
  lit?: number;
  onLit: (hand: number) => void;
  onKey: () => void;
}) {
  const link = subject.id && texts.every(({isLookedUp}) => isLookedUp) && location.origin + verifyLink(subject.id, lit);
  const ofRole = (role: string) => texts.filter((given) => roleOf(given) === role),
    keys = ofRole('key'),
    proofs = ofRole('proof');
  const about = proofs.flatMap(recordsOf)[0],
    reference = about?.reference,
    how = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const unfold = () => {
      how.current!.open = true;
    };
    addEventListener('beforeprint', unfold);
    return () => removeEventListener('beforeprint', unfold);
  }, []);
  return (
    <section class="panel report">
      {subject.hand && <h2>{subject.hand.name}</h2>}
      <div role="status">
        <Line check={check} texts={texts} />
      </div>
      {reference !== undefined && <p class="quiet">{text('verify.about', String(reference))}</p>}
      {about && about.id === subject.id && <Next key={about.id} record={about} />}
      <Cards check={check} texts={texts} salt={salt} lit={lit} onLit={onLit} />
      <details class="how" ref={how}>
        <summary>{text('verify.how')}</summary>
        <Steps check={check} texts={texts} />
        {proofs
          .flatMap((proof) => recordsOf(proof).slice(0, 1))
          .slice(0, 20)
          .map((record, i) => (
            <Facts key={i} record={record} />
          ))}
        {keys
          .filter(({isLookedUp}) => isLookedUp)
          .map((key) => (
            <p class="quiet" key={key.text}>
              {text('verify.key')} <code>{key.text.trim()}</code>
            </p>
          ))}
        <p class="quiet">{text('verify.when', shortTime(new Date().toISOString()))}</p>
      </details>
      {link && (
        <div class="link">
          <Code link={link} />
          <p>
            <a href={link}>{link}</a>
          </p>
        </div>
      )}
      <div class="actions">
        {keys.length === 0 && proofs.length > 0 && (
          <button type="button" onClick={onKey}>
            {text('verify.key.use')}
          </button>
        )}
        {link && <Share link={link} />}
        <button type="button" onClick={() => print()}>
          {text('verify.print')}
        </button>
      </div>
    </section>
  );
}

/** A Round is the beacon of a commitment. */
interface Round {
  chain: string;
  round: number;
  time: string;
}

/** Next leads from a record that deals nothing to the one that it is about. */
function Next({record}: {record: Shown}) {
  const {id, kind, commitment_id: made, audit_id: revealed, count} = record;
  const [next, setNext] = useState<{state: string; to?: string; beacon?: Round; players?: Record<string, string>}>();
  useEffect(() => {
    if (kind === 'void') setNext({state: 'ran-out', to: made});
    else if (kind === 'reveal') setNext({state: 'reveal', to: revealed});
    else if (kind === 'commitment')
      void send(path(['commitments', id]))
        .then((answer) => answer.json())
        .then(({status: state, audit_id: to, beacon, players}) => setNext({state, to, beacon, players}))
        .catch(() => {}); // the verdict stands without it
  }, []);
  if (!next) return null;
  const said = named(count ? 'next.book' : 'next', next.state);
  return (
    <>
      <p>{next.to ? <a href={verifyLink(next.to)}>{said}</a> : said}</p>
      {next.beacon && (
        <p>{text('next.beacon', `${next.beacon.chain} ${next.beacon.round}`, shortTime(next.beacon.time))}</p>
      )}
      {next.players && (
        <>
          <p>{text('next.players', Object.keys(next.players).sort().join(', '))}</p>
          {Object.keys(next.players)
            .sort()
            .map((name) => (
              <p class="quiet" key={name}>
                {name} <code>{next.players![name]}</code>
              </p>
            ))}
        </>
      )}
    </>
  );
}

function Facts({record}: {record: Shown}) {
  return (
    <dl class="facts">
      <dt>{text('table.auditId')}</dt>
      <dd>{String(record.id)}</dd>
      <dt>{text('explore.kind')}</dt>
      <dd>{named('kind', String(record.kind))}</dd>
      <dt>{text('explore.time')}</dt>
      <dd>{String(record.time)}</dd>
      {record.reference !== undefined && (
        <>
          <dt>{text('explore.reference')}</dt>
          <dd>{String(record.reference)}</dd>
        </>
      )}
      {record.algorithm !== undefined && (
        <>
          <dt>{text('table.algorithm')}</dt>
          <dd>
            {String(record.algorithm)}, {String(record.draw)} / {String(record.size)}
          </dd>
        </>
      )}
    </dl>
  );
}

/** Code draws a link as a QR code. */
function Code({link}: {link: string}) {
  const code = qrcode(0, 'M');
  code.addData(link);
  code.make();
  const size = code.getModuleCount(),
    squares: string[] = [];
  for (let y = 0; y < size; y++)
    for (let x = 0; x < size; x++) if (code.isDark(y, x)) squares.push(`M${x + 2} ${y + 2}h1v1h-1z`);
  return (
    <svg
      class="code"
      viewBox={`0 0 ${size + 4} ${size + 4}`}
      role="img"
      aria-label={text('verify.code')}
      shape-rendering="crispEdges"
    >
      <rect width="100%" height="100%" fill="#fff" />
      <path d={squares.join('')} fill="#000" />
    </svg>
  );
}

render(<Verify />, document.getElementById('main')!);
