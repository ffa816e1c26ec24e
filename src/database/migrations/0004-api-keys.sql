-- runs beside: 0.1.0
-- API keys. The table holds the SHA-256 hash of a key, so its rows cannot be used to sign in.

create table api_key (
  -- The twelve characters between esk_ and the secret. They are public and shown in lists.
  id           text primary key check (id ~ '^[0-9A-Za-z]{12}$'),
  -- SHA-256 of the whole key.
  key_hash     bytea not null check (octet_length(key_hash) = 32),
  user_id      bigint not null references user_account,
  name         text not null,
  -- Null: the profile that is the owner's default when the key is used.
  profile_id   bigint references profile on delete cascade,
  -- A ceiling on what the profile allows. Null: no ceiling.
  scopes       jsonb,
  created_at   timestamptz not null default now(),
  expires_at   timestamptz not null,
  last_used_at timestamptz,
  -- When its successor was made. A key is replaced once. It stays valid beside the successor until expires_at.
  replaced_at  timestamptz,
  revoked_at   timestamptz
);
create index api_key_user_id_idx on api_key (user_id) where revoked_at is null;
