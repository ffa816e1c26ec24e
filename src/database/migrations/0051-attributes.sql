-- runs beside: 0.1.0
-- Attributes: values of users and profiles that rules compare with fields of entities. A version that knows none of it leaves all of them empty.

-- The declared names, each with the JSON Schema of its values. A value without a declaration, or of another type, counts as missing.
create table attribute (
  owner  text not null check (owner in ('user', 'profile')),
  name   text not null check (name ~ '^[A-Za-z][A-Za-z0-9_-]{0,63}$' and name not in ('name', 'attributes')),
  schema json not null,
  primary key (owner, name)
);

alter table user_account
  add column attributes jsonb not null default '{}',
  -- An IANA name, such as Europe/Berlin. Null: UTC.
  add column time_zone text;
alter table profile add column attributes jsonb not null default '{}';
-- The claims of the newest token that the issuer's entry in ISSUERS_FILE names under `rights`, by their names there. Null: none yet.
alter table identity add column claims jsonb;

-- The right to see the names of entities and to refer to them. Nothing grants `adopt` and `webhook` yet.
alter table role_grant drop constraint role_grant_action_check;
-- squawk-ignore constraint-missing-not-valid
alter table role_grant add constraint role_grant_action_check
  check (action in ('create', 'read', 'update', 'delete', 'type', 'purge', 'label', 'adopt', 'webhook'));

create or replace trigger user_account_changed after update of active, credential_version, display_name, attributes, time_zone on user_account
  for each row execute function forget_principal('user');

-- Tokens with other claims change what one user may do.
create function forget_user_of_identity() returns trigger language plpgsql as $$
begin
  perform pg_notify('principal', 'user ' || old.user_id);
  return null;
end $$;
create trigger identity_claims_changed after update of claims on identity
  for each row when (old.claims is distinct from new.claims) execute function forget_user_of_identity();

-- Each process has read the declarations.
create function notify_attribute() returns trigger language plpgsql as $$
begin
  perform pg_notify('principal', 'attribute');
  return null;
end $$;
create trigger attribute_changed after insert or update or delete or truncate on attribute
  for each statement execute function notify_attribute();
