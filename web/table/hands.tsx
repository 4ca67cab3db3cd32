// Hands as they lie on a table: four around it, roles in a ring, others in rows. What mahjong deals from is a wall in
// the middle.
import {useState} from 'preact/hooks';
import type {DeckType} from '../decks';
import {text} from '../page';
import {Cards, type Dealing} from './cards';
import {mostTiles, Wall, type Place} from './wall';

/** A Deal has the hands and the rest of a deck of so many cards. The last hands are parts of a game, such as a flop. */
export interface Deal {
  hands: string[][];
  parts?: string[];
  rest: string[];
  size: number;
}

/** few is the number of cards up to which a rest is not folded. */
const few = 8;

const suits = 'SHCD',
  ranks = 'AKQJT98765432';

/** sorted returns a hand as players hold it: French cards by suit and rank, others in the order of the deck. */
function sorted(codes: string[], {type, names}: Dealing): string[] {
  const deck = [...names.keys()];
  const place = (code: string) =>
    type.family === 'french' ? 100 * suits.indexOf(code.slice(-1)) + ranks.indexOf(code[0]!) : deck.indexOf(code);
  return codes.toSorted((a, b) => place(a) - place(b));
}

/** seatOf returns the seat of a hand: the first of bridge is North, and that of mahjong East. Other games have none. */
const seatOf = (hand: number, isMahjong: boolean) => ((hand + (isMahjong ? 1 : 0)) % 4) as 0 | 1 | 2 | 3;

/** isWall reports whether a deck of so many cards lies as a wall. */
const isWall = ({family}: DeckType, size: number) => family === 'mahjong' && size <= mostTiles;

/** Hands shows a deal. The hand with the number lit, from 0, is marked. */
export function Hands({hands, parts = [], rest, size, lit, ...dealing}: Dealing & Deal & {lit?: number}) {
  const {family} = dealing.type,
    hasWall = isWall(dealing.type, size),
    canSort = !['roles', 'dominoes', 'set'].includes(family) && hands.some((hand) => hand.length > few - 3);
  const [isSorted, sort] = useState(family === 'french' || family === 'latin');
  const walls = hasWall && parts.length > 0 ? hands.slice(-parts.length) : [],
    players = hands.slice(0, hands.length - walls.length),
    taken = players.flat().length,
    left = [...walls.flat(), ...rest];
  const places: Place[] = Array.from({length: size}, (_, i) => {
    if (i < taken) return 'gap';
    const code = left[i - taken];
    return code === undefined ? 'down' : {code};
  });
  const isMany = hands.every(({length}) => length < 4),
    isRing = family === 'roles' && hands.length > 2 && hands.every(({length}) => length === 1),
    isBridge = dealing.type.hands?.some(({name}) => name === 'bridge') && players.every(({length}) => length === 13),
    isTable = players.length === 4 && (hasWall || (parts.length === 0 && canSort));
  const layout = isRing ? 'many ring-of' : hasWall ? 'racks' : isMany ? 'many' : '';
  const wall = hasWall && (
    <Wall places={places} dead={walls.at(1)?.length ?? dealing.type.dead_wall ?? 0} {...dealing} />
  );
  let from = 0;
  return (
    <>
      {canSort && (
        <div class="tabs sorting">
          <button type="button" aria-pressed={isSorted} onClick={() => sort(true)}>
            {text('table.sorted')}
          </button>
          <button type="button" aria-pressed={!isSorted} onClick={() => sort(false)}>
            {text('table.dealt')}
          </button>
        </div>
      )}
      {family === 'roles' && !isRing && <p>{text('table.turn.hint')}</p>}
      {hands.length > 0 && (
        <div
          class={`hands ${layout}${isTable ? ' seats' : ''}`}
          style={isRing ? `--count: ${hands.length}` : undefined}
        >
          {isRing && <p>{text('table.turn.hint')}</p>}
          {players.map((cards, i) => {
            from += cards.length;
            return (
              <section key={i} class={i === lit ? 'hand lit' : 'hand'} style={isRing ? `--place: ${i}` : undefined}>
                <h3
                  aria-label={
                    isRing ? text('table.hand', i + 1) + (i === lit ? `, ${text('table.yours')}` : '') : undefined
                  }
                >
                  {isRing ? i + 1 : (parts[i - hands.length + parts.length] ?? text('table.hand', i + 1))}
                  {isTable && (hasWall || isBridge) && (
                    <span class="seat">{text(`table.seat.${seatOf(i, hasWall)}`)}</span>
                  )}
                  {i === lit && <strong>{text('table.yours')}</strong>}
                </h3>
                <Cards
                  codes={canSort && isSorted ? sorted(cards, dealing) : cards}
                  {...dealing}
                  from={from - cards.length}
                />
              </section>
            );
          })}
          {isTable && wall}
        </div>
      )}
      {!hasWall && rest.length > 0 && <Rest cards={rest} isAlone={hands.length === 0} from={from} {...dealing} />}
      {!isTable && wall}
    </>
  );
}

/** Rest shows what no hand got. */
function Rest({cards, isAlone, from, ...dealing}: Dealing & {cards: string[]; isAlone: boolean; from: number}) {
  const row = <Cards codes={cards} {...dealing} from={from} />;
  if (isAlone) return row;
  if (cards.length <= few)
    return (
      <section class="hand">
        <h3>{text('table.rest')}</h3>
        {row}
      </section>
    );
  return (
    <details class="rest">
      <summary>{text('table.rest.folded', cards.length)}</summary>
      {row}
    </details>
  );
}
