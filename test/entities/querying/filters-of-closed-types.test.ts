/** `GET /rest/entity/{name}?filter=…` of a closed type: a field that no entity can have is refused, whatever stands beside `additionalProperties`. */
import { beforeAll, expect, test } from 'vitest';
import { useService, type ProblemBody } from '../../support/service.ts';

const service = useService();
let cookie: string;
beforeAll(async () => {
  cookie = await service().openSession((await service().createUser('ada', { '*': ['type', 'create', 'read'] })).id);
});

const properties = { status: { type: 'string' } };
const documents: Record<string, object> = {
  alone: { properties, additionalProperties: false },
  allof: { properties, additionalProperties: false, allOf: [{ required: ['status'] }] },
  anyof: { properties, additionalProperties: false, anyOf: [{ required: ['status'] }, { maxProperties: 1 }] },
  conditional: JSON.parse(
    '{"properties":{"status":{"type":"string"}},"additionalProperties":false,"if":{"required":["status"]},"then":{"minProperties":1}}',
  ) as object,
  inner: { allOf: [{ properties, additionalProperties: false }], oneOf: [true] },
  unevaluated: { allOf: [{ properties }], unevaluatedProperties: false },
};

test.each(Object.keys(documents))('200 and 422 — %s: a field of the type, and one that it cannot have', async (name) => {
  const declared = await service().call('PUT', `/rest/entity-type/${name}`, {
    cookie,
    headers: { 'if-none-match': '*' },
    json: documents[name],
  });
  expect(declared.status, declared.text).toBe(201);
  await service().call('POST', `/rest/entity/${name}`, { cookie, json: { status: 'b' } });
  const list = (filter: object) =>
    service().call<ProblemBody & { items: unknown[] }>('GET', `/rest/entity/${name}?filter=${encodeURIComponent(JSON.stringify(filter))}`, {
      cookie,
    });
  const found = await list({ status: { $ne: 'a' } });
  expect([found.status, found.body.items.length], found.text).toEqual([200, 1]);
  const refused = await list({ stauts: { $ne: 'a' } });
  expect([refused.status, refused.body.errors], refused.text).toMatchObject([422, [{ code: 'unknown-field', pointer: '/stauts' }]]);
});
