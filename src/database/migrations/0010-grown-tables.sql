-- runs beside: 0.1.0
-- The planner's statistics, brought up to date while a table grows.
--
-- A connection keeps the plan of a prepared statement until the statistics of its tables change. Autovacuum looks at them once a minute. A
-- table that was analysed with a few rows may have some hundred thousand by then, and the kept plan would read all of them.

-- Analyses each table of this schema that has at least 16 pages and twice as many as its statistics say; returns their names. It runs with the
-- rights of the owner, because the service's role may not own the tables. A table that another session is analysing is left out.
create function analyze_grown_tables() returns setof text
language plpgsql security definer
set search_path from current as $$
declare
  pages integer := current_setting('block_size');
  grown regclass;
begin
  for grown in
    select oid from pg_class
    where relnamespace = (select pronamespace from pg_proc where oid = 'analyze_grown_tables()'::regprocedure) and relkind = 'r'
      and pg_relation_size(oid) / pages >= greatest(16, 2 * relpages)
  loop
    execute format('analyze (skip_locked) %s', grown);
    return next grown::text;
  end loop;
end $$;
