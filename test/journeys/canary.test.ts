import { spawn, type ChildProcess } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hashKey, newKey } from '../../src/api-keys/key.ts';
import type { ClientOptions, Fetch, SignIn } from '../../src/client/index.ts';
import { fixedPort } from '../support/fixed-port.ts';
import { checkedFetch } from '../support/checked-fetch.ts';
import { clientOf, cookieHeader } from '../support/client.ts';
import { startCollector } from '../support/collector.ts';
import { found } from '../support/contract.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { TestIssuer, writeIssuers } from '../support/issuer.ts';
import { execute } from '../support/sql.ts';

// Each secret is unique text, so finding it anywhere means that it leaked.
const secrets = {
  password: 'canary-password-Wm7kq2',
  wrongPassword: 'canary-wrong-Zt4hv9',
  newPassword: 'canary-renewed-Xe3pf6',
  typedAsUser: 'canary-typed-as-user-Jb5ns1',
  bearer: 'canary-bearer-Lr8dy0',
  query: 'canary-query-Gc6wa3',
  body: 'canary-body-Hu9mt7',
  cookie: 'canarycookieKo1xb4aaaaaaaaaaaaaa',
  form: 'canary form Pv2zj8',
  pepper: 'canary-pepper-Nf5rb1-that-no-hash-of-a-password-shows',
  path: 'canary-path-Ys1dk5',
  collectorToken: 'canary-collector-token-Tb6yl3',
  metricsToken: 'canary-metrics-token-0123456789-Qn7xe2',
  clientSecret: 'canary-client-secret-0123456789-Ds4jw7',
};

const corp = await TestIssuer.start('corp');
const collector = await startCollector(afterAll);
const issuersFile = await writeIssuers(corp.entry({ clientId: 'canary', clientSecretEnv: 'CORP_SECRET' }));
const pepperFile = join(dirname(issuersFile), 'peppers');
await writeFile(pepperFile, `2026:${secrets.pepper}\n`);

let database: TestDatabase;
let service: ChildProcess;
let closed: Promise<unknown>;
let origin: string;
let log = '';
const problems: string[] = [];

/** Records the problems of refusals. */
const listen: Fetch = async (url, init) => {
  const response = await checkedFetch(url, init);
  if (!response.ok) problems.push(await response.clone().text(), JSON.stringify([...response.headers]));
  return response;
};
const clientBy = (options: Pick<ClientOptions, 'credential'> = {}) =>
  clientOf({ url: origin }, { errors: 'result', fetch: listen, ...options });
const signIn = async (form: SignIn) => (await clientBy().createSession(form)).ok;

/** Sends requests that the client would not send. */
async function call(method: string, path: string, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(origin + path, { method, ...init });
  const text = await response.clone().text();
  if (!response.ok) problems.push(text, JSON.stringify([...response.headers]));
  return response;
}

beforeAll(async () => {
  database = await createDatabase();
  const port = await fixedPort();
  origin = `http://127.0.0.1:${port}`;
  service = spawn(process.execPath, ['src/main.ts'], {
    env: {
      PATH: process.env['PATH'],
      DATABASE_URL: database.url,
      PORT: String(port),
      LOG_LEVEL: 'trace',
      ADMIN_PASSWORD: secrets.password,
      ISSUERS_FILE: issuersFile,
      PASSWORD_PEPPER_FILE: pepperFile,
      METRICS_TOKEN: secrets.metricsToken,
      CORP_SECRET: secrets.clientSecret,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=${secrets.collectorToken}`,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  closed = new Promise((resolve) => service.once('close', resolve));
  const { promise: ready, resolve } = Promise.withResolvers<void>();
  const hear = (chunk: Buffer) => {
    log += chunk.toString();
    if (log.includes('is ready')) resolve();
  };
  service.stdout?.on('data', hear);
  service.stderr?.on('data', hear);
  await ready;
});

/** Stops the service and waits until its whole log has been read. */
async function stop(): Promise<void> {
  if (!service.killed) service.kill('SIGTERM');
  await closed;
}

afterAll(async () => {
  await stop();
  await database.drop();
});

test('no secret, query, body or name typed by mistake reaches the log, the audit trail, a problem, the metrics or a trace (rule 84)', async () => {
  const { id, key } = newKey();
  const hash = hashKey(key).toString('hex');
  await execute(
    database.url,
    `insert into api_key (id, key_hash, user_id, name, expires_at) select '${id}', '\\x${hash}', id, 'canary', now() + interval '1 day' from user_account`,
  );

  const admin = clientBy();
  expect(await admin.createSession({ user: 'admin', password: secrets.password })).toMatchObject({ ok: true });
  const cookie = cookieHeader(admin, { url: origin });
  const token = cookie.split('=')[1] ?? '';
  await signIn({ user: 'admin', password: secrets.wrongPassword });
  await signIn({ user: secrets.typedAsUser, password: 'x' });
  const mistyped = { user: 'admin', password: secrets.password, [secrets.form]: secrets.form };
  await signIn(mistyped);
  await signIn({ oidcIssuer: 'nobody', access_token: secrets.bearer });
  await clientBy({ credential: { bearer: secrets.bearer } }).getSession();
  await call('GET', '/auth', { headers: { authorization: `Basic ${secrets.bearer}` } });
  const accessTokens = {
    stranger: await corp.mint({ claims: { sub: 'stranger' } }),
    expired: await corp.mint({ claims: { exp: 1 } }),
    good: await corp.mint(),
  };
  await execute(database.url, `insert into identity (issuer, subject, user_id) select '${corp.url}', 'alice', id from user_account`);
  for (const [name, accessToken] of Object.entries(accessTokens)) {
    const { ok } = await clientBy({ credential: { bearer: accessToken } }).getSession();
    expect([ok, await signIn({ oidcIssuer: 'corp', access_token: accessToken })]).toEqual([name === 'good', name === 'good']);
  }
  await call('GET', '/auth', { headers: { cookie: `sid=${secrets.cookie}` } });
  await clientBy({ credential: { apiKey: `${key}x` } }).getSession();
  expect(await clientBy({ credential: { apiKey: key } }).getSession()).toMatchObject({ ok: true });
  await call('GET', `/auth?roles=${secrets.query}`, { headers: { cookie } });
  await call('GET', `/nothing/here?token=${secrets.query}`);
  await call('GET', `/nothing/${secrets.path}`);
  await admin.entities(secrets.path).get('1');
  await call('GET', '/metrics', { headers: { authorization: `Bearer ${secrets.bearer}` } });
  expect(await admin.entities('note').create({ text: secrets.body })).toMatchObject({ ok: true });
  await admin.entities<object>('note').create([secrets.body]);
  const json = { cookie, 'content-type': 'application/json' };
  const query = new URLSearchParams({ filter: JSON.stringify({ [secrets.body]: secrets.query }), sort: '-$key' });
  await call('GET', `/rest/entity/note?${query.toString()}`, { headers: { cookie } });
  await call('POST', '/rest/entity/note', { headers: json, body: `{"text":"${secrets.body}","n":1e400}` });
  await call('POST', '/rest/entity/note', { headers: json, body: `{"${secrets.body}": ` });
  const change = { 'current-password': secrets.password, 'set-password': secrets.newPassword, 'confirm-password': secrets.wrongPassword };
  await call('POST', '/auth/password', { body: new URLSearchParams(change), headers: { cookie } });
  expect(await admin.changePassword({ current: secrets.password, next: secrets.newPassword })).toMatchObject({ ok: true });
  const renewed = cookieHeader(admin, { url: origin }).split('=')[1] ?? '';
  expect(renewed).not.toBe(token);
  expect(await admin.endSession()).toMatchObject({ ok: true });

  await execute(database.url, `update user_account set password_hash = replace(password_hash, ',keyid=MjAyNg$', ',keyid=MjAyNQ$')`);
  expect(await signIn({ user: 'admin', password: secrets.newPassword })).toBe(false);
  const metrics = await (await call('GET', '/metrics', { headers: { authorization: `Bearer ${secrets.metricsToken}` } })).text();
  expect(metrics).toContain('operation="changePassword",status="204"');

  const client = new Client({ connectionString: database.url });
  await client.connect();
  const audit = await client.query<{ line: string }>('select a::text as line from audit_event a');
  await client.end();
  await stop();
  const trail = audit.rows.map(({ line }) => line).join('\n');
  expect(trail).toContain('password.changed');
  expect(log).toContain('"operation":"changePassword"');
  expect(log).toContain('"event":"list.read","name":"note","path":"primary key, at most 5000 rows"');
  expect(collector.text()).toContain('argon2 verify');
  expect(log).toContain('"reason":"its pepper 2025 is not in PASSWORD_PEPPER_FILE"');
  expect(problems.length).toBeGreaterThan(20);
  expect(found.splice(0), 'answers that are not what openapi.yaml says').toEqual([]);
  const parts = Object.entries(accessTokens).flatMap(([name, accessToken]) =>
    accessToken.split('.').map((part, index) => [`${name} access token, part ${index + 1}`, part] as const),
  );
  const all = {
    ...secrets,
    token,
    renewed,
    key,
    keySecret: key.slice(17),
    databasePassword: new URL(database.url).password,
    ...Object.fromEntries(parts),
  };
  for (const [place, text] of Object.entries({ log, trail, problems: problems.join('\n'), metrics, traces: collector.text() })) {
    const leaked = Object.entries(all).filter(([, secret]) => text.includes(secret));
    expect(leaked, place).toEqual([]);
  }
});
