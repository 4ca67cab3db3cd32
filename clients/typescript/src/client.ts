// The client: how requests are sent, repeated and answered.
import createClient, {type Client, type ClientPathsWithMethod, type MaybeOptionalInit} from 'openapi-fetch';
import type {Open, Returned, Strict} from './answers.js';
import type {components, paths} from './contract.js';

/** A problem document (RFC 9457). Rely on `status` and the pointers in `errors`; the texts may change. */
export type Problem = components['schemas']['Problem'];

/** One line of a stream: the proof file of a record. */
export type AuditProof = components['schemas']['AuditProof'];

/** The service answered with an error, and if it was one that goes away, still did when the client's patience ended. */
export class RiffleError extends Error {
  override readonly name = 'RiffleError';

  constructor(
    readonly problem: Problem,
    readonly response: Response,
  ) {
    super(`${problem.status} ${problem.title}: ${problem.detail}`);
  }

  get status(): number {
    return this.problem.status;
  }
}

/**
 * The service gave no answer, and still did not when the client's patience ended. `cause` is what the last attempt
 * failed with. A request that writes may have been carried out: the same key asks for its answer.
 */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError';

  constructor(
    readonly attempts: number,
    override readonly cause: unknown,
  ) {
    const error = cause as {message?: string; cause?: {message?: string; code?: string}} | undefined,
      why = error?.cause?.message || error?.cause?.code || error?.message || String(cause);
    super(`no answer after ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}: ${why}`);
  }

  /** Whether the last attempt ended because the service was silent for too long. */
  get timedOut(): boolean {
    return this.cause instanceof DOMException && this.cause.name === 'TimeoutError';
  }
}

/** How long a call may take. A `signal` ends one sooner, with its reason as the error. */
export interface Bounds {
  /** For how many milliseconds the service may be silent in an attempt: 60,000 by default, Infinity for no bound. */
  timeout?: number;
  /**
   * For how many milliseconds a request is repeated that got no answer, or one that says to come back: 60,000 by
   * default; 0 is never.
   */
  patience?: number;
}

/** A request that is sent: the first of a call, or a repetition. */
export interface Attempt {
  /** The path in the contract, such as /shoes/{id}/draw. */
  path: string;
  /** What is sent. Its headers can still be set. They have the token and the key: keep both out of logs. */
  request: Request;
  /** From 1 on. */
  attempt: number;
}

/** What came of an attempt: a status, or an error. */
export interface Outcome extends Attempt {
  status?: number;
  headers?: Headers;
  error?: unknown;
  milliseconds: number;
  /** In how many milliseconds the request is repeated, if it is. */
  retryIn?: number;
}

export interface Options extends Bounds {
  /** A token, `rfl_...`, for a service that asks for one. */
  token?: string | undefined;
  /** What sends requests, instead of the fetch of the platform. */
  fetch?: (request: Request) => Promise<Response>;
  /** Is called and waited for before each attempt. What it throws ends the call. */
  onRequest?: (attempt: Attempt) => unknown;
  /** Is called and waited for after each attempt. What it throws ends the call. */
  onResponse?: (outcome: Outcome) => unknown;
}

type DeckQuery = NonNullable<paths['/decks/{type}']['get']['parameters']['query']>;
type Method = 'get' | 'post' | 'delete';
type Init<Path extends keyof paths, M extends Method> = Bounded<Open<MaybeOptionalInit<paths[Path], M>>>;
type Bounded<T> = T extends undefined ? T : T & Bounds;
type Parsed = {stream: Response['body']; text: string; blob: Blob; arrayBuffer: ArrayBuffer};

/**
 * A path of the contract and, where it takes any, its `params` and `body`, a `signal` and the bounds
 * of this call; the answer to it is the result, with the members that the request asks for.
 */
type Call<M extends Method> = <Path extends ClientPathsWithMethod<Client<paths>, M>, I extends Init<Path, M>>(
  path: Path,
  ...init: undefined extends I ? [init?: Strict<Init<Path, M>, I>] : [init: Strict<Init<Path, M>, I>]
) => Promise<I extends {parseAs: infer As extends keyof Parsed} ? Parsed[As] : Returned<Path, paths[Path][M], I>>;

/**
 * A client of the service at the base URL, which may have a path, where a proxy has one.
 *
 * Each request that writes a record has an `Idempotency-Key`, its own unless the caller sets one,
 * and is repeated with it until it is answered, so that it is carried out once. Keys are as secret
 * as seeds.
 */
export class Riffle {
  readonly #client: Client<paths>;
  readonly #options: Options;

  constructor(baseUrl: string | URL, options: Options = {}) {
    // localhost:8080 would be a URL of the scheme localhost, which nothing answers.
    if (/^(?!https?:)[^/?#]+:/i.test(String(baseUrl)))
      throw new TypeError(`the base URL is ${baseUrl}, and has to be one such as https://riffle.example`);
    this.#options = options;
    this.#client = createClient<paths>({
      baseUrl: String(baseUrl),
      querySerializer: {object: {style: 'form', explode: true}}, // parameters of deck types
      headers: !options.token ? {} : {Authorization: `Bearer ${options.token}`},
    });
  }

  readonly get = ((path, init) => this.#call('get', path, init)) as Call<'get'>;
  readonly post = ((path, init) => this.#call('post', path, init)) as Call<'post'>;
  readonly delete = ((path, init) => this.#call('delete', path, init)) as Call<'delete'>;

  /** Shuffles a deck, and returns its cards from the top, with their names. The answer shows every card, too. */
  async deck(type: string, query: Omit<DeckQuery, 'details' | 'hands'> = {}, key?: string) {
    const answer = await this.get('/decks/{type}', {
      params: {
        path: {type},
        query: {...query, details: true},
        ...(key !== undefined && {header: {'Idempotency-Key': key}}),
      },
    });
    return {cards: answer.items, answer};
  }

  /** Returns JSON as its value and any other answer as text, unless parseAs says otherwise. */
  async #call(method: Method, path: string, init: {parseAs?: string} & Bounds = {}): Promise<unknown> {
    const {timeout = this.#options.timeout, patience = this.#options.patience, ...rest} = init,
      fetch = (request: Request) => this.#send(path, request, timeout, patience);
    const call = this.#client.request(method, path as never, {parseAs: 'text', ...rest, fetch} as never);
    const {data, error, response} = await (call as Promise<{data?: unknown; error?: unknown; response: Response}>);
    const type = response.headers.get('Content-Type') ?? '';
    if (response.ok && !type.startsWith('text/html'))
      return !init.parseAs && type.startsWith('application/json') ? JSON.parse(data as string) : data;
    if (type.startsWith('application/problem+json') && typeof (error as Problem | null)?.detail === 'string')
      throw new RiffleError(error as Problem, response);
    const body = response.ok ? data : error,
      text = typeof body === 'string' ? body : (JSON.stringify(body) ?? ''),
      place = response.type === 'opaqueredirect' ? 'another address' : response.headers.get('Location'),
      detail = `This is no answer of the service: ${place ? `a redirect to ${place}` : text.slice(0, 200)}`;
    throw new RiffleError({type: 'about:blank', title: response.statusText, status: response.status, detail}, response);
  }

  /** Sends a request until it is answered with something that would not change, or patience ends. */
  async #send(path: string, request: Request, timeout = 60_000, patience = 60_000): Promise<Response> {
    if (writes(request) && !request.headers.has('Idempotency-Key')) request.headers.set('Idempotency-Key', randomKey());
    // Browsers take no fetch that is called as a method.
    const {fetch = globalThis.fetch, onRequest, onResponse} = this.#options,
      deadline = performance.now() + patience;
    for (let attempt = 1; ; attempt++) {
      const backoff = Math.min(50 * 2 ** attempt, 5000) * (0.5 + Math.random() / 2),
        sent = {path, request: request.clone(), attempt};
      await onRequest?.(sent);
      const began = performance.now();
      const [response, error] = await once(fetch, sent.request, timeout).then(
        (response) => [response] as const,
        (error: unknown) => [undefined, error] as const,
      );
      const now = performance.now(),
        wait = Math.max(backoff, 1000 * Number(response?.headers.get('Retry-After') ?? 0) || 0),
        isLast = request.signal.aborted || (response && !goesAway(response)) || now + wait > deadline;
      const outcome = response ? {status: response.status, headers: response.headers} : {error};
      await onResponse?.({...sent, ...outcome, milliseconds: now - began, ...(!isLast && {retryIn: wait})});
      if (!isLast) await pause(wait, request.signal);
      else if (response) return response;
      else throw request.signal.aborted ? error : new UnreachableError(attempt, error);
    }
  }
}

/**
 * Sends a request, and reads its whole answer, since a connection can be lost in the middle of one. A stream is left to
 * its reader. A service that is silent for longer than the time-out ends either. Redirects are not followed: they would
 * make a GET of a POST, and take its key elsewhere.
 */
async function once(fetch: NonNullable<Options['fetch']>, request: Request, timeout: number): Promise<Response> {
  const end = new AbortController(),
    abort = () => end.abort(request.signal.reason);
  if (request.signal.aborted) abort();
  request.signal.addEventListener('abort', abort, {once: true});
  const within = async <T>(waited: Promise<T>) => {
    const silent = () => end.abort(new DOMException(`silent for ${timeout} ms`, 'TimeoutError')),
      timer = timeout < 2 ** 31 ? setTimeout(silent, timeout) : undefined; // a timer waits for 24 days at most
    return waited.finally(() => clearTimeout(timer));
  };
  const response = await within(fetch(new Request(request, {signal: end.signal, redirect: 'manual'}))),
    reader = response.body?.getReader();
  if (!reader) return response;
  const body = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const {done, value} = await within(reader.read());
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return new Response(await new Response(body, response).arrayBuffer(), response);
}

/** Reports whether a request writes a record: every POST and DELETE does, and a deck is dealt by a GET. */
function writes({method, url}: Request): boolean {
  return method !== 'GET' || /\/decks\/[^/]+$/.test(new URL(url).pathname);
}

/**
 * Reports whether the same request may be answered otherwise later. Of all conflicts only a request
 * in flight has Retry-After.
 */
function goesAway({status, headers}: Response): boolean {
  return [429, 500, 502, 503, 504].includes(status) || (status === 409 && headers.has('Retry-After'));
}

/** Returns 128 random bits. crypto.randomUUID would be missing in pages that did not come over TLS. */
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const abort = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', abort);
      resolve();
    }, milliseconds);
    signal.addEventListener('abort', abort, {once: true});
  });
}
