/** Credentials that expire while their caller is cached. No notification announces a deadline, so the cache must check it itself. */
import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { TestClock, TestIssuer, writeIssuers } from '../support/issuer.ts';
import { useService, type Call } from '../support/service.ts';

const clock = new TestClock();
const corp = await TestIssuer.start('corp', clock);
const service = useService({ ISSUERS_FILE: await writeIssuers(corp.entry()) }, clock);

let ada: string;
beforeAll(async () => {
  ada = (await service().createUser('ada')).id;
  await service().link(corp, 'ada-at-corp', 'ada');
});

const ask = async (credential: Call) => (await service().call('GET', '/auth', credential)).status;

/** Repeats the request until the caller is cached. A verification during a notification is not cached. */
async function use(credential: Call): Promise<void> {
  const { principals } = service().context;
  await service().settle();
  const before = principals.hits;
  expect(await ask(credential)).toBe(200);
  expect(await ask(credential)).toBe(200);
  expect(principals.hits).toBe(before + 1);
}

/** Puts the deadline of all rows into the past, and notifies no process. */
async function endSilently(table: 'session' | 'api_key', column: 'idle_expires_at' | 'expires_at'): Promise<void> {
  await sql`alter table ${sql.table(table)} disable trigger user`.execute(service().db);
  await sql`update ${sql.table(table)} set ${sql.ref(column)} = now() - interval '1 second'`.execute(service().db);
  await sql`alter table ${sql.table(table)} enable trigger user`.execute(service().db);
}

test.each(['idle_expires_at', 'expires_at'] as const)(
  '401 — for a cached session from its deadline on (%s), without the three seconds of the cache (rule 12)',
  async (column) => {
    const cookie = await service().openSession(ada);
    await service()
      .db.updateTable('session')
      .set({ [column]: sql`now() + interval '2 seconds'` })
      .where('revoked_at', 'is', null)
      .execute();
    await use({ cookie });
    await endSilently('session', column);
    expect(await ask({ cookie }), 'cached until the deadline').toBe(200);
    clock.advance(2);
    expect(await ask({ cookie })).toBe(401);
  },
);

test('401 — for a cached API key from its deadline on, without the three seconds of the cache (rule 58)', async () => {
  const headers = { 'x-api-key': await service().createKey(ada) };
  expect(await ask({ headers })).toBe(200);
  await service()
    .db.updateTable('api_key')
    .set({ expires_at: sql`now() + interval '2 seconds'` })
    .execute();
  await use({ headers });
  await endSilently('api_key', 'expires_at');
  expect(await ask({ headers }), 'cached until the deadline').toBe(200);
  clock.advance(2);
  expect(await ask({ headers })).toBe(401);
});

test('401 — for a cached access token from a minute after its exp on, without the three seconds of the cache (rule 45)', async () => {
  // exp is in whole seconds: two to three seconds of the minute are left.
  const exp = Math.floor(clock.wall() / 1_000) - 57;
  const headers = { authorization: `Bearer ${await corp.mint({ claims: { sub: 'ada-at-corp', exp } })}` };
  await use({ headers });
  clock.advance(2.999);
  expect(await ask({ headers })).toBe(401);
});
