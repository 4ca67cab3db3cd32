// Checks of proofs in this browser, by the verifier that anyone can run: verifiers/riffle.mjs. And their words.
import {looksLike as looks, render, verify} from '../verifiers/riffle.mjs';
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
  hands?: (number | 'rest')[];
  shuffle?: number;
  cards?: number;
  changes?: number;
  steps?: string;
  step?: string;
  if?: Summary;
  why?: string;
  files?: string[];
  verified?: number;
  false?: number;
  unchecked?: number;
  commitment?: 'missing';
  beacon?: string;
  cosigned?: boolean;
  players?: string[];
}

/** A Part is the verdict on proofs that belong together. */
interface Part {
  verdict: 'verified' | 'false' | 'unchecked';
  messages: Message[];
  steps: Step[];
  summary: Summary;
  files: string[];
}

/** A Resolved names the role of a text in a verdict. */
export interface Resolved {
  name: string;
  role: string;
  hand?: number | 'rest';
  shuffle?: number;
}

/** A Check is the verdict on all texts, whose roles are in files in the same order, and on each part. */
export interface Check extends Omit<Part, 'files'> {
  files: Resolved[];
  proofs: Part[];
}

/** A Text is a file's text and display name, and its role if the reader chose one. */
export interface Text {
  name: string;
  text: string;
  role?: string;
}

/** looksLike returns the role that the verifier would give a text, or undefined if it would refuse it. */
export const looksLike = async (text: string): Promise<string | undefined> => (await looks(text)) as string | undefined;

type Table = NonNullable<Parameters<typeof render>[1]>;

/** chinese has the verifier's texts in Chinese, once something was checked on a Chinese page. */
let chinese: Table | undefined;

/** check verifies proof files, with whatever else was given. */
export async function check(
  files: Text[],
  options: {key?: string; order?: string; handOf?: string; anyOrder?: boolean} = {},
): Promise<Check> {
  if (language === 'zh') {
    const {default: texts} = await import('../internal/audit/message/messages.json');
    chinese = Object.fromEntries(Object.entries(texts).map(([id, {zh}]) => [id, zh])) as Table;
  }
  return (await verify(files, options)) as Check;
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
}

/** proofOf fetches the proof of a record. */
export const proofOf = async (id: string): Promise<Text> => ({
  name: id,
  text: await published(path(['audits', id, 'proof'])),
});

/** proofOfShoe fetches the proof of a shoe. */
export const proofOfShoe = async (id: string): Promise<Text> => ({
  name: 'shoe',
  text: await published(path(['shoes', id, 'proof'])),
});

interface ProofFile {
  record: string;
  commitment_proof?: ProofFile;
  shoe?: ProofFile[];
}

/** recordsOf returns the records of the proofs in a text, each before the commitment that it used. */
export function recordsOf({text}: Text): Shown[] {
  const read = ({record, commitment_proof: commitment, shoe}: ProofFile): Shown[] =>
    shoe
      ? shoe.flatMap(read)
      : [JSON.parse(record) as Shown | null, ...(commitment ? read(commitment) : [])].filter(
          (record) => record !== null,
        );
  const parse = (json: string) => [JSON.parse(json) as ProofFile].flat().flatMap(read);
  try {
    return parse(text);
  } catch {
    try {
      return text.trim().split(/\n+/).flatMap(parse);
    } catch {
      return [];
    }
  }
}

/** A Telling has the values that the words of a verdict depend on. */
interface Telling {
  summary: Summary;
  steps: Step[];
  files: Resolved[];
  isShoe: boolean;
}

/** A Told is a part's Telling, with the names of its texts. */
type Told = Telling & Omit<Part, 'files'> & {names: string[]};

const words = (name: string, fallback: 'fails.other' | 'open.other') => text(hasText(name) ? name : fallback);

/** nameOf returns the name of a part of a deal. */
const nameOf = (part: number | 'rest') => (part === 'rest' ? text('part.rest') : text('part.hand', part));

/** listed returns names in a sentence. */
const listed = (names: string[]) => new Intl.ListFormat(language).format(names);

/** dealOf names a part's deal. */
const dealOf = ({shuffle}: {shuffle?: number}) => (shuffle ? text('part.shuffle', shuffle) : text('part.deal'));

/** failed says what is wrong, if a step is. */
function failed(name: string, {files}: Telling): string {
  const given = {order: ['order', 'hand-of'], items: ['items']}[name]?.some((role) =>
    files.some((file) => file.role === role),
  );
  return words(`fails.${name}${given ? '.given' : ''}`, 'fails.other');
}

/** open says why a step could not be checked. */
function open(name: string, {summary, steps, files, isShoe}: Telling): string {
  const {id} = summary.if ?? summary,
    is = (step: string, ok: boolean | null) => steps.some((other) => other.name === step && other.ok === ok);
  const isSecret = id === 'held-back' || id === 'open-shoe' || is('seed', null);
  if (isSecret && ['seed', 'commitment', 'keys', 'order'].includes(name))
    return text(is('closed', true) ? 'open.seed' : isShoe ? 'open.secret.shoe' : 'open.secret');
  if (name === 'order' && id === 'cost') return text('open.order.cost');
  if (name === 'order' && is('items', null) && !is('hand', true)) return text('open.order.items');
  if (name === 'items' && files.some(({role}) => role === 'items')) return text('open.items.given');
  return words(`open.${name}`, 'open.other');
}

/** firstLine says a verdict in a sentence, in the language of the page. */
function firstLine(telling: Telling): string {
  const {summary} = telling,
    {id, why, files = [], cards = 0, changes = 0, step = ''} = summary;
  const verified = (sentence: string) =>
    text(summary.commitment === 'missing' ? 'first.except' : 'first.verified', sentence);
  switch (id) {
    case 'hand':
    case 'hand-set':
      return verified(counted(`first.${id}`, cards, nameOf(summary.hand!), dealOf(summary)));
    case 'hands':
    case 'hands-set':
      return verified(text(`first.${id}`, listed(summary.hands!.map(nameOf)), dealOf(summary)));
    case 'cards':
      return verified(counted('first.cards', cards));
    case 'shoe':
      return verified(counted('first.shoe', changes));
    case 'order':
    case 'follows':
    case 'record':
      return verified(text(`first.${id}`));
    case 'held-back':
      return text('first.open', open('seed', telling));
    case 'open-shoe':
      return counted('first.open-shoe', changes);
    case 'cost':
      return text('first.cost', BigInt(summary.steps!).toLocaleString(language), (2 ** 30).toLocaleString(language));
    case 'no-key':
      return text('first.no-key', firstLine({...telling, summary: summary.if!}));
    case 'several':
      return text('first.several', summary.verified!, summary.false!, summary.unchecked!);
    case 'false':
      return text('first.false', failed(step, telling));
    case 'incomplete':
      return text('first.incomplete', open(step, telling));
    case 'refused':
      return text(
        'first.refused',
        hasText(`refused.${why}`) ? text(`refused.${why}` as 'refused.two', listed(files)) : text('open.other'),
      );
    default:
      return text('first.unknown-kind');
  }
}

/** comparedWith says what was compared with what, if anything was. */
function comparedWith(files: Resolved[]): string {
  const said = files.flatMap(({name, role, hand, shuffle}) =>
    role === 'order' || role === 'items' || role === 'hand'
      ? [text(name === 'the order' ? 'compared.dealt' : `compared.${role}`, name)]
      : role === 'hand-of'
        ? [text('compared.hand-of', name, nameOf(hand!), dealOf({shuffle}))]
        : [],
  );
  return said.length === 0 ? '' : text('compared', listed(said));
}

/** tellingsOf returns what tells each part of a check. texts are those that were checked. */
function tellingsOf(check: Check, texts: Text[]): Told[] {
  const parts: Part[] = check.proofs.length > 1 ? check.proofs : [{...check, files: texts.map(({name}) => name)}];
  return parts.map((part) => {
    const kinds = texts
      .filter(({name}) => part.files.includes(name))
      .flatMap(recordsOf)
      .map(({kind}) => kind);
    const isShoe =
      part.steps.some(({name}) => name === 'chain' || name === 'hand') ||
      kinds.some((kind) => ['shoe', 'draw', 'reshuffle'].includes(kind));
    return {...part, names: part.files, files: check.files, isShoe};
  });
}

/** Verdict shows a check: the verdict in a line, then what was compared, then each step. */
export function Verdict({check, texts = []}: {check: Check; texts?: Text[]}) {
  return (
    <div role="status">
      <Line check={check} texts={texts} />
      <Steps check={check} texts={texts} />
    </div>
  );
}

/** Line says the verdict, and what was compared with what. */
export function Line({check, texts}: {check: Check; texts: Text[]}) {
  const {files, summary, verdict} = check,
    compared = summary.id === 'refused' ? '' : comparedWith(files);
  const [said, ...more] = firstLine({...tellingsOf(check, texts)[0]!, summary}).split(/(?<=[.] |[。])(?=.)/);
  return (
    <>
      <p class={`verdict ${verdict}`}>
        {said}
        {more.length > 0 && <span class="more">{more.join('')}</span>}
      </p>
      {compared && <p class="compared">{compared}</p>}
      <LastInput summary={summary.if ?? summary} />
      {check.proofs.some(({messages}) => messages.some(({id}) => id === 'note.anew')) && <p>{text('verify.later')}</p>}
    </>
  );
}

/** Steps shows each step of a check, in plain words and in the verifier's. */
export function Steps({check, texts}: {check: Check; texts: Text[]}) {
  const tellings = tellingsOf(check, texts);
  return (
    <>
      {check.verdict === 'verified' &&
        texts.flatMap(recordsOf).some((record) => record.kind === 'shuffle' && !record.commitment_id) && (
          <p>{text('verify.one-shot')}</p>
        )}
      {tellings.map((telling, i) => (
        <div key={i}>
          {tellings.length > 1 && (
            <p class="part">
              <strong>{listed(telling.names)}</strong> {firstLine(telling)}
            </p>
          )}
          <ol class="steps">
            {telling.steps.map((step, j) => (
              <Shows key={j} step={step} telling={telling} />
            ))}
          </ol>
          <details class="quiet words">
            <summary>{text('verify.words')}</summary>
            {telling.messages.map((message, j) => (
              <p key={j}>{inWords(message)}</p>
            ))}
          </details>
        </div>
      ))}
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
function Shows({step, telling}: {step: Step; telling: Telling}) {
  const {name, ok} = step,
    claim = `claim.${name}`,
    said = ok === null ? open(name, telling) : ok ? hasText(claim) && text(claim) : failed(name, telling);
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
