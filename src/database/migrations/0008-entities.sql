-- runs beside: 0.1.0
-- Entities: JSON objects, each under an entity name and a key.

create table entity (
  name       text not null,
  -- From one sequence for all names: positive, and never used twice.
  key        bigint generated always as identity,
  -- 1 at creation, one more with each change. It is the ETag.
  version    bigint not null default 1,
  fields     jsonb not null check (jsonb_typeof(fields) = 'object'),
  created_at timestamptz not null default now(),
  created_by text not null references user_account (name),
  updated_at timestamptz not null default now(),
  updated_by text not null references user_account (name),
  primary key (name, key)
);

-- The entity that a create with an Idempotency-Key has made. The same create sent again makes no other (rule 79).
create table idempotency (
  user_name   text not null references user_account (name),
  -- The entity name of the path. Only creates take the header, so it identifies the route.
  entity      text not null,
  key         text not null,
  -- SHA-256 of the body as it was sent.
  fingerprint bytea not null,
  -- No foreign key: the answer stays the same after the entity has been changed or deleted.
  entity_key  bigint not null,
  -- When the entity was created: one statement writes both rows. The row counts for 24 hours.
  created_at  timestamptz not null default now(),
  primary key (user_name, entity, key)
);
-- For the deletion of rows older than 24 hours.
create index idempotency_by_age on idempotency (created_at);

-- JSON Merge Patch (RFC 7396 section 2): members of the patch replace those of the target, null removes, objects merge. A patch that removes
-- nothing and has no object inside is `||`, which needs no query. One query takes any other patch apart. It looks up members of the target
-- one by one, because that costs less than to join all of them.
create function json_merge_patch(target jsonb, patch jsonb) returns jsonb
language plpgsql immutable strict parallel safe as $$
begin
  if jsonb_typeof(patch) <> 'object' then
    return patch;
  end if;
  -- `|| '{}'` decompresses a stored target once, instead of once for each member that is looked up.
  target := case jsonb_typeof(target) when 'object' then target || '{}' else '{}' end;
  if not patch @? 'strict $.* ? (@ == null || @.type() == "object")' then
    return target || patch;
  end if;
  return (
    select case
        -- `-` compares each member of the target with each name.
        when count(*) filter (where jsonb_typeof(value) = 'null') > 128 then
          (select coalesce(jsonb_object_agg(key, value), '{}') from jsonb_each(target) where patch -> key is distinct from 'null')
        else coalesce(target - array_agg(key) filter (where jsonb_typeof(value) = 'null'), target)
      end
      || coalesce(jsonb_object_agg(
        key,
        case jsonb_typeof(value) when 'object' then json_merge_patch(coalesce(target -> key, '{}'), value) else value end
      ) filter (where jsonb_typeof(value) <> 'null'), '{}')
    from jsonb_each(patch)
  );
end $$;
