/** Databases and roles with other defaults of a session than those on which the code relies. */
import { sql } from 'kysely';
import { describe, expect, onTestFinished, test } from 'vitest';
import { runAdmin } from '../../support/admin.ts';
import { createDatabase } from '../../support/database.ts';
import { execute } from '../../support/sql.ts';
import { TestService } from '../../support/service.ts';
import { sessionSettings } from '../../../src/database/driver/session-settings.ts';
import { readConfig } from '../../../src/config/settings.ts';
import { explainFailure } from '../../../src/start/failure.ts';
import { prepareDatabase } from '../../../src/start/prepare-database.ts';

const nameOf = (url: string) => new URL(url).pathname.slice(1);
const findingOf = async (DATABASE_URL: string, check: string, settings = {}) => {
  const { stdout } = await runAdmin(['doctor', '--json'], { environment: { DATABASE_URL, ...settings } });
  const { checks } = JSON.parse(stdout) as { checks: { name: string; status: string; message: string }[] };
  return checks.find(({ name }) => name === check);
};

const others: Record<string, string> = {
  default_transaction_isolation: 'serializable',
  datestyle: 'German, DMY',
  intervalstyle: 'iso_8601',
  bytea_output: 'escape',
  timezone: 'Asia/Kathmandu',
  extra_float_digits: '-15',
  standard_conforming_strings: 'off',
  transform_null_equals: 'on',
  array_nulls: 'off',
  gin_fuzzy_search_limit: '1',
  quote_all_identifiers: 'on',
};

describe('a database with another default', () => {
  test('200 and 201 — of every setting at once: sign-in, create, list by an index, history and a logout work', async () => {
    const database = await createDatabase();
    const name = nameOf(database.url);
    for (const [setting] of sessionSettings)
      await execute(database.url, `alter database ${name} set ${setting} = '${others[setting] ?? 'missing'}'`);
    const service = await TestService.start({}, database);
    onTestFinished(() => service.close());
    await service.createUser('ada', { '*': ['create', 'read', 'type'] });
    const cookie = await service.signIn('ada');
    const properties = { at: { type: 'string', format: 'date-time' }, n: { type: 'number' }, text: { type: 'string' } };
    const document = { type: 'object', properties, 'x-index': [['at'], ['n']] };
    const put = await service.call('PUT', '/rest/entity-type/note', { cookie, json: document, headers: { 'if-none-match': '*' } });
    expect(put.status, put.text).toBe(201);
    const fields = { at: '2026-02-03T04:05:06Z', n: 0.1234567890123456, text: 'a\\b \\x41' };
    const created = await service.call<{ key: string }>('POST', '/rest/entity/note', { cookie, json: fields });
    expect(created.status, created.text).toBe(201);
    const query = new URLSearchParams({ filter: JSON.stringify({ at: '2026-02-03T05:05:06+01:00', n: { $gte: 0.1234567890123456 } }) });
    const listed = await service.call<{ items: { fields: object }[] }>('GET', `/rest/entity/note?${query.toString()}`, { cookie });
    expect(listed.body.items.map((item) => item.fields)).toEqual([fields]);
    const { rows } = await sql<{ value: string }>`select current_setting('datestyle') as value`.execute(service.db);
    expect(rows).toEqual([{ value: 'ISO, MDY' }]);
    expect((await service.call('HEAD', '/auth?logout=1', { cookie, headers: { 'sec-fetch-site': 'same-origin' } })).status).toBe(204);

    expect(await findingOf(database.url, 'session settings')).toMatchObject({
      status: 'ok',
      message: `each connection sets ${sessionSettings.map(([setting]) => setting).join(', ')}`,
    });
    const behindPooler = await findingOf(database.url, 'session settings', { DATABASE_DIRECT_URL: database.url });
    expect(behindPooler?.status).toBe('warn');
    expect(behindPooler?.message).toMatch(/datestyle is German, DMY: alter role \S+ set datestyle = 'ISO, MDY'/);
  });

  test.each([
    ['statement_timeout', '100ms', 'warn', /statement_timeout is 100 ms: alter role \w+ set statement_timeout = '5000ms'/],
    ['idle_in_transaction_session_timeout', '1s', 'warn', /idle_in_transaction_session_timeout is 1000 ms/],
  ])('%s = %s is found by doctor', async (setting, value, status, message) => {
    const database = await createDatabase();
    onTestFinished(() => database.drop());
    expect(await findingOf(database.url, 'session settings')).toMatchObject({ status: 'ok' });
    await execute(database.url, `alter database ${nameOf(database.url)} set ${setting} = '${value}'`);
    expect(await findingOf(database.url, 'session settings')).toMatchObject({ status, message: expect.stringMatching(message) });
  });

  test('default_transaction_read_only is left as its operator wants it, and the start and doctor say so', async () => {
    const database = await createDatabase();
    onTestFinished(() => database.drop());
    await execute(database.url, `alter database ${nameOf(database.url)} set default_transaction_read_only = on`);
    expect(await findingOf(database.url, 'postgresql')).toMatchObject({
      status: 'fail',
      message: expect.stringMatching(
        /refuses writes, since default_transaction_read_only is on: .*alter role \w+ set default_transaction_read_only = off$/,
      ),
    });
    const config = readConfig({ DATABASE_URL: database.url, ADMIN_PASSWORD: 'seven quiet lanterns drift north' });
    const error: unknown = await prepareDatabase(config).catch((reason: unknown) => reason);
    expect(explainFailure(error, config)).toEqual([
      expect.stringMatching(/accepts no writes now: .*if default_transaction_read_only is on/),
    ]);
  });

  test('a search_path without the schema of the tables is refused at the start, which would make all tables again, and found by doctor', async () => {
    const database = await createDatabase();
    onTestFinished(() => database.drop());
    await execute(database.url, `create schema elsewhere; alter database ${nameOf(database.url)} set search_path = elsewhere`);
    const config = readConfig({ DATABASE_URL: database.url });
    const error: unknown = await prepareDatabase(config).catch((reason: unknown) => reason);
    expect(explainFailure(error, config)).toEqual([
      expect.stringMatching(/has its tables in the schema public, which search_path \(elsewhere\) leaves out: set it for the role/),
    ]);
    expect(await findingOf(database.url, 'session settings')).toMatchObject({
      status: 'fail',
      message: expect.stringMatching(/the tables are in the schema public, .*: alter role \w+ set search_path = public/),
    });
  });
});
