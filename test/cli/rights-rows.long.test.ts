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

/** The processor time of this process and of the ended processes of PostgreSQL, in seconds. */
async function processorSeconds(): Promise<number> {
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(service().db);
  const statOf = (pid: number | string | undefined) =>
    readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
  const [, postmaster] = statOf(rows[0]?.pid);
  const [children = 0, ofSystem = 0] = statOf(postmaster).slice(13, 15).map(Number);
  const { user, system } = process.cpuUsage();
  return (children + ofSystem) / ticksPerSecond + (user + system) / 1_000_000;
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
    const before = await processorSeconds();
    const { code, stdout } = await admin.run(['rights', 'plan', directory, '--json']);
    const seconds = (await processorSeconds()) - before;
    const planned = JSON.parse(stdout) as Counted;
    expect([code, planned.counted]).toEqual([4, 'all']);
    const [orders] = planned.rows;
    const numbers = new Map(orders?.groups.map(({ people, gained, lost }) => [`+${gained} -${lost}`, people]));
    expect(orders?.groups.reduce((sum, { people }) => sum + people, 0)).toBe(1_000);
    process.stderr.write(`${seconds.toFixed(1)} s of processor time\n`);
    expect(seconds).toBeLessThan(maximumSeconds);

    const lists = async (name: string) => {
      const { id } = await db.selectFrom('user_account').where('name', '=', name).select('id').executeTakeFirstOrThrow();
      const { body } = await service().call<{ count: { value: number } }>('GET', '/rest/entity/order?limit=1&count=exact', {
        cookie: await service().openSession(id),
      });
      return body.count.value;
    };
    const sample = ['person100', 'person3', 'person4', 'person10', 'person101'];
    const was = await Promise.all(sample.map(lists));
    expect(was).toEqual([1_000, 1_000, 1_000, 1_000, 1_000]);
    await admin.say(['rights', 'apply', directory, '--confirm', planned.digest]);
    await service().settle();
    expect(await Promise.all(sample.map(lists))).toEqual([0, 100_000, 100_000, 200_000, 100_000]);
    // person3 has created rows of r3 alone, person4 of r4 alone, person10 of r0 alone.
    expect(Object.fromEntries(numbers)).toEqual({
      '+0 -1000': 9,
      '+99000 -0': 100,
      '+100000 -1000': 800,
      '+200000 -1000': 91,
    });
  },
);
