/** The user's own password over HTTP: change. */
import type { Handlers } from '../contract/operation.ts';
import type { PasswordChangeContext } from './context.ts';
import { issueToken } from '../sessions/fastify-session.ts';
import { changePassword } from './change.ts';

type PasswordHandlers = Pick<Handlers, 'changePassword'>;

export function passwordHandlers(context: PasswordChangeContext): PasswordHandlers {
  return {
    async changePassword({ body, principal, caller, request }) {
      const token = await changePassword(context, caller, principal, {
        current: body['current-password'],
        next: body['set-password'],
        confirmation: body['confirm-password'],
      });
      await issueToken(request, context, token);
      return { status: 204 };
    },
  };
}
