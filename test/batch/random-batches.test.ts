/**
 * Random batches over entities with a unique field and references among each other. The answers and the entities must be what a model without SQL says,
 * and the history must agree with the entities. `npm run test:batches` runs 20,000 cases; `BATCH_SEED` repeats a run.
 */
import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import { Client } from 'pg';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { compareHistory } from '../faults/history.ts';
import { declareType, type Entity } from '../support/entities.ts';
import { useService, type ProblemBody } from '../support/service.ts';

const cases = Number(process.env['BATCH_CASES'] ?? 150);
const seed = Number(process.env['BATCH_SEED'] ?? Date.now() % 1_000_000);

const service = useService();
let cookie: string;

beforeAll(async () => {
  cookie = await service().openSession((await service().createUser('ada')).id);
  await declareType(service(), 'item', {
    type: 'object',
    additionalProperties: false,
    properties: { code: { type: 'string' }, parent: { type: 'string', format: 'int64' }, n: { type: 'integer' } },
    'x-unique': [{ fields: ['code'] }],
    'x-references': { parent: { to: 'item' } },
  });
});

interface Item {
  version: number;
  fields: { code?: string; parent?: string; n?: number };
}

/** By key, or by the id of the create in the same batch. */
type State = Map<string, Item>;

/** Members to change; null removes one. */
interface Patch {
  code?: string | null;
  parent?: string | null;
  n?: number;
}

type Operation =
  | { op: 'create'; id: string; fields: Patch }
  | { op: 'update'; key: string; ifMatch?: string; fields: Patch }
  | { op: 'delete'; key: string; ifMatch?: string }
  | { op: 'get'; key: string };

/** The statuses that an operation may have: where two rules are broken, either one may be told. */
type Outcome = readonly number[];

const isRefused = ([status = 500]: Outcome) => status >= 400;

/** Applies the operation to the state if nothing refuses it. */
function apply(state: State, operation: Operation): Outcome {
  if (operation.op === 'create') {
    const faults = faultsOf(state, operation.id, operation.fields);
    if (faults.length > 0) return faults;
    state.set(operation.id, { version: 1, fields: merged({}, operation.fields) });
    return [201];
  }
  const refusedCreate =
    operation.op === 'update' &&
    typeof operation.fields.parent === 'string' &&
    operation.fields.parent.startsWith('o') &&
    !state.has(operation.fields.parent);
  if (refusedCreate) return [422];
  const item = state.get(operation.key);
  if (!item) return [404];
  if (operation.op === 'get') return [200];
  if (operation.ifMatch !== undefined && operation.ifMatch !== String(item.version)) return [412];
  if (operation.op === 'delete') {
    const isReferenced = [...state].some(([key, { fields }]) => key !== operation.key && fields.parent === operation.key);
    if (isReferenced) return [409];
    state.delete(operation.key);
    return [204];
  }
  const faults = faultsOf(state, operation.key, operation.fields);
  if (faults.length > 0) return faults;
  const fields = merged(item.fields, operation.fields);
  // What changes nothing makes no version.
  state.set(operation.key, { version: item.version + (isDeepStrictEqual(fields, item.fields) ? 0 : 1), fields });
  return [200];
}

function faultsOf(state: State, own: string, { code, parent }: Patch): number[] {
  const isTaken = typeof code === 'string' && [...state].some(([key, { fields }]) => key !== own && fields.code === code);
  const isMissing = typeof parent === 'string' && parent !== own && !state.has(parent);
  return [...(isTaken ? [409] : []), ...(isMissing ? [422] : [])];
}

const merged = (fields: Item['fields'], patch: Patch): Item['fields'] =>
  Object.fromEntries(Object.entries({ ...fields, ...patch }).filter(([, value]) => value !== null));

/** Some of what a random operation needs: places are taken modulo the number of entities. */
const choice = fc.record({
  kind: fc.constantFrom('create', 'create', 'update', 'update', 'delete', 'get'),
  place: fc.nat(40),
  version: fc.constantFrom('any', 'any', 'present', 'other'),
  code: fc.option(fc.constantFrom(...Array.from({ length: 20 }, (_, index) => `C-${index}`), null), { nil: undefined }),
  parent: fc.option(fc.nat(40), { freq: 1 }),
  removesParent: fc.boolean(),
  n: fc.option(fc.nat(9), { nil: undefined }),
});
type Choice = typeof choice extends fc.Arbitrary<infer T> ? T : never;

/** The operations of the choices, over entities that are there, were there, or are created by an earlier operation. */
function operationsOf(choices: readonly Choice[], state: State, known: readonly string[]): Operation[] {
  const during = new Map(state);
  const ids: string[] = [];
  return choices.map(({ kind, place, version, code, parent, removesParent, n }, index) => {
    const key = known[place % known.length] ?? '7000000';
    const places = [...known, ...ids, ...ids];
    const fields: Patch = {
      ...(code !== undefined && (code !== null || kind === 'update') && { code }),
      ...(parent !== null && { parent: places[parent % places.length] ?? '7000000' }),
      ...(parent === null && removesParent && kind === 'update' && { parent: null }),
      ...(n !== undefined && { n }),
    };
    const present = during.get(key)?.version ?? 1;
    const ifMatch = version === 'any' ? {} : { ifMatch: String(version === 'present' ? present : present + 1) };
    const operation = operationFor(kind, { id: `o${index}`, key, fields, ifMatch });
    if (operation.op === 'create') ids.push(operation.id);
    apply(during, operation);
    return operation;
  });
}

function operationFor(kind: string, { id, key, fields, ifMatch }: { id: string; key: string; fields: Patch; ifMatch: object }): Operation {
  switch (kind) {
    case 'create':
      return { op: 'create', id, fields };
    case 'update':
      return { op: 'update', key, fields, ...ifMatch };
    case 'delete':
      return { op: 'delete', key, ...ifMatch };
    default:
      return { op: 'get', key };
  }
}

/** As the contract has it. */
function asJson(operation: Operation): object {
  if (!('fields' in operation)) return { name: 'item', ...operation };
  const { parent, ...fields } = operation.fields;
  const reference = typeof parent === 'string' && parent.startsWith('o') ? { $ref: parent } : parent;
  return { name: 'item', ...operation, fields: { ...fields, ...(parent !== undefined && { parent: reference }) } };
}

interface Answer extends ProblemBody {
  results: { status: number; entity?: Entity }[];
}

test(`batches do what the model does, in ${cases} cases (seed ${seed})`, { timeout: 120_000 + cases * 100 }, async () => {
  let state: State = new Map();
  // At most three keys of entities that are gone, and all keys of those that are there.
  let known: string[] = [];
  const counts = { done: 0, refused: 0, partial: 0 };
  const batches = fc.record({
    choices: fc.array(choice, { minLength: 1, maxLength: 8 }),
    mode: fc.constantFrom('atomic', 'atomic', 'each', 'dry-run'),
  });
  for (const { choices, mode } of fc.sample(batches, { numRuns: cases, seed })) {
    const operations = operationsOf(choices, state, known);
    const after = new Map(state);
    const outcomes: Outcome[] = [];
    for (const operation of operations) {
      outcomes.push(apply(after, operation));
      if (mode !== 'each' && isRefused(outcomes.at(-1) ?? [])) break;
    }
    const told = JSON.stringify({ mode, operations, outcomes });
    const { status, body } = await service().call<Answer>('POST', '/rest/batch', {
      cookie,
      json: { atomic: mode !== 'each', operations: operations.map(asJson) },
      ...(mode === 'dry-run' && { headers: { prefer: 'dry-run' } }),
    });
    const last = outcomes.at(-1) ?? [];
    if (mode !== 'each' && isRefused(last)) {
      counts.refused += 1;
      expect(last, told).toContain(status);
      expect(body.errors?.[0]?.pointer, told).toMatch(new RegExp(`^/operations/${outcomes.length - 1}(/|$)`));
    } else {
      expect(status, `${told} ${JSON.stringify(body)}`).toBe(200);
      for (const [index, outcome] of outcomes.entries()) expect(outcome, told).toContain(body.results[index]?.status);
      if (outcomes.some(isRefused)) counts.partial += 1;
      else counts.done += 1;
      if (mode !== 'dry-run') state = renamed(after, operations, body.results);
    }
    known = [...known.filter((key) => !state.has(key)).slice(-3), ...state.keys()];
    expect(await stored(), told).toEqual(Object.fromEntries(state));
  }
  for (const [kind, count] of Object.entries(counts)) expect(count, kind).toBeGreaterThan(cases / 20);
  const client = new Client({ connectionString: service().databaseUrl });
  onTestFinished(() => client.end());
  await client.connect();
  expect(await compareHistory(client, 'item')).toEqual([]);
});

/** The state with keys in place of the ids of creates. */
function renamed(state: State, operations: readonly Operation[], results: Answer['results']): State {
  const keys = new Map(
    operations.flatMap((operation, index) => (operation.op === 'create' ? [[operation.id, results[index]?.entity?.key ?? '']] : [])),
  );
  const keyOf = (id: string) => keys.get(id) ?? id;
  return new Map(
    [...state].map(([id, { version, fields }]) => [
      keyOf(id),
      { version, fields: fields.parent === undefined ? fields : { ...fields, parent: keyOf(fields.parent) } },
    ]),
  );
}

async function stored(): Promise<Record<string, Item>> {
  const rows = await service().db.selectFrom('entity').where('name', '=', 'item').select(['key', 'version', 'fields']).execute();
  return Object.fromEntries(rows.map(({ key, version, fields }) => [key, { version: Number(version), fields }]));
}
