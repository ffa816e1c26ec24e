import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { sql, type Kysely } from 'kysely';
import { connectPool } from '../../src/database/driver/pool.ts';
import { isOutage } from '../../src/database/failure.ts';
import type { Database } from '../../src/database/tables.ts';
import { Problem } from '../../src/problems/errors.ts';
import { deleteIdleAttempts, resetAttempts } from '../../src/credentials/attempts.ts';
import { Admission } from '../../src/admission/admission.ts';
import { hashPassword, verifyPassword } from '../../src/credentials/hash.ts';
import { ServiceSecrets } from '../../src/database/service-secrets.ts';
import { createThrottle, failuresUntilLocked, type Attempt, type Throttle } from '../../src/credentials/throttle.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { patient } from '../support/races.ts';

let database: TestDatabase;
let db: Kysely<Database>;
let throttle: Throttle;
let key: string;

const open = (url: string) => connectPool(url, 10, () => undefined).db;

/**
 * Disables the statement and lock timeouts, as `patient` does for the throttle: on a slow machine many attempts wait for connections and
 * locks.
 */
function openPatiently({ url }: TestDatabase): Kysely<Database> {
  const { db, pool } = connectPool(`${url}?statement_timeout=0&query_timeout=0&lock_timeout=0`, 10, () => undefined);
  pool.options.connectionTimeoutMillis = 0;
  return db;
}

beforeAll(async () => {
  database = await createDatabase();
  db = open(database.url);
  const { rows } = await sql<{ value: string }>`select encode(value, 'hex') as value from service_secret`.execute(db);
  key = rows[0]?.value ?? '';
});
afterAll(async () => {
  await db.destroy();
  await database.drop();
});
beforeEach(async () => {
  await db.deleteFrom('login_attempt').execute();
  throttle = createThrottle(db, new ServiceSecrets(db), new Admission());
});

let looks = 0;
const good = async () => {
  looks += 1;
  return 'come in';
};
const bad = async () => {
  looks += 1;
  return undefined;
};
beforeEach(() => {
  looks = 0;
});

const ada = { name: 'ada', address: '192.0.2.1' };
/** The same account from addresses that never repeat, so that only the account counts. */
let last = 0;
const adaElsewhere = () => ({ name: 'ada', address: `10.0.${Math.floor((last += 1) / 250)}.${last % 250}` });

/** The one row of a kind. */
async function row(kind: 'account' | 'address') {
  const rows = await db.selectFrom('login_attempt').selectAll().where('kind', '=', kind).execute();
  expect(rows).toHaveLength(1);
  const [only] = rows;
  return only ?? expect.fail();
}
/** Moves the clock of every row back by an interval. */
const later = (interval: string) =>
  sql`update login_attempt set blocked_until = blocked_until - ${interval}::interval, since = since - ${interval}::interval,
    pending_at = pending_at - ${interval}::interval, last_at = last_at - ${interval}::interval`.execute(db);
const throttled = (seconds: unknown) => ({ code: 'rate-limited', status: 429, headers: { 'Retry-After': seconds }, values: {} });

async function refusal(claim: {
  name: string;
  address: string;
}): Promise<{ code: string; seconds: number; headers: Record<string, string> }> {
  const before = looks;
  const problem: unknown = await throttle.attempt(claim, good).catch((error: unknown) => error);
  expect(problem).toMatchObject({ ...throttled(expect.any(String)), values: { seconds: expect.any(Number) } });
  expect(looks, 'the password was verified').toBe(before);
  const { code, values, headers } = problem as { code: string; values: { seconds: number }; headers: Record<string, string> };
  expect(headers['Retry-After']).toBe(String(values.seconds));
  return { code, seconds: values.seconds, headers };
}

describe('an account', () => {
  test('429 — has five free failures, then its password is not verified for a second (rule 39: guessing does not pay)', async () => {
    for (let failure = 1; failure <= 5; failure += 1) {
      expect(await throttle.attempt(adaElsewhere(), bad)).toEqual({ granted: undefined, failures: failure });
    }
    const { seconds, headers } = await refusal(adaElsewhere());
    expect(seconds).toBe(1);
    expect(headers).toMatchObject({ 'RateLimit-Policy': '"login-account";q=5', RateLimit: '"login-account";r=0;t=1' });
    await later('1 second');
    expect(await throttle.attempt(adaElsewhere(), good)).toEqual({ granted: 'come in', failures: 0 });
  });

  test('429 — waits twice as long after each further failure, up to 15 minutes (rule 39)', async () => {
    for (let failure = 1; failure <= 5; failure += 1) await throttle.attempt(adaElsewhere(), bad);
    const waits: number[] = [];
    for (let failure = 6; failure <= 18; failure += 1) {
      waits.push((await refusal(adaElsewhere())).seconds);
      await later('15 minutes');
      await throttle.attempt(adaElsewhere(), bad);
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900]);
  });

  test('429 — after a hundred failures is only opened by an administrator (rule 39: no endless slow guessing)', async () => {
    await throttle.attempt(ada, bad);
    await db.updateTable('login_attempt').set({ failures: 98 }).where('kind', '=', 'account').execute();
    expect((await throttle.attempt(adaElsewhere(), bad)).failures).toBe(99);
    await later('15 minutes');
    expect((await throttle.attempt(adaElsewhere(), bad)).failures).toBe(failuresUntilLocked);
    await later('10 years');
    expect((await refusal(adaElsewhere())).seconds).toBe(900);
    expect((await throttle.attempt({ ...ada, name: 'grace' }, good)).granted).toBe('come in');
    const mallory = () => throttle.attempt({ ...adaElsewhere(), name: 'mallory' }, bad);
    expect((await mallory()).failures).toBe(1);

    expect(await resetAttempts(db, 'Ada')).toBe(true);
    expect((await mallory()).failures, 'the counts of the other accounts stay').toBe(2);
    expect((await throttle.attempt(adaElsewhere(), good)).granted).toBe('come in');
    expect(await resetAttempts(db, 'ada')).toBe(false);
    expect(await resetAttempts(db, 'nobody')).toBe(false);
  });

  test('starts again after a success (rule 39: consecutive failures)', async () => {
    for (let round = 0; round < 3; round += 1) {
      for (let failure = 1; failure <= 4; failure += 1) expect((await throttle.attempt(adaElsewhere(), bad)).failures).toBe(failure);
      expect((await throttle.attempt(adaElsewhere(), good)).granted).toBe('come in');
    }
    expect(await row('account')).toMatchObject({ failures: 0, pending: 0, blocked_until: null });
  });

  test('is the same for all spellings of its name, and need not exist or be valid (rule 39: throttling reveals nothing)', async () => {
    for (const name of ['ada', 'ADA', 'Ada', 'ａｄａ', 'aDa']) await throttle.attempt({ ...adaElsewhere(), name }, bad);
    await refusal(adaElsewhere());
    for (const name of ['', 'no\u{0}body']) {
      for (let failure = 1; failure <= 5; failure += 1) await throttle.attempt({ ...adaElsewhere(), name }, bad);
      await refusal({ ...adaElsewhere(), name });
    }
  });

  test('is not readable in the table, nor is the address, because people type passwords into the name field', async () => {
    await throttle.attempt(ada, bad);
    const rows = await db.selectFrom('login_attempt').selectAll().execute();
    expect(rows.map(({ subject }) => subject.length)).toEqual([32, 32]);
    expect(JSON.stringify(rows.map(({ subject }) => subject.toString('latin1')))).not.toMatch(/ada|192/);
    expect(key).toHaveLength(64);
  });
});

describe('an address', () => {
  const from = (address: string, name: string) => ({ name, address });

  test('429 — has twenty failures in five minutes over all accounts (rule 40: one password tried on many names)', async () => {
    for (let failure = 1; failure <= 20; failure += 1) await throttle.attempt(from('192.0.2.1', `user${failure}`), bad);
    const { seconds, headers } = await refusal(from('192.0.2.1', 'another'));
    expect(seconds).toBeGreaterThan(290);
    expect(seconds).toBeLessThanOrEqual(300);
    expect(headers['RateLimit-Policy']).toBe('"login-address";q=20;w=300');
    await later('298 seconds');
    expect((await refusal(from('192.0.2.1', 'another'))).seconds).toBeLessThanOrEqual(2);
    await later('-298 seconds');
    await refusal(from('::ffff:192.0.2.1', 'another'));
    expect((await throttle.attempt(from('192.0.2.2', 'another'), good)).granted).toBe('come in');
    await later('5 minutes');
    expect((await throttle.attempt(from('192.0.2.1', 'another'), bad)).failures).toBe(1);
    const counted = db.selectFrom('login_attempt').select('failures').where('kind', '=', 'address').orderBy('failures');
    expect(await counted.execute(), 'of both addresses').toEqual([{ failures: 0 }, { failures: 1 }]);
    for (let failure = 2; failure <= 20; failure += 1) await throttle.attempt(from('192.0.2.1', `later${failure}`), bad);
    await refusal(from('192.0.2.1', 'another'));
  });

  test('429 — leaves no row for names that it sends after its failures, undecided attempts of a dead process included (rule 40)', async () => {
    const rows = async () => (await db.selectFrom('login_attempt').select(['kind', 'subject']).execute()).length;
    for (let failure = 1; failure <= 20; failure += 1) await throttle.attempt(from('192.0.2.1', `user${failure}`), bad);
    expect((await throttle.attempt(from('192.0.2.2', 'allowed'), good)).granted).toBe('come in');
    expect(await rows()).toBe(21 + 2);
    await refusal(from('192.0.2.1', 'made up'));
    expect(await rows()).toBe(21 + 2);
    await db
      .updateTable('login_attempt')
      .set({ failures: 1, pending: 19 })
      .where('kind', '=', 'address')
      .where('failures', '=', 20)
      .execute();
    await later('16 seconds');
    expect((await refusal(from('192.0.2.1', 'made up as well'))).seconds).toBeLessThanOrEqual(284);
    expect(await rows()).toBe(21 + 2);
  });

  test('429 — is the network for IPv6 (rule 40)', async () => {
    for (let failure = 1; failure <= 20; failure += 1) {
      await throttle.attempt(from(`2001:db8::${failure.toString(16)}`, `user${failure}`), bad);
    }
    await refusal(from('2001:db8::ffff:1', 'another'));
    expect((await throttle.attempt(from('2001:db8:0:1::1', 'another'), good)).granted).toBe('come in');
  });

  test('has the same failures after a success (rule 40: an attacker’s own account does not reset the count)', async () => {
    for (let failure = 1; failure <= 19; failure += 1) {
      await throttle.attempt(from('192.0.2.1', `user${failure}`), bad);
      expect((await throttle.attempt(from('192.0.2.1', 'mallory'), good)).granted).toBe('come in');
    }
    await throttle.attempt(from('192.0.2.1', 'user20'), bad);
    await refusal(from('192.0.2.1', 'mallory'));
    expect((await throttle.attempt(from('192.0.2.9', 'user1'), bad)).failures, 'the counts of the other accounts stay').toBe(2);
  });
});

describe('concurrent attempts', () => {
  const hashing = { admission: new Admission({ schedule: patient }), peppers: [] };
  let crowded: Kysely<Database>;
  beforeAll(() => {
    crowded = openPatiently(database);
  });
  afterAll(() => crowded.destroy());
  beforeEach(() => {
    throttle = createThrottle(crowded, new ServiceSecrets(crowded), new Admission({ schedule: patient }));
  });
  const password = 'nine purple walruses waltz';
  let stored = '';
  beforeAll(async () => {
    stored = await hashPassword(hashing, password);
  });

  const login = (instance: Throttle, claim: { name: string; address: string }, typed: string) =>
    instance.attempt(claim, async () => {
      looks += 1;
      return (await verifyPassword(hashing, stored, typed)).matches ? 'come in' : undefined;
    });
  const times = <T>(count: number, one: (index: number) => Promise<T>) =>
    Promise.allSettled(Array.from({ length: count }, (_, index) => one(index)));
  const granted = (results: PromiseSettledResult<{ granted: string | undefined }>[]) =>
    results.filter((result) => result.status === 'fulfilled' && result.value.granted === 'come in').length;
  const refused = (results: PromiseSettledResult<unknown>[]) =>
    results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));

  test('429 — of 200 guesses for one account five are verified (rule 41: concurrency does not evade the limit)', async () => {
    expect(granted(await times(1, () => login(throttle, ada, password)))).toBe(1);
    looks = 0;
    const results = await times(200, (index) => login(throttle, adaElsewhere(), `guess ${index}`));
    expect(looks).toBe(5);
    expect(refused(results)).toHaveLength(195);
    for (const problem of refused(results)) expect(problem).toMatchObject({ code: 'rate-limited', headers: { 'Retry-After': '1' } });
    expect(await row('account')).toMatchObject({ failures: 5, pending: 0 });
  });

  test('429 — of 200 guesses over several instances five are verified as well (rule 41)', async () => {
    const databases = [openPatiently(database), openPatiently(database), openPatiently(database)];
    const instances = databases.map((one) => createThrottle(one, new ServiceSecrets(one), new Admission({ schedule: patient })));
    const results = await times(200, (index) => login(instances[index % 3] ?? throttle, adaElsewhere(), `guess ${index}`));
    expect(looks).toBe(5);
    expect(refused(results)).toHaveLength(195);
    await Promise.all(databases.map((one) => one.destroy()));
  });

  test('429 — of 200 guesses for 200 accounts from one address twenty are verified (rules 40 and 41)', async () => {
    const results = await times(200, (index) => login(throttle, { ...ada, name: `user${index}` }, `guess ${index}`));
    expect(looks).toBe(20);
    for (const problem of refused(results)) expect(problem).toMatchObject({ code: 'rate-limited' });
    expect(await row('address')).toMatchObject({ failures: 20, pending: 0 });
  });

  test('200 — 50 right passwords for one account are all accepted (rule 41: concurrency alone is no reason to refuse)', async () => {
    const results = await times(50, () => login(throttle, ada, password));
    expect(refused(results)).toEqual([]);
    expect(granted(results)).toBe(50);
    expect(await row('account')).toMatchObject({ failures: 0, pending: 0 });
    expect(await row('address')).toMatchObject({ failures: 0, pending: 0 });
  });

  test('200 — 50 right passwords for 50 accounts, from one address or many, are all accepted (rule 41)', async () => {
    const near = await times(50, (index) => login(throttle, { ...ada, name: `user${index}` }, password));
    const far = await times(50, (index) => login(throttle, { name: `user${index}`, address: `192.0.2.${index}` }, password));
    expect(refused([...near, ...far])).toEqual([]);
    expect(granted([...near, ...far])).toBe(100);
  });

  test('200 — 50 right passwords over several instances are all accepted, also with only one failure left (rule 41)', async () => {
    for (let failure = 1; failure <= 4; failure += 1) await throttle.attempt(ada, bad);
    const databases = [openPatiently(database), openPatiently(database), openPatiently(database)];
    const instances = databases.map((one) => createThrottle(one, new ServiceSecrets(one), new Admission({ schedule: patient })));
    const results = await times(50, (index) => login(instances[index % 3] ?? throttle, ada, password));
    expect(refused(results)).toEqual([]);
    expect(granted(results)).toBe(50);
    await Promise.all(databases.map((one) => one.destroy()));
  });

  test('429 — wrong passwords count the same among right ones (rule 41)', async () => {
    const results = await times(40, (index) => login(throttle, adaElsewhere(), index % 2 === 0 ? password : `guess ${index}`));
    const wrong = results.filter((result) => result.status === 'fulfilled' && result.value.granted === undefined).length;
    // Every right password resets the count, so the test can only check that each verification has a result.
    expect(looks).toBe(granted(results) + wrong);
    expect((await row('account')).pending).toBe(0);
    for (const problem of refused(results)) expect(problem).toMatchObject({ code: 'rate-limited' });
  });
});

describe('an attempt that its own statement decides', () => {
  const goodTogether = async ({ handOver }: Attempt) => {
    const { account, address } = handOver();
    await sql`select end_login_attempt(${account}, ${address}, 'succeeded')`.execute(db);
    return 'come in';
  };

  test('200 — resets the count of the account, and is decided only once (rule 41)', async () => {
    for (let failure = 1; failure <= 3; failure += 1) await throttle.attempt(ada, bad);
    await db.updateTable('login_attempt').set({ pending: 1 }).execute();
    expect(await throttle.attempt(ada, goodTogether)).toEqual({ granted: 'come in', failures: 0 });
    expect(await row('account')).toMatchObject({ failures: 0, pending: 1 });
    expect(await row('address')).toMatchObject({ failures: 3, pending: 1 });
  });

  test('503 — is not counted if that statement failed', async () => {
    const failing = async ({ handOver }: Attempt) => sql`select 1 / 0, ${handOver().account}::bytea`.execute(db);
    await expect(throttle.attempt(ada, failing)).rejects.toThrow('division by zero');
    expect(await row('account')).toMatchObject({ failures: 0, pending: 0 });
  });

  test('503 — counts as a failure later if its outcome is unknown (rule 41: no free guesses)', async () => {
    const doubtful = async ({ handOver }: Attempt) => {
      handOver();
      throw new Problem('outcome-unknown');
    };
    await expect(throttle.attempt(ada, doubtful)).rejects.toMatchObject({ code: 'outcome-unknown' });
    expect(await row('account')).toMatchObject({ failures: 0, pending: 1 });
    await later('16 seconds');
    expect((await throttle.attempt(ada, bad)).failures).toBe(2);
  });
});

test('only a failure waits for the disk; other outcomes are answered after a later commit (rules 41 and 88)', async () => {
  const own = await createDatabase();
  const durable = new URL(own.url);
  durable.searchParams.set('options', '-c synchronous_commit=on');
  const ownDb = open(durable.href);
  await sql
    .raw(
      `create table commits (setting text);
      create function note_commit() returns trigger language plpgsql as $$
        begin insert into commits values (current_setting('synchronous_commit')); return null; end $$;
      create constraint trigger note_commit after update on login_attempt deferrable initially deferred
        for each row when (new.kind = 'account') execute function note_commit()`,
    )
    .execute(ownDb);
  const instance = createThrottle(ownDb, new ServiceSecrets(ownDb), new Admission());
  await instance.attempt(ada, bad);
  await instance.attempt(ada, good);
  const { rows } = await sql<{ setting: string }>`select setting from commits`.execute(ownDb);
  expect(rows.map(({ setting }) => setting)).toEqual(['off', 'on', 'off', 'off']);
  await ownDb.destroy();
  await own.drop();
});

describe('an attempt that fails for another reason', () => {
  test('503 — is not counted if the password was not verified', async () => {
    const failing = () => Promise.reject(new Error('the queue is full'));
    for (let round = 0; round < 30; round += 1) await expect(throttle.attempt(ada, failing)).rejects.toThrow('the queue is full');
    expect(await row('account')).toMatchObject({ failures: 0, pending: 0 });
    expect((await throttle.attempt(ada, good)).granted).toBe('come in');
  });

  test('counts as a failure if its process died (rule 41: killing the service gives no free guesses)', async () => {
    await throttle.attempt(ada, bad);
    await db.updateTable('login_attempt').set({ pending: 4, failures: 1 }).execute();
    await later('12 seconds');
    const waiting = createThrottle(
      db,
      new ServiceSecrets(db),
      new Admission({
        schedule: (_ms, action) => {
          action();
          return () => undefined;
        },
      }),
    );
    await expect(waiting.attempt(ada, good)).rejects.toMatchObject({ code: 'busy' });
    await later('3 seconds');
    expect((await throttle.attempt(ada, bad)).failures).toBe(6);
    await refusal(ada);
    expect(await row('address')).toMatchObject({ failures: 6, pending: 0 });
  });

  test('503 — waits for attempts in other processes, then fails without verifying the password (rule 41)', async () => {
    await throttle.attempt(ada, bad);
    await db.updateTable('login_attempt').set({ pending: 5, failures: 0 }).where('kind', '=', 'account').execute();
    const impatient = createThrottle(
      db,
      new ServiceSecrets(db),
      new Admission({
        schedule: (ms, action) => {
          if (ms < 1000) action();
          return () => undefined;
        },
      }),
    );
    looks = 0;
    await expect(impatient.attempt(ada, good)).rejects.toMatchObject({ code: 'busy' });
    expect(looks).toBe(0);
    const waiting = throttle.attempt(ada, good);
    await db.updateTable('login_attempt').set({ pending: 0 }).where('kind', '=', 'account').execute();
    expect((await waiting).granted).toBe('come in');
  });

  test('503 — is not let through when the database cannot count it (rule 3)', async () => {
    const nowhere = open('postgres://127.0.0.1:1/nowhere');
    await expect(createThrottle(nowhere, new ServiceSecrets(nowhere), new Admission()).attempt(ada, good)).rejects.toSatisfy(isOutage);
    expect(looks).toBe(0);
    await nowhere.destroy();
  });

  test('is not let through when the database cannot take it back, even with the right password (rule 3)', async () => {
    const own = await createDatabase();
    const ownDb = open(own.url);
    const instance = createThrottle(ownDb, new ServiceSecrets(ownDb), new Admission());
    expect((await instance.attempt(ada, good)).granted).toBe('come in');
    await sql`drop function end_login_attempt`.execute(ownDb);
    await expect(instance.attempt(ada, good)).rejects.toThrow('end_login_attempt');
    await ownDb.destroy();
    await own.drop();
  });
});

describe('housekeeping', () => {
  test('deletes rows that no longer count and no others', async () => {
    await throttle.attempt(ada, good);
    await throttle.attempt({ ...ada, name: 'grace' }, bad);
    await throttle.attempt({ ...ada, name: 'mallory' }, bad);
    // The state after a process died while it verified another password.
    await sql`update login_attempt set pending = 1
      where ctid = (select max(ctid) from login_attempt where kind = 'account' and failures = 1)`.execute(db);
    expect(await deleteIdleAttempts(db, 1000)).toBe(0);
    await later('59 minutes');
    expect(await deleteIdleAttempts(db, 1000)).toBe(0);
    await later('1 minute');
    expect(await deleteIdleAttempts(db, 1)).toBe(1);
    expect(await deleteIdleAttempts(db, 1000)).toBe(1);
    expect((await db.selectFrom('login_attempt').selectAll().execute()).map(({ failures }) => failures)).toEqual([1, 1]);
    await sql`update login_attempt set failures = 100 where ctid = (select min(ctid) from login_attempt)`.execute(db);
    await sql`update login_attempt set last_at = now() - interval '29 days 23 hours'`.execute(db);
    expect(await deleteIdleAttempts(db, 1000)).toBe(0);
    await later('1 hour');
    expect(await deleteIdleAttempts(db, 1000)).toBe(1);
    expect((await row('account')).failures).toBe(100);
  });
});
