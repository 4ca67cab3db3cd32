// A request to the API as a stranger would send it.
import {asCurl} from './curl.mjs';

/** A Call is a request: its address with the query, its headers without those for the body and the token. */
export interface Call {
  method: string;
  url: string;
  writes: boolean; // so it gets an idempotency key
  headers?: Record<string, string>;
  body?: string; // JSON
  answersText?: boolean; // in place of JSON
}

/** A Program writes a request as a program that sends it, with the token of the environment if there is one. */
type Program = (call: Call, token: boolean) => string;

const lines = (parts: string[]) => parts.filter((part) => part !== '').join('\n');

/** headersOf returns the headers as entries of a literal, each made by entry of a name and an expression. */
function headersOf({headers = {}, body}: Call, entry: (name: string, value: string) => string): string[] {
  const all = {...(body !== undefined && {'Content-Type': 'application/json'}), ...headers};
  return Object.entries(all).map(([name, value]) => entry(name, JSON.stringify(value)));
}

const asTypeScript: Program = (call, token) => {
  const {method, url, body, answersText} = call,
    headers = [
      ...headersOf(call, (name, value) => `    ${/^\w+$/.test(name) ? name : `'${name}'`}: ${value},`),
      call.writes ? `    'Idempotency-Key': crypto.randomUUID(),` : '',
      token ? `    Authorization: 'Bearer ' + process.env.RIFFLE_TOKEN,` : '',
    ].filter((line) => line !== '');
  return lines([
    `const answer = await fetch('${url.replaceAll("'", '%27')}', {`,
    method === 'GET' ? '' : `  method: '${method}',`,
    headers.length > 0 ? `  headers: {\n${headers.join('\n')}\n  },` : '',
    body === undefined ? '' : `  body: ${JSON.stringify(body)},`,
    '});',
    `const result = await answer.${answersText ? 'text' : 'json'}();`,
  ]);
};

const asPython: Program = (call, token) => {
  const {method, url, body, answersText} = call;
  return lines([
    `import ${answersText ? 'sys' : 'json'}${token ? ', os' : ''}${call.writes ? ', uuid' : ''}`,
    'from urllib.request import Request, urlopen',
    '',
    `request = Request(${JSON.stringify(url)}, method=${JSON.stringify(method)}, headers={`,
    ...headersOf(call, (name, value) => `    "${name}": ${value},`),
    call.writes ? '    "Idempotency-Key": str(uuid.uuid4()),' : '',
    token ? '    "Authorization": "Bearer " + os.environ["RIFFLE_TOKEN"],' : '',
    body === undefined ? '})' : `}, data=${JSON.stringify(body)}.encode())`,
    answersText ? 'sys.stdout.buffer.write(urlopen(request).read())' : 'result = json.load(urlopen(request))',
  ]);
};

const asGo: Program = (call, token) => {
  const {method, url, body, answersText} = call,
    literal = (text: string) => JSON.stringify(text).replaceAll('\ufeff', '\\ufeff'),
    set = (name: string, value: string) => `request.Header.Set("${name}", ${value})`,
    reader = body === undefined ? 'nil' : `strings.NewReader(${literal(body)})`;
  return lines([
    `request, err := http.NewRequest(${JSON.stringify(method)}, ${JSON.stringify(url)}, ${reader})`,
    'if err != nil {\n\treturn err\n}',
    ...headersOf(call, set),
    call.writes ? set('Idempotency-Key', 'rand.Text()') : '',
    token ? set('Authorization', '"Bearer "+os.Getenv("RIFFLE_TOKEN")') : '',
    'answer, err := http.DefaultClient.Do(request)',
    'if err != nil {\n\treturn err\n}',
    'defer answer.Body.Close()',
    answersText ? '_, err = io.Copy(os.Stdout, answer.Body)' : 'result := map[string]any{}',
    answersText ? '' : 'err = json.NewDecoder(answer.Body).Decode(&result)',
  ]);
};

/** programs are those for a call, by the names of their languages. */
export const programs = (call: Call, token: boolean): [string, string][] => [
  ['curl', asCurl(call, token)],
  ['TypeScript', asTypeScript(call, token)],
  ['Python', asPython(call, token)],
  ['Go', asGo(call, token)],
];
