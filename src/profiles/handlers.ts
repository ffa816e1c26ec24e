/** Profiles over HTTP: list, switch. */
import type { Handlers } from '../contract/operation.ts';
import type { SessionContext, SessionInfoContext } from '../sessions/context.ts';
import { issueToken } from '../sessions/fastify-session.ts';
import { describeProfile, sessionInfo } from '../sessions/info.ts';
import { switchProfile } from '../sessions/switch-profile.ts';
import { listProfiles } from '../accounts/profiles.ts';

type ProfileHandlers = Pick<Handlers, 'listProfiles' | 'selectProfile' | 'selectDefaultProfile'>;

export function profileHandlers(context: SessionContext & SessionInfoContext): ProfileHandlers {
  return {
    async listProfiles({ principal }) {
      const rows = await listProfiles(context.store.db, principal.user.id);
      return { status: 200, body: { profiles: rows.map((row) => describeProfile(row, principal.profile?.id)) } };
    },

    async selectProfile({ params, principal, caller, request }) {
      const token = await switchProfile(context, caller, principal, params.name);
      return { status: 200, body: await sessionInfo(context, await issueToken(request, context, token)) };
    },

    async selectDefaultProfile({ principal, caller, request }) {
      const token = await switchProfile(context, caller, principal, undefined);
      return { status: 200, body: await sessionInfo(context, await issueToken(request, context, token)) };
    },
  };
}
