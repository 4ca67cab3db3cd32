// The requests to try on the page of an operation: examples, fields, the same as programs, and the answer.
import {render} from 'preact';
import {useState} from 'preact/hooks';
import {requestOf} from './curl.mjs';
import {ask, detailOf, Problem, text, type Path} from './page';
import {Programs} from './programs';
import {Refused} from './refused';

interface Parameter {
  name: string;
  place: 'path' | 'query' | 'header';
  required: boolean;
  isQuery: boolean; // its value has names of its own, a=1&b=2
}
interface Example {
  summary: string;
  values: Record<string, string>;
  body?: unknown;
  status?: string;
  answer?: string;
}
interface Operation {
  method: string;
  path: string;
  answersText: boolean; // in place of JSON
  parameters: Parameter[];
  examples: Example[];
}

const automatic = 'Idempotency-Key', // each request gets a new one
  longest = 100_000; // characters of an answer that are shown

/** laidOut lays out a value as JSON: lists of plain values in one line. */
const laidOut = (value: unknown): string =>
  JSON.stringify(value, null, 1).replace(
    /\[\n\s*([^[\]{}]*?)\n\s*\]/g,
    (_, entries: string) => `[${entries.replace(/\n\s*/g, ' ')}]`,
  );

/** compact is JSON in one line, and byte for byte otherwise: parsed, a number could become another one. */
const compact = (json: string): string =>
  json.replace(/"(?:[^"\\]|\\.)*"|[ \t\n\r]+/g, (part) => (part.startsWith('"') ? part : ''));

/** laid is JSON as it is laid out, or unchanged if its numbers would change or it is not whole. */
function laid(json: string): string {
  try {
    const value: unknown = JSON.parse(json);
    return JSON.stringify(value) === compact(json) ? laidOut(value) : json;
  } catch {
    return json;
  }
}

/** shown is an answer as text: laid out if it is JSON, and its length if it is not text. */
async function shown(answer: Response): Promise<string> {
  const type = answer.headers.get('Content-Type') ?? '';
  if (!/json|text|xml|yaml/.test(type)) return `${type}, ${(await answer.arrayBuffer()).byteLength} B`;
  const given = await answer.text(),
    full = /[/+]json$/.test(type.split(';')[0]!) ? laid(given) : given;
  return full.length > longest ? `${full.slice(0, longest)} …` : full;
}

function Try({operation}: {operation: Operation}) {
  const {method, examples, parameters} = operation,
    bodyOf = (example?: Example) => (example && 'body' in example ? laidOut(example.body) : undefined);
  const [chosen, choose] = useState(0),
    example = examples[chosen],
    [values, setValues] = useState(example?.values ?? {}),
    [body, setBody] = useState(bodyOf(example)),
    [answer, setAnswer] = useState<{head: string; text?: string}>(),
    [problem, setProblem] = useState<Problem>();
  const {path, headers} = requestOf(operation, values),
    fields = parameters.filter(({name}) => name !== automatic),
    writes = fields.length < parameters.length; // GET /decks/{type} does, too
  const pick = (i: number) => {
    choose(i);
    setValues(examples[i]!.values);
    setBody(bodyOf(examples[i]));
    setAnswer(undefined);
    setProblem(undefined);
  };
  const send = async () => {
    setProblem(undefined);
    // A value that would lead to another operation.
    if (/\/(\.|%2e){1,2}(?![^/?#])/i.test(path)) throw new Error(text('problem.path', '..'));
    const began = performance.now(),
      own = {
        ...headers,
        ...(body !== undefined && {'Content-Type': 'application/json'}),
        ...(writes && {[automatic]: crypto.randomUUID()}),
      },
      got = await ask(path as Path, {method, body: body ?? null, headers: own});
    if (got.status === 401) throw new Problem(401, await detailOf(got));
    const head = `${got.status} ${got.statusText} · ${Math.round(performance.now() - began)} ms`;
    setAnswer({head});
    try {
      setAnswer({head, text: await shown(got)});
    } catch {
      throw new Problem(0, text('try.cut'));
    }
  };
  const submit = (event?: Event) => {
    event?.preventDefault();
    void send().catch((error: unknown) => setProblem(error as Problem));
  };
  const url = location.origin + path;
  return (
    <>
      <Programs
        call={{
          method,
          url,
          writes,
          headers,
          answersText: operation.answersText,
          ...(body !== undefined && {body: compact(body)}),
        }}
        answer={answer === undefined ? example?.answer : undefined}
      />
      <form autocomplete="off" onSubmit={submit}>
        {examples.length > 1 && (
          <label>
            {text('try.example')}
            <select value={String(chosen)} onChange={(event) => pick(Number(event.currentTarget.value))}>
              {examples.map(({summary, status}, i) => (
                <option key={i} value={String(i)}>
                  {summary}
                  {status !== undefined && status !== '200' && ` (${status})`}
                </option>
              ))}
            </select>
          </label>
        )}
        <div class="fields">
          {fields.map(({name, required}) => (
            <label key={name}>
              {name}
              <input
                value={values[name] ?? ''}
                required={required}
                pattern={required ? '.*\\S.*' : undefined}
                autocomplete="off"
                onInput={(event) => setValues({...values, [name]: event.currentTarget.value})}
              />
            </label>
          ))}
        </div>
        {body !== undefined && (
          <label>
            {text('try.body')}
            <textarea
              value={body}
              rows={Math.min(12, body.split('\n').length)}
              spellcheck={false}
              onInput={(event) => setBody(event.currentTarget.value)}
            />
          </label>
        )}
        <div class="actions">
          <button class="main">{text('try.send')}</button>
          {writes && <span class="quiet">{text('try.writes')}</span>}
        </div>
      </form>
      {problem && <Refused problem={problem} onToken={submit} />}
      <div aria-live="polite">
        {answer && (
          <>
            <h3>{answer.head}</h3>
            {answer.text !== undefined && (
              <pre id="answer" tabIndex={0}>
                {answer.text}
              </pre>
            )}
          </>
        )}
      </div>
    </>
  );
}

const place = document.getElementById('try');
place?.replaceChildren(); // the sample for readers without scripts
if (place) render(<Try operation={JSON.parse(place.dataset.operation!) as Operation} />, place);
