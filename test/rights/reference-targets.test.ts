/** A check that looks through a reference tells nothing of an entity to which the caller may not refer (rule 178). */
import { beforeAll, describe, expect, test } from 'vitest';
import { declareType, type Entity } from '../support/entities.ts';
import { callerWith } from '../support/rules.ts';
import { useService, type Call, type ProblemBody } from '../support/service.ts';

const service = useService();
type Body = Entity & ProblemBody;
let root: Call;
let ada: Call;
/** The customers of ada and of bob, of which ada sees the visible ones. */
const customers: Record<'mine' | 'foreign' | 'hiddenMine' | 'hiddenForeign' | 'missing', string> = {
  mine: '',
  foreign: '',
  hiddenMine: '',
  hiddenForeign: '',
  missing: '9000000000000000000',
};

beforeAll(async () => {
  const text = { type: 'string' };
  await declareType(service(), 'customer', { type: 'object', properties: { agent: text, isVisible: { type: 'boolean' } } });
  await declareType(service(), 'order', {
    type: 'object',
    properties: { number: text, customer: { type: 'string', format: 'int64' } },
    'x-unique': [{ fields: ['number'] }],
    'x-references': { customer: { to: 'customer' } },
  });
  root = { cookie: await service().openSession((await service().createUser('root')).id) };
  const ofMine = { customer: { $match: { agent: { $var: 'user.name' } } } };
  ada = await callerWith(service(), 'ada', [
    { entity: 'order', actions: ['create', 'update'], rule: { filter: {}, check: ofMine, read: ['*'] } },
    { entity: 'order', actions: ['read'] },
    { entity: 'customer', actions: ['label'], rule: { filter: { isVisible: true } } },
  ]);
  for (const [name, agent, isVisible] of [
    ['mine', 'ada', true],
    ['foreign', 'bob', true],
    ['hiddenMine', 'ada', false],
    ['hiddenForeign', 'bob', false],
  ] as const)
    customers[name] = (await service().call<Entity>('POST', '/rest/entity/customer', { ...root, json: { agent, isVisible } })).body.key;
});

let count = 0;
const number = () => `n${++count}`;
type Outcome = [status: number, ...faults: string[]];
const outcomeOf = (status: number, { errors }: Pick<Body, 'errors'>): Outcome => [
  status,
  ...(errors ?? []).map(({ pointer, code }) => `${pointer?.replace(/.*(?=\/customer)/, '')} ${code}`),
];
const sent = async (method: string, path: string, call: Call): Promise<Outcome> => {
  const { status, body } = await service().call<Body>(method, `/rest/${path}`, { ...ada, ...call });
  return outcomeOf(status, body);
};

/** Writes an order of the customer on a road. */
const roads: Readonly<Record<string, (customer: string) => Promise<Outcome>>> = {
  create: (customer) => sent('POST', 'entity/order', { json: { number: number(), customer } }),
  update: async (customer) => {
    const json = { number: number(), customer: customers.mine };
    const { body } = await service().call<Entity>('POST', '/rest/entity/order', { ...root, json });
    return await sent('POST', `entity/order/${body.key}`, { json: { customer } });
  },
  'upsert of a new one': (customer) => sent('POST', 'entity/order/upsert?by=number', { json: { number: number(), customer } }),
  'upsert of a present one': async (customer) => {
    const json = { number: number(), customer: customers.mine };
    await service().call<Entity>('POST', '/rest/entity/order', { ...root, json });
    return await sent('POST', 'entity/order/upsert?by=number', { json: { ...json, customer } });
  },
  bulk: (customer) => sent('POST', 'entity/order/bulk', { json: [{ number: number(), customer }] }),
  'batch with one create': (customer) =>
    sent('POST', 'batch', { json: { operations: [{ op: 'create', name: 'order', fields: { number: number(), customer } }] } }),
  'batch with two creates': (customer) => {
    const creates = [customers.mine, customer].map((each) => ({
      op: 'create',
      name: 'order',
      fields: { number: number(), customer: each },
    }));
    return sent('POST', 'batch', { json: { operations: creates } });
  },
  'import of a new one': (customer) => imported({ number: number(), customer }),
  'import of a present one': async (customer) => {
    const json = { number: number(), customer: customers.mine };
    await service().call<Entity>('POST', '/rest/entity/order', { ...root, json });
    return await imported({ ...json, customer });
  },
};

async function imported(fields: object): Promise<Outcome> {
  const headers = { ...ada.headers, 'content-type': 'application/x-ndjson' };
  const { text } = await service().call('POST', '/rest/entity/order/import?by=number&mode=update', {
    ...ada,
    headers,
    raw: JSON.stringify(fields),
  });
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Partial<Body> & { status?: number });
  const { status = 200, errors = [] } = lines.find((line) => line.code !== undefined) ?? {};
  return outcomeOf(status, { errors });
}

describe.each(Object.entries(roads))('%s', (_road, write) => {
  test('200 — the check holds, 403 — it does not, and 422 — a hidden target answers as a missing one (rule 178)', async () => {
    expect((await write(customers.mine))[0]).toBeLessThan(300);
    expect(await write(customers.foreign)).toEqual([403, '/customer value-forbidden']);
    for (const name of ['missing', 'hiddenForeign', 'hiddenMine'] as const)
      expect(await write(customers[name]), name).toEqual([422, '/customer reference-not-found']);
  });
});
