/** The rows of one name that each person may list before and after a change of rights, counted by one statement. */
import { sql, type Kysely, type RawBuilder } from 'kysely';
import type { Database } from '../../database/tables.ts';
import { rowsByFields } from '../../entities/companion/scan.ts';
import { comparedFields, testsOf } from '../../filter/syntax.ts';
import { coverageOf, type Coverage } from '../../rights/coverage.ts';
import type { Grant } from '../../rights/grant.ts';
import type { CallerVariables } from '../../rights/variable-columns.ts';

/** A person with the variables of before and after. */
export interface CountedPerson {
  before: CallerVariables;
  after: CallerVariables;
}

export interface CountedGrants {
  entity: string;
  before: readonly Grant[];
  after: readonly Grant[];
}

/** The same numbers for a number of people. */
export interface RowGroup {
  people: number;
  /** Rows that they may list after the change alone. */
  gained: number;
  /** Rows that they may list before the change alone. */
  lost: number;
}

const sides = ['before', 'after'] as const;
type Side = (typeof sides)[number];

/** People with the same values of all variables of the rules. */
interface ValueSet {
  people: number;
  values: Record<string, unknown>;
}

/**
 * The numbers for all people, those of most people first. People with equal values are counted once. Rows with equal values of the fields that the rules read are
 * tested once.
 */
export async function countRows(db: Kysely<Database>, grants: CountedGrants, people: readonly CountedPerson[]): Promise<RowGroup[]> {
  const [first] = people;
  if (!first) return [];
  const side = { before: coverageOf(grants.before, first.before), after: coverageOf(grants.after, first.after) };
  const sets = valueSets(grants, people);
  const [was, is] = [covers(side.before, 'before'), covers(side.after, 'after')];
  const input = JSON.stringify(sets.map(({ values }, set) => Object.assign({ set }, values)));
  const { rows } = await sql<{ set: number; gained: string; lost: string }>`
    with person as materialized (select * from jsonb_to_recordset(${input}::jsonb) as person(set int${columnsOf(side)})),
      covered as materialized (${groupedRows(grants)})
    select set, coalesce(sum(rows) filter (where not was and "is"), 0) as gained, coalesce(sum(rows) filter (where was and not "is"), 0) as lost
    from (select set, rows, ${was} as was, ${is} as "is" from person cross join covered) as tested group by set`.execute(db);
  const counts = new Map(rows.map(({ set, gained, lost }) => [set, { gained: Number(gained), lost: Number(lost) }]));
  const groups = new Map<string, RowGroup>();
  for (const [set, { people: number }] of sets.entries()) {
    const { gained, lost } = counts.get(set) ?? { gained: 0, lost: 0 };
    const group = groups.get(`${gained} ${lost}`) ?? { people: 0, gained, lost };
    groups.set(`${gained} ${lost}`, { ...group, people: group.people + number });
  }
  return [...groups.values()].toSorted((one, other) => other.people - one.people || other.gained - one.gained || other.lost - one.lost);
}

/** The name of a value's column in the statement: both sides have columns of their own. */
const columnAt = (side: Side, name: string): string => `${side} ${name}`;

function valueSets({ before, after }: CountedGrants, people: readonly CountedPerson[]): ValueSet[] {
  const sets = new Map<string, ValueSet>();
  for (const person of people) {
    const coverages = { before: coverageOf(before, person.before), after: coverageOf(after, person.after) };
    const values = Object.fromEntries(
      sides.flatMap((side) => {
        const coverage = coverages[side];
        const own = coverage?.kind === 'rule' ? coverage.values : {};
        return Object.entries(own).map(([name, value]) => [columnAt(side, name), value]);
      }),
    );
    const text = JSON.stringify(values);
    const set = sets.get(text) ?? { people: 0, values };
    sets.set(text, { ...set, people: set.people + 1 });
  }
  return [...sets.values()];
}

/** SQL: the columns of the values, each after a comma. */
function columnsOf(coverages: Record<Side, Coverage | undefined>): RawBuilder<unknown> {
  const columns = sides.flatMap((side) => {
    const coverage = coverages[side];
    if (coverage?.kind !== 'rule') return [];
    const variables = coverage.variables.map(({ column, sqlType }) => sql`${sql.ref(columnAt(side, column))} ${sql.raw(sqlType)}`);
    return [sql`${sql.ref(columnAt(side, 'owner'))} text`].concat(variables);
  });
  return columns.length === 0 ? sql`` : sql`, ${sql.join(columns)}`;
}

/** SQL: whether the person may list the row. */
function covers(coverage: Coverage | undefined, side: Side): RawBuilder<boolean> {
  if (!coverage) return sql`false`;
  if (coverage.kind === 'all') return sql`true`;
  const value = (name: string) => sql`person.${sql.ref(columnAt(side, name))}`;
  return sql`coalesce(${coverage.matches({ row: 'covered', value })}, false)`;
}

/** SQL: the rows of the name as far as the rules read them, with the number of each. */
function groupedRows({ entity, before, after }: CountedGrants): RawBuilder<unknown> {
  const read = [...before, ...after].flatMap(({ filter }) => testsOf(filter).flatMap(comparedFields)).map(({ field }) => field[0] ?? '');
  return rowsByFields(entity, [...new Set(read)]);
}
