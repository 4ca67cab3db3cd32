// What the log has of a shoe: its records, and once it is closed its seeds and the check of all of it.
import {Fragment} from 'preact';
import {useEffect, useState} from 'preact/hooks';
import {check, keyOfLog, proofOfShoe, Verdict, type Check} from '../check';
import {counted, text, verifyLink} from '../page';
import {recordOf, type Change, type Logged, type Owned} from './owner';

/** recordsOf returns the records that the proof of a whole shoe has. */
function recordsOf(proof: string): Logged[] {
  const {shoe} = JSON.parse(proof) as {shoe: {record: string; seed: string | null}[]};
  return shoe.map(({record, seed}) => ({...(JSON.parse(record) as Logged), seed}));
}

interface Properties {
  owned: Owned;
  busy: boolean;
  change: Change;
  onLook: () => void;
}

/** History shows the records of a shoe. All are read if several are new, or the shoe was closed. */
export function History({owned, busy, change, onLook}: Properties) {
  const [records, setRecords] = useState<Logged[]>([]);
  const {state} = owned,
    {shoe_id: id, version, status} = state,
    missing = version - records.length;
  useEffect(() => {
    if (missing === 0 && status !== 'closed') return;
    const more = async () =>
      missing === 1 && status !== 'closed'
        ? [...records, await recordOf(state.changed_by)]
        : recordsOf(await proofOfShoe(id));
    more()
      .then(setRecords)
      .catch(() => {}); // it is asked for again as soon as the shoe is
  }, [owned]);
  return (
    <section class="panel">
      <h2>{text('shoe.record')}</h2>
      <dl class="facts">
        <dt>{text('table.auditId')}</dt>
        <dd>
          <a href={verifyLink(state.audit_id)}>{state.audit_id}</a>
        </dd>
        <dt>{text('table.place')}</dt>
        <dd>{state.log_index}</dd>
        <dt>{text('shoe.version')}</dt>
        <dd>{version}</dd>
        <dt>{text('table.commitment')}</dt>
        <dd>{state.commitment}</dd>
        {state.root !== null && (
          <>
            <dt>{text('explore.root')}</dt>
            <dd>{state.root}</dd>
          </>
        )}
        {records
          .filter(({seed, kind}) => seed && kind !== 'draw')
          .map(({id, seed}, i) => (
            <Fragment key={id}>
              <dt>
                {text('table.seed')} {i + 1}
              </dt>
              <dd>{seed}</dd>
            </Fragment>
          ))}
      </dl>
      <h3>{text('shoe.moves')}</h3>
      <ol class="moves">
        {records.map((record) => (
          <li key={record.id}>
            {described(record)} <a href={verifyLink(record.id)}>{text('shoe.proof')}</a>
          </li>
        ))}
      </ol>
      {status === 'closed' ? <Whole id={id} /> : <p class="quiet">{text('shoe.close.why')}</p>}
      <div class="actions">
        {status !== 'closed' && (
          <button type="button" disabled={busy} onClick={() => change(['close'], {})}>
            {text('shoe.close')}
          </button>
        )}
        <button type="button" disabled={busy} onClick={onLook}>
          {text('explore.refresh')}
        </button>
        <a class="button" href="#shoe">
          {text('shoe.another')}
        </a>
      </div>
      <p class="quiet">{text(state.status === 'open' ? 'shoe.secret' : 'shoe.secret.over')}</p>
    </section>
  );
}

/** Whole checks all of a closed shoe in this browser, by its proof alone. */
function Whole({id}: {id: string}) {
  const [result, setResult] = useState<{check: Check; proof: string}>();
  const [problem, setProblem] = useState('');
  const [busy, setBusy] = useState(false);
  const run = () => {
    setBusy(true);
    setProblem('');
    void (async () => {
      const proof = await proofOfShoe(id);
      setResult({check: await check(proof, {key: await keyOfLog()}), proof});
    })()
      .catch((error: unknown) => setProblem((error as Error).message))
      .finally(() => setBusy(false));
  };
  return (
    <>
      <div class="actions">
        <button type="button" class="main" disabled={busy} onClick={run}>
          {text('shoe.check')}
        </button>
      </div>
      {problem !== '' && <p role="alert">{problem}</p>}
      {result && (
        <>
          <Verdict check={result.check} />
          <p>
            <a
              download="shoe-proof.json"
              href={`data:application/json;charset=utf-8,${encodeURIComponent(result.proof)}`}
            >
              {text('shoe.save')}
            </a>{' '}
            <a href="/verify">{text('menu.verify')}</a>
          </p>
        </>
      )}
    </>
  );
}

/** placeOf returns how a place of a record is called. */
function placeOf(place = ''): string {
  if (place === 'shoe' || place === 'dealt' || place === 'all' || place === 'out') return text(`shoe.place.${place}`);
  return text('shoe.place.pile', place.slice('pile '.length));
}

/** countOf returns the number of cards in a list of runs such as "1:0-1 7:5". */
const countOf = (cards: string) =>
  cards.split(' ').reduce((sum, run) => {
    const [first, last = first] = run
      .slice(run.indexOf(':') + 1)
      .split('-')
      .map(Number) as [number, number?];
    return sum + Math.abs(last - first) + 1;
  }, 0);

/** described says what a record is about. */
function described({kind, from, taken, cards, to, size, cut}: Logged): string {
  const count = cards ? countOf(cards) : 0;
  if (kind === 'shoe' || kind === 'reshuffle') {
    return (
      (kind === 'shoe' ? text('shoe.made', size!) : text('shoe.shuffled', size!, placeOf(from))) +
      (cut === undefined ? '' : ` ${counted('shoe.made.cut', cut)}`)
    );
  }
  if (kind === 'draw' && taken !== 'cards')
    return text(`shoe.drawn.${taken as 'top'}`, count, placeOf(from), placeOf(to));
  if (kind === 'draw' || kind === 'add' || kind === 'return')
    return text('shoe.put.done', count, placeOf(from), placeOf(to));
  return kind === 'close' ? text('shoe.done.close') : text('shoe.done.expire');
}
