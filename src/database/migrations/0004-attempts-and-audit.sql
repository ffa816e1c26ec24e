-- What keeps guessers out, and what tells afterwards.

-- Failed sign-ins, per account and per address. The subject is an HMAC, so what people type into a name field is not kept.
create table login_attempt (
  kind          text not null check (kind in ('account', 'address')),
  subject       bytea not null,
  failures      integer not null default 0,
  -- Until then attempts are refused unseen.
  blocked_until timestamptz,
  -- When the present count began; an address count starts anew five minutes later.
  since         timestamptz not null default now(),
  last_at       timestamptz not null default now(),
  primary key (kind, subject)
);
create index login_attempt_last_at_idx on login_attempt (last_at);

-- Append only: written in the transaction of what it records.
create table audit_event (
  id         bigint generated always as identity primary key,
  at         timestamptz not null default clock_timestamp(),
  event      text not null,
  outcome    text not null check (outcome in ('ok', 'refused', 'failed')),
  -- The user acted upon or acting; null where nobody is known.
  user_name  text,
  -- The request's urn:uuid, or null for what no request caused.
  request_id text,
  session_id uuid,
  address    text,
  user_agent text,
  detail     jsonb not null default '{}'
);
create index audit_event_at_idx on audit_event (at);
create index audit_event_user_name_idx on audit_event (user_name, at);

create function refuse_audit_change() returns trigger language plpgsql as $$
begin
  raise exception 'audit_event is append only';
end $$;
create trigger audit_event_append_only before update or delete or truncate on audit_event
  for each statement execute function refuse_audit_change();

-- Keys that only this service's processes use, such as the one behind login_attempt.subject.
create table service_secret (
  name  text primary key,
  value bytea not null
);
insert into service_secret values ('login-attempt', sha256((gen_random_uuid()::text || gen_random_uuid()::text)::bytea));
