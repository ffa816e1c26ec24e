/** Random entities that refer to each other, and what the deletion of one has to do to them, found without a database. */
import * as fc from 'fast-check';

/** Entities of a name are deleted along with those of names before it only, since no cascade comes back. */
export const modelNames = ['node0', 'node1', 'node2', 'node3'] as const;
const kinds = ['cascade', 'set-null', 'restrict'] as const;
const reference = { type: ['string', 'null'], format: 'int64' };

interface ModelField {
  name: string;
  to: (typeof modelNames)[number];
  onDelete: (typeof kinds)[number];
}

/** The fields of entities called `name`: one for each target and each `onDelete`. */
const fieldsOf = (name: string): ModelField[] =>
  modelNames.flatMap((to) =>
    kinds
      .filter((onDelete) => onDelete !== 'cascade' || to < name)
      .map((onDelete) => ({ name: `${onDelete.replace('-', '')}${modelNames.indexOf(to)}`, to, onDelete })),
  );

/** The document of a type, of which every second has a trash. `isBare` leaves out its references, whose targets may not be declared yet. */
export function modelDocument(name: string, isBare: boolean): Record<string, unknown> {
  const fields = fieldsOf(name);
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map((field) => [field.name, reference])),
    'x-references': isBare ? {} : Object.fromEntries(fields.map((field) => [field.name, { to: field.to, onDelete: field.onDelete }])),
    'x-index': [[fields[0]?.name]],
    ...(modelNames.findIndex((each) => each === name) % 2 === 1 && { 'x-soft-delete': true }),
  };
}

export interface ModelEntity {
  name: string;
  key: string;
  /** By field, the entity that it refers to. */
  references: Map<ModelField, ModelEntity>;
}

const maximumEntities = 14;
const place = fc.nat(999);

/** Entities of which the first is to be deleted, most others along with it, and the most that may go along at once. */
export const modelCase: fc.Arbitrary<{ entities: readonly ModelEntity[]; limit: number }> = fc
  .record({
    limit: fc.integer({ min: 1, max: 3 }),
    drafts: fc.array(
      fc.record({
        name: fc.constantFrom(...modelNames.slice(1), modelNames[0]),
        isAlong: fc.oneof({ weight: 5, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
        to: place,
      }),
      { maxLength: maximumEntities - 1, size: 'max' },
    ),
    ways: fc.array(
      fc.record({
        from: place,
        to: place,
        onDelete: fc.constantFrom('cascade' as const, 'set-null' as const, 'set-null' as const, 'restrict' as const),
      }),
      { maxLength: 20, size: 'max' },
    ),
    order: fc.shuffledSubarray(
      Array.from({ length: maximumEntities }, (_, index) => index),
      { minLength: maximumEntities },
    ),
  })
  .map(({ limit, drafts, ways, order }) => {
    const entities = [{ name: modelNames[0], isAlong: false, to: 0 }, ...drafts].map(({ name, isAlong, to }, index) => ({
      name,
      isAlong,
      to,
      key: String(9_000_000_000 + (order[index] ?? 0)),
      references: new Map<ModelField, ModelEntity>(),
    }));
    const fields = new Map(modelNames.map((name) => [name, fieldsOf(name)]));
    const refer = (from: ModelEntity, targets: readonly ModelEntity[], to: number, onDelete: ModelField['onDelete']) => {
      const target = targets[to % targets.length];
      const field =
        target && fields.get(from.name as ModelField['to'])?.find((each) => each.to === target.name && each.onDelete === onDelete);
      if (field) from.references.set(field, target);
    };
    for (const { from, to, onDelete } of ways) {
      const referring = entities[from % entities.length];
      // Most restrictions are among those that go together.
      const isAlong = onDelete !== 'restrict' || referring?.isAlong === true || from % 25 === 0;
      if (referring && isAlong) refer(referring, entities, to, onDelete);
    }
    for (const entity of entities.filter(({ isAlong }) => isAlong))
      refer(
        entity,
        entities.filter(({ name }) => name < entity.name),
        entity.to,
        'cascade',
      );
    return { entities, limit };
  });

export interface ModelOutcome {
  going: ReadonlySet<ModelEntity>;
  /** By name, the keys of those that restrict the deletion. */
  restricting: ReadonlyMap<string, ReadonlySet<string>>;
  /** The fields that become null. */
  cleared: ReadonlyMap<ModelEntity, readonly ModelField[]>;
  /** The most entities besides the deleted one that only go together. */
  largestSet: number;
}

/** The outcome of the deletion of the first of the entities. */
export function modelOutcome(entities: readonly ModelEntity[]): ModelOutcome {
  const [root] = entities;
  const going = new Set(entities.slice(0, 1));
  const cascades = ({ references }: ModelEntity) =>
    [...references].some(([{ onDelete }, target]) => onDelete === 'cascade' && going.has(target));
  for (let before = 0; before < going.size;) {
    before = going.size;
    for (const entity of entities) if (cascades(entity)) going.add(entity);
  }
  const restricting = new Map<string, Set<string>>();
  const cleared = new Map<ModelEntity, ModelField[]>();
  for (const entity of entities.filter((each) => !going.has(each))) {
    const lost = [...entity.references].filter(([, target]) => going.has(target)).map(([field]) => field);
    cleared.set(
      entity,
      lost.filter(({ onDelete }) => onDelete === 'set-null'),
    );
    if (lost.some(({ onDelete }) => onDelete === 'restrict'))
      restricting.set(entity.name, new Set([...(restricting.get(entity.name) ?? []), entity.key]));
  }
  const behind = new Map([...going].map((entity) => [entity, reached(entity, going)]));
  const sets = [...going].map((one) => [...going].filter((other) => behind.get(one)?.has(other) && behind.get(other)?.has(one)));
  const largestSet = Math.max(...sets.map((set) => set.filter((each) => each !== root).length));
  return { going, restricting, cleared, largestSet };
}

/** The entity, and all that its references lead to among those that go: the others lose theirs. */
function reached(entity: ModelEntity, going: ReadonlySet<ModelEntity>, found = new Set<ModelEntity>()): Set<ModelEntity> {
  if (found.has(entity) || !going.has(entity)) return found;
  found.add(entity);
  for (const target of entity.references.values()) reached(target, going, found);
  return found;
}
