import { setImmediate } from 'node:timers/promises';
import Fastify, { LogController } from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import { answerProblems } from '../../src/http/problem.ts';
import { answerInTime } from '../../src/http/deadline.ts';
import { resultInTime } from '../../src/http/late-work.ts';
import { Problem } from '../../src/problems/errors.ts';

const never = () => new Promise<never>(() => undefined);

/** A server whose handlers have one second. Those under `/never` do not end. */
async function serve(): Promise<string> {
  const app = Fastify();
  answerProblems(
    app,
    new URL('http://localhost'),
    () => undefined,
    async () => undefined,
  );
  answerInTime(app, 1_000);
  app.get('/at-once', async () => ({ done: true }));
  app.get('/never', never);
  app.post('/never', never);
  app.get('/held', { onSend: (_request, _reply, _payload, done) => void setTimeout(done, 2_500) }, async () => ({ done: true }));
  app.get('/half', (_request, reply) => {
    reply.raw.write('half');
    return never();
  });
  onTestFinished(async () => {
    app.server.closeAllConnections();
    await app.close();
  });
  return app.listen({ host: '127.0.0.1', port: 0 });
}

test('503 — outcome-unknown from a handler that does not end, with and without a body (rule 80)', async () => {
  const address = await serve();
  expect((await fetch(`${address}/at-once`)).status).toBe(200);
  for (const init of [{}, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }]) {
    const answer = await fetch(`${address}/never`, init);
    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({ code: 'outcome-unknown' });
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  }
});

test('a reply in its onSend hook at the deadline gets no second answer, which would end the process (rule 80)', async () => {
  const address = await serve();
  await expect(fetch(`${address}/held`)).rejects.toThrow();
  expect((await fetch(`${address}/at-once`)).status).toBe(200);
});

test('an answer that has begun and does not end is cut off (rule 80)', async () => {
  const answer = await fetch(`${await serve()}/half`);
  await expect(answer.text()).rejects.toThrow();
});

test('503 — a reused slot delays no request and answers no other request (rule 80)', async () => {
  const address = await serve();
  const statusesOf = async (path: string, times: number) => {
    const answers = await Promise.all(Array.from({ length: times }, () => fetch(`${address}${path}`)));
    return answers.map(({ status }) => status);
  };
  const hanging = statusesOf('/never', 8);
  for (let round = 0; round < 5; round += 1) expect(await statusesOf('/at-once', 4)).toEqual([200, 200, 200, 200]);
  const later = statusesOf('/never', 8);
  expect(await statusesOf('/at-once', 4)).toEqual([200, 200, 200, 200]);
  expect(new Set([...(await hanging), ...(await later)])).toEqual(new Set([503]));
  expect(await statusesOf('/at-once', 4)).toEqual([200, 200, 200, 200]);
});

test.each([
  ['an answer', async () => ({ done: true }), []],
  ['a refusal', () => Promise.reject(new Problem('not-found')), []],
  ['an outage', () => Promise.reject(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })), []],
  ['a bug', () => Promise.reject(new TypeError('a bug')), ['fault']],
])('a request beyond its limit of time has one line in the log, also when %s comes later (rule 80)', async (_what, end, more) => {
  const lines: { event?: string; msg?: string; err?: { message: string } }[] = [];
  const app = Fastify({
    logger: { stream: { write: (line: string) => lines.push(JSON.parse(line) as object) } },
    logController: new LogController({ disableRequestLogging: true }),
  });
  answerProblems(
    app,
    new URL('http://localhost'),
    () => undefined,
    async () => undefined,
  );
  answerInTime(app, 100);
  const [ended, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  app.get('/late', async (request, reply) => {
    const work = async (): Promise<object> => {
      await ended.promise;
      return await end();
    };
    const output = await resultInTime(request, reply, work).finally(over.resolve);
    return output ?? reply;
  });
  const answer = await fetch(`${await app.listen({ host: '127.0.0.1', port: 0 })}/late`);
  expect([answer.status, await answer.json()]).toMatchObject([503, { code: 'outcome-unknown' }]);
  ended.resolve();
  await over.promise;
  await setImmediate();
  const [first, ...others] = lines.filter(({ msg }) => !msg?.startsWith('Server listening'));
  expect([first?.event, ...others.map(({ event }) => event)]).toEqual(['outage', ...more]);
  expect(first?.err?.message).toBe('no answer in time');
  app.server.closeAllConnections();
  await app.close();
});
