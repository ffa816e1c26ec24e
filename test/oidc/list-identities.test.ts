import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import type { components } from '../../generated/api.ts';
import { TestIssuer, writeIssuers } from '../support/issuer.ts';
import { cookieOf, useService } from '../support/service.ts';

type IdentityList = components['schemas']['IdentityList'];

const corp = await TestIssuer.start('corp');
const service = useService({ ISSUERS_FILE: await writeIssuers(await corp.loginEntry({ label: 'Corporate login' })) });
const list = (cookie: string) => service().call<IdentityList>('GET', '/auth/identities', { cookie });

beforeAll(async () => {
  for (const name of ['ada', 'bob']) await service().createUser(name);
});

describe('listIdentities', () => {
  test('200 — returns the user’s links, the newest first, with the id and label of their issuers (rule 56)', async () => {
    await service().link(corp, 'alice', 'ada');
    await service().link({ url: 'https://gone.example.com' }, 'a-1', 'ada');
    await service().link(corp, 'bob', 'bob');
    await sql`update identity set created_at = '2026-11-20T08:00:00Z' where subject = 'alice'`.execute(service().db);
    const answer = await list(await service().signIn('ada'));
    expect(answer.status, answer.text).toBe(200);
    const id = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/) as string;
    expect(answer.body.identities).toEqual([
      {
        id,
        issuer: 'https://gone.example.com',
        issuerId: null,
        label: null,
        subject: 'a-1',
        linkedAt: expect.any(String) as string,
        current: false,
      },
      {
        id,
        issuer: corp.url,
        issuerId: 'corp',
        label: 'Corporate login',
        subject: 'alice',
        linkedAt: '2026-11-20T08:00:00.000Z',
        current: false,
      },
    ]);
  });

  test('200 — marks the link through which the calling session was opened, also by a token', async () => {
    const { id } = await service().createUser('carol');
    for (const subject of ['carol-1', 'carol-2']) await service().link(corp, subject, 'carol');
    const access_token = await corp.mint({ claims: { sub: 'carol-1' } });
    const opened = await service().call('POST', '/auth', { form: { oidcIssuer: 'corp', access_token } });
    const current = async (cookie: string) =>
      (await list(cookie)).body.identities.filter((identity) => identity.current).map(({ subject }) => subject);
    expect(await current(cookieOf(opened))).toEqual(['carol-1']);
    expect(await current(await service().openSession(id))).toEqual([]);
  });

  test('200 — a user without links has an empty list', async () => {
    const { id } = await service().createUser('dora');
    expect((await list(await service().openSession(id))).body).toEqual({ identities: [] });
  });

  test('403 — an API key and a bearer token, which are not sessions (rule 59)', async () => {
    const { id } = await service().createUser('emil');
    await service().link(corp, 'emil', 'emil');
    expect((await list(await service().openSession(id))).status).toBe(200);
    for (const headers of [
      { 'x-api-key': await service().createKey(id) },
      { authorization: `Bearer ${await corp.mint({ claims: { sub: 'emil' } })}` },
    ] as Record<string, string>[]) {
      expect(await service().call('GET', '/auth/identities', { headers })).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    }
  });
});
