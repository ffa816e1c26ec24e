/**
 * Which entities a caller may refer to: a new or changed reference needs `label` or `read` on its target, by a grant that covers it (rule 115). Otherwise a
 * caller could keep others from deleting what it may not see. A target that is not covered is refused as a missing one is, after the same statements.
 */
import { sql, type RawBuilder } from 'kysely';
import type { Companion, CompanionReference, CompanionValues } from '../companion/layout.ts';
import { builder } from '../../database/driver/prepared.ts';
import type { Statements } from '../../database/port.ts';
import type { Fault } from '../../problems/faults.ts';
import type { Field } from '../../filter/fields.ts';
import { pointerTo } from '../../problems/pointer.ts';
import type { Permit } from '../../rights/permit.ts';
import { allRows, coverageInput, digestOf, permitValues, rowsCovered, type Coverage } from '../../rights/coverage.ts';
import { wholeView } from '../../rights/field-view.ts';
import { prepareCovered } from '../covered-statements.ts';
import type { Judgement } from './judgement.ts';
import { requireNoFaults } from './rules.ts';

type WritePermit = Permit<'create' | 'update'>;

/** The references of an entity that is to be written. */
export interface ReferringRow {
  /** Of its companion row. */
  values: CompanionValues;
  /** The values that the {@link referencePaths} lead to now, as JSON texts; none for a new entity. */
  present?: readonly (string | null)[] | null | undefined;
}

const findCovered = prepareCovered<{ targets: string }, { name: string; key: string }>('entity.owned', (value, { coverage }) =>
  sql<{ name: string; key: string }>`
    select entity.name, entity.key
    from jsonb_to_recordset(${value('targets')}::jsonb) as input (name text, key bigint, ${coverageInput(coverage).typed})
    cross join lateral (
      select entity.name, entity.key from entity
      where ${rowsCovered(coverage, (name) => sql.ref(`input.${name}`))} and entity.key = input.key offset 0
    ) as entity`.compile(builder),
);

/** The references whose targets the caller may not all refer to. */
function guardedReferences(permit: WritePermit, { references }: Companion): CompanionReference[] {
  return references.filter(({ to }) => permit.referable(to)?.kind !== 'all');
}

/** Whether a write of these companion values needs no look at targets. */
export function refersFreely(permit: WritePermit, layout: Companion, values: CompanionValues): boolean {
  return guardedReferences(permit, layout).every(({ column }) => typeof values[column] !== 'string');
}

const pathOf = ({ columns }: Companion, { column }: CompanionReference): Field => columns.find(({ name }) => name === column)?.field ?? [];

/** Where the references are that {@link faultsOfReferences} compares with the present ones: paths into the fields. */
export function referencePaths(permit: WritePermit, layout: Companion | null | undefined): Field[] {
  return layout ? guardedReferences(permit, layout).map((reference) => pathOf(layout, reference)) : [];
}

/** SQL: the values in `fields` at `paths`, JSON text of an array of {@link referencePaths}, as an array of JSON texts. */
export const valuesAt = (fields: RawBuilder<unknown>, paths: RawBuilder<unknown>): RawBuilder<(string | null)[]> =>
  sql<(string | null)[]>`array(
    select (${fields} #> array(select jsonb_array_elements_text(each.path)))::text
    from jsonb_array_elements(${paths}::jsonb) with ordinality as each (path, n) order by n)`;

/**
 * The faults of each row: the new and changed references whose target does not exist or is not covered. `created` are the keys of entities that the same
 * request creates.
 */
export async function faultsOfReferences(
  store: Pick<Statements, 'run'>,
  permit: WritePermit,
  layout: Companion,
  rows: readonly ReferringRow[],
  created: ReadonlySet<string> = new Set(),
): Promise<Fault[][]> {
  const guarded = guardedReferences(permit, layout);
  const wanted = rows.map(({ values, present }) =>
    guarded.flatMap((reference, index) => {
      const key = values[reference.column];
      if (typeof key !== 'string' || present?.[index] === JSON.stringify(key) || created.has(key)) return [];
      return [{ reference, key }];
    }),
  );
  const covered = await coveredTargets(
    store,
    wanted.flat().flatMap(({ reference: { to }, key }) => {
      const coverage = permit.referable(to);
      return coverage ? [{ entity: to, coverage, key }] : [];
    }),
  );
  return wanted.map((references) =>
    references
      .filter(({ reference: { to }, key }) => !covered.has(`${to}/${key}`))
      .map(({ reference }) => ({ pointer: pointerTo(pathOf(layout, reference)), code: 'reference-not-found' })),
  );
}

/** Those of the targets that exist and are covered, as `name/key`. */
async function coveredTargets(
  store: Pick<Statements, 'run'>,
  targets: readonly { entity: string; coverage: Coverage; key: string }[],
): Promise<ReadonlySet<string>> {
  const covered = new Set<string>();
  for (const alike of Map.groupBy(targets, ({ coverage }) => digestOf(coverage)).values()) {
    const rows = alike.map(({ key, ...target }) => ({ ...permitValues(target), key }));
    const [{ coverage } = { coverage: allRows }] = alike;
    for (const { name, key } of await store.run(findCovered({ coverage, view: wholeView }), { targets: JSON.stringify(rows) }))
      covered.add(`${name}/${key}`);
  }
  return covered;
}

/**
 * Throws 422 `validation-failed` with the {@link faultsOfReferences} of one row, and then what its judgement says of the targets. `companion` is undefined for an entity
 * without a companion row.
 */
export async function requireReferences(
  store: Pick<Statements, 'run'>,
  permit: WritePermit,
  companion: { layout: Companion; values: CompanionValues } | undefined,
  { present, created, judgement }: RequiredReferences,
): Promise<void> {
  const rows = companion ? [{ values: companion.values, present }] : [];
  const [faults = []] = companion ? await faultsOfReferences(store, permit, companion.layout, rows, created) : [];
  requireNoFaults(faults);
  judgement?.requireAcceptedTargets();
}

interface RequiredReferences extends Pick<ReferringRow, 'present'> {
  created?: ReadonlySet<string>;
  /** Undefined for a permit without rules. */
  judgement: Judgement | undefined;
}
