// The gallery of the decks in the docs: what GET /decks lists, the operator's own as well.
import {render} from 'preact';
import {useEffect, useRef, useState} from 'preact/hooks';
import {cardNames, deckTypes, type DeckType} from './decks';
import {language, path, text, type Problem} from './page';
import {Refused} from './refused';
import {Picture} from './table/cards';

/** few is the number of cards that are shown of a deck. */
const few = 5;

function Gallery() {
  const [types, setTypes] = useState<DeckType[]>([]),
    [problem, setProblem] = useState<Problem>();
  const load = () => {
    setProblem(undefined);
    deckTypes().then(setTypes, setProblem);
  };
  useEffect(load, []);
  return (
    <>
      <h1>{text('decks.heading')}</h1>
      <p>{text('decks.lead')}</p>
      {problem && <Refused problem={problem} onToken={load} />}
      <ul class="gallery">
        {types.map((type) => (
          <Deck key={type.type} {...type} />
        ))}
      </ul>
    </>
  );
}

/** Deck shows cards from all over a deck, once the reader has come near it. */
function Deck({type, name, size}: DeckType) {
  const place = useRef<HTMLLIElement>(null),
    [cards, setCards] = useState<[string, string][]>([]);
  const other = language === 'en' ? 'zh' : 'en';
  useEffect(() => {
    const near = new IntersectionObserver(
      ([seen]) => {
        if (!seen?.isIntersecting) return;
        near.disconnect();
        cardNames(type).then(
          (names) => {
            const all = [...names],
              step = Math.max(1, (all.length - 1) / (few - 1));
            setCards(Array.from({length: Math.min(few, all.length)}, (_, i) => all[Math.round(i * step)]!));
          },
          () => {}, // the links beside stay
        );
      },
      {rootMargin: '300px'},
    );
    near.observe(place.current!);
    return () => near.disconnect();
  }, [type]);
  return (
    <li ref={place} class="panel">
      <h2>
        {name[language]} <span lang={other}>{name[other]}</span>
      </h2>
      <p class="quiet">
        <code>{type}</code> · {text('decks.cards', size)}
      </p>
      <div class="cards">
        {cards.map(([code, name]) => (
          <Picture key={code} type={type} code={code} alt={name} />
        ))}
      </div>
      <p>
        <a href={path(['cards', type])}>{text('decks.all')}</a>
        <a href={`/?deck=${encodeURIComponent(type)}`}>{text('table.shuffle')}</a>
        <a href={path(['docs', 'guides', 'decks'])}>{text('decks.guide')}</a>
      </p>
    </li>
  );
}

const place = document.getElementById('gallery');
if (place) {
  place.lang = language; // the documents are in English
  place.replaceChildren();
  render(<Gallery />, place);
}
