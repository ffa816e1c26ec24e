/**
 * Requests of a careless or hostile program: each gets its problem, none gets a 500, and nothing is done. The program uses the client where
 * the client allows the request, and writes the other requests itself.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import { ApiError, resultOf, type EntityServiceClient, type SignIn } from '../../src/client/index.ts';
import { clientOf } from '../support/client.ts';
import { rowsOf, seed } from '../support/entities.ts';
import { sendBytes, sendRequest } from '../support/raw.ts';
import { password, useService, type Call } from '../support/service.ts';

const service = useService();
let cookie: string;
let key: string;
/** The client of Ada, with a session. */
let client: EntityServiceClient;

beforeAll(async () => {
  const { id } = await service().createUser('ada');
  cookie = await service().openSession(id);
  key = await service().createKey(id);
  client = clientOf(service());
  await client.createSession({ user: 'ada', password });
  // The neighbours that a rounded key would address.
  for (const neighbour of ['9007199254740992', '9007199254740994', '1', '16', '1000']) await seed(service(), 'note', neighbour, {}, 'ada');
});

const form = (text: string): Call => ({ raw: text, headers: { 'content-type': 'application/x-www-form-urlencoded' } });
const json = (raw: string): Call => ({ raw, headers: { 'content-type': 'application/json' } });
const login = `user=ada&password=${encodeURIComponent(password)}`;
const deep = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;

type Case = [what: string, method: string, path: string, call: Call, status: number, code: string, fault?: object];

const cases: Case[] = [
  ['a repeated form field', 'POST', '/auth', form(`${login}&user=eve`), 400, 'malformed-request', { pointer: '/user', code: 'repeated' }],
  ['a form field called __proto__', 'POST', '/auth', form(`${login}&__proto__=1`), 400, 'malformed-request', { pointer: '/__proto__' }],
  [
    'a badly escaped form field',
    'POST',
    '/auth',
    form('user=%zz&password=x'),
    400,
    'malformed-request',
    { pointer: '/user', code: 'invalid-encoding' },
  ],
  ['a form field of invalid UTF-8', 'POST', '/auth', form('user=%ff&password=x'), 400, 'malformed-request', { pointer: '/user' }],
  ['JSON to a form endpoint', 'POST', '/auth/password', { json: { 'current-password': password } }, 415, 'unsupported-media-type'],
  ['a form to a JSON endpoint', 'POST', '/rest/entity/note', form('a=1'), 415, 'unsupported-media-type'],
  ['no body for the form endpoint', 'POST', '/auth', {}, 400, 'malformed-request', { pointer: '', code: 'required' }],
  ['no body for a JSON endpoint', 'POST', '/rest/entity/note', {}, 400, 'malformed-request', { pointer: '', code: 'required' }],
  ['a form of 9 KB', 'POST', '/auth', form(`${login}&locale=${'x'.repeat(9_000)}`), 413, 'content-too-large'],
  ['half a login', 'POST', '/auth', form('user=ada'), 400, 'malformed-request', { pointer: '/password', code: 'required' }],
  ['roles=2', 'GET', '/auth?roles=2', {}, 400, 'malformed-request', { parameter: 'roles' }],
  ['roles twice', 'GET', '/auth?roles=1&roles=1', {}, 400, 'malformed-request', { parameter: 'roles', code: 'repeated' }],
  ['logout by GET', 'GET', '/auth?logout=1', {}, 400, 'malformed-request', { parameter: 'logout', code: 'unknown' }],
  ['a string as entity', 'POST', '/rest/entity/note', { json: 'text' }, 422, 'validation-failed', { pointer: '', code: 'invalid-type' }],
  ['JSON 100,000 levels deep', 'POST', '/rest/entity/note', json(deep(100_000)), 400, 'malformed-request', { code: 'too-deep' }],
  ['100,000 brackets', 'POST', '/rest/entity/note', json('['.repeat(100_000)), 400, 'malformed-request', { code: 'too-deep' }],
  ['credentials by Basic', 'GET', '/auth', { headers: { authorization: 'Basic YWRhOmFkYQ==' } }, 401, 'invalid-token'],
];

type Ask = () => Promise<unknown>;
const nested = (depth: number): object => (depth === 0 ? {} : { a: nested(depth - 1) });
const notes = (name = 'note') => client.entities<object>(name);
/** On a client of their own, which has no session. */
const signIn = (form: SignIn) => clientOf(service()).createSession(form);
const surplus = { user: 'ada', password, admin: '1' };

const throughTheClient: [what: string, ask: Ask, status: number, code: string, fault?: object][] = [
  ['an unknown member of a sign-in', () => signIn(surplus), 422, 'validation-failed', { pointer: '/admin', code: 'unknown' }],
  ['a NUL in a member of a sign-in', () => signIn({ user: 'a\0b', password: 'x' }), 400, 'malformed-request', { pointer: '/user' }],
  [
    'both ways of signing in',
    () => signIn({ user: 'ada', password, oidcIssuer: 'corp' }),
    422,
    'validation-failed',
    { pointer: '/user', code: 'conflicting' },
  ],
  ['an invalid locale', () => signIn({ user: 'ada', password, locale: 'en_US!' }), 422, 'validation-failed', { pointer: '/locale' }],
  ['a key past 2^53', () => notes().get('9007199254740993'), 404, 'not-found'],
  ['deleting a key past 2^53', () => notes().delete('9007199254740993'), 404, 'not-found'],
  ['the key 1e3', () => notes().delete('1e3'), 400, 'invalid-key', { parameter: 'key' }],
  ['the key 0x10', () => notes().delete('0x10'), 400, 'invalid-key', { parameter: 'key' }],
  ['the key 01', () => notes().delete('01'), 400, 'invalid-key', { parameter: 'key' }],
  ['a key of 20 digits', () => notes().delete('10000000000000000001'), 400, 'invalid-key', { parameter: 'key' }],
  ['a name with a slash', () => notes('no/te').create({}), 400, 'malformed-request', { parameter: 'name' }],
  ['a name of 65 letters', () => notes('x'.repeat(65)).create({}), 400, 'malformed-request', { parameter: 'name' }],
  ['a name of 1,000 letters', () => notes('x'.repeat(1_000)).create({}), 414, 'uri-too-long'],
  ['an array as entity', () => notes().create([]), 422, 'validation-failed', { pointer: '', code: 'invalid-type' }],
  ['2 MB of JSON', () => notes().create({ a: 'x'.repeat(2_000_000) }), 413, 'content-too-large'],
  ['JSON 500 levels deep', () => notes().create(nested(500)), 400, 'malformed-request', { code: 'too-deep' }],
  ['a malformed API key', () => clientOf(service(), { credential: { apiKey: "' or 1=1 --" } }).getSession(), 401, 'unauthenticated'],
  ['a bearer token of 9 KB', () => clientOf(service(), { credential: { bearer: 'x'.repeat(9_000) } }).getSession(), 401, 'invalid-token'],
];

describe('bad input', () => {
  test.for(throughTheClient)('%s, through the client', async ([, ask, status, code, fault]) => {
    const before = await rowsOf(service(), 'note');
    const result = await resultOf(ask());
    if (result.ok || !(result.error instanceof ApiError)) return expect.fail('the request was not refused');
    const { error } = result;
    expect(error).toMatchObject({ status, code });
    if (fault) expect(error.errors[0]).toMatchObject(fault);
    expect(await rowsOf(service(), 'note')).toEqual(before);
  });

  test.for(cases)('%s', async ([, method, path, call, status, code, fault]) => {
    const before = await rowsOf(service(), 'note');
    const answer = await service().call(method, path, { cookie, ...call });
    expect(answer.status, answer.text.slice(0, 300)).toBe(status);
    expect(answer.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
    expect(answer.body.code).toBe(code);
    if (fault) expect(answer.body.errors?.[0]).toMatchObject(fault);
    expect(await rowsOf(service(), 'note')).toEqual(before);
  });

  test('a cookie of 8 KB of garbage is no credential, also beside a valid one of another name', async () => {
    const garbage = Array.from({ length: 8_000 }, (_, index) => String.fromCharCode(33 + ((index * 7) % 90))).join('');
    for (const carried of [garbage, `sid=${garbage}`, `sid=${garbage.replaceAll(';', '')}; other=1`, `a=${garbage}; sid; =; ;;;`]) {
      const answer = await sendRequest(service().url, 'GET', '/auth', ['cookie', carried]);
      expect(answer.status).toBe(401);
      expect(JSON.parse(answer.text)).toMatchObject({ code: 'unauthenticated' });
    }
  });

  test('two API keys are refused, even when they are equal', async () => {
    for (const second of [key, key.toLowerCase()]) {
      const answer = await sendRequest(service().url, 'GET', '/auth', ['x-api-key', key, 'X-API-Key', second]);
      expect(answer.status).toBe(400);
      expect(JSON.parse(answer.text)).toMatchObject({ code: 'ambiguous-credentials' });
    }
    expect((await sendRequest(service().url, 'GET', '/auth', ['x-api-key', key])).status).toBe(200);
  });

  test('a request smuggled behind another is not read: the first has two lengths, so the connection ends', async () => {
    const inner = 'GET /auth HTTP/1.1\r\nHost: x\r\n\r\n';
    const outer = `POST /auth HTTP/1.1\r\nHost: x\r\nContent-Length: ${inner.length}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${inner}`;
    const answer = await sendBytes(service().url, outer);
    expect(answer.status).toBe(400);
    expect(answer.headers['connection']).toBe('close');
    expect(answer.text.match(/HTTP\/1\.1/g)).toBeNull();
  });

  test('the service still works afterwards', async () => {
    expect((await client.getSession()).user.name).toBe('ada');
    expect((await signIn({ user: 'ada', password })).user.name).toBe('ada');
  });
});
