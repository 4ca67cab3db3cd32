// Checks of proofs in this browser, by the verifier that anyone can run: verifiers/riffle.mjs. And their words.
import {render, verify} from '../verifiers/riffle.mjs';
import {counted, hasText, language, path, Problem, send, text, type Path} from './page';

/** A Message is what the verifier says, to be rendered by a table of texts. */
interface Message {
  id: string;
  values: Record<string, unknown>;
}

export interface Step {
  name: string;
  ok: boolean | null;
  message: Message;
}

/** A Summary is a verdict for translation, as docs/spec.md has it. */
interface Summary {
  id: string;
  hand?: number | 'rest';
  shuffle?: number;
  cards?: number;
  changes?: number;
  steps?: string;
  step?: string;
  if?: Summary;
  input?: string;
  commitment?: 'missing';
  beacon?: string;
  cosigned?: boolean;
  players?: string[];
}

/** A Check is the verdict on a proof, with its records, and the names of what it was checked against. */
export interface Check {
  verdict: 'verified' | 'false' | 'unchecked';
  messages: Message[];
  steps: Step[];
  summary: Summary;
  records: Shown[];
  given: string[];
}

/** A Given has the texts that a proof is checked against, as docs/spec.md names them. */
export interface Given {
  key?: string;
  policy?: string;
  answer?: string;
  order?: string;
  hand?: string;
  handOf?: string;
  items?: string;
  salt?: string;
}

type Table = NonNullable<Parameters<typeof render>[1]>;

/** chinese has the verifier's texts in Chinese, once something was checked on a Chinese page. */
let chinese: Table | undefined;

/** check verifies a proof against whatever else is given. */
export async function check(proof: string, given: Given = {}): Promise<Check> {
  if (language === 'zh') {
    const {default: texts} = await import('../internal/audit/message/messages.json');
    chinese = Object.fromEntries(Object.entries(texts).map(([id, {zh}]) => [id, zh])) as Table;
  }
  const found = (await verify(proof, given)) as Omit<Check, 'records' | 'given'>;
  return {...found, records: recordsOf(proof), given: Object.keys(given)};
}

/** published fetches a proof, which exists once the log's next checkpoint covers its records. */
export async function published(path: Path): Promise<string> {
  for (let wait = 50; ; wait *= 2) {
    try {
      return await (await send(path)).text();
    } catch (error) {
      if (!(error instanceof Problem) || error.status !== 503 || wait > 2000) throw error;
      await new Promise((done) => setTimeout(done, wait));
    }
  }
}

/** keyOfLog returns the key of the log, also if another log has replaced the one that the browser knows. */
export const keyOfLog = async (): Promise<string> => (await send(path(['log', 'key']), {cache: 'no-cache'})).text();

/** A Shown holds the parts of a record that a page shows. */
export interface Shown {
  id: string;
  kind: string;
  time: string;
  reference?: string;
  algorithm?: string;
  size?: number;
  draw?: number;
  audit_id?: string;
  commitment_id?: string;
  count?: number;
  round?: number;
  hands?: number[];
  input?: string;
  items_digest?: string;
}

/** proofOf fetches the proof of a record. */
export const proofOf = (id: string): Promise<string> => published(path(['audits', id, 'proof']));

/** proofOfShoe fetches the proof of a shoe. */
export const proofOfShoe = (id: string): Promise<string> => published(path(['shoes', id, 'proof']));

interface ProofFile {
  record: string;
  commitment_proof?: ProofFile;
  shoe?: ProofFile[];
}

/** recordsOf returns the records of a proof, each before the commitment that it used; none if it cannot be read. */
export function recordsOf(proof: string): Shown[] {
  const read = ({record, commitment_proof: commitment, shoe}: ProofFile): Shown[] =>
    shoe
      ? shoe.flatMap(read)
      : [JSON.parse(record) as Shown | null, ...(commitment ? read(commitment) : [])].filter(
          (record) => record !== null,
        );
  try {
    return read(JSON.parse(proof) as ProofFile);
  } catch {
    return [];
  }
}

/** isOfShoe reports whether a check is of a shoe. */
const isOfShoe = ({steps, records}: Check) =>
  steps.some(({name}) => name === 'chain' || name === 'hand') ||
  records.some(({kind}) => ['shoe', 'draw', 'reshuffle'].includes(kind));

const words = (name: string, fallback: 'fails.other' | 'open.other') => text(hasText(name) ? name : fallback);

/** nameOf returns the name of a part of a deal. */
const nameOf = (part: number | 'rest') => (part === 'rest' ? text('part.rest') : text('part.hand', part));

/** listed returns names in a sentence. */
const listed = (names: string[]) => new Intl.ListFormat(language).format(names);

/** dealOf names a part's deal. */
const dealOf = ({shuffle}: {shuffle?: number}) => (shuffle ? text('part.shuffle', shuffle) : text('part.deal'));

/** failed says what is wrong, if a step is. */
function failed(name: string, {given}: Check): string {
  const isGiven = {order: ['answer', 'order', 'hand'], items: ['items']}[name]?.some((input) => given.includes(input));
  return words(`fails.${name}${isGiven ? '.given' : ''}`, 'fails.other');
}

/** open says why a step could not be checked. */
function open(name: string, check: Check): string {
  const {summary, steps, given} = check,
    {id} = summary.if ?? summary,
    is = (step: string, ok: boolean | null) => steps.some((other) => other.name === step && other.ok === ok);
  const isSecret = id === 'held-back' || id === 'open-shoe' || is('seed', null);
  if (isSecret && ['seed', 'commitment', 'keys', 'order'].includes(name))
    return text(is('closed', true) ? 'open.seed' : isOfShoe(check) ? 'open.secret.shoe' : 'open.secret');
  if (name === 'order' && id === 'cost') return text('open.order.cost');
  if (name === 'order' && is('items', null) && !is('hand', true)) return text('open.order.items');
  if (name === 'items' && given.includes('items')) return text('open.items.given');
  return words(`open.${name}`, 'open.other');
}

/** firstLine says a verdict in a sentence, in the language of the page. */
function firstLine(check: Check, summary = check.summary): string {
  const {id, input, cards = 0, changes = 0, step = ''} = summary;
  const verified = (sentence: string) =>
    text(summary.commitment === 'missing' ? 'first.except' : 'first.verified', sentence);
  switch (id) {
    case 'hand':
    case 'hand-set':
      return verified(counted(`first.${id}`, cards, nameOf(summary.hand!), dealOf(summary)));
    case 'cards':
      return verified(counted('first.cards', cards));
    case 'shoe':
      return verified(counted('first.shoe', changes));
    case 'order':
    case 'follows':
    case 'record':
      return verified(text(`first.${id}`));
    case 'held-back':
      return text('first.open', open('seed', check));
    case 'open-shoe':
      return counted('first.open-shoe', changes);
    case 'cost':
      return text('first.cost', BigInt(summary.steps!).toLocaleString(language), (2 ** 30).toLocaleString(language));
    case 'no-key':
      return text('first.no-key', firstLine(check, summary.if));
    case 'false':
      return text('first.false', failed(step, check));
    case 'incomplete':
      return text('first.incomplete', open(step, check));
    case 'refused':
      return text(
        'first.refused',
        input === 'salt' && !check.given.includes('items')
          ? text('refused.no-items')
          : text('refused.form', text(hasText(`role.${input}`) ? (`role.${input}` as 'role.key') : 'role.hand')),
      );
    default:
      return text('first.unknown-kind');
  }
}

/** Verdict shows a check: the verdict in a line, then each step. */
export function Verdict({check}: {check: Check}) {
  return (
    <div role="status">
      <Line check={check} />
      <Steps check={check} />
    </div>
  );
}

/** Line says the verdict. */
export function Line({check}: {check: Check}) {
  const {summary, verdict, messages} = check,
    [said, ...more] = firstLine(check).split(/(?<=[.] |[。])(?=.)/);
  return (
    <>
      <p class={`verdict ${verdict}`}>
        {said}
        {more.length > 0 && <span class="more">{more.join('')}</span>}
      </p>
      <LastInput summary={summary.if ?? summary} />
      {messages.some(({id}) => id === 'note.anew') && <p>{text('verify.later')}</p>}
    </>
  );
}

/** Steps shows each step of a check, in plain words and in the verifier's. */
export function Steps({check}: {check: Check}) {
  const {verdict, records, steps, messages} = check;
  return (
    <>
      {verdict === 'verified' && records.some(({kind, commitment_id: id}) => kind === 'shuffle' && !id) && (
        <p>{text('verify.one-shot')}</p>
      )}
      <ol class="steps">
        {steps.map((step, i) => (
          <Shows key={i} step={step} check={check} />
        ))}
      </ol>
      <details class="quiet words">
        <summary>{text('verify.words')}</summary>
        {messages.map((message, i) => (
          <p key={i}>{inWords(message)}</p>
        ))}
      </details>
    </>
  );
}

/** LastInput says why nobody chose the client seed, if a beacon or players did. */
function LastInput({summary: {beacon, cosigned, players}}: {summary: Summary}) {
  if (players) return <p>{text('verify.players', listed(players))}</p>;
  return beacon ? (
    <p>{`${text('verify.beacon', beacon)} ${text(`verify.beacon.${cosigned ? 'cosigned' : 'clock'}`)}`}</p>
  ) : null;
}

/** inWords is what the verifier says, in the language of the page. */
const inWords = (message: Message): string => render(message, chinese, chinese && '、');

/** Shows tells a step's result, in plain words and in the verifier's. */
function Shows({step, check}: {step: Step; check: Check}) {
  const {name, ok} = step,
    claim = `claim.${name}`,
    said = ok === null ? open(name, check) : ok ? hasText(claim) && text(claim) : failed(name, check);
  return (
    <li class={`step-${ok}`}>
      <span class="mark" role="img" aria-label={text(`step.${ok}`)}>
        {ok === true ? '✓' : ok === false ? '✗' : '?'}
      </span>
      <span>
        {said && <strong class="claim">{said.charAt(0).toUpperCase() + said.slice(1)}</strong>}
        <span class="quiet">
          <span lang="en">{name}:</span> {inWords(step.message)}
        </span>
      </span>
    </li>
  );
}
