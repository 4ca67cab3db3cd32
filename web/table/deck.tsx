// The fields of a form that say what is shuffled: a deck type with its parameters, and its copies.
import {algorithms} from '../algorithms';
import type {DeckType} from '../decks';
import {language, text} from '../page';

/** An Order is how cards are shuffled. Members that are not given are left out. */
export interface Order {
  algorithm?: string;
  client_seed?: string;
}

/** An Asked is what both shuffles and shoes are asked for with. */
export interface Asked extends Order {
  deck: string;
  decks?: number;
  parameters?: Record<string, number>;
}

/** A Form reads the fields of a form as text, without white space around it. */
export type Form = (field: string) => string;

export function formOf(event: Event): Form {
  event.preventDefault();
  return fieldsOf(event.target as HTMLFormElement);
}

export function fieldsOf(form: HTMLFormElement): Form {
  const data = new FormData(form);
  return (field) => String(data.get(field) ?? '').trim();
}

/** askedOf returns what the fields of DeckFields and OrderFields ask for. */
export function askedOf(type: DeckType, given: Form): Asked {
  const asked: Asked = {deck: type.type};
  const parameters = (type.parameters ?? [])
    .filter((p) => given(p.name) !== '')
    .map((p) => [p.name, Number(given(p.name))]);
  if (parameters.length > 0) asked.parameters = Object.fromEntries(parameters) as Record<string, number>;
  if (Number(given('decks')) > 1) asked.decks = Number(given('decks'));
  return {...asked, ...orderOf(given)};
}

/** orderOf returns what OrderFields ask for. */
export function orderOf(given: Form): Order {
  const order: Order = {};
  if (given('algorithm') !== algorithms[0]) order.algorithm = given('algorithm');
  if (given('client_seed') !== '') order.client_seed = given('client_seed');
  return order;
}

/** asked returns what the page's address asks for, by the name of a field. */
export const asked = (field: string): string => new URLSearchParams(location.search).get(field) ?? '';

/**
 * remember puts the fields of a form into the page's address, so that a reload or another language keeps them. What
 * was made with them is one step further in the history, with its id and the state to show it again. Fields that
 * change keep what lies on the table.
 */
export function remember(form: HTMLFormElement, made?: {deal: string; state: unknown}): void {
  const fields = [...new FormData(form)].filter(([, value]) => value !== '' && value !== algorithms[0]);
  const deal = made?.deal ?? asked('deal');
  const query = new URLSearchParams([...(fields as [string, string][]), ...(deal ? [['deal', deal]] : [])]).toString(),
    address = `${location.pathname}${query && `?${query}`}${location.hash}`;
  if (made) history.pushState(made.state, '', address);
  else history.replaceState(history.state, '', address);
}

/** DeckFields asks for the deck type and its copies. */
export function DeckFields({types, type, onType}: {types: DeckType[]; type: DeckType; onType: (name: string) => void}) {
  return (
    <>
      <label>
        {text('table.deck')}
        <select name="deck" value={type.type} onChange={(event) => onType(event.currentTarget.value)}>
          {types.map((type) => (
            <option key={type.type} value={type.type}>
              {type.name[language]}
            </option>
          ))}
        </select>
      </label>
      {(type.parameters ?? []).map((p) => (
        <label key={p.name}>
          {p.name}
          <input
            name={p.name}
            type="number"
            min={p.min}
            max={p.max}
            placeholder={String(p.default)}
            defaultValue={asked(p.name)}
          />
        </label>
      ))}
      <label>
        {text('table.decks')}
        <input name="decks" type="number" min="1" placeholder="1" defaultValue={asked('decks')} />
      </label>
    </>
  );
}

/** OrderFields asks for the algorithm and a seed of the reader's own. */
export function OrderFields() {
  return (
    <>
      <Algorithm />
      <Cut label={text('table.clientSeed')} placeholder={text('table.optional')} />
    </>
  );
}

export function Algorithm() {
  return (
    <label>
      {text('table.algorithm')}
      <select name="algorithm">
        {algorithms.map((name) => (
          <option key={name} selected={name === asked('algorithm')}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Cut asks for the client seed, which has at most 256 bytes, three of them for a character. */
export function Cut({label, placeholder}: {label: string; placeholder: string}) {
  return (
    <label>
      {label}
      <input
        name="client_seed"
        maxLength={85}
        placeholder={placeholder}
        defaultValue={asked('client_seed')}
        autocomplete="off"
      />
    </label>
  );
}
