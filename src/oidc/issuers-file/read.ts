/** Reads ISSUERS_FILE, the list of trusted issuers. It calls no issuer: the service does that when the issuer's first token arrives. */
import { readFile } from 'node:fs/promises';
import type { Current } from '../../config/secret-file.ts';
import type { Secret } from '../../config/secrets.ts';
import { ConfigError } from '../../config/settings.ts';
import type { Environment } from '../../config/reader.ts';
import { readAddress, type IssuerAddress } from './address.ts';
import {
  readClaimNames,
  readOptionalMembers,
  readProfiles,
  readRights,
  readProvision,
  readScopes,
  type ClaimNames,
  type ClaimedProfiles,
  type ClaimedRight,
  type OptionalMember,
  type ScopeNames,
} from './claims.ts';
import { readClientSecret } from './client-secret.ts';
import { LocatedFile } from './positions.ts';
import { SchemaReader } from './schema-reader.ts';
import { readLogoutPage, readPrompts, readSignInScopes, type IssuerLogoutPage, type Prompts } from './sign-in.ts';
import { readSwaggerUi, type SwaggerUiClient } from './swagger-ui-client.ts';

/** An issuer as configured. */
export interface Issuer extends IssuerAddress {
  /** Short name, used in paths and in `oidcIssuer`. */
  id: string;
  /** A name for people. */
  label: string;
  /** The value that `aud` must contain. */
  audience: string;
  /** Undefined for an issuer whose access tokens are accepted but at which users do not sign in. */
  clientId: string | undefined;
  /** Undefined: none. That of a file is a {@link SecretFile}. */
  clientSecret: Current<Secret> | undefined;
  clientSecretFile: string | undefined;
  /** The values of `client_id` that are accepted; undefined accepts all (rule 48). */
  clients: ReadonlySet<string> | undefined;
  /** Signature algorithms, all of them asymmetric (rule 45). */
  algorithms: readonly string[];
  /**
   * With `jwt`, access tokens without the type `at+jwt` are accepted too, and any token that may be an ID token is refused. With `opaque`,
   * the service sends each token to the issuer's introspection endpoint (rule 50).
   */
  tokenType: 'at+jwt' | 'jwt' | 'opaque';
  /** The issuer's names of these claims. */
  claimNames: ClaimNames;
  /** Whether a token without `aud` is accepted, of one of `clients` only. An `aud` that is present must always contain the audience. */
  allowMissingAudience: boolean;
  /** The members that an introspection response may lack. */
  optionalMembers: ReadonlySet<OptionalMember>;
  /** The scopes that a sign-in with a browser requests; undefined: `openid`, with `profile` where users are provisioned. */
  signInScopes: readonly string[] | undefined;
  prompts: Prompts;
  logoutPage: IssuerLogoutPage;
  /** The scopes that let a token read and write; undefined if scopes do not restrict tokens. */
  scopes: ScopeNames | undefined;
  /** Automatic user provisioning: a subject without a link gets a new user with this profile. Undefined: such a subject is refused. */
  provision: { profile: string } | undefined;
  /** The profiles that a subject's claims grant and revoke; undefined if claims do not decide profiles. */
  profiles: ClaimedProfiles | undefined;
  /** The claims that rules may compare with fields, by the names that rules have for them. */
  rights: ReadonlyMap<string, ClaimedRight>;
  /** Undefined if Swagger UI is no client of the issuer. */
  swaggerUi: SwaggerUiClient | undefined;
}

const asymmetric = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'];
const printable = /^[\x20-\x7e]{1,256}$/;

/**
 * The issuers that `file` lists; none for undefined. Reads secrets from the places that the file names, such as `environment`. Throws
 * {@link ConfigError} with every problem of the file, each with its line and column, the issuer and the member.
 */
export async function readIssuers(file: string | undefined, environment: Environment): Promise<Issuer[]> {
  if (file === undefined) return [];
  const located = new LocatedFile(`ISSUERS_FILE ${file}`, await readText(file));
  const entries = located.problems.length === 0 ? readEntries(located) : [];
  const issuers: Issuer[] = [];
  const membersOf = new Map<Issuer, SchemaReader>();
  for (const members of entries) {
    const issuer = await readIssuer(members, environment);
    if (!issuer) continue;
    issuers.push(issuer);
    membersOf.set(issuer, members);
  }
  for (const name of ['id', 'issuer'] as const) {
    for (const [value, group] of Map.groupBy(issuers, (issuer) => issuer[name])) {
      const [, ...others] = group;
      for (const other of others) membersOf.get(other)?.report(`${name} ${JSON.stringify(value)} is another issuer's already`, name);
    }
  }
  const givers = issuers.flatMap((issuer) => [...new Set(issuer.profiles?.map.values())].map((profile) => ({ issuer, profile })));
  for (const [profile, [first, ...others]] of Map.groupBy(givers, (giver) => giver.profile)) {
    for (const { issuer } of others) {
      membersOf.get(issuer)?.report(`profiles: "${profile}" is given and taken by issuer "${first?.issuer.id}" already`, 'profiles');
    }
  }
  const rights = issuers.flatMap((issuer) => [...issuer.rights].map(([name, { type }]) => ({ issuer, name, type: JSON.stringify(type) })));
  for (const [name, [first, ...others]] of Map.groupBy(rights, (right) => right.name)) {
    for (const { issuer } of others.filter(({ type }) => type !== first?.type)) {
      membersOf
        .get(issuer)
        ?.report(`rights: "${name}" has another type than at issuer "${first?.issuer.id}", and rules need one`, 'rights');
    }
  }
  if (located.problems.length > 0) throw new ConfigError(located.problems);
  return issuers;
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new ConfigError([`ISSUERS_FILE ${file}: cannot be read: ${error instanceof Error ? error.message : String(error)}`]);
  }
}

function readEntries(file: LocatedFile): SchemaReader[] {
  const root = new SchemaReader(file, file.root, '');
  const entries = root.list('issuers') ?? [];
  root.finish();
  return entries.map((entry, index) => new SchemaReader(file, entry, `entry ${index + 1}`));
}

/** One entry of the list; undefined if it is no mapping with an id and an issuer. Reports every problem of the entry. */
async function readIssuer(members: SchemaReader, environment: Environment): Promise<Issuer | undefined> {
  const id = members.text('id', {
    required: true,
    pattern: /^[a-z0-9-]{1,32}$/,
    must: 'be 1 to 32 lower case letters, digits and hyphens',
  });
  if (id !== undefined) members.rename(`issuer "${id}"`);
  const report = (problem: string, name: string, index?: number) => members.report(problem, name, index);
  const label = members.text('label', { pattern: /^\P{C}{1,100}$/u, must: 'be 1 to 100 characters' });
  const address = readAddress(members, environment);
  const audience = members.text('audience', { required: true, pattern: printable, must: 'be 1 to 256 printable ASCII characters' });
  const clientId = members.text('clientId', { pattern: printable, must: 'be 1 to 256 printable ASCII characters' });
  const tokenType = members.text('tokenType', { pattern: /^(at\+jwt|jwt|opaque)$/, must: 'be at+jwt, jwt or opaque' }) ?? 'at+jwt';
  const isOpaque = tokenType === 'opaque';
  // Opaque tokens have no signature. ID tokens of the same issuer have one, and every provider must support RS256 for them.
  const algorithms = members.texts('algorithms', { required: !isOpaque, minimum: 1 }) ?? (isOpaque ? ['RS256'] : []);
  for (const [index, algorithm] of algorithms.entries()) {
    if (asymmetric.includes(algorithm)) continue;
    const accepted = `only ${asymmetric.join(', ')}: only the issuer can make such a signature`;
    report(`algorithms: "${algorithm}" is not accepted, ${accepted}`, 'algorithms', index);
  }
  if (tokenType === 'jwt' && clientId === undefined) {
    report('clientId is required with tokenType: jwt, to tell access tokens from ID tokens', 'tokenType');
  } else if (tokenType === 'jwt' && clientId === audience) {
    report('audience must not be the clientId with tokenType: jwt, because access tokens would look like ID tokens', 'audience');
  }
  const clients = members.texts('clients', { minimum: 1 });
  const { clientSecret, clientSecretFile } = await readClientSecret(members, id, environment);
  if (isOpaque && (clientId === undefined || clientSecret === undefined)) {
    report('clientId and a secret are required with tokenType: opaque, for the introspection of tokens at the issuer', 'tokenType');
  }
  const allowMissingAudience = members.flag('allowMissingAudience');
  if (allowMissingAudience && !clients) {
    report(
      'clients is required with allowMissingAudience, or tokens given to any client for any service would count',
      'allowMissingAudience',
    );
  }
  const optionalMembers = readOptionalMembers(members);
  if (optionalMembers.size > 0 && !isOpaque) report('introspection is for tokenType: opaque only: remove it', 'introspection');
  if (optionalMembers.has('token_type') && allowMissingAudience) {
    report('introspection: a token without both token_type and aud may be a refresh token: remove one of them', 'introspection');
  }
  const claimNames = readClaimNames(members);
  const scopes = readScopes(members);
  const provision = readProvision(members);
  const profiles = readProfiles(members);
  const rights = readRights(members);
  const swaggerUi = readSwaggerUi(members);
  const signInScopes = readSignInScopes(members);
  const prompts = readPrompts(members);
  const logoutPage = readLogoutPage(members);
  members.finish();
  if (id === undefined || address === undefined) return undefined;
  return {
    id,
    label: label ?? id,
    ...address,
    audience: audience ?? '',
    clientId,
    clientSecret,
    clientSecretFile,
    clients: clients && new Set(clients),
    algorithms,
    tokenType: isOpaque ? 'opaque' : tokenType === 'jwt' ? 'jwt' : 'at+jwt',
    claimNames,
    allowMissingAudience,
    scopes,
    provision,
    profiles,
    rights,
    swaggerUi,
    optionalMembers,
    signInScopes,
    prompts,
    logoutPage,
  };
}
