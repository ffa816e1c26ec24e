-- Who may sign in, and what they may do.
--
-- A user acts under one profile at a time. A profile is a named set of roles, a role a named set of grants,
-- a grant one action on one entity name. Nothing is allowed that no grant allows.

create table user_account (
  id                 bigint generated always as identity primary key,
  -- NFKC, case-folded and trimmed of nothing: the form every lookup uses. Users are disabled, never deleted, so a name is never reused.
  name               text not null constraint user_account_name_key unique check (char_length(name) between 1 and 128),
  display_name       text not null,
  locale             text,
  -- A PHC string ($argon2id$…); null means that the user has no password and signs in through an issuer only.
  password_hash      text,
  -- Goes up whenever a password changes or the user is disabled; a session opened under an older version is dead.
  credential_version integer not null default 1,
  active             boolean not null default true,
  created_at         timestamptz not null default now(),
  updated_at         timestamptz not null default now()
);

-- A subject at a trusted issuer, and the user it stands for. Never matched by e-mail or by name.
create table identity (
  issuer     text not null,
  subject    text not null,
  user_id    bigint not null references user_account,
  created_at timestamptz not null default now(),
  primary key (issuer, subject)
);
create index identity_user_id_idx on identity (user_id);

create table role (
  id          bigint generated always as identity primary key,
  name        text not null constraint role_name_key unique check (name ~ '^[A-Za-z0-9 _.-]{1,64}$'),
  description text not null default ''
);

create table role_grant (
  role_id   bigint not null references role on delete cascade,
  -- An entity name, or * for every name.
  entity    text not null check (entity = '*' or entity ~ '^[A-Za-z][A-Za-z0-9_.-]{0,63}$'),
  action    text not null check (action in ('create', 'read', 'update', 'delete')),
  -- any: every row; own: only rows that the user created.
  condition text not null default 'any' check (condition in ('any', 'own')),
  primary key (role_id, entity, action)
);

create table profile (
  id     bigint generated always as identity primary key,
  name   text not null constraint profile_name_key unique check (name ~ '^[A-Za-z0-9 _.-]{1,64}$'),
  label  text not null,
  -- The locale a session takes when it switches to this profile; null leaves the session's own.
  locale text
);

create table profile_role (
  profile_id bigint not null references profile on delete cascade,
  role_id    bigint not null references role on delete cascade,
  primary key (profile_id, role_id)
);

create table user_profile (
  user_id    bigint not null references user_account on delete cascade,
  profile_id bigint not null references profile on delete cascade,
  is_default boolean not null default false,
  primary key (user_id, profile_id)
);
create unique index user_profile_default_key on user_profile (user_id) where is_default;
