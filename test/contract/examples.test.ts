/**
 * Tests the examples of openapi.yaml: every request is sent unchanged and accepted, and every answer is that of the service, with the rows
 * that the examples describe. Only times and random values may differ.
 */
import { sql } from 'kysely';
import { allActions } from '../../src/rights/vocabulary.ts';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { resolveReference, type Operation, type ComponentReference } from '../../src/contract/contract.ts';
import { makeTick } from '../../src/entities/history/ticks.ts';
import { declareType, seed } from '../support/entities.ts';
import { loginClient, TestIssuer, writeIssuers } from '../support/issuer.ts';
import { document, encodeBody, methodOf, operations, urlOf, titled } from '../support/operations.ts';
import { useService, type Answer, type TestService } from '../support/service.ts';
import { BrowserSession } from '../support/browser-session.ts';

const corp = await TestIssuer.start('corp');
const issuersFile = await writeIssuers(await corp.loginEntry({ label: 'Corporate login' }));
const service = useService();
/** The same with a trusted issuer, for the example of one. */
let trusting: TestService;
let ada: string;

const sessionId = '9f1c2a34-58d0-4b6e-9a71-0c5d8e3f2b17';
const keyId = '4fT9xKq2LmZa';
const linkId = '4b1d6f0e-93c2-4a57-8d0b-6e2f7a9c5d31';
const customer = { company: 'Analytical Engines Ltd', city: 'London', credit: 1000.5 };

beforeAll(async () => {
  const { db } = service();
  ada = (await service().createUser('ada', null)).id;
  await service().createProfile(ada, 'editor', { '*': [...allActions] }, true);
  await service().createProfile(ada, 'reader', { '*': ['read'] });
  await sql`
    insert into attribute (owner, name, schema) values
      ('user', 'regions', '{"type":"array","items":{"type":"string"}}'), ('profile', 'level', '{"type":"number"}')`.execute(db);
  await sql`update user_account set attributes = '{"regions":["north"]}', time_zone = 'Europe/London' where name = 'ada'`.execute(db);
  await sql`update profile set name = 'sales', label = 'Sales', attributes = '{"level":2}' where name = 'editor'`.execute(db);
  await sql`update profile set name = 'stock', label = 'Stock keeping' where name = 'reader'`.execute(db);
  await sql`update user_account set display_name = 'Ada Lovelace' where id = ${ada}`.execute(db);
  await makeTick(db);
  trusting = await service().replica({ ISSUERS_FILE: issuersFile });
  return () => trusting.close();
});

let cookie: string;
beforeEach(async () => {
  const { db } = service();
  await sql`delete from session; delete from api_key; delete from entity; alter table entity alter column key restart with 42`.execute(db);
  cookie = await service().openSession(ada);
  await sql`update session set id = ${sessionId}, address = '192.0.2.7', user_agent = 'Mozilla/5.0'`.execute(db);
  const profile = await db.selectFrom('profile').where('name', '=', 'sales').select('id').executeTakeFirstOrThrow();
  const scopes = [{ entity: 'customer', actions: ['read' as const] }];
  await service().createKey(ada, { name: 'Nightly report', profileId: profile.id, scopes });
  await sql`update api_key set id = ${keyId}`.execute(db);
  await sql`delete from identity`.execute(db);
  await service().link(corp, 'alice', 'ada');
  await sql`update identity set id = ${linkId}`.execute(db);
  await service().settle();
});

/** The type of the examples is the seventh revision. */
async function seedType(document: object): Promise<void> {
  const { db } = service();
  await sql`truncate entity_type, entity_type_revision`.execute(db);
  await sql`insert into entity_type_revision (revision, name, document, source, plan, applied_by) overriding system value
    values (7, 'customer', ${JSON.stringify(document)}, 'api', '{}', 'ada')`.execute(db);
  await sql`insert into entity_type values ('customer', 7)`.execute(db);
  await sql`alter table entity_type_revision alter column revision restart with 8`.execute(db);
  await service().settle();
}

const emailOptional = { type: 'object', properties: { email: { type: 'string', format: 'email' } } };
const customerType = {
  type: 'object',
  required: ['company'],
  properties: { company: { type: 'string', maxLength: 200 }, credit: { type: 'string', format: 'decimal' } },
};

const describedType = {
  type: 'object',
  'x-title': { en: 'Customer', de: 'Kunde' },
  'x-zone': 'Europe/London',
  'x-form': [{ title: { en: 'Header', de: 'Kopf' }, fields: [['company', 'state']] }],
  required: ['company'],
  properties: {
    company: { type: 'string', maxLength: 200, title: 'Company' },
    state: { enum: ['lead', 'active'], 'x-labels': { lead: 'Prospect' } },
  },
};

/** Conditions and confirmations, which say what the caller has read. Without a status the request may have any that is a success. */
const conditions: Record<string, (status: number | undefined) => Promise<{ headers?: Record<string, string>; query?: string }>> = {
  putEntityType: async (status) => {
    await seedType(customerType);
    if (status === 200) return { headers: { 'if-match': '"7"' } };
    await sql`truncate entity_type, entity_type_revision; alter table entity_type_revision alter column revision restart with 7`.execute(
      service().db,
    );
    await service().settle();
    return { headers: { 'if-none-match': '*' } };
  },
  upsertEntity: async (status) => {
    await sql`truncate entity_type, entity_type_revision`.execute(service().db);
    if (status === 200) await seedCustomer(2, { company: customer.company, city: 'Paris' });
    await declareType(service(), 'customer', {
      type: 'object',
      properties: { company: { type: 'string' } },
      'x-unique': [{ fields: ['company'] }],
    });
    return {};
  },
  restoreEntity: async () => ({ query: '?version=1' }),
  deleteEntityType: async () => {
    await seedType(customerType);
    const plan = await service().call<{ digest: string }>('POST', '/rest/entity-type/customer/plan', { cookie, json: {} });
    return { query: `?confirm=${plan.body.digest}` };
  },
};

async function seedDeclaredCustomer(): Promise<void> {
  await sql`truncate entity_type, entity_type_revision`.execute(service().db);
  const properties = { company: { type: 'string' }, city: { type: 'string' }, credit: { type: 'number' } };
  await declareType(service(), 'customer', { type: 'object', properties });
  await seedCustomer(3, customer);
}

/** The rows that must exist before an operation is called. */
const given: Record<string, () => Promise<unknown>> = {
  listEntities: () => seedCustomer(3, customer),
  queryEntities: () => seedCustomer(3, customer),
  aggregateEntities: () => seedCustomer(3, customer),
  getEntity: () => seedCustomer(3, customer),
  checkOwnPermission: () => seedCustomer(3, customer),
  exportEntities: seedDeclaredCustomer,
  exportQuery: seedDeclaredCustomer,
  listVersions: async () => {
    await sql`truncate entity_change`.execute(service().db);
    await seedCustomer(1, { company: customer.company, city: 'Paris' });
    await sql`insert into entity_change (name, key, version, operation, changed_by, created_at, created_by, fields)
      select name, key, 2, 'updated', 'grace', created_at, created_by, fields || '{"city":"London"}' from entity_change`.execute(
      service().db,
    );
  },
  importEntities: () => sql`truncate entity_type, entity_type_revision`.execute(service().db),
  createEntities: () => sql`truncate entity_type, entity_type_revision`.execute(service().db),
  restoreEntity: async () => {
    await sql`truncate entity_change, entity_type, entity_type_revision`.execute(service().db);
    await seedCustomer(2, { city: 'Paris' });
    await sql`update entity_change set fields = ${JSON.stringify(customer)}`.execute(service().db);
  },
  runBatch: async () => {
    await sql`truncate entity_type, entity_type_revision`.execute(service().db);
    await seed(service(), 'customer', '7', { company: customer.company, city: 'Paris' }, 'ada');
    await sql`update entity set version = 3`.execute(service().db);
  },
  updateEntity: () => seedCustomer(2, { city: 'Paris' }),
  deleteEntity: () => seedCustomer(3, customer),
  createEntity: () => sql`truncate entity_type, entity_type_revision`.execute(service().db),
  listEntityTypes: () => seedType(customerType),
  getEntityType: () => seedType(customerType),
  describeEntity: () => seedType(describedType),
  planEntityType: async () => {
    await seedType(emailOptional);
    for (let key = 40; key < 50; key++) await seed(service(), 'customer', String(key), key === 42 ? {} : { email: 'a@b.example' }, 'ada');
  },
  revokeOtherSessions: () => Promise.all([service().openSession(ada), service().openSession(ada)]),
};

async function seedCustomer(version: number, fields: object): Promise<void> {
  await seed(service(), 'customer', '42', fields, 'ada');
  await sql`update entity set version = ${version}`.execute(service().db);
}

interface Example {
  name: string;
  /** Undefined for an operation without a body. */
  body: { type: string; value: object | string } | undefined;
}

/** The requests that the document gives as examples; one without a body for an operation that takes or requires none. */
function requestsOf({ requestBody }: Operation): Example[] {
  const given = Object.entries(requestBody?.content ?? {}).flatMap(([type, { examples = {} }]) =>
    Object.entries(examples).map(([name, example]) => ({
      name,
      body: { type, value: resolveReference(document, example).value as object | string },
    })),
  );
  return given.length > 0 ? given : [{ name: 'as it is', body: undefined }];
}

interface Media {
  examples?: Record<string, { value: unknown } | ComponentReference>;
}

/** The answers below 300 that the document gives as examples. */
function answersOf({ responses }: Operation): { name: string; status: number; type: string; value: unknown }[] {
  return Object.entries(responses)
    .filter(([status]) => Number(status) < 300)
    .flatMap(([status, { content = {} }]) =>
      Object.entries(content as Record<string, Media>).flatMap(([type, { examples = {} }]) =>
        Object.entries(examples).map(([name, example]) => ({
          name,
          status: Number(status),
          type,
          value: resolveReference(document, example).value,
        })),
      ),
    );
}

/** A token is valid for minutes, so the document's token has expired. The issuer is the one of the test. */
async function withToken(value: object): Promise<object> {
  if ('iss' in value) return { ...value, iss: corp.url };
  if ('access_token' in value) return { ...value, access_token: await corp.mint() };
  if (!('logout_token' in value)) return value;
  const claims = { aud: loginClient.id, events: { 'http://schemas.openid.net/event/backchannel-logout': {} } };
  return { ...value, logout_token: await corp.mint({ claims, header: { typ: 'logout+jwt' } }) };
}

/** Requests that only a browser can send after a provider redirects it. */
const returned: Record<string, () => Promise<Answer>> = {
  finishOpenIdSignIn: () => new BrowserSession(trusting).signIn(corp, 'alice', '?return_to=/auth'),
};

async function textOf({ type, value }: NonNullable<Example['body']>): Promise<string> {
  return typeof value === 'string' ? value : encodeBody(type, await withToken(value));
}

async function send(operation: Operation, { body }: Example, status?: number, accept = 'application/json') {
  await given[operation.operationId]?.();
  const answer = await returned[operation.operationId]?.();
  if (answer) return answer;
  const server = operation.tag === 'OIDC' || (typeof body?.value === 'object' && 'access_token' in body.value) ? trusting : service();
  const { headers = {}, query = '' } = (await conditions[operation.operationId]?.(status)) ?? {};
  return await server.call<unknown>(methodOf(operation), urlOf(operation) + query, {
    headers: { ...headers, accept },
    ...(operation.security.length > 0 && { cookie }),
    ...(body && { headers: { ...headers, accept, 'content-type': body.type }, raw: await textOf(body) }),
  });
}

/** Each line of NDJSON, and CSV without regard to the ends of lines. */
function valueOf(type: string, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  if (type === 'text/csv') return value.replaceAll('\r\n', '\n');
  const lines = value.split('\n').filter((line) => line !== '');
  return type === 'application/x-ndjson' ? lines.map((line) => JSON.parse(line) as unknown) : value;
}

const moment = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The value, with names in place of everything that varies. */
function normalise(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => normalise(item));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([member, inner]) => [member, normalise(inner, member)]));
  if (typeof value !== 'string') return value;
  if (name === 'issuer') return 'an issuer';
  if (name === 'position') return 'a position';
  if (/\bdb[0-9a-f]{16}\b/.test(value)) return value.replace(/\bdb[0-9a-f]{16}\b/, 'a database');
  if (moment.test(value)) return 'a moment';
  if (uuid.test(value)) return 'a UUID';
  if (/^[0-9a-f]{64}$/.test(value)) return 'a digest';
  if (name === 'url') return new URL(value).searchParams.has('state') ? 'where to sign in' : value;
  if (/^esk_\w{62}$/.test(value)) return 'an API key';
  return name === 'id' && /^\w{12}$/.test(value) ? 'a handle' : value;
}

describe.for(titled(operations))('%s', ([, operation]) => {
  test.for(requestsOf(operation).map((request) => [request.name, request] as const))(
    '2xx — the example "%s" of a request is accepted',
    async ([, request]) => {
      const answer = await send(operation, request, undefined, '*/*');
      expect(
        Object.keys(operation.responses).filter((status) => /^[23]/.test(status)),
        answer.text,
      ).toContain(String(answer.status));
    },
  );

  test.for(answersOf(operation).map((answer) => [answer.name, answer] as const))(
    '2xx — the example "%s" of an answer is the service’s answer',
    async ([, { status, type, value }]) => {
      const [request] = requestsOf(operation);
      if (!request) throw new Error('an operation always has an example');
      const answer = await send(operation, request, status, type);
      expect(answer.status, answer.text).toBe(status);
      expect(normalise(answer.body ?? valueOf(type, answer.text))).toEqual(normalise(valueOf(type, value)));
    },
  );
});
