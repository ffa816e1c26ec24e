/** A logout, a revoked API key and a changed password, acknowledged just before a fault. They must stay. */
import { setTimeout as delay } from 'node:timers/promises';
import { CookieJar, EntityServiceClient, type ProblemCode, type Result } from '../../../src/client/index.ts';
import type { Callers } from '../callers.ts';

const nextPassword = 'another horse battery staple';
/** For how long a request is repeated that is not served, and the pause between two attempts. */
const servedMilliseconds = 30_000;
const pauseMilliseconds = 50;

export class Revocation {
  readonly #urls: readonly string[];
  readonly #user: string;
  readonly #password: string;
  readonly #cookies: string[];
  readonly #key: string;

  private constructor(urls: readonly string[], user: string, password: string, cookies: string[], key: string) {
    [this.#urls, this.#user, this.#password, this.#cookies, this.#key] = [urls, user, password, cookies, key];
  }

  /**
   * Signs the user in, uses each credential at all services, so that they cache it, and takes all of them away at the first one. What is not served now is
   * repeated: the fault before may still show.
   */
  static async make(urls: readonly [string, ...string[]], user: string, { password }: Callers): Promise<Revocation> {
    const signIn = async () => {
      const client = new EntityServiceClient({ baseUrl: urls[0], errors: 'result', retry: false });
      await served(() => client.createSession({ user, password }));
      return { client, cookie: client.cookies?.header(new URL(urls[0])) ?? '' };
    };
    const [owner, leaving, staying] = [await signIn(), await signIn(), await signIn()];
    const made = await served(() => owner.client.createKey({ name: 'revoked' }));
    if (!made) throw new Error('the key was not created');
    const revocation = new Revocation(urls, user, password, [leaving.cookie, staying.cookie], made.key);
    const before = await revocation.#statuses();
    if (before.some((status) => status !== 'ok')) throw new Error(`a credential does not work before its end: ${before.join(', ')}`);
    // An attempt whose answer was lost may have done it, so a repeat finds nothing more to end.
    await served(() => owner.client.revokeKey(made.id), 'not-found');
    await served(() => leaving.client.endSession(), 'unauthenticated');
    // Ends all other sessions too.
    await served(() => owner.client.changePassword({ current: password, next: nextPassword }), 'unauthenticated');
    return revocation;
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
    const client = new EntityServiceClient({ baseUrl: url, errors: 'result', retry: false });
    const signsIn = async (password: string) =>
      (await served(() => client.createSession({ user: this.#user, password }), 'invalid-credentials')) !== undefined;
    if (await signsIn(this.#password)) risen.push(`${this.#user}: the former password works`);
    if (!(await signsIn(nextPassword))) risen.push(`${this.#user}: the new password does not work`);
    return risen;
  }

  /** The answer to each session and the key at each service: `ok` or the code of the refusal. */
  async #statuses(): Promise<string[]> {
    const attempts = this.#urls.flatMap((baseUrl) => [
      ...this.#cookies.map((cookie) => () => {
        const cookies = new CookieJar(baseUrl);
        cookies.store(new URL(baseUrl), [`${cookie}; Path=/`]);
        return new EntityServiceClient({ baseUrl, errors: 'result', retry: false, cookies }).getSession();
      }),
      () => new EntityServiceClient({ baseUrl, errors: 'result', retry: false, credential: { apiKey: this.#key } }).listEntityTypes(),
    ]);
    return await Promise.all(
      attempts.map(async (attempt) => ((await served<unknown>(attempt, 'unauthenticated')) === undefined ? 'unauthenticated' : 'ok')),
    );
  }
}

/** The result of `attempt`, which is repeated for half a minute while nothing serves it; undefined for the refusal `accepted`. Throws for any other refusal. */
async function served<T>(attempt: () => Promise<Result<T>>, accepted?: ProblemCode): Promise<T | undefined> {
  for (const end = performance.now() + servedMilliseconds; ; await delay(pauseMilliseconds)) {
    const result = await attempt();
    if (result.ok) return result.value;
    const { error } = result;
    if (error.kind === 'api' && error.code === accepted) return undefined;
    const isPassing = error.kind !== 'api' || error.status === 503;
    if (!isPassing || performance.now() > end) throw new Error(`not served: ${error.kind === 'api' ? error.code : error.kind}`);
  }
}
