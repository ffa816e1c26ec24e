/** What an administrator may do with entities: everything, in the name of a user. */
import { randomUUID } from 'node:crypto';
import type { Origin } from '../network/origin.ts';
import type { Principal } from '../rights/principal.ts';
import { entityActions } from '../rights/vocabulary.ts';
import { grantMap } from '../rights/permit.ts';
import type { Actor } from '../rights/administration.ts';

/** A principal that may do everything with all entities. They are created and updated in the name of the user. */
export function administratorAs(userName: string): Principal {
  return {
    user: { id: '', name: userName, displayName: userName, attributes: {} },
    profile: undefined,
    claims: {},
    timeZone: null,
    locale: 'en',
    method: 'bearer',
    issuer: null,
    authenticatedAt: new Date(),
    credential: 'command',
    session: undefined,
    grants: grantMap(entityActions.map((action) => ({ entity: '*', action, condition: 'any' }))),
    scopes: null,
  };
}

/** The origin of the changes of one command: the audit trail has the administrator in place of the user agent. */
export function originOf({ name, via }: Actor): Origin {
  return { requestId: randomUUID(), address: 'unknown', userAgent: `administrator ${name} (${via})`.slice(0, 256) };
}
