import { globSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { Client } from 'pg';
import { expect, test, vi } from 'vitest';
import { freePort } from '../../src/database/embedded/launch.ts';
import { cookieHeader } from '../support/client.ts';
import { startCollector, type Collector } from '../support/collector.ts';
import { createDatabase } from '../support/database.ts';
import { TestIssuer, writeIssuers } from '../support/issuer.ts';
import { TestService, password, type ProblemBody } from '../support/service.ts';
import { npmStart, signIn } from '../support/start.ts';

vi.setConfig({ testTimeout: 60_000 });

const corp = await TestIssuer.start('corp');
const issuersFile = await writeIssuers(corp.entry());
const given = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' };
const traceparent = `00-${given.traceId}-${given.spanId}-01`;

const named = ({ spans }: Collector, name: string) => spans.filter((span) => span.name === name);

test('a request is a span of its operation, and what it waited for are spans below it', async () => {
  const collector = await startCollector();
  const service = await TestService.start({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ISSUERS_FILE: issuersFile });
  await service.createUser('ada');
  await service.link(corp, 'alice', 'ada');
  const cookie = await service.signIn('ada');
  expect((await service.call('GET', '/rest/entity/note/1', { cookie })).status).toBe(404);
  const authorization = `Bearer ${await corp.mint()}`;
  expect((await service.call('POST', '/rest/entity/note', { headers: { authorization }, json: { text: 'kept' } })).status).toBe(201);
  await service.close();

  const [signedIn] = named(collector, 'createSession');
  expect(signedIn).toMatchObject({
    kind: 2,
    attributes: { 'http.route': '/auth', 'http.request.method': 'POST', 'http.response.status_code': 200 },
  });
  const under = (spanId = '') => collector.spans.filter(({ parentSpanId }) => parentSpanId === spanId);
  expect(under(signedIn?.spanId).map(({ name }) => name)).toContain('argon2 verify');

  const [read] = named(collector, 'getEntity');
  expect(read).toMatchObject({ attributes: { 'http.response.status_code': 404, 'error.type': 'not-found' } });
  const [authenticated, ...statements] = under(read?.spanId);
  expect(authenticated).toMatchObject({ name: 'authenticate' });
  expect(under(authenticated?.spanId).map(({ name }) => name)).toEqual(['session.find']);
  expect(statements).toMatchObject([{ name: 'entity.find', kind: 3, attributes: { 'db.system.name': 'postgresql' } }]);
  expect(statements[0]?.attributes['db.query.text']).toMatch(/\$1/);

  const [created] = named(collector, 'createEntity');
  const [verified] = under(created?.spanId);
  expect(
    under(verified?.spanId)
      .filter(({ name }) => name === 'ask issuer')
      .map(({ attributes }) => attributes['server.address']),
  ).toEqual(expect.arrayContaining([new URL(corp.url).host]));
  for (const { traceId } of [signedIn, read].filter((span) => span !== undefined)) expect(traceId).toMatch(/^[0-9a-f]{32}$/);
  expect(signedIn?.traceId).not.toBe(read?.traceId);
});

test('the trace of a caller is continued if the caller is one of TRUST_PROXY, else a new one begins', async () => {
  const collector = await startCollector();
  const headers = { traceparent };
  for (const settings of [{}, { TRUST_PROXY: '127.0.0.0/8' }]) {
    const service = await TestService.start({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...settings });
    await service.call('GET', '/health/live', { headers });
    await service.close();
  }
  const [strange, trusted] = named(collector, 'liveness');
  expect(strange?.traceId).not.toBe(given.traceId);
  expect(strange?.parentSpanId ?? '').toBe('');
  expect(trusted).toMatchObject({ traceId: given.traceId, parentSpanId: given.spanId });
});

test('a collector that is gone, or does not answer, holds up nothing', async () => {
  const silent = createServer(() => undefined);
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const { port } = silent.address() as { port: number };
  for (const endpoint of [`http://127.0.0.1:${await freePort()}`, `http://127.0.0.1:${port}`]) {
    const service = await TestService.start({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint });
    await service.createUser('ada');
    await service.signIn('ada', password);
    const stoppedAt = performance.now();
    await service.stop();
    expect(performance.now() - stoppedAt).toBeLessThan(8_000);
    await service.close();
  }
  silent.closeAllConnections();
  silent.close();
});

test('one id leads from the problem to the log, the audit trail and the trace of the request', async () => {
  const collector = await startCollector();
  const database = await createDatabase();
  const secret = 'one password for this only';
  const settings = { DATABASE_URL: database.url, ADMIN_PASSWORD: secret, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
  const started = await npmStart(settings);
  await started.ready;
  const cookie = cookieHeader(await signIn(started, 'admin', secret), started);
  const headers = { cookie, 'sec-fetch-site': 'cross-site', traceparent, 'x-request-id': given.traceId };
  const answer = await fetch(`${started.url}/auth/refresh`, { method: 'POST', headers });
  const problem = (await answer.json()) as ProblemBody;
  expect(problem).toMatchObject({ status: 403, code: 'csrf-rejected' });
  const requestId = problem.instance.replace('urn:uuid:', '');
  started.signal('SIGTERM');
  await started.ended;

  const [line, ...others] = started.log().filter((entry) => entry['requestId'] === requestId);
  expect(others).toEqual([]);
  expect(line).toMatchObject({ event: 'request', operation: 'refreshSession', status: 403, reason: 'csrf-rejected' });
  const span = collector.spans.find(({ attributes }) => attributes['entity_service.request_id'] === requestId);
  expect(span).toMatchObject({ name: 'refreshSession', attributes: { 'error.type': 'csrf-rejected' } });
  expect(line?.['traceId']).toBe(span?.traceId);
  const client = new Client({ connectionString: database.url });
  await client.connect();
  const events = await client.query('select event from audit_event where request_id = $1', [requestId]);
  await client.end();
  expect(events.rows).toEqual([{ event: 'csrf.refused' }]);
  await database.drop();
});

test('nothing of OpenTelemetry is loaded before it is known that there are traces', () => {
  const project = join(import.meta.dirname, '../..');
  const importing = (pattern: RegExp) =>
    globSync('src/**/*.ts', { cwd: project }).filter((file) => pattern.test(readFileSync(join(project, file), 'utf8')));
  expect(importing(/from '@opentelemetry/)).toEqual(['src/ops/traces.ts']);
  expect(importing(/^import (?!type ).*\/traces\.ts'/m)).toEqual([]);
});
