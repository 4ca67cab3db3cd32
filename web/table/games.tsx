// The games that are dealt with one click, and the deck before it is dealt.
import type {DeckType} from '../decks';
import {text} from '../page';
import {Picture} from './cards';

/** A Game is a deck and its hands, as the fields of the form have them, and the card that shows it. */
export interface Game {
  name: 'bridge' | 'doudizhu' | 'holdem' | 'mahjong' | 'tarot' | 'hanafuda' | 'werewolf' | 'uno' | 'cards';
  deck: string;
  hands: string;
  code: string;
}

const games: Game[] = [
  {name: 'bridge', deck: 'standard52', hands: 'bridge', code: 'AS'},
  {name: 'doudizhu', deck: 'standard54', hands: 'doudizhu', code: 'X2'},
  {name: 'holdem', deck: 'standard52', hands: 'holdem:4', code: 'AH'},
  {name: 'mahjong', deck: 'mahjong136', hands: 'mahjong', code: '5m'},
  {name: 'tarot', deck: 'tarot78', hands: '', code: 'T19'},
  {name: 'hanafuda', deck: 'hanafuda48', hands: '', code: '08B'},
  {name: 'werewolf', deck: 'werewolf12', hands: 'werewolf', code: 'werewolf'},
  {name: 'uno', deck: 'uno108', hands: 'uno:4', code: 'W'},
  {name: 'cards', deck: 'standard52', hands: '', code: 'QH'},
];

/** Games offers the games whose deck the log has. */
export function Games({
  types,
  deck,
  hands,
  busy,
  onGame,
}: {
  types: DeckType[];
  deck: string;
  hands: string;
  busy: boolean;
  onGame: (game: Game, form: HTMLFormElement) => void;
}) {
  return (
    <fieldset class="games">
      <legend class="hidden">{text('table.games')}</legend>
      {games
        .filter((game) => types.some(({type}) => type === game.deck))
        .map((game) => (
          <button
            key={game.name}
            type="button"
            disabled={busy}
            aria-pressed={game.deck === deck && game.hands === hands}
            onClick={({currentTarget}) => onGame(game, currentTarget.form!)}
          >
            <Picture type={game.deck} code={game.code} alt="" />
            {text(`game.${game.name}`)}
          </button>
        ))}
    </fieldset>
  );
}

/** turns are the angles in which the cards of a fan lie, in degrees. */
const turns = [-25, -20, -15, -10, -5, 0, 5, 10, 15, 20, 25];

/** Down shows a deck that was not dealt yet, as a fan. */
export function Down({type}: {type: string}) {
  return (
    <div class="down">
      {turns.map((turn) => (
        <div key={turn} style={`--turn: ${turn}deg`}>
          <Picture type={type} code="back" alt="" />
        </div>
      ))}
    </div>
  );
}
