/** Declares entity types with rules, as the service will: makes the companion table and puts the revision in force. */
import { sql } from 'kysely';
import { columnType } from '../../src/companion/columns.ts';
import type { Companion } from '../../src/companion/layout.ts';
import { companionOf, rulesOf, type RuleKeywords } from '../../src/companion/rules.ts';
import { companionTable } from '../../src/companion/writes.ts';
import { fieldTypesOf } from '../../src/entity-types/field-types.ts';
import { insertRevision, lockTypes } from '../../src/entity-types/store.ts';
import type { TestService } from './service.ts';

const ddlOf = (companion: Companion, targets: ReadonlyMap<string, string>) => {
  const table = companionTable(companion);
  const columns = companion.columns.map((column) => sql`, ${sql.ref(column.name)} ${columnType(column)}`);
  const search = companion.search ? [sql`, search tsvector`] : [];
  return [
    sql`create table ${table} (key bigint primary key${sql.join([...columns, ...search], sql``)})`,
    ...companion.uniques.map(
      ({ name, columns: names }) => sql`create unique index ${sql.ref(name)} on ${table} (${sql.join(names.map((each) => sql.ref(each)))})`,
    ),
    ...companion.indexes.map(
      ({ name, columns: parts }) =>
        sql`create index ${sql.ref(name)} on ${table} (${sql.join(parts.map((part) => sql.ref(part.name)))}, key)`,
    ),
    ...companion.references.map(
      ({ name, column, to }) =>
        sql`alter table ${table} add constraint ${sql.ref(name)} foreign key (${sql.ref(column)})
          references ${sql.table(`entity_data.${targets.get(to) ?? ''}`)} (key) deferrable initially immediate`,
    ),
  ];
};

/** Returns the companion table of `name`, whose entities do not exist yet. */
export async function declareWithRules(
  { store, context }: TestService,
  name: string,
  properties: Record<string, unknown>,
  rules: RuleKeywords,
  state: Companion['state'] = 'ready',
  more: Record<string, unknown> = {},
): Promise<Companion> {
  const document = { type: 'object', properties, ...more };
  const companion = await store.transaction(async (trx) => {
    await lockTypes(trx);
    const { revision } = await insertRevision(trx, { name, document, source: 'command', plan: {}, appliedBy: 'test' });
    const { id } = await trx.selectFrom('entity_type').where('name', '=', name).select('id').executeTakeFirstOrThrow();
    const layout = companionOf(rulesOf(rules, fieldTypesOf(document)), id, null, true);
    if (!layout) throw new Error('no companion table');
    const others = await trx.selectFrom('entity_type').select(['name', 'id']).execute();
    const targets = new Map(others.map((other) => [other.name, `x${other.id}`]));
    for (const statement of ddlOf(layout, targets)) await statement.execute(trx);
    const made = { ...layout, state };
    await trx
      .updateTable('entity_type_revision')
      .set({ companion: JSON.stringify(made) })
      .where('revision', '=', revision)
      .execute();
    return made;
  });
  await context.listener.settle();
  return companion;
}

/** The rows of the companion table, by key. */
export async function companionRows({ db }: TestService, companion: Companion): Promise<Record<string, unknown>[]> {
  const { rows } = await sql<Record<string, unknown>>`select *, xmin::text from ${companionTable(companion)} order by key`.execute(db);
  return rows;
}
