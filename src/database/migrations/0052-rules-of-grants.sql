-- runs beside: 0.1.0
-- Rules of grants: which rows and fields a grant is about. A version that knows none of it refuses what such a grant allows.

-- A rule by the SHA-256 of its document. A document never changes: a grant with another rule has another digest.
create table grant_rule (
  digest   text primary key check (digest ~ '^[0-9a-f]{64}$'),
  document json not null
);

alter table role_grant
  drop constraint role_grant_condition_check,
  drop constraint role_grant_pkey,
  -- What administrators call a grant with a rule. It is null for `any` and `own`.
  add column name text;
-- A role grants an action on a name by `any` or `own`, and by several rules beside.
-- squawk-ignore constraint-missing-not-valid, adding-serial-primary-key-field
alter table role_grant add primary key (role_id, entity, action, condition);
-- squawk-ignore constraint-missing-not-valid
alter table role_grant add constraint role_grant_condition_check
  check (condition in ('any', 'own') or condition ~ '^[0-9a-f]{64}$');
-- squawk-ignore constraint-missing-not-valid
alter table role_grant add constraint role_grant_name_check
  check ((name is null) = (condition in ('any', 'own')) and name ~ '^[A-Za-z0-9 _.-]{1,64}$');
-- squawk-ignore require-concurrent-index-creation
create unique index role_grant_plain_key on role_grant (role_id, entity, action) where name is null;

-- The rights that the process can enforce. A grant of one that a running process does not know is refused.
alter table process add column knows text[] not null default '{}';
