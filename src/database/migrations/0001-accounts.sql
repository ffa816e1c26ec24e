-- runs beside: 0.1.0
-- Users, and the identities at issuers by which they sign in.

create table user_account (
  id                 bigint generated always as identity primary key,
  -- In the one form that every lookup uses: NFKC and case-folded. Users are disabled and never deleted, so no name is used twice.
  name               text not null constraint user_account_name_key unique check (char_length(name) between 1 and 128),
  display_name       text not null,
  locale             text,
  -- A PHC string ($argon2id$…). Null: the user has no password and signs in through an issuer only.
  password_hash      text,
  -- One more with each change of the password and each disabling. Sessions opened under a lower version are invalid.
  credential_version integer not null default 1,
  active             boolean not null default true,
  created_at         timestamptz not null default now(),
  updated_at         timestamptz not null default now()
);

-- A subject at a trusted issuer, linked to a user. Links are never found by e-mail address or name.
create table identity (
  issuer     text not null,
  subject    text not null,
  user_id    bigint not null references user_account,
  created_at timestamptz not null default now(),
  -- The public handle of the link. It is random, so that it does not tell how many links exist.
  id         uuid not null default gen_random_uuid() constraint identity_id_key unique,
  -- When the newest token was issued whose claims have been applied to the user's profiles (`iat`, whole seconds). Null: none yet.
  claims_at  timestamptz,
  primary key (issuer, subject)
);
create index identity_user_id_idx on identity (user_id);

-- The `claims_at` of removed links. When the subject is linked again, claims of older tokens are still not applied.
create table unlinked_claims (
  issuer    text not null,
  subject   text not null,
  claims_at timestamptz not null,
  primary key (issuer, subject)
);
