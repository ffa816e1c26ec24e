/**
 * The tables of `migrations/*.sql` as Kysely sees them. 64-bit integers are text (a JavaScript number would lose digits); a test compares
 * this file with the migrated database.
 */
import type { ColumnType, Generated, GeneratedAlways } from 'kysely';
import type { RuleDocument } from '../rights/rule.ts';
import type { Action, AttributeOwner, Condition, Scope, SessionMethod } from '../rights/vocabulary.ts';

/** An int8 column: text when read, text or a small number when written. */
type Int8 = ColumnType<string, string | number, string | number>;
type GeneratedInt8 = GeneratedAlways<string>;
type CreatedAt = ColumnType<Date, Date | undefined, never>;
type Timestamp = ColumnType<Date, Date, Date>;
type DefaultTimestamp = ColumnType<Date, Date | undefined, Date>;
/** A jsonb column: write it as JSON text, since node-postgres would send arrays and strings as something else. */
type Json<T> = ColumnType<T, string, string>;
type DefaultJson<T> = ColumnType<T, string | undefined, string>;

export interface Database {
  user_account: {
    id: GeneratedInt8;
    name: string;
    display_name: string;
    locale: string | null;
    password_hash: string | null;
    credential_version: Generated<number>;
    active: Generated<boolean>;
    created_at: CreatedAt;
    updated_at: DefaultTimestamp;
    attributes: DefaultJson<Record<string, unknown>>;
    time_zone: string | null;
  };
  attribute: { owner: AttributeOwner; name: string; schema: Json<unknown> };
  identity: {
    issuer: string;
    subject: string;
    user_id: Int8;
    created_at: CreatedAt;
    id: Generated<string>;
    claims_at: Date | null;
    claims: Json<Record<string, unknown>> | null;
  };
  unlinked_claims: { issuer: string; subject: string; claims_at: Date };
  role: { id: GeneratedInt8; name: string; description: Generated<string> };
  grant_rule: { digest: string; document: Json<RuleDocument> };
  role_grant: { role_id: Int8; entity: string; action: Action; condition: Generated<Condition>; name: string | null };
  profile: { id: GeneratedInt8; name: string; label: string; locale: string | null; attributes: DefaultJson<Record<string, unknown>> };
  profile_role: { profile_id: Int8; role_id: Int8 };
  user_profile: { user_id: Int8; profile_id: Int8; is_default: Generated<boolean> };
  session: {
    id: Generated<string>;
    token_hash: Buffer;
    user_id: Int8;
    profile_id: Int8 | null;
    method: SessionMethod;
    issuer: string | null;
    scopes: Json<Scope[]> | null;
    locale: string;
    credential_version: number;
    authenticated_at: DefaultTimestamp;
    created_at: CreatedAt;
    last_seen_at: DefaultTimestamp;
    idle_expires_at: Timestamp;
    expires_at: Timestamp;
    revoked_at: ColumnType<Date | null, never, Date>;
    revoked_reason: string | null;
    address: string | null;
    user_agent: string | null;
    subject: string | null;
    issuer_session_id: string | null;
    end_session_url: string | null;
    signed_in_at: ColumnType<Date | null, Date | null | undefined, Date | null>;
    unused_token_hash: ColumnType<Buffer | null, never, Buffer | null>;
    predecessor_hash: ColumnType<Buffer | null, never, Buffer | null>;
  };
  openid_transaction: {
    state_hash: Buffer;
    browser_hash: Buffer;
    issuer: string;
    nonce: string;
    code_verifier: string;
    return_path: string;
    session_id: string | null;
    expires_at: DefaultTimestamp;
  };
  superseded_token: {
    token_hash: Buffer;
    session_id: string;
    refreshed: boolean;
    superseded_at: DefaultTimestamp;
    /** The time of the refresh; null after another transition. */
    refreshed_at: Date | null;
  };
  api_key: {
    id: string;
    key_hash: Buffer;
    user_id: Int8;
    name: string;
    profile_id: Int8 | null;
    scopes: Json<Scope[]> | null;
    created_at: CreatedAt;
    expires_at: Timestamp;
    last_used_at: ColumnType<Date | null, never, Date>;
    replaced_at: ColumnType<Date | null, never, Date>;
    revoked_at: ColumnType<Date | null, never, Date>;
  };
  entity: {
    name: string;
    key: GeneratedInt8;
    version: ColumnType<string, string | number | undefined, string | number>;
    fields: Json<Record<string, unknown>>;
    created_at: CreatedAt;
    created_by: string;
    updated_at: DefaultTimestamp;
    updated_by: string;
    bytes: GeneratedAlways<number>;
  };
  entity_change: {
    id: GeneratedInt8;
    at: CreatedAt;
    name: string;
    key: Int8;
    version: Int8;
    operation: 'created' | 'updated' | 'deleted' | 'restored' | 'purged';
    changed_by: string;
    created_at: Timestamp;
    created_by: string;
    fields: Json<Record<string, unknown>> | null;
    xid: GeneratedInt8;
    changed: string[] | null;
    before: Json<Record<string, unknown>> | null;
    credential: string | null;
    request: string | null;
  };
  feed_tick: {
    n: GeneratedInt8;
    at: CreatedAt;
    snapshot: string;
    last_id: Int8;
    awaited: Int8;
    loaded_to: Int8;
  };
  entity_trash: {
    name: string;
    key: Int8;
    version: Int8;
    fields: Json<Record<string, unknown>>;
    created_at: Timestamp;
    created_by: string;
    updated_at: Timestamp;
    updated_by: string;
    bytes: GeneratedAlways<number>;
    deleted_at: DefaultTimestamp;
    deleted_by: string;
    expires_at: Timestamp;
  };
  entity_type_revision: {
    revision: GeneratedInt8;
    name: string;
    document: Json<Record<string, unknown>> | null;
    source: 'files' | 'command' | 'api';
    plan: Json<unknown>;
    companion: Json<unknown> | null;
    may_be_unfit: Generated<boolean>;
    applied_at: CreatedAt;
    applied_by: string;
  };
  entity_type: { name: string; revision: Int8; id: GeneratedAlways<number> };
  idempotency: {
    user_name: string;
    entity: string;
    operation: string;
    key: string;
    fingerprint: Buffer;
    results: unknown;
    entity_key: Int8 | null;
    created_at: CreatedAt;
  };
  login_attempt: {
    kind: 'account' | 'address';
    subject: Buffer;
    failures: Generated<number>;
    pending: Generated<number>;
    pending_at: DefaultTimestamp;
    blocked_until: ColumnType<Date | null, Date | null, Date | null>;
    since: DefaultTimestamp;
    last_at: DefaultTimestamp;
  };
  audit_event: {
    id: GeneratedInt8;
    at: ColumnType<Date, never, never>;
    event: string;
    outcome: 'ok' | 'refused' | 'failed';
    user_name: string | null;
    request_id: string | null;
    session_id: string | null;
    address: string | null;
    user_agent: string | null;
    detail: Json<Record<string, unknown>>;
  };
  audit_retention: { single: Generated<boolean>; keep: ColumnType<string | null> };
  migration_note: { name: string; runs_beside: string };
  process: {
    id: string;
    version: string;
    host: string;
    pid: number;
    started_at: DefaultTimestamp;
    seen_at: DefaultTimestamp;
    knows: Generated<string[]>;
  };
  service_secret: { name: string; value: Buffer; changed_at: DefaultTimestamp };
}
