// Hands as they lie on a table: four around it, others in rows. What mahjong deals from is a wall.
import {useState} from 'preact/hooks';
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

/** Hands shows a deal. The hand with the number lit, from 0, is marked. */
export function Hands({hands, parts = [], rest, size, lit, ...dealing}: Dealing & Deal & {lit?: number}) {
  const {family} = dealing.type,
    taken = hands.flat().length,
    isWall = family === 'mahjong' && size <= mostTiles,
    canSort = !['roles', 'dominoes', 'set'].includes(family) && hands.some((hand) => hand.length > few - 3);
  const [isSorted, sort] = useState(family === 'french' || family === 'latin');
  const places: Place[] = Array.from({length: size}, (_, i) => {
    if (i < taken) return 'gap';
    const code = rest[i - taken];
    return code === undefined ? 'down' : {code};
  });
  const isMany = hands.every(({length}) => length < 3);
  const isTable = hands.length === 4 && parts.length === 0 && canSort && !isWall;
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
      {family === 'roles' && <p>{text('table.turn.hint')}</p>}
      {hands.length > 0 && (
        <div class={`hands${isTable ? ' seats' : isWall ? ' racks' : isMany ? ' many' : ''}`}>
          {hands.map((cards, i) => {
            from += cards.length;
            return (
              <section key={i} class={i === lit ? 'hand lit' : 'hand'}>
                <h3>
                  {parts[i - hands.length + parts.length] ?? text('table.hand', i + 1)}
                  {isTable && <span class="seat">{text(`table.seat.${(i % 4) as 0 | 1 | 2 | 3}`)}</span>}
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
        </div>
      )}
      {!isWall && rest.length > 0 && <Rest cards={rest} isAlone={hands.length === 0} from={from} {...dealing} />}
      {isWall && <Wall places={places} {...dealing} />}
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
