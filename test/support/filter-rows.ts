/** Rows of the table `entity` for tests of filters, without a service. */
import type { Client } from 'pg';
import type { ModelRow } from './filter-model.ts';

/** Stores the fields, of ada and bob in turn, and returns the rows as the model sees them. */
export async function storeRows(client: Client, name: string, all: readonly object[]): Promise<ModelRow[]> {
  const { rows } = await client.query<Omit<ModelRow, 'fields'> & { fields: string }>(
    `insert into entity (name, version, fields, created_by, updated_by)
     select $1, n % 3 + 1, value, case when n % 2 = 0 then 'ada' else 'bob' end, 'ada'
     from jsonb_array_elements($2::jsonb) with ordinality as input (value, n)
     returning key::text as "$key", version::int as "$version", created_by as "$createdBy", updated_by as "$updatedBy",
       to_jsonb(created_at) #>> '{}' as "$createdAt", to_jsonb(updated_at) #>> '{}' as "$updatedAt", fields::text`,
    [name, JSON.stringify(all)],
  );
  return rows.map((row) => Object.assign(row, { fields: JSON.parse(row.fields) as ModelRow['fields'] }));
}
