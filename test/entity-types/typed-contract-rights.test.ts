/** `/openapi.json?type=…` by the rights of the caller: names and fields that no grant shows or lets be written are not there (rule 177). */
import { beforeAll, describe, expect, test } from 'vitest';
import type { ContractDocument } from '../../src/contract/contract.ts';
import { declareType } from '../support/entities.ts';
import { callerWith } from '../support/rules.ts';
import { typedContract } from '../support/typed-documents.ts';
import { useService, type Call } from '../support/service.ts';

interface ObjectSchema {
  description?: string;
  properties?: Record<string, unknown>;
  required?: string[];
  additionalProperties?: unknown;
  enum?: string[];
  items?: unknown;
}

const service = useService();
const text = { type: 'string' };
/** The type, whose other keywords all tell of `margin`. */
const told = {
  type: 'object',
  title: 'Order',
  description: 'The margin is secret.',
  additionalProperties: false,
  required: ['region', 'margin', 'state'],
  properties: {
    region: text,
    state: { enum: ['draft', 'open'] },
    note: text,
    margin: { $ref: '#/$defs/money', description: 'The gain' },
    copy: { $ref: '#/properties/margin' },
    parts: { type: 'array', items: { $ref: '#' } },
  },
  $defs: { money: { type: 'string', format: 'decimal' } },
  dependentRequired: { note: ['margin'] },
  dependentSchemas: { margin: { required: ['note'] } },
  propertyNames: { enum: ['region', 'state', 'note', 'margin', 'copy', 'parts'] },
  if: { properties: { margin: { const: '0' } }, required: ['margin'] },
  else: { properties: { bonus: false, hint: text } },
  anyOf: [{ required: ['margin'] }, { properties: { margin: false } }],
  maxProperties: 6,
  'x-unique': [{ fields: ['margin'] }, { fields: ['note'] }],
  'x-index': [['margin'], ['region']],
  'x-search': { fields: ['note'] },
};
/** A type that never had the field. */
const absent = {
  type: 'object',
  title: 'Order',
  additionalProperties: false,
  required: ['region', 'state'],
  properties: { region: text, state: told.properties.state, note: text, copy: {}, parts: { type: 'array', items: { $ref: '#' } } },
  'x-unique': [{ fields: ['note'] }],
  'x-index': [['region']],
};

const lists = { read: ['*', '-margin', '-hint', '-bonus'], write: ['*', '-margin', '-hint', '-bonus'] };
let number = 0;
const callerOf = (...grants: Parameters<typeof callerWith>[2]) => callerWith(service(), `caller${++number}`, grants);
const textOf = async (who: Call, name: string) => (await service().call('GET', `/openapi.json?type=${name}`, who)).text;
async function schemasOf(who: Call, name: string): Promise<(role: string) => ObjectSchema> {
  const { status, body } = await typedContract(service(), who as { cookie: string }, name);
  expect(status, JSON.stringify(body)).toBe(200);
  const { schemas = {} } = (body as ContractDocument).components;
  return (role) => schemas[`${name.charAt(0).toUpperCase()}${name.slice(1)}${role}`] as ObjectSchema;
}
const namesOf = ({ properties = {} }: ObjectSchema) => Object.keys(properties);

beforeAll(async () => {
  await declareType(service(), 'hiding', told);
  await declareType(service(), 'lacking', absent);
  await declareType(service(), 'open', { type: 'object', properties: { note: text, pay: { ...text, 'x-sensitive': true } } });
});

describe('the typed contract', () => {
  test('200 — does not tell a type with a hidden field from one that lacks it, byte for byte (rule 177)', async () => {
    const actions = ['create' as const, 'read' as const, 'update' as const];
    const who = await callerOf({ entity: 'hiding', actions, rule: lists }, { entity: 'lacking', actions, rule: lists });
    const [hiding, lacking] = [await textOf(who, 'hiding'), await textOf(who, 'lacking')];
    expect(hiding).toContain('/rest/entity/hiding');
    expect(hiding).not.toMatch(/margin/i);
    expect(hiding.replaceAll('hiding', 'lacking').replaceAll('Hiding', 'Lacking')).toBe(lacking);
    const root = await service().openSession((await service().createUser('root')).id);
    expect(await textOf({ cookie: root }, 'hiding')).toContain('The margin is secret.');
  });

  test('200 — a field that some rows alone show is optional, and can be filtered and sorted by', async () => {
    const who = await callerOf(
      { entity: 'hiding', actions: ['read'], rule: { filter: { region: 'north' } } },
      { entity: 'hiding', actions: ['read'], rule: { filter: { region: 'south' }, read: ['region', 'note'] } },
    );
    const schema = await schemasOf(who, 'hiding');
    expect(schema('').required).toEqual(['region']);
    expect(namesOf(schema(''))).toContain('margin');
    expect(namesOf(schema('Filter'))).toContain('margin');
    expect(schema('Sort').enum).toContain('-margin');
  });

  test('200 — new entities and patches have the fields that may be written alone, and presets are optional', async () => {
    const who = await callerOf(
      { entity: 'hiding', actions: ['read'], rule: { read: ['region', 'state'] } },
      { entity: 'hiding', actions: ['create'], rule: { set: { state: 'draft' }, write: ['region', 'margin'] } },
      { entity: 'hiding', actions: ['update'], rule: { write: ['note'] } },
    );
    const schema = await schemasOf(who, 'hiding');
    expect([namesOf(schema('New')).toSorted(), schema('New').required]).toEqual([
      ['margin', 'region', 'state'],
      ['region', 'margin'],
    ]);
    expect(schema('List').items).toEqual({ $ref: '#/components/schemas/HidingNew' });
    expect(namesOf(schema('Patch'))).toEqual(['note']);
    expect([namesOf(schema('')).toSorted(), schema('').required]).toEqual([
      ['margin', 'region', 'state'],
      ['region', 'state'],
    ]);
    expect(schema('').additionalProperties).toBe(false);
    const filter = namesOf(schema('Filter')).filter((name) => !name.startsWith('$'));
    expect(filter.toSorted()).toEqual(['region', 'state']);
  });

  test('200 — a sensitive field is there by `**` and by its name alone', async () => {
    const plain = await callerOf({ entity: '*', actions: ['read', 'create', 'update'] });
    const named = await callerOf({ entity: 'open', actions: ['read'], rule: { read: ['*', 'pay'] } });
    expect(namesOf((await schemasOf(plain, 'open'))(''))).toEqual(['note']);
    expect(namesOf((await schemasOf(plain, 'open'))('Patch'))).toEqual(['note']);
    expect(namesOf((await schemasOf(named, 'open'))(''))).toEqual(['note', 'pay']);
    expect(await textOf(plain, 'open')).not.toMatch(/"pay"|sensitive":true/);
  });

  test('304 and 200 — its ETag follows the rights: one caller’s is not current for another, and equal documents have one (rule 177)', async () => {
    const one = await callerOf({ entity: 'open', actions: ['read'] });
    const alike = await callerOf({ entity: 'open', actions: ['read'], rule: { read: ['*'] } });
    const other = await callerOf({ entity: 'open', actions: ['read'], rule: { read: ['**'] } });
    const get = (who: Call, tag = '""') => service().call('GET', '/openapi.json?type=open', { ...who, headers: { 'if-none-match': tag } });
    const tag = (await get(one)).headers.get('etag') ?? '';
    expect((await get(one, tag)).status).toBe(304);
    expect((await get(alike, tag)).status).toBe(304);
    const seen = await get(other, tag);
    expect([seen.status, seen.text.includes('"pay"')]).toEqual([200, true]);
  });
});
