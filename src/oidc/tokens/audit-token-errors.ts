/** Writes down that a token was refused and why (security rule 85); never the token, and nothing of it that no issuer has signed. */
import { recordRefusal } from '../../audit/record.ts';
import type { Caller } from '../../authn/caller.ts';
import type { Context } from '../../context.ts';
import { TokenError } from './token-errors.ts';

/** Runs `work` and lets its errors pass; a {@link TokenError} becomes an audit event, as far as the quota allows. */
export async function auditTokenErrors<T>(context: Context, caller: Caller, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof TokenError) {
      const { reason, about, userName } = error;
      await recordRefusal(context, caller, { event: 'token.refused', outcome: 'refused', userName, detail: { reason, ...about } });
    }
    throw error;
  }
}
