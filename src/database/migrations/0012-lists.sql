-- runs beside: 0.1.0
-- Lists of entities: pages of bounded size, filters, projections and cursors.

-- The length of the fields as JSON text. A list adds it up to bound a page without reading the fields.
-- squawk-ignore adding-field-with-default
alter table entity add column bytes integer not null generated always as (octet_length(fields::text)) stored;

-- The instant that a text of RFC 3339 names; null for any other text, and for a year that PostgreSQL does not have.
create function entity_instant(value text) returns timestamptz language plpgsql stable strict as $$
begin
  if value !~ '^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d(:?\d\d)?)$' then
    return null;
  end if;
  return value::timestamptz;
exception when data_exception then
  return null;
end $$;

-- The members of `target` that `tree` names: true takes a member, an object takes members of it. What `target` lacks is left out.
create function json_project(target jsonb, tree jsonb) returns jsonb language sql immutable strict parallel safe as $$
  select coalesce(jsonb_object_agg(name, case when wanted = 'true' then target -> name else json_project(target -> name, wanted) end), '{}')
  from jsonb_each(tree) as wanted_members (name, wanted)
  where target ? name and (wanted = 'true' or jsonb_typeof(target -> name) = 'object')
$$;

-- The key of the cursors that lists give out.
insert into service_secret values ('cursor', sha256((gen_random_uuid()::text || gen_random_uuid()::text)::bytea));
