-- runs beside: 0.1.0
-- Instants are compared with all digits of a second, where no column of a rule has them.

-- The instant that a text of RFC 3339 names, in seconds since 1970; null for any other text. A leap second is between the seconds around it: it adds
-- 0.9999999995 and half a billionth of its fraction to the second before.
create function entity_exact_instant(value text) returns numeric language plpgsql stable strict as $$
declare
  parts text[] := regexp_match(value, '^([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt ]([0-9]{2}:[0-9]{2}:)([0-9]{2})(\.[0-9]+)?([Zz]|[+-][0-9]{2}(:?[0-9]{2})?)$');
  fraction numeric;
begin
  if parts is null then
    return null;
  end if;
  fraction := coalesce('0' || parts[4], '0')::numeric;
  if parts[3] = '60' then
    return extract(epoch from (parts[1] || ' ' || parts[2] || '59' || parts[5])::timestamptz) + 0.9999999995 + fraction * 0.0000000005;
  end if;
  return extract(epoch from (parts[1] || ' ' || parts[2] || parts[3] || parts[5])::timestamptz) + fraction;
exception when data_exception then
  return null;
end $$;
