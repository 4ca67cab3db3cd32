// A shoe: opened, dealt from card by card, closed, and checked as a whole. Its id is in the address of
// the page, behind the #.
import {useEffect, useRef, useState} from 'preact/hooks';
import type {DeckType} from '../decks';
import {counted, language, path, post, Problem, text, type Path} from '../page';
import {Refused} from '../refused';
import {Back} from './cards';
import {Draw, Move, Open, Reshuffle} from './controls';
import {History} from './history';
import {load, type Change, type Owned} from './owner';
import {Pile} from './pile';
import {Posted} from '../programs';

/** A Call is a request to the API with its answer. */
interface Call {
  path: Path;
  body: unknown;
  answer: {shoe_id: string};
}

/**
 * useCall returns a function that posts a request. The same request gets the same key until done is
 * called, so that it can be repeated if its answer was lost.
 */
function useCall() {
  const asked = useRef({request: '', key: ''});
  return {
    async call(path: Path, body: unknown, version?: number): Promise<Call> {
      const request = JSON.stringify([path, body, version]);
      if (asked.current.request !== request) asked.current = {request, key: crypto.randomUUID()};
      const headers: Record<string, string> = {'Idempotency-Key': asked.current.key};
      if (version !== undefined) headers['If-Match'] = `"${version}"`;
      return {path, body, answer: await (await post(path, body, headers)).json()};
    },
    done() {
      asked.current = {request: '', key: ''};
    },
  };
}

/** explained returns a problem of a change with what to make of it. */
function explained(problem: Problem): Problem {
  if (problem.status === 412) return new Problem(412, text('shoe.moved'));
  if (problem.status === 0 || problem.status >= 500)
    return new Problem(problem.status, `${problem.message} ${text('shoe.again')}`);
  return problem;
}

export function Shoe({types, id}: {types: DeckType[]; id: string}) {
  const [loaded, setLoaded] = useState<Owned>();
  const [last, setLast] = useState<Call>();
  const [problem, setProblem] = useState<Problem>();
  const [busy, setBusy] = useState(false);
  const {call, done} = useCall(),
    owned = loaded?.state.shoe_id === id ? loaded : undefined;
  const attempt = (act: () => Promise<void>) => {
    setBusy(true);
    setProblem(undefined);
    void act()
      .catch((error: unknown) => setProblem(error as Problem))
      .finally(() => setBusy(false));
  };
  const look = () =>
    attempt(async () => {
      if (id !== '') setLoaded(await load(id, types, owned));
    });
  useEffect(look, [id]);
  const open = (body: unknown) =>
    attempt(async () => {
      try {
        const opened = await call(path(['shoes']), body);
        done();
        setLast(opened);
        location.hash = `shoe=${opened.answer.shoe_id}`;
      } catch (error) {
        throw explained(error as Problem);
      }
    });
  const change: Change = (parts, body) =>
    attempt(async () => {
      try {
        setLast(await call(path(['shoes', id, ...parts]), body, owned!.state.version));
        setLoaded(await load(id, types, owned));
        done();
      } catch (error) {
        const {status} = error as Problem;
        const stale = status === 409 || status === 410 || status === 412;
        if (stale)
          await load(id, types, owned)
            .then(setLoaded)
            .catch(() => {}); // the page shows the refusal
        throw explained(error as Problem);
      }
    });
  return (
    <>
      {id === '' && <Open types={types} busy={busy} onOpen={open} />}
      {owned?.state.status === 'open' && <Draw owned={owned} busy={busy} change={change} />}
      {problem && <Refused problem={problem} onToken={look} />}
      {id !== '' && !owned && problem && (
        <div class="actions">
          <button type="button" onClick={look}>
            {text('explore.refresh')}
          </button>
          <a class="button" href="#shoe">
            {text('shoe.another')}
          </a>
        </div>
      )}
      {owned ? (
        <Felt key={id} owned={owned} busy={busy} change={change} />
      ) : (
        <div class="felt">
          <p class="empty">{text('shoe.empty')}</p>
        </div>
      )}
      {owned?.state.status === 'open' && <Reshuffle busy={busy} change={change} />}
      {owned && (
        <div class="columns">
          <History key={id} owned={owned} busy={busy} change={change} onLook={look} />
          {last?.answer.shoe_id === id && <Posted {...last} />}
        </div>
      )}
    </>
  );
}

/** Felt shows where the cards lie. Those in the open can be chosen and moved. */
function Felt({owned: {state, piles, dealing}, busy, change}: {owned: Owned; busy: boolean; change: Change}) {
  const [chosen, setChosen] = useState<number[]>([]);
  useEffect(() => setChosen([]), [state.version]);
  const choose = (card: number) =>
    setChosen(chosen.includes(card) ? chosen.filter((other) => other !== card) : [...chosen, card]);
  const open = state.status === 'open',
    offered = open ? {busy, change, chosen, onChoose: choose} : {chosen};
  return (
    <section class="felt" aria-label={text('table.cards')}>
      <div class="deck">
        {dealing && <Back type={dealing.type} alt="" />}
        <div>
          <p class="left" role="status">
            {text(`shoe.${state.status}`)} {text('shoe.left', state.remaining, state.size)}
          </p>
          <progress max={state.size} value={state.remaining} aria-label={text('shoe.deck')} />
          {open && state.cut_reached && <p class="cut">{text('shoe.cut.reached')}</p>}
          {open && state.cut_reached === false && <p>{counted('shoe.cut.ahead', state.cut!)}</p>}
          {state.expires !== null && <p>{text('shoe.expires', new Date(state.expires).toLocaleString(language))}</p>}
        </div>
      </div>
      <div class="hands">
        {piles
          .filter(({name, cards}) => name !== '' || cards.length > 0)
          .map((pile) => (
            <Pile key={pile.name} pile={pile} dealing={dealing} {...offered} />
          ))}
      </div>
      {open && piles.some(({cards}) => cards.length > 0) && (
        <Move cards={chosen} piles={piles} busy={busy} change={change} onNone={() => setChosen([])} />
      )}
    </section>
  );
}
