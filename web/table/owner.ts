// A shoe as its owner sees it, from the API.
import {cardNames, type DeckType} from '../decks';
import {path, send, type Path} from '../page';
import type {Dealing} from './cards';

/** A State is what GET /shoes/{id} answers. */
export interface State {
  shoe_id: string;
  audit_id: string;
  log_index: number;
  version: number;
  status: 'open' | 'expired' | 'closed';
  size: number;
  remaining: number;
  cut?: number;
  cut_reached?: boolean;
  expires: string | null;
  piles: Record<string, {remaining: number}>;
  commitment: string;
  root: string | null;
  changed_by: string;
}

/** A Change posts a body to a path of the shoe, such as draw. */
export type Change = (parts: string[], body: unknown) => void;

/** A Card has a code if it is of a deck, and otherwise an item. */
export interface Card {
  card: number;
  code?: string;
  instance?: number;
  item?: unknown;
}

/** A Pile is a place outside the deck. Cards that were drawn to no pile are in one without a name. */
export interface Pile {
  name: string;
  cards: Card[];
}

/** A Logged is a record of a shoe: its making, or one change. A proof adds the seed if it is public. */
export interface Logged {
  id: string;
  kind: string;
  input?: string;
  from?: string;
  taken?: string;
  cards?: string;
  to?: string;
  size?: number;
  cut?: number;
  seed?: string | null;
}

/** An Owned is a shoe with the cards outside its deck. What it deals is known if that is a deck. */
export interface Owned {
  state: State;
  piles: Pile[];
  dealing?: Dealing;
}

const get = async <T>(path: Path): Promise<T> => (await (await send(path)).json()) as T;

/** recordOf returns the record with an audit id. */
export const recordOf = async (id: string): Promise<Logged> =>
  (await get<{record: Logged}>(path(['audits', id]))).record;

/** dealingOf returns what the cards of a shoe are of. */
async function dealingOf({audit_id}: State, types: DeckType[]): Promise<Dealing | undefined> {
  const [, name] = /^deck (\S+)/.exec((await recordOf(audit_id)).input ?? '') ?? [];
  const type = types.find(({type}) => type === name);
  return type && {type, names: await cardNames(type.type)};
}

/** load returns a shoe. What was loaded before says what it deals, which never changes. */
export async function load(id: string, types: DeckType[], before?: Owned): Promise<Owned> {
  const state = await get<State>(path(['shoes', id])),
    names = Object.keys(state.piles);
  const places = [['dealt'], ...names.map((name) => ['piles', name])];
  const lists = await Promise.all(
    places.map((place) => get<{version: number; cards: Card[]}>(path(['shoes', id, ...place]))),
  );
  // Somebody has just changed it.
  if (lists.some(({version}) => version !== state.version)) return load(id, types, before);
  return {
    state,
    piles: ['', ...names].map((name, i) => ({name, cards: lists[i]!.cards})),
    dealing: before?.dealing ?? (await dealingOf(state, types)),
  };
}
