/** Runs one case on a database of its own, by the statements of requests. */
import { Admission } from '../../admission/admission.ts';
import { AttributeRegistry } from '../../accounts/attribute-registry.ts';
import type { Store } from '../../database/port.ts';
import { ServiceSecrets } from '../../database/service-secrets.ts';
import { openReaders } from '../../database/standby/readers.ts';
import { findEntity } from '../../entities/find-entity.ts';
import { readListBody } from '../../entities/querying/list-request.ts';
import { scopeFor } from '../../entities/querying/scope.ts';
import { EntityReading } from '../../entities/reading/reading.ts';
import { createEntity } from '../../entities/writing/create.ts';
import { removeEntity } from '../../entities/writing/delete.ts';
import { guardOfHeader } from '../../entities/writing/rules.ts';
import { updateEntity } from '../../entities/writing/update.ts';
import { TypeRegistry } from '../../entity-types/registry.ts';
import { parseJson } from '../../json/parse-json.ts';
import { translateProblem } from '../../locales/describe.ts';
import { Problem, problemFacts } from '../../problems/errors.ts';
import type { Expectation, RightsCase } from '../../rights/cases.ts';
import type { Members } from '../../rights/file-faults.ts';
import { authorize, authorizeUpdate, isPermitted } from '../../rights/permit.ts';
import type { Principal } from '../../rights/principal.ts';
import { administratorAs } from '../entities.ts';
import { caseCaller, principalOfCase } from './case-caller.ts';
import { fileFaultText } from './read-directory.ts';

/** The outcome of one request; of a refusal its problem. */
interface CaseAnswer {
  status: number;
  fields?: Members;
  keys?: readonly string[];
  problem?: Problem;
}

const limitBytes = 2_097_152;

/** The reason why the case fails; undefined if all expectations hold. */
export async function failureOfCase(
  store: Store,
  { profile, user, given, expect }: RightsCase,
  attributes: Members,
): Promise<string | undefined> {
  const types = new TypeRegistry(store.db, { entityTypes: 'open' });
  const principal = await principalOfCase(store.db, types, { name: user.name, attributes, profile });
  if (!principal) return `there is no profile called "${profile}"`;
  const runner = new CaseRunner(store, types, principal);
  for (const { entity, alias, fields } of given) {
    const problem = await runner.place(entity, alias, fields);
    if (problem) return `the given ${entity}/${alias} cannot be placed: ${reasonOf(problem)}`;
  }
  for (const [index, expectation] of expect.entries()) {
    const difference = differenceOf(expectation, await runner.run(expectation), (alias) => runner.keyOf(expectation.entity, alias));
    if (difference !== undefined)
      return `/expect/${index} ${expectation.operation} ${expectation.entity}${expectation.alias === undefined ? '' : `/${expectation.alias}`}: ${difference}`;
  }
  return undefined;
}

function differenceOf(
  { status, at, shows, hides, finds }: Expectation,
  answer: CaseAnswer,
  keyOf: (alias: string) => string,
): string | undefined {
  if (answer.status !== status)
    return `expected ${status}, but it is ${answer.status}${answer.problem ? ` (${reasonOf(answer.problem)})` : ''}`;
  const pointers = (answer.problem?.faults ?? []).map(({ pointer = '' }) => pointer);
  if (at !== undefined && !pointers.includes(at)) return `expected a fault at ${at}, but there are ${pointers.join(', ') || 'none'}`;
  const shown = Object.keys(answer.fields ?? {});
  const missing = shows.filter((name) => !shown.includes(name));
  if (missing.length > 0) return `expected to show ${missing.join(', ')}, but it shows ${shown.join(', ') || 'nothing'}`;
  const open = hides.filter((name) => shown.includes(name));
  if (open.length > 0) return `expected to hide ${open.join(', ')}, but it shows ${shown.join(', ')}`;
  const wanted = finds?.map(keyOf).toSorted().join();
  if (wanted !== undefined && wanted !== answer.keys?.toSorted().join())
    return `expected to find ${finds?.join(', ') || 'nothing'}, but it finds ${answer.keys?.length ?? 0} others or more`;
  return undefined;
}

function reasonOf(problem: Problem): string {
  return (
    [problem.code, ...problem.faults.map((fault) => fileFaultText(fault.pointer ?? '', { ...fault, pointer: '' }))].join('; ') ||
    translateProblem('en', problem).detail
  );
}

class CaseRunner {
  readonly #store: Store;
  readonly #types: TypeRegistry;
  readonly #principal: Principal;
  readonly #admission = new Admission();
  readonly #reading: EntityReading;
  readonly #attributes: AttributeRegistry;
  readonly #keys = new Map<string, string>();

  constructor(store: Store, types: TypeRegistry, principal: Principal) {
    const nothing = () => undefined;
    this.#store = store;
    this.#types = types;
    this.#principal = principal;
    this.#attributes = new AttributeRegistry(store.db, new Map());
    const readers = openReaders(store, { url: undefined, size: 1, maximumLagMs: 0 }, { onError: nothing, onDown: nothing, onUp: nothing });
    this.#reading = new EntityReading({
      serviceSecrets: new ServiceSecrets(store.db),
      readers,
      entityTypes: types,
      admission: this.#admission,
      attributes: this.#attributes,
    });
  }

  /** The key of the given entity; the alias for none. */
  keyOf(entity: string, alias: string): string {
    return this.#keys.get(`${entity}/${alias}`) ?? alias;
  }

  /** Places a given entity, made by the user in `$createdBy`. */
  async place(entity: string, alias: string, { $createdBy: creator = 'somebody else', ...fields }: Members): Promise<Problem | undefined> {
    const { key, problem } = await this.#create(administratorAs(String(creator)), entity, fields);
    if (key !== undefined) this.#keys.set(`${entity}/${alias}`, key);
    return problem;
  }

  async run({ operation, entity, alias = '', set = {} }: Expectation): Promise<CaseAnswer> {
    const [principal, key] = [this.#principal, this.keyOf(entity, alias)];
    try {
      switch (operation) {
        case 'read':
          return await this.#read(entity, key);
        case 'list':
          return { status: 200, keys: await this.#list(entity) };
        case 'create': {
          const { problem } = await this.#create(principal, entity, set);
          if (problem) throw problem;
          return { status: 201 };
        }
        case 'update': {
          const patch = JSON.stringify(await this.#withKeys(entity, set));
          const change = { patch, isHeavy: false, ...guardOfHeader('*'), limitBytes };
          await updateEntity(this.#writes, authorizeUpdate(principal, entity), caseCaller, key, change);
          return { status: 200 };
        }
        case 'delete': {
          const readable = (name: string) => (isPermitted(principal, name, 'read') ? authorize(principal, name, 'read') : undefined);
          await removeEntity(this.#writes, authorize(principal, entity, 'delete'), caseCaller, { key, readable, ...guardOfHeader('*') });
          return { status: 204 };
        }
      }
    } catch (error) {
      if (error instanceof Problem) return { status: problemFacts[error.code].status, problem: error };
      throw error;
    }
  }

  get #writes() {
    return { store: this.#store, admission: this.#admission, types: this.#types };
  }

  async #read(entity: string, key: string): Promise<CaseAnswer> {
    const row = await findEntity(this.#store, authorize(this.#principal, entity, 'read'), key);
    return row ? { status: 200, fields: parseJson(row.fields) as Members } : { status: 404 };
  }

  async #list(entity: string): Promise<string[]> {
    const principal = this.#principal;
    const from = { caller: caseCaller, headers: {} };
    const sources = { types: this.#types, attributes: this.#attributes };
    const page = await this.#reading.page(authorize(principal, entity, 'read'), from, (type) =>
      readListBody({ limit: 100 }, { includes: [] }, scopeFor(sources, principal, { name: entity, type })),
    );
    const { items } = parseJson(page.value.body.text) as { items: { key: string }[] };
    return items.map(({ key }) => key);
  }

  async #create(principal: Principal, entity: string, members: Members): Promise<{ key?: string; problem?: Problem }> {
    const fields = await this.#withKeys(entity, members);
    try {
      const creation = { fields, text: JSON.stringify(fields), claim: undefined, limitBytes };
      const { outcome } = await createEntity(this.#writes, authorize(principal, entity, 'create'), caseCaller, creation);
      return { key: outcome.key };
    } catch (error) {
      if (error instanceof Problem) return { problem: error };
      throw error;
    }
  }

  /** The fields, with keys in place of aliases in references. */
  async #withKeys(entity: string, fields: Members): Promise<Members> {
    const { companion } = (await this.#types.find(entity)) ?? {};
    const targets = (companion?.references ?? []).flatMap(({ column, to }) => {
      const [name, ...more] = companion?.columns.find((each) => each.name === column)?.field ?? [];
      return name === undefined || more.length > 0 ? [] : [{ name, to }];
    });
    const keys = targets.flatMap(({ name, to }) => (typeof fields[name] === 'string' ? [[name, this.keyOf(to, fields[name])]] : []));
    return { ...fields, ...Object.fromEntries(keys) };
  }
}
