/** `GET /rest/entity-type/{name}`. */
import { expect, test } from 'vitest';
import { declareType } from '../support/entities.ts';
import { useService } from '../support/service.ts';

const service = useService();
const document = { title: 'Customer', type: 'object', properties: { z: { type: 'string' }, a: { type: 'integer' } } };

test('200 — answers with the document as it was written, member for member, and its revision as ETag', async () => {
  await declareType(service(), 'customer', document);
  const cookie = await service().openSession((await service().createUser('ada', { customer: ['type'] })).id);
  const answer = await service().call<{ revision: string; document: object }>('GET', '/rest/entity-type/customer', { cookie });
  expect(answer.status).toBe(200);
  expect(JSON.stringify(answer.body.document)).toBe(JSON.stringify(document));
  expect(answer.headers.get('etag')).toBe(`"${answer.body.revision}"`);
  expect((await service().call('GET', '/rest/entity-type/constructor', { cookie })).status).toBe(403);
});

test('304 — without a body, for the ETag of the type, until the type changes', async () => {
  await declareType(service(), 'note', document);
  const cookie = await service().openSession((await service().createUser('nora', { note: ['type'] })).id);
  const read = (tag: string) => service().call('GET', '/rest/entity-type/note', { cookie, headers: { 'if-none-match': tag } });
  const first = await read('"1-of-another"');
  expect(first.status).toBe(200);
  const tag = first.headers.get('etag') ?? '';
  const again = await read(tag);
  expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', tag]);
  await declareType(service(), 'note', { type: 'object' });
  expect((await read(tag)).status).toBe(200);
  expect((await read('note')).status, 'what is no entity tag').toBe(400);
});

test('404 — for a name without a type', async () => {
  const cookie = await service().openSession((await service().createUser('eve', { '*': ['type'] })).id);
  for (const name of ['none', 'constructor']) {
    expect((await service().call('GET', `/rest/entity-type/${name}`, { cookie })).status).toBe(404);
  }
});

test('403 — for a caller with all other actions on the name, whether there is a type or not (rule 64)', async () => {
  const cookie = await service().openSession((await service().createUser('bob')).id);
  for (const name of ['customer', 'none']) {
    const answer = await service().call('GET', `/rest/entity-type/${name}`, { cookie });
    expect(answer.body.code).toBe('forbidden');
  }
});

test('400 — for a name of 65 letters', async () => {
  const cookie = await service().openSession((await service().createUser('carl', { '*': ['type'] })).id);
  expect((await service().call('GET', `/rest/entity-type/${'a'.repeat(65)}`, { cookie })).status).toBe(400);
});
