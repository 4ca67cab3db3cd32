// Opens the seed of a commitment with a time lock on /verify, with the signature that a reader brings: the page asks
// no other server. With it, what used the commitment can be checked, or the order that was not dealt is shown.
import {useState} from 'preact/hooks';
import {isSignature, roundOf, statementOf, timeOf, traceText} from '../verifiers/riffle.mjs';
import {recordsOf} from './check';
import type {Sealed} from './open';
import {shortTime, text} from './page';
import {roleOf, type Given} from './verify-given';

/** lockOf returns the record of a commitment among texts whose seed can be opened, if its round is known. */
function lockOf(texts: Given[]): Sealed | undefined {
  const records = texts.filter((given) => roleOf(given) === 'proof').flatMap(recordsOf) as Partial<Sealed>[];
  const found = records.find(({opens_at: round, sealed_seed: sealed}) => sealed && round && roundOf(round));
  return found as Sealed | undefined;
}

/** User is the proof of what used a commitment: its text, the first proof of it, and what follows that. */
interface User {
  given: Given;
  first: {seed: string | null};
  rest: string;
}

/** userOf returns the proof among texts of what used a commitment, if its seed is held back. */
function userOf(texts: Given[], {id}: Sealed): User | undefined {
  for (const given of texts.filter((given) => roleOf(given) === 'proof')) {
    const [record] = recordsOf(given);
    if (record?.commitment_id !== id || record?.kind === 'void') continue;
    const end = isJSON(given.text) ? given.text.length : given.text.indexOf('\n'), // of a shoe there are many
      first = JSON.parse(given.text.slice(0, end)) as User['first'];
    if (first.seed === null) return {given, first, rest: given.text.slice(end)};
  }
  return undefined;
}

function isJSON(text: string): boolean {
  try {
    return JSON.parse(text) !== undefined;
  } catch {
    return false;
  }
}

/** orderOf returns the order that a seed and a client seed lead to. */
async function orderOf(texts: Given[], made: Sealed, seed: string, clientSeed: string): Promise<string[]> {
  const proof = texts.find((given) => recordsOf(given)[0]?.id === made.id)!,
    digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(statementOf(made, seed)));
  const {deadline, opens_at, sealed_seed, beacon, count, ...statement} = made as Sealed & Record<string, unknown>;
  const record = {
    ...statement,
    kind: 'shuffle',
    client_seed: clientSeed,
    commitment: Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join(''),
  };
  const file = {...(JSON.parse(proof.text) as object), record: JSON.stringify(record), seed, client_seed: clientSeed};
  const {orders, cards} = (await traceText(JSON.stringify(file))) as {
    orders?: number[][];
    cards?: {text: (number: number) => string};
  };
  return (orders?.[0] ?? []).map((number) => cards?.text(number) ?? String(number));
}

/** Lock offers to open the seed of a commitment among texts once its round is published. */
export function Lock({texts, onOpened}: {texts: Given[]; onOpened: (proof: Given, opened: string) => void}) {
  const record = lockOf(texts),
    [said, setSaid] = useState<{verdict: string; text: string; seed?: string; order?: string[]}>();
  if (!record) return null;
  const round = roundOf(record.opens_at)!,
    time = timeOf(round),
    user = userOf(texts, record);
  const opens = text('lock.opens', record.opens_at, shortTime(time));
  if (time > new Date().toISOString()) return <p class="lock">{opens}</p>;
  const submit = async (event: Event) => {
    event.preventDefault();
    const form = new FormData(event.target as HTMLFormElement),
      signature = /\b[0-9a-f]{96}\b/.exec(String(form.get('signature')))?.[0] ?? '',
      clientSeed = String(form.get('client_seed') ?? ''),
      number = Number(form.get('round') ?? 1);
    if (!(await isSignature(signature, round)))
      return setSaid({verdict: 'unchecked', text: text('lock.signature', record.opens_at)});
    const {open, roundSeed} = await import('./open'),
      seed = await open(record, signature);
    if (seed === undefined) return setSaid({verdict: 'false', text: text('lock.false')});
    if (user) {
      const used = recordsOf(user.given)[0]!.round,
        first = {...user.first, seed: used ? roundSeed(seed, used) : seed};
      return onOpened(user.given, JSON.stringify(first) + user.rest);
    }
    const own = record.count ? roundSeed(seed, number) : seed;
    const order = clientSeed ? await orderOf(texts, record, own, clientSeed) : undefined;
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
          https://api.drand.sh/{chain}/public/{String(round)}
        </code>
      </p>
      {!user && record.count && (
        <label>
          {text('lock.round', record.count)}
          <input name="round" type="number" min={1} max={record.count} defaultValue="1" required />
        </label>
      )}
      {!user && (
        <label>
          {text('lock.client')}
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
        {said?.order && (
          <p>
            {text('lock.order')} <code>{said.order.join(' ')}</code>
          </p>
        )}
      </div>
    </form>
  );
}

const chain = '52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971';
