/** A plan over a million rows and a thousand people (check 31 of rights). */
import { readFileSync } from 'node:fs';
import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { AdminCommand } from '../support/admin.ts';
import { rightsDirectory, writeRights } from '../support/rights-directory.ts';
import { useService } from '../support/service.ts';

interface Counted {
  digest: string;
  counted: string;
  rows: { entity: string; action: string; groups: { people: number; gained: number; lost: number }[] }[];
}

const service = useService();
let admin: AdminCommand;
/** Linux counts processor time in hundredths of a second. */
const ticksPerSecond = 100;
const maximumSeconds = 10;

const filesOf = (grants: readonly object[]) => ({
  'attributes.yaml': { user: { regions: { type: 'array', items: { type: 'string' } } } },
  'roles/counted.yaml': { description: '', grants },
  'profiles/counted.yaml': { label: 'Counted', roles: ['counted'] },
});
const own = { entity: 'order', actions: ['read'], filter: { $createdBy: { $var: 'user.name' } } };
const region = { entity: 'order', actions: ['read'], name: 'region', filter: { region: { $in: { $var: 'user.regions' } } } };

beforeAll(async () => {
  admin = new AdminCommand(service().databaseUrl);
  const { db } = service();
  for (let first = 1; first <= 1_000_000; first += 50_000)
    await sql`insert into entity (name, fields, created_by, updated_by)
      select 'order', jsonb_build_object('region', 'r' || n % 10, 'total', n::text), 'person' || n % 1000, 'root'
      from generate_series(${first}::int, ${first + 49_999}::int) as n`.execute(db);
  await sql`analyze entity`.execute(db);
}, 300_000);

/** The processor time that each process of PostgreSQL has used for this database, in seconds, by its number. */
async function backendSeconds(): Promise<Map<number, number>> {
  const { rows } = await sql<{ pid: number }>`select pid from pg_stat_activity where datname = current_database()`.execute(service().db);
  return new Map(rows.map(({ pid }) => [pid, secondsOf(pid)]));
}

/** 0 for a process that has ended. */
function secondsOf(pid: number): number {
  try {
    const members = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
    const [user = 0, system = 0] = members.slice(11, 13).map(Number);
    return (user + system) / ticksPerSecond;
  } catch {
    return 0;
  }
}

/** Does the work, and measures the processor time of this process and of those of PostgreSQL, which end with the work. So it reads their times again and again. */
async function measured<T>(work: () => Promise<T>): Promise<{ result: T; seconds: number }> {
  const [before, latest, { user, system }] = [await backendSeconds(), new Map<number, number>(), process.cpuUsage()];
  const read = async () => {
    for (const [pid, seconds] of await backendSeconds()) latest.set(pid, Math.max(seconds - (before.get(pid) ?? 0), latest.get(pid) ?? 0));
  };
  let reading: Promise<void> | undefined;
  const timer = setInterval(() => {
    reading ??= read().finally(() => (reading = undefined));
  }, 50);
  const result = await work().finally(() => {
    clearInterval(timer);
  });
  await reading;
  const own = process.cpuUsage({ user, system });
  return { result, seconds: [...latest.values()].reduce((sum, each) => sum + each, 0) + (own.user + own.system) / 1_000_000 };
}

test(
  '4 — from own rows to those of regions, the counts are those of lists and take at most 10 s of processor time',
  { timeout: 600_000 },
  async () => {
    const directory = await rightsDirectory(filesOf([own]));
    await admin.say(['rights', 'apply', directory]);
    const { db } = service();
    const { id: some } = await service().createUser('person0', null);
    await sql`insert into user_account (name, display_name, password_hash)
    select 'person' || n, 'Person', (select password_hash from user_account where id = ${some}) from generate_series(1, 999) as n`.execute(
      db,
    );
    // One region, each tenth person two, and each hundredth none.
    await sql`update user_account set attributes = case when right(name, 2) = '00' then '{}'
      else jsonb_build_object('regions', case when name ~ '0$' then '["r1", "r2"]' else '["r3"]' end::jsonb) end
    where name like 'person%'`.execute(db);
    await sql`insert into user_profile (user_id, profile_id, is_default)
    select user_account.id, profile.id, true from user_account, profile where profile.name = 'counted' and user_account.name like 'person%'`.execute(
      db,
    );
    await writeRights(directory, filesOf([region]));
    const { result, seconds } = await measured(() => admin.run(['rights', 'plan', directory, '--json']));
    const { code, stdout } = result;
    expect(code, result.stderr).toBe(4);
    const planned = JSON.parse(stdout) as Counted;
    expect(planned.counted).toBe('all');
    const [orders] = planned.rows;
    const numbers = new Map(orders?.groups.map(({ people, gained, lost }) => [`+${gained} -${lost}`, people]));
    expect(orders?.groups.reduce((sum, { people }) => sum + people, 0)).toBe(1_000);
    process.stderr.write(`${seconds.toFixed(1)} s of processor time\n`);
    // Less would not have read a million rows.
    expect(seconds).toBeGreaterThan(0.2);
    expect(seconds).toBeLessThan(maximumSeconds);

    const sample = ['person100', 'person3', 'person4', 'person10', 'person101'];
    /** The rows that each of the sample lists. The counts run one after another: each reads up to a million rows. */
    const listed = async (): Promise<number[]> => {
      const numbers: number[] = [];
      for (const name of sample) {
        const { id } = await db.selectFrom('user_account').where('name', '=', name).select('id').executeTakeFirstOrThrow();
        const { status, body } = await service().call<{ count: { value: number } }>('GET', '/rest/entity/order?limit=1&count=exact', {
          cookie: await service().openSession(id),
        });
        expect(status, JSON.stringify(body)).toBe(200);
        numbers.push(body.count.value);
      }
      return numbers;
    };
    expect(await listed()).toEqual([1_000, 1_000, 1_000, 1_000, 1_000]);
    await admin.say(['rights', 'apply', directory, '--confirm', planned.digest]);
    await service().settle();
    expect(await listed()).toEqual([0, 100_000, 100_000, 200_000, 100_000]);
    // person3 has created rows of r3 alone, person4 of r4 alone, person10 of r0 alone.
    expect(Object.fromEntries(numbers)).toEqual({
      '+0 -1000': 9,
      '+99000 -0': 100,
      '+100000 -1000': 800,
      '+200000 -1000': 91,
    });
  },
);
