// One shuffle: asked for, dealt, and checked.
import {useEffect, useRef, useState} from 'preact/hooks';
import {check, keyOfLog, proofsOf, Verdict, type Check} from '../check';
import {cardNames, type DeckType} from '../decks';
import {hasText, path, post, type Problem, text, verifyLink} from '../page';
import {Refused} from '../refused';
import {Share} from '../share';
import type {Dealing} from './cards';
import {asked, askedOf, DeckFields, formOf, OrderFields, remember, type Asked} from './deck';
import {Hands} from './hands';
import {Programs} from './programs';

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

/** A Dealt is an answer with what was asked for. */
interface Dealt extends Dealing {
  body: Shuffle;
  answer: Answer;
  json: string;
}

/** A Kept is an answer that this tab keeps while its address names it. */
type Kept = Pick<Dealt, 'body' | 'json'>;

const keptName = 'riffle-deal';

const idOf = ({json}: Kept) => (JSON.parse(json) as Answer).audit_id;

/** keep lets the tab show an answer again after a reload. */
function keep(kept: Kept, form: HTMLFormElement): void {
  remember(form, {deal: idOf(kept)});
  try {
    sessionStorage.setItem(keptName, JSON.stringify(kept));
  } catch {
    // it is too long to keep
  }
}

function recall(): Kept | undefined {
  const kept = JSON.parse(sessionStorage.getItem(keptName) ?? 'null') as Kept | null;
  return kept && idOf(kept) === asked('deal') ? kept : undefined;
}

/** partsOf returns the names of what a game deals after the players' hands. */
const partsOf = ({type, body}: Dealt): string[] | undefined =>
  type.hands
    ?.find(({name}) => name === String(body.hands).split(':')[0])
    ?.then?.map(({name}) => (hasText(`part.${name}`) ? text(`part.${name}` as 'part.flop') : name));

export function Shuffle({types}: {types: DeckType[]}) {
  const [dealt, setDealt] = useState<Dealt>();
  const [problem, setProblem] = useState<Problem>();
  const [busy, setBusy] = useState(false);
  const felt = useRef<HTMLElement>(null);
  useEffect(() => {
    // On a phone, the form is as high as the window.
    if (dealt && felt.current!.getBoundingClientRect().top > innerHeight / 2) felt.current!.scrollIntoView();
  }, [dealt]);
  useEffect(() => {
    const last = recall();
    if (last) show(last).catch(() => {}); // the form can deal again
  }, []);
  const show = async ({body, json}: Kept) => {
    const type = types.find(({type}) => type === body.deck)!;
    setDealt({type, names: await cardNames(body.deck), body, answer: JSON.parse(json) as Answer, json});
  };
  const shuffle = (body: Shuffle, form: HTMLFormElement) => {
    setBusy(true);
    setProblem(undefined);
    void (async () => {
      const json = await (await post(path(['shuffle']), {...body, reveal: 'now'})).text();
      await show({body, json});
      keep({body, json}, form);
    })()
      .catch((error: unknown) => setProblem(error as Problem))
      .finally(() => setBusy(false));
  };
  return (
    <>
      <Request types={types} busy={busy} onShuffle={shuffle} />
      {problem && <Refused problem={problem} onToken={() => setProblem(undefined)} />}
      <section class="felt" ref={felt} aria-label={text('table.cards')} aria-live="polite">
        {dealt ? (
          <Hands
            key={dealt.answer.audit_id}
            type={dealt.type}
            names={dealt.names}
            hands={dealt.answer.hands ?? []}
            parts={partsOf(dealt)}
            rest={dealt.answer.rest ?? dealt.answer.items ?? []}
            size={dealt.type.size * (dealt.body.decks ?? 1)}
          />
        ) : (
          <p class="empty">{text('table.empty')}</p>
        )}
      </section>
      {dealt && (
        <div class="columns">
          <Proof key={dealt.answer.audit_id} dealt={dealt} />
          <Programs path="/shuffle" body={dealt.body} answer={dealt.answer} note={text('table.hidden')} />
        </div>
      )}
    </>
  );
}

/** Request is the form that asks for a shuffle. */
function Request({
  types,
  busy,
  onShuffle,
}: {
  types: DeckType[];
  busy: boolean;
  onShuffle: (body: Shuffle, form: HTMLFormElement) => void;
}) {
  const [name, setName] = useState(asked('deck') || 'standard52');
  const [hands, setHands] = useState(asked('hands'));
  const type = types.find((type) => type.type === name) ?? types[0]!;
  const submit = (event: Event) => {
    const given = formOf(event),
      body: Shuffle = askedOf(type, given);
    if (hands === 'sizes')
      body.hands = given('sizes')
        .split(/[\s,;]+/)
        .filter(Boolean)
        .map(Number);
    else if (hands !== '') body.hands = hands;
    if (given('draw') !== '') body.draw = Number(given('draw'));
    onShuffle(body, event.target as HTMLFormElement);
  };
  // Another deck has other hands, which are chosen when it is drawn.
  const changed = ({currentTarget}: {currentTarget: HTMLFormElement}) => setTimeout(() => remember(currentTarget));
  return (
    <form class="panel" onSubmit={submit} onChange={changed}>
      <div class="fields">
        <DeckFields
          types={types}
          type={type}
          onType={(name) => {
            setName(name);
            setHands('');
          }}
        />
        <label>
          {text('table.hands')}
          <select name="hands" value={hands} onChange={(event) => setHands(event.currentTarget.value)} id="hands">
            <option value="">{text('table.hands.none')}</option>
            {(type.hands ?? []).map((preset) => (
              <option
                key={preset.name}
                value={(preset.each || preset.each_by) && !preset.players ? `${preset.name}:4` : preset.name}
              >
                {hasText(`preset.${preset.name}`) ? text(`preset.${preset.name}` as 'preset.bridge') : preset.name}
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
          <input name="draw" type="number" min="0" placeholder={text('table.draw.all')} defaultValue={asked('draw')} />
        </label>
        <OrderFields />
      </div>
      <div class="actions">
        <button class="main" disabled={busy}>
          {text('table.shuffle')}
        </button>
      </div>
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
      const [proofs, key] = await Promise.all([proofsOf(answer.audit_id), keyOfLog()]);
      setResult(await check(proofs, {key, order: json}));
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
