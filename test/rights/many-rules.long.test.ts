/** A hundred profiles with a rule each, all in use: what their statements cost a connection (check 34 of rights). */
import { readFileSync } from 'node:fs';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { declareType, type Entity } from '../support/entities.ts';
import { callerWith } from '../support/rules.ts';
import { useService, type Call } from '../support/service.ts';

const service = useService();
const profiles = 100;
const maximumMebibytes = 20;

/** The memory of its own that each process of PostgreSQL for this database has, in MiB, by its number. */
async function connections(): Promise<Map<number, number>> {
  const { rows } = await sql<{ pid: number }>`
    select pid from pg_stat_activity where datname = current_database() and backend_type = 'client backend'`.execute(service().db);
  return new Map(
    rows.map(({ pid }) => [pid, Number(/RssAnon:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1_024]),
  );
}

test(
  '200 — a hundred rules take at most 20 MiB more of a connection, and each answers (check 34 of rights)',
  { timeout: 600_000 },
  async () => {
    const text = { type: 'string' };
    await declareType(service(), 'order', {
      type: 'object',
      properties: { region: text, note: text, margin: text },
      'x-index': [['region']],
    });
    const root: Call = { cookie: await service().openSession((await service().createUser('root')).id) };
    const { body: row } = await service().call<Entity>('POST', '/rest/entity/order', { ...root, json: { region: 'north', note: 'a' } });
    const requests = async (who: Call, n: number) => {
      const statuses = [];
      for (const [method, path, json] of [
        ['GET', `/${row.key}`, undefined],
        ['GET', '?limit=5', undefined],
        ['GET', '?limit=5&sort=region&count=exact', undefined],
        ['POST', `/${row.key}`, { note: `n${n}` }],
        ['POST', '/aggregate', { measures: { n: { $count: true } } }],
        ['GET', `/${row.key}/history`, undefined],
      ] as const)
        statuses.push((await service().call(method, `/rest/entity/order${path}`, { ...who, ...(json && { json }) })).status);
      return statuses;
    };
    for (let n = 0; n < 20; n += 1) expect(await requests(root, n)).toEqual([200, 200, 200, 200, 200, 200]);
    const before = await connections();
    const callers: Call[] = [];
    for (let n = 0; n < profiles; n += 1) {
      // Each rule has another text, and covers the row.
      const filter = { $or: [{ region: 'north' }, ...Array.from({ length: 1 + (n % 10) }, (_, at) => ({ note: `${n} ${at}` }))] };
      callers.push(
        await callerWith(service(), `clerk${n}`, [
          { entity: 'order', actions: ['read', 'update'], rule: { filter, check: {}, read: ['*', '-margin'] } },
        ]),
      );
    }
    for (let round = 0; round < 3; round += 1)
      for (const [n, caller] of callers.entries()) expect(await requests(caller, n + round)).toEqual([200, 200, 200, 200, 200, 200]);
    const after = await connections();
    const grown = [...after].flatMap(([pid, now]) => (before.has(pid) ? [now - (before.get(pid) ?? 0)] : []));
    process.stderr.write(`${grown.map((each) => each.toFixed(1)).join(', ')} MiB more\n`);
    expect(grown.length).toBeGreaterThan(0);
    expect(Math.max(...grown)).toBeLessThan(maximumMebibytes);
  },
);
