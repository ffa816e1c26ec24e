/**
 * Equality and order of random values of all formats, behind random compositions of schemas. The unique rule, filters, sorts, upserts and validation
 * agree on them (decision 210). `VALUES_CASES` compares more pairs, and `VALUES_SEED` repeats a run.
 */
import * as fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { declareType, type Entity } from '../support/entities.ts';
import { queryBy } from '../support/lists.ts';
import { fieldCases, type FieldCase } from '../support/random-values.ts';
import { useService, type Answer } from '../support/service.ts';

const cases = Number(process.env['VALUES_CASES'] ?? 30);
const seed = Number(process.env['VALUES_SEED'] ?? Date.now() % 1_000_000);
/** A service has at most 1,000 types, and a round declares two or three. */
const maximumRounds = 450;

const service = useService();
let cookie: string;
beforeAll(async () => {
  cookie = await service().openSession((await service().createUser('ada')).id);
});

const create = (name: string, fields: object): Promise<Answer<Entity>> =>
  service().call<Entity>('POST', `/rest/entity/${name}`, { cookie, json: fields });

/** The values of a type that are stored, by the key of their entity, each as its place in the case. */
class StoredValues {
  readonly places = new Map<string, number>();
  readonly statuses: number[] = [];
  readonly #name: string;

  constructor(name: string) {
    this.#name = name;
  }

  async add(values: FieldCase['values']): Promise<this> {
    for (const [place, v] of values.entries()) {
      const { status, body } = await create(this.#name, { v });
      this.statuses.push(status);
      if (status === 201) this.places.set(body.key, place);
    }
    // It has no value, so no comparison finds it.
    expect((await create(this.#name, {})).status).toBe(201);
    return this;
  }

  /** The places of what the query finds, in its order; -1 stands for the entity without a value. */
  async find(query: { filter?: unknown; sort?: string[] }): Promise<number[]> {
    const { status, body, text } = await queryBy(service(), { cookie }, this.#name, query);
    expect(status, text).toBe(200);
    return body.items.map(({ key }) => this.places.get(key) ?? -1);
  }
}

const inOrder = (places: readonly number[]) => places.toSorted((a, b) => a - b);

/** For the value at each place: which stored values are less, equal and greater. */
async function relationsOf(stored: StoredValues, values: FieldCase['values']) {
  const all = [...stored.places.values()];
  const relations = [];
  for (const v of values) {
    const [equal, listed, less, greater, different] = await Promise.all(
      [v, { $in: [v] }, { $lt: v }, { $gt: v }, { $ne: v }].map((test) => stored.find({ filter: { v: test } })),
    );
    expect(listed, `$in ${v}`).toEqual(equal);
    expect(inOrder([...(less ?? []), ...(equal ?? []), ...(greater ?? [])]), `$lt, $eq, $gt ${v}`).toEqual(inOrder(all));
    expect(inOrder(different ?? []), `$ne ${v}`).toEqual(inOrder([-1, ...all.filter((place) => !equal?.includes(place))]));
    relations.push({ equal: new Set(equal), less: new Set(less) });
  }
  return relations;
}

let [pairs, equalPairs] = [0, 0];
let round = 0;

async function compare({ document, values: drawn }: FieldCase): Promise<void> {
  const [plainName, ruledName] = [`plain${++round}`, `ruled${round}`];
  await declareType(service(), plainName, { type: 'object', ...document });
  await declareType(service(), ruledName, { type: 'object', ...document, 'x-unique': [{ fields: ['v'] }], 'x-index': [['-v']] });
  const plain = await new StoredValues(plainName).add(drawn);
  // What validation refuses, filters may refuse too.
  const values = drawn.filter((_, place) => plain.statuses[place] === 201);
  const places = new Map(values.map((value, place) => [value, place]));
  for (const [key, place] of plain.places) plain.places.set(key, places.get(drawn[place] ?? '') ?? -1);
  const ruled = await new StoredValues(ruledName).add(values);
  const relations = await relationsOf(plain, values);
  const isEqual = (one: number, other: number) => relations[one]?.equal.has(other) === true;
  const isLess = (one: number, other: number) => relations[other]?.less.has(one) === true;

  for (const [one, v] of values.entries()) {
    expect(isEqual(one, one), `${v} equals itself`).toBe(true);
    for (const [other, w] of values.entries()) {
      expect(isEqual(other, one), `${w} = ${v}`).toBe(isEqual(one, other));
      if (one < other) pairs += 1;
      if (one < other && isEqual(one, other)) equalPairs += 1;
    }
  }
  for (const sort of [['v'], ['-v', '$key'], ['v', '-$key']]) {
    const order = await plain.find({ sort });
    const down = sort[0] === '-v';
    expect(order.at(down ? 0 : -1), 'the entity without a value').toBe(-1);
    const places = order.filter((place) => place !== -1);
    const keysDown = sort[1] === '-$key';
    for (const [at, place] of places.slice(1).entries()) {
      const before = places[at] ?? -1;
      const [low, high] = down ? [place, before] : [before, place];
      const [first, second] = keysDown ? [place, before] : [before, place];
      expect(
        isLess(low, high) || (isEqual(low, high) && first < second),
        `${values[before]} before ${values[place]} by ${sort.join()}`,
      ).toBe(true);
    }
    const ofRule = [-1, ...ruled.places.values()];
    expect(await ruled.find({ sort })).toEqual(order.filter((place) => ofRule.includes(place)));
  }
  for (const [place, status] of ruled.statuses.entries()) {
    const earlier = [...ruled.places.values()].filter((other) => other < place && isEqual(place, other));
    if (status === 201 || status === 409) expect(status, `the unique rule with ${values[place]}`).toBe(earlier.length > 0 ? 409 : 201);
    else expect(status, `a spelling or a length that no rule takes: ${values[place]}`).toBe(422);
    const found = await ruled.find({ filter: { v: values[place] } });
    expect(found, `the index with ${values[place]}`).toEqual([...ruled.places.values()].filter((other) => isEqual(place, other)));
    if (status === 422) continue;
    const upsert = await service().call<Entity>('POST', `/rest/entity/${ruledName}/upsert?by=v`, { cookie, json: { v: values[place] } });
    expect([upsert.status, ruled.places.get(upsert.body.key)]).toEqual([200, found[0]]);
  }
  await compareConstant(document, values, isEqual);
}

/** What `const` and `uniqueItems` take for the same is equal to filters too. */
async function compareConstant(
  document: FieldCase['document'],
  values: FieldCase['values'],
  isEqual: (one: number, other: number) => boolean,
): Promise<void> {
  const [first] = values;
  if (first === undefined || round % 10 !== 0) return;
  const name = `constant${round}`;
  const list = { type: 'array', uniqueItems: true, items: document.properties.v };
  await declareType(service(), name, { ...document, properties: { c: { const: first }, list } });
  for (const [place, value] of values.entries()) {
    const isConstant = (await create(name, { c: value })).status === 201;
    const isDifferent = (await create(name, { list: [first, value] })).status === 201;
    expect(isDifferent, `uniqueItems of ${first} and ${value}`).toBe(!isConstant);
    if (isConstant) expect(isEqual(0, place), `const ${first} takes ${value}`).toBe(true);
  }
}

test(
  `the unique rule, filters, sorts and validation agree on ${cases} pairs (seed ${seed})`,
  { timeout: 60_000 + cases * 300 },
  async () => {
    for (const one of fc.sample(fieldCases, { numRuns: maximumRounds, seed })) {
      if (pairs >= cases) break;
      await compare(one).catch((error: unknown) => {
        throw new Error(`with ${JSON.stringify(one)}: ${String(error)}`, { cause: error });
      });
    }
    expect(pairs).toBeGreaterThanOrEqual(cases);
    if (cases > 1_000) process.stdout.write(`values: ${pairs} pairs with seed ${seed}, of which ${equalPairs} are equal\n`);
  },
);
