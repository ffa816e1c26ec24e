/** Counts under rules. */
import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { declareType } from '../support/entities.ts';
import { callerWith } from '../support/rules.ts';
import { useService, type Call } from '../support/service.ts';

const service = useService();
const callers = new Map<string, Call>();
/** A rule that an index serves, and one that none serves: 12,000 of 13,000 entities each. */
const rules = { served: { region: 'north' }, unserved: { note: { $ne: 'south' } } };

beforeAll(async () => {
  await sql`
    insert into entity (name, fields, created_by, updated_by)
    select 'order', case when n <= 12000 then '{"region": "north", "note": "north"}' else '{"region": "south", "note": "south"}' end::jsonb, 'root', 'root'
    from generate_series(1, 13000) as n`.execute(service().db);
  const text = { type: 'string' };
  await declareType(service(), 'order', { type: 'object', properties: { region: text, note: text }, 'x-index': [['region']] });
  for (const [name, filter] of Object.entries(rules))
    callers.set(name, await callerWith(service(), name, [{ entity: 'order', actions: ['read'], rule: { filter } }]));
});

test.each(Object.keys(rules))(
  '200 — exact, capped, and estimated as capped, under a rule that is %s (check 22 of rights) (rule 64)',
  async (name) => {
    const counts = [];
    for (const kind of ['exact', 'capped', 'estimated']) {
      const { body, status, text } = await service().call<{ count: object }>(
        'GET',
        `/rest/entity/order?limit=1&count=${kind}`,
        callers.get(name),
      );
      expect(status, text).toBe(200);
      counts.push(body.count);
    }
    expect(counts).toEqual([
      { value: 12_000, kind: 'exact' },
      { value: 10_000, kind: 'capped' },
      { value: 10_000, kind: 'capped' },
    ]);
  },
);

test('200 — a filter is counted among covered entities alone', async () => {
  for (const caller of callers.values()) {
    const filter = encodeURIComponent(JSON.stringify({ region: 'south' }));
    const { body } = await service().call<{ count: object }>('GET', `/rest/entity/order?count=exact&filter=${filter}`, caller);
    expect(body.count).toEqual({ value: 0, kind: 'exact' });
  }
});
