import { beforeAll, describe, expect, test } from 'vitest';
import { cookieOf, useService } from '../support/service.ts';

interface Info {
  profile: { name: string; default: boolean } | null;
  code: string;
}

const service = useService();

describe('selectDefaultProfile', () => {
  beforeAll(async () => {
    const { id } = await service().createUser('ada');
    await service().createProfile(id, 'stock', {});
    await service().createUser('unassigned', null);
  });

  test('200 — selects the default profile under a new token', async () => {
    const away = cookieOf(await service().call('POST', '/auth/profile/stock', { cookie: await service().signIn('ada') }));
    const answer = await service().call<Info>('POST', '/auth/profile', { cookie: away });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body.profile).toMatchObject({ name: 'ada', default: true });
    expect((await service().call('GET', '/auth', { cookie: cookieOf(answer) })).status).toBe(200);
    expect((await service().call('GET', '/auth', { cookie: away })).status).toBe(401);
    expect((await service().call<Info>('GET', '/auth', { cookie: cookieOf(answer) })).body.profile?.name).toBe('ada');
  });

  test('404 — for a user without a default profile, and the session stays', async () => {
    const cookie = await service().signIn('unassigned');
    expect((await service().call('POST', '/auth/profile', { cookie })).status).toBe(404);
    expect((await service().call<Info>('GET', '/auth', { cookie })).body.profile).toBeNull();
  });

  test('409 — a token that a refresh has just replaced switches nothing', async () => {
    const cookie = await service().signIn('ada');
    await service().call('POST', '/auth/refresh', { cookie });
    const answer = await service().call('POST', '/auth/profile', { cookie });
    expect([answer.status, answer.body.code]).toEqual([409, 'refresh-conflict']);
  });
});
