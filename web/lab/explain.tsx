// The algorithms as a teacher shows them: one step at a time, with the number of choices at each.
import {useEffect, useLayoutEffect, useRef, useState} from 'preact/hooks';
import {text} from '../page';
import {explain, type Frame} from './steps';

const n = 6;
const names = ['strike-out', 'fisher-yates', 'durstenfeld', 'inside-out', 'sattolo', 'any-place'] as const;

/** useSlides lets each card slide to its place from where it lay before the frame. Two pass each other. */
function useSlides(frame: Frame) {
  const table = useRef<HTMLDivElement>(null),
    before = useRef(new Map<string, [left: number, top: number]>());
  useLayoutEffect(() => {
    const still = before.current.size === 0 || matchMedia('(prefers-reduced-motion: reduce)').matches,
      now: typeof before.current = new Map();
    for (const card of table.current!.querySelectorAll<HTMLElement>('[data-card]')) {
      const {offsetLeft: left, offsetTop: top} = card,
        [x, y] = before.current.get(card.dataset.card!) ?? [left, top - card.offsetHeight];
      now.set(card.dataset.card!, [left, top]);
      if (still || (x === left && y === top)) continue;
      const slide = (part: number, aside: number) => `translate(${(x - left) * part}px, ${(y - top) * part + aside}px)`;
      card.animate(
        {transform: [slide(1, 0), slide(0.5, y === top ? Math.sign(x - left) * 40 : 0), 'none']},
        {duration: 700, easing: 'ease-in-out'},
      );
    }
    before.current = now;
  }, [frame]);
  return table;
}

/** Explain plays the steps of an algorithm. */
export function Explain() {
  const [name, setName] = useState<(typeof names)[number]>('strike-out');
  const [frames, setFrames] = useState<Frame[]>(() => explain('strike-out', n));
  const [at, setAt] = useState(0);
  const [playing, setPlaying] = useState(false);
  const restart = (algorithm: (typeof names)[number]) => {
    setName(algorithm);
    setFrames(explain(algorithm, n));
    setAt(0);
  };
  useEffect(() => {
    if (!playing) return;
    if (at >= frames.length - 1) return setPlaying(false);
    const timer = setTimeout(() => setAt(at + 1), 1400);
    return () => clearTimeout(timer);
  }, [playing, at, frames]);
  const frame = frames[at]!,
    table = useSlides(frame),
    choices = frames.flatMap(({words, values}) => (words === 'start' || words === 'end' ? [] : [values[0]!]));
  return (
    <section class="panel">
      <h2>{text('lab.explain')}</h2>
      <div class="tabs" role="group" aria-label={text('lab.algorithm')}>
        {names.map((other) => (
          <button key={other} type="button" aria-pressed={other === name} onClick={() => restart(other)}>
            {other === 'any-place' ? text('lab.shuffle.any-place') : other}
          </button>
        ))}
      </div>
      <p>{text(`lab.explain.${name}`)}</p>
      <div ref={table} class="slides">
        <ol class="slots" aria-label={text('lab.explain.list')}>
          {frame.cards.map((card, place) => (
            <li key={place} class={frame.open.includes(place) ? 'open' : ''}>
              {card !== null ? (
                <span data-card={card} class={frame.touched.includes(place) ? 'touched' : ''}>
                  {card + 1}
                </span>
              ) : (
                frame.out && <s>{place + 1}</s>
              )}
            </li>
          ))}
        </ol>
        {frame.out && (
          <ol class="slots" aria-label={text('lab.explain.out')}>
            {frame.out.map((card) => (
              <li key={card}>
                <span data-card={card}>{card + 1}</span>
              </li>
            ))}
            {frame.out.length < n && <li />}
          </ol>
        )}
      </div>
      <p class="quiet">{text('lab.explain.open')}</p>
      <p aria-live="polite" class="step">
        {text(`lab.step.${frame.words}`, ...frame.values)}
      </p>
      <p class="quiet">
        {text(
          name === 'sattolo' ? 'lab.choices.sattolo' : 'lab.choices',
          choices.join(' × '),
          choices.reduce((product, k) => product * k, 1).toLocaleString(),
        )}
      </p>
      <div class="actions">
        <button type="button" disabled={at === 0} onClick={() => setAt(at - 1)}>
          {text('lab.back')}
        </button>
        <button type="button" disabled={at === frames.length - 1} onClick={() => setAt(at + 1)}>
          {text('lab.next')}
        </button>
        <button type="button" aria-pressed={playing} onClick={() => setPlaying(!playing)}>
          {text(playing ? 'lab.pause' : 'lab.play')}
        </button>
        <button type="button" onClick={() => restart(name)}>
          {text('lab.again')}
        </button>
      </div>
    </section>
  );
}
