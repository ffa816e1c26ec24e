/**
 * The rules among the grants of callers. A caller has the digests of rules, and a document never changes. So documents are read once, and bound once to each
 * revision of a type. A caller without rules costs nothing here while no type has sensitive fields.
 */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Kysely } from 'kysely';
import type { Database } from '../database/tables.ts';
import type { Variables, VariableTypes } from '../filter/variables.ts';
import type { Fault } from '../problems/faults.ts';
import type { Grant } from '../rights/grant.ts';
import type { Principal, PrincipalRules } from '../rights/principal.ts';
import { bindRule, envelopeFields, unboundGrant, type RuleDocument, type RuleScope } from '../rights/rule.ts';
import type { Action, RuleDigest } from '../rights/vocabulary.ts';

/** The type of a name, as far as a rule is bound to it, with those that the rule looks at through references. */
export interface RuledType extends Pick<RuleScope, 'fields' | 'followed'> {
  /** Equal for equal types. */
  revision: string;
}

/** The grants on all names. */
const envelope: RuledType = { revision: '*', fields: envelopeFields };

export interface RuleSources {
  db: Kysely<Database>;
  /** The present type of the name for the rule. */
  typeOf(name: string, rule: RuleDocument): Promise<RuledType>;
  /** The fields that types call sensitive, by the names of the types that have some. */
  sensitiveFields(): Promise<ReadonlyMap<string, ReadonlySet<string>>>;
  /** The declared variables with the values of the caller. */
  variables(principal: Principal): Promise<Variables>;
  /** Receives each rule that the present type or the present variables do not fit, once for each revision of the type and each declaration. */
  onUnbound(rule: UnboundRule): void;
}

export interface UnboundRule {
  digest: RuleDigest;
  entity: string;
  /** Empty if there is no such document. */
  faults: readonly Fault[];
}

/** Characters of documents that a process stores, and grants that it has bound. */
const maximumCharacters = 4_194_304;
const maximumGrants = 4_096;

const noFields: ReadonlySet<string> = new Set();

export class RuleBook {
  readonly #sources: RuleSources;
  readonly #documents = new LRUCache<RuleDigest, RuleDocument>({
    maxSize: maximumCharacters,
    sizeCalculation: (document) => 256 + JSON.stringify(document).length,
  });
  readonly #grants = new LRUCache<string, Grant>({ max: maximumGrants });
  readonly #reported = new LRUCache<string, true>({ max: maximumGrants });

  constructor(sources: RuleSources) {
    this.#sources = sources;
  }

  /** The principal with its rules and with the sensitive fields, as the types are now. */
  async complete(principal: Principal): Promise<Principal> {
    const digests = new Map<RuleDigest, Set<string>>();
    for (const [entity, actions] of principal.grants)
      for (const condition of [...actions.values()].flat())
        if (condition !== 'any' && condition !== 'own') digests.set(condition, (digests.get(condition) ?? new Set()).add(entity));
    const sensitive = await this.#sources.sensitiveFields();
    if (digests.size === 0 && sensitive.size === 0) return principal;
    const documents = await this.#find([...digests.keys()]);
    const types = new Map<string, RuledType>();
    for (const [digest, names] of digests)
      for (const name of names) types.set(`${digest} ${name}`, await this.#typeFor(name, documents.get(digest)));
    const variables = await this.#sources.variables(principal);
    const declared = digestOfTypes(variables);
    const rules: PrincipalRules = {
      variables,
      grantOf: (digest, entity, action) =>
        this.#bind({
          digest,
          entity,
          action,
          document: documents.get(digest),
          type: types.get(`${digest} ${entity}`),
          variables,
          declared,
        }),
      sensitiveOf: (entity) => sensitive.get(entity) ?? noFields,
    };
    return { ...principal, rules };
  }

  /** A rule without a document needs no type. */
  async #typeFor(name: string, document: RuleDocument | undefined): Promise<RuledType> {
    return name === '*' || !document ? envelope : await this.#sources.typeOf(name, document);
  }

  /** The documents that exist. */
  async #find(digests: readonly RuleDigest[]): Promise<ReadonlyMap<RuleDigest, RuleDocument>> {
    const found = new Map<RuleDigest, RuleDocument>();
    for (const digest of digests) {
      const document = this.#documents.get(digest);
      if (document) found.set(digest, document);
    }
    const missing = digests.filter((digest) => !found.has(digest));
    for (const { digest, document } of await findRules(this.#sources.db, missing)) {
      this.#documents.set(digest, document);
      found.set(digest, document);
    }
    return found;
  }

  #bind({ digest, entity, action, document, type, variables, declared }: BindableRule): Grant {
    if (!type) return unboundGrant;
    const id = [digest, entity, action, type.revision, declared].join(' ');
    const known = this.#grants.get(id);
    if (known) return known;
    const bound = document ? bindRule(document, action, { ...type, variables }) : { faults: [] };
    if ('faults' in bound) this.#report({ digest, entity, faults: bound.faults }, `${type.revision} ${declared}`);
    const grant = { ...('grant' in bound ? bound.grant : unboundGrant), digest };
    this.#grants.set(id, grant);
    return grant;
  }

  #report(rule: UnboundRule, boundTo: string): void {
    const id = [rule.digest, rule.entity, boundTo].join(' ');
    if (this.#reported.has(id)) return;
    this.#reported.set(id, true);
    this.#sources.onUnbound(rule);
  }
}

interface BindableRule {
  digest: RuleDigest;
  entity: string;
  action: Action;
  document: RuleDocument | undefined;
  type: RuledType | undefined;
  variables: VariableTypes;
  /** Equal for equal declarations of variables. */
  declared: string;
}

const digestOfTypes = (variables: VariableTypes): string =>
  createHash('sha256')
    .update(JSON.stringify(variables.names.map((name) => [name, variables.typeOf(name)])))
    .digest('hex');

/** The documents of those of the digests that exist. */
export async function findRules(
  db: Kysely<Database>,
  digests: readonly RuleDigest[],
): Promise<{ digest: RuleDigest; document: RuleDocument }[]> {
  if (digests.length === 0) return [];
  return await db.selectFrom('grant_rule').where('digest', 'in', digests).select(['digest', 'document']).execute();
}
