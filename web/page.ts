// What all pages share: their texts, and requests to the API.
import texts from '../internal/web/text.json';

const root = document.documentElement;

/** language is the page's language, "en" or "zh". */
export const language = root.lang as keyof typeof texts;

type Name = keyof typeof texts.en;

/** text returns a text in the language of the page, with {0}, {1} ... replaced. */
export function text(name: Name, ...values: (string | number)[]): string {
  return texts[language][name].replace(/\{(\d)\}/g, (_, i) => String(values[i]));
}

/** Counted is a text about a number of things, which has another form, with .one, for one thing. */
type Counted = {[N in Name]: `${N}.one` extends Name ? N : never}[Name];

/** counted returns a text about n things. {0} is n, and the others follow. */
export function counted(name: Counted, n: number, ...values: (string | number)[]): string {
  const isOne = new Intl.PluralRules(language).select(n) === 'one';
  return text(isOne ? `${name}.one` : name, n.toLocaleString(language), ...values);
}

/** hasText reports whether there is a text with a name. */
export const hasText = (name: string): name is Name => name in texts.en;

/** named returns the text for something that the service names. A later service may have more of them. */
export const named = (group: 'kind' | 'preset' | 'part' | 'next' | 'next.book', name: string): string => {
  const id = `${group}.${name}`;
  return hasText(id) ? text(id) : name;
};

const idForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
  wordForm = /^[\w-]+(\.[\w-]+)*$/;

/** isId reports whether a reader has given an id, of a record or of a shoe. */
export const isId = (given: string) => idForm.test(given);

/**
 * idIn returns the id that a reader has given, also as a link to its check or audit, or undefined for anything else.
 * It throws for a link to another log, in which the id may mean nothing or something else.
 */
export function idIn(given: string): string | undefined {
  if (isId(given)) return given.toLowerCase();
  const link = given.startsWith(`${location.host}/`) ? `${location.protocol}//${given}` : given;
  if (link.length > 2000 || !/^https?:/i.test(link) || !URL.canParse(link)) return undefined;
  const url = new URL(link),
    {origin, pathname} = url,
    id = idOfPage(url) ?? '';
  if (!isId(id)) return undefined;
  const here = [path(['verify']), path(['a', id]), path(['audits', id]), path(['audits', id, 'proof'])].map(
    (path) => location.origin + path,
  );
  if (!here.includes(origin + pathname))
    throw new Problem(0, text('problem.elsewhere', (origin + pathname).slice(0, 200)));
  return id.toLowerCase();
}

/** shortTime returns a time of the API without the fraction of a second, still in UTC. */
export const shortTime = (time: string) => time.slice(0, 19).replace('T', ' ');

/** A Problem is an answer of the API that refuses a request, or the failure to get one. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** A Path leads to an operation of the API. Only path makes one. */
export type Path = string & {readonly path: unique symbol};

/**
 * path returns the path of parts: words, numbers, and the ids that follow audits and shoes. It
 * throws a Problem for a part that is something else, such as .. or text with a slash, whoever it
 * is from. A query is encoded.
 */
export function path(parts: (string | number)[], query: Record<string, string> = {}): Path {
  parts.forEach((part, i) => {
    const form = ['audits', 'shoes'].includes(String(parts[i - 1])) ? idForm : wordForm;
    if (!form.test(String(part))) throw new Problem(0, text('problem.path', String(part).slice(0, 200)));
  });
  const search = new URLSearchParams(query).toString();
  return `/${parts.join('/')}${search && `?${search}`}` as Path;
}

/** isShoeId reports whether an id is of a shoe: a secret UUID, of version 4, which no path has. */
export const isShoeId = (id: string) => isId(id) && id[14] === '4';

/** verifyLink returns the link to the check of a record or a shoe, which lights a hand if it has a number. */
export function verifyLink(id: string, hand?: number): string {
  const lit: Record<string, string> = hand === undefined ? {} : {hand: String(hand)};
  return isShoeId(id) ? path(['verify'], {id, ...lit}) : path(['a', id], lit);
}

/** idOfPage returns what an address of the check has in the place of an id; undefined for none. */
export function idOfPage({pathname, search}: {pathname: string; search: string}): string | undefined {
  const [, id] = /\/(?:a|audits)\/([^/]*)(?:\/proof)?$/.exec(pathname) ?? [];
  return id ?? new URLSearchParams(search).get('id') ?? undefined;
}

const tokenName = 'riffle-token';

/** token returns the token that the reader gave. It is kept in this tab alone. */
export const token = (): string => sessionStorage.getItem(tokenName) ?? '';

export function setToken(value: string): void {
  sessionStorage.setItem(tokenName, value.trim());
}

/** ask sends a request to the API and returns its answer. It throws a Problem if there is none. */
export async function ask(path: Path, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  if (token() !== '') headers.set('Authorization', `Bearer ${token()}`);
  try {
    return await fetch(path, {...init, headers});
  } catch {
    throw new Problem(0, text('problem.unreachable'));
  }
}

/** send is ask for an answer that is not an error. It throws a Problem. */
export async function send(path: Path, init: RequestInit = {}): Promise<Response> {
  const answer = await ask(path, init);
  if (!answer.ok) throw new Problem(answer.status, await detailOf(answer));
  return answer;
}

/** post sends a JSON body, with headers of its own. */
export function post(path: Path, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return send(path, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: {'Content-Type': 'application/json', 'Idempotency-Key': crypto.randomUUID(), ...headers},
  });
}

/** detailOf returns what an answer that is an error says. */
export async function detailOf(answer: Response): Promise<string> {
  try {
    const problem: {detail?: string} = await answer.json();
    return problem.detail ?? answer.statusText;
  } catch {
    return `${answer.status} ${answer.statusText}`;
  }
}
