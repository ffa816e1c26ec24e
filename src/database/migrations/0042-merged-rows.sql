-- runs beside: 0.1.0
-- How a row of an import changes the entity that it belongs to.

-- The members of the patch replace those of the target, objects merge, and null is a value like any other. A patch without an object inside is `||`.
create function json_merge_members(target jsonb, patch jsonb) returns jsonb
language plpgsql immutable strict parallel safe as $$
begin
  if jsonb_typeof(patch) <> 'object' then
    return patch;
  end if;
  -- `|| '{}'` decompresses a stored target once, instead of once for each member that is looked up.
  target := case jsonb_typeof(target) when 'object' then target || '{}' else '{}' end;
  if not patch @? 'strict $.* ? (@.type() == "object")' then
    return target || patch;
  end if;
  return target || (
    select jsonb_object_agg(
      key, case jsonb_typeof(value) when 'object' then json_merge_members(coalesce(target -> key, '{}'), value) else value end
    )
    from jsonb_each(patch)
  );
end $$;

-- The target without the members that are null in the mask, an object. An object that becomes empty so is removed too.
create function json_without(target jsonb, mask jsonb) returns jsonb
language plpgsql immutable strict parallel safe as $$
declare
  name text;
  below jsonb;
  inner_value jsonb;
begin
  if jsonb_typeof(target) <> 'object' then
    return target;
  end if;
  target := coalesce(target - (select array_agg(key) from jsonb_each(mask) where jsonb_typeof(value) = 'null'), target);
  for name, below in select key, value from jsonb_each(mask) where jsonb_typeof(value) = 'object' loop
    if target ? name then
      inner_value := json_without(target -> name, below);
      if inner_value = '{}' and target -> name <> '{}' then
        target := target - name;
      else
        target := target || jsonb_build_object(name, inner_value);
      end if;
    end if;
  end loop;
  return target;
end $$;

-- How many members of objects, outside of arrays, the first value has and the second one lacks.
create function json_count_removed(before jsonb, after jsonb) returns integer
language plpgsql immutable strict parallel safe as $$
begin
  if jsonb_typeof(before) <> 'object' or jsonb_typeof(after) <> 'object' then
    return 0;
  end if;
  return (
    select coalesce(sum(case
        when not after ? key then 1
        when jsonb_typeof(value) = 'object' then json_count_removed(value, after -> key)
        else 0
      end), 0)
    from jsonb_each(before)
  );
end $$;
