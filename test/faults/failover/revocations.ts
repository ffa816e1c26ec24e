/** A logout, a revoked API key and a changed password, acknowledged just before a fault. They must stay. */
import { CookieJar, EntityServiceClient } from '../../../src/client/index.ts';
import type { Callers } from '../callers.ts';

const nextPassword = 'another horse battery staple';

export class Revocation {
  readonly #urls: readonly string[];
  readonly #user: string;
  readonly #password: string;
  readonly #cookies: string[];
  readonly #key: string;

  private constructor(urls: readonly string[], user: string, password: string, cookies: string[], key: string) {
    [this.#urls, this.#user, this.#password, this.#cookies, this.#key] = [urls, user, password, cookies, key];
  }

  /** Signs the user in, uses each credential at all services, so that they cache it, and takes all of them away at the first one. */
  static async make(urls: readonly [string, ...string[]], user: string, { password }: Callers): Promise<Revocation> {
    const signIn = async () => {
      const client = new EntityServiceClient({ baseUrl: urls[0] });
      await client.createSession({ user, password });
      return { client, cookie: client.cookies?.header(new URL(urls[0])) ?? '' };
    };
    const [owner, leaving, staying] = [await signIn(), await signIn(), await signIn()];
    const { id, key } = await owner.client.createKey({ name: 'revoked' });
    const made = new Revocation(urls, user, password, [leaving.cookie, staying.cookie], key);
    const before = await made.#statuses();
    if (before.some((status) => status !== 'ok')) throw new Error(`a credential does not work before its end: ${before.join(', ')}`);
    await owner.client.revokeKey(id);
    await leaving.client.endSession();
    // Ends all other sessions too.
    await owner.client.changePassword({ current: password, next: nextPassword });
    return made;
  }

  /** Which revoked session or key works at a service, one a line. */
  async accepted(): Promise<string[]> {
    const statuses = await this.#statuses();
    return statuses.filter((status) => status !== 'unauthenticated').map((status) => `${this.#user}: a revoked credential gets ${status}`);
  }

  /** What works again of that which was revoked, one a line. */
  async violations(): Promise<string[]> {
    const risen = await this.accepted();
    const [url = ''] = this.#urls;
    const client = new EntityServiceClient({ baseUrl: url, errors: 'result' });
    const old = await client.createSession({ user: this.#user, password: this.#password });
    const next = await client.createSession({ user: this.#user, password: nextPassword });
    if (old.ok) risen.push(`${this.#user}: the former password works`);
    if (!next.ok) risen.push(`${this.#user}: the new password does not work`);
    return risen;
  }

  /** The answer to each session and the key at each service: `ok` or the code of the refusal. */
  async #statuses(): Promise<string[]> {
    const answers = this.#urls.flatMap((baseUrl) => [
      ...this.#cookies.map((cookie) => {
        const cookies = new CookieJar(baseUrl);
        cookies.store(new URL(baseUrl), [`${cookie}; Path=/`]);
        return new EntityServiceClient({ baseUrl, errors: 'result', cookies }).getSession();
      }),
      new EntityServiceClient({ baseUrl, errors: 'result', credential: { apiKey: this.#key } }).listEntityTypes(),
    ]);
    return (await Promise.all(answers)).map((result) =>
      result.ok ? 'ok' : result.error.kind === 'api' ? result.error.code : result.error.kind,
    );
  }
}
