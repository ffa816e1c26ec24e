-- An address that has used up its failures leaves no rows for the names that it goes on sending.

-- What a row of `login_attempt` counts at `moment`: an address begins anew after 5 minutes, and attempts undecided for 15 seconds have failed.
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

-- For how many seconds an address gets no further attempt; null when it gets one. Takes a settled row.
create function address_retry_seconds(settled login_attempt, moment timestamptz) returns integer language plpgsql stable as $$
begin
  if settled.failures >= 20 then
    return greatest(1, ceil(extract(epoch from settled.since + interval '5 minutes' - moment)));
  end if;
  return null;
end $$;

-- Counts an attempt on an account from an address. The verdict is `go` (counted; end_login_attempt must follow), `full` (not counted; try
-- again when one of the pending is decided), or `account` or `address`, naming what is to be left alone for `retry_seconds`. An account
-- has five failures free, then one attempt at a time, and none after a hundred until an administrator resets it; an address has twenty.
create or replace function begin_login_attempt(account bytea, address bytea, out verdict text, out retry_seconds integer) language plpgsql as $$
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
