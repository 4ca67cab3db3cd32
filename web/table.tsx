// The table: asks for a shuffle, deals its cards, shows how any program asks for it, and checks it.
import {render} from 'preact';
import {useEffect, useState} from 'preact/hooks';
import {deckTypes, type DeckType} from './decks';
import {text, type Problem} from './page';
import {Refused} from './refused';
import {Shuffle} from './table/shuffle';

function Table() {
  const [types, setTypes] = useState<DeckType[]>([]);
  const [problem, setProblem] = useState<Problem>();
  const load = () => {
    setProblem(undefined);
    deckTypes().then(setTypes).catch((error: unknown) => setProblem(error as Problem));
  };
  useEffect(load, []);
  return (
    <>
      <h1>{text('table.heading')}</h1>
      <p class="quiet">{text('table.lead')}</p>
      {problem && <Refused problem={problem} onToken={load} />}
      {types.length > 0 && <Shuffle types={types} />}
    </>
  );
}

render(<Table />, document.getElementById('main')!);
