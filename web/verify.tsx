// Checks what a reader gives: proofs, hands, shoes, or an audit id. Nothing but that id leaves the browser.
import {render} from 'preact';
import {useEffect, useRef, useState} from 'preact/hooks';
import qrcode from 'qrcode-generator';
import {check, proofsOf, Verdict, type Check, type Text} from './check';
import {keepOffline} from './offline';
import {language, prefix, Problem, send, text} from './page';
import {Refused} from './refused';

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

interface Found { check: Check; id?: string; texts: Text[] }

async function checkTexts(texts: Text[]): Promise<Found> {
  const {proofs, ...options} = sort(texts);
  if (proofs.length === 0) throw new Problem(0, text('verify.noProof'));
  return {check: await check(proofs, options), texts};
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
  const [problem, setProblem] = useState<Problem>();
  const [busy, setBusy] = useState(false);
  const [over, setOver] = useState(false);
  const paste = useRef<HTMLTextAreaElement>(null);
  const run = (work: () => Promise<Found>) => {
    setBusy(true);
    setProblem(undefined);
    setFound(undefined);
    void work().then(setFound).catch((error: unknown) => setProblem(error instanceof Problem ? error : new Problem(0, (error as Error).message))).finally(() => setBusy(false));
  };
  const files = (list: FileList) => {
    const chosen = [...list];
    run(async () => checkTexts(await Promise.all(chosen.map(readFile))));
  };
  const audit = (id: string) => run(async () => {
    const proofs = await proofsOf(id), key = await (await send('/log/key')).text();
    history.replaceState(null, '', `?id=${id}`);
    return {check: await check(proofs, {key}), id, texts: proofs};
  });
  const linked = () => new URLSearchParams(location.search).get('id')?.trim().toLowerCase();
  useEffect(() => {
    const id = linked();
    if (id) audit(id);
    keepOffline();
  }, []);
  const submit = (event: Event) => {
    event.preventDefault();
    const value = paste.current!.value.trim();
    if (/^[0-9a-f]{8}-[0-9a-f-]{27}$/i.test(value)) audit(value.toLowerCase());
    else run(() => checkTexts([{name: text('verify.pasted'), text: value}]));
  };
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
      {problem && <Refused problem={problem} onToken={() => { const id = linked(); if (id) audit(id); }} />}
      {found && <Report found={found} />}
    </div>
  );
}

/** Report is what can be printed: the verdict, the steps, what was checked, and a link to it. */
function Report({found}: {found: Found}) {
  const link = found.id && `${location.origin}${prefix}/verify?id=${found.id}`;
  return (
    <section class="panel report">
      <Verdict check={found.check} />
      {found.texts.flatMap(recordOf).slice(0, 20).map((record, i) => <Facts key={i} record={record} />)}
      {link && <div class="link"><Code link={link} /><p><a href={link}>{link}</a></p></div>}
      <p class="quiet">{text('verify.when', new Date().toLocaleString(language))}</p>
      <div class="actions"><button type="button" onClick={() => print()}>{text('verify.print')}</button></div>
    </section>
  );
}

interface Shown { id: string; kind: string; time: string; reference?: string; algorithm?: string; size?: number; draw?: number }

/** recordOf returns the record of the proof in a file, to be shown, if it has one. */
function recordOf(file: Text): Shown[] {
  try {
    return [JSON.parse((JSON.parse(file.text) as {record: string}).record) as Shown];
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
