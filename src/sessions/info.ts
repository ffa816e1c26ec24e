/** The session info of `GET /auth`: the caller, the active profile, the session and the server. */
import type { Schemas } from '../contract/operation.ts';
import type { Principal } from '../rights/principal.ts';
import type { SessionInfoContext } from './context.ts';
import { locales } from '../locales/negotiate.ts';
import { maximumLength } from '../credentials/policy.ts';
import { roleState } from '../accounts/roles.ts';
import { shownSomewhere } from '../rights/permit.ts';
import { shownRule } from '../rights/rule-text.ts';
import { listProfiles, listRoles, type ProfileRow } from '../accounts/profiles.ts';
import type { OwnSession } from './self-service.ts';

/** The members to add to the session info. */
export interface SessionInfoParts {
  roles: boolean;
  profiles: boolean;
}

/**
 * The session info of `principal`. Roles and profiles are read as they stand now. Attributes and claims are those that count: the set ones, of their declared
 * types.
 */
export async function sessionInfo(
  context: SessionInfoContext,
  principal: Principal,
  wanted?: SessionInfoParts,
): Promise<Schemas['SessionInfo']> {
  const {
    store: { db },
  } = context;
  const { user, profile, timeZone, locale, method, issuer, authenticatedAt, session } = principal;
  const values = await context.attributes.valuesOf(principal);
  return {
    user: { name: user.name, displayName: user.displayName, timeZone, attributes: values.user },
    profile: profile ? { name: profile.name, label: profile.label, default: profile.default, attributes: values.profile } : null,
    claims: values.claims,
    locale,
    authentication: { method, issuer, at: authenticatedAt.toISOString(), endSessionUrl: session?.endSessionUrl ?? null },
    session: session
      ? {
          id: session.id,
          createdAt: session.createdAt.toISOString(),
          lastSeenAt: session.lastSeenAt.toISOString(),
          idleExpiresAt: session.idleExpiresAt.toISOString(),
          expiresAt: session.expiresAt.toISOString(),
        }
      : null,
    server: serverInfo(context),
    ...(wanted?.roles && { roles: profile ? await describeRoles(context, principal, profile.id) : [] }),
    ...(wanted?.profiles && { profiles: (await listProfiles(db, user.id)).map((row) => describeProfile(row, profile?.id)) }),
  };
}

/** A profile as the contract shows it; `activeId` is the profile this request acts under. */
export function describeProfile({ id, name, label, isDefault, roles }: ProfileRow, activeId: string | undefined): Schemas['Profile'] {
  return { name, label, default: isDefault, active: id === activeId, roles };
}

/** A session as its user sees it; `currentId` is the one that asks. */
export function describeSession(session: OwnSession, currentId: string | undefined): Schemas['OwnSession'] {
  const { id, createdAt, lastSeenAt, idleExpiresAt, expiresAt, ...rest } = session;
  return {
    id,
    createdAt: createdAt.toISOString(),
    lastSeenAt: lastSeenAt.toISOString(),
    idleExpiresAt: idleExpiresAt.toISOString(),
    expiresAt: expiresAt.toISOString(),
    ...rest,
    current: id === currentId,
  };
}

function serverInfo({ config, issuers, version }: SessionInfoContext): Schemas['Server'] {
  return {
    name: 'Entity Service',
    version,
    time: new Date().toISOString(),
    locales: [...locales],
    authentication: [
      'password',
      'api-key',
      ...(issuers.size > 0 ? (['oauth2'] as const) : []),
      ...(issuers.providers.length > 0 ? (['openid'] as const) : []),
    ],
    password: { minLength: config.passwordMinLength, maxLength: maximumLength },
  };
}

/** The roles of the active profile. Tests of fields that no grant shows the caller have no name (rule 172). */
async function describeRoles({ store: { db } }: SessionInfoContext, principal: Principal, profileId: string): Promise<Schemas['Role'][]> {
  const isVisible = (entity: string) => (entity === '*' ? () => true : shownSomewhere(principal, entity));
  return (await listRoles(db, profileId)).map(roleState).map((role) => {
    const rules = role.rules.map((rule) => shownRule(rule, isVisible(rule.entity)));
    return Object.assign(role, { rules });
  });
}
