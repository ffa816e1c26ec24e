/** The newest place in the log of the service's database that a client knows of. Reads send it, so that no standby shows them an older state. */

const form = /^[\w-]{16}$/;

export class Consistency {
  #token: string | undefined;

  /** Stores the `Consistency-Token` of an answer if it is newer. A service without a standby sends none. */
  storeToken(token: string | null | undefined): void {
    if (!token || !form.test(token)) return;
    if (this.#token === undefined || bytesOf(token) > bytesOf(this.#token)) this.#token = token;
  }

  /** Adds the token to the headers of a request that reads entities. `path` has the names of its parameters. */
  addTo(headers: Headers, method: string, path: string): void {
    const isRead = path.startsWith('/rest/entity/') && (method === 'GET' || /\/(query|aggregate)$/.test(path));
    if (isRead && this.#token !== undefined) headers.set('Consistency-Token', this.#token);
  }
}

/** A text whose characters are the bytes of the token, which have the order of their places. */
const bytesOf = (token: string): string => atob(token.replaceAll('-', '+').replaceAll('_', '/'));
