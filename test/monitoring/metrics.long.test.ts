/** `GET /metrics` with several workers. `test/journeys/start-deployed.long.test.ts` has the most important case. */
import { expect, test, vi } from 'vitest';
import { cookieHeader } from '../support/client.ts';
import { createDatabase } from '../support/database.ts';
import { metricsToken, scrape } from '../support/metrics.ts';
import { useService } from '../support/service.ts';
import { npmStart, signIn } from '../support/start.ts';

vi.setConfig({ testTimeout: 60_000 });

const service = useService({ METRICS_TOKEN: metricsToken });

test('each worker answers for all workers', async () => {
  const database = await createDatabase();
  const secret = 'one password for this only';
  const started = await npmStart({
    DATABASE_URL: database.url,
    ADMIN_PASSWORD: secret,
    METRICS_TOKEN: metricsToken,
    WORKERS: '2',
    RATE_LIMIT: 'off',
  });
  await started.ready;
  const cookie = cookieHeader(await signIn(started, 'admin', secret), started);
  // One connection each, which the primary distributes in turn.
  for (let time = 0; time < 20; time++) await fetch(`${started.url}/auth`, { headers: { cookie, connection: 'close' } });
  for (let time = 0; time < 2; time++) {
    const metrics = await scrape(started.url);
    expect(metrics.value('entity_service_request_duration_seconds_count', { operation: 'getSession', status: '200' })).toBe(20);
    expect(metrics.value('entity_service_pool_connections_limit')).toBe(16);
    expect(metrics.value('entity_service_sessions_live')).toBe(1);
    expect(metrics.value('entity_service_listener_up')).toBe(1);
    expect([...(await scrape(service().url)).types.keys()].filter((name) => !metrics.types.has(name))).toEqual([
      'process_start_time_seconds',
    ]);
  }
  started.signal('SIGTERM');
  expect((await started.ended).code).toBe(0);
  await database.drop();
});
