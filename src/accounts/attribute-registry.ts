/**
 * The declared attributes as one process knows them, and the values of a caller that are of their types. Notifications of the database tell when declarations
 * have changed.
 */
import { LRUCache } from 'lru-cache';
import type { Kysely } from 'kysely';
import type { Database } from '../database/tables.ts';
import type { Variables, VariableTypes } from '../filter/variables.ts';
import { fittingValues, type CallerTypes, type CallerValues, type DeclaredTypes } from '../rights/attribute-types.ts';
import type { Principal } from '../rights/principal.ts';
import { variablesOf } from '../rights/variables.ts';
import type { AttributeOwner } from '../rights/vocabulary.ts';
import { readDeclaredAttributes, type DeclaredAttributes } from './attributes.ts';

/** A value that is not of its declared type. */
export interface UnfitValue {
  owner: AttributeOwner;
  /** The name of the user or profile. */
  of: string;
  attribute: string;
}

/** Unfit values that a process remembers to have reported. */
const maximumReported = 1_000;

export class AttributeRegistry {
  readonly #db: Kysely<Database>;
  readonly #claims: ReadonlyMap<string, DeclaredTypes>;
  readonly #onUnfit: (unfit: UnfitValue) => void;
  readonly #reported = new LRUCache<string, true>({ max: maximumReported });
  #declared: Promise<DeclaredAttributes> | undefined;
  #notified = false;

  /** `claims` has the types of claims of each issuer. `onUnfit` receives each unfit value once, until declarations change. */
  constructor(db: Kysely<Database>, claims: ReadonlyMap<string, DeclaredTypes>, onUnfit: (unfit: UnfitValue) => void = () => undefined) {
    this.#db = db;
    this.#claims = claims;
    this.#onUnfit = onUnfit;
  }

  /** The variables of rules and filters, with the values of the caller. */
  async variablesOf(principal: Pick<Principal, 'user' | 'profile' | 'issuer' | 'claims' | 'timeZone'>): Promise<Variables> {
    return variablesOf(principal, { types: await this.#types(), values: await this.valuesOf(principal) });
  }

  /** The variables of active users without a profile and claims, 1,000 users at most. */
  async variablesOfUsers(): Promise<Variables[]> {
    const users = await this.#db
      .selectFrom('user_account')
      .where('active', '=', true)
      .select(['id', 'name', 'display_name as displayName', 'attributes', 'time_zone as timeZone'])
      .orderBy('id')
      .limit(1_000)
      .execute();
    const nobody = { profile: undefined, issuer: null, claims: {} };
    return await Promise.all(users.map(({ timeZone, ...user }) => this.variablesOf({ ...nobody, user, timeZone })));
  }

  /** The variables that rules may name, without values. */
  async variableTypes(): Promise<VariableTypes> {
    const nobody = { user: { id: '', name: '', displayName: '', attributes: {} }, profile: undefined, timeZone: null };
    return variablesOf(nobody, { types: await this.#types(), values: { user: {}, profile: {}, claims: {} } });
  }

  async #types(): Promise<CallerTypes> {
    const claims = new Map([...this.#claims.values()].flatMap((types) => Array.from(types)));
    return { ...(await this.#attributes()), claims };
  }

  async #attributes(): Promise<DeclaredAttributes> {
    if (!this.#notified) return await readDeclaredAttributes(this.#db);
    const declared = (this.#declared ??= readDeclaredAttributes(this.#db));
    try {
      return await declared;
    } catch (error) {
      if (this.#declared === declared) this.forget();
      throw error;
    }
  }

  /** The values of the caller that are set and of their declared types. */
  async valuesOf({ user, profile, issuer, claims }: Pick<Principal, 'user' | 'profile' | 'issuer' | 'claims'>): Promise<CallerValues> {
    const declared = await this.#attributes();
    const valuesOf = (owner: AttributeOwner, holder: Principal['user'] | Principal['profile']) =>
      holder ? fittingValues(declared[owner], holder.attributes, (name) => this.#report({ owner, of: holder.name, attribute: name })) : {};
    const ofIssuer = this.#claims.get(issuer ?? '') ?? new Map();
    return { user: valuesOf('user', user), profile: valuesOf('profile', profile), claims: fittingValues(ofIssuer, claims) };
  }

  forget(): void {
    this.#declared = undefined;
    this.#reported.clear();
  }

  /** `on` says whether notifications arrive. Without them each call reads the declarations. */
  enable(on: boolean): void {
    this.#notified = on;
    this.forget();
  }

  #report(unfit: UnfitValue): void {
    const { owner, of, attribute } = unfit;
    const key = `${owner} ${attribute} ${of}`;
    if (this.#reported.has(key)) return;
    this.#reported.set(key, true);
    this.#onUnfit(unfit);
  }
}
