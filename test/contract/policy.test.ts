/**
 * Who may do what, in `generated/policy.md`, for review: each operation of openapi.yaml is called by each kind of caller. `npm test --
 * test/contract/policy.test.ts --update` writes the file anew.
 */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { operations as routes } from '../../generated/operations.ts';
import { theService } from '../../src/audit/actor.ts';
import type { Operation } from '../../src/contract/contract.ts';
import { applyChange } from '../../src/entity-types/apply.ts';
import { planOf } from '../../src/entity-types/plan.ts';
import { findType } from '../../src/entity-types/store.ts';
import { allActions, entityActions } from '../../src/rights/vocabulary.ts';
import { sessionOf } from '../support/clock.ts';
import { declareType, type Entity } from '../support/entities.ts';
import { loginClient, TestIssuer, writeIssuers } from '../support/issuer.ts';
import { bodyOf, encodeBody, methodOf, operations, pathOf } from '../support/operations.ts';
import { password, useService, type TestGrants } from '../support/service.ts';

/** Scopes are a ceiling on tokens of `corp`, and none on those of `plain`. */
const corp = await TestIssuer.start('corp');
const plain = await TestIssuer.start('plain');
const ceiling = { read: 'entities:read', write: 'entities:write' };
const service = useService({ ISSUERS_FILE: await writeIssuers(await corp.loginEntry({ scopes: ceiling }), plain.entry()) });

type OperationId = keyof typeof routes;
type Headers = Record<string, string>;

interface User {
  id: string;
  name: string;
  grants: TestGrants | null;
}

/** A kind of caller: the user, the owner of the entities that it calls for, and a new credential for each request. */
interface Caller {
  title: string;
  user: string;
  owner?: string;
  credential: (user: User) => Promise<Headers>;
}

const session = async ({ id }: User): Promise<Headers> => ({ cookie: await service().openSession(id) });
const sessionByToken = async (issuer: TestIssuer, { name }: User, scope: string): Promise<Headers> => {
  const access_token = await issuer.mint({ claims: { sub: name, scope } });
  const { headers, status, text } = await service().call('POST', '/auth', { form: { oidcIssuer: issuer.id, access_token } });
  expect(status, text).toBe(200);
  return { cookie: headers.getSetCookie()[0]?.split(';')[0] ?? '' };
};
const apiKey = async ({ id }: User, actions: (typeof entityActions)[number][] | null): Promise<Headers> => ({
  'x-api-key': await service().createKey(id, { scopes: actions && [{ entity: 'note', actions }] }),
});
const token = async ({ name }: User, scope: string): Promise<Headers> => ({
  authorization: `Bearer ${await corp.mint({ claims: { sub: name, scope } })}`,
});

const callers: Caller[] = [
  { title: 'no credential', user: 'role', credential: async () => ({}) },
  { title: 'session of a user without a profile', user: 'nobody', credential: session },
  { title: 'session with a role for another name', user: 'elsewhere', credential: session },
  { title: 'session with a role for the name, every action', user: 'role', credential: session },
  { title: 'session with a role for own rows, on one of them', user: 'owner', owner: 'owner', credential: session },
  { title: 'session with a role for own rows, on another row', user: 'owner', credential: session },
  {
    title: 'session with a role for the name, an hour after the sign-in',
    user: 'role',
    credential: async (user) => {
      const { cookie } = await session(user);
      await sql`update session set signed_in_at = now() - interval '1 hour'`.execute(service().db);
      return { cookie: cookie ?? '' };
    },
  },
  { title: 'session that a token without a ceiling has opened', user: 'role', credential: (user) => sessionByToken(plain, user, '') },
  {
    title: 'session that a token with the scope to read has opened',
    user: 'role',
    credential: (user) => sessionByToken(corp, user, 'entities:read'),
  },
  { title: 'API key without scopes', user: 'role', credential: (user) => apiKey(user, null) },
  { title: 'API key with the scope to read', user: 'role', credential: (user) => apiKey(user, ['read']) },
  { title: 'access token with all scopes', user: 'role', credential: (user) => token(user, 'entities:read entities:write') },
  { title: 'access token with the scope to read', user: 'role', credential: (user) => token(user, 'entities:read') },
  { title: 'access token without scopes', user: 'role', credential: (user) => token(user, '') },
  { title: 'session with a role for all names, every action', user: 'administrator', credential: session },
];

const users = new Map<string, User>();
const every = [...allActions];
const grantsOf: Record<string, TestGrants | null> = {
  nobody: null,
  elsewhere: { letter: every },
  role: { note: every, draft: every },
  owner: { note: { actions: [...entityActions], condition: 'own' }, draft: { actions: [...entityActions], condition: 'own' } },
  administrator: { '*': every },
  author: { '*': every },
};
const userOf = (name: string): User => {
  const user = users.get(name);
  if (!user) throw new Error(`there is no user ${name}`);
  return user;
};

/** Saved, so that a change of a password can be undone. */
let passwordHash: string | null;
let authorCookie: string;

beforeAll(async () => {
  for (const [name, grants] of Object.entries(grantsOf)) {
    const { id } = await service().createUser(name, grants);
    users.set(name, { id, name, grants });
    for (const issuer of [corp, plain]) await service().link(issuer, name, name);
  }
  await declareType(service(), 'note', noteType);
  const { db } = service();
  ({ password_hash: passwordHash } = await db
    .selectFrom('user_account')
    .where('name', '=', 'role')
    .select('password_hash')
    .executeTakeFirstOrThrow());
  authorCookie = await service().openSession(userOf('author').id);
});

const noteType = {
  type: 'object',
  properties: { a: { type: 'string', maxLength: 40 } },
  'x-unique': [{ fields: ['a'] }],
  'x-soft-delete': { keep: 'P7D' },
};
const newValue = () => randomUUID();

/** The parts of a request: values of the path and the query, the body. */
interface Parts {
  values?: Record<string, string>;
  query?: Record<string, string>;
  body?: unknown;
  headers?: Headers;
}

/** Creates an entity as its owner, or as `author` who is none of the callers. */
async function newEntity({ owner = 'author' }: Caller): Promise<{ name: string; key: string; a: string }> {
  const cookie = owner === 'author' ? authorCookie : await service().openSession(userOf(owner).id);
  const a = newValue();
  const { status, body, text } = await service().call<Entity>('POST', '/rest/entity/note', { cookie, json: { a } });
  expect(status, text).toBe(201);
  return { name: 'note', key: body.key, a };
}

async function trashed(caller: Caller): Promise<Record<string, string>> {
  const { name, key } = await newEntity(caller);
  const { status } = await service().call('DELETE', `/rest/entity/${name}/${key}`, { cookie: authorCookie });
  expect(status).toBe(204);
  return { name, key };
}

/** Declares the type `draft`, or takes it away. */
async function setDraft(isDeclared: boolean): Promise<void> {
  const { db, store, context } = service();
  const change = { name: 'draft', document: isDeclared ? { type: 'object' } : null, source: 'command' } as const;
  const type = await findType(db, 'draft');
  if ((type !== undefined) === isDeclared) return;
  const { digest: confirm } = planOf(type, change);
  await applyChange(store, theService, change, { confirm });
  await context.listener.settle();
}

const onNote = async (): Promise<Parts> => ({ values: { name: 'note' } });
const onEntity = async (caller: Caller): Promise<Parts> => ({ values: await newEntity(caller) });
const alone = async (): Promise<Parts> => ({});
const atIssuer = { values: { issuer: 'corp' } };

/** Begins a sign-in at the provider, and returns what its answer carries. */
async function providerAnswer(name: string): Promise<Parts> {
  const begun = await service().inject({ method: 'GET', url: '/auth/oidc/corp/start' });
  const { searchParams } = new URL(String(begun.headers.location));
  const claims = { sub: name, aud: loginClient.id, nonce: searchParams.get('nonce'), client_id: undefined, scope: undefined };
  const id_token = await corp.mint({ claims: { ...claims, auth_time: Math.floor(Date.now() / 1_000) }, header: { typ: 'JWT' } });
  corp.answers.set('/token', () => ({ access_token: 'opaque', token_type: 'Bearer', id_token }));
  const cookie = [begun.headers['set-cookie']].flat()[0]?.split(';')[0] ?? '';
  return { ...atIssuer, query: { state: searchParams.get('state') ?? '', code: 'any', iss: corp.url }, headers: { cookie } };
}

/** What makes a request of each operation one that succeeds for a caller with the right. */
const requests: Record<OperationId, (caller: Caller) => Promise<Parts>> = {
  getSession: alone,
  endSession: async () => ({ query: { logout: '1' } }),
  createSession: async ({ user }) => ({
    body: { oidcIssuer: 'plain', access_token: await plain.mint({ claims: { sub: user, scope: '' } }) },
  }),
  refreshSession: alone,
  listProfiles: alone,
  checkOwnPermission: async (caller) => {
    const { name, key } = await newEntity(caller);
    return { body: { entity: name, key, action: 'update', set: { a: newValue() } } };
  },
  selectDefaultProfile: alone,
  selectProfile: async ({ user }) => ({ values: { name: user } }),
  changePassword: async () => {
    const next = 'seven quiet lanterns drift north';
    return { body: { 'current-password': password, 'set-password': next, 'confirm-password': next } };
  },
  listSessions: alone,
  revokeOtherSessions: alone,
  revokeSession: async ({ user }) => ({ values: { id: (await sessionOf(service(), await service().openSession(userOf(user).id))).id } }),
  listKeys: alone,
  createKey: async () => ({ body: { name: 'made by a test' } }),
  revokeKey: async ({ user }) => ({ values: { id: (await service().createKey(userOf(user).id)).slice(4, 16) } }),
  rotateKey: async ({ user }) => ({ values: { id: (await service().createKey(userOf(user).id)).slice(4, 16) }, body: {} }),
  listIssuers: alone,
  startOpenIdSignIn: async () => atIssuer,
  initiateOpenIdSignIn: async () => ({ ...atIssuer, body: { iss: corp.url } }),
  finishOpenIdSignIn: ({ user }) => providerAnswer(user),
  linkIdentity: async () => atIssuer,
  listIdentities: alone,
  unlinkIdentity: async ({ user }) => {
    const link = { issuer: corp.url, subject: newValue(), user_id: userOf(user).id };
    return { values: await service().db.insertInto('identity').values(link).returning('id').executeTakeFirstOrThrow() };
  },
  logoutFromProvider: async () => {
    const events = { 'http://schemas.openid.net/event/backchannel-logout': {} };
    const claims = { sub: 'stranger', aud: loginClient.id, events, client_id: undefined, scope: undefined };
    return { ...atIssuer, body: { logout_token: await corp.mint({ claims, header: { typ: 'logout+jwt' } }) } };
  },
  listEntities: onNote,
  createEntity: async () => ({ values: { name: 'note' }, body: { a: newValue() } }),
  queryEntities: async () => ({ values: { name: 'note' }, body: { limit: 1 } }),
  aggregateEntities: async () => ({ values: { name: 'note' }, body: { measures: { n: { $count: true } } } }),
  createEntities: async () => ({ values: { name: 'note' }, body: [{ a: newValue() }] }),
  upsertEntity: async () => ({ values: { name: 'note' }, query: { by: 'a' }, body: { a: newValue() } }),
  exportEntities: onNote,
  exportQuery: async () => ({ values: { name: 'note' }, body: { filter: {} } }),
  importEntities: async () => ({ values: { name: 'note' }, body: `{"a":"${newValue()}"}\n` }),
  getEntity: onEntity,
  updateEntity: async (caller) => ({ values: await newEntity(caller), body: { a: newValue() } }),
  deleteEntity: onEntity,
  listVersions: onEntity,
  restoreEntity: async (caller) => ({ values: await trashed(caller) }),
  runBatch: async (caller) => {
    const { name, key } = await newEntity(caller);
    return {
      body: {
        operations: [
          { op: 'get', name, key },
          { op: 'update', name, key, fields: { a: newValue() } },
        ],
      },
    };
  },
  listEntityTypes: alone,
  getEntityType: onNote,
  putEntityType: async () => {
    await setDraft(false);
    return { values: { name: 'draft' }, headers: { 'if-none-match': '*' }, body: { type: 'object' } };
  },
  deleteEntityType: async () => {
    await setDraft(true);
    const { digest } = planOf(await findType(service().db, 'draft'), { name: 'draft', document: null, source: 'api' });
    return { values: { name: 'draft' }, query: { confirm: digest } };
  },
  describeEntity: onNote,
  planEntityType: async () => ({ values: { name: 'draft' }, body: { document: { type: 'object' } } }),
};

/** Parameters and states that need another right than the operation alone. */
const variants: [operation: OperationId, title: string, parts: (caller: Caller) => Promise<Parts>][] = [
  ['listEntities', '`deleted=only`', async () => ({ values: { name: 'note' }, query: { deleted: 'only' } })],
  ['getEntity', '`deleted=only`', async (caller) => ({ values: await trashed(caller), query: { deleted: 'only' } })],
  ['deleteEntity', '`purge=1`', async (caller) => ({ values: await newEntity(caller), query: { purge: '1' } })],
  ['restoreEntity', '`version=1`', async (caller) => ({ values: await newEntity(caller), query: { version: '1' } })],
  [
    'upsertEntity',
    'of an entity that exists',
    async (caller) => ({ values: { name: 'note' }, query: { by: 'a' }, body: { a: (await newEntity(caller)).a } }),
  ],
];

async function statusOf(operation: Operation, caller: Caller, parts: Parts): Promise<number> {
  const user = userOf(caller.user);
  const credential = await caller.credential(user);
  const { values = {}, query = {}, body, headers: { cookie, ...headers } = {} } = parts;
  const search = new URLSearchParams(query).toString();
  const type = bodyOf(operation)?.type ?? '';
  const cookies = [cookie, credential['cookie']].filter((each) => each !== undefined).join('; ');
  const { statusCode } = await service().inject({
    method: methodOf(operation),
    url: pathOf(operation, values) + (search && `?${search}`),
    headers: { ...headers, ...credential, ...(cookies && { cookie: cookies }), ...(body !== undefined && { 'content-type': type }) },
    ...(body !== undefined && { payload: typeof body === 'string' ? body : encodeBody(type, body as object) }),
  });
  await undo(user);
  return statusCode;
}

/** The number of keys of a user is limited, and the next request needs the password of before. */
async function undo({ id }: User): Promise<void> {
  await sql`delete from api_key`.execute(service().db);
  await sql`update user_account set password_hash = ${passwordHash} where id = ${id} and password_hash <> ${passwordHash}`.execute(
    service().db,
  );
}

test('generated/policy.md has the outcome of each operation for each kind of caller', async () => {
  expect(Object.keys(requests).toSorted()).toEqual(operations.map(({ operationId }) => operationId).toSorted());
  const rows: string[] = [];
  for (const operation of operations) {
    const id = operation.operationId as OperationId;
    const ways: [string, (caller: Caller) => Promise<Parts>][] = [
      [`\`${id}\``, requests[id]],
      ...variants.filter(([each]) => each === id).map(([, title, parts]): [string, typeof parts] => [`\`${id}\` ${title}`, parts]),
    ];
    for (const [title, partsOf] of ways) {
      const statuses: number[] = [];
      for (const caller of callers) statuses.push(await statusOf(operation, caller, await partsOf(caller)));
      rows.push(`| ${title} | ${statuses.join(' | ')} |`);
    }
  }
  const letters = callers.map((_caller, index) => String.fromCodePoint(65 + index));
  const text = `# Who may do what

Made by \`npm test -- test/contract/policy.test.ts --update\`. Do not edit. A test calls each operation of the contract
as each kind of caller, on an entity \`note\`, a type \`draft\`, or a thing of the caller. The table has the status of each answer.

${callers.map(({ title }, index) => `- **${letters[index]}**: ${title}`).join('\n')}

| operation | ${letters.join(' | ')} |
| --- | ${letters.map(() => '---').join(' | ')} |
${rows.join('\n')}
`;
  await expect(text).toMatchFileSnapshot('../../generated/policy.md');
});
