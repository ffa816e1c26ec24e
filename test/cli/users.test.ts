import { userInfo } from 'node:os';
import { beforeAll, describe, expect, test } from 'vitest';
import { AdminCommand } from '../support/admin.ts';
import { password, useService } from '../support/service.ts';

interface UserDocument {
  name: string;
  displayName: string;
  locale: string | null;
  active: boolean;
  profiles: { name: string; default: boolean }[];
  changed: boolean;
  password?: string;
  endedSessions?: number;
}

const service = useService();
let admin: AdminCommand;

beforeAll(() => {
  admin = new AdminCommand(service().databaseUrl);
});

async function signsIn(user: string, secret: string): Promise<number> {
  return (await service().call('POST', '/auth', { form: { user, password: secret } })).status;
}

async function isSignedIn(cookie: string): Promise<boolean> {
  await service().settle();
  return (await service().call('GET', '/auth', { cookie })).status === 200;
}

async function events(user: string): Promise<[string, Record<string, unknown>][]> {
  const rows = await service()
    .db.selectFrom('audit_event')
    .where('user_name', '=', user)
    .select(['event', 'detail'])
    .orderBy('id')
    .execute();
  return rows.filter(({ detail }) => detail['by'] === 'administrator').map(({ event, detail }) => [event, detail]);
}

describe('user update', () => {
  test('changes the display name with the next request, and the locale of new sessions', async () => {
    await service().createUser('ylva');
    const cookie = await service().signIn('ylva');
    const shown = async (by: string) => {
      await service().settle();
      return (await service().call<{ user: { displayName: string }; locale: string }>('GET', '/auth', { cookie: by })).body;
    };
    const changed = await admin.json<UserDocument>(['user', 'update', 'Ylva', '--display-name', 'Ylva Léa', '--locale', 'fr-ch']);
    expect(changed).toMatchObject({ name: 'ylva', displayName: 'Ylva Léa', locale: 'fr-CH', changed: true });
    expect(await shown(cookie)).toMatchObject({ user: { displayName: 'Ylva Léa' }, locale: 'en' });
    expect(await shown(await service().signIn('ylva'))).toMatchObject({ locale: 'fr-CH' });
    expect(await admin.say(['user', 'update', 'ylva', '--locale', 'fr-CH'])).toBe('Unchanged: ylva.\n');
    expect(await admin.json(['user', 'update', 'ylva', '--no-locale'])).toMatchObject({
      locale: null,
      displayName: 'Ylva Léa',
      changed: true,
    });
    expect((await events('ylva')).map(([event, { displayName, locale }]) => ({ event, displayName, locale }))).toEqual([
      { event: 'user.updated', displayName: 'Ylva Léa', locale: 'fr-CH' },
      { event: 'user.updated', displayName: undefined, locale: null },
    ]);
    expect(await admin.refusal(['user', 'update', 'nobody', '--no-locale'])).toBe('there is no user called "nobody"');
  });
});

describe('user create', () => {
  test('a user signs in with the password from standard input, without one newline at its end', async () => {
    const words = ['user', 'create', 'Ada', '--display-name', 'Ada Lovelace', '--locale', 'de-at', '--password-stdin'];
    const created = await admin.json<UserDocument>(words, ' a late horse battery staple\n\n');
    expect(created).toMatchObject({ name: 'ada', displayName: 'Ada Lovelace', locale: 'de-AT', active: true, profiles: [], changed: true });
    expect(created).not.toHaveProperty('password');
    expect(await signsIn('ada', ' a late horse battery staple\n')).toBe(200);
    expect(await signsIn('ada', ' a late horse battery staple')).toBe(401);
    expect(await events('ada')).toEqual([['user.created', { by: 'administrator', via: 'cli', actor: userInfo().username }]]);
  });

  test('without a terminal and without --password-stdin a password is generated, and shown once', async () => {
    const { password: generated = '', displayName } = await admin.json<UserDocument>(['user', 'create', 'Bob']);
    expect(displayName).toBe('Bob');
    expect(await signsIn('bob', generated)).toBe(200);
    expect(await admin.say(['user', 'list'])).not.toContain(generated);
    const [, shown = ''] =
      /^Created the user carla\. The password, shown this once:\n\n {2}(\S+)\n/.exec(await admin.say(['user', 'create', 'carla'])) ?? [];
    expect(await signsIn('carla', shown)).toBe(200);
  });

  test('an existing name, in any case, is refused before a password is read', async () => {
    await service().createUser('dora', null);
    expect(await admin.refusal(['user', 'create', 'DORA', '--password-stdin'], 'short')).toBe('there is already a user called "dora"');
    expect(await signsIn('dora', password)).toBe(200);
  });

  test('a password that the policy refuses creates no user (rule 34)', async () => {
    expect(await admin.refusal(['user', 'create', 'emil', '--password-stdin'], 'short')).toMatch(
      /the password is refused: .*too short.*15/,
    );
    const withName = await admin.refusal(['user', 'create', 'emilemilemilia', '--password-stdin'], 'emilemilemilia!');
    expect(withName).toMatch(/the password is refused: .*name/);
    expect(await admin.say(['user', 'list'])).not.toContain('emil');
  });

  test('a password that is not UTF-8 is refused, and one on the command line is wrong usage', async () => {
    const invalid = Buffer.from([...Buffer.from('a long enough password '), 0xff]);
    const refused = await admin.refusal(['user', 'create', 'gina', '--password-stdin'], invalid);
    expect(refused).toBe('the password on standard input is not UTF-8');
    expect(await admin.refusal(['user', 'create', 'gina', '--password', 'a long enough password'], '', 2)).toContain(
      "unknown option '--password'",
    );
  });
});

describe('user disable, enable', () => {
  test('a disabled user is signed out at once and cannot sign in, and the former sessions stay ended (rules 14 and 59)', async () => {
    await service().createUser('hana');
    const cookie = await service().signIn('hana');
    const { key } = await admin.json<{ key: string }>(['key', 'create', 'hana', '--name', 'script']);
    const byKey = () => service().call('GET', '/auth', { headers: { 'x-api-key': key } });
    expect(await isSignedIn(cookie)).toBe(true);
    expect((await byKey()).status).toBe(200);

    const disabled = await admin.json<UserDocument>(['user', 'disable', 'hana']);
    expect(disabled).toMatchObject({ name: 'hana', active: false, changed: true, endedSessions: 1 });
    expect(await isSignedIn(cookie)).toBe(false);
    expect((await byKey()).status).toBe(401);
    expect(await signsIn('hana', password)).toBe(401);
    expect(await admin.say(['user', 'disable', 'hana'])).toBe('hana was disabled already.\n');

    expect(await admin.say(['user', 'enable', 'Hana'])).toMatch(/^Enabled hana\. API keys work again: \w{12}\.\n$/);
    expect(await isSignedIn(cookie)).toBe(false);
    expect((await byKey()).status).toBe(200);
    expect(await signsIn('hana', password)).toBe(200);
    expect(await admin.json(['user', 'enable', 'hana'])).toMatchObject({ active: true, changed: false });
    expect((await events('hana')).map(([event]) => event)).toEqual(['api_key.created', 'user.disabled', 'user.enabled']);
  });
});

describe('user unlock', () => {
  test('a throttled user can sign in again at once (rule 39)', async () => {
    await service().createUser('igor', null);
    for (let guess = 0; guess < 5; guess++) expect(await signsIn('igor', `guess number ${guess} of igor`)).toBe(401);
    await service()
      .db.updateTable('login_attempt')
      .set({ blocked_until: new Date(Date.now() + 900_000) })
      .where('kind', '=', 'account')
      .where('failures', '>=', 5)
      .execute();
    expect(await signsIn('igor', password)).toBe(429);
    expect(await admin.say(['user', 'unlock', 'igor'])).toBe('Unlocked igor.\n');
    expect(await signsIn('igor', password)).toBe(200);
    expect(await admin.json(['user', 'unlock', 'igor'])).toMatchObject({ name: 'igor', changed: false });
    expect((await events('igor')).map(([event]) => event)).toEqual(['user.unlocked']);
  });
});

describe('user set-password', () => {
  test('the new password is accepted, the old one refused, and all sessions have ended (rules 14 and 44)', async () => {
    await service().createUser('jana', null);
    const cookies = [await service().signIn('jana'), await service().signIn('jana')];
    const next = 'an early horse battery staple';
    const set = await admin.json<UserDocument>(['user', 'set-password', 'jana', '--password-stdin'], `${next}\r\n`);
    expect(set).toMatchObject({ name: 'jana', endedSessions: 2 });
    expect(set).not.toHaveProperty('password');
    for (const cookie of cookies) expect(await isSignedIn(cookie)).toBe(false);
    expect(await signsIn('jana', password)).toBe(401);
    expect(await signsIn('jana', next)).toBe(200);
    expect(await events('jana')).toEqual([
      ['password.changed', { by: 'administrator', via: 'cli', actor: userInfo().username, endedSessions: 2 }],
    ]);
    const [, generated = ''] = /\n {2}(\S+)\n/.exec(await admin.say(['user', 'set-password', 'jana'])) ?? [];
    expect(await signsIn('jana', generated)).toBe(200);
  });

  test('a password that the policy refuses changes nothing', async () => {
    await service().createUser('kira', null);
    const cookie = await service().signIn('kira');
    expect(await admin.refusal(['user', 'set-password', 'kira', '--password-stdin'], 'short')).toContain('the password is refused');
    expect(await isSignedIn(cookie)).toBe(true);
    expect(await signsIn('kira', password)).toBe(200);
  });
});

describe('user profile add, remove', () => {
  test('the first profile becomes the default, --default moves it, and the default is removed last', async () => {
    const { id } = await service().createUser('lena', null);
    const { id: other } = await service().createUser('mats', null);
    await service().createProfile(other, 'field', { note: ['read'] });
    await service().createProfile(other, 'office', { note: ['read', 'create'] });
    const cookie = await service().signIn('lena');
    const add = (...words: string[]) => admin.json<UserDocument>(['user', 'profile', 'add', 'lena', ...words]);
    expect((await add('field')).profiles).toEqual([{ name: 'field', default: true }]);
    expect((await add('office')).profiles).toEqual([
      { name: 'field', default: true },
      { name: 'office', default: false },
    ]);
    expect(await add('field')).toMatchObject({ changed: false });
    expect((await add('office', '--default')).profiles).toEqual([
      { name: 'field', default: false },
      { name: 'office', default: true },
    ]);
    await service().settle();
    expect((await service().call('POST', '/auth/profile', { cookie })).body).toMatchObject({ profile: { name: 'office' } });

    expect(await admin.refusal(['user', 'profile', 'remove', 'lena', 'office'])).toMatch(/^"office" is the default profile of "lena"/);
    expect(await admin.say(['user', 'profile', 'remove', 'lena', 'field'])).toBe('lena no longer has the profile field.\n');
    expect(await admin.say(['user', 'profile', 'remove', 'lena', 'field'])).toBe('lena did not have the profile field.\n');
    expect(await admin.json(['user', 'profile', 'remove', 'lena', 'office'])).toMatchObject({ profiles: [], changed: true });
    expect(await service().db.selectFrom('user_profile').where('user_id', '=', id).selectAll().execute()).toEqual([]);
    expect((await events('lena')).map(([event, { profile }]) => [event, profile])).toEqual([
      ['profile.assigned', 'field'],
      ['profile.assigned', 'office'],
      ['profile.assigned', 'office'],
      ['profile.removed', 'field'],
      ['profile.removed', 'office'],
    ]);
  });

  test('a session under a removed profile has no rights from the next request on (rule 62)', async () => {
    await service().createUser('nils');
    const cookie = await service().signIn('nils');
    expect((await service().call('POST', '/rest/entity/note', { cookie, json: {} })).status).toBe(201);
    await admin.say(['user', 'profile', 'remove', 'nils', 'nils']);
    await service().settle();
    expect((await service().call('POST', '/rest/entity/note', { cookie, json: {} })).status).toBe(403);
  });
});

describe('user list', () => {
  test('shows all users in a table or as JSON, without a hash', async () => {
    const { id } = await service().createUser('olga', null);
    await service().db.updateTable('user_account').set({ display_name: 'Ольга \u001b[2J日本' }).where('id', '=', id).execute();
    await service().createUser('pia', { note: ['read'] });
    const lines = (await admin.say(['user', 'list'])).split('\n');
    expect(lines[0]).toMatch(/^NAME +DISPLAY NAME +STATE +PROFILES +LOCALE +CREATED$/);
    // A display name cannot control the terminal of the reader.
    expect(lines.find((line) => line.startsWith('olga'))).toMatch(
      /^olga +Ольга \\u\{1b\}\[2J日本 +active +- +- +\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ$/,
    );
    expect(lines.find((line) => line.startsWith('pia'))).toMatch(/^pia +pia +active +pia \(default\) /);
    const document = await admin.json<UserDocument[]>(['user', 'list']);
    expect(document.find(({ name }) => name === 'pia')).toEqual({
      name: 'pia',
      displayName: 'pia',
      locale: null,
      active: true,
      hasPassword: true,
      timeZone: null,
      attributes: {},
      profiles: [{ name: 'pia', default: true }],
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    });
    expect(JSON.stringify(document)).not.toContain('argon2');
  });
});

test('an unknown or invalid user, profile or name is named', async () => {
  expect(await admin.refusal(['user', 'disable', 'Zoe'])).toBe('there is no user called "zoe"');
  expect(await admin.refusal(['user', 'profile', 'add', 'zoe', 'field'])).toBe('there is no user called "zoe"');
  await service().createUser('quin', null);
  expect(await admin.refusal(['user', 'profile', 'add', 'quin', 'nowhere'])).toBe('there is no profile called "nowhere"');
  expect(await admin.refusal(['user', 'create', ' x'], '', 2)).toContain('A user name has 1 to 128 characters');
  expect(await admin.refusal(['user', 'create', 'x', '--locale', 'not a tag'], '', 2)).toContain('BCP 47');
});
