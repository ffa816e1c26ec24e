/** The acceptance checks of rights that no other file has, each under its number, in one world of clerks. */
import { sql } from 'kysely';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { AdminCommand } from '../support/admin.ts';
import { declareType, type Entity } from '../support/entities.ts';
import { callerWith, type RuleGrant } from '../support/rules.ts';
import { tickNow } from '../support/ticks.ts';
import { useService, type Answer, type Call, type ProblemBody } from '../support/service.ts';

const service = useService();
type Body = Entity &
  ProblemBody & { items: Entity[]; partial?: boolean; groups: Record<string, unknown>[]; included?: object; withheld?: object };

let admin: AdminCommand;
let root: Call;
const people = new Map<string, { id: string; call: Call }>();

const send = (who: Call, method: string, path: string, json?: object, call: Call = {}): Promise<Answer<Body>> =>
  service().call<Body>(method, `/rest/${path}`, { ...who, ...call, ...(json && { json }) });
const faultsOf = ({ body }: Answer<Body>) => (body.errors ?? []).map(({ pointer, code }) => `${pointer} ${code}`);
const as = (name: string): Call => people.get(name)?.call ?? {};
const filtered = (filter: object) => `entity/order?limit=100&filter=${encodeURIComponent(JSON.stringify(filter))}`;
const keysOf = ({ body, status, text }: Answer<Body>) => {
  expect(status, text).toBe(200);
  return body.items.map(({ key }) => key);
};
const ofRegions = { region: { $in: { $var: 'user.regions' } } };

const clerk: RuleGrant[] = [
  { entity: 'customer', actions: ['label'] },
  { entity: 'order', actions: ['read', 'update'], rule: { filter: ofRegions, read: ['*', '-margin'], write: ['note'] } },
  {
    entity: 'order',
    actions: ['update'],
    rule: { filter: { state: 'draft', ...ofRegions }, check: { state: 'submitted' }, write: ['state'] },
  },
  { entity: 'order', actions: ['create'], rule: { check: ofRegions } },
];
const own: RuleGrant = { entity: 'order', actions: ['read', 'update', 'delete'], condition: 'own' };

async function person(name: string, grants: readonly RuleGrant[], regions?: readonly string[]): Promise<void> {
  const call = await callerWith(service(), name, grants);
  const { id } = await service().db.selectFrom('user_account').where('name', '=', name).select('id').executeTakeFirstOrThrow();
  if (regions) await admin.say(['user', 'update', name, '--attribute', `regions=${JSON.stringify(regions)}`]);
  people.set(name, { id, call });
}

beforeAll(async () => {
  const text = { type: 'string' };
  const decimal = { type: 'string', format: 'decimal' };
  await declareType(service(), 'customer', { type: 'object', properties: { company: text } });
  await declareType(service(), 'order', {
    type: 'object',
    properties: {
      number: text,
      region: text,
      state: text,
      note: text,
      tenant: text,
      margin: decimal,
      paid: decimal,
      total: decimal,
      day: { type: 'string', format: 'date' },
      placedAt: { type: 'string', format: 'date-time' },
      customer: { type: 'string', format: 'int64' },
      address: { type: 'object', properties: { zip: text } },
    },
    additionalProperties: false,
    'x-unique': [{ fields: ['number'] }],
    'x-index': [['region'], ['margin']],
    'x-references': { customer: { to: 'customer' } },
    'x-soft-delete': true,
  });
  admin = new AdminCommand(service().databaseUrl);
  await admin.say(['attribute', 'set', 'user', 'regions', '--schema', '{"type":"array","items":{"type":"string"}}']);
  root = { cookie: await service().openSession((await service().createUser('root')).id) };
  await person('ada', [...clerk, own], ['north']);
  await person('bob', clerk, ['north']);
  await person('eve', clerk);
  await service().settle();
});

let count = 0;
async function order(fields: object, who = root): Promise<Entity> {
  const { status, body, text } = await send(who, 'POST', 'entity/order', { number: `n${++count}`, ...fields });
  expect(status, text).toBe(201);
  return body;
}
const at = ({ key }: Entity) => `entity/order/${key}`;
/** An order of ada in the south, with a margin that root has set. */
async function ownInSouth(fields: object = {}): Promise<Entity> {
  const { body } = await send(root, 'POST', at(await order({ region: 'north', ...fields }, as('ada'))), { region: 'south', margin: '7' });
  return body;
}

describe('reads', () => {
  test('404 — a row of another region is as one of no key (check 1 of rights)', async () => {
    const [north, south] = [await order({ region: 'north', margin: '5' }), await order({ region: 'south', margin: '5' })];
    const found = await send(as('ada'), 'GET', at(north));
    expect([found.status, Object.keys(found.body.fields).toSorted()]).toEqual([200, ['number', 'region']]);
    const [hidden, missing] = [await send(as('ada'), 'GET', at(south)), await send(as('ada'), 'GET', 'entity/order/9000000000000000000')];
    expect([hidden.status, missing.status]).toEqual([404, 404]);
    expect({ ...hidden.body, instance: '' }).toEqual({ ...missing.body, instance: '' });
  });

  test('200 — an own row of another region shows all of itself alone (check 2 of rights)', async () => {
    const [north, mine] = [await order({ region: 'north', margin: '5', note: 'two' }), await ownInSouth({ note: 'two' })];
    expect((await send(as('ada'), 'GET', at(mine))).body.fields['margin']).toBe('7');
    const list = await send(as('ada'), 'GET', filtered({ note: 'two' }));
    expect(list.body.items.map(({ key, fields }) => [key, fields['margin']])).toEqual([
      [north.key, undefined],
      [mine.key, '7'],
    ]);
    expect(list.body.partial).toBe(true);
  });

  test('200 — a filter sees a hidden cell as a missing one, and it and its $not are the list (check 3 of rights)', async () => {
    const rows = [await order({ region: 'north', margin: '5', note: 'three' }), await ownInSouth({ note: 'three' })];
    const list = async (filter: object) => keysOf(await send(as('ada'), 'GET', filtered({ note: 'three', ...filter })));
    const [north, mine] = rows.map(({ key }) => key);
    for (const [filter, holds] of [
      [{ margin: { $gt: '0' } }, [mine]],
      [{ margin: { $exists: false } }, [north]],
    ] as const) {
      expect(await list(filter)).toEqual(holds);
      expect(
        [...(await list(filter)), ...(await list({ $not: filter }))].toSorted((one = '', other = '') => Number(one) - Number(other)),
      ).toEqual([north, mine]);
    }
  });

  test('200 and 422 — hidden cells are sorted last, and descending first, up to 10,000 rows (check 4 of rights)', async () => {
    for (const [name, rows] of [
      ['few', 9_000],
      ['many', 20_000],
    ] as const)
      await sql`insert into entity (name, fields, created_by, updated_by)
        select ${name}, jsonb_build_object('region', 'north', 'margin', lpad(n::text, 5, '0')), case when n % 1000 = 0 then 'sorter' else 'root' end, 'root'
        from generate_series(1, ${rows}::int) as n`.execute(service().db);
    await person(
      'sorter',
      ['few', 'many'].flatMap((entity): RuleGrant[] => [
        { entity, actions: ['read'], rule: { filter: { region: 'north' }, read: ['*', '-margin'] } },
        { entity, actions: ['read'], condition: 'own' },
      ]),
    );
    const ends = async (sort: string) => {
      const { body, status, text } = await send(as('sorter'), 'GET', `entity/few?limit=12&sort=${sort}`);
      expect(status, text).toBe(200);
      return body.items.map(({ fields }) => fields['margin'] ?? null);
    };
    const mine = Array.from({ length: 9 }, (_, index) => `0${index + 1}000`);
    expect(await ends('margin')).toEqual([...mine, null, null, null]);
    expect(await ends('-margin')).toEqual(Array.from({ length: 12 }, () => null));
    const refused = await send(as('sorter'), 'GET', 'entity/many?limit=12&sort=margin');
    expect([refused.status, (refused.body.errors ?? []).map(({ code }) => code)]).toEqual([422, ['needs-index']]);
  });

  test('422 — a field that no grant shows is as one that does not exist (check 5 of rights)', async () => {
    const masked = (answer: Answer<Body>, name: string) => [
      answer.status,
      answer.text.replaceAll(name, 'NAME').replaceAll(/urn:uuid:[0-9a-f-]+/g, ''),
    ];
    const roads: ((name: string) => Promise<Answer<Body>>)[] = [
      (name) => send(as('bob'), 'GET', `entity/order?fields=${name}`),
      (name) => send(as('bob'), 'GET', `entity/order?sort=${name}`),
      (name) => send(as('bob'), 'GET', filtered({ [name]: 'x' })),
      (name) => send(as('bob'), 'GET', `entity/order?include=${name}`),
      (name) => send(as('bob'), 'POST', 'entity/order/aggregate', { groupBy: [name], measures: { n: { $count: true } } }),
    ];
    for (const road of roads) {
      const [hidden, absent] = [masked(await road('margin'), 'margin'), masked(await road('nosuch'), 'nosuch')];
      expect(hidden[0]).toBe(422);
      expect(hidden).toEqual(absent);
    }
  });

  test('200 — in an open type such a field has no value, and nothing tells the two apart (check 5 of rights)', async () => {
    await person('opened', [{ entity: 'memo', actions: ['read'], rule: { filter: { region: 'north' }, read: ['*', '-margin'] } }]);
    await send(root, 'POST', 'entity/memo', { region: 'north', margin: '5' });
    for (const path of ['?fields=NAME', '?sort=NAME', `?filter=${encodeURIComponent('{"NAME":{"$exists":true}}')}`]) {
      const [hidden, absent] = await Promise.all(
        ['margin', 'nosuch'].map((name) => send(as('opened'), 'GET', `entity/memo${path.replace('NAME', name)}`)),
      );
      expect([hidden?.status, hidden?.text]).toEqual([200, absent?.text]);
    }
  });
});

describe('changes', () => {
  test('200 and 403 — from draft to submitted, not with the margin, and not back (check 6 of rights)', async () => {
    const row = await order({ region: 'north', state: 'draft', margin: '5' });
    const both = await send(as('bob'), 'POST', at(row), { state: 'submitted', margin: '6' });
    expect([both.status, faultsOf(both)]).toEqual([403, ['/margin not-writable']]);
    expect((await send(as('bob'), 'POST', at(row), { state: 'submitted' })).status).toBe(200);
    const back = await send(as('bob'), 'POST', at(row), { state: 'draft' });
    expect([back.status, faultsOf(back).map((fault) => fault.split(' ')[0])]).toEqual([403, ['/state']]);
    expect((await send(root, 'GET', at(row))).body).toMatchObject({ version: 2, fields: { state: 'submitted', margin: '5' } });
  });

  test('403 and 200 — each changed field needs a grant that covers the row (check 7 of rights)', async () => {
    await person('parted', [
      { entity: 'order', actions: ['read'] },
      { entity: 'order', actions: ['update'], rule: { filter: { state: 'draft' }, check: {}, write: ['note'] } },
      { entity: 'order', actions: ['update'], rule: { write: ['paid'] } },
    ]);
    const row = await order({ region: 'north', state: 'submitted' });
    const both = await send(as('parted'), 'POST', at(row), { note: 'n', paid: '1' });
    expect([both.status, faultsOf(both)]).toEqual([403, ['/note not-writable']]);
    expect((await send(root, 'GET', at(row))).body.version).toBe(1);
    expect((await send(as('parted'), 'POST', at(row), { paid: '1' })).status).toBe(200);
  });

  test('200 and 403 — an own order leaves the region, and none is created elsewhere (check 8 of rights)', async () => {
    const mine = await order({ region: 'north' }, as('ada'));
    expect((await send(as('ada'), 'POST', at(mine), { region: 'south' })).status).toBe(200);
    const refused = await send(as('ada'), 'POST', 'entity/order', { number: 'elsewhere', region: 'south' });
    expect([refused.status, faultsOf(refused)]).toEqual([403, ['/region value-forbidden']]);
    expect(keysOf(await send(root, 'GET', filtered({ number: 'elsewhere' })))).toEqual([]);
  });

  test('409 and 422 — an upsert by the number of a row of others, and by a hidden field (check 24 of rights)', async () => {
    await order({ number: 'taken', region: 'south' });
    const upsert = (by: string) =>
      send(as('bob'), 'POST', `entity/order/upsert?by=${by}`, { number: 'taken', region: 'north', note: 'mine' });
    const refused = await upsert('number');
    expect([refused.status, refused.body.code, faultsOf(refused)]).toEqual([409, 'unique-conflict', ['/number duplicate-value']]);
    const [hidden, absent] = [await upsert('margin'), await upsert('nosuch')];
    expect([hidden.status, hidden.body.code]).toEqual([422, 'validation-failed']);
    expect(hidden.body.errors).toEqual(absent.body.errors);
    expect((await send(root, 'GET', filtered({ number: 'taken' }))).body.items.map(({ fields }) => fields['note'])).toEqual([undefined]);
  });

  test('410, 403 and 200 — a repeat counts by the rights of now (check 26 of rights)', async () => {
    const grants = (read: string[]): RuleGrant[] => [
      { entity: 'order', actions: ['read', 'update'], rule: { filter: { region: 'north' }, read, write: ['note'] } },
    ];
    const repeat = async (name: string, change: (row: Entity) => Promise<unknown>) => {
      await person(name, grants(['*']));
      const row = await order({ region: 'north', margin: '5' });
      const again = () => send(as(name), 'POST', at(row), { note: 'n' }, { headers: { 'idempotency-key': `"${name}"` } });
      expect((await again()).body).toMatchObject({ version: 2, fields: { margin: '5' } });
      await change(row);
      await service().settle();
      return await again();
    };
    const moved = await repeat('moved', (row) => send(root, 'POST', at(row), { region: 'south' }));
    expect(moved.status).toBe(410);
    const revoked = await repeat('revoked', () =>
      sql`delete from role_grant using role where role.id = role_id and role.name = 'revoked'`.execute(service().db),
    );
    expect(revoked.status).toBe(403);
    const narrowed = await repeat('narrowed', async () => {
      await person('narrower', grants(['*', '-margin']));
      await sql`update role_grant set condition = (select condition from role_grant join role on role.id = role_id where role.name = 'narrower' limit 1)
        from role where role.id = role_id and role.name = 'narrowed'`.execute(service().db);
    });
    expect([narrowed.status, narrowed.body.version, narrowed.body.fields]).toEqual([
      200,
      2,
      { number: expect.any(String), region: 'north', note: 'n' },
    ]);
  });
});

describe('variables', () => {
  test('an empty list, null, and a text in place of the list (check 13 of rights)', async () => {
    const [north, south] = [await order({ region: 'north', note: 'list' }), await order({ region: 'south', note: 'list' })];
    const rule = (filter: object): RuleGrant => ({ entity: 'order', actions: ['read'], rule: { filter } });
    await person('within', [rule(ofRegions)]);
    await person('without', [rule({ region: { $nin: { $var: 'user.regions' } } })]);
    const lists = async () => {
      await service().settle();
      return await Promise.all(['within', 'without'].map(async (name) => keysOf(await send(as(name), 'GET', filtered({ note: 'list' })))));
    };
    const store = (attributes: object) =>
      sql`update user_account set attributes = ${JSON.stringify(attributes)}::jsonb where name in ('within', 'without')`.execute(
        service().db,
      );
    await store({ regions: ['north'] });
    expect(await lists()).toEqual([[north.key], [south.key]]);
    await store({ regions: [] });
    expect(await lists()).toEqual([[], [north.key, south.key]]);
    for (const regions of [null, 'north']) {
      await store({ regions });
      expect(await lists()).toEqual([[], []]);
    }
  });

  test('the next request of a session and of a key follows a changed attribute, on each process (check 15 of rights)', async () => {
    await person('moving', clerk, ['north']);
    const { id, call } = people.get('moving') ?? { id: '', call: {} };
    const key: Call = { headers: { 'x-api-key': await service().createKey(id) } };
    const replica = await service().replica();
    onTestFinished(() => replica.stop());
    const [north, south] = [await order({ region: 'north', note: 'move' }), await order({ region: 'south', note: 'move' })];
    const seen = async () => {
      const lists = [];
      for (const on of [service(), replica])
        for (const who of [call, key])
          lists.push((await on.call<Body>('GET', `/rest/${filtered({ note: 'move' })}`, who)).body.items.map((each) => each.key));
      return lists;
    };
    expect(await seen()).toEqual(Array.from({ length: 4 }, () => [north.key]));
    await admin.say(['user', 'update', 'moving', '--attribute', 'regions=["south"]']);
    expect(await seen()).toEqual(Array.from({ length: 4 }, () => [south.key]));
  });

  test('a day is that of the time zone of the user, and $ago counts from now (check 20 of rights)', async () => {
    // One of the two is another day than UTC at any time.
    const zones = ['Pacific/Kiritimati', 'Etc/GMT+12'];
    const dayIn = (zone: string) => new Intl.DateTimeFormat('sv-SE', { timeZone: zone }).format(new Date());
    const days = [...new Set([...zones.map(dayIn), dayIn('UTC')])];
    expect(days.length).toBeGreaterThan(1);
    const rows = new Map<string, string>();
    for (const day of days) rows.set(day, (await order({ region: 'north', note: 'day', day })).key);
    for (const [index, zone] of zones.entries()) {
      const name = `zoned${index}`;
      await person(name, [{ entity: 'order', actions: ['read'], rule: { filter: { day: { $var: 'today' } } } }]);
      await admin.say(['user', 'update', name, '--time-zone', zone]);
      expect(keysOf(await send(as(name), 'GET', filtered({ note: 'day' })))).toEqual([rows.get(dayIn(zone))]);
    }
    const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();
    const [late] = [
      await order({ region: 'north', note: 'ago', placedAt: hoursAgo(23) }),
      await order({ region: 'north', note: 'ago', placedAt: hoursAgo(25) }),
    ];
    expect(keysOf(await send(as('bob'), 'GET', filtered({ note: 'ago', placedAt: { $gte: { $ago: 'P1D' } } })))).toEqual([late.key]);
  });
});

describe('filters', () => {
  test('$and, $or and $not inside of a field, and the operators that a fault names (check 18 of rights)', async () => {
    const zips = ['W1', 'W2', 'E1', undefined];
    const rows: Entity[] = [];
    for (const zip of zips) rows.push(await order({ region: 'north', note: 'zip', ...(zip !== undefined && { address: { zip } }) }));
    const filter = { note: 'zip', address: { $or: [{ zip: 'W1' }, { $not: { zip: { $prefix: 'W' } } }] } };
    expect(keysOf(await send(as('bob'), 'GET', filtered(filter)))).toEqual([rows[0]?.key, rows[2]?.key, rows[3]?.key]);
    const { status, body } = await send(as('bob'), 'GET', filtered({ address: { $nor: [] } }));
    expect(status).toBe(422);
    expect(JSON.stringify(body.errors)).toMatch(/\$and.*\$not.*\$or|\$and.*\$or.*\$not/);
  });

  test('$field compares by value, with a field of the same kind, and a missing side fulfils nothing (check 19 of rights)', async () => {
    const rows: Entity[] = [];
    for (const fields of [{ paid: '9.5', total: '10' }, { paid: '10.0', total: '10' }, { total: '10' }])
      rows.push(await order({ region: 'north', note: 'field', ...fields }));
    const less = { paid: { $lt: { $field: 'total' } } };
    expect(keysOf(await send(as('bob'), 'GET', filtered({ note: 'field', ...less })))).toEqual([rows[0]?.key]);
    expect(keysOf(await send(as('bob'), 'GET', filtered({ note: 'field', $not: less })))).toEqual([rows[1]?.key, rows[2]?.key]);
    const refused = await send(as('bob'), 'GET', filtered({ note: { $lt: { $field: 'total' } } }));
    expect([refused.status, (refused.body.errors ?? []).map(({ code }) => code)]).toEqual([422, ['invalid-type']]);
  });
});

describe('other roads', () => {
  test('200 — an include of a target that is not covered is withheld, and of a hidden reference is neither (check 21 of rights)', async () => {
    const customer = (await send(root, 'POST', 'entity/customer', { company: 'Ada' })).body;
    await order({ region: 'north', note: 'include', customer: customer.key });
    const read: RuleGrant = { entity: 'order', actions: ['read'], rule: { filter: { region: 'north' } } };
    const hidden: RuleGrant = {
      entity: 'order',
      actions: ['read'],
      rule: { filter: { region: 'north', note: 'include' }, read: ['*', '-customer'] },
    };
    await person('covered', [read, { entity: 'customer', actions: ['read'] }]);
    await person('uncovered', [read, { entity: 'customer', actions: ['read'], rule: { filter: { company: 'Bob' } } }]);
    // A grant that covers nothing shows the field somewhere, so that the name is known.
    await person('unshown', [
      hidden,
      { entity: 'order', actions: ['read'], rule: { filter: { region: 'nowhere' } } },
      { entity: 'customer', actions: ['read'] },
    ]);
    const included = async (name: string) => {
      const { status, text } = await send(as(name), 'GET', `${filtered({ note: 'include' })}&include=customer`);
      expect(status, text).toBe(200);
      return ['"company"', '"withheld"'].map((part) => text.includes(part) && !text.includes(`${part}:{}`) && !text.includes(`${part}:[]`));
    };
    expect(await included('covered')).toEqual([true, false]);
    expect(await included('uncovered')).toEqual([false, true]);
    expect(await included('unshown')).toEqual([false, false]);
  });

  test('200 — hidden cells are null in groups, and in no sum (check 23 of rights)', async () => {
    await order({ region: 'north', note: 'sum', margin: '5' });
    await order({ region: 'north', note: 'sum', margin: '6' });
    await ownInSouth({ note: 'sum' });
    const aggregate = (request: object) => send(as('ada'), 'POST', 'entity/order/aggregate', { filter: { note: 'sum' }, ...request });
    const grouped = await aggregate({ groupBy: ['margin'], measures: { n: { $count: true } } });
    expect(grouped.status, grouped.text).toBe(200);
    expect(grouped.text).toContain('"7"');
    expect(grouped.text).not.toMatch(/"5"|"6"/);
    const sum = await aggregate({ measures: { sum: { $sum: 'margin' }, n: { $count: true } } });
    expect(sum.text).toMatch(/"sum":"7"/);
    expect(sum.text).toMatch(/"n":3/);
  });

  test('200 and 404 — the versions that were covered, and none when the row has left (check 27 of rights)', async () => {
    const row = await order({ region: 'north', margin: '1' });
    for (const change of [{ region: 'south' }, { note: 's', margin: '2' }, { region: 'north', margin: '3' }, { note: 'n', margin: '4' }])
      await send(root, 'POST', at(row), change);
    const history = await service().call<{ items: { version: number; changed?: string[] }[] }>(
      'GET',
      `/rest/${at(row)}/history`,
      as('bob'),
    );
    expect(history.body.items.map(({ version }) => version).toSorted((one, other) => one - other)).toEqual([1, 4, 5]);
    expect(history.text).not.toContain('margin');
    await send(root, 'POST', at(row), { region: 'south' });
    expect((await send(as('bob'), 'GET', `${at(row)}/history`)).status).toBe(404);
  });

  test('200 — no road has the hidden field of 500 random rows (check 28 of rights)', async () => {
    const secret = 'secret-margin';
    await person('blind', [
      {
        entity: 'sheet',
        actions: ['read', 'update', 'delete'],
        rule: { filter: { region: 'north' }, read: ['*', '-margin'], write: ['note'] },
      },
    ]);
    const rows = Array.from({ length: 500 }, (_, n) => ({
      region: n % 3 === 0 ? 'south' : 'north',
      ...(n % 4 > 0 && { margin: `${secret}${n}` }),
      ...(n % 5 > 0 && { note: `n${n % 7}` }),
    }));
    const { text: created } = await send(root, 'POST', 'entity/sheet/bulk', rows);
    const keys = [...created.matchAll(/"key":"(\d+)"/g)].map(([, key = '']) => key);
    expect(keys).toHaveLength(500);
    const key = keys.find((_, n) => n % 3 > 0 && n % 4 > 0) ?? '';
    const position = await tickNow(service());
    const repeated: Call = { headers: { 'idempotency-key': '"blind"' } };
    const texts = [
      await send(as('blind'), 'GET', 'entity/sheet?limit=100'),
      await send(as('blind'), 'POST', 'entity/sheet/query', { limit: 100 }),
      await send(as('blind'), 'GET', `entity/sheet/${key}`),
      await send(as('blind'), 'POST', `entity/sheet/${key}`, { note: 'once' }, repeated),
      await send(as('blind'), 'POST', `entity/sheet/${key}`, { note: 'once' }, repeated),
      await send(as('blind'), 'GET', `entity/sheet/${key}/history`),
      await send(as('blind'), 'GET', `entity/sheet/${key}?asOf=${position}`),
      await send(as('blind'), 'POST', 'batch', { operations: [{ op: 'get', name: 'sheet', key }] }),
      await send(as('blind'), 'GET', 'entity/sheet/export'),
      await send(as('blind'), 'GET', 'entity/sheet/export', undefined, { headers: { accept: 'text/csv' } }),
    ];
    for (const [place, { status, text }] of texts.entries()) {
      expect([place, status]).toEqual([place, 200]);
      expect(text).not.toMatch(/margin/);
    }
    expect((await send(root, 'GET', 'entity/sheet/export')).text).toContain(secret);
  });
});
