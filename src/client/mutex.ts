/** Mutual exclusion for operations that replace the session's token: of two at once, one would be a conflict. */

/** Runs `work` when no other work is running; `waited` says whether it had to wait for other work. */
export type Mutex = <T>(work: (waited: boolean) => Promise<T>) => Promise<T>;

/** A mutex among the calls of one client; enough where the client stores the cookie. */
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

/** The part of the Web Locks API (https://www.w3.org/TR/web-locks/) that is used. */
export interface Locks {
  request<T>(name: string, options: { ifAvailable: boolean }, work: (lock: object | null) => Promise<T>): Promise<T>;
}

/** A mutex among all tabs and workers of a browser that share the cookie of `origin`, through the Web Locks API. */
export function createSharedMutex(locks: Locks, origin: string): Mutex {
  const name = `entity-service-client ${origin}`;
  return async <T>(work: (waited: boolean) => Promise<T>) => {
    const atOnce = await locks.request(name, { ifAvailable: true }, async (lock) => (lock ? { value: await work(false) } : undefined));
    return atOnce ? atOnce.value : await locks.request(name, { ifAvailable: false }, () => work(true));
  };
}
