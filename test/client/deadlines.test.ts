/** Ends of a call without an answer of the service: the caller aborts, the time is up, or another server answers. */
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/client/clock.ts';
import { ClientError, resultOf } from '../../src/client/index.ts';
import { clientOf, empty, entity, json, PausingClock, problem, reset, scriptedServer, silence, type Step } from '../support/client.ts';

/** A client of a server with these answers; without repeats by default. */
async function facing(retry: false | undefined, ...steps: Step[]) {
  const clock = new PausingClock();
  const server = await scriptedServer(...steps);
  return { ...server, clock, client: clientOf(server, { clock, ...(retry === false ? { retry } : {}) }) };
}

/** Sends the headers and half of a body. */
const half: Step = (response) =>
  void response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' }).write('{"a":');

describe('the caller', () => {
  test.each<[string, Step]>([
    ['without an answer', silence],
    ['whose answer has begun', half],
  ])('ends a request %s, and the reason is the cause', async (_what, step) => {
    const { client, heard, clock } = await facing(undefined, step);
    const caller = new AbortController();
    const reason = new Error('the user has left the page');
    const call = resultOf(client.entities('note').get('1', { signal: caller.signal }));
    await expect.poll(() => heard.length).toBe(1);
    caller.abort(reason);
    expect(await call).toMatchObject({ ok: false, error: { name: 'ClientError', kind: 'client', reason: 'aborted', cause: reason } });
    expect([heard.length, clock.watched]).toEqual([1, 0]);
  });

  test('sends nothing if the signal is already aborted', async () => {
    const { client, heard } = await facing(undefined, silence);
    const call = client.entities('note').get('1', { signal: AbortSignal.abort() });
    expect(await resultOf(call)).toMatchObject({ ok: false, error: { reason: 'aborted' } });
    expect(heard).toEqual([]);
  });

  test('ends the pause between two attempts', async () => {
    const server = await scriptedServer(problem(503, 'busy', { 'retry-after': '30' }));
    const caller = new AbortController();
    const call = resultOf(clientOf(server).entities('note').get('1', { signal: caller.signal }));
    await expect.poll(() => server.heard.length).toBe(1);
    caller.abort();
    expect(await call).toMatchObject({ ok: false, error: { reason: 'aborted' } });
    expect(server.heard).toHaveLength(1);
  });
});

describe('the time limit', () => {
  test.each<[string, Step]>([
    ['never comes', silence],
    ['stops in the middle', half],
  ])('ends a request whose answer %s', async (_what, step) => {
    const { client, heard, clock } = await facing(false, step);
    const call = resultOf(client.entities('note').get('1'));
    await expect.poll(() => heard.length).toBe(1);
    clock.expire();
    expect(await call).toMatchObject({ ok: false, error: { reason: 'timeout' } });
  });

  test('ends one attempt; a request that may be repeated is repeated', async () => {
    const { client, heard, clock } = await facing(undefined, silence, json(200, entity()));
    const call = client.entities('note').get('1');
    await expect.poll(() => heard.length).toBe(1);
    clock.expire();
    expect(await call).toMatchObject({ key: '1' });
  });

  test('can be set for each call', async () => {
    const clock = new PausingClock(5_000);
    const server = await scriptedServer(silence);
    const call = resultOf(clientOf(server, { clock }).entities('note').get('1', { timeoutMs: 5_000, retry: false }));
    await expect.poll(() => server.heard.length).toBe(1);
    clock.expire();
    expect(await call).toMatchObject({ ok: false, error: { reason: 'timeout' } });
  });

  test('is removed when the request ends', async () => {
    const { client, clock } = await facing(undefined, json(200, entity()));
    await client.entities('note').get('1');
    expect(clock.watched).toBe(0);
  });
});

describe('an answer of another server', () => {
  test.each<[string, Step, number]>([
    ['a page', (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Sign in to the hotel</h1>'), 200],
    ['half a document', (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"key":'), 200],
    ['nothing', empty(200, { 'content-type': 'application/json' }), 200],
    ['a gateway error', (response) => response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>'), 502],
    ['a redirect, which is not followed', empty(302, { location: 'http://127.0.0.1:1/' }), 302],
  ])('is an error of its own: %s', async (_what, step, status) => {
    const { client, heard } = await facing(undefined, step);
    const result = await resultOf(client.entities('note').get('1'));
    expect(result).toMatchObject({ ok: false, error: { reason: 'answer', status } });
    // A gateway error is a broken answer, which is repeated.
    expect(heard).toHaveLength(status === 502 ? 8 : 1);
  });

  test('a connection that breaks is a network error with its cause', async () => {
    const { client } = await facing(false, reset);
    const result = await resultOf(client.entities('note').get('1'));
    expect(result).toMatchObject({ ok: false, error: { reason: 'network', cause: expect.any(TypeError) } });
    expect(!result.ok && result.error).toBeInstanceOf(ClientError);
  });
});

describe('the system clock', () => {
  test('sleeps, and stops sleeping when the signal is aborted', async () => {
    const before = systemClock.now();
    await systemClock.sleep(5, undefined);
    expect(systemClock.now()).toBeGreaterThanOrEqual(before + 4);
    const caller = new AbortController();
    const sleep = systemClock.sleep(60_000, caller.signal);
    caller.abort(new Error('enough'));
    await expect(sleep).rejects.toThrow('enough');
    await expect(systemClock.sleep(60_000, AbortSignal.abort(new Error('over')))).rejects.toThrow('over');
  });
});
