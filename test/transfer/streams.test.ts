/** Exports end with the caller's credential and rights, with the process, and with the client. */
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { useService, type TestService } from '../support/service.ts';

const service = useService();
const name = 'long';
let userId: string;
beforeAll(async () => {
  userId = (await service().createUser('ada')).id;
  // More than the sockets between client and server take.
  await insert(name, 2_000);
});

async function insert(to: string, count: number): Promise<void> {
  await sql`insert into entity (name, fields, created_by, updated_by)
    select ${to}, jsonb_build_object('n', n, 'text', repeat('x', 16000)), 'ada', 'ada' from generate_series(1, ${count}::int) as n`.execute(
    service().db,
  );
}

/** An export whose first bytes have been read. */
async function begin(from: TestService, cookie: string, query = '', of = name) {
  const answer = await fetch(`${from.url}/rest/entity/${of}/export${query}`, { headers: { cookie } });
  const reader = (answer.body ?? expect.fail('no body')).getReader();
  const { value } = await reader.read();
  let text = new TextDecoder().decode(value);
  return {
    /** The lines to the end. */
    async rest(): Promise<string[]> {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return text.trimEnd().split('\n');
        text += new TextDecoder().decode(value);
      }
    },
    leave: () => reader.cancel(),
  };
}

const lastOf = (lines: string[]) => JSON.parse(lines.at(-1) ?? '') as { $complete: boolean; entities: number; problem?: { code: string } };

describe('an export under way', () => {
  test('goes on to the end otherwise', async () => {
    const lines = await (await begin(service(), await service().openSession(userId))).rest();
    expect([lines.length, lastOf(lines)]).toMatchObject([2_001, { $complete: true, entities: 2_000 }]);
  });

  test('ends with the session, and says so in its last line', async () => {
    const cookie = await service().openSession(userId);
    const under = await begin(service(), cookie);
    expect((await service().call('HEAD', '/auth?logout=1', { cookie })).status).toBe(204);
    const lines = await under.rest();
    expect(lastOf(lines)).toMatchObject({
      $complete: false,
      entities: lines.length - 1,
      problem: { code: 'unauthenticated', status: 401 },
    });
    expect(lines.length).toBeLessThan(2_000);
  });

  test('goes on when the client refreshes its session', async () => {
    const cookie = await service().openSession(userId);
    const under = await begin(service(), cookie);
    expect((await service().call('POST', '/auth/refresh', { cookie })).status).toBe(200);
    expect(lastOf(await under.rest())).toMatchObject({ $complete: true });
  });

  test('ends with the key (rule 59)', async () => {
    const apiKey = await service().createKey(userId);
    const answer = await fetch(`${service().url}/rest/entity/${name}/export`, { headers: { 'x-api-key': apiKey } });
    await sql`update api_key set revoked_at = now()`.execute(service().db);
    await service().settle();
    expect(lastOf((await answer.text()).trimEnd().split('\n'))).toMatchObject({ $complete: false, problem: { code: 'unauthenticated' } });
  });

  test('ends with the right to read (rule 64)', async () => {
    const { id } = await service().createUser('reader', { [name]: ['read'] });
    const under = await begin(service(), await service().openSession(id));
    await sql`delete from role_grant where entity = ${name}`.execute(service().db);
    await service().settle();
    expect(lastOf(await under.rest())).toMatchObject({ $complete: false, problem: { code: 'forbidden', status: 403 } });
  });

  test('ends with the process, and says so in its last line (rule 92)', async () => {
    const replica = await service().replica();
    // More than an export reads within the quarter of a second between the end of listening and that of the exports.
    await insert('longer', 5_000);
    const under = await begin(replica, await service().openSession(userId), '', 'longer');
    const stopped = replica.stop();
    const isListening = async () =>
      await fetch(`${replica.url}/health/live`).then(
        () => true,
        () => false,
      );
    await expect.poll(isListening, { timeout: 5_000 }).toBe(false);
    expect(lastOf(await under.rest())).toMatchObject({ $complete: false, problem: { code: 'unavailable', status: 503 } });
    await stopped;
  });

  test('as CSV ends its connection instead', async () => {
    const cookie = await service().openSession(userId);
    const under = await begin(service(), cookie, '?format=csv');
    expect((await service().call('HEAD', '/auth?logout=1', { cookie })).status).toBe(204);
    await expect(under.rest()).rejects.toThrow('terminated');
  });
});

test('a user has two exports at once, and a process four; a client that leaves gives back its place (rule 80)', async () => {
  const cookies = await Promise.all(
    ['bob', 'eve', 'kim'].map(async (user) => await service().openSession((await service().createUser(user)).id)),
  );
  const [bob = '', eve = '', kim = ''] = cookies;
  const begun = await Promise.all([bob, bob, eve, eve].map((cookie) => begin(service(), cookie)));
  const status = async (cookie: string) => (await service().call('GET', `/rest/entity/other/export`, { cookie })).status;
  const third = await service().call('GET', `/rest/entity/other/export`, { cookie: bob });
  expect([third.status, third.body.code, third.headers.get('retry-after')]).toEqual([429, 'rate-limited', '5']);
  expect(await status(kim)).toBe(503);
  for (const each of begun) await each.leave();
  await expect.poll(() => status(kim), { timeout: 10_000 }).toBe(200);
  await expect.poll(() => status(bob), { timeout: 10_000 }).toBe(200);
});
