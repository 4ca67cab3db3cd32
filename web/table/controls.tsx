// The forms that open a shoe and change it.
import {useState} from 'preact/hooks';
import type {DeckType} from '../decks';
import {text} from '../page';
import {asked, askedOf, DeckFields, formOf, OrderFields, orderOf, type Form} from './deck';
import type {Change, Owned, Pile} from './owner';
import {burnt} from './pile';

const names = '[A-Za-z0-9_\\-]{1,255}';

/** CutFields asks where the cut card is put. */
function CutFields() {
  return (
    <>
      <label>
        {text('shoe.cut')}
        <input name="cut" type="number" min="1" max="4095" placeholder={text('table.optional')} />
      </label>
      <label>
        {text('shoe.cut.most')}
        <input name="cut_most" type="number" min="1" max="4095" placeholder={text('table.optional')} />
      </label>
    </>
  );
}

/** cutOf returns what CutFields ask for: a position, or a range to draw one from. */
function cutOf(given: Form): {cut?: number | number[]} {
  const least = given('cut'),
    most = given('cut_most');
  if (least !== '' && most !== '') return {cut: [Number(least), Number(most)]};
  return least + most === '' ? {} : {cut: Number(least + most)};
}

/** Open asks for a new shoe. */
export function Open({types, busy, onOpen}: {types: DeckType[]; busy: boolean; onOpen: (body: unknown) => void}) {
  const [name, setName] = useState(asked('deck') || 'standard52');
  const type = types.find((type) => type.type === name) ?? types[0]!;
  const submit = (event: Event) => {
    const given = formOf(event),
      minutes = given('minutes');
    onOpen({...askedOf(type, given), ...cutOf(given), ...(minutes !== '' && {expires_in: 60 * Number(minutes)})});
  };
  return (
    <form class="panel" onSubmit={submit}>
      <div class="fields">
        <DeckFields types={types} type={type} onType={setName} />
        <CutFields />
        <label>
          {text('shoe.minutes')}
          <input name="minutes" type="number" min="1" max="527040" placeholder={text('table.optional')} />
        </label>
        <OrderFields />
      </div>
      <div class="actions">
        <button class="main" disabled={busy}>
          {text('shoe.start')}
        </button>
      </div>
    </form>
  );
}

/** named returns the names of the piles that have one. */
const named = (piles: Pile[]) => piles.map(({name}) => name).filter((name) => name !== '');

/** PileNames suggests the piles that there are. */
function PileNames({id, piles}: {id: string; piles: Pile[]}) {
  return (
    <datalist id={id}>
      {named(piles).map((name) => (
        <option key={name} value={name} />
      ))}
    </datalist>
  );
}

/** Draw takes cards from the deck or a pile, or burns them. */
export function Draw({owned: {piles}, busy, change}: {owned: Owned; busy: boolean; change: Change}) {
  const submit = (event: SubmitEvent) => {
    const given = formOf(event),
      pile = given('pile'),
      burn = (event.submitter as HTMLButtonElement | null)?.name === 'burn';
    const to = burn ? burnt : given('to'),
      from = given('from');
    change(pile === '' ? ['draw'] : ['piles', pile, 'draw'], {
      count: Number(given('count')),
      ...(from !== 'top' && {from}),
      ...(to !== '' && {to}),
    });
  };
  return (
    <form class="panel" onSubmit={submit}>
      <div class="fields">
        <label>
          {text('shoe.count')}
          <input name="count" type="number" min="1" max="4096" defaultValue="1" required />
        </label>
        <label>
          {text('shoe.from')}
          <select name="pile">
            <option value="">{text('shoe.deck')}</option>
            {named(piles).map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <label>
          {text('shoe.end')}
          <select name="from">
            {(['top', 'bottom', 'random'] as const).map((end) => (
              <option key={end} value={end}>
                {text(`shoe.end.${end}`)}
              </option>
            ))}
          </select>
        </label>
        <label>
          {text('shoe.to')}
          <input
            name="to"
            list="drawn-to"
            pattern={names}
            maxLength={255}
            placeholder={text('shoe.to.none')}
            autocomplete="off"
          />
        </label>
        <PileNames id="drawn-to" piles={piles} />
      </div>
      <div class="actions">
        <button class="main" name="draw" disabled={busy}>
          {text('shoe.draw')}
        </button>
        <button name="burn" disabled={busy}>
          {text('shoe.burn')}
        </button>
      </div>
    </form>
  );
}

/** Move puts the chosen cards on a pile, or back into the deck. */
export function Move({
  cards,
  piles,
  busy,
  change,
  onNone,
}: {
  cards: number[];
  piles: Pile[];
  busy: boolean;
  change: Change;
  onNone: () => void;
}) {
  const submit = (event: Event) => change(['piles', formOf(event)('onto'), 'add'], {cards});
  return (
    <form class="panel chosen" onSubmit={submit}>
      <div class="actions">
        <p>{cards.length === 0 ? text('shoe.choose') : text('shoe.chosen', cards.length)}</p>
        <label>
          {text('shoe.pile')}
          <input name="onto" list="put-on" pattern={names} maxLength={255} autocomplete="off" required />
        </label>
        <PileNames id="put-on" piles={piles} />
        <button class="main" disabled={busy || cards.length === 0}>
          {text('shoe.put')}
        </button>
        <button type="button" disabled={busy || cards.length === 0} onClick={() => change(['return'], {cards})}>
          {text('shoe.return')}
        </button>
        <button type="button" disabled={cards.length === 0} onClick={onNone}>
          {text('shoe.none')}
        </button>
      </div>
    </form>
  );
}

/** Reshuffle seals the deck again, with the cards that return to it or without. */
export function Reshuffle({busy, change}: {busy: boolean; change: Change}) {
  const submit = (event: Event) => {
    const given = formOf(event);
    change(['reshuffle'], {cards: given('cards'), ...cutOf(given), ...orderOf(given)});
  };
  return (
    <details class="panel">
      <summary>{text('shoe.reshuffle.title')}</summary>
      <form onSubmit={submit}>
        <div class="fields">
          <label>
            {text('shoe.reshuffle.cards')}
            <select name="cards">
              <option value="remaining">{text('shoe.reshuffle.remaining')}</option>
              <option value="all">{text('shoe.reshuffle.all')}</option>
            </select>
          </label>
          <CutFields />
          <OrderFields />
        </div>
        <div class="actions">
          <button disabled={busy}>{text('shoe.reshuffle')}</button>
        </div>
      </form>
    </details>
  );
}
