/**
 * The raw limit: the fastest form that we know of to answer the measured operations on this runtime and this database, with `node:http` and `pg`.
 * Reads share two connections, small writes share statements, callers and the answer of `GET /auth` come from memory, and the database's JSON
 * text is spliced into answers. It has no validation, log, audit trail or rights. The benchmark compares the service with it.
 */
import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { verify } from 'argon2';
import { Pool } from 'pg';
import { groupWrites, openReads, type Row } from './connections.ts';

const verifiedMilliseconds = 5_000;
const connectionString = process.env['DATABASE_URL'] ?? '';
const pool = new Pool({ connectionString, max: Number(process.env['DATABASE_POOL_SIZE'] ?? 10), options: '-c timezone=UTC' });
pool.on('error', () => undefined);
const read = await openReads(connectionString);

const live = `s.token_hash = $1 and s.revoked_at is null and s.idle_expires_at > now() and s.expires_at > now()
    and u.active and u.credential_version = s.credential_version`;
const entityColumns = `name, key, version, created_at, created_by, updated_at, updated_by, fields::text`;
const statements = {
  session: `select u.name from session s join user_account u on u.id = s.user_id where ${live}`,
  key: `select u.name from api_key k join user_account u on u.id = k.user_id where k.id = $1 and k.key_hash = $2 and k.revoked_at is null
    and k.expires_at > now() and u.active`,
  find: `select ${entityColumns} from entity where name = $1 and key = $2`,
  insert: `with input as materialized (
      select nextval('entity_key_seq') as key, * from rows from (jsonb_to_recordset($1::jsonb) as (name text, "user" text, fields jsonb))
        with ordinality as input (name, "user", fields, n)
    ), inserted as (
      insert into entity (name, key, fields, created_by, updated_by) overriding system value
      select name, key, fields, "user", "user" from input returning *
    ) select n, ${entityColumns.replaceAll(/^|(?<=, )/g, 'inserted.')} from inserted join input using (key)`,
  update: `with input as materialized (
      select * from rows from (jsonb_to_recordset($1::jsonb) as (name text, key bigint, "user" text, patch jsonb))
        with ordinality as input (name, key, "user", patch, n)
    ), merged as materialized (
      select n, "user", found.* from input cross join lateral (
        select name, key, json_merge_patch(fields, patch) as fields from entity where name = input.name and key = input.key for no key update
      ) as found
    ) update entity set fields = merged.fields, version = version + 1, updated_at = now(), updated_by = "user" from merged
    where entity.name = merged.name and entity.key = merged.key
    returning n, ${entityColumns.replaceAll(/^|(?<=, )/g, 'entity.')}`,
  info: `select json_build_object('user', json_build_object('name', u.name, 'displayName', u.display_name),
      'profile', json_build_object('name', p.name, 'label', p.label, 'default', up.is_default), 'locale', s.locale,
      'authentication', json_build_object('method', s.method, 'issuer', s.issuer, 'at', s.authenticated_at),
      'session', json_build_object('id', s.id, 'createdAt', s.created_at, 'lastSeenAt', s.last_seen_at,
        'idleExpiresAt', s.idle_expires_at, 'expiresAt', s.expires_at))::text
    from session s join user_account u on u.id = s.user_id
    left join user_profile up on up.user_id = s.user_id and up.profile_id = s.profile_id left join profile p on p.id = up.profile_id
    where ${live}`,
  account: `select id, password_hash, credential_version, display_name from user_account where name = $1 and active`,
  login: `insert into session (token_hash, user_id, method, locale, credential_version, idle_expires_at, expires_at)
    values ($1, $2, 'password', 'en', $3, now() + interval '30 minutes', now() + interval '8 hours') returning id, created_at`,
};

const insertTogether = groupWrites(pool, 'insert', statements.insert);
const updateTogether = groupWrites(pool, 'update', statements.update);

interface Remembered {
  text: string;
  until: number;
}
const callers = new Map<string, Remembered>();
const sessions = new Map<string, Remembered>();

/** What `find` tells of `credential`, asked of the database once in five seconds. */
async function remembered(memory: Map<string, Remembered>, credential: string, find: () => Promise<Row | undefined>): Promise<string> {
  const known = memory.get(credential);
  if (known && known.until > performance.now()) return known.text;
  const [text] = required(await find());
  memory.set(credential, { text: String(text), until: performance.now() + verifiedMilliseconds });
  return String(text);
}

function required(row: Row | undefined): Row {
  if (!row) throw new Error('no row');
  return row;
}

const hashed = (text: string) => createHash('sha256').update(text).digest();
const tokenOf = ({ headers }: IncomingMessage) => (headers.cookie ?? '').slice('sid='.length);

function callerOf(request: IncomingMessage): Promise<string> {
  const key = request.headers['x-api-key'];
  if (typeof key === 'string')
    return remembered(callers, key, () => read('key', statements.key, [key.slice('esk_'.length, 16), hashed(key)]));
  const token = tokenOf(request);
  return remembered(callers, token, () => read('session', statements.session, [hashed(token)]));
}

function sendEntity(response: ServerResponse, status: number, row: Row | undefined): void {
  const [name, key, version, createdAt = '', createdBy, updatedAt = '', updatedBy, fields] = required(row);
  const head = `{"name":"${name}","key":"${key}","version":${version},"createdAt":"${iso(createdAt)}","createdBy":"${createdBy}"`;
  send(response, status, `${head},"updatedAt":"${iso(updatedAt)}","updatedBy":"${updatedBy}","fields":${fields}}`);
}

/** `2026-11-22 17:00:00.123+00` as RFC 3339 writes it. */
const iso = (text: string | null) => `${text?.slice(0, 10)}T${text?.slice(11, -3)}Z`;

function send(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', 'content-length': Buffer.byteLength(body) }).end(body);
}

function bodyOf(request: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => resolve(Buffer.concat(chunks).toString()));
    request.on('error', reject);
  });
}

/** Only the server's time is new each time. */
async function sessionInfo(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const token = tokenOf(request);
  const prepared = await remembered(sessions, token, () => read('info', statements.info, [hashed(token)]));
  send(response, 200, `${prepared.slice(0, -1)},"server":{"name":"limit","time":"${new Date().toISOString()}"}}`);
}

async function login(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const form = new URLSearchParams(await bodyOf(request));
  const user = form.get('user');
  const [id, passwordHash, credentialVersion, displayName] = required(await read('account', statements.account, [user]));
  if (!(await verify(String(passwordHash), form.get('password') ?? ''))) throw new Error('wrong password');
  const token = randomBytes(24).toString('base64url');
  const values = [hashed(token), id, credentialVersion];
  const { rows } = await pool.query<Row>({ name: 'login', text: statements.login, values, rowMode: 'array' });
  const [session, createdAt] = required(rows[0]);
  response.setHeader('set-cookie', `sid=${token}; Path=/; HttpOnly; SameSite=Lax`);
  const server = { name: 'limit', time: new Date() };
  send(response, 200, JSON.stringify({ user: { name: user, displayName }, session: { id: session, createdAt }, server }));
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method, url = '' } = request;
  if (url === '/auth') return method === 'POST' ? login(request, response) : sessionInfo(request, response);
  const [, , , name, key] = url.split('/');
  const user = await callerOf(request);
  if (method === 'GET') return sendEntity(response, 200, await read('find', statements.find, [name, key]));
  const body = await bodyOf(request);
  JSON.parse(body);
  if (key === undefined) return sendEntity(response, 201, await insertTogether(`{"name":"${name}","user":"${user}","fields":${body}}`));
  sendEntity(response, 200, await updateTogether(`{"name":"${name}","key":${key},"user":"${user}","patch":${body}}`));
}

const server = createServer((request, response) => {
  answer(request, response).catch((error: unknown) => {
    response.writeHead(500).end(String(error));
  });
});
server.keepAliveTimeout = 72_000;
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
// Leaves through exit, so that --cpu-prof writes its profile.
process.on('SIGTERM', () => process.exit(0));
// Ends with its parent, also when that was killed.
process.on('disconnect', () => process.exit(0));
