/** The claims that rules may name. */
import { readIssuers } from '../oidc/issuers-file/read.ts';
import { claimTypes } from '../oidc/provisioning/claimed-rights.ts';
import type { DeclaredTypes } from '../rights/attribute-types.ts';
import type { Admin } from './command.ts';

export async function claimsOf({ config, desk }: Pick<Admin, 'config' | 'desk'>): Promise<DeclaredTypes> {
  const types = claimTypes(await readIssuers(config.issuersFile, desk.environment()));
  return new Map([...types.values()].flatMap((claims) => Array.from(claims)));
}
