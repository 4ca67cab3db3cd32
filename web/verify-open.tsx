// Opens the seeds of commitments with time locks on /verify, with the signatures that a reader brings: the page asks
// no other server. With it, what used the commitment can be checked, or the order that was not dealt is shown.
import {useEffect, useState} from 'preact/hooks';
import {filesOf, isSignature, QUICKNET, roundOf, timeOf, traceText, whyNotJoined} from '../verifiers/riffle.mjs';
import type {Shown} from './check';
import type {Sealed} from './open';
import {shortTime, text} from './page';
import {roleOf, type Given} from './verify-given';

/** A Proof is a proof file, unchecked. */
interface Proof {
  file: {record: string; seed: string | null; client_seed: string};
  record: Shown & {beacon?: string};
}

/** A Locked is the proof of a commitment with a time lock, and the proofs of what used it whose seeds are held back. */
interface Locked {
  proof: Proof & {record: Sealed};
  users: Proof[];
}

const proofsIn = async (given: Given) =>
  roleOf(given) === 'proof' ? ((await filesOf(given.text)) as (Proof | undefined)[]) : [];

/** lockedIn returns the commitments among texts whose seeds can be opened, if their rounds are known. */
async function lockedIn(texts: Given[]): Promise<Locked[]> {
  const proofs = (await Promise.all(texts.map(proofsIn))).flat().filter((proof) => proof !== undefined),
    isLock = ({record}: Proof) => roundOf((record as Sealed).opens_at ?? '') !== undefined,
    isFirst = ({record}: Proof, i: number) => proofs.findIndex((other) => other.record.id === record.id) === i;
  return proofs
    .filter((proof, i) => isLock(proof) && isFirst(proof, i))
    .map((proof) => ({proof: proof as Locked['proof'], users: proofs.filter((user) => isUser(user, proof.record.id))}));
}

const isUser = ({file, record}: Proof, id: string) =>
  record.commitment_id === id && record.kind !== 'void' && file.seed === null;

/** withSeed returns a text with the seed of a commitment in the proofs of what used that. */
async function withSeed(given: Given, id: string, seedOf: (round?: number) => string): Promise<Given> {
  const proofs = await proofsIn(given);
  if (!proofs.some((proof) => proof && isUser(proof, id))) return given;
  const files = proofs.map(
    (proof) => proof && (isUser(proof, id) ? {...proof.file, seed: seedOf(proof.record.round)} : proof.file),
  );
  if (files.includes(undefined)) return given; // the verdict says what is wrong with it
  return {...given, text: files.map((file) => `${JSON.stringify(file)}\n`).join('')};
}

/** orderOf returns the order that a seed and a client seed lead to, or nothing if it takes too long. */
async function orderOf({file, record: made}: Locked['proof'], seed: string, clientSeed: string) {
  const {commitmentOf} = await import('./open'),
    commitment = commitmentOf(made, seed);
  const record: Record<string, unknown> = {...made, kind: 'shuffle', client_seed: clientSeed, commitment};
  for (const name of ['deadline', 'opens_at', 'sealed_seed', 'beacon', 'players', 'count']) delete record[name];
  const shuffle = {...file, record: JSON.stringify(record), seed, client_seed: clientSeed};
  const {orders, cards} = (await traceText(JSON.stringify(shuffle))) as {
    orders?: number[][];
    cards?: {text: (number: number) => string};
  };
  return orders?.[0]?.map((number) => cards?.text(number) ?? String(number));
}

/** signatureIn returns the signature in what was pasted: the digits alone, or the answer of a relay. */
const signatureIn = (pasted: FormDataEntryValue | null) =>
  /(?<![0-9a-f])[0-9a-f]{96}(?![0-9a-f])/.exec(String(pasted).toLowerCase().replace(/\s|0x/g, ''))?.[0] ?? '';

/** Locks offers to open the seeds of commitments among texts once their rounds are published. */
export function Locks({texts, onOpened}: {texts: Given[]; onOpened: (texts: Given[]) => void}) {
  const [found, setFound] = useState<Locked[]>([]);
  useEffect(() => {
    let isCurrent = true;
    void lockedIn(texts).then((found) => isCurrent && setFound(found));
    return () => {
      isCurrent = false;
    };
  }, [texts]);
  return found.map((locked) => (
    <Lock
      key={locked.proof.record.id}
      locked={locked}
      onSeed={async (seedOf) => {
        const {id} = locked.proof.record;
        onOpened(await Promise.all(texts.map((given) => withSeed(given, id, seedOf))));
      }}
    />
  ));
}

function Lock({
  locked: {proof, users},
  onSeed,
}: {
  locked: Locked;
  onSeed: (seedOf: (round?: number) => string) => Promise<void>;
}) {
  const [said, setSaid] = useState<{verdict: string; text: string; seed?: string; order?: string}>();
  const {record} = proof,
    round = roundOf(record.opens_at)!,
    time = timeOf(round),
    last = proof.record.beacon;
  if (time === '~') return null; // after the year 9999
  const opens = text('lock.opens', record.opens_at, shortTime(time), record.id);
  if (time > new Date().toISOString()) return <p class="lock">{opens}</p>;
  const submit = async (event: Event) => {
    event.preventDefault();
    const form = new FormData(event.target as HTMLFormElement),
      signature = signatureIn(form.get('signature')),
      number = record.count && Number(form.get('round'));
    if (!(await isSignature(signature, round)))
      return setSaid({verdict: 'unchecked', text: text('lock.signature', record.opens_at)});
    const {open, roundSeed} = await import('./open'),
      seed = await open(record, signature);
    if (seed === undefined) return setSaid({verdict: 'false', text: text('lock.false')});
    const seedOf = (round?: number) => (round ? roundSeed(seed, round) : seed);
    if (users.length > 0) return onSeed(seedOf);
    const own = seedOf(number),
      given = form.get('client_seed'),
      clientSeed = last ? signatureIn(given) : String(given);
    let order: string | undefined;
    const made = record as Sealed & {players?: Record<string, string>};
    if (last && given && !(await isSignature(clientSeed, roundOf(last)))) order = text('lock.signature', last);
    else if (made.players && given && (await whyNotJoined({client_seed: clientSeed, joined: undefined}, made)))
      order = text('lock.players');
    else if (clientSeed)
      order = [text('lock.order'), ...((await orderOf(proof, own, clientSeed)) ?? [text('lock.long')])].join(' ');
    setSaid({verdict: 'verified', text: text('lock.seed'), seed: own, order});
  };
  return (
    <form class="lock" onSubmit={(event) => void submit(event)}>
      <p>{opens}</p>
      <label>
        {text('lock.paste', record.opens_at)}
        <textarea name="signature" rows={2} spellcheck={false} required />
      </label>
      <p class="quiet">
        {text('lock.relay')}{' '}
        <code>
          https://api.drand.sh/{QUICKNET.chain}/public/{String(round)}
        </code>
      </p>
      {users.length === 0 && record.count && (
        <label>
          {text('lock.round', record.count)}
          <input name="round" type="number" min={1} max={record.count} defaultValue="1" required />
        </label>
      )}
      {users.length === 0 && (
        <label>
          {last ? text('lock.beacon', last) : text('lock.client')}
          <input name="client_seed" autocomplete="off" />
        </label>
      )}
      <div class="actions">
        <button>{text('lock.open')}</button>
      </div>
      <div role="status">
        {said && <p class={`verdict ${said.verdict}`}>{said.text}</p>}
        {said?.seed && (
          <p>
            <code>{said.seed}</code>
          </p>
        )}
        {said?.order && <p class="order">{said.order}</p>}
      </div>
    </form>
  );
}
