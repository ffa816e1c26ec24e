/** Concurrent refreshes: in one program, and in several tabs of one browser. */
import { password, TestService, useService } from '../support/service.ts';
import { beforeAll, describe, expect, test } from 'vitest';
import { resultOf, type SessionInfo } from '../../src/client/index.ts';
import { Rotation } from '../../src/client/rotation.ts';
import { createMutex, createSharedMutex, type Locks, type Mutex } from '../../src/client/mutex.ts';
import { clientOf, empty, json, problem, scriptedServer, type Step } from '../support/client.ts';

const service = useService();
beforeAll(async () => {
  await service().createUser('ada');
});

/** Counts how often the client replaces the session's token, by its requests. */
function counting(): { asked: string[]; fetch: (url: string, init: RequestInit) => Promise<Response> } {
  const asked: string[] = [];
  return {
    asked,
    fetch: (url, init) => {
      asked.push(`${init.method} ${new URL(url).pathname}`);
      return fetch(url, init);
    },
  };
}

describe('in one program', () => {
  test('twenty concurrent refreshes send one, all return its session, and the session goes on', async () => {
    const { asked, fetch } = counting();
    const client = clientOf(service(), { fetch });
    const before = await client.createSession({ user: 'ada', password });
    const sessions = await Promise.all(Array.from({ length: 20 }, () => client.refreshSession()));
    expect(asked.filter((request) => request === 'POST /auth/refresh')).toHaveLength(1);
    expect(new Set(sessions.map(({ session }) => session?.idleExpiresAt)).size).toBe(1);
    expect(Date.parse(sessions[0]?.session?.idleExpiresAt ?? '')).toBeGreaterThan(Date.parse(before.session?.idleExpiresAt ?? ''));
    expect(await client.getSession()).toMatchObject({ user: { name: 'ada' } });
  });

  test('a later refresh sends another one', async () => {
    const { asked, fetch } = counting();
    const client = clientOf(service(), { fetch });
    await client.createSession({ user: 'ada', password });
    await client.refreshSession();
    await client.refreshSession();
    expect(asked.filter((request) => request === 'POST /auth/refresh')).toHaveLength(2);
  });

  test('operations that replace the token run one after the other, so that none is a conflict', async () => {
    const client = clientOf(service());
    await client.createSession({ user: 'ada', password });
    const all = [
      client.refreshSession(),
      client.selectDefaultProfile(),
      client.selectProfile('ada'),
      client.refreshSession(),
      client.selectProfile('ada'),
    ];
    for (const info of await Promise.all(all)) expect(info.user.name).toBe('ada');
    expect((await client.getSession()).user.name).toBe('ada');
  });

  test('an aborted call stops waiting, and the others return their session', async () => {
    const client = clientOf(service());
    await client.createSession({ user: 'ada', password });
    const caller = new AbortController();
    const [left, stayed] = [resultOf(client.refreshSession({ signal: caller.signal })), client.refreshSession()];
    caller.abort();
    expect(await left).toMatchObject({ ok: false, error: { reason: 'aborted' } });
    expect((await stayed).user.name).toBe('ada');
  });

  test('a refresh without a session is 401 for all callers, and the next one is sent anew', async () => {
    const client = clientOf(service(), { errors: 'result' });
    for (const result of await Promise.all([client.refreshSession(), client.refreshSession()])) {
      expect(result).toMatchObject({ ok: false, error: { code: 'unauthenticated' } });
    }
    await client.createSession({ user: 'ada', password });
    expect(await client.refreshSession()).toMatchObject({ ok: true });
  });

  test('a session works on every replica, and a refresh at one is visible at the other', async () => {
    const replica: TestService = await service().replica();
    try {
      const client = clientOf(service());
      await client.createSession({ user: 'ada', password });
      // The same service under another URL: this client sends its cookie to the other replica, like a proxy.
      const through = clientOf(service(), {
        cookies: client.cookies,
        fetch: (url, init) => fetch(url.replace(service().url, replica.url), init),
      });
      expect((await through.getSession()).user.name).toBe('ada');
      const { session } = await through.refreshSession();
      expect((await client.getSession()).session?.idleExpiresAt).toBe(session?.idleExpiresAt);
      const note = await client.entities('note').create({ text: 'here' });
      expect((await through.entities('note').update(note, { text: 'there' })).version).toBe(2);
      await client.endSession();
      expect(await resultOf(through.getSession())).toMatchObject({ ok: false, error: { status: 401 } });
    } finally {
      await replica.close();
    }
  });
});

const info = (idleExpiresAt: string) => ({ session: { id: 'x', idleExpiresAt } }) as unknown as SessionInfo;

describe.each<[string, () => Promise<[Mutex, Mutex]>]>([
  ['tabs that share locks', async () => [createSharedMutex(navigatorLocks(), 'http://a'), createSharedMutex(navigatorLocks(), 'http://a')]],
  [
    'callers of one client',
    async () => {
      const turns = createMutex();
      return [turns, turns];
    },
  ],
])('%s', (_who, make) => {
  test('run one after the other: the second waits and is informed of it, also after a failure', async () => {
    const [first, second] = await make();
    const order: string[] = [];
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const one = first(async (waited) => {
      order.push(`one ${waited}`);
      await held;
      throw new Error('no');
    });
    const two = second(async (waited) => void order.push(`two ${waited}`));
    await expect.poll(() => order).toEqual(['one false']);
    release();
    await expect(one).rejects.toThrow('no');
    await two;
    expect(order).toEqual(['one false', 'two true']);
    await first(async (waited) => void order.push(`three ${waited}`));
    expect(order.at(-1)).toBe('three false');
  });
});

describe('a tab that has waited', () => {
  /** A tab that has waited for another; the server answers with these steps. */
  async function waiting(known: string | undefined, ...steps: Step[]) {
    const server = await scriptedServer(...steps);
    const rotation = new Rotation(clientOf(server).http, (work) => work(true));
    if (known !== undefined) rotation.storeDeadline({ ok: true, value: info(known), status: 200, headers: new Headers() });
    const result = await rotation.refresh(undefined);
    return { result, asked: server.heard.map(({ method }) => method) };
  }

  test('uses the refresh of the other tab', async () => {
    expect(await waiting('08:30', json(200, info('09:00')))).toMatchObject({ asked: ['GET'], result: { value: info('09:00') } });
  });

  test('refreshes itself when the other tab has not', async () => {
    const { asked, result } = await waiting('08:30', json(200, info('08:30')), json(200, info('09:00')));
    expect(asked).toEqual(['GET', 'POST']);
    expect(result).toMatchObject({ value: info('09:00') });
  });

  test('refreshes itself when it has no session to compare', async () => {
    expect((await waiting(undefined, json(200, info('09:00')))).asked).toEqual(['POST']);
  });

  test('returns the error when the session has ended meanwhile', async () => {
    const { result } = await waiting('08:30', problem(401, 'unauthenticated'));
    expect(result).toMatchObject({ ok: false, error: { code: 'unauthenticated' } });
  });
});

describe('409 refresh-conflict, where tabs share no lock', () => {
  test('counts as a refresh by the other tab', async () => {
    const server = await scriptedServer(problem(409, 'refresh-conflict'), json(200, info('09:00')));
    expect(await clientOf(server).refreshSession()).toEqual(info('09:00'));
    expect(server.heard.map(({ method, path }) => `${method} ${path}`)).toEqual(['POST /auth/refresh', 'GET /auth']);
  });

  test('of another change of the token is repeated once with the present cookie', async () => {
    const server = await scriptedServer(problem(409, 'refresh-conflict'), json(200, info('09:00')));
    await clientOf(server).selectProfile('sales');
    expect(server.heard.map(({ path }) => path)).toEqual(['/auth/profile/sales', '/auth/profile/sales']);
    const stubborn = await scriptedServer(problem(409, 'refresh-conflict'), problem(409, 'refresh-conflict'), empty(204));
    const changed = await resultOf(clientOf(stubborn).changePassword({ current: 'x', next: 'y' }));
    expect(changed).toMatchObject({ ok: false, error: { code: 'refresh-conflict' } });
    expect(stubborn.heard).toHaveLength(2);
  });
});

/** The Web Locks of Node 24, which work like those of browsers. */
function navigatorLocks(): Locks {
  return (globalThis as unknown as { navigator: { locks: Locks } }).navigator.locks;
}
