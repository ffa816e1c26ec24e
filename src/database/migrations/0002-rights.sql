-- runs beside: 0.1.0
-- What users may do. A user acts under one profile at a time. A profile is a set of roles, and a role is a set of grants.
-- A grant allows one action on one entity name. An operation on entities that no grant allows is refused.

create table role (
  id          bigint generated always as identity primary key,
  name        text not null constraint role_name_key unique check (name ~ '^[A-Za-z0-9 _.-]{1,64}$'),
  description text not null default ''
);

create table role_grant (
  role_id   bigint not null references role on delete cascade,
  -- An entity name, or * for all names.
  entity    text not null check (entity = '*' or entity ~ '^[A-Za-z][A-Za-z0-9_.-]{0,63}$'),
  action    text not null check (action in ('create', 'read', 'update', 'delete')),
  -- any: all entities of the name; own: only those that the user created.
  condition text not null default 'any' check (condition in ('any', 'own')),
  primary key (role_id, entity, action)
);

create table profile (
  id     bigint generated always as identity primary key,
  name   text not null constraint profile_name_key unique check (name ~ '^[A-Za-z0-9 _.-]{1,64}$'),
  label  text not null,
  -- The locale that a session takes when it switches to this profile. Null: the session keeps its own.
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
-- A user has one default profile at most.
create unique index user_profile_default_key on user_profile (user_id) where is_default;
