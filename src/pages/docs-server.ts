/** The contract as the one of a particular server, for programs and people that read it there. */
import type { ContractDocument } from '../contract/contract.ts';

/** `document` with `url` as its only server, and with the name that the session cookie has there, by default `sid` or `__Host-sid` (rule 9). */
export function documentOfServer(document: ContractDocument, url: string, cookieName: string): ContractDocument {
  const { securitySchemes = {} } = document.components;
  const sessionCookie = { ...(securitySchemes['sessionCookie'] as object), name: cookieName };
  return {
    ...document,
    servers: document.servers.map((server) => ({ ...server, url })),
    components: { ...document.components, securitySchemes: { ...securitySchemes, sessionCookie } },
  };
}
