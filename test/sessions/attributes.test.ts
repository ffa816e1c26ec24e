/** Attributes and time zones of callers: who sees them, when a change counts, and that nobody sets their own. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AdminCommand } from '../support/admin.ts';
import { readContract } from '../../src/contract/contract.ts';
import { TestIssuer, writeIssuers } from '../support/issuer.ts';
import { cookieOf, useService, type Call, type TestService } from '../support/service.ts';

interface Info {
  user: { timeZone: string | null; attributes: object };
  profile: { attributes: object } | null;
  claims: object;
}

const corp = await TestIssuer.start('corp');
const home = useService();
let replicas: TestService[];
let admin: AdminCommand;
/** The same user by a session, by a key and by a bearer token. */
const callers: Record<string, Call> = {};

beforeAll(async () => {
  const issuersFile = await writeIssuers(corp.entry());
  replicas = [await home().replica({ ISSUERS_FILE: issuersFile }), await home().replica({ ISSUERS_FILE: issuersFile })];
  admin = new AdminCommand(home().databaseUrl);
  const { id } = await home().createUser('ada', { note: ['read'] });
  await home().db.insertInto('identity').values({ issuer: corp.url, subject: 'alice', user_id: id }).execute();
  callers['session'] = { cookie: await home().openSession(id) };
  callers['key'] = { headers: { 'x-api-key': await home().createKey(id) } };
  callers['bearer token'] = { headers: { authorization: `Bearer ${await corp.mint()}` } };
  await admin.say(['attribute', 'set', 'user', 'regions', '--schema', '{"type":"array","items":{"type":"string"}}']);
  await admin.say(['attribute', 'set', 'profile', 'level', '--schema', '{"type":"number"}']);
});
afterAll(async () => {
  for (const replica of replicas) await replica.close();
});

async function infoOn(replica: TestService, call: Call): Promise<Info> {
  const answer = await replica.call<Info>('GET', '/auth', call);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

const shownTo = ({ user, profile, claims }: Info) => [user.attributes, user.timeZone, profile?.attributes, claims];

describe.for(['session', 'key', 'bearer token'])('GET /auth by a %s', (kind) => {
  test('200 — a change of attributes, time zone and declarations counts for the next request on each replica (rule 167)', async () => {
    const call = callers[kind] ?? expect.unreachable();
    const expectAll = async (...expected: unknown[]) => {
      // Twice: the second answer comes from the cache of verified callers.
      for (const replica of [...replicas, ...replicas]) expect(shownTo(await infoOn(replica, call))).toEqual(expected);
    };
    await expectAll({}, null, {}, {});
    await admin.say(['user', 'update', 'ada', '--attribute', 'regions=["north"]', '--time-zone', 'Europe/Berlin']);
    await expectAll({ regions: ['north'] }, 'Europe/Berlin', {}, {});
    await admin.say(['profile', 'update', 'ada', '--attribute', 'level=2']);
    await expectAll({ regions: ['north'] }, 'Europe/Berlin', { level: 2 }, {});
    await admin.run(['attribute', 'set', 'profile', 'level', '--schema', '{"type":"string"}']);
    await expectAll({ regions: ['north'] }, 'Europe/Berlin', {}, {});
    await admin.say(['attribute', 'set', 'profile', 'level', '--schema', '{"type":"number"}']);
    await expectAll({ regions: ['north'] }, 'Europe/Berlin', { level: 2 }, {});
    await admin.say(['user', 'update', 'ada', '--attribute', 'regions=null', '--time-zone', 'none']);
    await admin.say(['profile', 'update', 'ada', '--attribute', 'level=null']);
    await expectAll({}, null, {}, {});
  });
});

test('200 — a sign-in and a refresh answer with the attributes, as the user they belong to has them', async () => {
  await home().createUser('carol');
  await admin.say(['user', 'update', 'carol', '--attribute', 'regions=["west"]']);
  const opened = await home().call<Info>('POST', '/auth', { form: { user: 'carol', password: 'correct horse battery staple' } });
  expect(opened.body.user.attributes).toEqual({ regions: ['west'] });
  const refreshed = await home().call<Info>('POST', '/auth/refresh', { cookie: cookieOf(opened) });
  expect(refreshed.body).toMatchObject({ user: { attributes: { regions: ['west'] } }, claims: {} });
});

test('200 — a value that is not of the declared type is not shown, and the log says so once (rule 167)', async () => {
  const { id } = await home().createUser('broken');
  await home().db.updateTable('user_account').set({ attributes: '{"regions":"north"}' }).where('id', '=', id).execute();
  await home().settle();
  const [replica] = replicas;
  const lines: object[] = [];
  const { log } = replica?.app ?? expect.unreachable();
  const { warn } = log;
  log.warn = (facts: object) => void lines.push(facts);
  const call = { cookie: await home().openSession(id) };
  for (let round = 0; round < 2; round++) expect((await infoOn(replica ?? home(), call)).user.attributes).toEqual({});
  log.warn = warn;
  expect(lines).toEqual([{ event: 'attribute.unfit', owner: 'user', of: 'broken', attribute: 'regions' }]);
});

describe('nobody sets their own', () => {
  test('no operation takes attributes, claims or a time zone, so a request that has them is refused (rule 164)', async () => {
    const { document } = readContract();
    const bodies = Object.values(document.paths).flatMap((path) =>
      Object.values(path).flatMap((operation) => (operation as { requestBody?: unknown }).requestBody ?? []),
    );
    expect(bodies.length).toBeGreaterThan(10);
    expect(JSON.stringify(bodies)).not.toMatch(/"(attributes|claims|timeZone|CallerValues)"|\/CallerValues/);
    const { id } = await home().createUser('mallory');
    const call = { cookie: await home().openSession(id) };
    for (const member of ['attributes', 'timeZone', 'claims']) {
      const form = { user: 'mallory', password: 'correct horse battery staple' };
      expect((await home().call('POST', '/auth', { form })).status).toBe(200);
      expect((await home().call('POST', '/auth', { form: { ...form, [member]: '{}' } })).status).toBe(400);
      expect((await home().call('GET', `/auth?${member}=1`, call)).status).toBe(400);
      const key = await home().call('POST', '/auth/keys', { cookie: await home().signIn('mallory'), json: { name: 'mine', [member]: {} } });
      expect(key.status).toBe(422);
    }
    expect(shownTo(await infoOn(home(), call))).toEqual([{}, null, {}, {}]);
  });
});
