-- Users see and remove their own identity links, and a recent sign-in is told from a recent token.

-- The public handle of a link. It is random, so that it does not tell how many links there are.
alter table identity add column id uuid not null default gen_random_uuid() constraint identity_id_key unique;

-- When the user last proved who they are: the time of the password, or the issuer's `auth_time`. Null if the issuer did not say. What needs a
-- recent sign-in goes by this column. authenticated_at only says when the absolute lifetime began, and may be the time of a token (`iat`).
alter table session add column signed_in_at timestamptz;
-- For sessions by a token or through a provider, which of the two times authenticated_at holds is not known.
update session set signed_in_at = authenticated_at where method = 'password' and revoked_at is null;

drop function open_session;

-- Opens a session under the user's default profile, and ends those beyond `maximum`, the longest idle first; their ids are `evicted`. Nothing when
-- the user has been disabled, or the password changed, since credential_version was read, or the session would be over already.
create function open_session(
  token_hash         bytea,
  user_id            bigint,
  -- As read before the password was looked at: a session must not outlive a change made meanwhile.
  credential_version integer,
  method             text,
  issuer             text,
  subject            text,
  issuer_session_id  text,
  end_session_url    text,
  scopes             jsonb,
  -- As asked for; else the default profile's, else the user's, else English.
  locale             text,
  -- When its absolute lifetime began; null: now. Never counts as later than now.
  authenticated_at   timestamptz,
  idle_seconds       double precision,
  absolute_seconds   double precision,
  address            text,
  user_agent         text,
  maximum            integer,
  -- When the user signed in at the issuer; null if the issuer did not say. A password counts as looked at now. The default serves processes of
  -- the version before, which run until they are replaced.
  signed_in_at       timestamptz default null,
  out opened         session,
  out evicted        uuid[]
) returns setof record rows 1 language plpgsql as $$
#variable_conflict use_column
declare
  began     constant timestamptz := least(open_session.authenticated_at, now());
  -- `least` leaves out nulls.
  signed_in constant timestamptz := case
    when open_session.method = 'password' then now()
    when open_session.signed_in_at is not null then least(open_session.signed_in_at, now())
  end;
  expires   constant timestamptz := began + make_interval(secs => open_session.absolute_seconds);
begin
  if expires <= now() then
    return;
  end if;
  -- Puts the sign-ins of one user in a row, so that the maximum is one, and a password change before or after them. The statements below
  -- see what those before them have left.
  perform from user_account
    where id = open_session.user_id and active and credential_version = open_session.credential_version
    for no key update;
  if not found then
    return;
  end if;

  insert into session (
    token_hash, user_id, profile_id, method, issuer, subject, issuer_session_id, end_session_url, scopes, locale, credential_version,
    authenticated_at, signed_in_at, idle_expires_at, expires_at, address, user_agent
  )
  select
    open_session.token_hash, user_account.id, user_profile.profile_id, open_session.method, open_session.issuer, open_session.subject,
    open_session.issuer_session_id, open_session.end_session_url, open_session.scopes,
    coalesce(open_session.locale, profile.locale, user_account.locale, 'en'), open_session.credential_version,
    began, signed_in, least(now() + make_interval(secs => open_session.idle_seconds), expires), expires, open_session.address,
    open_session.user_agent
  from user_account
    left join user_profile on user_profile.user_id = user_account.id and is_default
    left join profile on profile.id = user_profile.profile_id
  where user_account.id = open_session.user_id
  returning session.* into opened;

  select array_agg(surplus.id) into evicted from (
    select id from session
    where user_id = open_session.user_id and revoked_at is null and idle_expires_at > now() and expires_at > now()
      and id <> opened.id
    -- Those of tokens go first: a token must not end the sessions that the user opened, by opening fifty of its own.
    order by method = 'token', last_seen_at desc
    offset open_session.maximum - 1
  ) surplus;
  if evicted is not null then
    -- Without those that another transaction has ended meanwhile.
    with ended as (
      update session set revoked_at = now(), revoked_reason = 'evicted' where id = any (evicted) and revoked_at is null returning id
    )
    select array_agg(ended.id) into evicted from ended;
  end if;
  evicted := coalesce(evicted, '{}');
  return next;
end $$;
