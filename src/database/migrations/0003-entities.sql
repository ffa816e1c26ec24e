-- What the service keeps for its callers: a JSON object under a name and a key.

create table entity (
  name       text not null,
  -- From one sequence for all names: positive, and never used twice.
  key        bigint generated always as identity,
  -- 1 at creation, one more with every change; the ETag.
  version    bigint not null default 1,
  fields     jsonb not null check (jsonb_typeof(fields) = 'object'),
  created_at timestamptz not null default now(),
  created_by text not null references user_account (name),
  updated_at timestamptz not null default now(),
  updated_by text not null references user_account (name),
  primary key (name, key)
);

-- JSON Merge Patch, RFC 7396 section 2: members of the patch replace those of the target, null removes, objects merge, all else replaces.
-- Both are taken apart and put together once: changing member by member would copy the whole object each time, which takes PostgreSQL
-- longer than a statement may for some thousands of members.
create function json_merge_patch(target jsonb, patch jsonb) returns jsonb
language plpgsql immutable strict parallel safe as $$
begin
  if jsonb_typeof(patch) <> 'object' then
    return patch;
  end if;
  return (
    select coalesce(jsonb_object_agg(
      key,
      case jsonb_typeof(new.value)
        when 'object' then json_merge_patch(coalesce(old.value, '{}'), new.value)
        else coalesce(new.value, old.value)
      end
    ), '{}')
    from jsonb_each(case jsonb_typeof(target) when 'object' then target else '{}' end) as old
    full join jsonb_each(patch) as new using (key)
    where jsonb_typeof(new.value) is distinct from 'null'
  );
end $$;
