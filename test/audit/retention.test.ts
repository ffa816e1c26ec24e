/** How long the audit trail is kept: months are dropped whole, by the service, and only as far as the owner allows. */
import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { maintainAuditTrail } from '../../src/audit/retention.ts';
import { listEvents } from '../../src/audit/store.ts';
import { AdminCommand } from '../support/admin.ts';
import { useService } from '../support/service.ts';
import { execute } from '../support/sql.ts';

const service = useService();
let admin: AdminCommand;

const monthsFromNow = (months: number) => {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months, 1));
};
const tableOf = (month: Date) => `entity_data.audit_${month.toISOString().slice(0, 7).replace('-', '_')}`;
const ages = [-15, -14, -13, -1];

/** Alters partitions while no process maintains them, as each service does in the background when it starts. Both at once can deadlock. */
const alterPartitions = (...statements: string[]) =>
  execute(service().databaseUrl, [`select pg_advisory_xact_lock(hashtextextended('audit_event', 0))`, ...statements].join('; '));

async function partitions(): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select partition::text as name from month_partitions('audit_event') order by starts`.execute(service().db);
  return rows.map(({ name }) => name);
}

const insertEvents = (...months: number[]) =>
  sql`insert into audit_event (at, event, outcome, user_name)
    select at + interval '14 days', 'logout', 'ok', 'ada' from unnest(${months.map(monthsFromNow)}::timestamptz[]) as at`.execute(
    service().db,
  );
const monthsOfEvents = async () =>
  (await listEvents(service().store, { user: 'ada' }, 100)).map(({ at }) => at.toISOString().slice(0, 7)).toSorted();
const monthNames = (...months: number[]) => months.map((month) => monthsFromNow(month).toISOString().slice(0, 7)).toSorted();
const doctorSays = async () => {
  const { stdout } = await admin.run(['doctor', '--json']);
  const { checks } = JSON.parse(stdout) as { checks: { name: string; status: string; message: string }[] };
  return checks.find(({ name }) => name === 'partitions');
};

beforeAll(async () => {
  admin = new AdminCommand(service().databaseUrl);
  await service().createUser('ada');
  // In place of the first partition, which has everything before this month: months of a service that has run for long.
  const made = ages.map(
    (age) => `create table ${tableOf(monthsFromNow(age))} partition of audit_event
      for values from ('${monthsFromNow(age).toISOString()}') to ('${monthsFromNow(age + 1).toISOString()}')`,
  );
  await alterPartitions('drop table entity_data.audit_first', ...made);
  await maintainAuditTrail(service().store);
});

test('without a period nothing is dropped, and a list of events crosses the months (rule 85)', async () => {
  expect(await partitions()).toEqual([...[...ages, 0, 1, 2, 3].map((month) => tableOf(monthsFromNow(month))), 'entity_data.audit_default']);
  await insertEvents(...ages);
  expect(await maintainAuditTrail(service().store)).toEqual([]);
  expect(await monthsOfEvents()).toEqual(monthNames(...ages));
  expect(await admin.json(['audit', 'list', '--user', 'ada', '--event', 'logout', '--limit', '4'])).toHaveLength(4);
  expect(await admin.say(['audit', 'keep'])).toBe('Events are kept for ever.\n');
});

test('no event of any month can be changed or removed, not even in its partition (rule 85)', async () => {
  for (const table of ['audit_event', tableOf(monthsFromNow(-1)), tableOf(monthsFromNow(0)), 'entity_data.audit_default']) {
    for (const statement of [`delete from ${table}`, `update ${table} set outcome = 'ok'`, `truncate ${table}`]) {
      await expect(execute(service().databaseUrl, statement), statement).rejects.toThrow('audit_event is append only');
    }
  }
});

test('a period of the owner drops the months that are older as a whole, which leaves an event (rule 85)', async () => {
  expect(await admin.json(['audit', 'keep', 'P13M'])).toEqual({ changed: true, keep: 'P13M' });
  expect(await admin.json(['audit', 'keep', 'P13M'])).toEqual({ changed: false, keep: 'P13M' });
  const dropped = [-15, -14].map((month) => tableOf(monthsFromNow(month)));
  expect(await maintainAuditTrail(service().store)).toEqual(dropped);
  expect(await maintainAuditTrail(service().store)).toEqual([]);
  expect(await partitions()).not.toContain(dropped[0]);
  expect(await monthsOfEvents()).toEqual(monthNames(-13, -1));
  const events = await listEvents(service().store, {}, 10);
  expect(events.filter(({ event }) => event.startsWith('retention.')).map(({ event, detail }) => [event, detail])).toEqual([
    ['retention.applied', { dropped }],
    ['retention.changed', expect.objectContaining({ by: 'administrator', keep: 'P13M' })],
  ]);
  expect(await doctorSays()).toMatchObject({ status: 'ok', message: expect.stringContaining('the audit trail is kept for P13M') });
});

test('a period of less than 30 days is refused', async () => {
  for (const period of ['P29D', 'P4W', '13M', 'never']) {
    expect(await admin.refusal(['audit', 'keep', period], '', 2)).toContain('at least 30 days');
  }
  await expect(execute(service().databaseUrl, `update audit_retention set keep = 'P29D'`)).rejects.toThrow('audit_retention_keep_check');
});

test('doctor names a missing month, its events go to the default partition, and what is old there is dropped too', async () => {
  const next = monthsFromNow(1);
  await alterPartitions(`drop table ${tableOf(next)}`);
  const message = `missing: audit_event ${next.toISOString().slice(0, 7)}; a running service makes them within ten minutes, or logs why it cannot (event housekeeping)`;
  expect(await doctorSays()).toEqual({ name: 'partitions', status: 'warn', message });
  await insertEvents(1);
  await maintainAuditTrail(service().store);
  expect(await doctorSays()).toMatchObject({ status: 'warn' });
  const { rows } = await sql`select from entity_data.audit_default`.execute(service().db);
  expect(rows).toHaveLength(1);

  await alterPartitions('drop table entity_data.audit_default');
  await maintainAuditTrail(service().store);
  expect(await doctorSays()).toMatchObject({ status: 'ok' });
  await insertEvents(-20);
  expect(await maintainAuditTrail(service().store)).toEqual(['entity_data.audit_default']);
  expect(await partitions()).toContain('entity_data.audit_default');
  expect(await monthsOfEvents()).toEqual(monthNames(-13, -1));
});
