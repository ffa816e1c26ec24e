-- runs beside: 0.1.0
-- Entity types: what the fields of the entities of a name must be like.

-- Every document that was ever applied, and every deletion. Its numbers are the revisions of types: none is used twice, not even for another
-- name or after a deletion.
create table entity_type_revision (
  revision   bigint generated always as identity primary key,
  name       text not null check (name ~ '^[A-Za-z][A-Za-z0-9_.-]{0,63}$'),
  -- A JSON Schema with service keywords, as it was written. Null: the type was deleted.
  document   json,
  -- The origin of the document: ENTITY_TYPES_DIR, the administration command or a request.
  source     text not null check (source in ('files', 'command', 'api')),
  -- The plan that was carried out.
  plan       json not null,
  applied_at timestamptz not null default clock_timestamp(),
  applied_by text not null
);

-- The revision of each declared name that is in force. A name without a row has the revision 0: any object. With few rows a page the planner uses
-- the index from about 100 types on; every write looks up a revision.
create table entity_type (
  name     text primary key,
  revision bigint not null references entity_type_revision
) with (fillfactor = 10);

-- Each statement that writes entities compares the revision with the one against which the process has checked the fields, and locks this table in
-- ROW SHARE mode. A change of types locks it in EXCLUSIVE mode first. So the change waits for the writes under way, and later writes see it.
create function notify_entity_type() returns trigger language plpgsql as $$
begin
  perform pg_notify('principal', 'type ' || coalesce(new.name, old.name));
  return null;
end $$;
create trigger entity_type_changed after insert or update or delete on entity_type
  for each row execute function notify_entity_type();

-- The right to declare types. It concerns a name and no rows, so there is no such right on own rows.
alter table role_grant drop constraint role_grant_action_check;
-- squawk-ignore constraint-missing-not-valid
alter table role_grant add constraint role_grant_action_check check (action in ('create', 'read', 'update', 'delete', 'type'));
-- squawk-ignore constraint-missing-not-valid
alter table role_grant add constraint role_grant_type_check check (action <> 'type' or condition = 'any');
