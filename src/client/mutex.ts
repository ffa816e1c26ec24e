/** One at a time for what replaces the session's token: two replacements at once would make one of them a conflict. */

/** Runs work when nobody else's is running; `waited` says that somebody's was. */
export type Mutex = <T>(work: (waited: boolean) => Promise<T>) => Promise<T>;

/** Turns among the callers of one client, which is all there are where the client keeps the cookie. */
export function createMutex(): Mutex {
  let last: Promise<unknown> | undefined;
  return async (work) => {
    const before = last;
    const mine = before ? before.then(() => work(true)) : work(false);
    const settled = mine.then(
      () => undefined,
      () => undefined,
    );
    last = settled;
    try {
      return await mine;
    } finally {
      if (last === settled) last = undefined;
    }
  };
}

/** What is needed of the Web Locks API (https://www.w3.org/TR/web-locks/). */
export interface Locks {
  request<T>(name: string, options: { ifAvailable: boolean }, work: (lock: object | null) => Promise<T>): Promise<T>;
}

/** Turns among all tabs and workers of a browser that share the cookie of `origin`, through the Web Locks API. */
export function createSharedMutex(locks: Locks, origin: string): Mutex {
  const name = `entity-service-client ${origin}`;
  return async <T>(work: (waited: boolean) => Promise<T>) => {
    const atOnce = await locks.request(name, { ifAvailable: true }, async (lock) => (lock ? { value: await work(false) } : undefined));
    return atOnce ? atOnce.value : await locks.request(name, { ifAvailable: false }, () => work(true));
  };
}
