/** Single statements on a database, for the support code of the suite: no pool, no vitest, so that the global setup can use it too. */
import { readFileSync } from 'node:fs';
import { Client } from 'pg';

export async function execute(databaseUrl: string, sql: string): Promise<void> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

/** Undoes the migrations after the first release's, of which a test makes only the table of migrations older. */
export const undoLaterMigrations = `
  drop table audit_event, audit_retention, migration_note, process;
  drop function refuse_audit_change, maintain_audit_trail, maintain_months, month_partitions;
  ${readFileSync(new URL('../../src/database/migrations/0009-audit.sql', import.meta.url), 'utf8')}
  drop schema entity_data cascade;
  drop function refuse_to_orphan_entities cascade;
  alter table entity drop column bytes, add foreign key (created_by) references user_account (name), add foreign key (updated_by) references user_account (name);
  drop function entity_instant, entity_exact_instant, json_merge_members, json_without, json_count_removed, json_changed_members, json_project, entity_companion_delete, pinned;
  drop trigger service_secret_changed on service_secret;
  delete from service_secret where name = 'cursor';
  alter table service_secret drop column changed_at;
  alter table session drop column unused_token_hash, drop column predecessor_hash;
  alter table superseded_token drop column refreshed_at;
  drop function maintain_entity_history, purge_entity_history, make_feed_tick, delete_old_feed_ticks;
  drop table entity_trash, feed_tick;
  drop view entity_history_keep;
  drop table entity_change;
  alter table idempotency drop column operation, drop column results, add constraint idempotency_pkey primary key (user_name, entity, key);
  drop table entity_type, entity_type_revision;
  drop function notify_entity_type;
  alter table role_grant drop constraint role_grant_type_check;
  drop table attribute, grant_rule;
  drop function forget_user_of_identity, notify_attribute cascade;
  alter table user_account drop column attributes cascade, drop column time_zone cascade;
  alter table profile drop column attributes;
  alter table identity drop column claims;
  drop index role_grant_plain_key;
  alter table role_grant drop constraint role_grant_pkey, drop constraint role_grant_condition_check, drop column name,
    add primary key (role_id, entity, action), add constraint role_grant_condition_check check (condition in ('any', 'own'));
  delete from kysely_migration where name > '0011';`;

/** Removes all tables of a migrated database. */
export const dropTables = 'drop schema entity_data cascade; drop schema public cascade; create schema public';

/** The address of another database on the same server, for the same role. */
export function withDatabase(databaseUrl: string, name: string): string {
  const url = new URL(databaseUrl);
  url.pathname = `/${name}`;
  return url.href;
}
