-- runs beside: 0.1.0
-- Deletes the row of a companion table. As a volatile function it sees rows that were committed after the snapshot of the statement that calls it: while a
-- table is built, the row of the entity that the statement has locked may be one of them.
create function entity_companion_delete(companion text, entity_key bigint) returns void language plpgsql as $$
begin
  execute format('delete from entity_data.%I where key = $1', companion) using entity_key;
end $$;
