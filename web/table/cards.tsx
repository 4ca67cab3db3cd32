// Cards as pictures: in rows, as tiles, or face down until they are touched.
import {useEffect, useState} from 'preact/hooks';
import type {DeckType} from '../decks';
import {path, prefix, send, text, token, type Path} from '../page';

/** most is the number of cards that are drawn as pictures. */
export const most = 312;

/** A Dealing is the deck type on the table, with the names of its cards by their codes. */
export interface Dealing {
  type: DeckType;
  names: Map<string, string>;
}

/** classOf returns the class of a list of cards. Dominoes have another form than cards. */
export const classOf = (family: string | undefined, count: number) =>
  `cards${count <= 7 ? ' few' : ''}${family === 'dominoes' ? ' dominoes' : ''}`;

/** delayOf returns the style of the card that is dealt as number i. */
export const delayOf = (i: number) => `--delay: ${Math.min(i * 12, 900)}ms`;

/** Cards shows a row of cards; roles are face down. from is the number of cards dealt before. */
export function Cards({codes, from, ...dealing}: Dealing & {codes: string[]; from: number}) {
  const Card = dealing.type.family === 'roles' ? FaceDown : Face;
  return (
    <>
      <ul class={classOf(dealing.type.family, codes.length)}>
        {codes.slice(0, most).map((code, i) => (
          <li key={i} style={delayOf(from + i)}>
            <Card code={code} {...dealing} />
          </li>
        ))}
      </ul>
      {codes.length > most && <p>{text('table.more', codes.length - most)}</p>}
    </>
  );
}

interface Drawn {
  type: DeckType;
  name: string;
  alt: string;
  title?: string;
}

/** Picture shows a card, or the back of one. An image sends no token, so with keys in use it is fetched. */
function Picture({type, name, alt, title}: Drawn) {
  const picture = path(['cards', type.type, `${name}.svg`]),
    keyed = token() !== '';
  const [fetched, setFetched] = useState<string>();
  useEffect(() => {
    if (keyed) fetchPicture(picture).then(setFetched, () => {});
  }, [picture, keyed]); // alt stays for one that fails
  return <img src={keyed ? fetched : prefix + picture} alt={alt} title={title} width="240" height="336" />;
}

const pictures = new Map<string, Promise<string>>();

/** fetchPicture returns the address of a picture that it fetches once. */
function fetchPicture(path: Path): Promise<string> {
  const known = pictures.get(path);
  if (known) return known;
  const fetching = send(path)
    .then((answer) => answer.blob())
    .then((picture) => URL.createObjectURL(picture));
  pictures.set(path, fetching);
  fetching.catch(() => pictures.delete(path));
  return fetching;
}

export function Face({code, type, names}: Dealing & {code: string}) {
  return <Picture type={type} name={code} alt={names.get(code) ?? code} title={names.get(code)} />;
}

export function Back({type, alt}: {type: DeckType; alt: string}) {
  return <Picture type={type} name="back" alt={alt} />;
}

function FaceDown(card: Dealing & {code: string}) {
  const [shown, show] = useState(false);
  if (shown) return <Face {...card} />;
  return (
    <button type="button" onClick={() => show(true)} aria-label={text('table.turn')}>
      <Back type={card.type} alt="" />
    </button>
  );
}
