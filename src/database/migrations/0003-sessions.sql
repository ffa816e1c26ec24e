-- runs beside: 0.1.0
-- Sessions. The tables hold SHA-256 hashes of tokens, so their rows cannot be used to sign in.

create table session (
  -- The public handle, shown to the user and in the audit trail. It is no credential.
  id                 uuid primary key default gen_random_uuid(),
  -- SHA-256 of the token in the cookie. A refresh and a switch of the profile replace the token; the row stays.
  token_hash         bytea not null constraint session_token_hash_key unique check (octet_length(token_hash) = 32),
  user_id            bigint not null references user_account,
  -- Null: the user has no profile and may only sign in and change the password.
  profile_id         bigint references profile on delete set null,
  method             text not null check (method in ('password', 'token', 'openid')),
  -- The identity that opened the session is issuer and subject. Null: a password did.
  issuer             text,
  -- A ceiling on the grants, from the scopes of the token that opened the session. Null: no ceiling.
  scopes             jsonb,
  locale             text not null,
  -- The user's credential_version when the session was opened.
  credential_version integer not null,
  -- When the absolute lifetime began. For a session opened by a token it may be the time of the token (`iat`).
  authenticated_at   timestamptz not null default now(),
  created_at         timestamptz not null default now(),
  last_seen_at       timestamptz not null default now(),
  -- Moved by a refresh only, and never past expires_at. Other requests do not move it.
  idle_expires_at    timestamptz not null,
  -- The end of the absolute lifetime. It never moves.
  expires_at         timestamptz not null,
  revoked_at         timestamptz,
  revoked_reason     text,
  address            text,
  user_agent         text,
  subject            text,
  -- The issuer's name for its own session (`sid`). A back-channel logout names it.
  issuer_session_id  text,
  -- Where the user can end the issuer's own session.
  end_session_url    text,
  -- When the user last signed in: the time of the password, or the issuer's `auth_time`. Null: the issuer did not say. Operations that need a
  -- recent sign-in read this column.
  signed_in_at       timestamptz
);
create index session_user_id_idx on session (user_id) where revoked_at is null;
-- For the deletion of expired sessions.
create index session_expires_at_idx on session (least(idle_expires_at, expires_at));
-- For a back-channel logout.
create index session_issuer_idx on session (issuer, subject) where issuer is not null and revoked_at is null;

-- The hashes of replaced tokens. A logout with a replaced token still ends the session.
create table superseded_token (
  token_hash    bytea primary key,
  session_id    uuid not null references session on delete cascade,
  -- True: a refresh replaced the token. It stays valid for ten seconds, for requests under way. A use after that is a theft and ends the session.
  refreshed     boolean not null,
  superseded_at timestamptz not null default now()
);
create index superseded_token_session_id_idx on superseded_token (session_id);

-- Opens a session under the user's default profile. It ends the sessions beyond `maximum`, the longest idle first, and returns their ids as
-- `evicted`. It returns no row when the session would have expired already, or when the user has been disabled or the password changed since
-- the caller read `credential_version`.
create function open_session(
  token_hash         bytea,
  user_id            bigint,
  -- As read before the password was verified. A session must not outlive a change made in between.
  credential_version integer,
  method             text,
  issuer             text,
  subject            text,
  issuer_session_id  text,
  end_session_url    text,
  scopes             jsonb,
  -- As asked for. Null: the default profile's, else the user's, else English.
  locale             text,
  -- When the absolute lifetime began. Null or a later time: now.
  authenticated_at   timestamptz,
  idle_seconds       double precision,
  absolute_seconds   double precision,
  address            text,
  user_agent         text,
  maximum            integer,
  -- When the user signed in at the issuer. Null: the issuer did not say. With a password it is not used: the user signed in now.
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
