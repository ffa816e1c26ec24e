/** Names of entities: `x-label`, `labels=1` and `$label`. */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { declareType, type Entity } from '../../support/entities.ts';
import { callerWith } from '../../support/rules.ts';
import { useService, type Answer, type Call, type ProblemBody } from '../../support/service.ts';

type Labels = Record<string, Record<string, string>>;
type Named = Entity & { label?: string; labels?: Labels };
type Body = Named & ProblemBody & { items: Named[]; next: string | null; prev: string | null; effect: string };

const text = { type: 'string' };
const id = { type: ['string', 'null'], format: 'int64' };
const customerType = {
  type: 'object',
  'x-label': ['company', 'city'],
  'x-index': [['$label'], ['company']],
  properties: { company: text, city: text, area: text, active: { type: 'boolean' } },
};
const invoiceType = {
  type: 'object',
  'x-label': ['number'],
  'x-references': { customer: { to: 'customer' }, payer: { to: 'customer' } },
  properties: { number: text, customer: id, payer: id },
};

const service = useService();
let admin: Call;

const send = (who: Call, method: string, path: string, json?: object, headers: Record<string, string> = {}): Promise<Answer<Body>> =>
  service().call<Body>(method, `/rest/${path}`, { ...who, headers: { ...who.headers, ...headers }, ...(json && { json }) });
const created = async (name: string, fields: object): Promise<string> => {
  const { status, body } = await send(admin, 'POST', `entity/${name}`, fields);
  expect(status, JSON.stringify(body)).toBe(201);
  return body.key;
};

beforeAll(async () => {
  const { id: user } = await service().createUser('admin', { '*': ['create', 'read', 'update', 'delete', 'type'] });
  admin = { cookie: await service().openSession(user) };
  await declareType(service(), 'customer', customerType);
  await declareType(service(), 'invoice', invoiceType);
});

describe('names beside entities', () => {
  let north = '';
  let south = '';
  let nameless = '';
  let invoice = '';
  let second = '';
  beforeAll(async () => {
    north = await created('customer', { company: 'Analytical Engines', city: 'London', area: 'north' });
    south = await created('customer', { company: 'Difference', area: 'south' });
    nameless = await created('customer', { area: 'north' });
    invoice = await created('invoice', { number: 'R-1', customer: north, payer: south });
    second = await created('invoice', { number: 'R-2', customer: nameless, payer: null });
  });

  test('200 — a list, a query, a read and a history have the names of entities and of what they refer to', async () => {
    const labels = { customer: { [north]: 'Analytical Engines, London', [south]: 'Difference' } };
    const list = await send(admin, 'GET', 'entity/invoice?labels=1');
    expect(list.body).toMatchObject({ items: [{ label: 'R-1' }, { label: 'R-2' }], labels });
    expect(Object.keys(list.body.labels?.['customer'] ?? {})).not.toContain(nameless);
    expect((await send(admin, 'POST', 'entity/invoice/query', { labels: true })).body).toMatchObject({
      items: [{ label: 'R-1' }, {}],
      labels,
    });
    expect((await send(admin, 'GET', `entity/invoice/${invoice}?labels=1`)).body).toMatchObject({ label: 'R-1', labels });
    expect((await send(admin, 'GET', `entity/invoice/${invoice}/history?labels=1`)).body).toMatchObject({
      items: [{ label: 'R-1' }],
      labels,
    });
    const plain = await send(admin, 'GET', `entity/invoice/${invoice}`);
    expect(plain.body).not.toHaveProperty('label');
    expect(plain.body).not.toHaveProperty('labels');
  });

  test('200 — with `fields` the names of references that are sent come alone, beside what `include` names', async () => {
    const { body } = await send(admin, 'GET', 'entity/invoice?labels=1&fields=payer&include=payer');
    expect(body.labels).toEqual({ customer: { [south]: 'Difference' } });
    expect(body).toMatchObject({ included: { customer: { [south]: { fields: { company: 'Difference' } } } } });
  });

  test('200 — the names that the caller may see; another key has none, like a key of no entity (check 3, rule 192)', async () => {
    const ware = await callerWith(service(), 'ware', [
      { entity: 'invoice', actions: ['read'] },
      { entity: 'customer', actions: ['label'], rule: { filter: { area: 'north' } } },
    ]);
    for (const path of ['entity/invoice?labels=1', `entity/invoice/${invoice}?labels=1`, `entity/invoice/${invoice}/history?labels=1`]) {
      const { body } = await send(ware, 'GET', path);
      expect(body.labels, path).toEqual({ customer: { [north]: 'Analytical Engines, London' } });
    }
    expect((await send(ware, 'GET', `entity/customer/${north}`)).body.code).toBe('forbidden');
  });

  test('200 — a grant of `read` shows the name if it shows all fields of it, and a caller without either sees none (rule 192)', async () => {
    const all = await callerWith(service(), 'all', [
      { entity: 'invoice', actions: ['read'] },
      { entity: 'customer', actions: ['read'], rule: { read: ['company', 'city'] } },
    ]);
    const part = await callerWith(service(), 'part', [
      { entity: 'invoice', actions: ['read'] },
      { entity: 'customer', actions: ['read'], rule: { read: ['*', '-city'] } },
    ]);
    const none = await callerWith(service(), 'none', [{ entity: 'invoice', actions: ['read'] }]);
    const labelsFor = async (who: Call) => (await send(who, 'GET', `entity/invoice/${invoice}?labels=1`)).body.labels;
    expect(await labelsFor(all)).toEqual({ customer: { [north]: 'Analytical Engines, London', [south]: 'Difference' } });
    expect(await labelsFor(part)).toEqual({});
    expect(await labelsFor(none)).toEqual({});
    const own = (await send(part, 'GET', 'entity/customer?labels=1')).body.items;
    expect(own.map(({ label }) => label)).toEqual(own.map(() => undefined));
    expect((await send(part, 'GET', 'entity/customer?sort=$label')).body).toMatchObject({ errors: [{ code: 'not-addressable' }] });
    expect((await send(part, 'GET', `entity/customer?filter=${encodeURIComponent('{"$label":"Difference"}')}`)).status).toBe(422);
  });

  test('200 — the ETag of an answer with names changes with them, that of the entity does not (check 5)', async () => {
    const path = `entity/invoice/${second}`;
    const [labelled, plain] = [await send(admin, 'GET', `${path}?labels=1`), await send(admin, 'GET', path)];
    const [tag, version] = [labelled.headers.get('etag') ?? '', plain.headers.get('etag') ?? ''];
    expect((await send(admin, 'GET', `${path}?labels=1`, undefined, { 'if-none-match': tag })).status).toBe(304);
    await send(admin, 'POST', `entity/customer/${nameless}`, { company: 'Named now' });
    const after = await send(admin, 'GET', `${path}?labels=1`, undefined, { 'if-none-match': tag });
    expect(after.body.labels).toEqual({ customer: { [nameless]: 'Named now' } });
    expect((await send(admin, 'GET', path, undefined, { 'if-none-match': version })).status).toBe(304);
    expect((await send(admin, 'POST', path, {}, { 'if-match': tag })).status).toBe(200);
    await send(admin, 'POST', `entity/customer/${nameless}`, { company: null });
    expect((await send(admin, 'GET', `${path}?labels=1`)).body.labels).toEqual({});
  });

  test('400 — an earlier version and names do not go together', async () => {
    expect((await send(admin, 'GET', `entity/invoice/${invoice}?version=1&labels=1`)).body.code).toBe('malformed-request');
  });
});

describe('`$label` in sorts and filters', () => {
  let name = '';
  let count = 0;
  const labels = Array.from({ length: 60 }, (_, index) => `${'aÄzéB'.charAt(index % 5)}${String((index * 7) % 60).padStart(2, '0')}`);
  beforeEach(() => {
    name = `person${++count}`;
  });

  async function pagesOf(sort: string): Promise<string[]> {
    const seen: string[] = [];
    let path = `entity/${name}?labels=1&limit=7&sort=${sort}`;
    let last: Body | undefined;
    for (let cursor: string | null = ''; cursor !== null; cursor = last.next) {
      const { status, body } = await send(admin, 'GET', path + (cursor && `&cursor=${encodeURIComponent(cursor)}`));
      expect(status, JSON.stringify(body)).toBe(200);
      seen.push(...body.items.map(({ label = '' }) => label));
      last = body;
    }
    const back: string[] = [];
    for (let cursor = last?.prev ?? null; cursor !== null;) {
      const { body } = await send(admin, 'GET', `${path}&cursor=${encodeURIComponent(cursor)}`);
      back.unshift(...body.items.map(({ label = '' }) => label));
      cursor = body.prev;
    }
    expect(back).toEqual(seen.slice(0, back.length));
    expect(back.length).toBeGreaterThan(50);
    return seen;
  }

  test.each([
    ['code points', {}, (a: string, b: string) => Number(a > b) - Number(a < b)],
    ['a language', { 'x-collation': { $label: 'de' } }, new Intl.Collator('de').compare],
  ])('200 — pages are in the order of %s, each once, and the same backwards (check 8)', async (_order, more, compare) => {
    await declareType(service(), name, {
      type: 'object',
      'x-label': ['last'],
      'x-index': [['$label']],
      ...more,
      properties: { last: text },
    });
    await send(
      admin,
      'POST',
      `entity/${name}/bulk`,
      labels.map((last) => ({ last })),
    );
    expect(await pagesOf('$label')).toEqual(labels.toSorted(compare));
    expect(await pagesOf('-$label')).toEqual(labels.toSorted(compare).toReversed());
  });

  test('200 — filters find by the name; the trash has none', async () => {
    await declareType(service(), name, {
      type: 'object',
      'x-label': ['last', 'born'],
      'x-soft-delete': true,
      properties: { last: text, born: { type: 'string', format: 'date' } },
    });
    const ada = await created(name, { last: 'Lovelace', born: '1815-12-10' });
    const other = await created(name, {});
    const find = async (filter: object) =>
      (await send(admin, 'GET', `entity/${name}?filter=${encodeURIComponent(JSON.stringify(filter))}`)).body.items.map(({ key }) => key);
    expect(await find({ $label: 'Lovelace, 1815-12-10' })).toEqual([ada]);
    expect(await find({ $label: { $prefix: 'Love' } })).toEqual([ada]);
    expect(await find({ $label: { $exists: false } })).toEqual([other]);
    expect(await find({ $or: [{ $label: 'x' }, { born: '1815-12-10' }] })).toEqual([ada]);
    expect((await send(admin, 'GET', `entity/${name}?deleted=only&sort=$label`)).body).toMatchObject({
      errors: [{ code: 'not-addressable' }],
    });
    const restored = await send(admin, 'POST', `entity/${name}/${ada}`, { last: 'x'.repeat(300) });
    expect(restored.status).toBe(200);
    expect((await send(admin, 'GET', `entity/${name}/${ada}?labels=1`)).body.label).toBe('x'.repeat(200));
  });

  test('200 — a new x-label is built: entities from before have names, and a change of it names them anew', async () => {
    const type = (parts?: string[]) => ({
      type: 'object',
      properties: { a: text, b: { type: 'number' } },
      ...(parts && { 'x-label': parts }),
    });
    await declareType(service(), name, type());
    const key = await created(name, { a: 'first', b: 5 });
    const plan = await send(admin, 'POST', `entity-type/${name}/plan`, { document: type(['a']) });
    expect(plan.body).toMatchObject({ effect: 'build' });
    for (const [parts, label] of [
      [['a'], 'first'],
      [['b', 'a'], '5, first'],
    ] as const) {
      expect((await send(admin, 'PUT', `entity-type/${name}`, type([...parts]), { 'if-match': '*' })).status).toBe(200);
      expect((await send(admin, 'GET', `entity/${name}/${key}?labels=1`)).body.label).toBe(label);
    }
    await send(admin, 'POST', `entity/${name}/${key}`, { b: 6 });
    expect((await send(admin, 'GET', `entity/${name}/${key}?labels=1`)).body.label).toBe('6, first');
  });
});

test('409 — unique-conflict has the name of the other entity for a caller who sees it', async () => {
  const document = {
    type: 'object',
    'x-label': ['company', 'city'],
    'x-unique': [{ fields: ['email'] }],
    properties: { company: text, city: text, email: text },
  };
  await declareType(service(), 'partner', document);
  const key = await created('partner', { company: 'Difference', city: 'Paris', email: 'a@b.example' });
  const part = await callerWith(service(), 'partner-part', [
    { entity: 'partner', actions: ['create'] },
    { entity: 'partner', actions: ['read'], rule: { read: ['*', '-city'] } },
  ]);
  const conflict = async (who: Call) => (await send(who, 'POST', 'entity/partner', { email: 'a@b.example' })).body;
  expect((await conflict(admin)).errors).toMatchObject([
    { code: 'duplicate-value', detail: expect.stringContaining(`Its key is ${key}. It is Difference, Paris.`) as string },
  ]);
  const seen = await conflict(part);
  expect(seen).toMatchObject({ code: 'unique-conflict', errors: [{ detail: expect.stringContaining(`Its key is ${key}.`) as string }] });
  expect(JSON.stringify(seen)).not.toContain('Difference');
});

const properties = {
  a: text,
  state: { enum: ['x', 'y'] },
  secret: { ...text, 'x-sensitive': true },
  at: { ...text, format: 'date-time' },
  customer: id,
};
test.each<[string, object, string, string]>([
  ['an enum', { 'x-label': ['state'] }, '/x-label/0', 'invalid-type'],
  ['an instant', { 'x-label': ['a', 'at'] }, '/x-label/1', 'invalid-type'],
  ['an unknown field', { 'x-label': ['b'] }, '/x-label/0', 'unknown-field'],
  ['a sensitive field', { 'x-label': ['secret'] }, '/x-label/0', 'contradictory'],
  ['a reference', { 'x-label': ['customer'], 'x-references': { customer: { to: 'customer' } } }, '/x-label/0', 'contradictory'],
  ['four fields', { 'x-label': ['a', 'b', 'c', 'd'] }, '/x-label', 'invalid-value'],
  ['no x-label, in an index of the label', { 'x-index': [['$label']] }, '/x-index/0/0', 'not-addressable'],
])('422 — x-label of %s is refused', async (_what, more, pointer, code) => {
  const { status, body } = await send(admin, 'POST', 'entity-type/draft/plan', { document: { type: 'object', properties, ...more } });
  expect(status, JSON.stringify(body)).toBe(422);
  expect(body.errors).toEqual([expect.objectContaining({ pointer: `/document${pointer}`, code })]);
});
