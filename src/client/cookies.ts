/**
 * The session cookie where there is no browser to keep it. A jar belongs to one origin, keeps the service's own cookie and no other, and
 * hands it to nobody else.
 */

const names: readonly string[] = ['__Host-sid', 'sid'];

interface Kept {
  value: string;
  secure: boolean;
}

export class CookieJar {
  readonly #origin: string;
  readonly #kept = new Map<string, Kept>();

  /** A jar for the origin of `url`. */
  constructor(url: string | URL) {
    this.#origin = new URL(url).origin;
  }

  /**
   * The `Cookie` header for a request to `url`; undefined if there is nothing to send, if it goes to another origin, or if a Secure cookie
   * would cross a network in the open.
   */
  header(url: URL): string | undefined {
    if (url.origin !== this.#origin) return undefined;
    const pairs = [...this.#kept].filter(([, { secure }]) => !secure || isPrivate(url)).map(([name, { value }]) => `${name}=${value}`);
    return pairs.length === 0 ? undefined : pairs.join('; ');
  }

  /** Keeps or forgets what an answer from `url` says in its `Set-Cookie` headers; others than the session cookie are passed over. */
  store(url: URL, setCookies: readonly string[]): void {
    if (url.origin !== this.#origin) return;
    for (const text of setCookies) {
      const [pair = '', ...attributes] = text.split(';').map((part) => part.trim());
      const [name = '', ...value] = pair.split('=');
      if (!names.includes(name)) continue;
      const secure = attributes.some((attribute) => attribute.toLowerCase() === 'secure');
      if (name.startsWith('__Host-') && (!secure || !isPrivate(url))) continue;
      if (isOver(attributes)) this.#kept.delete(name);
      else this.#kept.set(name, { value: value.join('='), secure });
    }
  }
}

/** Whether nobody on the way can read along: https, or the machine itself. */
function isPrivate({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

/** A session cookie has no end of its own but when it is cleared, so any end means that. */
function isOver(attributes: readonly string[]): boolean {
  return attributes.some((attribute) => {
    const [name = '', value = ''] = attribute.split('=');
    if (/^max-age$/i.test(name)) return Number(value) <= 0;
    return /^expires$/i.test(name) && Date.parse(value) <= 0;
  });
}

/** Whether `fetch` keeps cookies by itself, which is where it does not let a program set them. */
export function fetchKeepsCookies(): boolean {
  return !new Request('http://localhost/', { headers: { cookie: 'a=b' } }).headers.has('cookie');
}
