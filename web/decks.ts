// Deck types as GET /decks lists them.
import {language, named, path, send} from './page';

export interface Preset {
  name: string;
  sizes?: number[];
  each?: number;
  each_by?: {up_to: number; value: number}[];
  then?: {name: string; size: number}[];
  players?: number;
}
export interface Parameter {
  name: string;
  min: number;
  max: number;
  default: number;
}
export interface DeckType {
  type: string;
  name: {en: string; zh: string};
  family: string;
  size: number;
  dead_wall?: number;
  hands?: Preset[];
  parameters?: Parameter[];
}

/** deckTypes returns the deck types of the log. */
export async function deckTypes(): Promise<DeckType[]> {
  return ((await (await send(path(['decks']))).json()) as {decks: DeckType[]}).decks;
}

/**
 * partsOf returns the names of the parts after the players' hands, such as the flop, in a game, or else in the first
 * that deals these sizes. Of a game that is not known, a part as large as a hand may be one, as at a blackjack table,
 * unless all sizes are fixed.
 */
export function partsOf({hands: presets = []}: DeckType, sizes: number[], game = ''): string[] {
  const fits = ({sizes: own, then = []}: Preset) => {
    const players = own ?? Array<number>(Math.max(sizes.length - then.length, 0)).fill(sizes[0]!),
      isGuess = !own && then.at(-1)?.size === sizes[0];
    return !isGuess && [...players, ...then.map(({size}) => size)].join() === sizes.join();
  };
  const dealt = presets.find(({name}) => name === game) ?? presets.find(fits);
  return (dealt?.then ?? []).map(({name}) => named('part', name));
}

/** cardNames returns the names of the cards of a type by their codes. */
export async function cardNames(type: string): Promise<Map<string, string>> {
  const list: {code: string; name: {en: string; zh: string}}[] = (
    await (await send(path(['decks', type, 'cards']))).json()
  ).cards;
  return new Map(list.map((card) => [card.code, card.name[language]]));
}
