// The cards of one pile, in the open or face down.
import {useState} from 'preact/hooks';
import {text} from '../page';
import {Back, classOf, delayOf, Face, most, type Dealing} from './cards';
import type {Card, Change, Pile as Cards} from './owner';

/** burnt is the pile of cards that nobody looks at. */
export const burnt = 'burn';

interface Properties {
  pile: Cards;
  dealing?: Dealing;
  chosen: number[];
  onChoose?: (card: number) => void;
  busy?: boolean;
  change?: Change;
}

/** Pile shows a pile with what can be done with it. Burnt cards and roles lie face down at first. */
export function Pile({pile: {name, cards}, dealing, chosen, onChoose, busy, change}: Properties) {
  const hides = dealing !== undefined && (name === burnt || dealing.type.family === 'roles');
  const [shown, show] = useState(!hides);
  const place = name === '' ? [] : ['piles', name];
  return (
    <section class="pile">
      <h2>
        {name === '' ? text('shoe.dealt') : name} ({cards.length})
      </h2>
      {cards.length > 0 && (
        <>
          <ul class={classOf(dealing?.type.family, cards.length)}>
            {cards.slice(0, most).map((card, i) => (
              <li key={card.card} style={delayOf(i)}>
                {!shown ? (
                  <Back type={dealing!.type} alt={text('shoe.down')} />
                ) : !onChoose ? (
                  <Open card={card} dealing={dealing} />
                ) : (
                  <button type="button" aria-pressed={chosen.includes(card.card)} onClick={() => onChoose(card.card)}>
                    <Open card={card} dealing={dealing} />
                  </button>
                )}
              </li>
            ))}
          </ul>
          {cards.length > most && <p>{text('shoe.more', cards.length - most)}</p>}
          <div class="actions">
            {hides && (
              <button type="button" aria-pressed={shown} onClick={() => show(!shown)}>
                {text('shoe.look')}
              </button>
            )}
            {change && name !== '' && (
              <button type="button" disabled={busy} onClick={() => change([...place, 'shuffle'], {})}>
                {text('shoe.shuffle')}
              </button>
            )}
            {change && (
              <button type="button" disabled={busy} onClick={() => change([...place, 'return'], {cards: 'all'})}>
                {text('shoe.return')}
              </button>
            )}
          </div>
        </>
      )}
    </section>
  );
}

/** Open shows a card from its front. An item that is no card is shown as text. */
function Open({card: {code, item}, dealing}: {card: Card; dealing?: Dealing}) {
  if (code !== undefined && dealing) return <Face code={code} {...dealing} />;
  return <span class="item">{code ?? (typeof item === 'string' ? item : JSON.stringify(item))}</span>;
}
