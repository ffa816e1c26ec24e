/** Records refused tokens and the reasons in the audit trail (security rule 85). It records neither the token nor unsigned claims of it. */
import { recordWithinQuota } from '../../audit/record.ts';
import type { Caller } from '../../authn/caller.ts';
import type { IssuerContext } from '../context.ts';
import { TokenError } from './token-errors.ts';

/** Runs `work` and rethrows its errors; a {@link TokenError} becomes an audit event, as far as the quota allows. */
export async function auditTokenErrors<T>(context: IssuerContext, caller: Caller, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof TokenError) {
      const { reason, about, userName } = error;
      await recordWithinQuota(context, caller, { event: 'token.refused', outcome: 'refused', userName, detail: { reason, ...about } });
    }
    throw error;
  }
}
