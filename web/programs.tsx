// A request to the API in the languages that backends are written in, and its answer.
import {useState} from 'preact/hooks';
import {text, token} from './page';
import {programs, type Call} from './request';
import {Copy} from './share';

export function Programs({call, answer, title}: {call: Call; answer?: string; title?: string}) {
  const tabs: [string, string][] = programs(call, token() !== '');
  if (answer !== undefined) tabs.push([text('table.answer'), answer]);
  const [chosen, choose] = useState(0),
    [, program] = tabs[chosen] ?? tabs[0]!;
  // One tab takes the focus, and arrows lead to the others.
  const move = (event: KeyboardEvent & {currentTarget: HTMLElement}) => {
    const last = tabs.length - 1,
      to = {
        ArrowRight: chosen < last ? chosen + 1 : 0,
        ArrowLeft: chosen > 0 ? chosen - 1 : last,
        Home: 0,
        End: last,
      }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    choose(to);
    event.currentTarget.querySelectorAll('button')[to]!.focus();
  };
  return (
    <>
      {title && <h2>{title}</h2>}
      <div class="programs">
        <div class="tabs" role="tablist" onKeyDown={move}>
          {tabs.map(([name], i) => (
            <button
              key={name}
              type="button"
              role="tab"
              id={`tab-${i}`}
              aria-selected={i === chosen}
              aria-controls="program"
              tabIndex={i === chosen ? 0 : -1}
              onClick={() => choose(i)}
            >
              {name}
            </button>
          ))}
        </div>
        <Copy value={program} label={text('copy')} />
      </div>
      <pre id="program" role="tabpanel" aria-labelledby={`tab-${chosen}`} tabIndex={0}>
        {program}
      </pre>
    </>
  );
}

/** Posted is the panel of a request that a page has sent. */
export function Posted({path, body, answer, note}: {path: string; body: unknown; answer: unknown; note?: string}) {
  const call = {method: 'POST', writes: true, url: location.origin + path, body: JSON.stringify(body)};
  return (
    <section class="panel">
      <Programs call={call} answer={JSON.stringify(answer, null, 1)} title={text('table.program')} />
      {note && <p class="quiet">{note}</p>}
    </section>
  );
}
