// Cards as pictures: in rows, as tiles, or face down until they are touched.
import {useState} from 'preact/hooks';
import type {DeckType} from '../decks';
import {prefix, text} from '../page';

/** most is how many cards are drawn as pictures. */
export const most = 312;

/** A Dealing is what the cards on the table are of, with the names of its cards by their codes. */
export interface Dealing { type: DeckType; names: Map<string, string> }

/** classOf returns the class of a list of cards. Dominoes have another form than cards. */
export const classOf = (family: string | undefined, count: number) => `cards${count <= 7 ? ' few' : ''}${family === 'dominoes' ? ' dominoes' : ''}`;

/** delayOf returns the style of the card that is dealt as number i. */
export const delayOf = (i: number) => `--delay: ${Math.min(i * 12, 900)}ms`;

/** Cards shows a row of cards. Those of roles lie face down. from is how many were dealt before. */
export function Cards({codes, from, ...dealing}: Dealing & {codes: string[]; from: number}) {
  const Card = dealing.type.family === 'roles' ? FaceDown : Face;
  return (
    <>
      <ul class={classOf(dealing.type.family, codes.length)}>
        {codes.slice(0, most).map((code, i) => <li key={i} style={delayOf(from + i)}><Card code={code} {...dealing} /></li>)}
      </ul>
      {codes.length > most && <p>{text('table.more', codes.length - most)}</p>}
    </>
  );
}

const picture = (type: DeckType, name: string) => `${prefix}/cards/${type.type}/${encodeURIComponent(name)}.svg`;

export function Face({code, type, names}: Dealing & {code: string}) {
  return <img src={picture(type, code)} alt={names.get(code) ?? code} title={names.get(code)} width="240" height="336" />;
}

export function Back({type, alt}: {type: DeckType; alt: string}) {
  return <img src={picture(type, 'back')} alt={alt} width="240" height="336" />;
}

function FaceDown(card: Dealing & {code: string}) {
  const [shown, show] = useState(false);
  if (shown) return <Face {...card} />;
  return <button type="button" onClick={() => show(true)} aria-label={text('table.turn')}><Back type={card.type} alt="" /></button>;
}
