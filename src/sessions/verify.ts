/**
 * Finds live sessions by their tokens, with the principal of each. A session is live while it is not revoked and both its deadlines are in
 * the future by the database's clock. Its user must be active under the same credential version. All code uses this one definition.
 */
import { sql, type ExpressionBuilder, type InferResult } from 'kysely';
import { actingProfile, callerColumns, principalOf } from '../authn/caller-rows.ts';
import type { Principal } from '../rights/principal.ts';
import type { SessionContext } from './context.ts';
import { ignoreDiskFull } from '../database/failure.ts';
import { builder, prepare } from '../database/driver/prepared.ts';
import type { Database } from '../database/tables.ts';

/** Seconds for which a token that a refresh has replaced still serves requests in flight, from the first use of the new one (rule 20). */
export const graceSeconds = 10;
const lastSeenSeconds = 60;
/** Minutes after the sign-in in which a session may do what needs a recent sign-in (rule 60): `fresh` in `rights/session-rights.ts`. */
export const freshMinutes = 15;

/** The WHERE of a live session; the statement must join `user_account`. */
export const isLiveSession = (eb: ExpressionBuilder<Database, 'session' | 'user_account'>) =>
  eb.and([
    eb('session.revoked_at', 'is', null),
    eb('session.idle_expires_at', '>', sql<Date>`now()`),
    eb('session.expires_at', '>', sql<Date>`now()`),
    eb('user_account.active', '=', true),
    eb('session.credential_version', '=', eb.ref('user_account.credential_version')),
  ]);

/**
 * Whether the present token of the session has replaced the one of `superseded_token`, and has not been used since. The client may not have received the
 * present one, so this one goes on (rule 20). A transition that replaces an unused token replaces its predecessor as well, at the same time, and the client
 * may have received either. The statement must have both tables.
 */
export const isPredecessor = sql<boolean>`(session.unused_token_hash = session.token_hash and superseded_token.superseded_at >= (
  select replaced.superseded_at from superseded_token as replaced where replaced.token_hash = session.predecessor_hash
))`;

export interface FoundSession {
  principal: Principal;
  /** Milliseconds until the session ends. */
  lifeMs: number;
}

/** The session of the token that a request carries. Stores the first use of a token, which ends its predecessor (rule 20). */
export async function acceptToken(context: Pick<SessionContext, 'store' | 'rules'>, tokenHash: Buffer): Promise<FoundSession | undefined> {
  const found = await findPrincipal(context, tokenHash);
  if (found?.isUnused) await ignoreDiskFull(context.store.run(endPredecessor, { tokenHash }));
  return found;
}

/** The live session of a token; undefined for any other token. `isUnused` says that no request has carried this token since it was made. */
export async function findPrincipal(
  { store, rules }: Pick<SessionContext, 'store' | 'rules'>,
  tokenHash: Buffer,
): Promise<(FoundSession & { isUnused: boolean }) | undefined> {
  const [current] = await store.read(findByToken, { tokenHash });
  const [row] = current ? [current] : await store.read(findBySupersededToken, { tokenHash });
  if (!row) return undefined;
  if (row.lastSeenIsDue) await ignoreDiskFull(store.run(touch, { id: row.id }));
  const principal = await rules.complete(principalOfSession(row, tokenHash));
  return { principal, lifeMs: row.lifeMs, isUnused: row.isUnused && principal.session?.current === true };
}

/** The principal of the session `id`, if it is live, whatever its token is by now; for what goes on after the request has been authenticated. */
export async function findLiveSession(
  { store, rules }: Pick<SessionContext, 'store' | 'rules'>,
  id: string,
): Promise<Principal | undefined> {
  const [row] = await store.read(findById, { id });
  return row && (await rules.complete(principalOfSession(row, row.tokenHash)));
}

/** The principal of a row of {@link sessionCallers}, for a request that carried `tokenHash`. */
export function principalOfSession(row: SessionCallerRow, tokenHash: Buffer): Principal {
  return principalOf(row, {
    locale: row.locale,
    method: row.method,
    issuer: row.issuer,
    authenticatedAt: row.authenticatedAt,
    credential: `session:${row.id}`,
    session: {
      id: row.id,
      createdAt: row.createdAt,
      lastSeenAt: row.lastSeenAt,
      idleExpiresAt: row.idleExpiresAt,
      expiresAt: row.expiresAt,
      credentialVersion: row.credentialVersion,
      fresh: row.fresh,
      current: row.tokenHash.equals(tokenHash),
      identity: row.issuer === null || row.subject === null ? undefined : { issuer: row.issuer, subject: row.subject },
      endSessionUrl: row.endSessionUrl,
    },
    scopes: row.scopes,
    claims: row.claims ?? {},
  });
}

/** The claims of the identity with which the session was opened, as the newest token has them; null for a password. */
const claimsOfSession = sql<Record<string, unknown> | null>`case when session.subject is not null then (
  select identity.claims from identity
  where identity.issuer = session.issuer and identity.subject = session.subject and identity.user_id = session.user_id
) end`.as('claims');

/**
 * The sessions of `source`, live or not, with all that a Principal holds. `source` is the table or a part of the statement with its columns.
 * The profile is the session's while the user has it, else none.
 */
export const sessionCallers = (source: 'session' | 'new_session') =>
  builder
    .selectFrom(sql<Database['session']>`${sql.table(source)}`.as('session'))
    .innerJoin('user_account', 'user_account.id', 'session.user_id')
    .leftJoinLateral(actingProfile('session', sql`user_profile.profile_id = session.profile_id`), (join) => join.onTrue())
    .select(callerColumns)
    .select([
      'session.id',
      'session.token_hash as tokenHash',
      'session.method',
      'session.issuer',
      'session.subject',
      'session.scopes',
      'session.locale',
      'session.authenticated_at as authenticatedAt',
      'session.created_at as createdAt',
      'session.last_seen_at as lastSeenAt',
      'session.idle_expires_at as idleExpiresAt',
      'session.expires_at as expiresAt',
      'session.credential_version as credentialVersion',
      'session.end_session_url as endSessionUrl',
      claimsOfSession,
      sql<boolean>`coalesce(session.unused_token_hash = session.token_hash, false)`.as('isUnused'),
      sql<boolean>`coalesce(session.signed_in_at > now() - make_interval(mins => ${freshMinutes}), false)`.as('fresh'),
      sql<boolean>`session.last_seen_at < now() - make_interval(secs => ${lastSeenSeconds})`.as('lastSeenIsDue'),
      sql<number>`(extract(epoch from least(session.idle_expires_at, session.expires_at) - now()) * 1000)::float8`.as('lifeMs'),
    ]);

export type SessionCallerRow = InferResult<ReturnType<typeof sessionCallers>>[number];

const findByToken = prepare<{ tokenHash: Buffer }, SessionCallerRow>('session.find', (value) =>
  sessionCallers('session').where(isLiveSession).where('session.token_hash', '=', value('tokenHash')).compile(),
);

const findById = prepare<{ id: string }, SessionCallerRow>('session.find-by-id', (value) =>
  sessionCallers('session').where(isLiveSession).where('session.id', '=', value('id')).compile(),
);

/**
 * Finds by the predecessor of a token that has not been used. Also finds by a token that a refresh has replaced within the last {@link graceSeconds}, if
 * every replacement since was a refresh as well. Any other change of the session ends all older tokens with its COMMIT (rules 15, 20 and 44).
 */
const findBySupersededToken = prepare<{ tokenHash: Buffer }, SessionCallerRow>('session.find-superseded', (value) =>
  sessionCallers('session')
    .where(isLiveSession)
    .innerJoin('superseded_token', 'superseded_token.session_id', 'session.id')
    .where('superseded_token.token_hash', '=', value('tokenHash'))
    .where((eb) => {
      const otherChange = eb
        .selectFrom('superseded_token as since')
        .whereRef('since.session_id', '=', 'superseded_token.session_id')
        .whereRef('since.superseded_at', '>=', 'superseded_token.superseded_at')
        .where('since.refreshed', '=', false);
      return eb.or([
        isPredecessor,
        eb.and([
          eb('superseded_token.superseded_at', '>', sql<Date>`now() - make_interval(secs => ${graceSeconds})`),
          eb.not(eb.exists(otherChange.select('since.token_hash'))),
        ]),
      ]);
    })
    .compile(),
);

/**
 * Stores that the present token was used. Does nothing if a transition has replaced it meanwhile. The client may have received it late, and its other requests
 * in flight carry a predecessor: their time begins now. No request is under way for a minute.
 */
const endPredecessor = prepare<{ tokenHash: Buffer }, never>('session.end-predecessor', (value) =>
  builder
    .with('used', (db) =>
      db
        .selectFrom('session')
        .where('token_hash', '=', value('tokenHash'))
        .where('unused_token_hash', '=', value('tokenHash'))
        .where('revoked_at', 'is', null)
        .select(['id', 'predecessor_hash'])
        .forUpdate(),
    )
    .with('ended', (db) =>
      db
        .updateTable('session')
        .from('used')
        .set({ unused_token_hash: null, predecessor_hash: null })
        .whereRef('session.id', '=', 'used.id'),
    )
    .updateTable('superseded_token')
    .set({ superseded_at: sql`now()` })
    .where('session_id', '=', (eb) => eb.selectFrom('used').select('used.id'))
    .where(sql<boolean>`superseded_at between now() - interval '1 minute' and now() - interval '1 second'`)
    .where('superseded_at', '>=', (eb) =>
      eb
        .selectFrom('superseded_token as replaced')
        .where('replaced.token_hash', '=', (used) => used.selectFrom('used').select('used.predecessor_hash'))
        .select('replaced.superseded_at'),
    )
    .compile(),
);

/** Stores that the session was used now. Moves no deadline (rule 12). */
const touch = prepare<{ id: string }, never>('session.touch', (value) =>
  builder
    .updateTable('session')
    .set({ last_seen_at: sql`now()` })
    .where('id', '=', value('id'))
    .where('revoked_at', 'is', null)
    .where('last_seen_at', '<', sql<Date>`now() - make_interval(secs => ${lastSeenSeconds})`)
    .compile(),
);
