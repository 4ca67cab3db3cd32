// Deck types as GET /decks lists them.
import {language, path, send} from './page';

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

/** cardNames returns the names of the cards of a type by their codes. */
export async function cardNames(type: string): Promise<Map<string, string>> {
  const list: {code: string; name: {en: string; zh: string}}[] = (
    await (await send(path(['decks', type, 'cards']))).json()
  ).cards;
  return new Map(list.map((card) => [card.code, card.name[language]]));
}
