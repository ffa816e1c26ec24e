/** The kinds of authentication, for a program in Node. */
import { password, useService } from '../support/service.ts';
import { beforeAll, describe, expect, test } from 'vitest';
import { ClientError, EntityServiceClient, resultOf } from '../../src/client/index.ts';
import { clientOf } from '../support/client.ts';
import { TestIssuer, writeIssuers } from '../support/issuer.ts';

const corp = await TestIssuer.start('corp');
const service = useService({ ISSUERS_FILE: await writeIssuers(corp.entry()) });
let userId: string;

beforeAll(async () => {
  userId = (await service().createUser('ada')).id;
  await service().createProfile(userId, 'reader', { note: ['read'] });
  await service().link(corp, 'alice', 'ada');
});

describe('a session', () => {
  test('by password: the cookie is stored and sent, and is removed at the end of the session', async () => {
    const client = clientOf(service());
    expect(await client.createSession({ user: 'ada', password, locale: 'de' })).toMatchObject({ user: { name: 'ada' }, locale: 'de' });
    const info = await client.getSession({ roles: true, profiles: true });
    expect(info).toMatchObject({
      authentication: { method: 'password' },
      roles: [{ name: 'ada' }],
      profiles: [{ name: 'ada' }, { name: 'reader' }],
    });
    await client.endSession();
    expect(await resultOf(client.getSession())).toMatchObject({ ok: false, error: { code: 'unauthenticated', status: 401 } });
    await client.endSession();
  });

  test('by the access token of an issuer', async () => {
    const client = clientOf(service());
    const { accessToken } = await corp.signIn('alice');
    const info = await client.createSession({ oidcIssuer: 'corp', access_token: accessToken });
    expect(info).toMatchObject({ user: { name: 'ada' }, authentication: { method: 'token', issuer: corp.url } });
    expect((await client.entities('note').create({})).createdBy).toBe('ada');
  });

  test('refused: a wrong password is an error with a code, and there is no session', async () => {
    const client = clientOf(service());
    expect(await resultOf(client.createSession({ user: 'ada', password: 'wrong' }))).toMatchObject({
      ok: false,
      error: { code: 'invalid-credentials' },
    });
    expect(await resultOf(client.getSession())).toMatchObject({ ok: false, error: { status: 401 } });
  });

  test('selects another profile, lists sessions, changes the password and creates keys', async () => {
    await service().createUser('grace');
    const client = clientOf(service());
    await client.createSession({ user: 'grace', password });
    expect(await client.listProfiles()).toMatchObject({ profiles: [{ name: 'grace', active: true }] });
    expect(await client.selectProfile('grace')).toMatchObject({ profile: { name: 'grace' } });
    expect(await client.selectDefaultProfile()).toMatchObject({ profile: { name: 'grace' } });
    expect(await resultOf(client.selectProfile('reader'))).toMatchObject({ ok: false, error: { code: 'not-found' } });

    const other = clientOf(service());
    await other.createSession({ user: 'grace', password });
    const { sessions } = await client.listSessions();
    expect(sessions.map(({ current }) => current)).toEqual([false, true]);
    await client.revokeSession(sessions[0]?.id ?? '');
    expect(await resultOf(other.getSession())).toMatchObject({ ok: false });
    expect(await client.revokeOtherSessions()).toEqual({ ended: 0 });

    const next = 'seven quiet lanterns drift north';
    await client.changePassword({ current: password, next });
    await other.createSession({ user: 'grace', password: next });

    const made = await client.createKey({ name: 'report', scopes: [{ entity: 'note', actions: ['read'] }] });
    const rotated = await client.rotateKey(made.id, { overlapSeconds: 0 });
    expect((await client.listKeys()).keys.map(({ id }) => id)).toEqual([rotated.id]);
    expect((await clientOf(service(), { credential: { apiKey: rotated.key } }).getSession()).user.name).toBe('grace');
    await client.revokeKey(rotated.id);
    expect(await client.listKeys()).toEqual({ keys: [] });
  });
});

describe('an API key', () => {
  test('acts without a session, and is never sent with a sign-in form', async () => {
    const client = clientOf(service(), { credential: { apiKey: await service().createKey(userId) } });
    expect(await client.getSession()).toMatchObject({ user: { name: 'ada' }, session: null, authentication: { method: 'api-key' } });
    const note = await client.entities('note').create({ text: 'by key' });
    await client.entities('note').delete(note);
    await expect(client.createSession({ user: 'ada', password })).rejects.toThrow(TypeError);
  });

  test('that is wrong is 401', async () => {
    const client = clientOf(service(), { credential: { apiKey: `esk_${'0'.repeat(12)}_${'0'.repeat(49)}` } });
    expect(await resultOf(client.getSession())).toMatchObject({ ok: false, error: { status: 401 } });
  });
});

describe('an access token', () => {
  test('as text, and from a function that is called each time', async () => {
    const { accessToken } = await corp.signIn('alice');
    const byText = clientOf(service(), { credential: { bearer: accessToken } });
    expect(await byText.getSession()).toMatchObject({ user: { name: 'ada' }, authentication: { method: 'bearer' } });
    let asked = 0;
    const byFunction = clientOf(service(), { credential: { bearer: async () => ((asked += 1), accessToken) } });
    await byFunction.getSession();
    await byFunction.entities('note').create({});
    expect(asked).toBe(2);
  });

  test('that its function cannot return is an error of the client, and nothing is sent', async () => {
    const cause = new Error('the issuer is down');
    const client = clientOf({ url: 'http://127.0.0.1:1' }, { credential: { bearer: () => Promise.reject(cause) } });
    const result = await resultOf(client.getSession());
    expect(result).toMatchObject({ ok: false, error: { reason: 'credential', cause } });
    expect(!result.ok && result.error).toBeInstanceOf(ClientError);
  });
});

test.each(['ftp://localhost', 'http://ada:secret@localhost', 'http://localhost/?x=1', 'nowhere'])(
  'the base URL %s is a TypeError',
  (baseUrl) => {
    expect(() => new EntityServiceClient({ baseUrl })).toThrow(TypeError);
  },
);
