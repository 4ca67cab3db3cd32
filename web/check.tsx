// Checks of proofs in this browser, by the verifier that anyone can run: verifiers/riffle.mjs.
import {verify} from '../verifiers/riffle.mjs';
import {hasText, language, path, Problem, send, text, type Path} from './page';

export interface Step { name: string; ok: boolean | null; text: string }

/** A Check is what a verifier found out: of all that was given, and of each proof. */
export interface Check { verdict: 'verified' | 'false' | 'unchecked'; headline: string; notes: string[]; steps: Step[]; proofs?: Check[] }

/** A Text is that of a file, with the name that it is spoken of by. */
export interface Text { name: string; text: string }

/** check verifies proof files, with whatever else was given. */
export async function check(files: Text[], options: {key?: string; items?: string; order?: string; hand?: string} = {}): Promise<Check> {
  return await verify(files, options) as Check;
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

/** A Shown is what a page shows of a record. */
export interface Shown {
  id: string; kind: string; time: string; reference?: string; algorithm?: string; size?: number; draw?: number; audit_id?: string; commitment_id?: string;
}

/** firstRecord returns the record of a proof, or of the first of several that have a line each. */
export function firstRecord(text: string): Shown {
  let proof: unknown;
  try {
    proof = JSON.parse(text);
  } catch {
    proof = JSON.parse(text.split('\n', 1)[0]!);
  }
  return JSON.parse((proof as {record: string}).record) as Shown;
}

/** withCommitment adds the proof of the commitment that the first record used. */
export async function withCommitment(proofs: Text): Promise<Text[]> {
  const {kind, commitment_id: made} = firstRecord(proofs.text);
  return made && kind !== 'void' ? [proofs, {name: made, text: await published(path(['audits', made, 'proof']))}] : [proofs];
}

/** proofsOf fetches the proof of a record, and that of the commitment that it used. */
export const proofsOf = async (id: string): Promise<Text[]> => withCommitment({name: id, text: await published(path(['audits', id, 'proof']))});

/** proofsOfShoe fetches the proofs of all records of a shoe, and that of the commitment that it used. */
export const proofsOfShoe = async (id: string): Promise<Text[]> => withCommitment({name: 'shoe', text: await published(path(['shoes', id, 'proof']))});

/** Verdict shows a check: the verdict in a line, then each step. */
export function Verdict({check}: {check: Check}) {
  const parts = (check.proofs?.length ?? 0) > 1 ? check.proofs! : [check];
  return (
    <div role="status">
      <p class={`verdict ${check.verdict}`}>{text(`verdict.${check.verdict}`)}</p>
      {parts.map((part, i) => (
        <div key={i} lang="en">
          <p class={language === 'en' ? '' : 'quiet'}>{part.headline}</p>
          {part.notes.map((note) => <p class="quiet" key={note}>{note}</p>)}
          <ol class="steps">
            {part.steps.map((step, i) => <Shows key={i} step={step} />)}
          </ol>
        </div>
      ))}
    </div>
  );
}

/** Shows is what a step showed, in plain words and in those of the verifier. */
function Shows({step: {name, ok, text: found}}: {step: Step}) {
  const claim = `claim.${name}`;
  return (
    <li class={`step-${ok}`}>
      <span class="mark" role="img" aria-label={text(`step.${ok}`)}>{ok === true ? '✓' : ok === false ? '✗' : '?'}</span>
      <span>
        {hasText(claim) && <strong class="claim" lang={language}>{text(claim)}</strong>}
        <span class="quiet">{name}: {found}</span>
      </span>
    </li>
  );
}
