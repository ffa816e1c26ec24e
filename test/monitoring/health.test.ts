/** What a flood of health checks costs the database (rule 92). */
import Fastify from 'fastify';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { serveHealth } from '../../src/monitoring/health.ts';
import { useService } from '../support/service.ts';

const service = useService();
afterEach(() => void vi.useRealTimers());

test('200 — checks of readiness within 200 ms share one look at the database, and a stop counts at once (rule 92)', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  let statements = 0;
  const db = service().db.withPlugin({
    transformQuery: ({ node }) => {
      statements += 1;
      return node;
    },
    transformResult: ({ result }) => Promise.resolve(result),
  });
  const app = Fastify();
  onTestFinished(() => app.close());
  serveHealth(app, { store: { ...service().store, db } });
  const check = async (count: number) => {
    statements = 0;
    const answers = await Promise.all(Array.from({ length: count }, () => app.inject('/health/ready')));
    return [new Set(answers.map(({ statusCode }) => statusCode)), statements];
  };
  const [, ofOne] = await check(1);
  expect(ofOne).toBeGreaterThan(0);
  vi.advanceTimersByTime(199);
  expect(await check(50)).toEqual([new Set([200]), 0]);
  vi.advanceTimersByTime(1);
  expect(await check(50)).toEqual([new Set([200]), ofOne]);
  app.stopping = true;
  const stopped = await app.inject('/health/ready');
  expect(stopped.statusCode).not.toBe(200);
});
