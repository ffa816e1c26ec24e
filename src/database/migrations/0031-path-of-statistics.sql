-- runs beside: 0.1.0
-- The function runs with the rights of the owner, and read a temporary view of its caller in place of pg_class: pg_temp comes first in a path that does not name it.

do $$
begin
  execute format('alter function analyze_grown_tables() set search_path = %I, pg_temp', current_schema());
end $$;
