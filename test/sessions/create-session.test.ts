import { beforeAll, describe, expect, test } from 'vitest';
import { cookieOf, password, useService } from '../support/service.ts';

const service = useService();

describe('createSession', () => {
  beforeAll(async () => {
    await service().createUser('ada');
  });

  test('200 — opens a session and says who signed in', async () => {
    const answer = await service().call<{ user: unknown; locale: string }>('POST', '/auth', {
      form: { user: 'ada', password, locale: 'de-at' },
    });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body).toMatchObject({
      user: { name: 'ada', displayName: 'ada' },
      locale: 'de-AT',
      profile: { name: 'ada', default: true },
    });
    const again = await service().call('GET', '/auth', { cookie: cookieOf(answer) });
    expect(again.status).toBe(200);
  });

  test('401 — a wrong password and an unknown user get the same answer (rule 42)', async () => {
    const wrong = await service().call('POST', '/auth', { form: { user: 'ada', password: 'not the password at all' } });
    const unknown = await service().call('POST', '/auth', { form: { user: 'nobody', password: 'not the password at all' } });
    expect(wrong.status).toBe(401);
    expect({ ...unknown.body, instance: '' }).toEqual({ ...wrong.body, instance: '' });
  });
});
