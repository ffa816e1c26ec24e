/** Profiles by a claim follow the newest token: an older one assigns and removes nothing (rule 62). */
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loginClient, TestClock, TestIssuer, writeIssuers } from '../support/issuer.ts';
import { RefusedCommits } from '../support/refused-commits.ts';
import { cookieOf, TestService, useService, type Answer } from '../support/service.ts';

interface Info {
  user: { name: string };
  profiles: { name: string; default: boolean }[];
}

const clock = new TestClock();
const corp = await TestIssuer.start('corp', clock);
const asked = await TestIssuer.start('asked', clock, { opaque: true });
const home = useService({}, clock);
let service: TestService;
let subjects = 0;

beforeAll(async () => {
  const { id } = await home().createUser('keeper', null);
  await home().createProfile(id, 'administrator', { '*': ['read', 'create'] });
  await home().createProfile(id, 'member', { note: ['read'] });
  await home().createProfile(id, 'auditor', { '*': ['read'] });
  await home().createProfile(id, 'author', { note: ['create'] });
  await home().createProfile(id, 'reader', { note: ['read'] });
  const provision = { enabled: true, profile: 'member' };
  const issuersFile = await writeIssuers(
    await corp.loginEntry({
      provision,
      profiles: { claim: 'groups', map: { admins: 'administrator', authors: 'author', readers: 'reader' } },
    }),
    await asked.loginEntry({ tokenType: 'opaque', provision, profiles: { claim: 'groups', map: { audit: 'auditor' } } }),
  );
  service = await home().replica({ ISSUERS_FILE: issuersFile }, clock);
});
afterAll(() => service.close());

const began = Math.floor(clock.wall() / 1_000);

/** A token of the subject, issued `age` seconds before the tests began. */
const token = (sub: string, groups: string[], age: number) =>
  corp.mint({ claims: { sub, groups, iat: began - age, auth_time: began - age } });

const namesOf = ({ body }: Answer<Info>) => body.profiles.map(({ name }) => name).sort();

async function bear(accessToken: string): Promise<Answer<Info>> {
  const answer = await service.call<Info>('GET', '/auth?profiles=1', { headers: { authorization: `Bearer ${accessToken}` } });
  expect(answer.status, answer.text).toBe(200);
  return answer;
}

async function exchange(accessToken: string): Promise<Answer<Info>> {
  const opened = await service.call('POST', '/auth', { form: { oidcIssuer: 'corp', access_token: accessToken } });
  expect(opened.status, opened.text).toBe(200);
  return await readInfo(cookieOf(opened));
}

/** Signs in at the provider with an ID token that was issued `age` seconds before the tests began. */
async function signIn(sub: string, groups: string[], age: number): Promise<Answer<Info>> {
  const left = await service.call('GET', '/auth/oidc/corp/start');
  const [cookie = ''] = left.headers.getSetCookie();
  const back = await comeBack(left.headers.get('location') ?? '', cookie.split(';')[0] ?? '', sub, groups, age);
  const session = back.headers.getSetCookie().find((line) => line.startsWith('sid=')) ?? '';
  return await readInfo(session.split(';')[0] ?? '');
}

/** Returns to the service from `address` at the provider, with an ID token of these claims. */
async function comeBack(address: string, cookie: string, sub: string, groups: string[], age: number, status = 303): Promise<Answer> {
  const { searchParams } = new URL(address);
  const claims = {
    sub,
    groups,
    iat: began - age,
    aud: loginClient.id,
    nonce: searchParams.get('nonce'),
    client_id: undefined,
    scope: undefined,
  };
  const id_token = await corp.mint({ claims, header: { typ: 'JWT' } });
  corp.answers.set('/token', () => ({ access_token: 'opaque', token_type: 'Bearer', id_token }));
  const query = new URLSearchParams({ state: searchParams.get('state') ?? '', code: 'any', iss: corp.url });
  const back = await service.call('GET', `/auth/oidc/corp/callback?${query.toString()}`, { cookie });
  expect(back.status, back.text).toBe(status);
  return back;
}

/** The signed-in user links the subject, with an ID token that was issued `age` seconds before the tests began. */
async function link(session: string, sub: string, groups: string[], age: number, status = 303): Promise<Answer> {
  const left = await service.call<{ url: string }>('POST', '/auth/oidc/corp/link', { cookie: session });
  expect(left.status, left.text).toBe(200);
  const [cookie = ''] = left.headers.getSetCookie();
  return await comeBack(left.body.url, `${session}; ${cookie.split(';')[0]}`, sub, groups, age, status);
}

/** The signed-in user removes the link of the subject. */
async function unlink(session: string, sub: string): Promise<void> {
  const { id } = await service.db.selectFrom('identity').where('subject', '=', sub).select('id').executeTakeFirstOrThrow();
  const answer = await service.call('DELETE', `/auth/identities/${id}`, { cookie: session });
  expect(answer.status, answer.text).toBe(204);
}

const readInfo = (cookie: string) => service.call<Info>('GET', '/auth?profiles=1', { cookie });

const newSubject = () => `subject-${subjects++}`;

test('200 — the newest token of one subject does not make those of another subject of the issuer older (rule 62)', async () => {
  const [one, other] = [newSubject(), newSubject()];
  for (const sub of [one, other]) expect(namesOf(await bear(await token(sub, [], 100)))).toEqual(['member']);
  expect(namesOf(await bear(await token(one, ['authors'], 10)))).toEqual(['author', 'member']);
  expect(namesOf(await bear(await token(other, ['readers'], 50)))).toEqual(['member', 'reader']);
});

describe('an older token', () => {
  test.each([
    ['by itself', async (sub: string, groups: string[], age: number) => bear(await token(sub, groups, age))],
    ['exchanged for a session', async (sub: string, groups: string[], age: number) => exchange(await token(sub, groups, age))],
    ['as the ID token of a sign-in', signIn],
  ])('200 — assigns no profile that a newer one has removed, %s (rule 62)', async (_how, present) => {
    const sub = newSubject();
    expect(namesOf(await present(sub, ['admins'], 200))).toEqual(['administrator', 'member']);
    expect(namesOf(await bear(await token(sub, [], 100)))).toEqual(['member']);
    for (const age of [200, 101]) expect(namesOf(await present(sub, ['admins'], age))).toEqual(['member']);
    expect(namesOf(await present(sub, ['admins'], 99))).toEqual(['administrator', 'member']);
  });

  test('200 — removes no profile that a newer one has assigned (rule 62)', async () => {
    const sub = newSubject();
    expect(namesOf(await bear(await token(sub, [], 200)))).toEqual(['member']);
    expect(namesOf(await exchange(await token(sub, ['admins'], 100)))).toEqual(['administrator', 'member']);
    expect(namesOf(await bear(await token(sub, [], 150)))).toEqual(['administrator', 'member']);
  });

  test('200 — has no effect after a newer one that changed nothing (rule 62)', async () => {
    const sub = newSubject();
    expect(namesOf(await bear(await token(sub, [], 200)))).toEqual(['member']);
    expect(namesOf(await bear(await token(sub, [], 100)))).toEqual(['member']);
    expect(namesOf(await bear(await token(sub, ['admins'], 150)))).toEqual(['member']);
  });

  test('200 — has no effect after the one that made the user (rule 62)', async () => {
    const sub = newSubject();
    expect(namesOf(await exchange(await token(sub, [], 100)))).toEqual(['member']);
    expect(namesOf(await bear(await token(sub, ['admins'], 101)))).toEqual(['member']);
  });

  test('200 — has no effect after a sign-in at the provider, nor does an ID token after a newer access token (rule 62)', async () => {
    const sub = newSubject();
    expect(namesOf(await bear(await token(sub, ['admins'], 300)))).toEqual(['administrator', 'member']);
    expect(namesOf(await signIn(sub, [], 200))).toEqual(['member']);
    expect(namesOf(await bear(await token(sub, ['admins'], 250)))).toEqual(['member']);
    expect(namesOf(await bear(await token(sub, ['admins'], 100)))).toEqual(['administrator', 'member']);
    expect(namesOf(await signIn(sub, [], 150))).toEqual(['administrator', 'member']);
  });

  test('200 — is recognised by the iat of the introspection, where tokens are opaque (rule 62)', async () => {
    const sub = newSubject();
    const told = async (groups: string[], age: number) => {
      const claims = { active: true, token_type: 'Bearer', iss: asked.url, aud: 'entity-service', sub, client_id: 'web', exp: began + 600 };
      asked.answers.set('/token/introspection', () => ({ ...claims, iat: began - age, groups }));
      return await bear(`made-${sub}-${age}`);
    };
    expect(namesOf(await told(['audit'], 200))).toEqual(['auditor', 'member']);
    expect(namesOf(await told([], 100))).toEqual(['member']);
    expect(namesOf(await told(['audit'], 150))).toEqual(['member']);
  });
});

test('503 — a link whose profiles could not follow the claims is in force, and they follow at the next sign-in', async () => {
  const sub = newSubject();
  const { id } = await home().createUser(sub);
  const session = await home().openSession(id);
  const refusing = await RefusedCommits.prepare(home().db);
  await refusing.ofTable('user_profile', async () => {
    const { body } = await link(session, sub, ['admins'], 300, 503);
    expect(body).toMatchObject({ code: 'outcome-unknown' });
  });
  const { rows } = await sql`select from identity where subject = ${sub} and user_id = ${id}`.execute(home().db);
  expect(rows).toHaveLength(1);
  expect(namesOf(await signIn(sub, ['admins'], 200))).toEqual(['administrator', sub]);
});

describe('a link that is removed', () => {
  const userWithPassword = async () => {
    const sub = newSubject();
    const { id } = await home().createUser(sub);
    return { sub, session: await home().openSession(id) };
  };

  test('200 — and made again, by the user or an administrator: an older token still assigns nothing (rule 62)', async () => {
    const { sub, session } = await userWithPassword();
    await home().link(corp, sub, sub);
    const old = await token(sub, ['admins'], 300);
    expect(namesOf(await bear(old))).toEqual(['administrator', sub]);
    expect(namesOf(await bear(await token(sub, [], 100)))).toEqual([sub]);
    for (const again of [() => link(session, sub, [], 200), () => home().link(corp, sub, sub)]) {
      await unlink(session, sub);
      await again();
      for (const older of [old, await token(sub, ['admins'], 101)]) expect(namesOf(await bear(older))).toEqual([sub]);
    }
    await home().unlink(corp, sub, sub);
    await home().link(corp, sub, sub);
    expect(namesOf(await bear(old))).toEqual([sub]);
    expect(namesOf(await bear(await token(sub, ['admins'], 99)))).toEqual(['administrator', sub]);
  });

  test('200 — so that the issuer makes a new user: an older token assigns it only the base profile (rule 62)', async () => {
    const { sub, session } = await userWithPassword();
    await home().link(corp, sub, sub);
    const old = await token(sub, ['admins'], 200);
    expect(namesOf(await bear(old))).toEqual(['administrator', sub]);
    expect(namesOf(await bear(await token(sub, [], 100)))).toEqual([sub]);
    await unlink(session, sub);
    const made = await bear(old);
    expect(made.body.user.name).not.toBe(sub);
    expect(namesOf(made)).toEqual(['member']);
    expect(namesOf(await bear(await token(sub, ['admins'], 101)))).toEqual(['member']);
    expect(namesOf(await bear(await token(sub, ['admins'], 99)))).toEqual(['administrator', 'member']);
  });

  test('200 — a first link: the ID token decides, and an older token assigns nothing (rule 62)', async () => {
    const { sub, session } = await userWithPassword();
    await link(session, sub, [], 100);
    expect(namesOf(await bear(await token(sub, ['admins'], 200)))).toEqual([sub]);
    const other = await userWithPassword();
    await link(other.session, other.sub, ['admins'], 100);
    expect(namesOf(await readInfo(other.session))).toEqual(['administrator', other.sub]);
  });
});

describe('concurrent tokens', () => {
  test.each([
    ['the older', 200, 100],
    ['the newer', 100, 200],
  ])('200 — the newer one decides, where %s is the first to wait for the row of the user (rule 62)', async (_which, first, second) => {
    const sub = newSubject();
    expect(namesOf(await bear(await token(sub, ['admins'], 300)))).toEqual(['administrator', 'member']);
    const tokens = new Map([
      [200, await token(sub, [], 200)],
      [100, await token(sub, ['admins'], 100)],
    ]);
    // The profile that the newer one assigns is already there, and the older one would remove it.
    const { answers } = await service.db.transaction().execute(async (trx) => {
      await sql`select from user_account where id = (select user_id from identity where subject = ${sub}) for update`.execute(trx);
      const answers: Promise<Answer<Info>>[] = [];
      for (const age of [first, second]) {
        answers.push(bear(tokens.get(age) ?? ''));
        await expect.poll(waiting).toBe(answers.length);
      }
      return { answers };
    });
    await Promise.all(answers);
    expect(namesOf(await bear(await token(sub, [], 299)))).toEqual(['administrator', 'member']);
  });
});

describe('the writes of a token', () => {
  test('200 — of tokens issued in the same second the last one decides', async () => {
    const sub = newSubject();
    const iat = began - 100;
    const of = (groups: string[], fraction: number) => corp.mint({ claims: { sub, groups, iat: iat + fraction } });
    expect(namesOf(await bear(await of([], 0.9)))).toEqual(['member']);
    expect(namesOf(await bear(await of(['admins'], 0.1)))).toEqual(['administrator', 'member']);
  });

  test('200 — also when it assigns as many profiles as the one before it, and one of them is the same (rule 62)', async () => {
    const sub = newSubject();
    const iat = began - 100;
    const of = (groups: string[]) => corp.mint({ claims: { sub, groups, iat } });
    expect(namesOf(await bear(await of(['admins', 'authors'])))).toEqual(['administrator', 'author', 'member']);
    expect(namesOf(await bear(await of(['admins', 'readers'])))).toEqual(['administrator', 'member', 'reader']);
  });

  test('200 — a token is stored once, and one that changes nothing empties no cache', async () => {
    const sub = newSubject();
    await bear(await token(sub, ['admins'], 200));
    await service.settle();
    const { generation } = service.context.principals.startVerification();
    const row = async () => {
      const { rows } = await sql<{
        at: Date;
        xmin: string;
      }>`select claims_at as at, xmin::text from identity where subject = ${sub}`.execute(service.db);
      return rows[0];
    };
    const iat = began - 100;
    await bear(await corp.mint({ claims: { sub, groups: ['admins'], iat } }));
    await service.settle();
    expect(service.context.principals.startVerification().generation).toBe(generation);
    const written = await row();
    expect(written?.at.getTime()).toBe(iat * 1_000);
    await bear(await corp.mint({ claims: { sub, groups: ['admins'], iat } }));
    await bear(await token(sub, ['admins'], 150));
    expect(await row()).toEqual(written);
  });
});

/** The number of connections that wait for a row. */
async function waiting(): Promise<number> {
  const { rows } = await sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
    home().db,
  );
  return rows.length;
}
