/**
 * Sends what the generated operations describe, and makes a result of what comes back: credentials, cookies, deadlines and repeats. It
 * knows HTTP and problems, and no operation by name.
 */
import type { Clock } from './clock.ts';
import type { CookieJar } from './cookies.ts';
import { RequestDeadline } from './request-deadline.ts';
import { ApiError, ClientError } from './errors.ts';
import { exactJson } from './exact-json.ts';
import type { Client, OperationRequest } from './operation.ts';
import type { Failure, Result, Success } from './result.ts';
import { isOutcomeUnknown, mayRepeat, pauseMs, readRetryAfter, repeatable, type RetryPolicy } from './retry.ts';

/** An API key, or an access token of an issuer that the service trusts, as text or from a function that is asked before every attempt. */
export type Credential = { apiKey: string } | { bearer: string | (() => string | Promise<string>) };

/** As much of the standard `fetch` as is needed. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface HttpSettings {
  base: URL;
  /** Undefined for a session. */
  credential: Credential | undefined;
  /** Undefined where the browser keeps the cookie. */
  cookies: CookieJar | undefined;
  /** For Accept-Language. */
  locale: string | undefined;
  timeoutMs: number;
  retry: RetryPolicy;
  fetch: Fetch;
  clock: Clock;
}

interface Prepared {
  method: string;
  url: URL;
  headers: Headers;
  body: string | undefined;
  authenticated: boolean;
}

export class Http implements Client {
  readonly #settings: HttpSettings;

  constructor(settings: HttpSettings) {
    this.#settings = settings;
  }

  readonly get: Client['get'] = (request) => this.#send('GET', request);
  readonly head: Client['head'] = (request) => this.#send('HEAD', request);
  readonly post: Client['post'] = (request) => this.#send('POST', request);
  readonly delete: Client['delete'] = (request) => this.#send('DELETE', request);

  /** Attempts it until it succeeds, fails for good, or time or attempts run out; the last failure counts. */
  async #send<T>(method: string, request: OperationRequest): Promise<Result<T>> {
    const { clock, retry } = this.#settings;
    const prepared = this.#prepare(method, request);
    const how = request.retry === false ? 'never' : repeatable(method, prepared.headers);
    const start = clock.now();
    let doubt = false;
    for (let attempt = 1; ; attempt += 1) {
      const result = await this.#attempt<T>(prepared, request);
      if (result.ok) return result;
      const { error } = result;
      // The attempt before may have deleted it and lost the answer. It is gone, as was asked.
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
        return { ok: false, error: new ClientError('aborted', { cause }) };
      }
    }
  }

  #prepare(method: string, request: OperationRequest): Prepared {
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
    return { method, url, headers, body, authenticated: request.security !== undefined };
  }

  async #attempt<T>(prepared: Prepared, { signal, timeoutMs }: OperationRequest): Promise<Result<T>> {
    const { clock, cookies, fetch } = this.#settings;
    const { method, url, body } = prepared;
    const attempt = new RequestDeadline(clock, timeoutMs ?? this.#settings.timeoutMs, signal);
    try {
      const headers = await attempt.race(this.#authenticate(prepared));
      if (headers instanceof ClientError) return { ok: false, error: headers };
      const response = await fetch(url.href, {
        method,
        headers,
        // A header credential beats the cookie, so the cookie stays at home.
        credentials: this.#settings.credential ? 'omit' : 'include',
        // The service redirects no operation, and nobody else gets our credentials.
        redirect: 'manual',
        signal: attempt.signal,
        ...(body === undefined ? {} : { body }),
      });
      cookies?.store(url, response.headers.getSetCookie());
      return readAnswer<T>(method, response, await response.text(), clock.now());
    } catch (cause) {
      return { ok: false, error: attempt.failure(cause) };
    } finally {
      attempt.over();
    }
  }

  /** The headers with the credential in them; an error if the access token cannot be had. */
  async #authenticate({ headers: given, url, authenticated }: Prepared): Promise<Headers | ClientError> {
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
        return new ClientError('credential', { cause });
      }
    }
    return headers;
  }
}

/**
 * The path with its parameters filled in. Throws a TypeError for `.` and `..`, which would lead to another operation and cannot be
 * escaped, and for what is no text.
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

/** What the answer says. 304 is a success without a value: it is only given to who has one. */
function readAnswer<T>(method: string, { status, headers }: Response, text: string, now: number): Success<T> | Failure {
  const retryAfterSeconds = readRetryAfter(headers.get('Retry-After'), now);
  const type = headers.get('Content-Type') ?? '';
  const succeeded = status >= 200 && status < 300;
  if (status === 204 || status === 304 || (succeeded && method === 'HEAD')) return { ok: true, value: undefined as T, status, headers };
  const code = headers.get('Problem-Code');
  if (method === 'HEAD' && code !== null) {
    return {
      ok: false,
      error: new ApiError({ code, status, title: code, detail: `The service answered ${status} (${code}).` }, retryAfterSeconds),
    };
  }
  try {
    if (succeeded && /^application\/json\b/.test(type)) return { ok: true, value: JSON.parse(text) as T, status, headers };
    if (status >= 400 && /^application\/problem\+json\b/.test(type)) {
      return { ok: false, error: new ApiError(JSON.parse(text) as ConstructorParameters<typeof ApiError>[0], retryAfterSeconds) };
    }
  } catch (cause) {
    return { ok: false, error: new ClientError('answer', { cause, status, retryAfterSeconds }) };
  }
  return { ok: false, error: new ClientError('answer', { status, retryAfterSeconds }) };
}
