/**
 * Sends the requests that the generated operations describe, and makes results of the answers: credentials, cookies, deadlines and repeats.
 * It knows HTTP and problems, and no operation by name.
 */
import type { Clock } from './clock.ts';
import { Consistency } from './consistency.ts';
import type { CookieJar } from './cookies.ts';
import { RequestDeadline } from './request-deadline.ts';
import { ApiError, ClientError, describeRequest, type FailedRequest } from './errors.ts';
import { exactJson } from './exact-json.ts';
import type { Client, OperationRequest, StreamRequest } from './operation.ts';
import type { Failure, Result, Success } from './result.ts';
import { isOutcomeUnknown, mayRepeat, pauseMs, readRetryAfter, repeatabilityOf, type RetryPolicy } from './retry.ts';

/** An API key, or an access token of a trusted issuer: a text, or a function that is called before every attempt. */
export type Credential = { apiKey: string } | { bearer: string | (() => string | Promise<string>) };

/** The part of the standard `fetch` that the client uses. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface HttpSettings {
  base: URL;
  /** Undefined for a session. */
  credential: Credential | undefined;
  /** Undefined where the browser stores the cookie. */
  cookies: CookieJar | undefined;
  /** For Accept-Language. */
  locale: string | undefined;
  timeoutMs: number;
  retry: RetryPolicy;
  fetch: Fetch;
  clock: Clock;
}

interface PreparedRequest {
  method: string;
  url: URL;
  headers: Headers;
  body: string | undefined;
  authenticated: boolean;
  /** The path with the names of its parameters. */
  path: string;
  /** For errors. */
  request: FailedRequest;
}

export class Http implements Client {
  readonly #settings: HttpSettings;
  readonly consistency = new Consistency();

  constructor(settings: HttpSettings) {
    this.#settings = settings;
  }

  readonly get: Client['get'] = (request) => this.#send('GET', request);
  readonly head: Client['head'] = (request) => this.#send('HEAD', request);
  readonly post: Client['post'] = (request) => this.#send('POST', request);
  readonly put: Client['put'] = (request) => this.#send('PUT', request);
  readonly delete: Client['delete'] = (request) => this.#send('DELETE', request);

  readonly stream: Client['stream'] = async (method, { body, ...options }: StreamRequest) => {
    const prepared = this.#prepare(method, options);
    // Where the body is a stream, the answer may begin before it has been sent.
    if (body) for (const [name, value] of Object.entries(options.headers ?? {})) if (value !== undefined) prepared.headers.set(name, value);
    const attempt = new RequestDeadline(this.#settings.clock, options.timeoutMs ?? this.#settings.timeoutMs, options.signal);
    try {
      const sent = await this.#fetch(prepared, attempt, body && { body, ...(body instanceof ReadableStream && { duplex: 'half' }) });
      if (sent instanceof ClientError) return { ok: false, error: sent };
      const { status, headers } = sent;
      if (status === 200 && sent.body) return { ok: true, value: sent.body, status, headers };
      const answer = readAnswer<never>(prepared.request, sent, await sent.text(), this.#settings.clock.now());
      return answer.ok ? { ok: false, error: new ClientError('answer', { status, request: prepared.request }) } : answer;
    } catch (cause) {
      return { ok: false, error: attempt.failure(cause, prepared.request) };
    } finally {
      attempt.begun();
    }
  };

  /** Repeats the request until it succeeds, fails permanently, or time or attempts run out. Returns the last failure. */
  async #send<T>(method: string, request: OperationRequest): Promise<Result<T>> {
    const { clock, retry } = this.#settings;
    const prepared = this.#prepare(method, request);
    const how = request.retry === false ? 'never' : repeatabilityOf(method, request.url, prepared.headers);
    const start = clock.now();
    let doubt = false;
    for (let attempt = 1; ; attempt += 1) {
      const result = await this.#attempt<T>(prepared, request);
      if (result.ok) return result;
      const { error } = result;
      // An earlier attempt may have deleted it although its answer was lost.
      if (doubt && method === 'DELETE' && error instanceof ApiError && error.status === 404) {
        return { ok: true, value: undefined as T, status: 204, headers: new Headers() };
      }
      doubt ||= isOutcomeUnknown(error);
      if (attempt >= retry.attempts || !mayRepeat(error, how)) return result;
      const pause = pauseMs(retry, attempt + 1, error.retryAfterSeconds, Math.random());
      if (clock.now() + pause - start > retry.totalMs) return result;
      try {
        await clock.sleep(pause, request.signal);
      } catch (cause) {
        return { ok: false, error: new ClientError('aborted', { cause, request: prepared.request }) };
      }
    }
  }

  #prepare(method: string, request: OperationRequest): PreparedRequest {
    const { base, locale } = this.#settings;
    const url = new URL(base);
    url.pathname = `${base.pathname.replace(/\/$/, '')}${fill(request.url, request.path ?? {})}`;
    for (const [name, value] of Object.entries(request.query ?? {})) if (value !== undefined) url.searchParams.append(name, value);
    const headers = new Headers({ accept: 'application/json, application/problem+json' });
    if (locale !== undefined) headers.set('Accept-Language', locale);
    for (const [name, value] of Object.entries(request.headers ?? {})) if (value !== undefined) headers.set(name, value);
    let body: string | undefined;
    if (request.body === undefined) headers.delete('Content-Type');
    else body = request.bodySerializer ? request.bodySerializer(request.body as object) : exactJson(request.body);
    return {
      method,
      url,
      headers,
      body,
      authenticated: request.security !== undefined,
      path: request.url,
      request: describeRequest(method, url),
    };
  }

  async #attempt<T>(prepared: PreparedRequest, { signal, timeoutMs }: OperationRequest): Promise<Result<T>> {
    const { clock, cookies } = this.#settings;
    const { url, body, request } = prepared;
    const attempt = new RequestDeadline(clock, timeoutMs ?? this.#settings.timeoutMs, signal);
    try {
      const response = await this.#fetch(prepared, attempt, body === undefined ? {} : { body });
      if (response instanceof ClientError) return { ok: false, error: response };
      const usable = cookies?.store(url, response.headers.getSetCookie()) ?? true;
      const answer = readAnswer<T>(request, response, await response.text(), clock.now());
      return answer.ok && !usable ? { ok: false, error: new ClientError('cookie', { status: answer.status, request }) } : answer;
    } catch (cause) {
      return { ok: false, error: attempt.failure(cause, request) };
    } finally {
      attempt.over();
    }
  }

  async #fetch(prepared: PreparedRequest, attempt: RequestDeadline, body: object = {}): Promise<Response | ClientError> {
    const headers = await attempt.race(this.#authenticate(prepared));
    if (headers instanceof ClientError) return headers;
    const { method } = prepared;
    this.consistency.addTo(headers, method, prepared.path);
    const response = await this.#settings.fetch(prepared.url.href, {
      method,
      headers,
      // A credential in a header takes precedence over the cookie, so the cookie is not sent.
      credentials: this.#settings.credential ? 'omit' : 'include',
      // The service redirects no operation, and no other server may get the credentials.
      redirect: 'manual',
      signal: attempt.signal,
      ...body,
    });
    this.consistency.storeToken(response.headers.get('Consistency-Token'));
    return response;
  }

  /** The headers with the credential; an error if the access token cannot be obtained. */
  async #authenticate({ headers: given, url, authenticated, request }: PreparedRequest): Promise<Headers | ClientError> {
    const { credential, cookies } = this.#settings;
    const headers = new Headers(given);
    if (!credential) {
      const cookie = cookies?.header(url);
      if (cookie !== undefined) headers.set('Cookie', cookie);
    } else if (authenticated && 'apiKey' in credential) {
      headers.set('X-API-Key', credential.apiKey);
    } else if (authenticated && 'bearer' in credential) {
      try {
        headers.set('Authorization', `Bearer ${typeof credential.bearer === 'string' ? credential.bearer : await credential.bearer()}`);
      } catch (cause) {
        return new ClientError('credential', { cause, request });
      }
    }
    return headers;
  }
}

/**
 * The path with its parameters filled in. Throws a TypeError for a parameter that is no text, and for `.` and `..`: they would address another
 * operation and cannot be escaped.
 */
function fill(path: string, values: Readonly<Record<string, string>>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_match, name: string) => {
    const value = values[name];
    if (typeof value !== 'string' || value === '' || value === '.' || value === '..') {
      throw new TypeError(`"${String(value)}" cannot be the ${name} in ${path}`);
    }
    return encodeURIComponent(value);
  });
}

/** The result of an answer. 304 is a success without a value: the caller already has it. */
function readAnswer<T>(request: FailedRequest, { status, headers }: Response, text: string, now: number): Success<T> | Failure {
  const { method } = request;
  const retryAfterSeconds = readRetryAfter(headers.get('Retry-After'), now);
  const type = headers.get('Content-Type') ?? '';
  const succeeded = status >= 200 && status < 300;
  if (status === 204 || status === 304 || (succeeded && method === 'HEAD')) return { ok: true, value: undefined as T, status, headers };
  const code = headers.get('Problem-Code');
  if (method === 'HEAD' && code !== null) {
    const problem = { code, status, title: code, detail: `The service answered ${status} (${code}).` };
    return { ok: false, error: new ApiError(problem, retryAfterSeconds, request) };
  }
  try {
    if (succeeded && /^application\/json\b/.test(type)) return { ok: true, value: JSON.parse(text) as T, status, headers };
    if (status >= 400 && /^application\/problem\+json\b/.test(type)) {
      const problem = JSON.parse(text) as ConstructorParameters<typeof ApiError>[0];
      return { ok: false, error: new ApiError(problem, retryAfterSeconds, request) };
    }
  } catch (cause) {
    return { ok: false, error: new ClientError('answer', { cause, status, retryAfterSeconds, request }) };
  }
  return { ok: false, error: new ClientError('answer', { status, retryAfterSeconds, request }) };
}
