// The client: how requests are sent, repeated and answered.
import createClient, {
  type Client,
  type ClientPathsWithMethod,
  type MaybeOptionalInit,
  type MethodResponse,
  type ParseAs,
} from 'openapi-fetch';
import type {Returned, Strict} from './answers.js';
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

export interface Options {
  /** A token, `rfl_...`, for a service that asks for one. */
  token?: string | undefined;
  /**
   * For how many milliseconds a request is repeated that got no answer, or one that says to come
   * back: 60,000 by default; 0 is never. A `signal` ends it sooner.
   */
  patience?: number;
  /** What sends requests, instead of the fetch of the platform. */
  fetch?: (request: Request) => Promise<Response>;
}

type Method = 'get' | 'post' | 'delete';
type Init<Path extends keyof paths, M extends Method> = MaybeOptionalInit<paths[Path], M>;

/**
 * A path of the contract and, where it takes any, its `params`, `body` and `signal`; the answer to
 * it is the result, with the members that the request asks for.
 */
type Call<M extends Method> = <Path extends ClientPathsWithMethod<Client<paths>, M>, I extends Init<Path, M>>(
  path: Path,
  ...init: undefined extends I ? [init?: Strict<Init<Path, M>, I>] : [init: Strict<Init<Path, M>, I>]
) => Promise<
  I extends {parseAs: ParseAs} ? MethodResponse<Client<paths>, M, Path, I> : Returned<Path, paths[Path][M], I>
>;

/**
 * A client of one log. Its base URL is the service's, or ends with the prefix of the log,
 * such as `/logs/poker`.
 *
 * Each request that writes a record has an `Idempotency-Key`, its own unless the caller sets one,
 * and is repeated with it until it is answered, so that it is carried out once. Keys are as secret
 * as seeds.
 */
export class Riffle {
  readonly #client: Client<paths>;
  readonly #fetch: (request: Request) => Promise<Response>;
  readonly #patience: number;

  constructor(baseUrl: string | URL, {token, patience = 60_000, fetch = globalThis.fetch}: Options = {}) {
    this.#fetch = (request) => fetch(request); // browsers take no fetch that is called as a method
    this.#patience = patience;
    this.#client = createClient<paths>({
      baseUrl: String(baseUrl),
      fetch: (request) => this.#send(request),
      querySerializer: {object: {style: 'form', explode: true}}, // parameters of deck types
      headers: !token ? {} : {Authorization: `Bearer ${token}`},
    });
  }

  readonly get = ((path, init) => this.#call('get', path, init)) as Call<'get'>;
  readonly post = ((path, init) => this.#call('post', path, init)) as Call<'post'>;
  readonly delete = ((path, init) => this.#call('delete', path, init)) as Call<'delete'>;

  /** Reads a stream of proof files, one record at a time, as it arrives. To leave the loop ends the request. */
  async *lines(
    path: '/shoes/{id}/proof',
    init: Init<'/shoes/{id}/proof', 'get'>,
  ): AsyncGenerator<AuditProof, void, undefined> {
    const body = await this.get(path, {...init, parseAs: 'stream'});
    const reader = body!.getReader(),
      decoder = new TextDecoder();
    try {
      for (let rest = '', last = false; !last; ) {
        const {done, value} = await reader.read();
        const lines = (rest + decoder.decode(value, {stream: !done})).split('\n');
        rest = lines.pop()!;
        last = done;
        for (const line of lines) yield JSON.parse(line);
        if (done && rest !== '') throw new SyntaxError('the stream ends in the middle of a line');
      }
    } finally {
      await reader.cancel();
    }
  }

  /** Returns JSON as its value and any other answer as text, unless parseAs says otherwise. */
  async #call(method: Method, path: string, init?: {parseAs?: string}): Promise<unknown> {
    const call = this.#client.request(method, path as never, {parseAs: 'text', ...init} as never);
    const {data, error, response} = await (call as Promise<{data?: unknown; error?: unknown; response: Response}>);
    const isJSON = !init?.parseAs && response.headers.get('Content-Type')?.startsWith('application/json');
    if (response.ok) return isJSON ? JSON.parse(data as string) : data;
    if (typeof error === 'object' && response.headers.get('Content-Type') === 'application/problem+json')
      throw new RiffleError(error as Problem, response);
    const detail = `This is no answer of the service: ${String(error).slice(0, 200)}`;
    throw new RiffleError({type: 'about:blank', title: response.statusText, status: response.status, detail}, response);
  }

  /** Sends a request until it is answered with something that would not change, or patience ends. */
  async #send(request: Request): Promise<Response> {
    if (writes(request) && !request.headers.has('Idempotency-Key')) request.headers.set('Idempotency-Key', randomKey());
    const deadline = performance.now() + this.#patience;
    for (let attempt = 0; ; attempt++) {
      const backoff = Math.min(100 * 2 ** attempt, 5000) * (0.5 + Math.random() / 2);
      const [response, error] = await this.#fetch(request.clone())
        .then(whole)
        .then(
          (response) => [response] as const,
          (error: unknown) => [undefined, error] as const,
        );
      const wait = Math.max(backoff, 1000 * Number(response?.headers.get('Retry-After') ?? 0) || 0);
      if (request.signal.aborted || (response && !goesAway(response)) || performance.now() + wait > deadline) {
        if (response) return response;
        throw error;
      }
      await pause(wait, request.signal);
    }
  }
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

/** Reads a whole answer, since a connection can be lost in the middle of one. A stream is left to its reader. */
async function whole(response: Response): Promise<Response> {
  if (/jsonl|x-ndjson/.test(response.headers.get('Content-Type') ?? '')) return response;
  return new Response(await response.arrayBuffer(), response);
}

/** Returns 128 random bits. crypto.randomUUID would be missing in pages that did not come over TLS. */
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
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
