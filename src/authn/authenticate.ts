/**
 * Decides which credential of a request is used and whether the operation accepts it (rules 5 and 6). A scheme returns undefined without
 * its credential, returns a principal for a valid one, or throws 401 for an invalid one. A 401 ends the search; an outage is 503.
 */
import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { Problem } from '../problems/errors.ts';
import type { OriginPolicy } from '../config/public-url.ts';
import { csrfAllows } from './csrf.ts';
import type { Principal } from '../rights/principal.ts';

/** One alternative of a `security` list: scheme name → scopes. `{}` means that the operation also accepts callers without a credential. */
export type SecurityRequirement = Record<string, string[]>;

export type Scheme = (request: FastifyRequest) => Promise<Principal | undefined>;

/** One scheme for each name under the contract's `securitySchemes`; the binder throws if one is missing. */
export type Schemes = Record<'sessionCookie' | 'apiKey' | 'oauth2' | 'openId', Scheme>;

/** The header or cookie that contains the credential. */
export type CredentialCarrier = 'bearer' | 'api-key' | 'cookie';

/**
 * The header credential of the request, or `cookie` without one. Throws 400 `ambiguous-credentials` for two header credentials (rule 6),
 * including two of the same kind, which Node.js would join or drop.
 */
export function carrierOf(message: IncomingMessage): CredentialCarrier {
  const { authorization, 'x-api-key': apiKey } = message.headers;
  if (authorization === undefined && apiKey === undefined) return 'cookie';
  let carriers = 0;
  for (let index = 0; index < message.rawHeaders.length; index += 2) {
    const name = message.rawHeaders[index]?.toLowerCase();
    if (name === 'authorization' || name === 'x-api-key') carriers++;
  }
  if (carriers > 1) throw new Problem('ambiguous-credentials');
  return apiKey === undefined ? 'bearer' : 'api-key';
}

/**
 * Finds the caller and sets it as the request's `principal`. Throws 401 `unauthenticated` without a credential, and the scheme's error for
 * an invalid one. Throws 403 for a valid one of a kind that `security` does not accept, such as an API key where a session is needed (rule
 * 59).
 */
export async function authenticateCaller(
  request: FastifyRequest,
  carrier: CredentialCarrier,
  security: readonly Readonly<Record<string, unknown>>[],
  schemes: Schemes,
): Promise<void> {
  const principal = await recognisePrincipal(request, carrier, schemes);
  if (!principal) throw new Problem('unauthenticated');
  request.principal = principal;
  const names = carrier === 'bearer' ? ['oauth2', 'openId'] : [carrier === 'api-key' ? 'apiKey' : 'sessionCookie'];
  if (!security.some((alternative) => names.some((name) => name in alternative))) throw new Problem('forbidden');
}

/** The principal of the request's credential, or undefined if the request has none. Throws the scheme's error for an invalid credential. */
export function recognisePrincipal(request: FastifyRequest, carrier: CredentialCarrier, schemes: Schemes): Promise<Principal | undefined> {
  switch (carrier) {
    case 'bearer':
      return schemes.oauth2(request);
    case 'api-key':
      return schemes.apiKey(request);
    case 'cookie':
      return schemes.sessionCookie(request);
  }
}

/** Returns the caller of a request under way, as its credential and rights are now. Throws 401 when the credential has ended, and 503 when the process ends. */
export type PresentPrincipal = (request: FastifyRequest) => Promise<Principal>;

/** `findSession` returns a live session whatever its token is by now, since the client may have refreshed it. `stopping` is aborted with a problem. */
export function presentPrincipalBy(
  schemes: Schemes,
  findSession: (id: string) => Promise<Principal | undefined>,
  stopping: AbortSignal,
): PresentPrincipal {
  return async (request) => {
    stopping.throwIfAborted();
    const id = request.principal?.session?.id;
    const principal = id === undefined ? await recognisePrincipal(request, carrierOf(request.raw), schemes) : await findSession(id);
    if (!principal) throw new Problem('unauthenticated');
    return principal;
  };
}

/** Throws 403 `csrf-rejected` for a request that a page of another site has made a browser send, unless that origin is trusted (rules 27 to 30). */
export function requireOwnSite({ headers }: FastifyRequest, policy: OriginPolicy): void {
  if (!csrfAllows({ secFetchSite: headers['sec-fetch-site'], origin: headers.origin }, policy)) throw new Problem('csrf-rejected');
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The caller, once authenticated. */
    principal: Principal | undefined;
  }
}
