import { beforeAll, describe, expect, test } from 'vitest';
import { listEvents } from '../../src/audit/store.ts';
import { AdminCommand } from '../support/admin.ts';
import { useService } from '../support/service.ts';

interface EventDocument {
  id: string;
  at: string;
  event: string;
  outcome: string;
  user: string | null;
  requestId: string | null;
  session: string | null;
  address: string | null;
  userAgent: string | null;
  detail: Record<string, unknown>;
}

const service = useService();
let admin: AdminCommand;
const list = (...words: string[]) => admin.json<EventDocument[]>(['audit', 'list', ...words]);

beforeAll(async () => {
  admin = new AdminCommand(service().databaseUrl);
  await service().createUser('ada');
  await service().createUser('bob');
  await service().call('POST', '/auth', {
    form: { user: 'ada', password: 'a wrong horse battery staple' },
    headers: { 'user-agent': 'Evil \u009b2J' },
  });
  await service().signIn('ada');
  await service().signIn('bob');
});

describe('audit list', () => {
  test('shows the events, the latest last, with their origin', async () => {
    const events = await list();
    expect(events.map(({ id }) => Number(id))).toEqual(events.map(({ id }) => Number(id)).toSorted((a, b) => a - b));
    const failed = events.find(({ event }) => event === 'login.failed');
    expect(failed).toEqual({
      id: expect.stringMatching(/^\d+$/),
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      event: 'login.failed',
      outcome: 'refused',
      user: 'ada',
      requestId: expect.any(String),
      session: null,
      address: '127.0.0.1',
      userAgent: expect.any(String),
      detail: expect.any(Object),
    });
  });

  test('can be limited to one user, one event and a time', async () => {
    const mine = await list('--user', 'Bob');
    expect(mine.length).toBeGreaterThan(0);
    expect(new Set(mine.map(({ user }) => user))).toEqual(new Set(['bob']));
    const failed = await list('--event', 'login.failed');
    expect(failed.map(({ event, user }) => [event, user])).toEqual([['login.failed', 'ada']]);
    expect(await list('--event', 'login.failed', '--user', 'bob')).toEqual([]);
    const all = await list();
    // Two events may share a millisecond, the precision of a given time.
    const later = all.find(({ at }) => at > (all[0]?.at ?? ''))?.at ?? '';
    const expected = all.filter(({ at }) => at >= later);
    expect(expected.length).toBeLessThan(all.length);
    expect((await list('--since', later)).map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
    expect(await list('--since', '1h')).toEqual(all);
    expect(await list('--since', '2999-01-01')).toEqual([]);
    expect(await admin.say(['audit', 'list', '--since', '2999-01-01T00:00:00+01:00'])).toBe('There are no such events.\n');
  });

  test('can be limited to one entity, by its name and its key, and to one API key', async () => {
    await service().createUser('keeper');
    const cookie = await service().signIn('keeper');
    const made = async (name: string) =>
      (await service().call('POST', `/rest/entity/${name}`, { cookie, json: {} })).headers.get('location');
    const [first = '', second = ''] = [await made('customer'), await made('customer'), await made('order')].map((at) =>
      at?.split('/').at(-1),
    );
    await service().call('DELETE', `/rest/entity/customer/${first}`, { cookie });
    const facts = async (...words: string[]) => (await list(...words)).map(({ event, detail }) => [event, detail['entity'], detail['key']]);
    expect(await facts('--entity', 'customer')).toEqual([
      ['entity.created', 'customer', first],
      ['entity.created', 'customer', second],
      ['entity.deleted', 'customer', first],
    ]);
    expect(await facts('--entity', 'customer', '--key', first)).toEqual([
      ['entity.created', 'customer', first],
      ['entity.deleted', 'customer', first],
    ]);
    expect(await facts('--entity', 'order', '--key', first)).toEqual([]);
    const { id } = await admin.json<{ id: string }>(['key', 'create', 'keeper', '--name', 'x']);
    expect(await facts('--key', id)).toEqual([['api_key.created', undefined, id]]);
  });

  test('says when there are more events than it shows', async () => {
    const all = await list();
    expect(all.length).toBeGreaterThan(2);
    const run = await admin.run(['audit', 'list', '--limit', '2', '--json']);
    expect(run).toMatchObject({ code: 0, stderr: 'note: there are earlier events; --limit shows more than 2\n' });
    expect(JSON.parse(run.stdout)).toEqual(all.slice(-2));
    expect(await listEvents(service().store, {}, 2)).toHaveLength(2);
    expect(await list('--limit', String(all.length))).toEqual(all);
    expect(await list('--limit', '0')).toEqual(all);
  });

  test('is a table for people without control characters', async () => {
    await service()
      .db.insertInto('audit_event')
      .values({ event: 'logout', outcome: 'ok', user_name: 'ada', address: '::1', detail: JSON.stringify({ note: 'a\u001b[2Jb', n: [1] }) })
      .execute();
    const lines = (await admin.say(['audit', 'list', '--event', 'logout'])).split('\n');
    expect(lines[0]).toMatch(/^TIME +EVENT +OUTCOME +USER +ADDRESS +DETAIL$/);
    expect(lines[1]).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ {2}logout +ok +ada +::1 +n=\[1\] note=a\\u\{1b\}\[2Jb$/);
    // eslint-disable-next-line no-control-regex
    expect(JSON.stringify(lines) + (await admin.say(['audit', 'list', '--json']))).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
  });

  test('refuses an unknown user, an unknown event, and an invalid time', async () => {
    expect(await admin.refusal(['audit', 'list', '--user', 'nobody'])).toBe('there is no user called "nobody"');
    expect(await admin.refusal(['audit', 'list', '--event', 'login.fail'], '', 2)).toContain('The events are login.ok, login.failed');
    for (const time of ['yesterday', '2026-02-31', '2026-11-20T08:00:00', '5w', '2026-11-20T25:00:00Z']) {
      expect(await admin.refusal(['audit', 'list', '--since', time], '', 2)).toContain('Give a time such as');
    }
  });
});
