/** The credentials and rights of a user that an operation could change, and how to call each such operation. */
import { sql, type Kysely } from 'kysely';
import type { Database } from '../../src/database/tables.ts';
import { planOf } from '../../src/entity-types/plan.ts';
import { findType } from '../../src/entity-types/store.ts';
import { sessionOf } from './clock.ts';
import { declareType } from './entities.ts';
import type { TestIssuer } from './issuer.ts';
import { password, type Answer, type Call, type TestService } from './service.ts';

/** Everything that an operation of the Auth API could change for a user, as rows. */
export async function holdingsOf({ db }: { db: Kysely<Database> }, userId: string): Promise<unknown> {
  const { rows } = await sql<object>`
    select password_hash, credential_version,
      (select jsonb_agg(jsonb_build_array(id, token_hash::text, profile_id, idle_expires_at, revoked_at) order by id)
        from session where user_id = user_account.id) as sessions,
      (select jsonb_agg(jsonb_build_array(id, expires_at, replaced_at, revoked_at) order by id) from api_key
        where user_id = user_account.id) as keys,
      (select jsonb_agg(jsonb_build_array(id, issuer, subject) order by id) from identity where user_id = user_account.id) as links,
      (select count(*)::int from openid_transaction join session on session.id = session_id where user_id = user_account.id) as linking
    from user_account where id = ${userId}`.execute(db);
  return rows;
}

/** A user with one row of each kind, and the session that calls. */
export interface Holder {
  userId: string;
  userName: string;
  cookie: string;
  sessionId: string;
  otherSessionId: string;
  otherProfile: string;
  keyId: string;
  /** An identity through which no session was opened. */
  linkId: string;
  /** Of the plan that deletes the entity type of the user's name. */
  typeDigest: string;
}

/** Creates a user called `userName`, linked to the subject of that name at every issuer, and an entity type of that name. */
export async function createHolder(
  service: TestService,
  issuers: readonly TestIssuer[],
  userName: string,
): Promise<Omit<Holder, 'cookie' | 'sessionId'>> {
  const { id: userId } = await service.createUser(userName, { '*': ['create', 'read', 'update', 'delete', 'type'] });
  const otherProfile = `${userName}-other`;
  await service.createProfile(userId, otherProfile, {});
  for (const issuer of issuers) await service.link(issuer, userName, userName);
  const [issuer] = issuers;
  if (!issuer) throw new Error('pass at least one issuer');
  const spare = { issuer: issuer.url, subject: `${userName}-spare`, user_id: userId };
  const { id: linkId } = await service.db.insertInto('identity').values(spare).returning('id').executeTakeFirstOrThrow();
  const { id: otherSessionId } = await sessionOf(service, await service.openSession(userId));
  const keyId = (await service.createKey(userId)).slice(4, 16);
  await declareType(service, userName, { type: 'object' });
  const { digest: typeDigest } = planOf(await findType(service.db, userName), { name: userName, document: null, source: 'api' });
  return { userId, userName, otherSessionId, otherProfile, keyId, linkId, typeDigest };
}

type Request = [method: string, path: string, call?: Call];

/** Every operation that needs or accepts a session, as a request that succeeds if the session has the right. */
export const requests: Record<string, (holder: Holder) => Request> = {
  getSession: () => ['GET', '/auth'],
  checkOwnPermission: ({ userName }) => ['POST', '/auth/permissions/check', { json: { entity: userName, action: 'read' } }],
  listSessions: () => ['GET', '/auth/sessions'],
  listProfiles: () => ['GET', '/auth/profiles'],
  listKeys: () => ['GET', '/auth/keys'],
  listIdentities: () => ['GET', '/auth/identities'],
  refreshSession: () => ['POST', '/auth/refresh'],
  revokeSession: ({ otherSessionId }) => ['DELETE', `/auth/sessions/${otherSessionId}`],
  revokeOtherSessions: () => ['DELETE', '/auth/sessions'],
  selectProfile: ({ otherProfile }) => ['POST', `/auth/profile/${otherProfile}`],
  selectDefaultProfile: () => ['POST', '/auth/profile'],
  changePassword: () => {
    const next = 'seven quiet lanterns drift north';
    return ['POST', '/auth/password', { form: { 'current-password': password, 'set-password': next, 'confirm-password': next } }];
  },
  createKey: () => ['POST', '/auth/keys', { json: { name: 'made' } }],
  revokeKey: ({ keyId }) => ['DELETE', `/auth/keys/${keyId}`],
  rotateKey: ({ keyId }) => ['POST', `/auth/keys/${keyId}/rotate`],
  linkIdentity: () => ['POST', '/auth/oidc/corp/link'],
  unlinkIdentity: ({ linkId }) => ['DELETE', `/auth/identities/${linkId}`],
  planEntityType: ({ userName }) => ['POST', `/rest/entity-type/${userName}/plan`, { json: {} }],
  putEntityType: ({ userName }) => {
    const headers = { 'if-none-match': '*' };
    return ['PUT', `/rest/entity-type/${userName}-new`, { headers, json: { type: 'object' } }];
  },
  deleteEntityType: ({ userName, typeDigest }) => ['DELETE', `/rest/entity-type/${userName}?confirm=${typeDigest}`],
};

/** Sends the request of an operation with the holder's session. Throws for an operation that is not in {@link requests}. */
export function send<T = { code: string }>(service: TestService, operationId: string, holder: Holder): Promise<Answer<T>> {
  const request = requests[operationId];
  if (!request) throw new Error(`test/support/holdings.ts does not describe a request of ${operationId}`);
  const [method, path, call] = request(holder);
  return service.call<T>(method, path, { ...call, cookie: holder.cookie });
}
