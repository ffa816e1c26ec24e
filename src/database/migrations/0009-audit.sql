-- runs beside: 0.1.0
-- The audit trail. An event is written in the transaction of the change that it records.

create table audit_event (
  id         bigint generated always as identity primary key,
  at         timestamptz not null default clock_timestamp(),
  event      text not null,
  outcome    text not null check (outcome in ('ok', 'refused', 'failed')),
  -- The user that acts or is changed. Null: the event has no known user.
  user_name  text,
  -- The request's urn:uuid. Null: no request caused the event.
  request_id text,
  session_id uuid,
  address    text,
  user_agent text,
  detail     jsonb not null default '{}'
);
create index audit_event_at_idx on audit_event (at);
create index audit_event_user_name_idx on audit_event (user_name, at);

-- Refuses every change of written events, also by the owner of the table.
create function refuse_audit_change() returns trigger language plpgsql as $$
begin
  raise exception 'audit_event is append only';
end $$;
create trigger audit_event_append_only before update or delete or truncate on audit_event
  for each statement execute function refuse_audit_change();
