/** Whether the history agrees with the entities: each version once, none without its entity, and no entity without its versions. */
import type { Client } from 'pg';

/** The entities of the name that differ from their history, one a line; empty when there are none. */
export async function compareHistory(client: Client, name: string): Promise<string[]> {
  const { rows } = await client.query<{ key: string; reason: string }>(
    `select coalesce(entity.key, history.key)::text as key,
       case when history.key is null then 'has no history'
         when versions <> array(select generate_series(1, cardinality(versions))) then 'has versions ' || versions::text
         when entity.key is null and deletions <> 1 then 'is not there, and was deleted ' || deletions || ' times'
         when entity.key is not null and deletions <> 0 then 'is there, and was deleted'
         when entity.version <> cardinality(versions) then 'has version ' || entity.version || ' of ' || cardinality(versions)
         when entity.fields <> latest then 'has other fields than its latest version' end as reason
     from (select key, version, fields from entity where name = $1) as entity
     full join (
       select key, array_agg(version::int order by version) filter (where operation <> 'deleted') as versions,
         count(*) filter (where operation = 'deleted') as deletions,
         (array_agg(fields order by version desc) filter (where operation <> 'deleted'))[1] as latest
       from entity_change where name = $1 group by key
     ) as history using (key)`,
    [name],
  );
  return rows.flatMap(({ key, reason }) => (reason === null ? [] : [`${name} ${key} ${reason}`]));
}
