/**
 * Stores the session cookie outside browsers. A jar belongs to one origin. It stores the service's session cookie only, and sends it to that
 * origin only.
 */

interface Kept {
  value: string;
  secure: boolean;
}

export interface CookieJarOptions {
  /**
   * Sends the Secure cookie over http to any host. Only for a trusted private network, for example between the containers of one machine:
   * a program that can read the traffic can take over the session.
   */
  secureCookieOverHttp?: boolean;
  /** SESSION_COOKIE_NAME of the service; by default `sid`. */
  sessionCookieName?: string;
}

export class CookieJar {
  readonly #origin: string;
  readonly #trustsNetwork: boolean;
  /** Over https and over plain http. */
  readonly #names: readonly string[];
  readonly #kept = new Map<string, Kept>();

  /** A jar for the origin of `url`. */
  constructor(url: string | URL, { secureCookieOverHttp = false, sessionCookieName = 'sid' }: CookieJarOptions = {}) {
    this.#origin = new URL(url).origin;
    this.#trustsNetwork = secureCookieOverHttp;
    this.#names = [`__Host-${sessionCookieName}`, sessionCookieName];
  }

  /**
   * The `Cookie` header for a request to `url`. Undefined without a cookie, for another origin, and for a Secure cookie over a connection that
   * is neither https nor local.
   */
  header(url: URL): string | undefined {
    if (url.origin !== this.#origin) return undefined;
    const pairs = [...this.#kept]
      .filter(([, { secure }]) => !secure || this.#isPrivate(url))
      .map(([name, { value }]) => `${name}=${value}`);
    return pairs.length === 0 ? undefined : pairs.join('; ');
  }

  /**
   * Applies the `Set-Cookie` headers of an answer from `url`; cookies other than the session cookie are ignored. Returns false if it refuses
   * a session cookie that it could not send, as the cookie is Secure and the connection is not.
   */
  store(url: URL, setCookies: readonly string[]): boolean {
    let usable = true;
    if (url.origin !== this.#origin) return usable;
    for (const text of setCookies) {
      const [pair = '', ...attributes] = text.split(';').map((part) => part.trim());
      const [name = '', ...value] = pair.split('=');
      if (!this.#names.includes(name)) continue;
      const secure = attributes.some((attribute) => attribute.toLowerCase() === 'secure');
      if (name.startsWith('__Host-') && !secure) continue;
      if (isOver(attributes)) this.#kept.delete(name);
      else if (secure && !this.#isPrivate(url)) usable = false;
      else this.#kept.set(name, { value: value.join('='), secure });
    }
    return usable;
  }

  #isPrivate(url: URL): boolean {
    return this.#trustsNetwork || isPrivate(url);
  }
}

/** Whether the connection is protected: https, or the same machine. */
function isPrivate({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

/** Whether the service clears the cookie. A cookie that outlives the browser has a later end, at which the service refuses it anyway. */
function isOver(attributes: readonly string[]): boolean {
  return attributes.some((attribute) => {
    const [name = '', value = ''] = attribute.split('=');
    if (/^max-age$/i.test(name)) return Number(value) <= 0;
    return /^expires$/i.test(name) && Date.parse(value) <= 0;
  });
}

/** Whether `fetch` stores cookies by itself; there it does not let a program set them. */
export function fetchStoresCookies(): boolean {
  return !new Request('http://localhost/', { headers: { cookie: 'a=b' } }).headers.has('cookie');
}
