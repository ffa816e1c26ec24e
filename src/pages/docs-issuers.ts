/**
 * Swagger UI with the issuers of this server in place of the contract's example: each has its own entry under Authorize. The plugin in
 * docs-ui.ts fills it in.
 */
import type { SecurityRequirement } from '../authn/authenticate.ts';
import { methods, type ContractDocument } from '../contract/contract.ts';

/** An issuer at which a person can sign in from the documentation. */
export interface OfferedIssuer {
  id: string;
  label: string;
  /** The URL that begins a sign-in with a session and returns to the page; undefined if the service is no client of the issuer. */
  startUrl: string | undefined;
  authorizationUrl: string;
  tokenUrl: string;
  /** Swagger UI's own client at the issuer, with which it gets access tokens. */
  client: { id: string; scopes: readonly string[]; parameters: Readonly<Record<string, string>> };
}

/** The name of the entry under Authorize, and of the scheme in the document. */
const schemeName = ({ id }: OfferedIssuer) => `oauth2.${id}`;

/** `document` with these issuers as its OAuth 2.0 schemes; unchanged without issuers. */
export function withIssuers(document: ContractDocument, issuers: readonly OfferedIssuer[]): ContractDocument {
  if (issuers.length === 0) return document;
  const { oauth2, openId, ...schemes } = document.components['securitySchemes'] ?? {};
  const replaced = (security: SecurityRequirement[]) =>
    security.flatMap((requirement) => {
      if ('openId' in requirement) return [];
      return 'oauth2' in requirement ? issuers.map((issuer) => ({ [schemeName(issuer)]: [] })) : [requirement];
    });
  const paths = structuredClone(document.paths);
  for (const path of Object.values(paths)) {
    for (const method of methods) {
      const operation = path[method];
      if (operation?.security) operation.security = replaced(operation.security);
    }
  }
  const securitySchemes = { ...schemes, ...Object.fromEntries(issuers.map((issuer) => [schemeName(issuer), schemeOf(issuer)])) };
  return { ...document, security: replaced(document.security), paths, components: { ...document.components, securitySchemes } };
}

/** The origins from which the page fetches tokens, as sources of a Content-Security-Policy. */
export function tokenOrigins(issuers: readonly OfferedIssuer[]): string[] {
  return [...new Set(issuers.map(({ tokenUrl }) => new URL(tokenUrl).origin))];
}

function schemeOf({ label, startUrl, authorizationUrl, tokenUrl, client }: OfferedIssuer): object {
  const name = label.replaceAll(/[!-/:-@[-`{-~]/g, String.raw`\$&`);
  const session = `[Sign in with a session](${startUrl}): this page then calls with its cookie. Or with an access token:`;
  const scopes = Object.fromEntries(client.scopes.map((scope) => [scope, '']));
  return {
    type: 'oauth2',
    description: startUrl === undefined ? name : `${name}. ${session}`,
    flows: { authorizationCode: { authorizationUrl, tokenUrl, scopes } },
    'x-swagger-ui': { clientId: client.id, scopes: client.scopes, additionalQueryStringParams: client.parameters },
  };
}
