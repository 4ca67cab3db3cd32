// Cards as pictures: in rows, as tiles, or face down until they are touched.
import {useEffect, useState} from 'preact/hooks';
import type {DeckType} from '../decks';
import {path, send, text, token, type Path} from '../page';

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

/** overlapping are the families whose cards can be told by their upper left corner. */
const overlapping = ['french', 'latin', 'uno', 'sanguosha'];

/** columnsOf returns the number of cards in a row, so that the last row is full if it can be. */
function columnsOf(count: number): number {
  if (count <= 20) return count;
  return [13, 12, 14, 11, 10, 16, 18, 9].find((columns) => count % columns === 0) ?? 14;
}

/**
 * Cards shows a row of cards; roles are face down. from is the number of cards dealt before. Where there is
 * not enough room, cards overlap.
 */
export function Cards({codes, from, ...dealing}: Dealing & {codes: string[]; from: number}) {
  const {family} = dealing.type,
    Card = family === 'roles' ? FaceDown : Face,
    isFan = overlapping.includes(family) && codes.length > 1;
  return (
    <>
      <ul
        class={isFan ? 'fan' : classOf(family, codes.length)}
        style={isFan ? `--before: ${columnsOf(codes.length) - 1}` : undefined}
      >
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

/** Face shows a card. All faces of a deck type come in one document, which does not say which of them are shown. */
export function Face({code, type, names}: Dealing & {code: string}) {
  const [picture, setPicture] = useState<string>();
  useEffect(() => {
    facesOf(type, names)
      .then((faces) => faces.get(code) ?? pictureOf(path(['cards', type.type, `${code}.svg`])))
      .then(setPicture, () => {});
  }, [type, code]); // alt stays for one that fails
  return (
    <img
      src={picture}
      data-code={code}
      alt={names.get(code) ?? code}
      title={names.get(code)}
      width="240"
      height="336"
    />
  );
}

/** Back shows the back of a card. */
export const Back = ({type, alt}: {type: DeckType; alt: string}) => <Picture type={type.type} code="back" alt={alt} />;

/** Picture shows one card of a type by its own document. An image sends no token, so with keys in use it is fetched. */
export function Picture({type, code, alt}: {type: string; code: string; alt: string}) {
  const picture = path(['cards', type, `${code}.svg`]),
    keyed = token() !== '';
  const [fetched, setFetched] = useState<string>();
  useEffect(() => {
    if (keyed) pictureOf(picture).then(setFetched, () => {});
  }, [picture, keyed]);
  return <img src={keyed ? fetched : picture} data-code={code} alt={alt} width="240" height="336" />;
}

const fetched = new Map<string, Promise<unknown>>();

/** once returns what work returned when it was first called with a name, unless it failed. */
function once<T>(name: string, work: () => Promise<T>): Promise<T> {
  const known = fetched.get(name) as Promise<T> | undefined;
  if (known) return known;
  const fetching = work();
  fetched.set(name, fetching);
  fetching.catch(() => fetched.delete(name));
  return fetching;
}

const addressOf = (svg: BlobPart) => URL.createObjectURL(new Blob([svg], {type: 'image/svg+xml'}));

const pictureOf = (path: Path): Promise<string> => once(path, async () => addressOf(await (await send(path)).blob()));

/** facesOf returns the addresses of pictures by their codes, cut out of the picture of the whole deck. */
const facesOf = ({type}: DeckType, names: Map<string, string>): Promise<Map<string, string>> =>
  once(type, async () => {
    const sheet = await (await send(path(['cards', type]))).text(),
      cells = sheet.split(/(?=<g role="img" transform="translate\()/).slice(1);
    return new Map(
      [...names.keys()].slice(0, cells.length).map((code, i) => {
        const [, x, y] = /translate\((\d+) (\d+)\)/.exec(cells[i]!)!;
        const cell = cells[i]!.replace(/<\/svg>\s*$/, '');
        return [code, addressOf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="${x} ${y} 240 336">${cell}</svg>`)];
      }),
    );
  });

function FaceDown(card: Dealing & {code: string}) {
  const [shown, show] = useState(false);
  if (shown) return <Face {...card} />;
  return (
    <button type="button" onClick={() => show(true)} aria-label={text('table.turn')}>
      <Back type={card.type} alt="" />
    </button>
  );
}
