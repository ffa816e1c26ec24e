import Fastify from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import { answerProblems } from '../../src/http/problem.ts';
import { answerInTime } from '../../src/http/deadline.ts';

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
