import { expect, test } from 'vitest';
import { sql } from 'kysely';
import { readDocument, section } from '../support/markdown.ts';
import { useService } from '../support/service.ts';
import { execute } from '../support/sql.ts';

const service = useService();

test('the statements of docs/audit.md remove old events only, and before and after them no event can be removed (rule 85)', async () => {
  const { db, databaseUrl } = service();
  const [, statements = ''] = /```sql\n([^`]*)```/.exec(section(readDocument('docs/audit.md'), '## How long it is kept')) ?? [];
  await sql`insert into audit_event (at, event, outcome) values
    (now() - interval '401 days', 'login.failed', 'refused'), (now() - interval '399 days', 'login.failed', 'refused')`.execute(db);
  const events = () => db.selectFrom('audit_event').where('event', '=', 'login.failed').select('id').execute();
  const remove = () => execute(databaseUrl, 'delete from audit_event');
  await expect(remove()).rejects.toThrow('audit_event is append only');
  expect(await events()).toHaveLength(2);
  await execute(databaseUrl, statements);
  expect(await events()).toHaveLength(1);
  await expect(remove()).rejects.toThrow('audit_event is append only');
});
