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
create function json_merge_patch(target jsonb, patch jsonb) returns jsonb
language plpgsql immutable strict parallel safe as $$
declare
  result jsonb := case when jsonb_typeof(target) = 'object' then target else '{}' end;
  member record;
begin
  if jsonb_typeof(patch) <> 'object' then
    return patch;
  end if;
  for member in select key, value from jsonb_each(patch) loop
    if jsonb_typeof(member.value) = 'null' then
      result := result - member.key;
    elsif jsonb_typeof(member.value) = 'object' then
      result := jsonb_set(result, array[member.key], json_merge_patch(coalesce(result -> member.key, '{}'), member.value));
    else
      result := jsonb_set(result, array[member.key], member.value);
    end if;
  end loop;
  return result;
end $$;
