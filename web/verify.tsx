// Checks what a reader gives: a proof, or the id of a record or a shoe, and what it is compared with. Nothing but that
// id leaves the browser.
import {render} from 'preact';
import {useEffect, useRef, useState} from 'preact/hooks';
import qrcode from 'qrcode-generator';
import {check, keyOfLog, Line, proofOf, proofOfShoe, recordsOf, Steps, type Check, type Shown} from './check';
import {keepOffline} from './offline';
import {dropping} from './drop';
import {idIn, idOfPage, isShoeId, named, path, Problem, send, shortTime, text, verifyLink} from './page';
import {Refused} from './refused';
import {Share} from './share';
import {Shown as Cards} from './verify-cards';
import {Fields, type Input, printable, type Text, type Texts} from './verify-given';
import {byReference, Part, shoeOf, State, type Hand, type Shoe} from './verify-shoe';

/** mostBytes is the largest file that is read. The proof of the longest shoe has a tenth of it. */
const mostBytes = 64 << 20;

/** A Subject was looked up in this log. Links name its id. */
interface Subject {
  id?: string;
  shoe?: Shoe;
  hand?: Hand;
  isWhole?: boolean;
}

/** Everything has the texts of the reader, those that were looked up, and the verdict on all of them. */
interface Everything {
  texts: Texts;
  handOf: string;
  subject: Subject;
  check?: Check;
}

const nothing: Everything = {texts: {}, handOf: '', subject: {}};

/** checked checks everything anew. */
async function checked(all: Everything): Promise<Everything> {
  const {proof, ...others} = all.texts;
  if (!proof) return {...all, check: undefined};
  const given = Object.fromEntries(Object.entries(others).map(([input, {text}]) => [input, text]));
  const handOf = others.hand && all.handOf ? {handOf: all.handOf} : {};
  return {...all, check: await check(proof.text, {...given, ...handOf})};
}

/** trusted returns the reader's own key and policy, which stay for the next proof. */
const trusted = ({texts: {key, policy}}: Everything): Texts => ({
  ...(key && !key.isLookedUp && {key}),
  ...(policy && {policy}),
});

const withProof = (all: Everything, proof: Text) => checked({...nothing, texts: {...trusted(all), proof}, subject: {}});

/** withText gives a text, or takes it out. */
function withText(all: Everything, input: Input, given?: Text): Everything {
  const {[input]: _, ...others} = all.texts;
  return {...all, texts: given ? {...others, [input]: given} : others};
}

const keyHere = async (): Promise<Text> => ({name: text('verify.name.key'), text: await keyOfLog(), isLookedUp: true});

/** lookUp checks a proof of this service, and maybe a hand, with the key of this log if the reader has given none. */
async function lookUp(all: Everything, proof: string, subject: Subject, hand?: Text): Promise<Everything> {
  const {key = await keyHere(), ...own} = trusted(all),
    texts = {...own, key, proof: {name: text('role.proof'), text: proof, isLookedUp: true}};
  return checked({...nothing, texts: hand ? {...texts, hand} : texts, subject});
}

async function checkShoe(all: Everything, shoeId: string, hand?: Hand): Promise<Everything> {
  const cards = hand && (await (await send(path(['shoes', shoeId, ...hand.place], {proof: 'true'}))).text());
  const proof = await proofOfShoe(shoeId),
    shoe = (await (await send(path(['shoes', shoeId]))).json()) as Shoe;
  const id = shoe.status === 'closed' ? shoeId : shoe.audit_id;
  return lookUp(all, proof, {id, shoe, hand}, hand && {name: hand.name, text: cards!, isLookedUp: true});
}

async function readFile(file: File): Promise<Text> {
  const name = printable(file.name);
  if (file.size > mostBytes) throw new Problem(0, text('verify.tooLong', name, mostBytes >> 20));
  const bytes = await file.arrayBuffer();
  try {
    return {name, text: new TextDecoder('utf-8', {fatal: true, ignoreBOM: true}).decode(bytes)};
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
  const take = ([file]: FileList) => run(async (all) => withProof(all, await readFile(file!)));
  const change = (changed: Partial<Everything>) => run((all) => checked({...all, ...changed}));
  const find = async (all: Everything, id: string) =>
    isShoeId(id) ? checkShoe(all, id) : lookUp(all, await proofOf(id).catch(unknown), {id});
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
      return id ? find(all, id) : withProof(all, {name: text('verify.pasted'), text: value});
    });
  };
  const {texts, subject} = all,
    {id, shoe, hand} = subject,
    record = texts.proof && recordsOf(texts.proof.text)[0];
  const first = id && !shoe && !subject.isWhole && record && shoeOf(record);
  useEffect(() => {
    if (id) history.replaceState(null, '', verifyLink(id, lit));
  }, [id, lit]);
  const hasAnswer = texts.proof !== undefined || busy > 0 || problem !== undefined;
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
            name="proof"
            class="hidden"
            onChange={(event) => {
              if (event.currentTarget.files?.length) take(event.currentTarget.files);
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
    <div {...dropping(setOver, take)}>
      <h1 class={hasAnswer ? 'small' : ''}>{text('verify.heading')}</h1>
      {!hasAnswer && form}
      {busy > 0 && (
        <p class="panel" role="status">
          {text('verify.busy')}
        </p>
      )}
      {problem && <Refused problem={problem} onToken={last.current} />}
      {all.check && busy === 0 && (
        <Report
          key="report"
          all={all}
          check={all.check}
          lit={lit}
          onLit={setLit}
          onKey={() => run(async (all) => checked({...all, texts: {...all.texts, key: await keyHere()}}))}
        />
      )}
      {texts.proof && (
        <Fields
          key="given"
          texts={texts}
          handOf={all.handOf}
          record={record}
          onHand={(handOf) => change({handOf})}
          onText={(input, given) => run((all) => checked(withText(all, input, given)))}
          onFile={(input, file) => run(async (all) => checked(withText(all, input, await readFile(file))))}
        />
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
            run(async (all) => lookUp(all, await byReference(first), {id: first, isWhole: true}), true)
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
  all: {texts, subject},
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
  const {key} = texts,
    isLookedUp = Object.values(texts).every((given) => given.isLookedUp);
  const link = subject.id && isLookedUp && location.origin + verifyLink(subject.id, lit);
  const [about] = check.records,
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
        <Line check={check} />
      </div>
      {reference !== undefined && <p class="quiet">{text('verify.about', String(reference))}</p>}
      {about && about.id === subject.id && <Next key={about.id} record={about} />}
      <Cards check={check} texts={texts} lit={lit} onLit={onLit} />
      <details class="how" ref={how}>
        <summary>{text('verify.how')}</summary>
        <Steps check={check} />
        {about && <Facts record={about} />}
        {key?.isLookedUp && (
          <p class="quiet">
            {text('verify.key')} <code>{key.text.trim()}</code>
          </p>
        )}
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
        {!key && (
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
