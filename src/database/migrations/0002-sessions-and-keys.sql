-- The two credentials we issue ourselves. Neither table holds anything a reader could sign in with: only SHA-256 hashes.

create table session (
  -- The public handle, shown to the user and in the audit trail. It authenticates nobody.
  id                 uuid primary key default gen_random_uuid(),
  -- SHA-256 of the cookie's value. It changes with every rotation; the row stays.
  token_hash         bytea not null constraint session_token_hash_key unique check (octet_length(token_hash) = 32),
  user_id            bigint not null references user_account,
  -- Null for a user without any profile, who may sign in and change the password and nothing else.
  profile_id         bigint references profile on delete set null,
  method             text not null check (method in ('password', 'token', 'openid')),
  issuer             text,
  -- A ceiling on the grants (scopes of the token the session was made from); null means none.
  scopes             jsonb,
  locale             text not null,
  credential_version integer not null,
  authenticated_at   timestamptz not null default now(),
  created_at         timestamptz not null default now(),
  last_seen_at       timestamptz not null default now(),
  -- Moved by a refresh only, never by ordinary use, and never past expires_at.
  idle_expires_at    timestamptz not null,
  -- Never moved.
  expires_at         timestamptz not null,
  revoked_at         timestamptz,
  revoked_reason     text,
  address            text,
  user_agent         text
);
create index session_user_id_idx on session (user_id) where revoked_at is null;
create index session_expires_at_idx on session (least(idle_expires_at, expires_at));

-- Tokens that have been replaced. A logout by one of them still ends the session, so that it cannot be outrun by what replaced the token.
create table superseded_token (
  token_hash    bytea primary key,
  session_id    uuid not null references session on delete cascade,
  -- Replaced by a refresh: for ten seconds it still serves requests in flight; used later, it betrays a theft.
  refreshed     boolean not null,
  superseded_at timestamptz not null default now()
);
create index superseded_token_session_id_idx on superseded_token (session_id);

create table api_key (
  -- The twelve characters between esk_ and the secret: public, shown in lists.
  id           text primary key check (id ~ '^[0-9A-Za-z]{12}$'),
  -- SHA-256 of the whole key.
  key_hash     bytea not null check (octet_length(key_hash) = 32),
  user_id      bigint not null references user_account,
  name         text not null,
  -- Null means the owner's default profile, whichever that is when the key is used.
  profile_id   bigint references profile on delete cascade,
  -- Grants as JSON that can only narrow what the profile allows; null narrows nothing.
  scopes       jsonb,
  created_at   timestamptz not null default now(),
  expires_at   timestamptz not null,
  last_used_at timestamptz,
  -- When its successor was made. A key is replaced once; expires_at says how long it goes on beside the new one.
  replaced_at  timestamptz,
  revoked_at   timestamptz
);
create index api_key_user_id_idx on api_key (user_id) where revoked_at is null;

-- Every process keeps recently verified credentials for a few seconds. These triggers tell all of them, at commit and in commit
-- order, what to forget: one session, one key, one user's credentials, or (when rights change) everything.

create function forget_principal() returns trigger language plpgsql as $$
begin
  if tg_level = 'ROW' then
    perform pg_notify('principal', tg_argv[0] || ' ' || old.id);
  else
    perform pg_notify('principal', 'all');
  end if;
  return null;
end $$;

create trigger session_changed after update of token_hash, profile_id, idle_expires_at, expires_at, revoked_at, locale on session
  for each row execute function forget_principal('session');
create trigger session_removed after delete on session for each row execute function forget_principal('session');
create trigger api_key_changed after update of key_hash, profile_id, scopes, expires_at, revoked_at on api_key
  for each row execute function forget_principal('key');
create trigger user_account_changed after update of active, credential_version, display_name on user_account
  for each row execute function forget_principal('user');

-- A link that is added needs no notice: nobody remembers who was not known.
create trigger identity_changed after update or delete or truncate on identity for each statement execute function forget_principal();
create trigger role_grant_changed after insert or update or delete or truncate on role_grant
  for each statement execute function forget_principal();
create trigger role_changed after update or delete on role for each statement execute function forget_principal();
create trigger profile_changed after update or delete on profile for each statement execute function forget_principal();
create trigger profile_role_changed after insert or update or delete or truncate on profile_role
  for each statement execute function forget_principal();
create trigger user_profile_changed after insert or update or delete or truncate on user_profile
  for each statement execute function forget_principal();
