/** The growth of the audit trail as docs/audit.md computes it, compared with the constants and with rows in a real table (rule 85). */
import { randomBytes, randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { sql } from 'kysely';
import { budgets, eventsPerMinute, kindsPerSubject, maximumSubjects, type Subject } from '../../src/audit/quota.ts';
import { auditEvents, eventInsertion, type AuditEvent } from '../../src/audit/store.ts';
import { codeOf, readDocument, section, tableRows } from '../support/markdown.ts';
import { useService } from '../support/service.ts';

const service = useService();
const bounds = section(readDocument('docs/audit.md'), '## How fast it can grow');
const leftOut = section(readDocument('docs/audit.md'), '## What is left out');
const [eventTable = '', growthTable = ''] = ['### What bounds each event', '### Rows and bytes a day'].map((heading) =>
  section(bounds, heading),
);
const numberOf = (cell = '') => Number(cell.replaceAll(',', ''));

test('every event has one bound in docs/audit.md, and the events of the quota there are those in the code', () => {
  const rows = tableRows(eventTable);
  const listed = rows.flatMap(([events = '']) => [...events.matchAll(/`([^`]+)`/g)].map(([, event = '']) => event));
  expect(listed.toSorted()).toEqual([...auditEvents].toSorted());
  const [quota = ''] = rows[0] ?? [];
  const files = [
    'audit/problem-events',
    'credentials/throttle',
    'oidc/tokens/audit-token-errors',
    'oidc/sign-in/sign-in-errors',
    'oidc/sign-in/back-channel-logout',
    'oidc/sign-in/begin',
    'oidc/provisioning/unknown-claims',
    'api-keys/refused',
    'password/change',
    'sessions/login',
    'transfer/handlers',
  ];
  const code = files.map((file) => readFileSync(new URL(`../../src/${file}.ts`, import.meta.url), 'utf8')).join('\n');
  for (const [, event = ''] of quota.matchAll(/`([^`]+)`/g)) expect(code, event).toContain(`'${event}'`);
});

test('the numbers in the text are the constants', () => {
  for (const number of [eventsPerMinute, kindsPerSubject, maximumSubjects]) expect(leftOut).toContain(`**${number.toLocaleString('en')}**`);
});

/** The longest event of each budget that a caller can cause. */
const longest: Record<Subject['budget'], AuditEvent> = {
  users: {
    event: 'permission.denied',
    outcome: 'refused',
    // Random, because PostgreSQL compresses repetitions in an index.
    userName: Array.from({ length: 128 }, () => String.fromCodePoint(randomInt(0x20000, 0x2a6d6))).join(''),
    sessionId: '0192f0c4-0000-7000-8000-000000000000',
    detail: {
      operation: 'createEntities',
      entity: 'e'.repeat(64),
      reason: 'field-forbidden',
      fields: Array.from({ length: 5 }, () => randomBytes(32).toString('hex')),
      leftOut: 1_000_000,
      grants: Array.from({ length: 5 }, () => ({ role: 'r'.repeat(64), grant: 'g'.repeat(64) })),
    },
  },
  named: {
    event: 'token.refused',
    outcome: 'refused',
    detail: { reason: 'client-not-linked', issuer: `https://${'i'.repeat(92)}`, subject: '字'.repeat(255), leftOut: 1_000_000 },
  },
  strangers: {
    event: 'oidc.failed',
    outcome: 'refused',
    detail: { issuer: `https://${'i'.repeat(92)}`, reason: 'provider-refused', error: 'unsupported_response_type', leftOut: 1_000_000 },
  },
};

test.each(budgets)('the longest row of %s fits its size in docs/audit.md, and a day of them the computed sum', async (budget) => {
  const [, minute, day, bytes, megabytes] = tableRows(growthTable).find(([name]) => codeOf(name) === budget) ?? [];
  expect([numberOf(minute), numberOf(day)]).toEqual([eventsPerMinute, eventsPerMinute * 60 * 24]);
  expect(numberOf(megabytes)).toBe(Math.round((numberOf(day) * numberOf(bytes)) / 1e6));

  const { db } = service();
  const count = 20_000;
  const origin = { requestId: '', address: '2001:db8:1111:2222:3333:4444:5555:6666', userAgent: 'ÿ'.repeat(256) };
  const size = async () =>
    (await sql<{ size: string }>`select sum(pg_total_relation_size(relid)) as size from pg_partition_tree('audit_event')`.execute(db))
      .rows[0]?.size;
  const before = Number(await size());
  const { id } = await eventInsertion(db, origin, longest[budget]).returning('id').executeTakeFirstOrThrow();
  await sql`insert into audit_event (event, outcome, user_name, request_id, session_id, address, user_agent, detail)
    select event, outcome, user_name, gen_random_uuid()::text, session_id, address, user_agent, detail
    from audit_event, generate_series(1, ${count}) where id = ${id}`.execute(db);
  const bytesOfRow = (Number(await size()) - before) / count;
  expect(bytesOfRow).toBeLessThanOrEqual(numberOf(bytes));
  expect(bytesOfRow).toBeGreaterThan(numberOf(bytes) * 0.9);
});
