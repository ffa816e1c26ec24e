/** The options of a client, and the input of a sign-in. */
import type { Clock } from './clock.ts';
import type { CookieJar } from './cookies.ts';
import type { Credential, Fetch } from './http.ts';
import type { ErrorStyle } from './result.ts';
import type { RetryPolicy } from './retry.ts';

export interface ClientOptions<S extends ErrorStyle = 'throw'> {
  /** The service's URL, with the path prefix if there is one. In a browser it may be relative: `/` is the page's own origin. */
  baseUrl: string | URL;
  /** An API key or an access token; without it the client works with a session. */
  credential?: Credential | undefined;
  /** Whether methods throw errors (`throw`, the default) or return results (`result`). */
  errors?: S;
  /** Time limit of each attempt of a request in milliseconds; 30,000 by default. */
  timeoutMs?: number;
  /** Overrides of the retry defaults; false turns retries off. */
  retry?: Partial<RetryPolicy> | false;
  /** The language of problems before there is a session, in the syntax of Accept-Language. */
  locale?: string | undefined;
  /** The cookie jar of another client, to share its session. A browser shares its own cookies among clients anyway. */
  cookies?: CookieJar | undefined;
  /** The option of the client's own cookie jar: the session's Secure cookie goes over http too. Only for a trusted private network. */
  secureCookieOverHttp?: boolean;
  /** The option of the client's own cookie jar: SESSION_COOKIE_NAME of the service, if it is not `sid`. */
  sessionCookieName?: string;
  /** Replaces the global `fetch`. */
  fetch?: Fetch;
  /** Replaces the system's clock in tests. */
  clock?: Clock;
}

/** The input of a sign-in: a name and a password, or an access token of a trusted issuer. */
export type SignIn = { user: string; password: string; locale?: string } | { oidcIssuer: string; access_token: string; locale?: string };
