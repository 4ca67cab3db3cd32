// What games ask for most, in their words. Each helper is one request; a deal is one more, for the names of its parts.
import type {Value} from './answers.js';
import type {components} from './contract.js';
import type {Riffle} from './client.js';
import {verify} from './proofs.js';

type Schemas = components['schemas'];

/** A Deal has the cards by name. Its answer shows every card, so that it stays in the backend. */
export interface Deal {
  players: string[][];
  /** What the game deals after the hands, such as burn, flop, turn and river, or dealer, by name. */
  parts: Record<string, string[]>;
  /** The flop, the turn and the river, as far as there are any. */
  board: string[];
  rest: string[];
  answer: {audit_id: string; seed: string; hands: string[][]; rest: string[]};
}

/** Deals a game that the deck has, such as holdem for 6 players; GET /decks lists them. */
export async function deal(
  riffle: Riffle,
  {game, players, ...body}: {deck: string; game: string; players?: number; reference?: string; client_seed?: string},
  key?: string,
): Promise<Deal> {
  const {decks} = await riffle.get('/decks');
  const preset = decks.find(({type}) => type === body.deck)?.hands?.find(({name}) => name === game),
    from = preset?.players_from; // the parameter of the deck for the number of players
  const hands = players === undefined || from ? game : `${game}:${players}`,
    parameters = from && players !== undefined ? {parameters: {[from]: players}} : {};
  const answer = await riffle.post('/shuffle', {
    body: {...body, ...parameters, hands},
    params: key === undefined ? {} : {header: {'Idempotency-Key': key}},
  });
  const names = preset?.then ?? [],
    seats = answer.hands.length - names.length;
  const parts: Record<string, string[]> = {};
  for (const [i, {name}] of names.entries()) parts[name] = [...(parts[name] ?? []), ...answer.hands[seats + i]!];
  const board = ['flop', 'turn', 'river'].flatMap((name) => parts[name] ?? []);
  return {players: answer.hands.slice(0, seats), parts, board, rest: answer.rest, answer};
}

/** Draws cards from the top of a shoe. */
export async function draw(riffle: Riffle, shoe_id: string, count = 1): Promise<Schemas['ShoeCard'][]> {
  return (await riffle.post('/shoes/{id}/draw', {params: {path: {id: shoe_id}}, body: {count}})).cards;
}

/** Picks winners of a list. */
export async function pick<T extends Value>(riffle: Riffle, items: readonly T[], count = 1, reference?: string) {
  const body = {items, draw: count, ...(reference !== undefined && {reference})};
  const answer = await riffle.post('/shuffle', {body});
  return {winners: answer.items, answer};
}

/** Verifies a deal whose seed is public against the key of the log, which players have from elsewhere. */
export async function verifyDeal(riffle: Riffle, {answer}: Pick<Deal, 'answer'>, key: string) {
  const proof = await riffle.get('/audits/{id}/proof', {params: {path: {id: answer.audit_id}}});
  return verify(proof, {key, answer});
}
