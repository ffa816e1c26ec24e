/** GET /rest/entity/{name}/describe, and the keywords whose texts it shows. */
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { announceProcess } from '../../src/database/processes.ts';
import { declareType } from '../support/entities.ts';
import { callerWith } from '../support/rules.ts';
import { useService, type Answer, type Call, type ProblemBody } from '../support/service.ts';

interface Field {
  name: string;
  title: string;
  type: string;
  options?: { value: unknown; label: string }[];
  fields?: Field[];
  items?: Field;
  [member: string]: unknown;
}
interface Described {
  title: string;
  description?: string;
  timeZone: string;
  actions: string[];
  fields: Field[];
  form: { title?: string; rows: string[][] }[];
}
type Body = Described & ProblemBody;

const invoice = {
  type: 'object',
  title: 'Invoice',
  description: 'The debt of a customer.',
  'x-title': { de: 'Rechnung', fr: 'Facture' },
  'x-description': { de: 'Was ein Kunde schuldet.' },
  'x-zone': 'Europe/Berlin',
  'x-form': [
    { title: { en: 'Header', de: 'Kopf' }, fields: [['customer', 'state'], 'subject'] },
    { title: 'Lines', fields: ['lines', 'margin'] },
  ],
  'x-references': { customer: { to: 'customer' } },
  required: ['state'],
  properties: {
    customer: { type: ['string', 'null'], format: 'int64', title: 'Customer' },
    subject: { type: 'string', maxLength: 80 },
    state: {
      enum: ['draft', 'posted'],
      'x-title': { de: 'Zustand' },
      'x-labels': { draft: { en: 'Draft', de: 'Entwurf' }, posted: 'Posted' },
    },
    lines: { type: 'array', items: { $ref: '#/$defs/line' } },
    margin: { type: 'string', format: 'decimal', 'x-title': { de: 'Marge' } },
  },
  $defs: { line: { type: 'object', required: ['count'], properties: { count: { type: 'integer', 'x-title': { de: 'Anzahl' } } } } },
};

const service = useService();
let admin: Call;

const send = (who: Call, method: string, path: string, json?: object, headers: Record<string, string> = {}): Promise<Answer<Body>> =>
  service().call<Body>(method, `/rest/${path}`, { ...who, headers: { ...who.headers, ...headers }, ...(json && { json }) });
const describeIn = (language: string, who = admin, headers: Record<string, string> = {}) =>
  send(who, 'GET', 'entity/invoice/describe', undefined, { 'accept-language': language, ...headers });
const planOf = (document: object) => send(admin, 'POST', 'entity-type/draft/plan', { document });
const fieldOf = ({ fields }: Described, name: string) => fields.find((field) => field.name === name);

beforeAll(async () => {
  const { id } = await service().createUser('admin', { '*': ['create', 'read', 'update', 'delete', 'type'] });
  admin = { cookie: await service().openSession(id) };
  await declareType(service(), 'customer', { type: 'object', properties: { company: { type: 'string' } } });
  await declareType(service(), 'invoice', invoice);
});

describe('describe', () => {
  test('200 — shows texts in the language of the caller, then `title`, then names; each with another ETag (check 2)', async () => {
    const german = await describeIn('de-AT');
    expect(german.status, JSON.stringify(german.body)).toBe(200);
    expect(german.body).toMatchObject({
      title: 'Rechnung',
      description: 'Was ein Kunde schuldet.',
      timeZone: 'Europe/Berlin',
      actions: ['create', 'delete', 'read', 'type', 'update'],
      form: [
        { title: 'Kopf', rows: [['customer', 'state'], ['subject']] },
        { title: 'Lines', rows: [['lines'], ['margin']] },
      ],
    });
    expect(fieldOf(german.body, 'state')).toEqual({
      name: 'state',
      title: 'Zustand',
      type: 'enum',
      isNullable: false,
      options: [
        { value: 'draft', label: 'Entwurf' },
        { value: 'posted', label: 'Posted' },
      ],
      isRequired: true,
      isReadable: true,
      isSometimesHidden: false,
      isCreatable: true,
      isUpdatable: true,
    });
    const italian = await describeIn('it');
    expect(italian.body).toMatchObject({ title: 'Invoice', description: 'The debt of a customer.' });
    expect(fieldOf(italian.body, 'state')).toMatchObject({ title: 'state', options: [{ label: 'Draft' }, { label: 'Posted' }] });
    expect(fieldOf(italian.body, 'customer')).toMatchObject({
      title: 'Customer',
      type: 'int64',
      isNullable: true,
      reference: { to: 'customer' },
    });
    expect(italian.headers.get('vary')).toContain('Accept-Language');
    expect(italian.headers.get('etag')).not.toBe(german.headers.get('etag'));
  });

  test('200 — describes the members of objects and the items of arrays behind references of the document', async () => {
    const { body } = await describeIn('de');
    expect(fieldOf(body, 'lines')).toMatchObject({
      type: 'array',
      items: { type: 'object', fields: [{ name: 'count', title: 'Anzahl', type: 'integer', isRequired: true }] },
    });
    expect(fieldOf(body, 'subject')).toMatchObject({ type: 'string', limits: { maxLength: 80 } });
  });

  test.each([
    ['en-US,en;q=0.9,de;q=0.8', 'Invoice'],
    ['fr-CA', 'Facture'],
    ['it,de;q=0.5', 'Rechnung'],
    ['*', 'Invoice'],
  ])('200 — the title for %s is %s', async (language, title) => {
    expect((await describeIn(language)).body.title).toBe(title);
  });

  test('304 — with the ETag of the same language', async () => {
    const etag = (await describeIn('de')).headers.get('etag') ?? '';
    expect((await describeIn('de', admin, { 'if-none-match': etag })).status).toBe(304);
    expect((await describeIn('fr', admin, { 'if-none-match': etag })).status).toBe(200);
  });

  test('200 — leaves out fields that no grant shows, in the form too, and the text of the whole (rule 191)', async () => {
    const clerk = await callerWith(service(), 'clerk', [
      { entity: 'invoice', actions: ['read'], rule: { read: ['*', '-margin'] } },
      { entity: 'invoice', actions: ['update'], rule: { read: [], write: ['state'] } },
    ]);
    const { body } = await describeIn('de', clerk);
    expect(body.actions).toEqual(['read', 'update']);
    expect(body.fields.map(({ name }) => name)).toEqual(['customer', 'subject', 'state', 'lines']);
    expect(fieldOf(body, 'state')).toMatchObject({ isReadable: true, isUpdatable: true, isCreatable: false });
    expect(fieldOf(body, 'subject')).toMatchObject({ isReadable: true, isUpdatable: false });
    expect(JSON.stringify(body)).not.toMatch(/marg|schuldet/i);
  });

  test('200 — tells a caller with `label` alone the title and no field', async () => {
    const porter = await callerWith(service(), 'porter', [{ entity: 'invoice', actions: ['label'] }]);
    expect((await describeIn('de', porter)).body).toMatchObject({ title: 'Rechnung', actions: ['label'], fields: [], form: [] });
  });
});

test('403 — a caller without any right on the name is refused, whether it has a type or not (rule 191)', async () => {
  const stranger = await callerWith(service(), 'stranger', [{ entity: 'customer', actions: ['read'] }]);
  expect((await describeIn('de', stranger)).body.code).toBe('forbidden');
  expect((await send(stranger, 'GET', 'entity/nosuch/describe')).body.code).toBe('forbidden');
});

test('404 — a name without a declared type has no description', async () => {
  expect((await send(admin, 'GET', 'entity/nosuch/describe')).body.code).toBe('not-found');
});

const labels = (texts: unknown, schema: object = { enum: ['open', 'paid'] }) => ({
  properties: { state: { ...schema, 'x-labels': texts } },
});
const languages = Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`x${String.fromCharCode(97 + index)}`, 'text']));
test.each<[string, object, string, string]>([
  ['title with languages (check 1)', { title: { en: 'Invoice' } }, '/title', 'invalid-type'],
  ['label of no value (check 1)', labels({ opn: 'Open' }), '/properties/state/x-labels/opn', 'invalid-value'],
  ['label beside no value', labels({ open: 'Open' }, { type: 'string' }), '/properties/state/x-labels/open', 'invalid-value'],
  ['label that is no text', labels({ open: 5 }), '/properties/state/x-labels/open', 'invalid-type'],
  ['text in 21 languages', { 'x-title': languages }, '/x-title', 'too-many-values'],
  ['text without a language', { 'x-title': {} }, '/x-title', 'invalid-value'],
  ['tag that is not canonical', { 'x-title': { DE: 'Rechnung' } }, '/x-title/DE', 'unknown'],
  ['long title', { properties: { a: { 'x-title': 'x'.repeat(201) } } }, '/properties/a/x-title', 'too-long'],
  ['empty title', { 'x-title': { de: ' ' } }, '/x-title/de', 'too-short'],
  ['long description', { 'x-description': { de: 'x'.repeat(2_001) } }, '/x-description/de', 'too-long'],
  ['form inside of a property', { properties: { a: { 'x-form': [] } } }, '/properties/a/x-form', 'unknown'],
  ['form without groups', { 'x-form': [] }, '/x-form', 'too-short'],
  ['group without fields', { 'x-form': [{ title: 'A' }] }, '/x-form/0/fields', 'required'],
  ['group with another member', { 'x-form': [{ fields: ['a'], width: 5 }], properties: { a: {} } }, '/x-form/0/width', 'unknown'],
  ['form with an unknown field', { 'x-form': [{ fields: ['b'] }], properties: { a: {} } }, '/x-form/0/fields/0', 'unknown-field'],
  ['form with a member of the envelope', { 'x-form': [{ fields: ['$key'] }] }, '/x-form/0/fields/0', 'not-addressable'],
  ['field twice in a form', { 'x-form': [{ fields: ['a', ['a']] }], properties: { a: {} } }, '/x-form/0/fields/1/0', 'repeated'],
  ['zone that does not exist', { 'x-zone': 'Europe/Berlim' }, '/x-zone', 'invalid-value'],
  ['offset in place of a zone', { 'x-zone': '+01:00' }, '/x-zone', 'invalid-value'],
  ['zone in another case', { 'x-zone': 'europe/berlin' }, '/x-zone', 'invalid-value'],
])('422 — a type with a %s is refused', async (_what, document, pointer, code) => {
  const { status, body } = await planOf(document);
  expect(status, JSON.stringify(body)).toBe(422);
  expect(body.errors).toEqual([expect.objectContaining({ pointer: `/document${pointer}`, code })]);
});

test('422 — a fault of the texts leaves the type as it is (check 1)', async () => {
  const headers = { 'if-match': '*' };
  const before = (await send(admin, 'GET', 'entity-type/invoice')).body;
  const { status } = await send(admin, 'PUT', 'entity-type/invoice', { ...invoice, title: { en: 'Invoice' } }, headers);
  expect(status).toBe(422);
  expect((await send(admin, 'GET', 'entity-type/invoice')).body).toEqual(before);
});

test('200 — a change of texts has the effect none', async () => {
  const document = { ...invoice, 'x-title': { de: 'Beleg' }, 'x-form': [{ fields: ['state'] }], 'x-zone': 'UTC' };
  const { body } = await send(admin, 'POST', 'entity-type/invoice/plan', { document });
  expect(body).toMatchObject({ effect: 'none' });
});

test('409 — older-version while a process runs that does not know the keyword', async () => {
  const older = await announceProcess(service().db, '0.1.0');
  onTestFinished(() => older.withdraw());
  await service()
    .db.updateTable('process')
    .set({ knows: ['rule', 'label', 'sensitive'] })
    .where('id', '=', older.id)
    .execute();
  const put = (document: object) => send(admin, 'PUT', 'entity-type/titled', document, { 'if-none-match': '*' });
  expect((await put({ type: 'object', properties: { a: { 'x-title': 'A' } } })).body.code).toBe('older-version');
  expect((await send(admin, 'GET', 'entity-type/titled')).status).toBe(404);
  expect((await put({ type: 'object', properties: { a: { title: 'A' } } })).status).toBe(201);
});

test.each<[string, string, string, object, number]>([
  ['the path of an entity', 'POST', 'entity/_task', {}, 400],
  ['the path of a type', 'PUT', 'entity-type/_task', { type: 'object' }, 400],
  [
    'a reference',
    'PUT',
    'entity-type/draft',
    { properties: { a: { type: 'string', format: 'int64' } }, 'x-references': { a: { to: '_task' } } },
    422,
  ],
])('names that begin with _ are reserved: they are refused in %s', async (_where, method, path, json, refusal) => {
  const { status } = await send(admin, method, path, json, method === 'PUT' ? { 'if-none-match': '*' } : {});
  expect(status).toBe(refusal);
});

test('200 — the contract with types has titles and labels in the language of the caller', async () => {
  const contract = async (language: string) => {
    const answer = await service().call<{ components: { schemas: Record<string, { title: string; properties: Record<string, object> }> } }>(
      'GET',
      '/openapi.json?type=invoice',
      { ...admin, headers: { 'accept-language': language } },
    );
    expect(answer.headers.get('vary')).toContain('Accept-Language');
    return answer.body.components.schemas['Invoice'];
  };
  const german = await contract('de');
  expect(german).toMatchObject({
    title: 'Rechnung',
    properties: { state: { title: 'Zustand', 'x-labels': { draft: 'Entwurf', posted: 'Posted' } } },
  });
  expect(JSON.stringify(german)).not.toContain('x-title');
  expect(await contract('en')).toMatchObject({ title: 'Invoice', properties: { state: { 'x-labels': { draft: 'Draft' } } } });
});
