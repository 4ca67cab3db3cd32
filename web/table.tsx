// The table: asks for a shuffle, deals its cards, shows how any program asks for it, and checks it.
import {render} from 'preact';
import {useEffect, useState} from 'preact/hooks';
import {check, proofsOf, Verdict, type Check} from './check';
import {cardNames, deckTypes, type DeckType} from './decks';
import {language, post, prefix, send, text, token, type Problem} from './page';
import {Refused} from './refused';
import {asCurl, asPython, asTypeScript, type Shuffle} from './request';

interface Answer {
  audit_id: string; log_index: number; commitment: string; seed: string;
  items?: string[]; hands?: string[][]; rest?: string[];
}

/** A Dealt is an answer with what was asked for. */
interface Dealt { type: DeckType; names: Map<string, string>; body: Shuffle; answer: Answer; json: string }

const algorithms = ['fisher-yates', 'durstenfeld', 'inside-out', 'strike-out', 'sattolo'];

function Table() {
  const [types, setTypes] = useState<DeckType[]>([]);
  const [dealt, setDealt] = useState<Dealt>();
  const [problem, setProblem] = useState<Problem>();
  const [busy, setBusy] = useState(false);
  const attempt = (act: () => Promise<void>) => {
    setBusy(true);
    setProblem(undefined);
    void act().catch((error: unknown) => setProblem(error as Problem)).finally(() => setBusy(false));
  };
  const load = () => attempt(async () => setTypes(await deckTypes()));
  useEffect(load, []);
  const shuffle = (type: DeckType, body: Shuffle) => attempt(async () => {
    const [answer, names] = await Promise.all([post('/shuffle', body), cardNames(type.type)]);
    const json = await answer.text();
    setDealt({type, names, body, answer: JSON.parse(json) as Answer, json});
  });
  return (
    <>
      <h1>{text('table.heading')}</h1>
      <p class="quiet">{text('table.lead')}</p>
      {types.length > 0 && <Request types={types} busy={busy} onShuffle={shuffle} />}
      {problem && <Refused problem={problem} onToken={load} />}
      <section class="felt" aria-label={text('table.cards')} aria-live="polite">
        {dealt ? <Hands key={dealt.answer.audit_id} dealt={dealt} /> : <p class="empty">{text('table.empty')}</p>}
      </section>
      {dealt && (
        <div class="columns">
          <Proof key={dealt.answer.audit_id} dealt={dealt} />
          <Programs dealt={dealt} />
        </div>
      )}
    </>
  );
}

/** Request is the form that asks for a shuffle. */
function Request({types, busy, onShuffle}: {types: DeckType[]; busy: boolean; onShuffle: (type: DeckType, body: Shuffle) => void}) {
  const [name, setName] = useState('standard52');
  const [hands, setHands] = useState('');
  const type = types.find((type) => type.type === name) ?? types[0]!;
  const submit = (event: Event) => {
    event.preventDefault();
    const form = new FormData(event.target as HTMLFormElement);
    const given = (field: string) => String(form.get(field) ?? '').trim();
    const body: Shuffle = {deck: type.type};
    const parameters = (type.parameters ?? []).filter((p) => given(p.name) !== '').map((p) => [p.name, Number(given(p.name))]);
    if (parameters.length > 0) body.parameters = Object.fromEntries(parameters) as Record<string, number>;
    if (Number(given('decks')) > 1) body.decks = Number(given('decks'));
    if (hands === 'sizes') body.hands = given('sizes').split(/[\s,;]+/).filter(Boolean).map(Number);
    else if (hands !== '') body.hands = hands;
    if (given('draw') !== '') body.draw = Number(given('draw'));
    if (given('algorithm') !== 'fisher-yates') body.algorithm = given('algorithm');
    if (given('client_seed') !== '') body.client_seed = given('client_seed');
    onShuffle(type, {...body, reveal: 'now'});
  };
  return (
    <form class="panel" onSubmit={submit}>
      <div class="fields">
        <label>{text('table.deck')}
          <select value={name} onChange={(event) => { setName(event.currentTarget.value); setHands(''); }}>
            {types.map((type) => <option key={type.type} value={type.type}>{type.name[language]}</option>)}
          </select>
        </label>
        {(type.parameters ?? []).map((p) => (
          <label key={p.name}>{p.name}<input name={p.name} type="number" min={p.min} max={p.max} placeholder={String(p.default)} /></label>
        ))}
        <label>{text('table.decks')}<input name="decks" type="number" min="1" placeholder="1" /></label>
        <label>{text('table.hands')}
          <select value={hands} onChange={(event) => setHands(event.currentTarget.value)} id="hands">
            <option value="">{text('table.hands.none')}</option>
            {(type.hands ?? []).map((preset) => <option key={preset.name} value={preset.each && !preset.players ? `${preset.name}:4` : preset.name}>{preset.name}</option>)}
            <option value="sizes">{text('table.hands.sizes')}</option>
          </select>
        </label>
        {hands === 'sizes' && <label>{text('table.sizes')}<input name="sizes" defaultValue="5, 5" inputMode="numeric" pattern="[\d\s,;]+" required /></label>}
        <label>{text('table.draw')}<input name="draw" type="number" min="0" placeholder={text('table.draw.all')} /></label>
        <label>{text('table.algorithm')}
          <select name="algorithm">{algorithms.map((name) => <option key={name}>{name}</option>)}</select>
        </label>
        <label>{text('table.clientSeed')}<input name="client_seed" maxLength={256} placeholder={text('table.optional')} /></label>
      </div>
      <div class="actions"><button class="main" disabled={busy}>{text('table.shuffle')}</button></div>
    </form>
  );
}

/** Hands shows the cards that were dealt. Those of roles lie face down until they are touched. */
function Hands({dealt: {type, names, answer}}: {dealt: Dealt}) {
  if (!answer.hands) return <Cards codes={answer.items ?? []} type={type} names={names} from={0} />;
  let from = 0;
  const groups = [...answer.hands.map((cards, i) => ({title: text('table.hand', i + 1), cards})), {title: text('table.rest'), cards: answer.rest ?? []}];
  return (
    <div class={answer.hands.every((hand) => hand.length < 3) ? 'hands many' : 'hands'}>
      {groups.filter((group) => group.cards.length > 0).map((group) => {
        const first = from;
        from += group.cards.length;
        return <div key={group.title}><h2>{group.title}</h2><Cards codes={group.cards} type={type} names={names} from={first} /></div>;
      })}
    </div>
  );
}

/** most is how many cards are drawn as pictures. */
const most = 312;

interface Dealing { type: DeckType; names: Map<string, string> }

function Cards({codes, from, ...dealing}: Dealing & {codes: string[]; from: number}) {
  const Card = dealing.type.family === 'roles' ? FaceDown : Face;
  return (
    <>
      <ul class={codes.length <= 7 ? 'cards few' : 'cards'}>
        {codes.slice(0, most).map((code, i) => <li key={i} style={`--delay: ${Math.min((from + i) * 12, 900)}ms`}><Card code={code} {...dealing} /></li>)}
      </ul>
      {codes.length > most && <p>{text('table.more', codes.length - most)}</p>}
    </>
  );
}

const picture = (type: DeckType, name: string) => `${prefix}/cards/${type.type}/${encodeURIComponent(name)}.svg`;

function Face({code, type, names}: Dealing & {code: string}) {
  return <img src={picture(type, code)} alt={names.get(code) ?? code} title={names.get(code)} width="240" height="336" />;
}

function FaceDown(card: Dealing & {code: string}) {
  const [shown, show] = useState(false);
  if (shown) return <Face {...card} />;
  return (
    <button type="button" onClick={() => show(true)} aria-label={text('table.turn')}>
      <img src={picture(card.type, 'back')} alt="" width="240" height="336" />
    </button>
  );
}

/** Proof shows where the record is, and checks it here. */
function Proof({dealt: {answer, json}}: {dealt: Dealt}) {
  const [result, setResult] = useState<Check>();
  const [problem, setProblem] = useState('');
  const run = () => {
    setProblem('');
    void (async () => {
      const [proofs, key] = await Promise.all([proofsOf(answer.audit_id), send('/log/key').then((answer) => answer.text())]);
      setResult(await check(proofs, {key, order: json}));
    })().catch((error: unknown) => setProblem((error as Error).message));
  };
  return (
    <section class="panel">
      <h2>{text('table.record')}</h2>
      <dl class="facts">
        <dt>{text('table.auditId')}</dt><dd><a href={`${prefix}/verify?id=${answer.audit_id}`}>{answer.audit_id}</a></dd>
        <dt>{text('table.place')}</dt><dd>{answer.log_index}</dd>
        <dt>{text('table.commitment')}</dt><dd>{answer.commitment}</dd>
        <dt>{text('table.seed')}</dt><dd>{answer.seed}</dd>
      </dl>
      <div class="actions"><button type="button" onClick={run}>{text('table.check')}</button></div>
      {problem !== '' && <p role="alert">{problem}</p>}
      {result && <Verdict check={result} />}
    </section>
  );
}

/** Programs shows the request in languages that backends are written in, and the answer. */
function Programs({dealt: {body, answer}}: {dealt: Dealt}) {
  const base = location.origin + prefix, keyed = token() !== '';
  const programs: [string, string][] = [
    ['curl', asCurl(base, body, keyed)], ['TypeScript', asTypeScript(base, body, keyed)], ['Python', asPython(base, body, keyed)],
    [text('table.answer'), JSON.stringify(answer, null, 1)],
  ];
  const [chosen, choose] = useState(0);
  return (
    <section class="panel">
      <h2>{text('table.program')}</h2>
      <div class="tabs" role="tablist">
        {programs.map(([name], i) => (
          <button key={name} type="button" role="tab" id={`tab-${i}`} aria-selected={i === chosen} aria-controls="program" onClick={() => choose(i)}>{name}</button>
        ))}
      </div>
      <pre id="program" role="tabpanel" aria-labelledby={`tab-${chosen}`} tabIndex={0}>{programs[chosen]![1]}</pre>
    </section>
  );
}

render(<Table />, document.getElementById('main')!);
