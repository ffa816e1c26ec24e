import { EventEmitter } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Client } from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openTraces } from '../../src/telemetry/traces.ts';
import { cookieHeader } from '../support/client.ts';
import { startCollector, type Collector } from '../support/collector.ts';
import { createDatabase } from '../support/database.ts';
import { TestIssuer, writeIssuers } from '../support/issuer.ts';
import { TestService, type ProblemBody } from '../support/service.ts';
import { npmStart, signIn } from '../support/start.ts';

vi.setConfig({ testTimeout: 60_000 });

const corp = await TestIssuer.start('corp');
const issuersFile = await writeIssuers(corp.entry());
const given = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' };
const traceparent = `00-${given.traceId}-${given.spanId}-01`;

const named = ({ spans }: Collector, name: string) => spans.filter((span) => span.name === name);

test('a request is a span of its operation, with child spans for its waits', async () => {
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
  // The first request of a process also reads which names have types.
  expect(under(authenticated?.spanId).map(({ name }) => name)).toEqual(['session.find', 'select entity_type']);
  const attributes = { 'db.system.name': 'postgresql' };
  expect(statements).toMatchObject([{ name: 'entity.find', kind: 3, attributes }]);
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

test('the trace of a caller in TRUST_PROXY is continued; any other request begins a new trace', async () => {
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

test('OTEL_TRACES_SAMPLER decides which traces are sent; for callers in TRUST_PROXY their decision counts', async () => {
  const declined = traceparent.replace(/01$/, '00');
  const rows = [
    // The sampler, its share, and whether a trace is sent: without a caller's decision, with its yes, with its no.
    ['', '', [true, true, false]],
    ['parentbased_traceidratio', '0', [false, true, false]],
    ['parentbased_traceidratio', '1', [true, true, false]],
    ['parentbased_always_off', '', [false, true, false]],
    ['always_on', '', [true, true, true]],
    ['traceidratio', '0', [false, false, false]],
    ['always_off', '', [false, false, false]],
  ] as const;
  for (const [OTEL_TRACES_SAMPLER, OTEL_TRACES_SAMPLER_ARG, sent] of rows) {
    const collector = await startCollector();
    const sampler = { OTEL_TRACES_SAMPLER, OTEL_TRACES_SAMPLER_ARG };
    const service = await TestService.start({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, TRUST_PROXY: '127.0.0.0/8', ...sampler });
    await service.call('GET', '/health/live');
    await service.call('GET', '/auth', { headers: { traceparent } });
    await service.call('GET', '/health/ready', { headers: { traceparent: declined } });
    await service.close();
    const isSent = ['liveness', 'getSession', 'readiness'].map((name) => named(collector, name).length === 1);
    expect(isSent, `${OTEL_TRACES_SAMPLER} ${OTEL_TRACES_SAMPLER_ARG}`).toEqual(sent);
  }
});

test('the work of an unsampled request is in no other trace of its connection', async () => {
  const collector = await startCollector();
  const settings = { OTEL_TRACES_SAMPLER: 'parentbased_always_off', TRUST_PROXY: '127.0.0.0/8' };
  const service = await TestService.start({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...settings });
  const cookie = await service.openSession((await service.createUser('ada')).id);
  for (let time = 0; time < 5; time++) {
    const path = '/rest/entity/note';
    await service.call('POST', path, { headers: { traceparent }, cookie, json: {} });
    await service.call('POST', path, { cookie, json: {} });
    await service.call('GET', `${path}/1`, { cookie });
  }
  await service.close();
  const created = named(collector, 'createEntity');
  expect(created).toHaveLength(5);
  expect(new Set(collector.spans.map(({ traceId }) => traceId))).toEqual(new Set([given.traceId]));
  expect(named(collector, 'authenticate').map(({ parentSpanId }) => parentSpanId)).toEqual(created.map(({ spanId }) => spanId));
  expect(named(collector, 'entity.find')).toEqual([]);
});

test('the service has the name in OTEL_SERVICE_NAME and the attributes in OTEL_RESOURCE_ATTRIBUTES', async () => {
  onTestFinished(() => void vi.unstubAllEnvs());
  const names: (string | undefined)[][] = [];
  for (const [name, attributes] of [
    ['', ''],
    ['entities-eu', 'deployment.environment.name=staging'],
  ]) {
    vi.stubEnv('OTEL_SERVICE_NAME', name);
    vi.stubEnv('OTEL_RESOURCE_ATTRIBUTES', attributes);
    const collector = await startCollector();
    const service = await TestService.start({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    await service.call('GET', '/health/live');
    await service.close();
    names.push(
      ['service.name', 'deployment.environment.name'].map(
        (key) => new RegExp(`"${key}","value":{"stringValue":"([^"]+)`).exec(collector.text())?.[1],
      ),
    );
  }
  expect(names).toEqual([
    ['entity-service', undefined],
    ['entities-eu', 'staging'],
  ]);
});

test('spans that arrive faster than a collector accepts them are dropped, with an error', async () => {
  const { promise: allowed, resolve: allow } = Promise.withResolvers<void>();
  const slow = createServer((_request, response) => void allowed.then(() => response.end('{}')));
  await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve));
  const { port } = slow.address() as { port: number };
  const errors: unknown[] = [];
  const options = { sampler: 'always_on', share: 1, isTrusted: () => false, version: '0' } as const;
  const traces = openTraces({ url: `http://127.0.0.1:${port}/v1/traces`, ...options }, (error) => errors.push(error));
  const request = { routeOptions: { config: {} }, socket: {}, method: 'GET', id: '1' } as FastifyRequest;
  const scope = traces.open(request, { raw: new EventEmitter() } as FastifyReply);
  const work = () => scope?.begin({ kind: 'database', name: 'select' }).end();
  // More than the queue and the batch in transit contain.
  for (let span = 0; span < 2_048 + 512 + 100; span++) work();
  expect(errors).toEqual([]);
  allow();
  await expect.poll(() => (work(), String(errors[0]))).toMatch(/Dropped 1\d\d spans/);
  await traces.close();
  slow.closeAllConnections();
  slow.close();
});

test('one id is in the problem, the log, the audit trail and the trace of a request', async () => {
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
  expect(line).toMatchObject({ event: 'request', operation: 'refreshSession', status: 403, reason: 'csrf-rejected', user: 'admin' });
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

test('the code loads no OpenTelemetry package unless traces are configured', () => {
  const project = join(import.meta.dirname, '../..');
  const importing = (pattern: RegExp) =>
    globSync('src/**/*.ts', { cwd: project }).filter((file) => pattern.test(readFileSync(join(project, file), 'utf8')));
  expect(importing(/from '@opentelemetry/)).toEqual(['src/telemetry/traces.ts']);
  expect(importing(/^import (?!type ).*\/traces\.ts'/m)).toEqual([]);
});
