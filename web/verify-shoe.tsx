// What /verify shows of shoes: what can be checked now and what once the shoe is closed, the cards
// that were drawn, and the way from one record to all others. The id of a shoe lets whoever has it
// draw cards, so it is in no link before the shoe is closed.
import {proofOf, type Shown} from './check';
import {path, Problem, send, text, verifyLink, type Path} from './page';

/** A Shoe is what its id leads to. */
export interface Shoe {
  shoe_id: string;
  audit_id: string;
  status: 'open' | 'closed' | 'expired';
  dealt: number;
  piles: Record<string, {remaining: number}>;
}

/** A Hand is cards that were drawn, and lie together: where the service lists them, and as what. */
export interface Hand {
  place: string[];
  name: string;
}

/** shoeOf returns the id of the first record of the shoe that a record is of, if it is of one. */
export function shoeOf({kind, id, audit_id: of}: Shown): string | undefined {
  if (kind === 'shoe') return id;
  return ['draw', 'add', 'return', 'reshuffle', 'close', 'expire'].includes(kind) ? of : undefined;
}

/** State says what can be checked of a shoe, and offers to check the cards that were drawn. */
export function State({shoe, hand, onHand}: {shoe: Shoe; hand?: Hand; onHand: (hand: Hand) => void}) {
  const hands = [
    {place: ['dealt'], name: text('verify.dealt', shoe.dealt), count: shoe.dealt},
    ...Object.entries(shoe.piles).map(([pile, {remaining}]) => ({
      place: ['piles', pile],
      name: text('verify.pile', pile, remaining),
      count: remaining,
    })),
  ].filter(({count}) => count > 0);
  return (
    <section class="panel">
      <h2>{text(`verify.shoe.${shoe.status}`)}</h2>
      <p>{text(`verify.shoe.${shoe.status}.what`)}</p>
      {shoe.status !== 'closed' && <p class="quiet">{text('verify.shoe.secret')}</p>}
      <h3 id="hands">{text('verify.hands')}</h3>
      {hands.length === 0 ? (
        <p>{text('verify.hands.none')}</p>
      ) : (
        <div class="tabs" role="group" aria-labelledby="hands">
          {hands.map(({place, name}) => (
            <button
              key={String(place)}
              type="button"
              aria-pressed={String(place) === String(hand?.place)}
              onClick={() => onHand({place, name})}
            >
              {name}
            </button>
          ))}
        </div>
      )}
    </section>
  );
}

/** Part says what the record of a shoe shows by itself, and leads to the other records. */
export function Part({id, first, onWhole}: {id: string; first: string; onWhole: (first: string) => void}) {
  return (
    <section class="panel">
      <h2>{text('verify.part')}</h2>
      <p>{text('verify.part.what')}</p>
      <div class="actions">
        <button type="button" onClick={() => onWhole(first)}>
          {text('verify.part.whole')}
        </button>
        {id !== first && (
          <a class="button" href={verifyLink(first)}>
            {text('verify.part.first')}
          </a>
        )}
      </div>
    </section>
  );
}

interface Audits {
  audits: {audit_id: string; record: Shown}[];
  next: number | null;
}

const read = async <T,>(path: Path) => (await (await send(path)).json()) as T;

/** byReference fetches the proof of a whole shoe, whose records can be found without its id if it has a reference. */
export async function byReference(first: string): Promise<string> {
  const {
      record: {reference},
    } = await read<{record: Shown}>(path(['audits', first])),
    ids: string[] = [],
    proofs: string[] = [];
  if (reference === undefined) throw new Problem(0, text('verify.part.none'));
  for (let from: number | null = 0; from !== null; ) {
    const page: Audits = await read(path(['audits'], {reference, from: String(from), limit: '1000'}));
    ids.push(...page.audits.filter(({record}) => shoeOf(record) === first).map(({audit_id: id}) => id));
    from = page.next;
  }
  for (let i = 0; i < ids.length; i += 16) proofs.push(...(await Promise.all(ids.slice(i, i + 16).map(proofOf))));
  return `{"spec":"riffle/1","shoe":[${proofs.join()}]}`;
}
