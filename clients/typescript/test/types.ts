// Compiled and not run: what a request says about its answer, and that a misspelled member does not compile.
import {deal, pick, Riffle, verify} from 'riffle';

const riffle = new Riffle('http://localhost:8080');

export async function narrowed(optional: {size: number; hands?: number[]}) {
  const {hands, rest} = await riffle.post('/shuffle', {body: {deck: 'standard54', hands: 'doudizhu'}});
  const codes: string[] = [...hands.flat(), ...rest];
  const {items} = await riffle.post('/shuffle', {body: {size: 10, draw: 5}});
  const first: number | undefined = items[0];
  const {items: winners} = await riffle.post('/shuffle', {body: {items: [{name: 'ann'}, {name: 'bob'}]}});
  const {shuffles} = await riffle.post('/shuffle', {body: {items: ['ann', 'bob'], repeat: 2}});
  const names: (string | undefined)[] = [winners[0]?.name, shuffles[0]?.[1]];
  const one = await riffle.get('/decks/{type}', {
    params: {path: {type: 'uno108'}, query: {hands: 'uno:4', details: true}},
  });
  const other = await riffle.get('/decks/{type}', {params: {path: {type: 'uno108'}}});
  codes.push(...one.hands.flat().map(({code}) => code), ...other.items);
  const unsure = await riffle.post('/shuffle', {body: optional});
  if (unsure.hands) codes.push(...unsure.rest.map(String));
  // @ts-expect-error: it may have items
  unsure.hands.flat();
  return {codes, first, names};
}

export async function misspelled(id: string) {
  // @ts-expect-error: hand for hands
  await riffle.post('/shuffle', {body: {deck: 'standard54', hand: 'doudizhu'}});
  // @ts-expect-error: cards for count
  await riffle.post('/shoes/{id}/draw', {params: {path: {id}}, body: {cards: 2}});
  // @ts-expect-error: proofs for proof
  await riffle.post('/shoes/{id}/draw', {params: {path: {id}, query: {proofs: true}}, body: {count: 2}});
  // @ts-expect-error: detail for details
  await riffle.get('/decks/{type}', {params: {path: {type: 'uno108'}, query: {detail: true}}});
}

interface Ticket {
  id: number;
  name: string;
}

export async function own(tickets: readonly Ticket[], committed: {commitment_id: string; client_seed: string}) {
  const {items} = await riffle.post('/shuffle', {body: {items: tickets}});
  const {hands, rest} = await riffle.post('/shuffle', {body: {items: tickets, hands: [2, 3]}});
  const {winners} = await pick(riffle, tickets, 2);
  const returned: Ticket[] = [...items, ...hands.flat(), ...rest, ...winners];
  const used = await riffle.post('/shuffle', {body: {items: tickets, ...committed}});
  if (used.hands) returned.push(...used.rest);
  await riffle.post('/commitments', {body: {items: [...tickets]}});
  await riffle.post('/shoes', {body: {items: tickets}});
  const {cards, answer} = await riffle.deck('standard52', {decks: 6});
  const names: string[] = cards.map(({code, name}) => code + name.en + answer.seed);
  // @ts-expect-error: a ticket has no colour
  items[0]?.colour;
  // @ts-expect-error: an item of a list is no card
  items.map(({code}) => code);
  // @ts-expect-error: numbers for tickets
  const numbers: number[] = winners;
  // @ts-expect-error: a range and items
  await riffle.post('/shuffle', {body: {items: tickets, size: 2, decks: 1}});
  // @ts-expect-error: no JSON value
  await riffle.post('/shuffle', {body: {items: [1n]}});
  // @ts-expect-error: deck for decks
  await riffle.deck('standard52', {deck: 6});
  return {returned, names, numbers};
}

export async function bounded() {
  await riffle.get('/decks', {timeout: 500, patience: 0, signal: AbortSignal.timeout(1000)});
  await riffle.post('/shuffle', {body: {size: 2}, timeout: 500});
  // @ts-expect-error: a number for a text
  await riffle.post('/shuffle', {body: {size: 2}, timeout: '500'});
}

export async function game() {
  const {players, board} = await deal(riffle, {deck: 'standard52', game: 'holdem', players: 6});
  const {winners} = await pick(riffle, [{name: 'ann'}, {name: 'bob'}]);
  // @ts-expect-error: player for players
  await deal(riffle, {deck: 'standard52', game: 'holdem', player: 6});
  const codes: string[] = [...players.flat(), ...board];
  return [codes, winners[0]?.name];
}

export async function checked(id: string) {
  const answer = await riffle.post('/shuffle', {body: {deck: 'standard52', hands: 'bridge'}});
  const proof = await riffle.get('/audits/{id}/proof', {params: {path: {id}}});
  const key = await riffle.get('/log/key');
  const {verdict} = await verify(proof, {key, answer});
  const {summary} = await verify(JSON.stringify(proof), {key, hand: answer.rest, handOf: 'rest'});
  // @ts-expect-error: one proof
  await verify([proof], {key});
  // @ts-expect-error: an answer is no order
  await verify(proof, {key, order: answer});
  return [verdict, summary.id];
}
