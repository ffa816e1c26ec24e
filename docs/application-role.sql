-- What the service needs to be allowed when it does not own its tables (see "Two database roles" in docs/production.md). Run by the owner of the tables after
-- "npm run admin -- migrate"; run it again after a migration has added a table, a restore or a copy. A test holds it to the schema and starts the service with it.

grant usage on schema public to entity_application;

grant select, insert, update, delete on
  user_account, attribute, identity, unlinked_claims, role, role_grant, profile, profile_role, user_profile,
  session, superseded_token, openid_transaction, api_key, entity, entity_trash, entity_type, login_attempt, idempotency, process
to entity_application;

-- For the keys of new entities, and the numbers of companion tables.
grant usage on sequence entity_key_seq, entity_type_id_seq to entity_application;

-- Companion tables of entity types. The service creates and drops them itself, and so does the owner, who runs the commands.
grant usage, create on schema entity_data to entity_application;
do $$
begin
  if not pg_has_role('entity_application', 'usage') then
    raise exception 'the role % is no member of entity_application', current_user
      using hint = format('Let a superuser run: grant entity_application to %I;', current_user);
  end if;
end $$;

-- Those that the owner has made: with a single role before, in a restore or in a copy.
do $$
declare
  command text;
begin
  for command in
    select format('alter table %s owner to entity_application', oid::regclass) from pg_class
    where relnamespace = 'entity_data'::regnamespace and relkind = 'r' and relname ~ '^x[0-9]+$'
    union all
    select format('alter statistics entity_data.%I owner to entity_application', stxname) from pg_statistic_ext
    where stxnamespace = 'entity_data'::regnamespace
  loop
    execute command;
  end loop;
end $$;

-- Versions of entities are added; functions of the owner drop what is too old, and take the fields of what is purged.
grant select, insert on entity_change to entity_application;
grant select on feed_tick to entity_application;
grant execute on function maintain_entity_history(integer), purge_entity_history(text, bigint, integer),
  make_feed_tick(), delete_old_feed_ticks(integer)
to entity_application;

-- Revisions of entity types and rules of grants are added and never changed.
grant select, insert on entity_type_revision, grant_rule to entity_application;

-- The keys of cursors and of failed sign-ins. The migrations make them, and the owner replaces them.
grant select on service_secret to entity_application;

-- The audit trail is written and never changed. Who reads it does so as the owner, who also says how long it is kept: the owner's function drops what is
-- older.
grant insert on audit_event to entity_application;
grant select on audit_retention to entity_application;
grant execute on function maintain_audit_trail() to entity_application;

-- To see that no migration is missing.
grant select on kysely_migration, kysely_migration_lock, migration_note to entity_application;
