-- What keeps guessers out, and what tells afterwards.

-- Failed sign-ins, per account and per address. The subject is an HMAC, so what people type into a name field is not kept.
--
-- An attempt is counted before its password is looked at, so that no number of guesses sent at once beats the limit. Until it has
-- failed it is pending, not a failure, so that right passwords sent at once are not refused: they wait for each other where, had all
-- those before them failed, the next one would be too many.

create table login_attempt (
  kind          text not null check (kind in ('account', 'address')),
  subject       bytea not null,
  -- In a row for an account; within five minutes for an address.
  failures      integer not null default 0,
  -- Counted and not decided yet.
  pending       integer not null default 0,
  -- When the latest of those began. Whoever has not decided fifteen seconds later is dead, and what it left behind counts as failed.
  pending_at    timestamptz not null default now(),
  -- Accounts only: until then attempts are refused unseen.
  blocked_until timestamptz,
  -- Addresses only: when the first of the failures was.
  since         timestamptz not null default now(),
  last_at       timestamptz not null default now(),
  primary key (kind, subject)
) with (fillfactor = 50);

-- Counts an attempt on an account from an address. The verdict is `go` (counted; end_login_attempt must follow), `full` (not counted; try
-- again when one of the pending is decided), or `account` or `address`, naming what is to be left alone for so many seconds. An account
-- has five failures free, then one attempt at a time, and none after a hundred until an administrator resets it; an address has twenty.
create function begin_login_attempt(account bytea, address bytea, out verdict text, out retry_seconds integer) language plpgsql as $$
declare
  a login_attempt;
  b login_attempt;
  moment timestamptz;
begin
  -- Always the account's row before the address's, so that no two attempts wait for each other.
  loop
    select * into a from login_attempt where kind = 'account' and subject = account for update;
    exit when found;
    insert into login_attempt (kind, subject) values ('account', account) on conflict do nothing;
  end loop;
  loop
    select * into b from login_attempt where kind = 'address' and subject = address for update;
    exit when found;
    insert into login_attempt (kind, subject) values ('address', address) on conflict do nothing;
  end loop;
  -- After the locks: now() would be the time before the wait for them.
  moment := clock_timestamp();

  if a.pending_at < moment - interval '15 seconds' then
    a.failures := a.failures + a.pending;
    a.pending := 0;
  end if;
  if b.since <= moment - interval '5 minutes' then
    b.failures := 0;
  end if;
  if b.pending_at < moment - interval '15 seconds' then
    if b.failures = 0 then
      b.since := b.pending_at;
    end if;
    b.failures := b.failures + b.pending;
    b.pending := 0;
  end if;

  if a.failures >= 100 then
    verdict := 'account';
    retry_seconds := 900;
  elsif a.blocked_until > moment then
    verdict := 'account';
    retry_seconds := ceil(extract(epoch from a.blocked_until - moment));
  elsif b.failures >= 20 then
    verdict := 'address';
    retry_seconds := greatest(1, ceil(extract(epoch from b.since + interval '5 minutes' - moment)));
  elsif a.pending >= greatest(1, 5 - a.failures) or b.pending >= 20 - b.failures then
    verdict := 'full';
  else
    verdict := 'go';
    update login_attempt set failures = a.failures, pending = a.pending + 1, pending_at = moment, last_at = moment
      where kind = 'account' and subject = account;
    update login_attempt set failures = b.failures, pending = b.pending + 1, pending_at = moment, last_at = moment, since = b.since
      where kind = 'address' and subject = address;
  end if;
end $$;

-- Decides a counted attempt: `succeeded`, `failed`, or `abandoned` when the password was not looked at. Returns the account's failures in
-- a row, or null when the account's row is gone. From the fifth on each failure blocks the account twice as long: 1 s, 2 s … 15 min.
create function end_login_attempt(account bytea, address bytea, outcome text) returns integer language plpgsql as $$
declare
  moment timestamptz := clock_timestamp();
  result integer;
begin
  update login_attempt set
    pending = greatest(pending - 1, 0),
    failures = case outcome when 'succeeded' then 0 when 'failed' then failures + 1 else failures end,
    blocked_until = case
      when outcome = 'succeeded' then null
      when outcome = 'failed' and failures >= 4 then moment + least(900, 2 ^ (failures - 4)) * interval '1 second'
      else blocked_until
    end,
    last_at = moment
  where kind = 'account' and subject = account
  returning failures into result;

  update login_attempt set
    pending = greatest(pending - 1, 0),
    failures = case when outcome <> 'failed' then failures when since <= moment - interval '5 minutes' then 1 else failures + 1 end,
    since = case when outcome = 'failed' and (failures = 0 or since <= moment - interval '5 minutes') then moment else since end,
    last_at = moment
  where kind = 'address' and subject = address;
  return result;
end $$;

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
