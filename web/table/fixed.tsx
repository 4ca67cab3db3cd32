// The commitment that fixes an order before the player cuts, and its fingerprint.
import {useEffect, useRef, useState} from 'preact/hooks';
import {check, keyOfLog, proofsOf} from '../check';
import {path, post, text, verifyLink} from '../page';

/** A Commitment is the answer of POST /commitments, as far as this page uses it. */
export interface Commitment {
  commitment_id: string;
  commitment: string;
  deadline: string;
}

interface Made {
  setting: string;
  answer: Promise<Commitment | undefined>;
}

/** soon is the time in milliseconds that a deal may take. A commitment with less time left is replaced. */
const soon = 10_000;

async function commitTo(setting: string): Promise<Commitment | undefined> {
  try {
    return (await (await post(path(['commitments']), JSON.parse(setting))).json()) as Commitment;
  } catch {
    return undefined; // a deal needs none, and says why if it is refused as well
  }
}

/** settingOf returns what a commitment fixes of a request: all but the cut. */
const settingOf = ({client_seed: _, ...setting}: {client_seed?: string}) => JSON.stringify(setting);

/**
 * useCommitment returns the fingerprint of the commitment to the next deal, or "", and the functions that make it, use
 * it and drop it. A commitment that is dropped is never used: after its deadline the log records it as void.
 */
export function useCommitment() {
  const made = useRef<Made | undefined>(undefined);
  const [fingerprint, setFingerprint] = useState('');
  const make = (body: object): Promise<Commitment | undefined> => {
    const setting = settingOf(body);
    if (made.current?.setting === setting) return made.current.answer;
    const next = {setting, answer: commitTo(setting)};
    made.current = next;
    setFingerprint('');
    void next.answer.then((answer) => {
      if (made.current === next) setFingerprint(answer?.commitment ?? '');
    });
    return next.answer;
  };
  const drop = () => {
    made.current = undefined;
    setFingerprint('');
  };
  return {
    fingerprint,
    make,
    drop,
    /** use returns the commitment to a request, for one deal. */
    use: async (body: object): Promise<Commitment | undefined> => {
      let answer = await make(body);
      if (answer && Date.parse(answer.deadline) < Date.now() + soon) {
        drop();
        answer = await make(body);
      }
      return answer;
    },
    /** changed drops a commitment to another setting. */
    changed: (body: object) => {
      if (made.current && made.current.setting !== settingOf(body)) drop();
    },
  };
}

/** short returns the beginning of a digest, which is enough to recognize it. */
const short = (digest: string) => digest.slice(0, 16).replace(/(.{4})(?!$)/g, '$1 ');

/** Fingerprint shows the fingerprint of an order that is fixed. */
export function Fingerprint({name, digest}: {name: 'table.fixed' | 'table.fixed.next'; digest: string}) {
  return (
    <p class="fingerprint">
      {text(name)} <code title={digest}>{short(digest)}</code>
    </p>
  );
}

/** Opened shows the fingerprint of a deal, and whether the seed, the record and the cards belong to it. */
export function Opened({digest, id, json}: {digest: string; id: string; json: string}) {
  const [verdict, setVerdict] = useState<'verified' | 'false' | 'unchecked'>();
  useEffect(() => {
    void (async () => {
      const [proofs, key] = await Promise.all([proofsOf(id), keyOfLog()]),
        result = await check(proofs, {key, order: json});
      // The verifier knows the commitment in the log; the page knows the one that it showed.
      const isShown = (JSON.parse(json) as {commitment: string}).commitment === digest;
      setVerdict(isShown ? result.verdict : 'false');
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
