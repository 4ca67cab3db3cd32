// One shuffle: asked for, dealt, and checked.
import {useEffect, useRef, useState} from 'preact/hooks';
import {check, keyOfLog, proofOf, Verdict, type Check} from '../check';
import {cardNames, partsOf, type DeckType} from '../decks';
import {named, path, post, type Problem, text, verifyLink} from '../page';
import {Refused} from '../refused';
import {Share} from '../share';
import type {Dealing} from './cards';
import {Algorithm, asked, askedOf, Cut, DeckFields, fieldsOf, remember, type Asked} from './deck';
import {commitTo, Opened} from './fixed';
import {Down, Games, type Game} from './games';
import {Hands} from './hands';
import {Posted} from '../programs';

/** A Shuffle is the body of POST /shuffle as a game sends it. This page also reveals the seed, to check the deal. */
interface Shuffle extends Asked {
  hands?: string | number[];
  draw?: number;
}

interface Answer {
  audit_id: string;
  log_index: number;
  commitment: string;
  seed: string;
  items?: string[];
  hands?: string[][];
  rest?: string[];
}

/** A Dealt is an answer with what was asked for, and the fingerprint that came before the cut, if any. */
interface Dealt extends Dealing {
  body: Shuffle;
  fingerprint?: string;
  answer: Answer;
  json: string;
}

/** A Kept is an answer that this tab keeps while its address names it. */
type Kept = Pick<Dealt, 'body' | 'json' | 'fingerprint'>;

const keptName = 'riffle-deal',
  first = 'standard52';

const idOf = ({json}: Kept) => (JSON.parse(json) as Answer).audit_id;

/** keep lets the tab show an answer again: by Back and Forward, and the last one in another language. */
function keep(kept: Kept, form: HTMLFormElement): void {
  remember(form, {deal: idOf(kept), state: kept});
  try {
    sessionStorage.setItem(keptName, JSON.stringify(kept));
  } catch {
    // it is too long to keep
  }
}

function recall(): Kept | undefined {
  const kept = (history.state ?? JSON.parse(sessionStorage.getItem(keptName) ?? 'null')) as Kept | null;
  return kept && idOf(kept) === asked('deal') ? kept : undefined;
}

/** sizesOf returns the sizes of the hands. */
const sizesOf = ({hands = []}: Answer) => hands.map(({length}) => length);

/** bodyOf returns what the form asks for. */
function bodyOf(type: DeckType, form: HTMLFormElement): Shuffle {
  const given = fieldsOf(form),
    body: Shuffle = askedOf(type, given),
    hands = given('hands');
  if (hands === 'sizes')
    body.hands = given('sizes')
      .split(/[\s,;]+/)
      .filter(Boolean)
      .map(Number);
  else if (hands !== '') body.hands = hands;
  if (given('draw') !== '') body.draw = Number(given('draw'));
  return body;
}

export function Shuffle({types}: {types: DeckType[]}) {
  const [name, setName] = useState(asked('deck') || first);
  const [hands, setHands] = useState(asked('hands'));
  const [dealt, setDealt] = useState<Dealt>();
  const [problem, setProblem] = useState<Problem>();
  const [busy, setBusy] = useState(false);
  const [step, setStep] = useState(0); // back or forward
  const felt = useRef<HTMLElement>(null),
    wanted = useRef(asked('deal')); // the deal that the address names
  const type = types.find((type) => type.type === name) ?? types[0]!;
  useEffect(() => {
    // On a phone, the form is as high as the window.
    const {top, bottom} = felt.current!.getBoundingClientRect();
    if (dealt && top > innerHeight / 2 && bottom > innerHeight) felt.current!.scrollIntoView();
  }, [dealt]);
  useEffect(() => {
    const last = recall();
    if (last) show(last).catch(() => {}); // the form can deal again
  }, [step]);
  useEffect(() => {
    const back = () => {
      if (asked('deal') === wanted.current) return; // another part of the address has changed
      wanted.current = asked('deal');
      setName(asked('deck') || first);
      setHands(asked('hands'));
      setDealt(undefined);
      setStep((step) => step + 1);
    };
    addEventListener('popstate', back);
    return () => removeEventListener('popstate', back);
  }, []);
  const show = async (kept: Kept) => {
    const {body, json, fingerprint} = kept;
    const type = types.find(({type}) => type === body.deck)!,
      names = await cardNames(body.deck);
    if (idOf(kept) !== wanted.current) return; // Back or Forward were faster
    setDealt({type, names, body, answer: JSON.parse(json) as Answer, json, fingerprint});
  };
  const deal = (body: Shuffle, form: HTMLFormElement) => {
    setBusy(true);
    setProblem(undefined);
    void (async () => {
      const made = await commitTo(body);
      // The commitment has the setting. A player who typed nothing cuts at random.
      const request = made
        ? {commitment_id: made.commitment_id, client_seed: body.client_seed ?? crypto.randomUUID()}
        : body;
      const json = await (await post(path(['shuffle']), {...request, reveal: 'now'})).text(),
        kept = {body, json, fingerprint: made?.commitment};
      wanted.current = idOf(kept);
      await show(kept);
      if (wanted.current === idOf(kept)) keep(kept, form);
    })()
      .catch((error: unknown) => setProblem(error as Problem))
      .finally(() => setBusy(false));
  };
  const choose = (game: Game, form: HTMLFormElement) => {
    setName(game.deck);
    setHands(game.hands);
    for (const field of form.querySelectorAll<HTMLInputElement>('[name=decks], [name=draw]')) field.value = '';
    // The new deck and hands are in the form when it is drawn.
    const chosen = types.find(({type}) => type === game.deck)!;
    setTimeout(() => deal(bodyOf(chosen, form), form));
  };
  return (
    <>
      <Request
        key={step}
        types={types}
        type={type}
        hands={hands}
        busy={busy}
        onType={(name) => {
          setName(name);
          setHands('');
        }}
        onHands={setHands}
        onGame={choose}
        onDeal={(form) => deal(bodyOf(type, form), form)}
      />
      {problem && <Refused problem={problem} onToken={() => setProblem(undefined)} />}
      <section class="felt" ref={felt} aria-label={text('table.cards')} aria-live="polite">
        {dealt ? (
          <>
            {dealt.fingerprint !== undefined && (
              <Opened digest={dealt.fingerprint} id={dealt.answer.audit_id} json={dealt.json} />
            )}
            <Hands
              key={dealt.answer.audit_id}
              type={dealt.type}
              names={dealt.names}
              hands={dealt.answer.hands ?? []}
              parts={partsOf(dealt.type, sizesOf(dealt.answer), String(dealt.body.hands).split(':')[0])}
              rest={dealt.answer.rest ?? dealt.answer.items ?? []}
              size={dealt.type.size * (dealt.body.decks ?? 1)}
            />
          </>
        ) : (
          <>
            <Down type={type.type} />
            <p class="empty">{text('table.empty')}</p>
          </>
        )}
      </section>
      {dealt && (
        <div class="columns">
          <Proof key={dealt.answer.audit_id} dealt={dealt} />
          <Posted
            path="/shuffle"
            body={dealt.body}
            answer={dealt.answer}
            note={text(dealt.fingerprint === undefined ? 'table.hidden' : 'table.hidden.fixed')}
          />
        </div>
      )}
    </>
  );
}

/** Request is the form that asks for a shuffle: games, the player's cut, and all other fields folded. */
function Request({
  types,
  type,
  hands,
  busy,
  onType,
  onHands,
  onGame,
  onDeal,
}: {
  types: DeckType[];
  type: DeckType;
  hands: string;
  busy: boolean;
  onType: (name: string) => void;
  onHands: (hands: string) => void;
  onGame: (game: Game, form: HTMLFormElement) => void;
  onDeal: (form: HTMLFormElement) => void;
}) {
  const [isOpen, open] = useState(['decks', 'sizes', 'draw', 'algorithm'].some((field) => asked(field) !== ''));
  return (
    <form
      class="panel"
      onSubmit={(event) => {
        event.preventDefault();
        onDeal(event.currentTarget);
      }}
      // Another deck has other hands, which are chosen when it is drawn.
      onChange={({currentTarget}) => setTimeout(() => remember(currentTarget))}
      onInvalidCapture={() => open(true)}
    >
      <Games types={types} deck={type.type} hands={hands} busy={busy} onGame={onGame} />
      <div class="deal">
        <Cut label={text('table.cut')} placeholder={text('table.cut.any')} />
        <button class="main" disabled={busy}>
          {text('table.shuffle')}
        </button>
      </div>
      <details open={isOpen} onToggle={({currentTarget}) => open(currentTarget.open)}>
        <summary>{text('table.fields')}</summary>
        <div class="fields">
          <DeckFields types={types} type={type} onType={onType} />
          <label>
            {text('table.hands')}
            <select name="hands" value={hands} onChange={(event) => onHands(event.currentTarget.value)} id="hands">
              <option value="">{text('table.hands.none')}</option>
              {(type.hands ?? []).map((preset) => (
                <option
                  key={preset.name}
                  value={(preset.each || preset.each_by) && !preset.players ? `${preset.name}:4` : preset.name}
                >
                  {named('preset', preset.name)}
                </option>
              ))}
              <option value="sizes">{text('table.hands.sizes')}</option>
            </select>
          </label>
          {hands === 'sizes' && (
            <label>
              {text('table.sizes')}
              <input
                name="sizes"
                defaultValue={asked('sizes') || '5, 5'}
                inputMode="numeric"
                pattern="[\d\s,;]+"
                required
              />
            </label>
          )}
          <label>
            {text('table.draw')}
            <input
              name="draw"
              type="number"
              min="0"
              placeholder={text('table.draw.all')}
              defaultValue={asked('draw')}
            />
          </label>
          <Algorithm />
        </div>
        <a href={path(['docs', 'decks'])}>{text('table.gallery')}</a>
      </details>
    </form>
  );
}

/** Proof shows where the record is, and checks it here. */
function Proof({dealt: {answer, json}}: {dealt: Dealt}) {
  const [result, setResult] = useState<Check>();
  const [problem, setProblem] = useState('');
  const run = () => {
    setProblem('');
    void (async () => {
      const [proof, key] = await Promise.all([proofOf(answer.audit_id), keyOfLog()]);
      setResult(await check(proof, {key, answer: json}));
    })().catch((error: unknown) => setProblem((error as Error).message));
  };
  return (
    <section class="panel">
      <h2>{text('table.record')}</h2>
      <dl class="facts">
        <dt>{text('table.auditId')}</dt>
        <dd>
          <a href={verifyLink(answer.audit_id)}>{answer.audit_id}</a>
        </dd>
        <dt>{text('table.place')}</dt>
        <dd>{answer.log_index}</dd>
        <dt>{text('table.commitment')}</dt>
        <dd>{answer.commitment}</dd>
        <dt>{text('table.seed')}</dt>
        <dd>{answer.seed}</dd>
      </dl>
      <div class="actions">
        <button type="button" onClick={run}>
          {text('table.check')}
        </button>
        <Share link={location.origin + verifyLink(answer.audit_id)} />
      </div>
      {problem !== '' && <p role="alert">{problem}</p>}
      {result && <Verdict check={result} />}
    </section>
  );
}
