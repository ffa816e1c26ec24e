/** The failover drill takes credentials away while the services still answer 503 now and then. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { createDatabase } from '../support/database.ts';
import { TestService } from '../support/service.ts';
import { makeCallers } from './callers.ts';
import { Revocation } from './failover/revocations.ts';

const problem = (code: string) => JSON.stringify({ type: 'about:blank', title: code, status: 503, detail: code, code });

/** A way to the service on which of three requests one is 503, one is carried out and then 503 with an unknown outcome, and one is served. */
async function openUnreliable(target: string): Promise<{ url: string; failed: () => number }> {
  let [count, failed] = [0, 0];
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const way = count++ % 3;
    const fail = (code: string) => {
      failed++;
      response.writeHead(503, { 'content-type': 'application/problem+json', 'retry-after': '1', 'problem-code': code }).end(problem(code));
    };
    const { host: _host, connection: _connection, ...headers } = request.headers as Record<string, string>;
    const body = await buffer(request);
    if (way === 0) return fail('unavailable');
    const answer = await fetch(target + request.url, { method: request.method ?? 'GET', headers, ...(body.length > 0 && { body }) });
    const text = await answer.text();
    if (way === 1) return fail('outcome-unknown');
    const cookies = answer.headers.getSetCookie();
    const kept = ['content-type', 'problem-code'].flatMap((name) =>
      answer.headers.has(name) ? [[name, answer.headers.get(name) ?? '']] : [],
    );
    response.writeHead(answer.status, { ...Object.fromEntries(kept), 'set-cookie': cookies }).end(text);
  };
  const server = createServer((request, response) => void serve(request, response));
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://localhost:${(server.address() as AddressInfo).port}`, failed: () => failed };
}

test('a logout, a revoked key and a changed password count as done although requests of the drill meet 503', async () => {
  const database = await createDatabase();
  const service = await TestService.start({}, database);
  onTestFinished(() => service.close());
  const callers = await makeCallers(database.url, { users: 1, spare: 2 });
  const ways = [await openUnreliable(service.url), await openUnreliable(service.url)] as const;
  const revocation = await Revocation.make([ways[0].url, ways[1].url], 'spare-0', callers);
  expect(await revocation.accepted()).toEqual([]);
  expect(await revocation.violations()).toEqual([]);
  expect(Math.min(...ways.map(({ failed }) => failed()))).toBeGreaterThan(3);

  // What comes back is seen.
  const { db } = service;
  await sql`update api_key set revoked_at = null where name = 'revoked'`.execute(db);
  expect(await revocation.accepted()).toContain('spare-0: a revoked credential gets ok');
});
