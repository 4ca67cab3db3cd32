// An order of mahjong tiles as players build it: four walls of stacks that are two tiles high. Where
// there is room the walls are a square, otherwise each is folded into two lines.
import {text} from '../page';
import {Back, delayOf, Face, type Dealing} from './cards';

/** mostTiles is the size of the largest set of tiles, which fits into a wall. */
export const mostTiles = 144;

/** A Place is the code of the tile there, "gap" where a hand got it, or "down" if it was not drawn. */
export type Place = {code: string} | 'gap' | 'down';

/** wallsOf returns the places of each wall, in stacks. */
function wallsOf(places: Place[]): {first: number; places: Place[]}[][] {
  const stacks = Array.from({length: Math.ceil(places.length / 2)}, (_, i) => ({
    first: 2 * i,
    places: places.slice(2 * i, 2 * i + 2),
  }));
  return [0, 1, 2, 3].map((wall) =>
    stacks.slice(Math.floor((wall * stacks.length) / 4), Math.floor(((wall + 1) * stacks.length) / 4)),
  );
}

/** Wall shows the whole order. The last tiles may be a dead wall, of so many. */
export function Wall({places, dead, ...dealing}: Dealing & {places: Place[]; dead: number}) {
  const walls = wallsOf(places),
    alive = places.length - dead;
  return (
    <div class="wall">
      <div class="square" style={`--stacks: ${Math.max(...walls.map((wall) => wall.length))}`}>
        <p>
          {text('wall.order')} {places.includes('gap') && text('wall.gaps')} {dead > 0 && text('wall.dead', dead)}
        </p>
        {walls.map((stacks, wall) => (
          <ol key={wall} aria-label={text('wall.number', wall + 1)}>
            {stacks.map(({first, places}) => (
              <li key={first} class={first >= alive ? 'dead' : ''} style={delayOf(first)}>
                {places.map((place, i) => (
                  <Tile key={i} place={place} {...dealing} />
                ))}
              </li>
            ))}
          </ol>
        ))}
      </div>
    </div>
  );
}

function Tile({place, ...dealing}: Dealing & {place: Place}) {
  if (place === 'gap') return <span class="gap" />;
  if (place === 'down') return <Back type={dealing.type} alt={text('wall.down')} />;
  return <Face code={place.code} {...dealing} />;
}
