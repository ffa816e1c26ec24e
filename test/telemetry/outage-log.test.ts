import type { FastifyBaseLogger } from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import { OutageLog } from '../../src/telemetry/outage-log.ts';
import { createDatabaseUntilDone } from '../support/database.ts';
import { Proxy } from '../support/proxy.ts';
import { npmStart } from '../support/start.ts';

test('an outage is logged at its beginning, with another reason, once a minute, and at its end', () => {
  let now = 0;
  const lines: object[] = [];
  const record = (members: object) => lines.push(members);
  const log = { warn: record, info: record } as unknown as FastifyBaseLogger;
  const outage = new OutageLog(() => now);
  const err = new Error('refused');
  outage.succeeded(log, 'back');
  for (now = 1_000; now <= 130_000; now += 1_000) outage.failed(log, err, now < 130_000 ? 'away' : 'refused');
  outage.succeeded(log, 'back');
  outage.succeeded(log, 'back');
  outage.failed(log, err, 'away');
  expect(lines).toEqual([
    { event: 'outage', err },
    { event: 'outage', err, durationMs: 60_000 },
    { event: 'outage', err, durationMs: 120_000 },
    { event: 'outage', err, durationMs: 129_000 },
    { event: 'outage.ended', durationMs: 130_000 },
    { event: 'outage', err },
  ]);
});

test('while PostgreSQL is away the log has one line for each reason why notifications do not arrive, and the end of the outage', async () => {
  const url = await createDatabaseUntilDone();
  const cable = await Proxy.open(url);
  const service = await npmStart({
    DATABASE_URL: url,
    DATABASE_DIRECT_URL: cable.urlOf(url),
    ADMIN_PASSWORD: 'a pale horse battery staple',
  });
  onTestFinished(() => cable.close());
  await service.ready;
  const linesOf = (wanted: string) => service.log().filter(({ event }) => event === wanted);
  await cable.cut();
  await expect.poll(() => linesOf('outage').length).toBeGreaterThan(0);
  await cable.restore();
  await expect.poll(() => linesOf('outage.ended')).toMatchObject([{ level: 'info', durationMs: expect.any(Number) as number }]);
  const reasons = linesOf('outage').map(({ msg }) => msg);
  expect(new Set(reasons).size).toBe(reasons.length);
  service.signal('SIGTERM');
  await service.ended;
});
