// The table: one shuffle, or a shoe that is dealt card by card, with the request as any program
// would send it, and its check. The address says which of the two it is, and which shoe.
import {render} from 'preact';
import {useEffect, useState} from 'preact/hooks';
import {deckTypes, type DeckType} from './decks';
import {text, type Problem} from './page';
import {Refused} from './refused';
import {Shoe} from './table/shoe';
import {Shuffle} from './table/shuffle';

/** A Place is the address's content: a mode, and the id of a shoe or "". */
interface Place {
  mode: 'shuffle' | 'shoe';
  id: string;
}

/** placeOf reads what is behind the # of an address. It returns undefined if that is something else. */
function placeOf(hash: string): Place | undefined {
  const [, mode, id = ''] = /^#(shuffle|shoe)(?:=(.*))?$/.exec(hash) ?? [];
  return mode === undefined ? undefined : {mode: mode as Place['mode'], id: id.toLowerCase()};
}

function Table() {
  const [types, setTypes] = useState<DeckType[]>([]);
  const [place, setPlace] = useState<Place>(placeOf(location.hash) ?? {mode: 'shuffle', id: ''});
  const [problem, setProblem] = useState<Problem>();
  const load = () => {
    setProblem(undefined);
    deckTypes()
      .then(setTypes)
      .catch((error: unknown) => setProblem(error as Problem));
  };
  useEffect(load, []);
  useEffect(() => {
    const follow = (event: HashChangeEvent) => {
      const next = placeOf(location.hash);
      if (!next)
        history.replaceState(null, '', event.oldURL); // the link past the menu was used
      else setPlace((now) => (next.mode === 'shuffle' ? {...now, mode: 'shuffle'} : next));
    };
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  const mode = (name: Place['mode']) => (
    <label class="button">
      <input
        type="radio"
        name="mode"
        class="hidden"
        checked={place.mode === name}
        onChange={() => {
          location.hash = name === 'shoe' && place.id !== '' ? `shoe=${place.id}` : name;
        }}
      />
      {text(`table.mode.${name}`)}
    </label>
  );
  return (
    <>
      <h1>{text(place.mode === 'shoe' ? 'shoe.heading' : 'table.heading')}</h1>
      <p class="quiet">{text(place.mode === 'shoe' ? 'shoe.lead' : 'table.lead')}</p>
      <fieldset class="tabs modes">
        <legend class="hidden">{text('table.mode')}</legend>
        {mode('shuffle')}
        {mode('shoe')}
      </fieldset>
      {problem && <Refused problem={problem} onToken={load} />}
      {types.length > 0 && (place.mode === 'shoe' ? <Shoe types={types} id={place.id} /> : <Shuffle types={types} />)}
    </>
  );
}

render(<Table />, document.getElementById('main')!);
