import { argon2id, hash, verify } from 'argon2';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { sql } from 'kysely';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { updatePassword } from '../../src/accounts/users.ts';
import { ConfigError, readConfig } from '../../src/config/settings.ts';
import { Admission } from '../../src/admission/admission.ts';
import { hashPassword, verifyPassword } from '../../src/credentials/hash.ts';
import { readPeppers, type Peppers } from '../../src/credentials/pepper.ts';
import { prepareDatabase } from '../../src/start/prepare-database.ts';
import { AdminCommand } from '../support/admin.ts';
import { createDatabase } from '../support/database.ts';
import { whileWaiting } from '../support/entities.ts';
import { readDocument, section } from '../support/markdown.ts';
import { password, TestService, useService } from '../support/service.ts';

const directory = await mkdtemp(join(tmpdir(), 'entity-service-peppers-'));
afterAll(() => rm(directory, { recursive: true, force: true }));

const [first, second] = ['Kb7cq0wXn4Yt8uRz2Lm5Pv1Js6Hd3Gf9', 'q2Wm9Zt4Xc7Vb1Nk5Ph8Jd3Fs6Ga0Ly-'];
const fresh = 'seven quiet lanterns drift north';
let files = 0;

async function write(...lines: string[]): Promise<string> {
  const file = join(directory, `peppers-${files++}`);
  await writeFile(file, lines.join('\n'));
  return file;
}

async function problemsOf(...lines: string[]): Promise<readonly string[]> {
  try {
    await readPeppers(await write(...lines));
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map((problem) => problem.replace(/^PASSWORD_PEPPER_FILE \S+ /, ''));
    throw error;
  }
}

const peppersOf = async (...lines: string[]): Promise<Peppers> => readPeppers(await write(...lines));

describe('PASSWORD_PEPPER_FILE', () => {
  test('lists peppers, the one for new hashes first (rule 87)', async () => {
    const peppers = await peppersOf(`2027:${second}`, '', `2026:${first}:with-a-colon\r`, '');
    expect(peppers.map(({ id, secret }) => [id, secret.reveal()])).toEqual([
      ['2027', second],
      ['2026', `${first}:with-a-colon`],
    ]);
    expect(await readPeppers(undefined)).toEqual([]);
  });

  test.each<[string, string[], RegExp]>([
    ['nothing', ['', ''], /^has no pepper/],
    ['a value without an id', [first], /^line 1: must begin with an id/],
    ['an empty id', [`:${first}`], /^line 1: must begin with an id/],
    ['an id of more than eight characters', [`2026-2027:${first}`], /^line 1: must begin with an id/],
    ['an id with a blank', [`a b:${first}`], /^line 1: must begin with an id/],
    ['fewer than 32 bytes', [`a:${first}`, `b:${first.slice(0, 31)}`], /^line 2: the value of b must be 32 to 1024/],
    ['a blank at the end', [`a:${first} `], /^line 1: the value of a must be/],
    ['a character outside ASCII', [`a:${first}é`], /^line 1: the value of a must be/],
    ['the same id twice', [`a:${first}`, `a:${second}`], /^line 2: a is another pepper's id already/],
  ])('with %s is refused, without quoting the file (rules 86 and 87)', async (_title, lines, problem) => {
    const problems = await problemsOf(...lines);
    expect(problems).toEqual([expect.stringMatching(problem)]);
    for (const secret of [first, second]) expect(problems.join()).not.toContain(secret.slice(0, 31));
  });

  test('with the examples of the documentation is refused (rule 86)', async () => {
    const [, example = ''] = /```text\n([^`]*)```/.exec(section(readDocument('docs/security.md'), '## Pepper')) ?? [];
    const problems = await problemsOf(...example.trim().split('\n'));
    expect(problems).toEqual([
      'line 1: the value of 2027 is the example of the documentation, which is no secret',
      'line 2: the value of 2026 is the example of the documentation, which is no secret',
    ]);
  });

  test('that is missing is refused and stops the start, before a database connection (rule 86)', async () => {
    const environment = { PASSWORD_PEPPER_FILE: join(directory, 'missing'), DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nowhere' };
    await expect(readPeppers(environment.PASSWORD_PEPPER_FILE)).rejects.toThrow(/PASSWORD_PEPPER_FILE .*missing: cannot be read: ENOENT/);
    await expect(prepareDatabase(readConfig(environment))).rejects.toThrow(/PASSWORD_PEPPER_FILE .*missing: cannot be read: ENOENT/);
  });
});

describe('a hash with a pepper', () => {
  const admission = new Admission();

  test('has its id as PHC strings do, and is argon2id with that secret (rule 36)', async () => {
    const stored = await hashPassword({ admission, peppers: await peppersOf(`2026:${first}`) }, password);
    expect(stored).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1,keyid=MjAyNg\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    expect(stored).not.toContain(first);
    expect(await verify(stored, password, { secret: Buffer.from(first) })).toBe(true);
    expect(await verify(stored, password)).toBe(false);
  });

  test('matches while its pepper is listed, and is outdated if another one is the first (rules 36 and 87)', async () => {
    const old = { admission, peppers: await peppersOf(`2026:${first}`) };
    const rotated = { admission, peppers: await peppersOf(`2027:${second}`, `2026:${first}`) };
    const stored = await hashPassword(old, password);
    expect(await verifyPassword(old, stored, password)).toEqual({ matches: true, outdated: false, unusable: undefined });
    expect(await verifyPassword(rotated, stored, password)).toEqual({ matches: true, outdated: true, unusable: undefined });
    expect(await verifyPassword(rotated, stored, 'another')).toEqual({ matches: false, outdated: false, unusable: undefined });
    const renamed = { admission, peppers: await peppersOf(`2026:${second}`) };
    expect((await verifyPassword(renamed, stored, password)).matches).toBe(false);
  });

  test('from before the first pepper matches, and is outdated (rule 36)', async () => {
    const stored = await hashPassword({ admission, peppers: [] }, password);
    const peppered = { admission, peppers: await peppersOf(`2026:${first}`) };
    expect(await verifyPassword(peppered, stored, password)).toEqual({ matches: true, outdated: true, unusable: undefined });
  });

  test('of an unlisted pepper is refused without computing it, and the missing pepper is named (rule 87)', async () => {
    const stored = await hashPassword({ admission, peppers: await peppersOf(`2026:${first}`) }, password);
    for (const peppers of [[], await peppersOf(`2027:${first}`)]) {
      expect(await verifyPassword({ admission, peppers }, stored, password)).toEqual({
        matches: false,
        outdated: false,
        unusable: 'its pepper 2026 is not in PASSWORD_PEPPER_FILE',
      });
    }
    const peppers = await peppersOf(`2026:${first}`);
    for (const keyId of ['', 'MjAyNh', 'MjAyNg=', 'MjAyNg,keyid=MjAyNg', 'A', 'MjAyNjIwMjY0']) {
      const forged = stored.replace('keyid=MjAyNg', `keyid=${keyId}`);
      expect((await verifyPassword({ admission, peppers }, forged, password)).unusable, keyId).toBeDefined();
    }
  });
});

describe('signing in', async () => {
  const [before, after] = [await write(`2026:${first}`), await write(`2027:${second}`, `2026:${first}`)];
  const service = useService({ PASSWORD_PEPPER_FILE: before });
  const storedOf = async (name: string) =>
    (await service().db.selectFrom('user_account').where('name', '=', name).select('password_hash').executeTakeFirstOrThrow())
      .password_hash;
  const login = async (at: TestService, user: string, secret = password) =>
    (await at.call('POST', '/auth', { form: { user, password: secret } })).status;

  test('200 — works while the pepper is replaced, and rehashes each password with the new one (rules 36 and 87)', async () => {
    await service().createUser('ada');
    expect(await storedOf('ada')).toContain('keyid=MjAyNg$');
    expect(await login(service(), 'ada')).toBe(200);
    const replica = await service().replica({ PASSWORD_PEPPER_FILE: after });
    expect([await login(replica, 'ada', 'wrong'), await login(replica, 'ada')]).toEqual([401, 200]);
    expect(await storedOf('ada')).toContain('keyid=MjAyNw$');
    expect(await login(replica, 'ada')).toBe(200);
    await replica.close();
  });

  test('200 — rehashes a password stored without a pepper (rule 36)', async () => {
    await service().createUser('grace');
    const plain = await hash(password, { type: argon2id, memoryCost: 19_456, timeCost: 2, parallelism: 1 });
    await service().db.updateTable('user_account').set({ password_hash: plain }).where('name', '=', 'grace').execute();
    expect(await login(service(), 'grace')).toBe(200);
    expect(await storedOf('grace')).toContain('keyid=MjAyNg$');
  });

  test('401 — a password that is changed while its old hash is renewed stays changed (rule 44)', async () => {
    const { id } = await service().createUser('lin');
    const replica = await service().replica({ PASSWORD_PEPPER_FILE: after });
    onTestFinished(() => replica.close());
    const changed = await hashPassword({ admission: new Admission(), peppers: await peppersOf(`2026:${first}`) }, fresh);
    const answer = await whileWaiting(
      service(),
      sql`select from user_account where id = ${id} for update`,
      () => login(replica, 'lin'),
      (trx) => updatePassword(trx, id, changed),
    );
    expect([answer, await storedOf('lin')]).toEqual([401, changed]);
    expect([await login(service(), 'lin'), await login(service(), 'lin', fresh)]).toEqual([401, 200]);
  });

  test('401 — without the pepper, as for a wrong password, and the stored hash stays (rules 42 and 87)', async () => {
    await service().createUser('joan');
    const stored = await storedOf('joan');
    const replica = await service().replica();
    expect([await login(service(), 'joan'), await login(replica, 'joan'), await login(replica, 'nobody')]).toEqual([200, 401, 401]);
    expect(await storedOf('joan')).toBe(stored);
    const cookie = await service().signIn('joan');
    const form = {
      'current-password': password,
      'set-password': 'seven quiet lanterns drift',
      'confirm-password': 'seven quiet lanterns drift',
    };
    const answer = await replica.call('POST', '/auth/password', { cookie, form });
    expect([answer.status, answer.body.code]).toEqual([403, 'credential-mismatch']);
    expect(await storedOf('joan')).toBe(stored);
    expect((await service().call('POST', '/auth/password', { cookie, form })).status).toBe(204);
    expect(await storedOf('joan')).toContain('keyid=MjAyNg$');
    await replica.close();
  });

  test('200 — with a password set by the administration command, which uses the pepper and names missing ones (rule 36)', async () => {
    const admin = new AdminCommand(service().databaseUrl, { PASSWORD_PEPPER_FILE: before });
    await admin.say(['user', 'create', 'mary', '--password-stdin'], fresh);
    expect(await storedOf('mary')).toContain('keyid=MjAyNg$');
    expect(await login(service(), 'mary', fresh)).toBe(200);
    const all = new AdminCommand(service().databaseUrl, { PASSWORD_PEPPER_FILE: after });
    expect(await all.say(['doctor'])).toMatch(/^ok +peppers +new passwords get 2027; users by pepper: .*2026 \d+/m);
    const none = await new AdminCommand(service().databaseUrl).run(['doctor']);
    expect(none.code).toBe(1);
    expect(none.stdout).toMatch(/^fail +peppers +PASSWORD_PEPPER_FILE lacks .*2026, which the passwords of \d+ users need/m);
  });
});

test('the first administrator has a hash with the pepper (rule 36)', async () => {
  const database = await createDatabase();
  try {
    const settings = { DATABASE_URL: database.url, PASSWORD_PEPPER_FILE: await write(`2026:${first}`) };
    const prepared = await prepareDatabase(readConfig(settings));
    await prepared.close();
    expect(prepared.administrator?.name).toBe('admin');
    const client = new Client({ connectionString: database.url });
    await client.connect();
    const { rows } = await client.query<{ password_hash: string }>('select password_hash from user_account');
    await client.end();
    expect(rows).toEqual([{ password_hash: expect.stringContaining('keyid=MjAyNg$') }]);
  } finally {
    await database.drop();
  }
});
