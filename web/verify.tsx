// Checks what a reader gives: proofs, hands, shoes, or the id of a record or a shoe. Nothing but that id leaves the browser.
import {render} from 'preact';
import {useEffect, useRef, useState} from 'preact/hooks';
import qrcode from 'qrcode-generator';
import {check, firstRecord, keyOfLog, proofsOf, proofsOfShoe, Verdict, type Check, type Shown, type Text} from './check';
import {keepOffline} from './offline';
import {isId, path, Problem, send, shortTime, text, verifyLink} from './page';
import {Refused} from './refused';
import {byReference, isShoeId, Part, sealers, shoeOf, State, type Hand, type Shoe} from './verify-shoe';

/** mostBytes is how long a file may be that is read. The proof of the longest shoe has a tenth of it. */
const mostBytes = 64 << 20;

interface Given { proofs: Text[]; order?: string; hand?: string; key?: string; items?: string }

const isKey = (text: string) => /^\S+\+[0-9a-f]{8}\+[A-Za-z0-9+/]+={0,2}\s*$/.test(text);

/** membersOf returns the names of the members of the first JSON text, or null if there is no object. */
function membersOf(text: string): string[] | null {
  try {
    const value: unknown = JSON.parse(text), first: unknown = Array.isArray(value) ? value[0] : value;
    return typeof first === 'object' && first !== null ? Object.keys(first) : null;
  } catch {
    return /"(record|tlog_proof)"/.test(text) ? ['tlog_proof'] : null; // several texts, one after the other
  }
}

/** sort tells what is what, by what a text looks like. */
function sort(texts: Text[]): Given {
  const given: Given = {proofs: []};
  for (const file of texts) {
    const members = membersOf(file.text);
    if (isKey(file.text)) given.key = file.text;
    else if (members?.some((name) => name === 'record' || name === 'tlog_proof')) given.proofs.push(file);
    else if (members?.some((name) => name === 'path' || name === 'salt' || name === 'cards')) given.hand = file.text;
    else if (members) given.order = file.text;
    else if (/^\s*\[/.test(file.text)) given.items = file.text;
    else given.proofs.push(file); // the verifier says what is wrong with it
  }
  return given;
}

/** Found is what was checked: id is what a link to it names, and key is that of the log if the service was asked for it. Files may be keyless. */
interface Found { check: Check; texts: Text[]; id?: string; key?: string; shoe?: Shoe; hand?: Hand; keyless?: boolean; whole?: boolean }

/** A LoneHand is a hand without the proofs of the records that sealed it. */
class LoneHand extends Error {
  constructor(readonly ids: string[], readonly texts: Text[]) {
    super();
  }
}

async function checkTexts(texts: Text[]): Promise<Found> {
  const {proofs, ...options} = sort(texts);
  if (proofs.length === 0 && options.hand && sealers(options.hand).length > 0) throw new LoneHand(sealers(options.hand), texts);
  if (proofs.length === 0) throw new Problem(0, text('verify.noProof'));
  return {check: await check(proofs, options), texts, keyless: options.key === undefined};
}

async function checkRecord(id: string): Promise<Found> {
  const [texts, key] = await Promise.all([proofsOf(id), keyOfLog()]);
  history.replaceState(null, '', verifyLink(id));
  return {check: await check(texts, {key}), texts, id, key};
}

async function checkShoe(shoeId: string, hand?: Hand): Promise<Found> {
  const cards = hand && await (await send(path(['shoes', shoeId, ...hand.place], {proof: 'true'}))).text();
  const [texts, key] = await Promise.all([proofsOfShoe(shoeId), keyOfLog()]);
  const shoe = await (await send(path(['shoes', shoeId]))).json() as Shoe, id = shoe.status === 'closed' ? shoeId : shoe.audit_id;
  history.replaceState(null, '', verifyLink(id));
  return {check: await check(texts, {key, hand: cards}), texts, id, key, shoe, hand};
}

async function checkWhole(first: string): Promise<Found> {
  const [texts, key] = await Promise.all([byReference(first), keyOfLog()]);
  return {check: await check(texts, {key}), texts, id: first, key, whole: true};
}

async function checkWithKey({texts}: Found): Promise<Found> {
  const key = await keyOfLog();
  return {...await checkTexts([...texts, {name: 'key', text: key}]), key};
}

async function checkHand({ids, texts}: LoneHand): Promise<Found> {
  const [key, ...proofs] = await Promise.all([keyOfLog(), ...ids.map(proofsOf)]), {hand} = sort(texts);
  return {check: await check(proofs.flat(), {key, hand}), texts: proofs.flat(), key};
}

async function readFile(file: File): Promise<Text> {
  if (file.size > mostBytes) throw new Problem(0, text('verify.tooLong', file.name, mostBytes >> 20));
  const bytes = await file.arrayBuffer();
  try {
    return {name: file.name, text: new TextDecoder('utf-8', {fatal: true}).decode(bytes)};
  } catch {
    throw new Problem(0, text('verify.binary', file.name));
  }
}

function Verify() {
  const [found, setFound] = useState<Found>();
  const [problem, setProblem] = useState<Problem | LoneHand>();
  const [busy, setBusy] = useState(false);
  const [over, setOver] = useState(false);
  const paste = useRef<HTMLTextAreaElement>(null);
  const last = useRef(() => undefined as void);
  const run = (work: () => Promise<Found>, kept?: Found) => {
    last.current = () => run(work);
    setBusy(true);
    setProblem(undefined);
    setFound(kept);
    void work().then(setFound)
      .catch((error: unknown) => setProblem(error instanceof Problem || error instanceof LoneHand ? error : new Problem(0, (error as Error).message)))
      .finally(() => setBusy(false));
  };
  const files = (list: FileList) => {
    const chosen = [...list];
    run(async () => checkTexts(await Promise.all(chosen.map(readFile))));
  };
  const look = (id: string) => run(() => isShoeId(id) ? checkShoe(id) : checkRecord(id));
  useEffect(() => {
    const id = new URLSearchParams(location.search).get('id')?.trim().toLowerCase();
    if (id) look(id);
    keepOffline();
  }, []);
  const submit = (event: Event) => {
    event.preventDefault();
    const value = paste.current!.value.trim();
    if (isId(value)) look(value.toLowerCase());
    else run(() => checkTexts([{name: text('verify.pasted'), text: value}]));
  };
  const first = found?.id && !found.shoe && !found.whole && shoeOf(firstRecord(found.texts[0]!.text));
  return (
    <div onDragOver={(event) => { event.preventDefault(); setOver(true); }} onDragLeave={() => setOver(false)}
      onDrop={(event) => { event.preventDefault(); setOver(false); if (event.dataTransfer?.files.length) files(event.dataTransfer.files); }}>
      <h1>{text('verify.heading')}</h1>
      <p class="quiet">{text('verify.lead')}</p>
      <form class={over ? 'panel over' : 'panel'} onSubmit={submit}>
        <label>{text('verify.paste')}<textarea ref={paste} rows={4} spellcheck={false} required /></label>
        <div class="actions">
          <button class="main" disabled={busy}>{text('verify.check')}</button>
          <label class="button">{text('verify.choose')}
            <input type="file" multiple class="hidden" onChange={(event) => { if (event.currentTarget.files?.length) files(event.currentTarget.files); event.currentTarget.value = ''; }} />
          </label>
        </div>
        <p class="quiet">{text('verify.what')}</p>
      </form>
      {busy && <p class="panel" role="status">{text('verify.busy')}</p>}
      {problem instanceof LoneHand && (
        <div class="panel warned" role="alert">
          <p>{text('verify.lone', problem.ids.join(', '))}</p>
          <div class="actions"><button type="button" onClick={() => run(() => checkHand(problem))}>{text('verify.lone.fetch')}</button></div>
        </div>
      )}
      {problem instanceof Problem && <Refused problem={problem} onToken={last.current} />}
      {found?.shoe && <State shoe={found.shoe} hand={found.hand} onHand={(hand) => run(() => checkShoe(found.shoe!.shoe_id, hand), found)} />}
      {found && <Report found={found} onKey={() => run(() => checkWithKey(found))} />}
      {first && <Part id={found!.id!} first={first} onWhole={(id) => run(() => checkWhole(id), found)} />}
    </div>
  );
}

/** Report is what can be printed: the verdict, the steps, what was checked, and a link to it. */
function Report({found, onKey}: {found: Found; onKey: () => void}) {
  const link = found.id && location.origin + verifyLink(found.id);
  return (
    <section class="panel report">
      {found.hand && <h2>{found.hand.name}</h2>}
      <Verdict check={found.check} />
      {found.texts.flatMap(recordOf).slice(0, 20).map((record, i) => <Facts key={i} record={record} />)}
      {found.key && <p class="quiet">{text('verify.key')} <code>{found.key.trim()}</code></p>}
      {link && <div class="link"><Code link={link} /><p><a href={link}>{link}</a></p></div>}
      <p class="quiet">{text('verify.when', shortTime(new Date().toISOString()))}</p>
      <div class="actions">
        {found.keyless && <button type="button" onClick={onKey}>{text('verify.key.use')}</button>}
        <button type="button" onClick={() => print()}>{text('verify.print')}</button>
      </div>
    </section>
  );
}

/** recordOf returns the record of the first proof in a file, to be shown, if it has one. */
function recordOf(file: Text): Shown[] {
  try {
    return [firstRecord(file.text)];
  } catch {
    return [];
  }
}

function Facts({record}: {record: Shown}) {
  return (
    <dl class="facts">
      <dt>{text('table.auditId')}</dt><dd>{String(record.id)}</dd>
      <dt>{text('explore.kind')}</dt><dd>{String(record.kind)}</dd>
      <dt>{text('explore.time')}</dt><dd>{String(record.time)}</dd>
      {record.reference !== undefined && <><dt>{text('explore.reference')}</dt><dd>{String(record.reference)}</dd></>}
      {record.algorithm !== undefined && <><dt>{text('table.algorithm')}</dt><dd>{String(record.algorithm)}, {String(record.draw)} / {String(record.size)}</dd></>}
    </dl>
  );
}

/** Code draws a link as a QR code. */
function Code({link}: {link: string}) {
  const code = qrcode(0, 'M');
  code.addData(link);
  code.make();
  const size = code.getModuleCount(), squares: string[] = [];
  for (let y = 0; y < size; y++) for (let x = 0; x < size; x++) if (code.isDark(y, x)) squares.push(`M${x + 2} ${y + 2}h1v1h-1z`);
  return (
    <svg class="code" viewBox={`0 0 ${size + 4} ${size + 4}`} role="img" aria-label={text('verify.code')} shape-rendering="crispEdges">
      <rect width="100%" height="100%" fill="#fff" /><path d={squares.join('')} fill="#000" />
    </svg>
  );
}

render(<Verify />, document.getElementById('main')!);
