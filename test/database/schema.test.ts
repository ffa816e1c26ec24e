/**
 * The schema that the migrations make, so that a migration shows as a difference of one file. `npm test -- test/database/schema.test.ts --update`
 * writes the file anew.
 */
import { expect, test } from 'vitest';
import { createDatabase, openPool } from '../support/database.ts';

const tables = `
  select format(E'create table %I (\n%s\n)%s;', c.relname,
    string_agg(format('  %I %s%s%s%s', a.attname, format_type(a.atttypid, a.atttypmod),
      case when a.attcollation not in (0, t.typcollation) then format(' collate %I', l.collname) end,
      case
        when a.attidentity <> '' then format(' generated %s as identity', case a.attidentity when 'a' then 'always' else 'by default' end)
        when a.attgenerated <> '' then format(' generated always as (%s) stored', pg_get_expr(d.adbin, d.adrelid))
        when d.adbin is not null then ' default ' || pg_get_expr(d.adbin, d.adrelid)
      end,
      case when a.attnotnull then ' not null' end), E',\n' order by a.attnum),
    ' with (' || array_to_string(c.reloptions, ', ') || ')') as text
  from pg_class c
  join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  join pg_type t on t.oid = a.atttypid
  left join pg_collation l on l.oid = a.attcollation
  left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
  group by c.oid, c.relname, c.reloptions
  order by c.relname`;

const constraints = `
  select format('alter table %I add constraint %I %s;', c.relname, n.conname, pg_get_constraintdef(n.oid)) as text
  from pg_constraint n join pg_class c on c.oid = n.conrelid
  where n.connamespace = 'public'::regnamespace and n.contype in ('p', 'u', 'c', 'f', 'x')
  order by c.relname, n.conname`;

const indexes = `
  select pg_get_indexdef(i.indexrelid) || ';' as text
  from pg_index i join pg_class c on c.oid = i.indexrelid
  where c.relnamespace = 'public'::regnamespace and not exists (select from pg_constraint n where n.conindid = c.oid and n.contype in ('p', 'u', 'x'))
  order by c.relname`;

const triggers = `
  select pg_get_triggerdef(g.oid) || ';' as text
  from pg_trigger g join pg_class c on c.oid = g.tgrelid
  where c.relnamespace = 'public'::regnamespace and not g.tgisinternal
  order by c.relname, g.tgname`;

const functions = `
  select trim(E'\n' from pg_get_functiondef(p.oid)) || ';' as text
  from pg_proc p
  where p.pronamespace = 'public'::regnamespace
    and not exists (select from pg_depend e where e.classid = 'pg_proc'::regclass and e.objid = p.oid and e.deptype = 'e')
  order by p.proname, pg_get_function_identity_arguments(p.oid)`;

const views = `
  select format(E'create view %I as\n%s', c.relname, pg_get_viewdef(c.oid)) as text
  from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind = 'v' order by c.relname`;

const others = `
  select format('create %s %I;', case c.relkind when 'S' then 'sequence' when 'm' then 'materialized view' end, c.relname) as text
  from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('S', 'm')
  union all
  select format('create type %I;', t.typname) from pg_type t
  where t.typnamespace = 'public'::regnamespace and t.typtype in ('d', 'e', 'r')
  union all
  select format('create schema %I;', nspname) from pg_namespace where nspname = 'entity_data'
  union all
  select format('create extension %I;', extname) from pg_extension where extname <> 'plpgsql'
  order by 1`;

test('the migrations make the schema of schema.sql', async () => {
  const database = await createDatabase();
  const pool = openPool(database.url);
  const read = async (query: string) => (await pool.query<{ text: string }>(query)).rows.map(({ text }) => text);
  try {
    const parts: string[] = [];
    for (const query of [others, tables, constraints, indexes, views, triggers, functions]) parts.push(...(await read(query)));
    await expect(`${parts.join('\n\n')}\n`).toMatchFileSnapshot('schema.sql');
  } finally {
    await pool.end();
    await database.drop();
  }
});
