/** Directus: a role's policy grants rights on a collection. Callers authenticate with an access token or a user's static token. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { Client } from 'pg';
import { among, json, request } from '../../lib/scenarios.ts';
import { fieldsOf } from '../../lib/seed.ts';
import { call, everyRow, headerLines, password, userCount } from './api.ts';
import { run } from './command.ts';
import type { Operations, Peer, Site } from './peer.ts';

const collection = 'customer';
const admin = { email: 'admin@example.com', password };
const staticToken = randomBytes(24).toString('base64url');
const secret = randomBytes(32).toString('base64url');
const emailOf = (n: number) => `bench-${n}@example.com`;
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const program = ({ installation }: Site) => join(installation, 'node_modules/@directus/api/dist/cli/run.js');

export const directus: Peer = {
  package: {
    title: 'Directus',
    name: 'directus',
    // The registry did not have one dependency of 12.4.1.
    version: '12.4.0',
    // `isolated-vm` runs extensions, and there are none here. The version that Directus requires downloads or compiles its binary; this one
    // contains it.
    overrides: { 'isolated-vm': '6.2.0' },
  },
  readyPath: '/server/ping',
  command: (site) => [program(site), 'start'],
  environment: ({ databaseUrl, port, poolSize }) => ({
    NODE_ENV: 'production',
    HOST: '127.0.0.1',
    PORT: String(port),
    PUBLIC_URL: `http://localhost:${port}`,
    SECRET: secret,
    ADMIN_EMAIL: admin.email,
    ADMIN_PASSWORD: admin.password,
    DB_CLIENT: 'pg',
    DB_CONNECTION_STRING: databaseUrl,
    DB_POOL__MAX: String(poolSize),
    LOG_LEVEL: 'info',
    LOG_STYLE: 'raw',
    SERVE_APP: 'false',
    TELEMETRY: 'false',
    // Turns off the 503 of a busy event loop, since the load keeps the event loop busy.
    PRESSURE_LIMITER_ENABLED: 'false',
    // Turns off the minimum of 500 ms for a login, which would hide its cost.
    LOGIN_STALL_TIME: '0',
    // Longer than any run, instead of 15 minutes.
    ACCESS_TOKEN_TTL: '8h',
  }),
  install: (site, env, opened) => run(process.execPath, [program(site), 'bootstrap'], { cwd: site.directory, env }, opened),
  async setUp(site: Site): Promise<Operations> {
    const session = await signedIn(site, [{ collection, fields }]);
    return operationsOf(await insertRows(site.databaseUrl), session);
  },
};

/** A collection as Directus creates it. */
export interface Collection {
  collection: string;
  fields: readonly object[];
}

/** A field of a collection that refers to another one. */
export interface Relation {
  collection: string;
  field: string;
  related_collection: string;
}

/** Creates collections, and users who may do everything with them. Returns the headers of a session of the first. */
export async function signedIn({ port }: Site, collections: readonly Collection[], relations: readonly Relation[] = []): Promise<string> {
  const ask = async (path: string, headers: Record<string, string>, body: unknown) =>
    (await call(port, 'POST', path, headers, body))['data'];
  const logIn = async (who: { email: string; password: string }) => {
    const { access_token } = (await ask('/auth/login', {}, who)) as { access_token: string };
    return bearer(access_token);
  };
  const asAdmin = await logIn(admin);
  for (const each of collections) await ask('/collections', asAdmin, { ...each, schema: {}, meta: {} });
  for (const relation of relations) await ask('/relations', asAdmin, relation);
  const { id: policy } = (await ask('/policies', asAdmin, { name: 'bench', app_access: false, admin_access: false })) as { id: string };
  await ask('/permissions', asAdmin, [
    ...collections.flatMap((each) =>
      ['create', 'read', 'update', 'delete'].map((action) => ({ policy, collection: each.collection, action, fields: ['*'] })),
    ),
    { policy, collection: 'directus_users', action: 'read', fields: ['*'] },
  ]);
  const { id: role } = (await ask('/roles', asAdmin, { name: 'bench' })) as { id: string };
  await ask('/access', asAdmin, { role, policy, sort: 1 });
  const users = Array.from({ length: userCount }, (_, n) => ({ email: emailOf(n), password, role, token: n === 0 ? staticToken : null }));
  await ask('/users', asAdmin, users);
  return headerLines(await logIn({ email: emailOf(0), password }));
}

/** The six fields, and the same columns as in the service: who created and changed an entity, and when. */
const fields = [
  { field: 'id', type: 'integer', meta: {}, schema: { is_primary_key: true, has_auto_increment: true } },
  { field: 'company', type: 'string' },
  { field: 'email', type: 'string' },
  { field: 'address', type: 'json', meta: { special: ['cast-json'] } },
  { field: 'tags', type: 'json', meta: { special: ['cast-json'] } },
  { field: 'creditLimit', type: 'float' },
  { field: 'note', type: 'text' },
  { field: 'date_created', type: 'timestamp', meta: { special: ['date-created'] } },
  { field: 'user_created', type: 'uuid', meta: { special: ['user-created'] } },
  { field: 'date_updated', type: 'timestamp', meta: { special: ['date-updated'] } },
  { field: 'user_updated', type: 'uuid', meta: { special: ['user-updated'] } },
];

async function insertRows(databaseUrl: string): Promise<number[]> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ id: number }>(
      `insert into ${collection} (company, email, address, tags, "creditLimit", note, date_created, user_created)
       select made.*, now(), (select id from directus_users where email = $2) from json_to_recordset($1::json)
         as made (company text, email text, address json, tags json, "creditLimit" float8, note text)
       returning id`,
      [JSON.stringify(everyRow()), emailOf(0)],
    );
    await client.query('vacuum analyze');
    return rows.map(({ id }) => id);
  } finally {
    await client.end();
  }
}

function operationsOf(keys: number[], session: string): Operations {
  const path = `/items/${collection}`;
  const key = headerLines(bearer(staticToken));
  const login = (n: number) => request('POST', '/auth/login', 'accept: application/json', json({ email: emailOf(n), password }));
  return {
    'get-entity-by-session': { shows: 'creditLimit', requestOf: among(keys.map((id) => request('GET', `${path}/${id}`, session))) },
    'get-entity-by-key': { shows: 'creditLimit', requestOf: among(keys.map((id) => request('GET', `${path}/${id}`, key))) },
    'create-entity': { shows: 'creditLimit', requestOf: among(keys.map((_, n) => request('POST', path, key, json(fieldsOf(n))))) },
    'update-entity': {
      shows: 'creditLimit',
      requestOf: among(keys.map((id, n) => request('PATCH', `${path}/${id}`, key, json({ creditLimit: n, note: null })))),
    },
    'get-session': { shows: emailOf(0), requestOf: among([request('GET', '/users/me', session)]) },
    'create-session': { shows: 'access_token', requestOf: among(Array.from({ length: userCount }, (_, n) => login(n))) },
  };
}
