// A request to the API in the languages that backends are written in, and its answer.
import {useState} from 'preact/hooks';
import {prefix, text, token} from '../page';
import {asCurl, asPython, asTypeScript} from '../request';

export function Programs({path, body, answer, note}: {path: string; body: unknown; answer: unknown; note?: string}) {
  const url = location.origin + prefix + path,
    keyed = token() !== '';
  const programs: [string, string][] = [
    ['curl', asCurl(url, body, keyed)],
    ['TypeScript', asTypeScript(url, body, keyed)],
    ['Python', asPython(url, body, keyed)],
    [text('table.answer'), JSON.stringify(answer, null, 1)],
  ];
  const [chosen, choose] = useState(0);
  return (
    <section class="panel">
      <h2>{text('table.program')}</h2>
      <div class="tabs" role="tablist">
        {programs.map(([name], i) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`tab-${i}`}
            aria-selected={i === chosen}
            aria-controls="program"
            onClick={() => choose(i)}
          >
            {name}
          </button>
        ))}
      </div>
      <pre id="program" role="tabpanel" aria-labelledby={`tab-${chosen}`} tabIndex={0}>
        {programs[chosen]![1]}
      </pre>
      {note && <p class="quiet">{note}</p>}
    </section>
  );
}
