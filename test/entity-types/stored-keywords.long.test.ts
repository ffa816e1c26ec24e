/** Stored documents with keywords whose values have a wrong JSON type, as a change of the database makes them: no request of the name is a 500 (rule 151). */
import { beforeAll, expect, test } from 'vitest';
import { AdminCommand } from '../support/admin.ts';
import type { Entity } from '../support/entities.ts';
import { useService, type ProblemBody } from '../support/service.ts';
import { storeDocument } from '../support/stored-document.ts';

const values = { null: null, boolean: true, number: 5, string: 'a', array: [5, null], object: { a: 5 } };
type Kind = keyof typeof values;

/** By keyword: the values above that it takes. */
const taken: Readonly<Record<string, readonly Kind[]>> = {
  ...Object.fromEntries(
    `items contains additionalProperties propertyNames not if then else unevaluatedItems unevaluatedProperties`
      .split(' ')
      .map((keyword) => [keyword, ['boolean', 'object']]),
  ),
  ...Object.fromEntries(
    `maximum exclusiveMaximum minimum exclusiveMinimum multipleOf maxLength minLength maxItems minItems maxContains minContains maxProperties minProperties`
      .split(' ')
      .map((keyword) => [keyword, ['number']]),
  ),
  ...Object.fromEntries(
    `$defs definitions properties patternProperties dependentSchemas dependentRequired prefixItems allOf anyOf oneOf type required format formatMinimum
    formatMaximum formatExclusiveMinimum formatExclusiveMaximum $ref $dynamicRef dependencies $recursiveRef x-unique x-index x-references x-search x-collation
    x-if-match x-history`
      .split(/\s+/)
      .map((keyword) => [keyword, []]),
  ),
  enum: ['array'],
  pattern: ['string'],
  uniqueItems: ['boolean'],
  nullable: ['boolean'],
  'x-soft-delete': ['boolean'],
};
const field = { a: { type: 'string' } };
const wrongOf = (keyword: string) => Object.keys(values).filter((kind) => !taken[keyword]?.some((each) => each === kind)) as Kind[];
const keywords = Object.keys(taken);
const cases = keywords
  .flatMap((keyword) =>
    wrongOf(keyword).map((kind) => ({ title: `${keyword}: ${kind}`, document: { properties: field, [keyword]: values[kind] } as object })),
  )
  .concat(
    keywords
      .filter((keyword) => !keyword.startsWith('x-'))
      .flatMap((keyword) =>
        wrongOf(keyword)
          .slice(0, 1)
          .map((kind) => ({ keyword, kind })),
      )
      .map(({ keyword, kind }) => ({
        title: `inside, ${keyword}: ${kind}`,
        document: { properties: { ...field, b: { [keyword]: values[kind] } } },
      })),
    [
      { properties: [], 'x-index': [['a']], 'x-references': { b: { to: 'none' } } },
      { properties: field, 'x-unique': [{ fields: ['missing'] }] },
      { properties: field, 'x-history': { keep: {} } },
      { properties: field, 'x-soft-delete': { keep: 'soon' } },
    ].map((document) => ({ title: JSON.stringify(document), document })),
  )
  .map((one, index) => Object.assign(one, { name: `k${index}` }));

const service = useService();
let cookie: string;
let replica: Awaited<ReturnType<ReturnType<typeof service>['replica']>>;
const keys = new Map<string, string>();
beforeAll(async () => {
  cookie = await service().openSession((await service().createUser('ada', { '*': ['type', 'create', 'read', 'update', 'delete'] })).id);
  for (const { name, document } of cases) {
    await service().call('PUT', `/rest/entity-type/${name}`, { cookie, json: {}, headers: { 'if-none-match': '*' } });
    const { body } = await service().call<Entity>('POST', `/rest/entity/${name}`, { cookie, json: { a: 'x' } });
    keys.set(name, body.key);
    await storeDocument(service().db, name, document, 'api');
  }
  replica = await service().replica();
}, 120_000);

test('`doctor` names each of these types, and `types status` counts its entities as unfit', async () => {
  const doctor = await new AdminCommand(service().databaseUrl).run(['doctor']);
  const status = await new AdminCommand(service().databaseUrl).run(['types', 'status']);
  for (const { name, title } of cases) {
    expect.soft(doctor.stdout.includes(`cannot check the entity type ${name}, because of `), title).toBe(true);
    expect.soft(status.stdout, title).toMatch(new RegExp(`${name} +\\d+ +unchecked +1 +1`));
  }
});

test('200 — the list of types, and the contract with all types', async () => {
  expect((await replica.call('GET', '/rest/entity-type', { cookie })).status).toBe(200);
  expect((await replica.call('GET', '/openapi.json?type=*', { cookie })).status).toBe(200);
});

test.for(cases)('$title', async ({ name }) => {
  const key = keys.get(name) ?? '';
  const call = (method: string, to: string, json?: object, headers = {}) =>
    replica.call<ProblemBody & Entity>(method, to, { cookie, headers, ...(json && { json }) });
  const path = `/rest/entity/${name}`;
  const found = { status: 200, body: { items: [{ key }] } };
  expect(await call('GET', `${path}/${key}`)).toMatchObject({ status: 200, body: { fields: { a: 'x' } } });
  expect(await call('GET', `${path}?filter={"a":"x"}&sort=-a&fields=a`)).toMatchObject(found);
  expect(await call('POST', `${path}/query`, { filter: { a: { $in: ['x'] } }, count: 'exact' })).toMatchObject(found);
  expect((await call('POST', `${path}/query`, { filter: { a: { $match: { b: 1 } } } })).status).toBe(422);
  expect((await call('GET', `${path}?include=a`)).status).toBe(422);
  expect((await call('GET', `${path}/${key}/history`)).status).toBe(200);
  const refused = { status: 422, body: { errors: [{ code: 'type-not-supported', pointer: '' }] } };
  expect(await call('POST', path, { a: 'y' })).toMatchObject(refused);
  expect(await call('POST', `${path}/${key}`, { a: 'y' })).toMatchObject(refused);
  const type = await call('GET', `/rest/entity-type/${name}`);
  expect(type.status).toBe(200);
  expect((await call('GET', `/openapi.json?type=${name}`)).status).toBe(200);
  const document = { properties: field };
  expect((await call('POST', `/rest/entity-type/${name}/plan`, { document })).status).toBe(200);
  expect((await call('PUT', `/rest/entity-type/${name}`, document, { 'if-match': type.headers.get('etag') ?? '' })).status).toBe(200);
  expect((await call('POST', `${path}/${key}`, { a: 'z' })).status).toBe(200);
  expect((await call('DELETE', `${path}/${key}`)).status).toBe(204);
});
