// The commitment that fixes an order before the player's cut is sent, and its fingerprint.
import {useEffect, useState} from 'preact/hooks';
import {check, keyOfLog, proofOf} from '../check';
import {path, post, text, verifyLink} from '../page';

/** A Commitment is the answer of POST /commitments, as far as this page uses it. */
interface Commitment {
  commitment_id: string;
  commitment: string;
}

/**
 * commitTo makes the commitment to a deal, which fixes all but the cut. It is used at once: one that is not is void
 * after its deadline, and the log says so.
 */
export async function commitTo({client_seed: _, ...setting}: {client_seed?: string}): Promise<Commitment | undefined> {
  try {
    return (await (await post(path(['commitments']), setting)).json()) as Commitment;
  } catch {
    return undefined; // a deal needs none, and says why if it is refused as well
  }
}

/** short returns the beginning of a digest, which is enough to recognize it. */
const short = (digest: string) => digest.slice(0, 16).replace(/(.{4})(?!$)/g, '$1 ');

/** Opened shows the fingerprint of a deal, and whether the seed, the record and the cards belong to it. */
export function Opened({digest, id, json}: {digest: string; id: string; json: string}) {
  const [verdict, setVerdict] = useState<'verified' | 'false' | 'unchecked'>();
  useEffect(() => {
    void (async () => {
      const [proof, key] = await Promise.all([proofOf(id), keyOfLog()]),
        result = await check(proof, {key, answer: json});
      // The verifier knows the commitment in the log; the page, the one before the cut was sent.
      const isSame = (JSON.parse(json) as {commitment: string}).commitment === digest;
      setVerdict(isSame ? result.verdict : 'false');
    })().catch(() => setVerdict('unchecked')); // the record below it can be checked again
  }, [digest, id, json]);
  return (
    <p class="fingerprint">
      {text('table.opened')} <code title={digest}>{short(digest)}</code>{' '}
      {verdict && (
        <a class={verdict} href={verifyLink(id)}>
          {text(`table.opened.${verdict}`)}
        </a>
      )}
    </p>
  );
}
