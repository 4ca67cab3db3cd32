// How a log grew, drawn from the times in a few of its records. It is loaded when there is something to draw.
import * as Plot from '@observablehq/plot';
import {language, text} from './page';
import type {Tiles} from './tree';

/** most is the number of bundles of 256 records to read, and mostTimes the number of times to take from all of them. */
const most = 16,
  mostTimes = 512;

interface Point {
  time: Date;
  size: number;
}

/**
 * sample returns the number of records in the log at some times. It asks a log that has grown for the
 * same bundles, which the browser has.
 */
async function sample(tiles: Tiles): Promise<Point[]> {
  const last = Math.ceil(tiles.size / 256) - 1,
    points: Point[] = [];
  let step = 1;
  while (last / step >= most) step *= 2;
  const wanted = Array.from({length: Math.floor(last / step) + 1}, (_, i) => i * step);
  if (wanted.at(-1) !== last) wanted.push(last);
  const bundles = await Promise.all(wanted.map((bundle) => tiles.bundle(bundle)));
  bundles.forEach((records, i) =>
    records.forEach((record, place) => {
      if (place % Math.ceil((256 * wanted.length) / mostTimes) !== 0 && place !== records.length - 1) return;
      const {time} = JSON.parse(new TextDecoder().decode(record)) as {time: string};
      // Records of one batch may have a time before the previous record's.
      const before = points.at(-1)?.time.getTime() ?? 0;
      points.push({time: new Date(Math.max(before, Date.parse(time))), size: 256 * wanted[i]! + place + 1});
    }),
  );
  return points;
}

/** draw returns a picture of how the log has grown until now, so many pixels wide. */
export async function draw(tiles: Tiles, width: number): Promise<Element> {
  const points = await sample(tiles),
    line = [...points, {time: new Date(), size: tiles.size}];
  const way = {x: 'time', curve: points.length < tiles.size ? 'linear' : 'step-after'} as const;
  const plot = Plot.plot({
    width,
    height: 220,
    marginLeft: 56,
    marginRight: 16,
    x: {type: 'time', label: null, ticks: Math.min(8, Math.floor(width / 90))},
    y: {
      label: text('explore.size'),
      grid: true,
      domain: [0, tiles.size],
      ticks: Math.min(5, tiles.size),
      tickFormat: (size: number) => size.toLocaleString(language),
    },
    marks: [
      // With y alone, the records of one millisecond would lie on top of each other.
      Plot.areaY(line, {...way, y1: 0, y2: 'size', fill: 'var(--accent)', fillOpacity: 0.2}),
      Plot.lineY(line, {...way, y: 'size', stroke: 'var(--accent)', strokeWidth: 2}),
    ],
    style: {background: 'transparent', color: 'inherit', overflow: 'visible'},
  });
  // The policy refuses them; style.css has what they say.
  plot.querySelectorAll('style').forEach((style) => style.remove());
  // The figure has a label, and its groups must not.
  plot.querySelectorAll('g[aria-label]').forEach((group) => group.removeAttribute('aria-label'));
  return plot;
}
