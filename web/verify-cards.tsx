// The cards of what /verify checked: hands as they lay on the table, entries in the order drawn, or backs while the
// seed is secret. Orders are calculated here from the proof; of the service it takes the pictures of whole decks.
import {useEffect, useState} from 'preact/hooks';
import {traceText} from '../verifiers/riffle.mjs';
import type {Check, Shown as Recorded} from './check';
import {cardNames, deckTypes, partsOf, type DeckType} from './decks';
import {text} from './page';
import {Back, most, type Dealing} from './table/cards';
import {Hands, type Deal} from './table/hands';
import type {Texts} from './verify-given';

/** mostReplayed is the largest deck that is dealt again to be shown. */
const mostReplayed = 4096;

/** A Laid is a deal with the type of its deck, if it is of one. Its cards are hidden while the seed is secret. */
interface Laid extends Deal {
  deck?: string;
  name?: string;
  isHidden?: boolean;
}

interface Traced {
  record?: {kind: string; input: string; size: number; hands?: number[]; repeat?: number};
  orders?: number[][];
  cards?: {text: (number: number) => string};
  steps: {name: string; state: string}[];
}

const deckOf = (input: string) => /^deck (\S+)/.exec(input)?.[1];

/** shownOf returns an entry for readers: text without its quotes. */
function shownOf(entry: string): string {
  try {
    const value: unknown = JSON.parse(entry);
    return typeof value === 'string' ? value : entry;
  } catch {
    return entry; // the code of a card
  }
}

/** laidOf returns what a proof deals, if it is of something that is dealt. */
async function laidOf({verdict, summary, records}: Check, texts: Texts): Promise<Laid | undefined> {
  const [first] = records,
    isFalse = verdict === 'false' && summary.step !== 'order';
  if (!first || !['shuffle', 'shoe'].includes(first.kind) || isFalse || summary.id === 'refused') return undefined;
  if ((first.size ?? 0) > mostReplayed) return undefined;
  const {proof, hand, items, salt} = texts;
  if (hand && first.kind === 'shoe') return handOf(hand.text, first);
  const {record, orders, cards, steps} = (await traceText(proof!.text, {
    items: items?.text,
    salt: salt?.text,
  })) as Traced;
  if (!record || steps.some(({state}) => state === 'wrong')) return undefined;
  const {kind, input, size, hands: sizes = [], repeat = 1} = record,
    deck = deckOf(input);
  if (!orders) return {deck, hands: [], rest: [], size, isHidden: true};
  // Of a list the record has only a digest: where the drawn entries stand in it is all that the proof says.
  const codes = orders[0]!.map((number) =>
    cards ? shownOf(cards.text(number)) : text('verify.cards.place', number + 1),
  );
  const starts = sizes.map((_, i) => sizes.slice(0, i).reduce((sum, size) => sum + size, 0)),
    hands = sizes.map((count, i) => codes.slice(starts[i], starts[i]! + count));
  return {
    deck: cards && deck,
    hands,
    rest: codes.slice(hands.flat().length),
    size,
    name: !cards
      ? text('verify.cards.places')
      : kind === 'shoe'
        ? text('verify.cards.shoe')
        : repeat > 1
          ? text('verify.cards.first', repeat)
          : undefined,
  };
}

/** handOf returns the cards of a hand of a shoe. */
function handOf(hand: string, {input}: Recorded): Laid {
  interface Card {
    code?: string;
    item?: unknown;
    card: number;
  }
  const given = JSON.parse(hand) as {cards?: Card[]} | Card[] | Card;
  const cards = 'cards' in given ? given.cards! : [given as Card[] | Card].flat();
  const rest = cards.map(({code, item, card}) => code ?? shownOf(JSON.stringify(item ?? card)));
  return {deck: deckOf(input ?? ''), hands: [], rest, size: rest.length};
}

/** Shown is the deal on the felt. lit is the number of the reader's hand, from 1. */
export function Shown({
  check,
  texts,
  lit,
  onLit,
}: {
  check: Check;
  texts: Texts;
  lit?: number;
  onLit: (hand: number) => void;
}) {
  const [laid, setLaid] = useState<Laid & {dealing?: Dealing}>();
  useEffect(() => {
    setLaid(undefined);
    void (async () => {
      const laid = await laidOf(check, texts);
      if (!laid) return;
      const dealing = laid.deck && (await dealingOf(laid.deck).catch(() => undefined)); // the network may be gone
      setLaid(dealing ? {...laid, dealing} : laid);
    })().catch(() => {}); // the verdict says what is wrong
  }, [check]);
  if (!laid) return null;
  const {dealing, hands, rest, size, name, isHidden} = laid;
  const {hand} = check.summary,
    parts = dealing
      ? partsOf(
          dealing.type,
          hands.map(({length}) => length),
        )
      : [],
    players = hands.slice(0, hands.length - parts.length),
    own = typeof hand === 'number' ? hand : lit;
  return (
    <>
      {players.length > 1 && players.length <= 20 && (
        <div class="tabs which" role="group" aria-labelledby="which">
          <span id="which">{text('verify.which')}</span>
          {players.map((_, i) => (
            <button key={i} type="button" aria-pressed={i + 1 === own} onClick={() => onLit(i + 1)}>
              {i + 1}
            </button>
          ))}
        </div>
      )}
      <section class="felt" aria-label={text('table.cards')}>
        {name && <h3>{name}</h3>}
        {isHidden && dealing ? (
          <>
            <ul class="fan" style={`--before: ${Math.min(size, 13) - 1}`}>
              {Array.from({length: Math.min(size, 13)}, (_, i) => (
                <li key={i}>
                  <Back type={dealing.type} alt="" />
                </li>
              ))}
            </ul>
            <p>{text('verify.hidden')}</p>
          </>
        ) : isHidden ? (
          <p>{text('verify.hidden')}</p>
        ) : dealing ? (
          <Hands {...dealing} hands={hands} parts={parts} rest={rest} size={size} lit={own && own - 1} />
        ) : (
          [...hands, rest].map((entries, i) => <Entries key={i} entries={entries} isLit={i + 1 === own} />)
        )}
      </section>
    </>
  );
}

/** dealingOf returns a deck type, with the names of its cards. */
async function dealingOf(name: string): Promise<Dealing | undefined> {
  const [types, names] = await Promise.all([deckTypes(), cardNames(name)]),
    type = types.find(({type}: DeckType) => type === name);
  return type && {type, names};
}

/** Entries lists what is no card, in the order drawn. */
function Entries({entries, isLit}: {entries: string[]; isLit: boolean}) {
  if (entries.length === 0) return null;
  return (
    <div class={isLit ? 'hand lit' : 'hand'}>
      <ol class="entries">
        {entries.slice(0, most).map((entry, i) => (
          <li key={i}>{entry}</li>
        ))}
      </ol>
      {entries.length > most && <p>{text('table.more', entries.length - most)}</p>}
    </div>
  );
}
