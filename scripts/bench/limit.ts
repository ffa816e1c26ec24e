/**
 * The raw limit: the least that can answer the measured operations on this runtime and this database, `node:http` and `pg` with named
 * statements and nothing else. It validates nothing, logs nothing and authorises nobody; it is only there to be compared with.
 */
import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { verify } from 'argon2';
import { Pool } from 'pg';

const verifiedMilliseconds = 5_000;

const pool = new Pool({
  connectionString: process.env['DATABASE_URL'],
  max: Number(process.env['DATABASE_POOL_SIZE'] ?? 10),
  // As the service has it (src/database/driver/connection-setup.ts).
  options: '-c enable_seqscan=off -c jit=off',
});
pool.on('error', () => undefined);

async function rowOf(name: string, text: string, values: unknown[]): Promise<unknown[]> {
  const { rows } = await pool.query<unknown[]>({ name, text, values, rowMode: 'array' });
  if (!rows[0]) throw new Error(`${name}: no row`);
  return rows[0];
}

const entityColumns = `name, key, version, created_at, created_by, updated_at, updated_by, fields::text`;
const statements = {
  session: `select u.name from session s join user_account u on u.id = s.user_id where s.token_hash = $1 and s.revoked_at is null
    and s.idle_expires_at > now() and s.expires_at > now() and u.active and u.credential_version = s.credential_version`,
  key: `select u.name from api_key k join user_account u on u.id = k.user_id where k.id = $1 and k.key_hash = $2 and k.revoked_at is null
    and k.expires_at > now() and u.active`,
  find: `select ${entityColumns} from entity where name = $1 and key = $2`,
  insert: `insert into entity (name, fields, created_by, updated_by) values ($1, $2, $3, $3) returning ${entityColumns}`,
  update: `update entity set fields = json_merge_patch(fields, $3), version = version + 1, updated_at = now(), updated_by = $4
    where name = $1 and key = $2 returning ${entityColumns}`,
  info: `select u.name, u.display_name, p.name, p.label, up.is_default, s.locale, s.method, s.issuer, s.authenticated_at, s.id, s.created_at,
    s.last_seen_at, s.idle_expires_at, s.expires_at from session s join user_account u on u.id = s.user_id
    left join user_profile up on up.user_id = s.user_id and up.profile_id = s.profile_id left join profile p on p.id = up.profile_id
    where s.token_hash = $1 and s.revoked_at is null and s.idle_expires_at > now() and s.expires_at > now()
    and u.active and u.credential_version = s.credential_version`,
  account: `select id, password_hash, credential_version, display_name from user_account where name = $1 and active`,
  login: `insert into session (token_hash, user_id, method, locale, credential_version, idle_expires_at, expires_at)
    values ($1, $2, 'password', 'en', $3, now() + interval '30 minutes', now() + interval '8 hours') returning id, created_at`,
};

const verified = new Map<string, { user: string; until: number }>();

/** The user behind the cookie or the key, asked of the database once in five seconds. */
async function userOf({ headers }: IncomingMessage): Promise<string> {
  const key = headers['x-api-key'];
  const credential = typeof key === 'string' ? key : (headers.cookie ?? '').slice('sid='.length);
  const hash = createHash('sha256').update(credential).digest();
  const found = verified.get(hash.toString('hex'));
  if (found && found.until > performance.now()) return found.user;
  const [user] =
    typeof key === 'string'
      ? await rowOf('key', statements.key, [key.slice('esk_'.length, 16), hash])
      : await rowOf('session', statements.session, [hash]);
  verified.set(hash.toString('hex'), { user: String(user), until: performance.now() + verifiedMilliseconds });
  return String(user);
}

function sendEntity(response: ServerResponse, status: number, row: unknown[]): void {
  const [name, key, version, createdAt, createdBy, updatedAt, updatedBy, fields] = row as [
    string,
    string,
    string,
    Date,
    string,
    Date,
    string,
    string,
  ];
  const head = `{"name":"${name}","key":"${key}","version":${version},"createdAt":"${createdAt.toISOString()}","createdBy":"${createdBy}"`;
  send(response, status, `${head},"updatedAt":"${updatedAt.toISOString()}","updatedBy":"${updatedBy}","fields":${fields}}`);
}

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

async function sessionInfo(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const hash = createHash('sha256')
    .update((request.headers.cookie ?? '').slice('sid='.length))
    .digest();
  const [user, displayName, profile, label, isDefault, locale, method, issuer, at, id, createdAt, lastSeenAt, idleExpiresAt, expiresAt] =
    await rowOf('info', statements.info, [hash]);
  const body = {
    user: { name: user, displayName },
    profile: { name: profile, label, default: isDefault },
    locale,
    authentication: { method, issuer, at },
    session: { id, createdAt, lastSeenAt, idleExpiresAt, expiresAt },
    server: { name: 'limit', time: new Date() },
  };
  send(response, 200, JSON.stringify(body));
}

async function login(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const form = new URLSearchParams(await bodyOf(request));
  const user = form.get('user');
  const [id, passwordHash, credentialVersion, displayName] = await rowOf('account', statements.account, [user]);
  if (!(await verify(String(passwordHash), form.get('password') ?? ''))) throw new Error('wrong password');
  const token = randomBytes(24).toString('base64url');
  const values = [createHash('sha256').update(token).digest(), id, credentialVersion];
  const [session, createdAt] = await rowOf('login', statements.login, values);
  response.setHeader('set-cookie', `sid=${token}; Path=/; HttpOnly; SameSite=Lax`);
  const server = { name: 'limit', time: new Date() };
  send(response, 200, JSON.stringify({ user: { name: user, displayName }, session: { id: session, createdAt }, server }));
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method, url = '' } = request;
  if (url === '/auth') return method === 'POST' ? login(request, response) : sessionInfo(request, response);
  const [, , , name, key] = url.split('/');
  const user = await userOf(request);
  if (method === 'GET') return sendEntity(response, 200, await rowOf('find', statements.find, [name, key]));
  const fields = await bodyOf(request);
  JSON.parse(fields);
  if (key === undefined) return sendEntity(response, 201, await rowOf('insert', statements.insert, [name, fields, user]));
  sendEntity(response, 200, await rowOf('update', statements.update, [name, key, fields, user]));
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
// Ends with whoever started it, also when that was killed.
process.on('disconnect', () => process.exit(0));
