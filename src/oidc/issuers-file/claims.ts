/** Reads the settings of an issuer's claims in ISSUERS_FILE: the names of claims, and the meaning of scopes and groups here. */
import { isAttributeName } from '../../rights/names.ts';
import type { AttributeType } from '../../rights/attribute-types.ts';
import { scopeToken } from '../tokens/scopes.ts';
import type { SchemaReader } from './schema-reader.ts';

export interface ScopeNames {
  read: string | undefined;
  write: string | undefined;
}

export interface ClaimNames {
  client_id: string;
  jti: string;
  scope: string;
  /** The claim that identifies the user, in access tokens, ID tokens and logout tokens. */
  sub: string;
}

/** Members of an introspection response that RFC 7662 makes optional, and that an entry may allow to be missing. */
const optionalMembers = ['iss', 'token_type', 'exp'] as const;
export type OptionalMember = (typeof optionalMembers)[number];

export interface ClaimedProfiles {
  /** The name of the claim, preceded by the names of the members that contain it if it is nested. */
  claim: readonly string[];
  /** Maps a value in the claim to the name of a profile, in the order of the file. */
  map: ReadonlyMap<string, string>;
}

/** A claim that rules compare with fields. */
export interface ClaimedRight {
  /** As in {@link ClaimedProfiles}. */
  claim: readonly string[];
  type: AttributeType;
}

/** Claims whose values users or administrators change, and that another person may have later (OpenID Connect Core, section 5.7). */
const mutableClaims = ['email', 'preferred_username', 'username', 'unique_name', 'upn', 'name', 'nickname', 'phone_number'];
const profileShape = { pattern: /^[A-Za-z0-9 _.-]{1,64}$/, must: 'be the name of a profile' };

/** Undefined if scopes of the issuer do not restrict tokens. */
export function readScopes(members: SchemaReader): ScopeNames | undefined {
  const scopes = members.mapping('scopes');
  if (!scopes) return undefined;
  const shape = { pattern: scopeToken, must: 'be one scope, without spaces' };
  const read = scopes.text('read', shape);
  const write = scopes.text('write', shape);
  if (read === undefined && write === undefined) members.report('scopes must name the scope for read, for write, or for both', 'scopes');
  scopes.finish();
  return { read, write };
}

/** A claim that is not renamed has its standard name. */
export function readClaimNames(members: SchemaReader): ClaimNames {
  const names = members.mapping('claimNames');
  const claimNames = {
    client_id: names?.text('client_id') ?? 'client_id',
    jti: names?.text('jti') ?? 'jti',
    scope: names?.text('scope') ?? 'scope',
    sub: names?.text('sub') ?? 'sub',
  };
  if (mutableClaims.includes(claimNames.sub)) {
    names?.report(`sub: "${claimNames.sub}" can become another person's, who would then sign in as this user`, 'sub');
  }
  names?.finish();
  return claimNames;
}

/** The members that an introspection response may lack; empty: none. */
export function readOptionalMembers(members: SchemaReader): ReadonlySet<OptionalMember> {
  const introspection = members.mapping('introspection');
  const names = introspection?.texts('mayLack', { required: true, minimum: 1 }) ?? [];
  for (const [index, name] of names.entries()) {
    if (optionalMembers.some((member) => member === name)) continue;
    introspection?.report(`mayLack: "${name}" is not accepted, only ${optionalMembers.join(', ')}`, 'mayLack', index);
  }
  introspection?.finish();
  return new Set(optionalMembers.filter((member) => names.includes(member)));
}

/** Undefined if the service creates no users from tokens of the issuer. */
export function readProvision(members: SchemaReader): { profile: string } | undefined {
  const provision = members.mapping('provision');
  if (!provision) return undefined;
  const enabled = provision.flag('enabled');
  const profile = provision.text('profile', { required: enabled, ...profileShape });
  provision.finish();
  return enabled && profile !== undefined ? { profile } : undefined;
}

/** Undefined if claims do not decide profiles. */
export function readProfiles(members: SchemaReader): ClaimedProfiles | undefined {
  const profiles = members.mapping('profiles');
  if (!profiles) return undefined;
  const claim = profiles.textOrTexts('claim');
  const values = profiles.mapping('map', true);
  const map = new Map<string, string>();
  for (const value of values?.names() ?? []) {
    const profile = values?.text(value, profileShape);
    if (profile !== undefined) map.set(value, profile);
  }
  if (values?.names().length === 0) profiles.report('map must name a profile for at least one value of the claim', 'map');
  profiles.finish();
  return claim && { claim, map };
}

const claimTypes = ['string', 'number', 'boolean', 'array'] as const;
const claimType = { required: true, pattern: /^(string|number|boolean|array)$/, must: `be one of ${claimTypes.join(', ')}` };

/** The claims that rules may compare with fields, by the names that rules have for them; empty: none. */
export function readRights(members: SchemaReader): ReadonlyMap<string, ClaimedRight> {
  const rights = members.mapping('rights');
  const claims = new Map<string, ClaimedRight>();
  for (const name of rights?.names() ?? []) {
    if (!isAttributeName(name))
      rights?.report(`"${name}" is no name for rules: letters, digits, "_" and "-", the first of them a letter`, name);
    const right = rights?.mapping(name);
    const claim = right?.textOrTexts('claim');
    const type = right?.text('type', claimType);
    right?.finish();
    const scalar = claimTypes.find((each) => each === type);
    if (claim && scalar)
      claims.set(name, {
        claim,
        type: { scalar: scalar === 'array' ? 'string' : scalar, isList: scalar === 'array', texts: undefined, to: undefined },
      });
  }
  rights?.finish();
  return claims;
}
