-- runs beside: 0.1.0
-- Limits on password guesses, for each account and each address.

-- Keys that only the processes of this service use.
create table service_secret (
  name  text primary key,
  value bytea not null
);
-- The key of the HMAC in login_attempt.subject.
insert into service_secret values ('login-attempt', sha256((gen_random_uuid()::text || gen_random_uuid()::text)::bytea));

-- An attempt is counted as pending before the password is verified, so that guesses sent at the same time cannot exceed the limit. It becomes a
-- failure when the password is wrong. An attempt waits while the pending ones, if all of them failed, would use up the limit.
create table login_attempt (
  kind          text not null check (kind in ('account', 'address')),
  -- An HMAC of the name or the address, so that the table does not store what clients send as a name.
  subject       bytea not null,
  -- An account: in a row. An address: within five minutes.
  failures      integer not null default 0,
  -- Attempts that are counted and not decided.
  pending       integer not null default 0,
  -- When the latest pending attempt began. Attempts undecided for 15 seconds belong to a process that has died, and count as failures.
  pending_at    timestamptz not null default now(),
  -- For an account: until then attempts are refused and their passwords are not verified.
  blocked_until timestamptz,
  -- For an address: when the first of the failures happened.
  since         timestamptz not null default now(),
  last_at       timestamptz not null default now(),
  primary key (kind, subject)
  -- Half of each page stays free for updated rows, so that an update needs no new entry in the index.
) with (fillfactor = 50);

-- What a row counts at `moment`: the failures of an address are forgotten after 5 minutes, and attempts undecided for 15 seconds have failed.
create function settle_login_attempt(stored login_attempt, moment timestamptz) returns login_attempt language plpgsql stable as $$
declare
  settled login_attempt := stored;
begin
  if settled.kind = 'address' and settled.since <= moment - interval '5 minutes' then
    settled.failures := 0;
  end if;
  if settled.pending_at < moment - interval '15 seconds' then
    if settled.kind = 'address' and settled.failures = 0 then
      settled.since := settled.pending_at;
    end if;
    settled.failures := settled.failures + settled.pending;
    settled.pending := 0;
  end if;
  return settled;
end $$;

-- The number of seconds for which attempts of an address are refused; null when they are not. Takes a settled row.
create function address_retry_seconds(settled login_attempt, moment timestamptz) returns integer language plpgsql stable as $$
begin
  if settled.failures >= 20 then
    return greatest(1, ceil(extract(epoch from settled.since + interval '5 minutes' - moment)));
  end if;
  return null;
end $$;

-- Counts an attempt on an account from an address, unless it is refused. The verdict is one of:
--   go       counted; end_login_attempt must follow
--   full     not counted; try again when a pending attempt is decided
--   account  refused for `retry_seconds`, as all attempts on this account
--   address  refused for `retry_seconds`, as all attempts from this address
-- An account has five failures free, then one attempt at a time. After a hundred failures an administrator must reset it. An address has twenty
-- failures. An address that is refused for its own failures leaves no rows for the accounts that it names.
create function begin_login_attempt(account bytea, address bytea, out verdict text, out retry_seconds integer) language plpgsql as $$
declare
  a login_attempt;
  b login_attempt;
  moment timestamptz := clock_timestamp();
begin
  -- Read before the account's row is made, and without a lock, which would reverse the order of locks below.
  select * into b from login_attempt where kind = 'address' and subject = address;
  retry_seconds := address_retry_seconds(settle_login_attempt(b, moment), moment);
  if retry_seconds is not null then
    verdict := 'address';
    return;
  end if;

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
  -- After the locks, which other attempts may have held for long.
  moment := clock_timestamp();
  a := settle_login_attempt(a, moment);
  b := settle_login_attempt(b, moment);

  if a.failures >= 100 then
    verdict := 'account';
    retry_seconds := 900;
  elsif a.blocked_until > moment then
    verdict := 'account';
    retry_seconds := ceil(extract(epoch from a.blocked_until - moment));
  elsif b.failures >= 20 then
    verdict := 'address';
    retry_seconds := address_retry_seconds(b, moment);
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

-- Decides a counted attempt. `outcome` is `succeeded`, `failed`, or `abandoned` when the password was not verified. Returns the account's
-- failures in a row, or null when the account has no row. From the fifth on, each failure doubles the time for which the account is refused:
-- 1 s, 2 s, and so on up to 15 min.
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
