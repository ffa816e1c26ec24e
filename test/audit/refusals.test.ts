import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { found } from '../support/contract.ts';
import { grantAll, userWith } from '../support/ruled-roles.ts';
import { useService, type TestService } from '../support/service.ts';

const service = useService();
const eventsOf = ({ db }: TestService, event: string) =>
  db.selectFrom('audit_event').where('event', '=', event).selectAll().orderBy('id').execute();

describe('refusals in the audit trail (rule 85)', () => {
  let reader: string;
  beforeAll(async () => {
    await service().createUser('reader', { note: ['read'] });
    await service().createUser('ada');
    reader = await service().signIn('reader');
  });

  test('permission.denied — names the user and the refused action, once for repeats', async () => {
    expect((await service().call('GET', '/rest/entity/note/1', { cookie: reader })).status).toBe(404);
    const create = (name: string) => service().call('POST', `/rest/entity/${name}`, { cookie: reader, json: {} });
    for (let n = 0; n < 30; n++) expect((await create('note')).status).toBe(403);
    expect((await create('order')).status).toBe(403);
    const events = await eventsOf(service(), 'permission.denied');
    expect(events.map(({ user_name, outcome, detail }) => ({ user_name, outcome, detail }))).toEqual([
      { user_name: 'reader', outcome: 'refused', detail: { operation: 'createEntity', entity: 'note', reason: 'forbidden' } },
      { user_name: 'reader', outcome: 'refused', detail: { operation: 'createEntity', entity: 'order', reason: 'forbidden', leftOut: 29 } },
    ]);
    expect(events[0]?.request_id).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('permission.denied — also for a credential of the wrong kind, without text from the path', async () => {
    const cookie = await service().signIn('ada');
    const made = await service().call<{ key: string }>('POST', '/auth/keys', { cookie, json: { name: 'n' } });
    expect(made.status).toBe(201);
    const answer = await service().call('POST', '/auth/profile/canary', { headers: { 'x-api-key': made.body.key } });
    expect(answer.status).toBe(403);
    const events = await eventsOf(service(), 'permission.denied');
    expect(events.at(-1)).toMatchObject({ user_name: 'ada', detail: { operation: 'selectProfile', reason: 'forbidden' } });
    expect(JSON.stringify(events)).not.toContain('canary');
  });

  test('permission.denied — names the rules that refuse, their roles, and the fields, and no value', async () => {
    const clerk = await userWith(
      service(),
      'clerk',
      { entity: 'parcel', actions: ['read'], condition: 'any' },
      { entity: 'parcel', name: 'north', actions: ['update', 'delete'], rule: { filter: { region: 'north' } } },
    );
    await grantAll(service(), 'clerk', [
      { entity: 'parcel', name: 'submit', actions: ['update'], rule: { check: { state: 'submitted' }, write: ['state'] } },
    ]);
    const cookie = await service().signIn('ada');
    const create = async (json: object) => {
      const { headers } = await service().call('POST', '/rest/entity/parcel', { cookie, json });
      return headers.get('location') ?? '';
    };
    const [north, south] = [await create({ region: 'north' }), await create({ region: 'south' })];
    expect((await service().call('POST', north, { ...clerk, json: { note: 'x' } })).status).toBe(200);
    const refused = [
      await service().call('POST', south, { ...clerk, json: { state: 'canary', note: 'canary' } }),
      await service().call('POST', south, { ...clerk, json: { state: 'canary' } }),
      await service().call('DELETE', south, clerk),
    ];
    expect(refused.map(({ status, body }) => [status, body.code])).toEqual([
      [403, 'field-forbidden'],
      [403, 'field-forbidden'],
      [403, 'forbidden'],
    ]);
    const events = (await eventsOf(service(), 'permission.denied')).filter(({ user_name }) => user_name === 'clerk');
    const submit = { role: 'clerk', grant: 'submit' };
    const common = { entity: 'parcel', operation: 'updateEntity', reason: 'field-forbidden' };
    expect(events.map(({ detail }) => detail)).toEqual([
      { ...common, fields: ['note', 'state'], grants: [submit] },
      { ...common, fields: ['state'], grants: [submit] },
      { entity: 'parcel', operation: 'deleteEntity', reason: 'forbidden', grants: [{ role: 'clerk', grant: 'north' }] },
    ]);
    expect(JSON.stringify(events)).not.toContain('canary');
  });

  test('csrf.refused — names the operation and the user of the cookie', async () => {
    const headers = { 'sec-fetch-site': 'cross-site' };
    expect((await service().call('POST', '/auth/refresh', { cookie: reader, headers })).status).toBe(403);
    expect((await service().call('HEAD', '/auth?logout=1', { cookie: reader, headers })).status).toBe(403);
    expect(await eventsOf(service(), 'csrf.refused')).toMatchObject([
      { user_name: 'reader', detail: { operation: 'refreshSession' } },
      { user_name: 'reader', detail: { operation: 'endSession' } },
    ]);
  });

  test('rate.limited — names the limit; throttled guesses are login.throttled', async () => {
    const crowded = await service().replica({ RATE_LIMIT: 'on' });
    try {
      const answers = await Promise.all(Array.from({ length: 80 }, () => crowded.call('GET', '/auth')));
      expect(answers.map(({ status }) => status)).toEqual(expect.arrayContaining([401, 429]));
      expect(await eventsOf(service(), 'rate.limited')).toMatchObject([
        { user_name: null, address: '127.0.0.1', detail: { operation: 'getSession', limit: 'address' } },
      ]);
    } finally {
      await crowded.close();
    }
    for (let n = 0; n < 7; n++) await service().call('POST', '/auth', { form: { user: 'nobody', password: 'not a password at all' } });
    expect(await eventsOf(service(), 'login.throttled')).toMatchObject([{ user_name: null, detail: { limit: 'login-account' } }]);
    expect(await eventsOf(service(), 'rate.limited')).toHaveLength(1);
  });

  test('fault — an unexpected error is recorded by its kind only', async () => {
    const broken = await service().replica();
    try {
      broken.context.policy.check = () => Promise.reject(new RangeError('with a canary in its message'));
      const cookie = await service().signIn('ada');
      const form = { 'current-password': 'correct horse battery staple', 'set-password': 'x', 'confirm-password': 'x' };
      expect((await broken.call('POST', '/auth/password', { cookie, form })).status).toBe(500);
      // The contract declares no 500, because the service must never send one.
      expect(found.splice(0)).toEqual(['changePassword 500: status is not declared']);
      const events = await eventsOf(service(), 'fault');
      expect(events).toMatchObject([
        { outcome: 'failed', user_name: 'ada', detail: { operation: 'changePassword', reason: 'RangeError' } },
      ]);
      expect(JSON.stringify(events)).not.toContain('canary');
    } finally {
      await broken.close();
    }
  });

  test('an audit trail that cannot be written changes no answer', async () => {
    await sql`create function take_nothing() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$`.execute(
      service().db,
    );
    await sql`create trigger take_nothing before insert on audit_event for each row execute function take_nothing()`.execute(service().db);
    try {
      const answer = await service().call('POST', '/rest/entity/another', { cookie: reader, json: {} });
      expect(answer).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    } finally {
      await sql`drop trigger take_nothing on audit_event`.execute(service().db);
    }
    expect(JSON.stringify(await eventsOf(service(), 'permission.denied'))).not.toContain('another');
  });
});

test('configuration.loaded, service.start and service.stop — are written by every process, without secret settings (rule 85)', async () => {
  const secret = 'canary battery staple horse';
  const replica = await service().replica({ ADMIN_PASSWORD: secret, SESSION_IDLE_SECONDS: '777' });
  const { url } = replica;
  await replica.close();
  const db = service();
  const [loaded, started, stopped] = [
    await eventsOf(db, 'configuration.loaded'),
    await eventsOf(db, 'service.start'),
    await eventsOf(db, 'service.stop'),
  ].map((events) => events.at(-1));
  expect(loaded?.detail).toMatchObject({ process: process.pid, settings: { sessionIdleSeconds: 777, adminPassword: '(set)' } });
  expect(started?.detail).toMatchObject({ process: process.pid, version: service().context.version, address: url });
  expect(stopped).toMatchObject({ outcome: 'ok', user_name: null, detail: { process: process.pid } });
  expect(JSON.stringify([loaded, started, stopped])).not.toContain(secret);
});
