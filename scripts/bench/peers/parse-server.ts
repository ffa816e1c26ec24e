/**
 * Parse Server: a role has rights on a class, and callers authenticate with a session token. It has no key for a user: programs use the
 * master key, which bypasses all rights.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { Client } from 'pg';
import { among, json, request } from '../../lib/scenarios.ts';
import { fieldsOf } from '../../lib/seed.ts';
import { call, everyRow, headerLines, password, userCount } from './api.ts';
import type { Operations, Peer, Site } from './peer.ts';

const className = 'customer';
const masterKey = randomBytes(24).toString('base64url');
const application = { 'x-parse-application-id': 'bench', 'x-parse-rest-api-key': 'bench' };
const master = { 'x-parse-application-id': 'bench', 'x-parse-master-key': masterKey };

export const parseServer: Peer = {
  package: { title: 'Parse Server', name: 'parse-server', version: '9.10.0' },
  readyPath: '/parse/health',
  command: ({ installation }) => [join(installation, 'node_modules/parse-server/bin/parse-server')],
  environment: ({ databaseUrl, port, poolSize }) => ({
    NODE_ENV: 'production',
    PORT: String(port),
    PARSE_SERVER_HOST: '127.0.0.1',
    PARSE_SERVER_URL: `http://127.0.0.1:${port}/parse`,
    PARSE_SERVER_APPLICATION_ID: application['x-parse-application-id'],
    PARSE_SERVER_REST_API_KEY: application['x-parse-rest-api-key'],
    PARSE_SERVER_MASTER_KEY: masterKey,
    PARSE_SERVER_DATABASE_URI: databaseUrl,
    PARSE_SERVER_DATABASE_OPTIONS: JSON.stringify({ max: poolSize }),
    // The log goes to standard output alone.
    PARSE_SERVER_LOGS_FOLDER: 'null',
  }),
  async setUp(site: Site): Promise<Operations> {
    const session = await signedIn(site, { [className]: typesOfFields });
    return operationsOf(await insertRows(site.databaseUrl), session);
  },
};

const typesOfFields = Object.fromEntries(
  Object.entries({ company: 'String', email: 'String', address: 'Object', tags: 'Array', creditLimit: 'Number', note: 'String' }).map(
    ([field, type]) => [field, { type }],
  ),
);

/** Creates classes, by their names the types of their fields, and users who may do everything with them. Returns the headers of a session of the first. */
export async function signedIn({ port }: Site, classes: Readonly<Record<string, object>>): Promise<string> {
  const ask = (method: string, path: string, headers: Record<string, string>, body?: unknown) =>
    call(port, method, `/parse${path}`, headers, body);
  const members: unknown[] = [];
  for (let n = 0; n < userCount; n++) {
    const { objectId } = await ask('POST', '/users', application, { username: `bench-${n}`, password });
    members.push({ __type: 'Pointer', className: '_User', objectId });
  }
  await ask('POST', '/roles', master, { name: 'bench', ACL: {}, users: { __op: 'AddRelation', objects: members } });
  const rights = ['get', 'find', 'count', 'create', 'update', 'delete'].map((action) => [action, { 'role:bench': true }]);
  const classLevelPermissions = Object.fromEntries(rights);
  for (const [name, fields] of Object.entries(classes))
    await ask('POST', `/schemas/${name}`, master, { className: name, fields, classLevelPermissions });
  const { sessionToken } = await ask('POST', '/login', application, { username: 'bench-0', password });
  return headerLines({ ...application, 'x-parse-session-token': String(sessionToken) });
}

/** Returns the keys of the rows, which have the form of the server's own keys. */
async function insertRows(databaseUrl: string): Promise<string[]> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ key: string }>(
      `insert into ${className} ("objectId", "createdAt", "updatedAt", company, email, address, tags, "creditLimit", note)
       select substr(md5(random()::text), 1, 10), now(), now(), made.* from jsonb_to_recordset($1::jsonb)
         as made (company text, email text, address jsonb, tags jsonb, "creditLimit" float8, note text)
       returning "objectId" as key`,
      [JSON.stringify(everyRow())],
    );
    await client.query('vacuum analyze');
    return rows.map(({ key }) => key);
  } finally {
    await client.end();
  }
}

function operationsOf(keys: string[], session: string): Operations {
  const path = `/parse/classes/${className}`;
  const changed = (n: number) => json({ creditLimit: n, note: { __op: 'Delete' } });
  const login = (n: number) => request('POST', '/parse/login', headerLines(application), json({ username: `bench-${n}`, password }));
  return {
    'get-entity-by-session': { shows: 'creditLimit', requestOf: among(keys.map((key) => request('GET', `${path}/${key}`, session))) },
    'get-entity-by-key': {
      shows: 'creditLimit',
      requestOf: among(keys.map((key) => request('GET', `${path}/${key}`, headerLines(master)))),
    },
    'create-entity': { shows: 'objectId', requestOf: among(keys.map((_, n) => request('POST', path, session, json(fieldsOf(n))))) },
    'update-entity': {
      shows: 'updatedAt',
      requestOf: among(keys.map((key, n) => request('PUT', `${path}/${key}`, session, changed(n)))),
    },
    'get-session': { shows: 'bench-0', requestOf: among([request('GET', '/parse/users/me', session)]) },
    'create-session': { shows: 'sessionToken', requestOf: among(Array.from({ length: userCount }, (_, n) => login(n))) },
  };
}
