/** Writes down that a token was refused and why (security rule 85); never the token, and nothing of it that no issuer has signed. */
import type { FastifyRequest } from 'fastify';
import { insertEvent, originOf } from '../audit/store.ts';
import type { Context } from '../context.ts';
import { addressOf } from '../ops/client-address.ts';
import { RefusedToken } from './refusal.ts';

/** Runs `work` and lets its errors pass; a {@link RefusedToken} becomes an audit event, of each address only so many (`refusedTokens`). */
export async function auditRefusals<T>({ db, refusedTokens }: Context, request: FastifyRequest, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof RefusedToken && refusedTokens.take(addressOf(request))) {
      const { reason, about, userName } = error;
      await insertEvent(db, originOf(request), { event: 'token.refused', outcome: 'refused', userName, detail: { reason, ...about } });
    }
    throw error;
  }
}
