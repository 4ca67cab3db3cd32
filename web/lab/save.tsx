// Pictures and numbers of a measurement as files.
import {orderOf, upperTail, type Measurement} from './measure';

/** Save offers a picture as SVG and PNG, and its numbers as CSV. */
export function Save({id, csv}: {id: string; csv: string}) {
  return (
    <div class="actions">
      <button type="button" onClick={() => save(`${id}.csv`, 'text/csv', csv)}>
        CSV
      </button>
      <button type="button" onClick={() => save(`${id}.svg`, 'image/svg+xml', svgOf(id))}>
        SVG
      </button>
      <button type="button" onClick={() => void savePicture(id)}>
        PNG
      </button>
    </div>
  );
}

export function save(name: string, type: string, content: string | Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([content], {type}));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

const csvOf = (rows: (string | number)[][]) => rows.map((row) => `${row.join(',')}\n`).join('');

/** positionsCSV has how often each card came to each place. */
export const positionsCSV = ({n, positions}: Measurement): string =>
  csvOf([
    ['place', ...Array.from({length: n}, (_, card) => `card ${card + 1}`)],
    ...Array.from({length: n}, (_, place) => [place + 1, ...positions.slice(place * n, place * n + n)]),
  ]);

/** ordersCSV has how often each order came up. */
export const ordersCSV = ({n, orders = []}: Measurement): string =>
  csvOf([
    ['order', 'runs'],
    ...orders.map((runs, i) => [
      orderOf(i, n)
        .map((card) => card + 1)
        .join(' '),
      runs,
    ]),
  ]);

/** findingsCSV has the statistics. */
export const findingsCSV = ({findings}: Measurement): string =>
  csvOf([
    ['statistic', 'runs', 'chi-square', 'degrees of freedom', 'p of chi-square', 'corrected p', 'mean', 'expected'],
    ...findings.map(({name, runs, x, freedom, p, mean, expected}) => [
      name,
      runs,
      x ?? '',
      freedom ?? '',
      freedom ? upperTail(x!, freedom) : '',
      p,
      mean ?? '',
      expected ?? '',
    ]),
  ]);

/** svgOf returns a chart as a file of its own, with the colours that it has now. */
function svgOf(id: string): string {
  const svg = document.querySelector(`#${id} svg`)!.cloneNode(true) as SVGElement,
    style = getComputedStyle(document.documentElement);
  svg.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  Object.assign(svg.style, {
    background: style.getPropertyValue('--panel'),
    color: style.getPropertyValue('--ink'),
    font: '11px sans-serif',
  });
  return new XMLSerializer()
    .serializeToString(svg)
    .replace(/var\((--[a-z-]+)\)/g, (_, name: string) => style.getPropertyValue(name));
}

async function savePicture(id: string): Promise<void> {
  const image = new Image(),
    url = URL.createObjectURL(new Blob([svgOf(id)], {type: 'image/svg+xml'}));
  image.src = url;
  await image.decode();
  const canvas = document.createElement('canvas'),
    context = canvas.getContext('2d')!;
  canvas.width = image.width * 2;
  canvas.height = image.height * 2;
  context.scale(2, 2);
  context.drawImage(image, 0, 0);
  URL.revokeObjectURL(url);
  canvas.toBlob((blob) => {
    if (blob) save(`${id}.png`, 'image/png', blob);
  });
}
