/**
 * The names of the entities of an answer, and of those that they refer to. One statement reads them all from the companion tables, by the caller's right to see them. A
 * key that the right does not cover has no name, like the key of no entity (rule 192).
 */
import { sql, type RawBuilder } from 'kysely';
import { labelColumn, readableCompanion, type Companion, type CompanionColumn } from '../companion/layout.ts';
import { rulesOf } from '../companion/rule-layout.ts';
import { inSchema } from '../companion/table.ts';
import { builder } from '../../database/driver/prepared.ts';
import type { Run } from '../../database/read-transaction.ts';
import type { EntityType, EntityTypes } from '../../entity-types/types.ts';
import { Problem } from '../../problems/errors.ts';
import type { Field } from '../../filter/fields.ts';
import type { Coverage } from '../../rights/coverage.ts';
import { wholeView } from '../../rights/field-view.ts';
import { namedRows } from '../../rights/permit.ts';
import type { Principal } from '../../rights/principal.ts';
import { entityOf } from '../shown-rows.ts';
import { isProjected, type Projection } from './projection.ts';

/** The most names of an answer. */
const maximumNames = 5_000;

/** The entities of one name that have names of their own. */
interface Named {
  name: string;
  companion: Companion;
  column: CompanionColumn;
  coverage: Coverage;
}

/** The names that a caller may see beside some entities. */
export interface WantedLabels {
  /** Those of the entities themselves; undefined if the type has none, or the caller may see none of them. */
  own: Named | undefined;
  /** Those of the entities that references lead to. */
  references: readonly { field: Field; to: Named }[];
}

/** Finds the names that `principal` may see beside entities of this type. */
export async function readWantedLabels(
  types: EntityTypes,
  principal: Principal,
  { name, type }: { name: string; type: EntityType | undefined },
): Promise<WantedLabels> {
  const known = new Map([[name, namedOf(principal, name, type)]]);
  const references: { field: Field; to: Named }[] = [];
  for (const { field, to } of type ? rulesOf(type.document, type.fields).references : []) {
    if (!known.has(to)) known.set(to, namedOf(principal, to, await findDeclared(types, to)));
    const named = known.get(to);
    if (named) references.push({ field, to: named });
  }
  return { own: known.get(name), references };
}

/** A reference may lead to a name that is declared no more, where only declared names exist. */
async function findDeclared(types: EntityTypes, name: string): Promise<EntityType | undefined> {
  try {
    return await types.find(name);
  } catch (error) {
    if (error instanceof Problem && error.code === 'not-found') return undefined;
    throw error;
  }
}

function namedOf(principal: Principal, name: string, type: EntityType | undefined): Named | undefined {
  const companion = type?.companion && readableCompanion(type.companion);
  const column = companion ? labelColumn(companion) : undefined;
  const coverage = column?.label && namedRows(principal, name, column.label);
  return companion && column && coverage ? { name, companion, column, coverage } : undefined;
}

/** An entity of an answer: its key, and those of its references in the order of {@link WantedLabels}. */
export interface LabelledItem {
  key: string;
  references: readonly (string | null)[];
}

/** The keys of the references that are in fields which are sent. */
export const projectedKeys = (
  { references }: WantedLabels,
  projection: Projection | undefined,
  keys: readonly (string | null)[],
): (string | null)[] => references.map(({ field }, index) => (isProjected(projection, field) ? (keys[index] ?? null) : null));

/** How many of the items have no more names together than an answer may have; at least one. */
export function itemsWithin(items: readonly LabelledItem[], wanted: WantedLabels): number {
  const seen = new Set<string>();
  const end = items.findIndex((item) => {
    for (const { named, key } of keysOf(item, wanted)) seen.add(`${named.name}/${key}`);
    return seen.size > maximumNames;
  });
  return end === -1 ? items.length : Math.max(end, 1);
}

function keysOf({ key, references }: LabelledItem, wanted: WantedLabels): { named: Named; key: string }[] {
  return [
    ...(wanted.own ? [{ named: wanted.own, key }] : []),
    ...wanted.references.flatMap(({ to }, index) => {
      const reference = references[index] ?? null;
      return reference === null ? [] : [{ named: to, key: reference }];
    }),
  ];
}

/** The names of an answer. */
export interface FoundLabels {
  /** The name of an item; undefined for none. */
  of: (key: string) => string | undefined;
  /** The member `labels` as JSON text: the names of the entities that references lead to, by their name and key. */
  member: string;
}

/** Reads the names of the items and of what they refer to. */
export async function readLabels(run: Run, items: readonly LabelledItem[], wanted: WantedLabels): Promise<FoundLabels> {
  const entries = items.flatMap((item) => keysOf(item, wanted));
  const byName = [...Map.groupBy(entries, ({ named }) => named)].map(([named, some]) => ({
    named,
    keys: new Set(some.map(({ key }) => key)),
  }));
  const rows = byName.length === 0 ? [] : await run(labelsQuery(byName), 'by-index');
  const found = new Map(rows.map(({ name, key, label }) => [`${name}/${key}`, label]));
  const referred = new Map<string, Map<string, string>>();
  for (const { references } of items)
    wanted.references.forEach(({ to: { name } }, index) => {
      const key = references[index];
      const label = key === undefined || key === null ? undefined : found.get(`${name}/${key}`);
      if (label === undefined || !key) return;
      const ofName = referred.get(name) ?? new Map<string, string>();
      referred.set(name, ofName.set(key, label));
    });
  const labels = [...referred].map(([name, ofName]) => `"${name}":${JSON.stringify(Object.fromEntries(ofName))}`);
  return { of: (key) => (wanted.own ? found.get(`${wanted.own.name}/${key}`) : undefined), member: `"labels":{${labels.join()}}` };
}

/** The JSON text of an entity with its name. */
export const withLabel = (text: string, label: string | undefined): string =>
  label === undefined ? text : `${text.slice(0, -1)},"label":${JSON.stringify(label)}}`;

/** SQL: the names that the keys have. Behind `offset 0` PostgreSQL looks each key up. */
function labelsQuery(wanted: readonly { named: Named; keys: ReadonlySet<string> }[]) {
  const parts = wanted.map(({ named: { name, companion, column, coverage }, keys }): RawBuilder<unknown> => {
    const isCovered =
      coverage.kind === 'all' ? sql`` : sql`cross join ${entityOf({ entity: name, coverage, view: wholeView }, sql.ref('wanted.key'))}`;
    return sql`
      select ${name}::text as name, wanted.key::text as key, x.label from unnest(${[...keys]}::bigint[]) as wanted (key)
      cross join lateral (
        select ${sql.ref(column.name)} as label from ${inSchema(companion.table)} as x where x.key = wanted.key offset 0) as x
      ${isCovered} where x.label is not null`;
  });
  return sql<{ name: string; key: string; label: string }>`${sql.join(parts, sql` union all `)}`.compile(builder);
}
