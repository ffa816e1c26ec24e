create schema entity_data;

create sequence audit_event_id_seq;

create sequence entity_change_id_seq;

create sequence entity_key_seq;

create sequence entity_type_id_seq;

create sequence entity_type_revision_revision_seq;

create sequence feed_tick_n_seq;

create sequence profile_id_seq;

create sequence role_id_seq;

create sequence user_account_id_seq;

create table api_key (
  id text not null,
  key_hash bytea not null,
  user_id bigint not null,
  name text not null,
  profile_id bigint,
  scopes jsonb,
  created_at timestamp with time zone default now() not null,
  expires_at timestamp with time zone not null,
  last_used_at timestamp with time zone,
  replaced_at timestamp with time zone,
  revoked_at timestamp with time zone
);

create table attribute (
  owner text not null,
  name text not null,
  schema json not null
);

create table audit_event (
  id bigint generated always as identity not null,
  at timestamp with time zone default clock_timestamp() not null,
  event text not null,
  outcome text not null,
  user_name text,
  request_id text,
  session_id uuid,
  address text,
  user_agent text,
  detail jsonb default '{}'::jsonb not null
);

create table audit_retention (
  single boolean default true not null,
  keep text
);

create table entity (
  name text not null,
  key bigint generated always as identity not null,
  version bigint default 1 not null,
  fields jsonb not null,
  created_at timestamp with time zone default now() not null,
  created_by text not null,
  updated_at timestamp with time zone default now() not null,
  updated_by text not null,
  bytes integer generated always as (octet_length((fields)::text)) stored not null
);

create table entity_change (
  id bigint generated always as identity not null,
  at timestamp with time zone default now() not null,
  name text not null,
  key bigint not null,
  version bigint not null,
  operation text not null,
  changed_by text not null,
  created_at timestamp with time zone not null,
  created_by text not null,
  fields jsonb,
  xid xid8 default pg_current_xact_id() not null,
  changed text[],
  before jsonb,
  credential text,
  request uuid
);

create table entity_trash (
  name text not null,
  key bigint not null,
  version bigint not null,
  fields jsonb not null,
  created_at timestamp with time zone not null,
  created_by text not null,
  updated_at timestamp with time zone not null,
  updated_by text not null,
  bytes integer generated always as (octet_length((fields)::text)) stored not null,
  deleted_at timestamp with time zone default now() not null,
  deleted_by text not null,
  expires_at timestamp with time zone not null
);

create table entity_type (
  name text not null,
  revision bigint not null,
  id integer generated always as identity not null
) with (fillfactor=10);

create table entity_type_revision (
  revision bigint generated always as identity not null,
  name text not null,
  document json,
  source text not null,
  plan json not null,
  applied_at timestamp with time zone default clock_timestamp() not null,
  applied_by text not null,
  companion json,
  may_be_unfit boolean default true not null
);

create table feed_tick (
  n bigint generated always as identity not null,
  at timestamp with time zone default clock_timestamp() not null,
  snapshot pg_snapshot not null,
  last_id bigint not null,
  awaited xid8 not null,
  loaded_to bigint not null
);

create table grant_rule (
  digest text not null,
  document json not null
);

create table idempotency (
  user_name text not null,
  entity text not null,
  key text not null,
  fingerprint bytea not null,
  entity_key bigint,
  created_at timestamp with time zone default now() not null,
  operation text default 'createEntity'::text not null,
  results jsonb
);

create table identity (
  issuer text not null,
  subject text not null,
  user_id bigint not null,
  created_at timestamp with time zone default now() not null,
  id uuid default gen_random_uuid() not null,
  claims_at timestamp with time zone,
  claims jsonb
);

create table kysely_migration (
  name character varying(255) not null,
  "timestamp" character varying(255) not null
);

create table kysely_migration_lock (
  id character varying(255) not null,
  is_locked integer default 0 not null
);

create table login_attempt (
  kind text not null,
  subject bytea not null,
  failures integer default 0 not null,
  pending integer default 0 not null,
  pending_at timestamp with time zone default now() not null,
  blocked_until timestamp with time zone,
  since timestamp with time zone default now() not null,
  last_at timestamp with time zone default now() not null
) with (fillfactor=50);

create table migration_note (
  name text not null,
  runs_beside text not null
);

create table openid_transaction (
  state_hash bytea not null,
  browser_hash bytea not null,
  issuer text not null,
  nonce text not null,
  code_verifier text not null,
  return_path text not null,
  session_id uuid,
  expires_at timestamp with time zone default (now() + '00:10:00'::interval) not null
);

create table process (
  id uuid not null,
  version text not null,
  host text not null,
  pid integer not null,
  started_at timestamp with time zone default now() not null,
  seen_at timestamp with time zone default now() not null,
  knows text[] default '{}'::text[] not null
);

create table profile (
  id bigint generated always as identity not null,
  name text not null,
  label text not null,
  locale text,
  attributes jsonb default '{}'::jsonb not null
);

create table profile_role (
  profile_id bigint not null,
  role_id bigint not null
);

create table role (
  id bigint generated always as identity not null,
  name text not null,
  description text default ''::text not null
);

create table role_grant (
  role_id bigint not null,
  entity text not null,
  action text not null,
  condition text default 'any'::text not null,
  name text
);

create table service_secret (
  name text not null,
  value bytea not null,
  changed_at timestamp with time zone default now() not null
);

create table session (
  id uuid default gen_random_uuid() not null,
  token_hash bytea not null,
  user_id bigint not null,
  profile_id bigint,
  method text not null,
  issuer text,
  scopes jsonb,
  locale text not null,
  credential_version integer not null,
  authenticated_at timestamp with time zone default now() not null,
  created_at timestamp with time zone default now() not null,
  last_seen_at timestamp with time zone default now() not null,
  idle_expires_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  revoked_at timestamp with time zone,
  revoked_reason text,
  address text,
  user_agent text,
  subject text,
  issuer_session_id text,
  end_session_url text,
  signed_in_at timestamp with time zone,
  unused_token_hash bytea,
  predecessor_hash bytea
);

create table superseded_token (
  token_hash bytea not null,
  session_id uuid not null,
  refreshed boolean not null,
  superseded_at timestamp with time zone default now() not null,
  refreshed_at timestamp with time zone
);

create table unlinked_claims (
  issuer text not null,
  subject text not null,
  claims_at timestamp with time zone not null
);

create table user_account (
  id bigint generated always as identity not null,
  name text not null,
  display_name text not null,
  locale text,
  password_hash text,
  credential_version integer default 1 not null,
  active boolean default true not null,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  attributes jsonb default '{}'::jsonb not null,
  time_zone text
);

create table user_profile (
  user_id bigint not null,
  profile_id bigint not null,
  is_default boolean default false not null
);

alter table api_key add constraint api_key_id_check CHECK ((id ~ '^[0-9A-Za-z]{12}$'::text));

alter table api_key add constraint api_key_key_hash_check CHECK ((octet_length(key_hash) = 32));

alter table api_key add constraint api_key_pkey PRIMARY KEY (id);

alter table api_key add constraint api_key_profile_id_fkey FOREIGN KEY (profile_id) REFERENCES profile(id) ON DELETE CASCADE;

alter table api_key add constraint api_key_user_id_fkey FOREIGN KEY (user_id) REFERENCES user_account(id);

alter table attribute add constraint attribute_name_check CHECK (((name ~ '^[A-Za-z][A-Za-z0-9_-]{0,63}$'::text) AND (name <> ALL (ARRAY['name'::text, 'attributes'::text]))));

alter table attribute add constraint attribute_owner_check CHECK ((owner = ANY (ARRAY['user'::text, 'profile'::text])));

alter table attribute add constraint attribute_pkey PRIMARY KEY (owner, name);

alter table audit_event add constraint audit_event_outcome_check CHECK ((outcome = ANY (ARRAY['ok'::text, 'refused'::text, 'failed'::text])));

alter table audit_retention add constraint audit_retention_keep_check CHECK (((keep)::interval >= '30 days'::interval));

alter table audit_retention add constraint audit_retention_pkey PRIMARY KEY (single);

alter table audit_retention add constraint audit_retention_single_check CHECK (single);

alter table entity add constraint entity_fields_check CHECK ((jsonb_typeof(fields) = 'object'::text));

alter table entity add constraint entity_pkey PRIMARY KEY (name, key);

alter table entity_change add constraint entity_change_operation_check CHECK ((operation = ANY (ARRAY['created'::text, 'updated'::text, 'deleted'::text, 'restored'::text, 'purged'::text])));

alter table entity_trash add constraint entity_trash_pkey PRIMARY KEY (name, key);

alter table entity_type add constraint entity_type_id_key UNIQUE (id);

alter table entity_type add constraint entity_type_pkey PRIMARY KEY (name);

alter table entity_type add constraint entity_type_revision_fkey FOREIGN KEY (revision) REFERENCES entity_type_revision(revision);

alter table entity_type_revision add constraint entity_type_revision_name_check CHECK ((name ~ '^[A-Za-z][A-Za-z0-9_.-]{0,63}$'::text));

alter table entity_type_revision add constraint entity_type_revision_pkey PRIMARY KEY (revision);

alter table entity_type_revision add constraint entity_type_revision_source_check CHECK ((source = ANY (ARRAY['files'::text, 'command'::text, 'api'::text])));

alter table feed_tick add constraint feed_tick_pkey PRIMARY KEY (n);

alter table grant_rule add constraint grant_rule_digest_check CHECK ((digest ~ '^[0-9a-f]{64}$'::text));

alter table grant_rule add constraint grant_rule_pkey PRIMARY KEY (digest);

alter table idempotency add constraint idempotency_pkey PRIMARY KEY (user_name, entity, operation, key);

alter table idempotency add constraint idempotency_user_name_fkey FOREIGN KEY (user_name) REFERENCES user_account(name);

alter table identity add constraint identity_id_key UNIQUE (id);

alter table identity add constraint identity_pkey PRIMARY KEY (issuer, subject);

alter table identity add constraint identity_user_id_fkey FOREIGN KEY (user_id) REFERENCES user_account(id);

alter table kysely_migration add constraint kysely_migration_pkey PRIMARY KEY (name);

alter table kysely_migration_lock add constraint kysely_migration_lock_pkey PRIMARY KEY (id);

alter table login_attempt add constraint login_attempt_kind_check CHECK ((kind = ANY (ARRAY['account'::text, 'address'::text])));

alter table login_attempt add constraint login_attempt_pkey PRIMARY KEY (kind, subject);

alter table migration_note add constraint migration_note_pkey PRIMARY KEY (name);

alter table openid_transaction add constraint openid_transaction_browser_hash_check CHECK ((octet_length(browser_hash) = 32));

alter table openid_transaction add constraint openid_transaction_pkey PRIMARY KEY (state_hash);

alter table openid_transaction add constraint openid_transaction_session_id_fkey FOREIGN KEY (session_id) REFERENCES session(id) ON DELETE CASCADE;

alter table openid_transaction add constraint openid_transaction_state_hash_check CHECK ((octet_length(state_hash) = 32));

alter table process add constraint process_pkey PRIMARY KEY (id);

alter table profile add constraint profile_name_check CHECK ((name ~ '^[A-Za-z0-9 _.-]{1,64}$'::text));

alter table profile add constraint profile_name_key UNIQUE (name);

alter table profile add constraint profile_pkey PRIMARY KEY (id);

alter table profile_role add constraint profile_role_pkey PRIMARY KEY (profile_id, role_id);

alter table profile_role add constraint profile_role_profile_id_fkey FOREIGN KEY (profile_id) REFERENCES profile(id) ON DELETE CASCADE;

alter table profile_role add constraint profile_role_role_id_fkey FOREIGN KEY (role_id) REFERENCES role(id) ON DELETE CASCADE;

alter table role add constraint role_name_check CHECK ((name ~ '^[A-Za-z0-9 _.-]{1,64}$'::text));

alter table role add constraint role_name_key UNIQUE (name);

alter table role add constraint role_pkey PRIMARY KEY (id);

alter table role_grant add constraint role_grant_action_check CHECK ((action = ANY (ARRAY['create'::text, 'read'::text, 'update'::text, 'delete'::text, 'type'::text, 'purge'::text, 'label'::text, 'adopt'::text, 'webhook'::text])));

alter table role_grant add constraint role_grant_condition_check CHECK (((condition = ANY (ARRAY['any'::text, 'own'::text])) OR (condition ~ '^[0-9a-f]{64}$'::text)));

alter table role_grant add constraint role_grant_entity_check CHECK (((entity = '*'::text) OR (entity ~ '^[A-Za-z][A-Za-z0-9_.-]{0,63}$'::text)));

alter table role_grant add constraint role_grant_name_check CHECK ((((name IS NULL) = (condition = ANY (ARRAY['any'::text, 'own'::text]))) AND (name ~ '^[A-Za-z0-9 _.-]{1,64}$'::text)));

alter table role_grant add constraint role_grant_pkey PRIMARY KEY (role_id, entity, action, condition);

alter table role_grant add constraint role_grant_role_id_fkey FOREIGN KEY (role_id) REFERENCES role(id) ON DELETE CASCADE;

alter table role_grant add constraint role_grant_type_check CHECK (((action <> 'type'::text) OR (condition = 'any'::text)));

alter table service_secret add constraint service_secret_pkey PRIMARY KEY (name);

alter table session add constraint session_method_check CHECK ((method = ANY (ARRAY['password'::text, 'token'::text, 'openid'::text])));

alter table session add constraint session_pkey PRIMARY KEY (id);

alter table session add constraint session_profile_id_fkey FOREIGN KEY (profile_id) REFERENCES profile(id) ON DELETE SET NULL;

alter table session add constraint session_token_hash_check CHECK ((octet_length(token_hash) = 32));

alter table session add constraint session_token_hash_key UNIQUE (token_hash);

alter table session add constraint session_user_id_fkey FOREIGN KEY (user_id) REFERENCES user_account(id);

alter table superseded_token add constraint superseded_token_pkey PRIMARY KEY (token_hash);

alter table superseded_token add constraint superseded_token_session_id_fkey FOREIGN KEY (session_id) REFERENCES session(id) ON DELETE CASCADE;

alter table unlinked_claims add constraint unlinked_claims_pkey PRIMARY KEY (issuer, subject);

alter table user_account add constraint user_account_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 128)));

alter table user_account add constraint user_account_name_key UNIQUE (name);

alter table user_account add constraint user_account_pkey PRIMARY KEY (id);

alter table user_profile add constraint user_profile_pkey PRIMARY KEY (user_id, profile_id);

alter table user_profile add constraint user_profile_profile_id_fkey FOREIGN KEY (profile_id) REFERENCES profile(id) ON DELETE CASCADE;

alter table user_profile add constraint user_profile_user_id_fkey FOREIGN KEY (user_id) REFERENCES user_account(id) ON DELETE CASCADE;

CREATE INDEX api_key_user_id_idx ON public.api_key USING btree (user_id) WHERE (revoked_at IS NULL);

CREATE INDEX audit_event_at_idx ON ONLY public.audit_event USING btree (at);

CREATE INDEX audit_event_id_idx ON ONLY public.audit_event USING btree (id);

CREATE INDEX audit_event_user_name_idx ON ONLY public.audit_event USING btree (user_name, at);

CREATE INDEX entity_change_version ON ONLY public.entity_change USING btree (name, key, version, id);

CREATE INDEX entity_trash_expired ON public.entity_trash USING btree (expires_at);

CREATE INDEX feed_tick_at ON public.feed_tick USING btree (at, n);

CREATE INDEX idempotency_by_age ON public.idempotency USING btree (created_at);

CREATE INDEX identity_user_id_idx ON public.identity USING btree (user_id);

CREATE INDEX openid_transaction_browser_hash_idx ON public.openid_transaction USING btree (browser_hash);

CREATE INDEX openid_transaction_expires_at_idx ON public.openid_transaction USING btree (expires_at);

CREATE UNIQUE INDEX role_grant_plain_key ON public.role_grant USING btree (role_id, entity, action) WHERE (name IS NULL);

CREATE INDEX session_expires_at_idx ON public.session USING btree (LEAST(idle_expires_at, expires_at));

CREATE INDEX session_issuer_idx ON public.session USING btree (issuer, subject) WHERE ((issuer IS NOT NULL) AND (revoked_at IS NULL));

CREATE INDEX session_user_id_idx ON public.session USING btree (user_id) WHERE (revoked_at IS NULL);

CREATE INDEX superseded_token_session_id_idx ON public.superseded_token USING btree (session_id);

CREATE UNIQUE INDEX user_profile_default_key ON public.user_profile USING btree (user_id) WHERE is_default;

create view entity_history_keep as
 SELECT entity_type.name,
    (((entity_type_revision.document -> 'x-history'::text) ->> 'keep'::text))::interval AS keep
   FROM (entity_type
     JOIN entity_type_revision USING (revision))
  WHERE (((entity_type_revision.document -> 'x-history'::text) ->> 'keep'::text) IS NOT NULL);

CREATE TRIGGER api_key_changed AFTER UPDATE OF key_hash, profile_id, scopes, expires_at, revoked_at ON public.api_key FOR EACH ROW EXECUTE FUNCTION forget_principal('key');

CREATE TRIGGER attribute_changed AFTER INSERT OR DELETE OR UPDATE OR TRUNCATE ON public.attribute FOR EACH STATEMENT EXECUTE FUNCTION notify_attribute();

CREATE TRIGGER audit_event_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.audit_event FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();

CREATE TRIGGER entity_type_changed AFTER INSERT OR DELETE OR UPDATE ON public.entity_type FOR EACH ROW EXECUTE FUNCTION notify_entity_type();

CREATE TRIGGER identity_changed AFTER DELETE OR UPDATE OF issuer, subject, user_id OR TRUNCATE ON public.identity FOR EACH STATEMENT EXECUTE FUNCTION forget_principal();

CREATE TRIGGER identity_claims_changed AFTER UPDATE OF claims ON public.identity FOR EACH ROW WHEN ((old.claims IS DISTINCT FROM new.claims)) EXECUTE FUNCTION forget_user_of_identity();

CREATE TRIGGER profile_changed AFTER DELETE OR UPDATE ON public.profile FOR EACH STATEMENT EXECUTE FUNCTION forget_principal();

CREATE TRIGGER profile_role_changed AFTER INSERT OR DELETE OR UPDATE OR TRUNCATE ON public.profile_role FOR EACH STATEMENT EXECUTE FUNCTION forget_principal();

CREATE TRIGGER role_changed AFTER DELETE OR UPDATE ON public.role FOR EACH STATEMENT EXECUTE FUNCTION forget_principal();

CREATE TRIGGER role_grant_changed AFTER INSERT OR DELETE OR UPDATE OR TRUNCATE ON public.role_grant FOR EACH STATEMENT EXECUTE FUNCTION forget_principal();

CREATE TRIGGER service_secret_changed AFTER INSERT OR DELETE OR UPDATE OR TRUNCATE ON public.service_secret FOR EACH STATEMENT EXECUTE FUNCTION forget_principal();

CREATE TRIGGER session_changed AFTER UPDATE OF token_hash, profile_id, idle_expires_at, expires_at, revoked_at, locale ON public.session FOR EACH ROW EXECUTE FUNCTION forget_principal('session');

CREATE TRIGGER session_removed AFTER DELETE ON public.session FOR EACH ROW EXECUTE FUNCTION forget_principal('session');

CREATE TRIGGER user_account_changed AFTER UPDATE OF active, credential_version, display_name, attributes, time_zone ON public.user_account FOR EACH ROW EXECUTE FUNCTION forget_principal('user');

CREATE TRIGGER user_account_of_entities BEFORE DELETE OR UPDATE OF name ON public.user_account FOR EACH ROW EXECUTE FUNCTION refuse_to_orphan_entities();

CREATE TRIGGER user_profile_changed AFTER INSERT OR DELETE OR UPDATE OR TRUNCATE ON public.user_profile FOR EACH STATEMENT EXECUTE FUNCTION forget_principal();

CREATE OR REPLACE FUNCTION public.address_retry_seconds(settled login_attempt, moment timestamp with time zone)
 RETURNS integer
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  if settled.failures >= 20 then
    return greatest(1, ceil(extract(epoch from settled.since + interval '5 minutes' - moment)));
  end if;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.analyze_grown_tables()
 RETURNS SETOF text
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  pages integer := current_setting('block_size');
  grown regclass;
begin
  for grown in
    select oid from pg_class
    where relnamespace = (select pronamespace from pg_proc where oid = 'analyze_grown_tables()'::regprocedure) and relkind = 'r'
      and pg_relation_size(oid) / pages >= greatest(16, 2 * relpages)
  loop
    execute format('analyze (skip_locked) %s', grown);
    return next grown::text;
  end loop;
end $function$;

CREATE OR REPLACE FUNCTION public.begin_login_attempt(account bytea, address bytea, OUT verdict text, OUT retry_seconds integer)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
declare
  a login_attempt;
  b login_attempt;
  moment timestamptz := clock_timestamp();
begin
  -- Read before the account's row is made, and without a lock, which would reverse the order of locks below.
  select * into b from login_attempt where kind = 'address' and subject = address;
  retry_seconds := address_retry_seconds(settle_login_attempt(b, moment), moment);
  if retry_seconds is not null then
    verdict := 'address';
    return;
  end if;

  -- Always the account's row before the address's, so that no two attempts wait for each other.
  loop
    select * into a from login_attempt where kind = 'account' and subject = account for update;
    exit when found;
    insert into login_attempt (kind, subject) values ('account', account) on conflict do nothing;
  end loop;
  loop
    select * into b from login_attempt where kind = 'address' and subject = address for update;
    exit when found;
    insert into login_attempt (kind, subject) values ('address', address) on conflict do nothing;
  end loop;
  -- After the locks, which other attempts may have held for long.
  moment := clock_timestamp();
  a := settle_login_attempt(a, moment);
  b := settle_login_attempt(b, moment);

  if a.failures >= 100 then
    verdict := 'account';
    retry_seconds := 900;
  elsif a.blocked_until > moment then
    verdict := 'account';
    retry_seconds := ceil(extract(epoch from a.blocked_until - moment));
  elsif b.failures >= 20 then
    verdict := 'address';
    retry_seconds := address_retry_seconds(b, moment);
  elsif a.pending >= greatest(1, 5 - a.failures) or b.pending >= 20 - b.failures then
    verdict := 'full';
  else
    verdict := 'go';
    update login_attempt set failures = a.failures, pending = a.pending + 1, pending_at = moment, last_at = moment
      where kind = 'account' and subject = account;
    update login_attempt set failures = b.failures, pending = b.pending + 1, pending_at = moment, last_at = moment, since = b.since
      where kind = 'address' and subject = address;
  end if;
end $function$;

CREATE OR REPLACE FUNCTION public.delete_old_feed_ticks(most integer)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  oldest timestamptz := least(now() - interval '7 days', (select min(now() - keep) from entity_history_keep));
  deleted integer;
begin
  delete from feed_tick where n = any (array (
    select n from feed_tick
    where at < oldest and n < (select n from feed_tick where at < oldest order by at desc, n desc limit 1) limit most));
  get diagnostics deleted = row_count;
  return deleted;
end $function$;

CREATE OR REPLACE FUNCTION public.end_login_attempt(account bytea, address bytea, outcome text)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
declare
  moment timestamptz := clock_timestamp();
  result integer;
begin
  update login_attempt set
    pending = greatest(pending - 1, 0),
    failures = case outcome when 'succeeded' then 0 when 'failed' then failures + 1 else failures end,
    blocked_until = case
      when outcome = 'succeeded' then null
      when outcome = 'failed' and failures >= 4 then moment + least(900, 2 ^ (failures - 4)) * interval '1 second'
      else blocked_until
    end,
    last_at = moment
  where kind = 'account' and subject = account
  returning failures into result;

  update login_attempt set
    pending = greatest(pending - 1, 0),
    failures = case when outcome <> 'failed' then failures when since <= moment - interval '5 minutes' then 1 else failures + 1 end,
    since = case when outcome = 'failed' and (failures = 0 or since <= moment - interval '5 minutes') then moment else since end,
    last_at = moment
  where kind = 'address' and subject = address;
  return result;
end $function$;

CREATE OR REPLACE FUNCTION public.entity_companion_delete(companion text, entity_key bigint)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  execute format('delete from entity_data.%I where key = $1', companion) using entity_key;
end $function$;

CREATE OR REPLACE FUNCTION public.entity_exact_instant(value text)
 RETURNS numeric
 LANGUAGE plpgsql
 STABLE STRICT
AS $function$
declare
  parts text[] := regexp_match(value, '^([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt ]([0-9]{2}:[0-9]{2}:)([0-9]{2})(\.[0-9]+)?([Zz]|[+-][0-9]{2}(:?[0-9]{2})?)$');
  fraction numeric;
begin
  if parts is null then
    return null;
  end if;
  fraction := coalesce('0' || parts[4], '0')::numeric;
  if parts[3] = '60' then
    return extract(epoch from (parts[1] || ' ' || parts[2] || '59' || parts[5])::timestamptz) + 0.9999999995 + fraction * 0.0000000005;
  end if;
  return extract(epoch from (parts[1] || ' ' || parts[2] || parts[3] || parts[5])::timestamptz) + fraction;
exception when data_exception then
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.entity_instant(value text)
 RETURNS timestamp with time zone
 LANGUAGE plpgsql
 STABLE STRICT
AS $function$
begin
  if value !~ '^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d(:?\d\d)?)$' then
    return null;
  end if;
  return value::timestamptz;
exception when data_exception then
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.forget_principal()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_level = 'ROW' then
    perform pg_notify('principal', tg_argv[0] || ' ' || old.id);
  else
    perform pg_notify('principal', 'all');
  end if;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.forget_user_of_identity()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform pg_notify('principal', 'user ' || old.user_id);
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.json_changed_members(former jsonb, fields jsonb, candidates jsonb)
 RETURNS TABLE(changed text[], before jsonb)
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select names, case when octet_length(values::text) <= 65536 then values end
  from (
    select case when former is not null then coalesce(array_agg(name order by name), '{}') end as names,
      case when former is not null then coalesce(jsonb_object_agg(name, was) filter (where was is not null), '{}') end as values
    from (
      select name, whole.was -> name as was, whole.becomes -> name as becomes
      -- `|| '{}'` decompresses a stored value once, instead of once for each member that is looked up.
      from (select former || '{}' as was, fields || '{}' as becomes where former is not null offset 0) as whole
      cross join lateral jsonb_object_keys(candidates) as name
      offset 0
    ) as members
    where was::text is distinct from becomes::text
  ) as found
$function$;

CREATE OR REPLACE FUNCTION public.json_count_removed(before jsonb, after jsonb)
 RETURNS integer
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
begin
  if jsonb_typeof(before) <> 'object' or jsonb_typeof(after) <> 'object' then
    return 0;
  end if;
  return (
    select coalesce(sum(case
        when not after ? key then 1
        when jsonb_typeof(value) = 'object' then json_count_removed(value, after -> key)
        else 0
      end), 0)
    from jsonb_each(before)
  );
end $function$;

CREATE OR REPLACE FUNCTION public.json_merge_members(target jsonb, patch jsonb)
 RETURNS jsonb
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
begin
  if jsonb_typeof(patch) <> 'object' then
    return patch;
  end if;
  -- `|| '{}'` decompresses a stored target once, instead of once for each member that is looked up.
  target := case jsonb_typeof(target) when 'object' then target || '{}' else '{}' end;
  if not patch @? 'strict $.* ? (@.type() == "object")' then
    return target || patch;
  end if;
  return target || (
    select jsonb_object_agg(
      key, case jsonb_typeof(value) when 'object' then json_merge_members(coalesce(target -> key, '{}'), value) else value end
    )
    from jsonb_each(patch)
  );
end $function$;

CREATE OR REPLACE FUNCTION public.json_merge_patch(target jsonb, patch jsonb)
 RETURNS jsonb
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
begin
  if jsonb_typeof(patch) <> 'object' then
    return patch;
  end if;
  -- `|| '{}'` decompresses a stored target once, instead of once for each member that is looked up.
  target := case jsonb_typeof(target) when 'object' then target || '{}' else '{}' end;
  if not patch @? 'strict $.* ? (@ == null || @.type() == "object")' then
    return target || patch;
  end if;
  return (
    select case
        -- `-` compares each member of the target with each name.
        when count(*) filter (where jsonb_typeof(value) = 'null') > 128 then
          (select coalesce(jsonb_object_agg(key, value), '{}') from jsonb_each(target) where patch -> key is distinct from 'null')
        else coalesce(target - array_agg(key) filter (where jsonb_typeof(value) = 'null'), target)
      end
      || coalesce(jsonb_object_agg(
        key,
        case jsonb_typeof(value) when 'object' then json_merge_patch(coalesce(target -> key, '{}'), value) else value end
      ) filter (where jsonb_typeof(value) <> 'null'), '{}')
    from jsonb_each(patch)
  );
end $function$;

CREATE OR REPLACE FUNCTION public.json_project(target jsonb, tree jsonb)
 RETURNS jsonb
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
  select coalesce(jsonb_object_agg(name, case when wanted = 'true' then target -> name else json_project(target -> name, wanted) end), '{}')
  from jsonb_each(tree) as wanted_members (name, wanted)
  where target ? name and (wanted = 'true' or jsonb_typeof(target -> name) = 'object')
$function$;

CREATE OR REPLACE FUNCTION public.json_without(target jsonb, mask jsonb)
 RETURNS jsonb
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
declare
  name text;
  below jsonb;
  inner_value jsonb;
begin
  if jsonb_typeof(target) <> 'object' then
    return target;
  end if;
  target := coalesce(target - (select array_agg(key) from jsonb_each(mask) where jsonb_typeof(value) = 'null'), target);
  for name, below in select key, value from jsonb_each(mask) where jsonb_typeof(value) = 'object' loop
    if target ? name then
      inner_value := json_without(target -> name, below);
      if inner_value = '{}' and target -> name <> '{}' then
        target := target - name;
      else
        target := target || jsonb_build_object(name, inner_value);
      end if;
    end if;
  end loop;
  return target;
end $function$;

CREATE OR REPLACE FUNCTION public.maintain_audit_trail()
 RETURNS SETOF text
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  unguarded regclass;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('audit_event', 0)) then
    return;
  end if;
  return query select * from maintain_months('audit_event', 'audit', now() - (select keep::interval from audit_retention));
  for unguarded in
    select partition from month_partitions('audit_event')
    where not exists (select from pg_trigger where tgrelid = partition and tgname = 'audit_event_append_only')
  loop
    execute format('create trigger audit_event_append_only before update or delete or truncate on %s
      for each statement execute function refuse_audit_change()', unguarded);
  end loop;
end $function$;

CREATE OR REPLACE FUNCTION public.maintain_entity_history(most integer)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  found record;
  deleted integer := 0;
  count integer;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('entity_history', 0)) then
    return 0;
  end if;
  perform maintain_months('entity_change', 'change', least(now() - interval '7 days', (select min(now() - keep) from entity_history_keep)));
  for found in select * from month_partitions('entity_change') loop
    if coalesce(found.ends < now() - interval '7 days', true) and deleted < most then
      execute format(
        'delete from %1$s as change using (
          select name, key, version, id from %1$s left join entity_history_keep using (name)
          where at < now() - coalesce(keep, ''7 days'') limit $1) as old
        where (change.name, change.key, change.version, change.id) = (old.name, old.key, old.version, old.id)', found.partition)
        using most - deleted;
      get diagnostics count = row_count;
      deleted := deleted + count;
    end if;
  end loop;
  return deleted;
end $function$;

CREATE OR REPLACE FUNCTION public.maintain_months(parent regclass, prefix text, oldest timestamp with time zone)
 RETURNS SETOF text
 LANGUAGE plpgsql
 SET lock_timeout TO '1s'
 SET "TimeZone" TO 'UTC'
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  default_partition text := format('entity_data.%I', prefix || '_default');
  month timestamptz;
  partition text;
  found record;
  ended timestamptz;
  occupied boolean;
begin
  if to_regclass(default_partition) is null then
    execute format('create table %s partition of %s default', default_partition, parent);
  end if;
  for month in select generate_series(date_trunc('month', now()), date_trunc('month', now()) + interval '3 months', '1 month') loop
    partition := format('entity_data.%I', prefix || to_char(month, '"_"YYYY_MM'));
    -- Rows of a month that the default partition has stay there.
    execute format('select exists (select from %s where at >= $1 and at < $1 + interval ''1 month'')', default_partition) into occupied using month;
    continue when occupied or to_regclass(partition) is not null or exists (
      select from month_partitions(parent) where ends > month and coalesce(starts, '-infinity') < month + interval '1 month');
    -- To attach a table, unlike making a partition, does not wait for those that write.
    execute format('create table %s (like %s including defaults including constraints)', partition, parent);
    execute format('alter table %s attach partition %s for values from (%L) to (%L)', parent, partition, month, month + interval '1 month');
  end loop;
  for found in select * from month_partitions(parent) loop
    ended := found.ends;
    if ended is null then
      execute format('select max(at) from %s', found.partition) into ended;
    end if;
    continue when ended is null or oldest is null or ended >= oldest;
    return next found.partition::text;
    execute format('drop table %s', found.partition);
    if found.ends is null then
      execute format('create table %s partition of %s default', default_partition, parent);
    end if;
  end loop;
end $function$;

CREATE OR REPLACE FUNCTION public.make_feed_tick()
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  last feed_tick;
  drawn bigint;
  present pg_snapshot;
  loaded bigint;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('feed_tick', 0)) then
    return false;
  end if;
  select * into last from feed_tick order by n desc limit 1;
  if last.at between clock_timestamp() - interval '1 second' and clock_timestamp() then
    return false;
  end if;
  -- The snapshot comes second, so what it sees has drawn no later id.
  select last_value - (not is_called)::integer into drawn from entity_change_id_seq;
  select pg_current_snapshot() into present;
  loaded := coalesce(last.loaded_to, 0);
  if pg_snapshot_xmax(last.snapshot) > pg_snapshot_xmax(present) then
    -- The tables come from another database.
    delete from feed_tick;
    last := null;
    loaded := drawn;
  end if;
  if last.n is null or last.last_id <> drawn then
    -- Each transaction that has drawn an id has a number by then, and this one gets a higher one.
    insert into feed_tick (snapshot, last_id, awaited, loaded_to) values (present, drawn, pg_current_xact_id(), loaded);
    return true;
  end if;
  -- No id was drawn since, but a transaction that had drawn one may have been committed.
  if exists (
    select from pg_snapshot_xip(last.snapshot) as xid where xid < last.awaited and pg_visible_in_snapshot(xid, present)
    union all
    select from generate_series(pg_snapshot_xmax(last.snapshot)::text::bigint, last.awaited::text::bigint - 1) as later
    where pg_visible_in_snapshot(later::text::xid8, present)
  ) then
    insert into feed_tick (snapshot, last_id, awaited, loaded_to) values (present, drawn, last.awaited, loaded);
    return true;
  end if;
  return false;
end $function$;

CREATE OR REPLACE FUNCTION public.month_partitions(parent regclass)
 RETURNS TABLE(partition regclass, starts timestamp with time zone, ends timestamp with time zone)
 LANGUAGE sql
 STABLE
 SET "DateStyle" TO 'ISO'
AS $function$
  select inhrelid::regclass, substring(bound from $re$FROM \('([^']+)'\)$re$)::timestamptz, substring(bound from $re$TO \('([^']+)'\)$re$)::timestamptz
  from pg_inherits join pg_class on pg_class.oid = inhrelid, pg_get_expr(relpartbound, inhrelid) as bound
  where inhparent = parent
$function$;

CREATE OR REPLACE FUNCTION public.notify_attribute()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform pg_notify('principal', 'attribute');
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.notify_entity_type()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform pg_notify('principal', 'type ' || coalesce(new.name, old.name));
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.open_session(token_hash bytea, user_id bigint, credential_version integer, method text, issuer text, subject text, issuer_session_id text, end_session_url text, scopes jsonb, locale text, authenticated_at timestamp with time zone, idle_seconds double precision, absolute_seconds double precision, address text, user_agent text, maximum integer, signed_in_at timestamp with time zone DEFAULT NULL::timestamp with time zone, OUT opened session, OUT evicted uuid[])
 RETURNS SETOF record
 LANGUAGE plpgsql
 ROWS 1
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION public.pinned(value anyelement)
 RETURNS anyelement
 LANGUAGE plpgsql
 STABLE PARALLEL SAFE STRICT COST 10000
AS $function$
begin
  return value;
end $function$;

CREATE OR REPLACE FUNCTION public.purge_entity_history(entity_name text, entity_key bigint, most integer)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  purged integer;
begin
  update entity_change set fields = null, changed = null, before = null
  where name = entity_name and key = entity_key and not exists (select from entity where name = entity_name and key = entity_key)
    and id = any (array (
      select id from entity_change where name = entity_name and key = entity_key and fields is not null limit most));
  get diagnostics purged = row_count;
  return purged;
end $function$;

CREATE OR REPLACE FUNCTION public.refuse_audit_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'audit_event is append only';
end $function$;

CREATE OR REPLACE FUNCTION public.refuse_to_orphan_entities()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  -- Waits for the entities that other transactions are writing, and holds up new ones until this transaction ends.
  lock table entity in share row exclusive mode;
  if exists (select from entity where old.name in (created_by, updated_by)) then
    raise foreign_key_violation using
      message = format('user %s has created or updated entities', old.name),
      hint = 'Disable the user instead.';
  end if;
  return coalesce(new, old);
end $function$;

CREATE OR REPLACE FUNCTION public.settle_login_attempt(stored login_attempt, moment timestamp with time zone)
 RETURNS login_attempt
 LANGUAGE plpgsql
 STABLE
AS $function$
declare
  settled login_attempt := stored;
begin
  if settled.kind = 'address' and settled.since <= moment - interval '5 minutes' then
    settled.failures := 0;
  end if;
  if settled.pending_at < moment - interval '15 seconds' then
    if settled.kind = 'address' and settled.failures = 0 then
      settled.since := settled.pending_at;
    end if;
    settled.failures := settled.failures + settled.pending;
    settled.pending := 0;
  end if;
  return settled;
end $function$;
