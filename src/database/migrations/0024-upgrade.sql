-- runs beside: 0.1.0
-- What an upgrade without a pause needs: what each migration allows beside it, and which processes run.

-- The oldest version of the service that may run on the schema of each migration. A version that does not know a migration starts if it is not older.
create table migration_note (
  name        text primary key,
  runs_beside text not null
);

-- Each process of the service renews its row every ten seconds and deletes it when it stops. A row that is a minute old is of a process that was killed.
create table process (
  id         uuid primary key,
  version    text not null,
  host       text not null,
  -- That of the host's operating system, for the operator to find it.
  pid        integer not null,
  started_at timestamptz not null default now(),
  seen_at    timestamptz not null default now()
);

-- Roles that may see which migrations there are may see this too; those that serve, which may write sessions, write their processes.
do $$
declare
  granted record;
begin
  for granted in
    select distinct grantee::regrole as role, 'select' as privileges, 'migration_note' as object
    from pg_class, aclexplode(relacl) where pg_class.oid = 'kysely_migration'::regclass and grantee not in (0, relowner)
    union all
    select distinct grantee::regrole, 'select, insert, update, delete', 'process'
    from pg_class, aclexplode(relacl) where pg_class.oid = 'session'::regclass and grantee not in (0, relowner) and privilege_type = 'INSERT'
  loop
    execute format('grant %s on %s to %s', granted.privileges, granted.object, granted.role);
  end loop;
end $$;
