import { once } from 'node:events';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { availableParallelism } from 'node:os';
import { sql } from 'kysely';
import { AggregatorRegistry } from 'prom-client';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { createMetricSet } from '../../src/monitoring/metrics.ts';
import { TestIssuer, writeIssuers } from '../support/issuer.ts';
import { metricsToken, scrape } from '../support/metrics.ts';
import { TestService, password, useService } from '../support/service.ts';

const corp = await TestIssuer.start('corp');
const gone = await TestIssuer.start('gone');
afterAll(() => Promise.all([corp.close(), gone.close()]));
const service = useService({ METRICS_TOKEN: metricsToken, ISSUERS_FILE: await writeIssuers(corp.entry(), gone.entry()) });
const read = () => scrape(service().url);

const plainRequest = 'DELETE /auth HTTP/1.1\r\nHost: localhost\r\n\r\n';

/** A connection that the server has accepted and on which it has answered. */
async function connected(host: string, port: number): Promise<Socket> {
  const client = connect(port, host).on('error', () => undefined);
  client.write(plainRequest);
  await once(client, 'data');
  return client;
}

describe('GET /metrics', () => {
  test('200 — with the token the text format of Prometheus; 401 — without it', async () => {
    const authorization = `Bearer ${metricsToken}`;
    const answer = await service().call('GET', '/metrics', { headers: { authorization } });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(answer.text).toContain('# TYPE entity_service_build_info gauge\n');

    await service().createUser('root');
    const cookie = await service().signIn('root');
    for (const headers of [
      {},
      { cookie },
      { authorization: `${authorization}x` },
      { authorization: `Basic ${metricsToken}` },
      { authorization: `x ${authorization}` },
    ]) {
      const refused = await service().call('GET', '/metrics', { headers });
      expect(refused.status).toBe(401);
      expect(refused.headers.get('www-authenticate')).toMatch(/^Bearer/);
      expect(refused.text).not.toContain('entity_service_');
    }
  });

  test('404 — without METRICS_TOKEN there is no endpoint', async () => {
    const plain = await service().replica();
    expect((await plain.call('GET', '/metrics', { headers: { authorization: `Bearer ${metricsToken}` } })).status).toBe(404);
    await plain.close();
  });
});

describe('requests', () => {
  const name = 'entity_service_request_duration_seconds_count';

  test('are counted by operation and status, including those outside the contract and malformed ones', async () => {
    await service().createUser('reader', { note: ['read'] });
    const cookie = await service().signIn('reader');
    const before = await read();
    await service().call('GET', '/rest/entity/note/1', { cookie });
    await service().call('GET', '/rest/entity/note/2', { cookie });
    await service().call('POST', '/rest/entity/note', { cookie, json: {} });
    await service().call('GET', '/health/live');
    await service().call('GET', '/docs/');
    expect((await service().call('GET', '/docs/static/swagger-ui.css')).status).toBe(200);
    for (let index = 0; index < 5; index++) await service().call('GET', `/made-up-${index}`);
    await service().call('DELETE', '/rest/entity/note');
    const after = await read();
    const grown = (operation: string, status: string) =>
      after.value(name, { operation, status }) - before.value(name, { operation, status }, 0);
    expect(grown('getEntity', '404')).toBe(2);
    expect(grown('createEntity', '403')).toBe(1);
    expect(grown('liveness', '200')).toBe(1);
    expect(grown('docs', '200')).toBe(2);
    expect(grown('none', '404')).toBe(5);
    expect(grown('none', '405')).toBe(1);
    expect(after.value('entity_service_problems_total', { code: 'forbidden' })).toBe(1);
    expect(after.value('entity_service_requests_in_flight')).toBe(1);
    const buckets = after.labels('entity_service_request_duration_seconds_bucket');
    expect([...new Set(buckets.map(({ le }) => le))].join(' ')).toBe('0.001 0.0025 0.005 0.01 0.025 0.05 0.1 0.25 0.5 1 2.5 5 10 +Inf');
    const operations = new Set(after.labels(name).map(({ operation }) => operation));
    expect([...operations].filter((operation) => /[^a-zA-Z]/.test(operation ?? '/'))).toEqual([]);
  });

  test('are no longer in flight after their clients have disconnected', async () => {
    const url = new URL('/auth', service().url);
    const headers = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': '100' };
    const hanging = request(url, { method: 'POST', headers });
    hanging.on('error', () => undefined);
    hanging.write('user=');
    await expect.poll(async () => (await read()).value('entity_service_requests_in_flight')).toBe(2);
    hanging.destroy();
    await expect.poll(async () => (await read()).value('entity_service_requests_in_flight')).toBe(1);
    expect((await read()).value(name, { operation: 'createSession', status: 'aborted' })).toBe(1);
  });

  test('whose clients leave while they wait for their start are counted as abandoned, and none stays in flight', async () => {
    const { hostname, port } = new URL(service().url);
    const abandoned = async () => (await read()).value('entity_service_requests_abandoned_total');
    const before = await abandoned();
    // After how many turns the server has read the requests and most of them wait is not known.
    for (let turns = 1; turns <= 20 && (await abandoned()) === before; turns++) {
      const clients = await Promise.all(Array.from({ length: 200 }, () => connected(hostname, Number(port))));
      for (const client of clients) client.write(plainRequest);
      for (let turn = 0; turn < turns; turn++) await nextTurn();
      for (const client of clients) client.resetAndDestroy();
    }
    expect(await abandoned()).toBeGreaterThan(before);
    await expect.poll(async () => (await read()).value('entity_service_requests_in_flight')).toBe(1);
    expect((await read()).value('entity_service_requests_waiting')).toBe(0);
  });
});

test('password verifications are counted by result', async () => {
  const name = 'entity_service_password_attempts_total';
  await service().createUser('grace');
  const before = await read();
  await service().call('POST', '/auth', { form: { user: 'grace', password } });
  for (let guess = 0; guess < 6; guess++) await service().call('POST', '/auth', { form: { user: 'grace', password: `guess ${guess}` } });
  const after = await read();
  const grown = (outcome: string) => after.value(name, { outcome }) - before.value(name, { outcome });
  expect([grown('succeeded'), grown('failed'), grown('throttled'), grown('busy'), grown('error')]).toEqual([1, 5, 1, 0, 0]);
  expect(after.value('entity_service_admission_running', { class: 'hashing' })).toBe(0);
  expect(after.value('entity_service_admission_running_limit', { class: 'hashing' })).toBe(Math.min(4, availableParallelism()));
});

test('the cache shows its hits and the pool its open connections', async () => {
  const { id } = await service().createUser('ada');
  const cookie = await service().openSession(id);
  await service().settle();
  const before = await read();
  expect((await service().call('GET', '/rest/entity/note/1', { cookie })).status).toBe(404);
  expect((await service().call('GET', '/rest/entity/note/1', { cookie })).status).toBe(404);
  const after = await read();
  const grown = (name: string) =>
    after.value(`entity_service_principal_cache_${name}`) - before.value(`entity_service_principal_cache_${name}`);
  expect([grown('hits_total'), grown('misses_total')]).toEqual([1, 1]);
  expect(after.value('entity_service_principal_cache_entries')).toBeGreaterThan(0);
  // Ten in all, two of which reads share.
  expect(after.value('entity_service_pool_connections_limit')).toBe(8);
  expect(after.value('entity_service_pool_connections', { state: 'idle' })).toBeGreaterThan(0);
  expect(after.value('entity_service_read_connections', { state: 'idle' })).toBeGreaterThan(0);
  expect(after.value('entity_service_listener_up')).toBe(1);
});

test('heavy entity operations are counted while they run and while they wait', async () => {
  const cookie = await service().openSession((await service().createUser('carol')).id);
  const long = { text: 'x'.repeat(20_000) };
  const of = async (figure: 'running' | 'waiting') => (await read()).value(`entity_service_admission_${figure}`, { class: 'heavy-write' });
  const sent = await service()
    .db.transaction()
    .execute(async (trx) => {
      await sql`lock table entity in exclusive mode`.execute(trx);
      const sent = [1, 2, 3].map(() => service().call('POST', '/rest/entity/heavy', { cookie, json: long }));
      await expect.poll(() => of('waiting')).toBe(2);
      expect(await of('running')).toBe(1);
      return sent;
    });
  for (const { status } of await Promise.all(sent)) expect([201, 503]).toContain(status);
  expect([await of('running'), await of('waiting')]).toEqual([0, 0]);
});

test('live sessions are counted, ended ones are not', async () => {
  const replica = await TestService.start({ METRICS_TOKEN: metricsToken });
  const { id } = await replica.createUser('ada');
  await replica.openSession(id);
  const over = await replica.openSession(id);
  expect((await replica.call('HEAD', '/auth?logout=1', { cookie: over })).status).toBe(204);
  expect((await scrape(replica.url)).value('entity_service_sessions_live')).toBe(1);
  await replica.close();
});

test('an issuer is listed after the first request of its keys, with whether it answered', async () => {
  expect((await read()).labels('entity_service_issuer_up')).toEqual([]);
  const tokens = [await corp.mint(), await gone.mint()];
  await gone.close();
  for (const token of tokens) await service().call('GET', '/auth', { headers: { authorization: `Bearer ${token}` } });
  const metrics = await read();
  expect(metrics.value('entity_service_issuer_up', { issuer: 'corp' })).toBe(1);
  expect(metrics.value('entity_service_issuer_up', { issuer: 'gone' })).toBe(0);
});

test('refusals that the audit trail leaves out are counted', async () => {
  await service().createUser('nobody', {});
  const cookie = await service().signIn('nobody');
  for (let time = 0; time < 3; time++) expect((await service().call('POST', '/rest/entity/note', { cookie, json: {} })).status).toBe(403);
  expect((await read()).value('entity_service_audit_left_out_total')).toBe(2);
});

test('what all workers see alike is not added up, and what each one has is', async () => {
  const replica = await TestService.start({ METRICS_TOKEN: metricsToken });
  onTestFinished(() => replica.close());
  await replica.openSession((await replica.createUser('ada')).id);
  const worker = async () => await createMetricSet(replica.context).registry.getMetricsAsJSON();
  const text = await AggregatorRegistry.aggregate([await worker(), await worker(), await worker()]).metrics();
  const value = (name: string) => Number(new RegExp(`^entity_service_${name} (.*)$`, 'm').exec(text)?.[1]);
  expect([value('sessions_live'), value('listener_up')]).toEqual([1, 1]);
  expect(value('pool_connections_limit')).toBe(3 * replica.store.connections().pool.limit);
});

test('of several workers the longest event loop delay is shown, not the mean', async () => {
  const name = 'nodejs_eventloop_lag_p99_seconds';
  const { registry } = createMetricSet(service().context);
  const worker = async (seconds: number) => {
    const metrics = await registry.getMetricsAsJSON();
    for (const metric of metrics) if (metric.name === name) metric.values = [{ value: seconds, labels: {} }];
    return metrics;
  };
  const text = await AggregatorRegistry.aggregate([await worker(0.01), await worker(0.5), await worker(0.01)]).metrics();
  expect(text).toContain(`\n${name} 0.5\n`);
});

test('the runs of periodic work are counted by job and outcome', async () => {
  const name = 'entity_service_background_runs_total';
  await expect.poll(async () => (await read()).value(name, { job_name: 'audit-trail', outcome: 'ok' })).toBe(1);
  const series = (await read()).labels(name);
  expect(series).toContainEqual({ job_name: 'trash', outcome: 'failed' });
  expect(series).not.toContainEqual({ job_name: 'backup', outcome: 'ok' });
});
