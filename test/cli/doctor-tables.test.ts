/** What `doctor` finds in a database that a restore, a load of data or an operator has left half done, each with what to do. */
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { theService } from '../../src/audit/actor.ts';
import { applyChange } from '../../src/entity-types/apply.ts';
import { findStoredType } from '../../src/entity-types/store.ts';
import { AdminCommand } from '../support/admin.ts';
import type { Entity } from '../support/entities.ts';
import { TestService } from '../support/service.ts';

let service: TestService;
let cookie: string;

beforeAll(async () => {
  service = await TestService.start();
  cookie = await service.openSession((await service.createUser('ada')).id);
  const document = {
    type: 'object',
    properties: { a: { type: 'string' }, other: { type: 'string', format: 'int64' } },
    'x-index': [['a']],
    'x-unique': [{ fields: ['a', 'other'] }],
    'x-references': { other: { to: 'note', onDelete: 'restrict' } },
  };
  await applyChange(service.store, theService, { name: 'note', document, source: 'command' });
});
afterAll(() => service.close());

const findingOf = async (check: string) => {
  const { stdout } = await new AdminCommand(service.databaseUrl).run(['doctor', '--json']);
  const { checks } = JSON.parse(stdout) as { checks: { name: string; status: string; message: string }[] };
  const { status, message } = checks.find(({ name }) => name === check) ?? {};
  return [status, message];
};
const run = (text: string) => sql.raw(text).execute(service.db);
const create = async () => {
  const created = await service.call<Entity>('POST', '/rest/entity/note', { cookie, json: { a: 'x' } });
  return [created.status, Number(created.body.key)];
};

test('sequences behind the keys of live, deleted and purged entities, and after-restore moves all of them behind the highest', async () => {
  const [, key = 0] = await create();
  expect((await service.call('DELETE', `/rest/entity/note/${key}`, { cookie })).status).toBe(204);
  expect(await findingOf('sequences')).toEqual(['ok', 'new rows get new numbers']);
  for (const undo of [
    () => Promise.resolve(),
    // Of the history alone.
    () => run('delete from entity_trash'),
  ]) {
    await undo();
    await run(
      `select setval(pg_get_serial_sequence('entity', 'key'), 1, false), setval(pg_get_serial_sequence('user_account', 'id'), 1, false)`,
    );
    expect(await findingOf('sequences')).toEqual([
      'fail',
      expect.stringMatching(
        new RegExp(
          `^entity\\.key has ${key}, and the next one would be [12]; user_account\\.id has 1, .*: run "database after-restore --taken-at TIME", or, as the owner, select setval\\('\\S*entity_key_seq', ${key}\\); select setval`,
        ),
      ),
    ]);
  }
  const restored = await new AdminCommand(service.databaseUrl).run(['database', 'after-restore', '--taken-at', '2026-11-22T21:28:25Z']);
  expect(restored).toMatchObject({ code: 0, stdout: expect.stringContaining(`begin at ${key + 1_000_001}.`) });
  expect(await findingOf('sequences')).toEqual(['ok', 'new rows get new numbers']);
  cookie = await service.openSession((await service.createUser('bob')).id);
  expect(await create()).toEqual([201, key + 1_000_001]);
});

test('indexes and references of a type that were dropped, and indexes that are invalid', async () => {
  expect(await findingOf('indexes')).toEqual(['ok', 'none is missing or invalid']);
  const { companion } = await findStoredType(service.db, 'note');
  const [index, unique, reference] = [companion?.indexes[0]?.name, companion?.uniques[0]?.name, companion?.references[0]?.name];
  await run(
    `drop index entity_data.${index}; drop index entity_data.${unique}; alter table entity_data.${companion?.table} drop constraint ${reference}`,
  );
  // Two rows with one value end the build of a unique index, which stays behind as invalid.
  await run(`insert into role (name, description) values ('one', 'same'), ('two', 'same')`);
  await expect(run('create unique index concurrently forgotten on role (description)')).rejects.toThrow();
  const [status, message] = await findingOf('indexes');
  expect(status).toBe('fail');
  for (const name of [index, unique, reference]) expect(message).toMatch(new RegExp(`note lacks .*${name}.*: export the type, delete it`));
  expect(message).toContain('forgotten is invalid: as the owner, reindex index concurrently forgotten');
  await run('drop index forgotten');
  expect((await findingOf('indexes'))[1]).not.toContain('forgotten');
});

test('triggers that are disabled', async () => {
  expect(await findingOf('triggers')).toEqual(['ok', 'all fire']);
  await run('alter table session disable trigger session_changed');
  expect(await findingOf('triggers')).toEqual([
    'fail',
    expect.stringMatching(/^disabled on session \(session_changed\): revocations arrive late, .*: alter table session enable trigger all$/),
  ]);
  await run('alter table session enable trigger all').catch(() => run('alter table session enable trigger session_changed'));
  await run('alter table audit_event enable replica trigger audit_event_append_only');
  expect((await findingOf('triggers'))[1]).toContain('audit_event (audit_event_append_only)');
  await run('alter table audit_event enable trigger audit_event_append_only');
});

test('a server and tables without autovacuum', async () => {
  // The servers of the tests have none.
  const off = 'autovacuum is off, so tables grow without end: alter system set autovacuum = on; select pg_reload_conf()';
  expect(await findingOf('vacuum')).toEqual(['warn', off]);
  await run('alter table entity set (autovacuum_enabled = false)');
  expect(await findingOf('vacuum')).toEqual([
    'warn',
    `${off}; autovacuum is off for entity: alter table entity reset (autovacuum_enabled)`,
  ]);
  await run('alter table entity reset (autovacuum_enabled)');
});
