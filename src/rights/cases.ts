/** Reads cases: what a caller with a profile may do with some entities. A case that cannot fail is a fault. */
import { entityName } from './attribute-types.ts';
import { FileFaults, isObject, type DocumentRead, type FilePath, type Members } from './file-faults.ts';
import { isRoleOrProfileName } from './names.ts';

export const caseOperations = ['read', 'create', 'update', 'delete', 'list'] as const;
type CaseOperation = (typeof caseOperations)[number];

export interface Expectation {
  operation: CaseOperation;
  entity: string;
  /** The given entity; undefined for `create` and `list`. */
  alias: string | undefined;
  /** The body of a `create` or an `update`. */
  set: Members | undefined;
  status: number;
  /** The pointer of a fault of the refusal. */
  at: string | undefined;
  /** Top-level fields that the answer has, and those that it lacks. */
  shows: readonly string[];
  hides: readonly string[];
  /** Those of the given entities that a list has. */
  finds: readonly string[] | undefined;
}

export interface RightsCase {
  name: string;
  profile: string;
  /** Without attributes those of the user called so in the database of the command. */
  user: { name: string; attributes: Members | undefined };
  /** The fields of entities by their aliases. `$createdBy` is the user who has created one. */
  given: readonly { entity: string; alias: string; fields: Members }[];
  expect: readonly Expectation[];
}

const statusOf = { read: 200, create: 201, update: 200, delete: 204, list: 200 } as const;

/** The cases of a file, which is a list of them. */
export function readCases(value: unknown): DocumentRead<RightsCase[]> {
  const faults = new FileFaults(value);
  const cases = faults.items(value ?? null, [], 1).map((each, index) => readCase(faults, each, [index]));
  return faults.result(cases.flatMap((each) => each ?? []));
}

function readCase(faults: FileFaults, value: unknown, path: FilePath): RightsCase | undefined {
  const members = faults.object(value, path, ['name', 'profile', 'user', 'expect'], ['given']);
  if (!members) return undefined;
  const { profile } = members;
  if (profile !== undefined && !(typeof profile === 'string' && isRoleOrProfileName(profile)))
    faults.refuse([...path, 'profile'], { code: 'invalid-value' });
  const given = readGiven(faults, members['given'], [...path, 'given']);
  const reader = new ExpectationReader(faults, given);
  const expect = faults
    .items(members['expect'], [...path, 'expect'], 1)
    .flatMap((each, index) => reader.read(each, [...path, 'expect', index]) ?? []);
  const name = faults.shownText(members['name'], [...path, 'name']);
  return { name, profile: String(profile), user: readUser(faults, members['user'], [...path, 'user']), given, expect };
}

function readUser(faults: FileFaults, value: unknown, path: FilePath): RightsCase['user'] {
  if (typeof value === 'string') return { name: faults.shownText(value, path), attributes: undefined };
  const { name, attributes = {} } = (value === undefined ? undefined : faults.object(value, path, ['name'], ['attributes'])) ?? {};
  if (!isObject(attributes)) faults.refuse([...path, 'attributes'], { code: 'invalid-type', values: { allowed: 'object' } });
  return { name: faults.shownText(name, [...path, 'name']), attributes: isObject(attributes) ? attributes : {} };
}

function readGiven(faults: FileFaults, value: unknown, path: FilePath): RightsCase['given'] {
  if (value === undefined) return [];
  const names = isObject(value) ? Object.keys(value).filter((name) => entityName.test(name)) : [];
  const members = faults.object(value, path, [], names) ?? {};
  return names.flatMap((entity) => {
    const rows = faults.object(members[entity], [...path, entity], [], isObject(members[entity]) ? Object.keys(members[entity]) : []) ?? {};
    return Object.entries(rows).flatMap(([alias, fields]) => {
      const at = [...path, entity, alias];
      if (!isObject(fields)) faults.refuse(at, { code: 'invalid-type', values: { allowed: 'object' } });
      const creator = isObject(fields) ? fields['$createdBy'] : undefined;
      if (creator !== undefined && typeof creator !== 'string')
        faults.refuse([...at, '$createdBy'], { code: 'invalid-type', values: { allowed: 'string' } });
      return isObject(fields) ? [{ entity, alias, fields }] : [];
    });
  });
}

/** Reads the expectations of one case in their order: a later one may expect fields that an earlier one has set. */
class ExpectationReader {
  readonly #faults: FileFaults;
  /** The fields that each given entity may have. */
  readonly #fields = new Map<string, Set<string>>();

  constructor(faults: FileFaults, given: RightsCase['given']) {
    this.#faults = faults;
    for (const { entity, alias, fields } of given) this.#fields.set(`${entity}/${alias}`, new Set(Object.keys(fields)));
  }

  read(value: unknown, path: FilePath): Expectation | undefined {
    const operation = caseOperations.find((each) => isObject(value) && value[each] !== undefined);
    const others = {
      read: ['is', 'at', 'shows', 'hides'],
      create: ['set', 'is', 'at'],
      update: ['set', 'is', 'at'],
      delete: ['is', 'at'],
      list: ['finds', 'is', 'at'],
    };
    const members = operation
      ? this.#faults.object(
          value,
          path,
          [operation, ...(operation === 'create' || operation === 'update' ? ['set'] : [])],
          others[operation],
        )
      : this.#faults.object(value, path, ['read'], caseOperations);
    if (!operation || !members) return undefined;
    const { is = statusOf[operation], at, set, shows, hides, finds } = members;
    const [entity, alias] = this.#target(operation, members[operation], [...path, operation]);
    if (entity === undefined) return undefined;
    if (typeof is !== 'number') this.#faults.refuse([...path, 'is'], { code: 'invalid-type', values: { allowed: 'number' } });
    if (at !== undefined && typeof at !== 'string')
      this.#faults.refuse([...path, 'at'], { code: 'invalid-type', values: { allowed: 'string' } });
    if (set !== undefined && (!isObject(set) || Object.keys(set).length === 0))
      this.#faults.refuse([...path, 'set'], { code: 'invalid-value' });
    const texts = (list: unknown, member: string) => (list === undefined ? [] : this.#faults.texts(list, [...path, member], () => true));
    const expectation = {
      operation,
      entity,
      alias,
      set: isObject(set) ? set : undefined,
      status: Number(is),
      at: typeof at === 'string' ? at : undefined,
      shows: texts(shows, 'shows'),
      hides: texts(hides, 'hides'),
      finds: finds === undefined ? undefined : this.#faults.items(finds, [...path, 'finds']).map(String),
    };
    this.#requireFailing(expectation, members, path);
    if (expectation.set && alias !== undefined)
      for (const name of Object.keys(expectation.set)) this.#fields.get(`${entity}/${alias}`)?.add(name);
    return expectation;
  }

  /** The name of the entities, and the alias of a given one. */
  #target(operation: CaseOperation, value: unknown, path: FilePath): [string | undefined, string | undefined] {
    const isName = operation === 'list' || operation === 'create';
    if (typeof value !== 'string' || (isName && !entityName.test(value))) this.#faults.refuse(path, { code: 'invalid-value' });
    else if (isName) return [value, undefined];
    else if (this.#fields.has(value)) return [value.slice(0, value.indexOf('/')), value.slice(value.indexOf('/') + 1)];
    else this.#faults.refuse(path, { code: 'absent' });
    return [undefined, undefined];
  }

  /** An entity that is not given is never found, and a field that it lacks is never shown. */
  #requireFailing({ operation, entity, alias, hides, finds }: Expectation, members: Members, path: FilePath): void {
    const has = (name: string) => this.#fields.get(`${entity}/${alias}`)?.has(name) ?? false;
    if (operation === 'read' && ['is', 'shows', 'hides'].every((name) => members[name] === undefined))
      this.#faults.refuse([...path, 'is'], { code: 'required' });
    hides.forEach((name, index) => !has(name) && this.#faults.refuse([...path, 'hides', index], { code: 'absent' }));
    if (operation !== 'list') return;
    const isGiven = [...this.#fields.keys()].some((key) => key.startsWith(`${entity}/`));
    if (finds === undefined && members['is'] === undefined) this.#faults.refuse([...path, 'finds'], { code: 'required' });
    else if (!isGiven && members['is'] === undefined) this.#faults.refuse([...path, 'list'], { code: 'absent' });
    finds?.forEach(
      (name, index) => !this.#fields.has(`${entity}/${name}`) && this.#faults.refuse([...path, 'finds', index], { code: 'absent' }),
    );
  }
}
