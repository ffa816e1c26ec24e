import { beforeAll, describe, expect, test } from 'vitest';
import { useService } from '../support/service.ts';

const service = useService();

describe('listProfiles', () => {
  beforeAll(async () => {
    const { id } = await service().createUser('ada', { customer: ['read'] });
    await service().createProfile(id, 'stock', { part: ['read'] });
    await service().createUser('grace', { secret: ['read'] });
    await service().createUser('unassigned', null);
  });

  test('200 — returns only the user’s own profiles, by name, with the default and the active one marked (rule 67)', async () => {
    const cookie = await service().signIn('ada');
    const { status, body } = await service().call('GET', '/auth/profiles', { cookie });
    expect(status).toBe(200);
    expect(body).toEqual({
      profiles: [
        { name: 'ada', label: 'ada', default: true, active: true, roles: ['ada'] },
        { name: 'stock', label: 'stock', default: false, active: false, roles: ['stock'] },
      ],
    });
  });

  test('200 — a user without a profile has an empty list', async () => {
    const { body } = await service().call('GET', '/auth/profiles', { cookie: await service().signIn('unassigned') });
    expect(body).toEqual({ profiles: [] });
  });

  test('401 — no profiles without a credential', async () => {
    expect((await service().call('GET', '/auth/profiles')).status).toBe(401);
  });
});
