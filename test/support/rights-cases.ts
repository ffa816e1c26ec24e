/** Runs the cases of the random test of rights against a service. */
import * as fc from 'fast-check';
import { sql } from 'kysely';
import { expect } from 'vitest';
import { inSchema } from '../../src/entities/companion/table.ts';
import { declareType, type Entity } from './entities.ts';
import type { ModelRow, ModelTargets, ModelVariables, TypeOf } from './filter-model.ts';
import {
  explainableCases,
  fieldNames,
  operationsOfCase,
  randomCases,
  targetNames,
  type RandomCase,
  type RandomRow,
} from './random-rights.ts';
import { isRefusal, RightsModel, typeOfDeclared, type Json, type ModelCaller } from './rights-model.ts';
import { RightsRequests } from './rights-requests.ts';
import { RightsWorld, type ModelVersion, type Rows } from './rights-world.ts';
import { callerWith } from './stubbed-rights.ts';
import type { TestService } from './service.ts';

const declaredName = 'ruled';
const root = 'rights-root';
const text = { type: ['string', 'null'] };
const document = {
  type: 'object',
  additionalProperties: false,
  properties: {
    u: text,
    a: text,
    b: text,
    n: { type: ['number', 'null'] },
    m: { type: ['string', 'null'], format: 'decimal' },
    o: { type: ['object', 'null'], additionalProperties: false, properties: { s: { type: 'string' } } },
    p: { type: ['string', 'null'], format: 'int64' },
  },
  'x-references': { p: { to: 'place' } },
  'x-unique': [{ fields: ['u'] }],
  'x-index': [['a'], ['m'], ['n'], ['a', 'n']],
  'x-search': { fields: ['b'] },
  'x-soft-delete': true,
};
const placeDocument = { type: 'object', additionalProperties: false, properties: { a: { type: 'string' } } };
const staffDocument = {
  type: 'object',
  additionalProperties: false,
  properties: { place: { type: 'string', format: 'int64' }, of: { type: 'string' } },
  'x-references': { place: { to: 'place' } },
  'x-index': [['place', 'of']],
};
/** The fields of `place0` and so on, and the staff of each. */
const placesWithStaff = [
  { place: { a: 'north' }, staff: ['north', 'south'] },
  { place: { a: 'south' }, staff: ['east'] },
  { place: {}, staff: [] },
];

interface StoredRow {
  place: 'live' | 'trash' | 'history';
  key: string;
  version: number;
  operation: string;
  created_at: string;
  created_by: string;
  updated_at: string;
  updated_by: string;
  fields: Json;
}

const rowOf = ({ key, version, fields, ...row }: StoredRow): ModelVersion => ({
  $key: key,
  $version: version,
  $createdAt: row.created_at,
  $createdBy: row.created_by,
  $updatedAt: row.updated_at,
  $updatedBy: row.updated_by,
  operation: row.operation,
  fields,
});

const stateOf = (rows: readonly ModelRow[]) => {
  const placeOf = ({ $key }: ModelRow) => ($key === '' ? Number.MAX_SAFE_INTEGER : Number($key));
  return rows.toSorted((one, other) => placeOf(one) - placeOf(other)).map(({ $version, fields }) => ({ version: $version, fields }));
};

/** Whether the references of the rule bind: a name without a type has none, and a filter at most four. */
function bindsReferences({ rule: { filter = {}, check = {} } = {} }: RandomCase['grants'][number], isDeclared: boolean): boolean {
  const countIn = (test: Json) => JSON.stringify(test).match(/\$(match|some|none)"/g)?.length ?? 0;
  return [filter, check].every((test) => countIn(test) <= (isDeclared ? 4 : 0));
}

/** Creates the places and their staff. */
async function targetsOf(service: TestService, cookie: string): Promise<ModelTargets[string]> {
  const make = async (name: string, fields: Json): Promise<ModelRow> => {
    const { body, status, text } = await service.call<Entity>('POST', `/rest/entity/${name}`, { cookie, json: fields });
    expect(status, text).toBe(201);
    const { key, version, createdAt, createdBy, updatedAt, updatedBy } = body;
    const envelope = { $createdAt: createdAt, $createdBy: createdBy, $updatedAt: updatedAt, $updatedBy: updatedBy };
    return { $key: key, $version: version, ...envelope, fields: body.fields };
  };
  const typeOf: TypeOf = (path) => (path === 'place' ? 'int64' : 'string');
  const [rows, staff]: ModelRow[][] = [[], []];
  for (const { place, staff: names } of placesWithStaff) {
    const row = await make('place', place);
    rows?.push(row);
    for (const of of names) staff?.push(await make('staff', { place: row.$key, of }));
  }
  return { rows: rows ?? [], typeOf, referrers: { 'staff.place': { rows: staff ?? [], typeOf, by: 'place' } } };
}

export class RightsCases {
  readonly #service: TestService;
  readonly #root: string;
  readonly #targets: ModelTargets;
  #count = 0;

  private constructor(service: TestService, rootCookie: string, targets: ModelTargets) {
    this.#service = service;
    this.#root = rootCookie;
    this.#targets = targets;
  }

  static async open(service: TestService): Promise<RightsCases> {
    await declareType(service, 'place', placeDocument);
    await declareType(service, 'staff', staffDocument);
    await declareType(service, declaredName, document);
    const cookie = await service.openSession((await service.createUser(root)).id);
    return new RightsCases(service, cookie, { p: await targetsOf(service, cookie) });
  }

  /** Creates rows, a caller with the grants, and compares each operation with the model, and with `isExplained` with its explanation. */
  async run(symbolic: RandomCase, { isExplained = false }: { isExplained?: boolean } = {}): Promise<void> {
    const { isDeclared, region, regions, sensitive, rows, operations, ...rights } = this.#withKeys(symbolic);
    const grants = rights.grants.map((grant) =>
      Object.assign(grant, { isUnbound: grant.isUnbound === true || !bindsReferences(grant, isDeclared) }),
    );
    this.#count += 1;
    const name = isDeclared ? declaredName : `note${this.#count}`;
    const userName = `rights-${this.#count}`;
    const variables: ModelVariables = {
      'user.name': { type: 'string', value: userName },
      'user.region': { type: 'string', value: region },
      'user.regions': { type: 'string', isList: true, value: regions },
    };
    if (isDeclared) await this.#clear();
    await this.#store(name, userName, rows);
    const attribute = (isList: boolean) => ({ scalar: 'string' as const, isList, texts: undefined, to: undefined });
    const user = new Map([
      ['region', attribute(false)],
      ['regions', attribute(true)],
    ]);
    const declared = {
      types: { user, profile: new Map(), claims: new Map() },
      values: { user: { ...(region !== undefined && { region }), ...(regions && { regions }) }, profile: {}, claims: {} },
    };
    const named = grants.map(({ isOfAll, ...grant }) => ({ ...grant, entity: isOfAll ? '*' : name }));
    const refers = { entity: 'place', actions: ['label' as const] };
    const credential = await callerWith(this.#service, userName, [...named, refers], { declared, sensitive });
    const typeOf: TypeOf = isDeclared ? typeOfDeclared : () => 'any';
    const caller: ModelCaller = { name: userName, grants, variables, sensitive, typeOf, targets: this.#targets };
    const model = new RightsModel(caller);
    let before = await this.#stored(name);
    for (const operation of operations) {
      const world = new RightsWorld(model, caller, isDeclared, before);
      const expected = world.answer(operation);
      const requests = new RightsRequests({ service: this.#service, name, caller: credential, world });
      const told = JSON.stringify(operation);
      const explained = isExplained ? await requests.explain(operation) : undefined;
      const answer = await requests.run(operation);
      if (explained) expect(explained, told).toEqual(isRefusal(answer) ? answer : { status: answer.status });
      expect(answer, told).toEqual(expected);
      before = await this.#stored(name);
      expect({ live: stateOf(before.live), trash: stateOf(before.trash) }, told).toEqual({
        live: stateOf(world.live),
        trash: stateOf(world.trash),
      });
    }
  }

  /** The case with keys of entities in the place of their names. */
  #withKeys(symbolic: RandomCase): RandomCase {
    const keys = this.#targets['p']?.rows.map(({ $key }) => $key) ?? [];
    const text = targetNames.reduce((one, name, index) => one.replaceAll(`"${name}"`, `"${keys[index]}"`), JSON.stringify(symbolic));
    const { region, regions, ...others } = JSON.parse(text) as RandomCase;
    return { region, regions, ...others };
  }

  async #clear(): Promise<void> {
    const companion = (await this.#service.context.entityTypes.find(declaredName))?.companion;
    if (!companion) throw new Error('the type has an index');
    const { db } = this.#service;
    await sql`delete from ${inSchema(companion.table)}`.execute(db);
    for (const table of ['entity', 'entity_trash']) await sql`delete from ${sql.table(table)} where name = ${declaredName}`.execute(db);
  }

  /** Stores the versions of each row by root; own rows then become those of the caller. */
  async #store(name: string, userName: string, rows: readonly RandomRow[]): Promise<void> {
    const call = async <T>(method: string, path: string, json?: object) => {
      const sent = { cookie: this.#root, ...(json && { json }) };
      const answer = await this.#service.call<T>(method, `/rest/entity/${name}${path}`, sent);
      expect(answer.status, answer.text).toBeLessThan(300);
      return answer.body;
    };
    const versionsOf = rows.map(({ versions, hasUnique }, index) =>
      versions.map((each) => ({ ...each, ...(hasUnique && { u: `u${index}` }) })),
    );
    const { items } = await call<{ items: { key: string }[] }>(
      'POST',
      '/bulk',
      versionsOf.map(([first]) => first),
    );
    const own: string[] = [];
    for (const [index, { isOwn, isTrashed }] of rows.entries()) {
      const key = items[index]?.key ?? '';
      const all = Object.fromEntries(fieldNames.map((each) => [each, null]));
      for (const fields of versionsOf[index]?.slice(1) ?? []) await call('POST', `/${key}`, { ...all, ...fields });
      if (isTrashed) await call('DELETE', `/${key}`);
      if (isOwn) own.push(key);
    }
    for (const table of ['entity', 'entity_trash', 'entity_change'])
      await sql`update ${sql.table(table)} set created_by = ${userName} where name = ${name} and key = any(${own})`.execute(
        this.#service.db,
      );
  }

  async #stored(name: string): Promise<Rows> {
    const common = sql`key::text, version::int, created_at::text, created_by`;
    const { rows } = await sql<StoredRow>`
      select 'live' as place, ${common}, '' as operation, updated_at::text, updated_by, fields from entity where name = ${name}
      union all
      select 'trash', ${common}, '', updated_at::text, updated_by, fields from entity_trash where name = ${name}
      union all
      select 'history', ${common}, operation, at::text, changed_by, fields from (
        select * from entity_change where name = ${name} and key in (
          select key from entity where name = ${name} union select key from entity_trash where name = ${name}) order by version desc, id desc
      ) as changes`.execute(this.#service.db);
    const of = (wanted: StoredRow['place']) => rows.filter(({ place }) => place === wanted).map(rowOf);
    return { live: of('live'), trash: of('trash'), history: Map.groupBy(of('history'), ({ $key }) => $key) };
  }
}

/** Compares the service with the model in about as many operations, by a seed of its own unless one is given. `RIGHTS_SEED` repeats a run. */
export async function checkRandomRights(service: TestService, operations: number, given = drawnSeed()): Promise<void> {
  const cases = await RightsCases.open(service);
  await checkCases(randomCases, operations, given, (one) => cases.run(one));
}

/** Compares each explanation with the answer to its operation, likewise. */
export async function checkExplanations(service: TestService, operations: number, given = drawnSeed()): Promise<void> {
  const cases = await RightsCases.open(service);
  await checkCases(explainableCases, operations, given, (one) => cases.run(one, { isExplained: true }));
}

const drawnSeed = () => Date.now() % 1_000_000_000;

async function checkCases(
  all: fc.Arbitrary<RandomCase>,
  operations: number,
  given: number,
  check: (one: RandomCase) => Promise<void>,
): Promise<void> {
  const seed = Number(process.env['RIGHTS_SEED'] ?? given);
  // Half of the most operations, since each case has one to the most.
  const numRuns = Math.ceil(operations / (operationsOfCase / 2));
  await fc.assert(fc.asyncProperty(all, check), { seed, numRuns });
}
