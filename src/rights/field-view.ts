/** The fields of entities that a permit shows. Nothing outside of this folder knows which they are. */
import { sql, type RawBuilder } from 'kysely';
import { filterCondition } from '../filter/compile.ts';
import { any, constantOf, hasLookup, type Filter } from '../filter/syntax.ts';
import { allRows, digestOf, digestOfText, fieldsAt, type Coverage, type CoverageSource, type PermitValues } from './coverage.ts';
import { hasField, type FieldSet } from './field-set.ts';
import type { Grant } from './grant.ts';
import { variablesAt, variablesUsed, type CallerVariables } from './variable-columns.ts';

/** In which of the covered rows a field is shown. */
export type Showing = 'always' | 'never' | 'sometimes';

/** Some of the fields, in some rows more of them than in others. */
export interface PartialView {
  kind: 'part';
  /** Letters and digits. Views with the same digest have the same SQL. */
  digest: string;
  values: Omit<PermitValues, 'name' | 'owner'>;
  /** Whether other entities decide which fields are shown. */
  readsOthers: boolean;
  /** SQL: the shown ones of `fields`, those of a row that the permit covers, as `jsonb`. */
  cut(fields: RawBuilder<unknown>, source: CoverageSource): RawBuilder<unknown>;
  /** In which rows the top-level field is shown. */
  showing(name: string): Showing;
}

export type FieldView = { kind: 'whole' } | PartialView;

export const wholeView: FieldView = { kind: 'whole' };

/** A set of fields, and the rows in which it is shown. */
interface ShownSet {
  fields: FieldSet;
  where: Filter;
}

/** The rows in which a field, or each field without a name of its own, is shown. */
interface ShownIn {
  showing: Showing;
  where: Filter;
}

/** The fields that the grants show together: those of each in the rows that it covers, none without a grant. `sensitive` are the fields that the type calls so. */
export function viewOf(grants: readonly Grant[], sensitive: ReadonlySet<string>, caller: CallerVariables): FieldView {
  const sets = shownSets(grants);
  const names = [...new Set([...sensitive, ...sets.flatMap(({ fields }) => [...fields.named.keys()])])].toSorted();
  const shownIn = (has: (fields: FieldSet) => boolean): ShownIn => {
    const showing = sets.filter(({ fields }) => has(fields));
    const where = any(showing.map((set) => set.where));
    const isAlways = sets.length > 0 && (showing.length === sets.length || constantOf(where) === true);
    return { showing: isAlways ? 'always' : showing.length === 0 ? 'never' : 'sometimes', where };
  };
  const others = shownIn((fields) => fields.others !== 'none');
  const named = new Map(names.map((name) => [name, shownIn((fields) => hasField(fields, name, sensitive))]));
  const inEachRow = (showing: Showing) => showing === 'always';
  if (inEachRow(others.showing) && [...named.values()].every(({ showing }) => inEachRow(showing))) return wholeView;
  const tests = [others, ...named.values()].filter(({ showing }) => showing === 'sometimes').map(({ where }) => where);
  const used = variablesUsed(...tests);
  return {
    kind: 'part',
    digest: digestOfText([others, ...named]),
    values: caller.valuesOf(used),
    readsOthers: tests.some(hasLookup),
    showing: (name) => (named.get(name) ?? others).showing,
    cut(fields, source) {
      const isShown = ({ where }: ShownIn) => filterCondition(where, fieldsAt(source), variablesAt(source, used));
      switch (others.showing) {
        case 'always':
          return withoutHidden(fields, named, isShown);
        case 'never':
          return onlyShown(fields, named, isShown);
        case 'sometimes':
          return sql`(case when ${isShown(others)} then ${withoutHidden(fields, named, isShown)} else ${onlyShown(fields, named, isShown)} end)`;
      }
    },
  };
}

/** One set for all grants that show the same fields. */
function shownSets(grants: readonly Grant[]): ShownSet[] {
  const alike = Map.groupBy(grants, ({ read }) => JSON.stringify([read.others, ...read.named]));
  return [...alike.values()].flatMap((some) => {
    const [first] = some;
    return first ? [{ fields: first.read, where: any(some.map(({ filter }) => filter)) }] : [];
  });
}

type IsShown = (field: ShownIn) => RawBuilder<boolean>;

function withoutHidden(fields: RawBuilder<unknown>, named: ReadonlyMap<string, ShownIn>, isShown: IsShown): RawBuilder<unknown> {
  const hidden = [...named].filter(([, { showing }]) => showing !== 'always');
  if (hidden.every(([, { showing }]) => showing === 'never')) return sql`(${fields} - ${hidden.map(([name]) => name)}::text[])`;
  const names = hidden.map(([name, field]) =>
    field.showing === 'never' ? sql`${name}::text` : sql`case when ${isShown(field)} then null else ${name}::text end`,
  );
  return sql`(${fields} - array_remove(array[${sql.join(names)}], null))`;
}

function onlyShown(fields: RawBuilder<unknown>, named: ReadonlyMap<string, ShownIn>, isShown: IsShown): RawBuilder<unknown> {
  const always = Object.fromEntries([...named].filter(([, { showing }]) => showing === 'always').map(([name]) => [name, true]));
  const sometimes = [...named].filter(([, { showing }]) => showing === 'sometimes');
  const tree = sql`${JSON.stringify(always)}::jsonb`;
  if (sometimes.length === 0) return sql`json_project(${fields}, ${tree})`;
  const members = sometimes.map(([name, field]) => sql`${name}::text, case when ${isShown(field)} then true end`);
  return sql`json_project(${fields}, ${tree} || jsonb_strip_nulls(jsonb_build_object(${sql.join(members)})))`;
}

/** SQL: the shown fields of a row with a column `fields`. It is in every statement that answers with the fields of entities. */
export function shownFields(view: FieldView, source: CoverageSource): RawBuilder<unknown> {
  return view.kind === 'whole' ? sql`fields` : view.cut(sql`fields`, source);
}

/** SQL: those of `names`, an array of names of fields, that the row shows; null for null. */
export function shownNames(view: FieldView, names: RawBuilder<unknown>, source: CoverageSource): RawBuilder<unknown> {
  if (view.kind === 'whole') return names;
  const shown = view.cut(sql`jsonb_object(${names}, ${names})`, source);
  return sql`case when ${names} is not null then array(select jsonb_object_keys(${shown}) as name order by name) end`;
}

/** The same for a statement that is built for one permit, of a row that it calls `row`. */
export function fieldsOfPermit(view: FieldView, row = 'entity'): RawBuilder<unknown> {
  const values: Partial<PermitValues> = view.kind === 'whole' ? {} : view.values;
  return shownFields(view, { row, value: (name) => sql`${values[name]}` });
}

/** The digest by which statements of the view differ. */
export const digestOfView = (view: FieldView): string => (view.kind === 'whole' ? '' : view.digest);

/** The rows and the fields of a permit. */
export interface EntityRights {
  coverage: Coverage;
  view: FieldView;
}

/** Whether other entities decide about the rows or the fields. */
export const readOthers = ({ coverage, view }: EntityRights): boolean =>
  (coverage.kind === 'rule' && coverage.readsOthers) || (view.kind === 'part' && view.readsOthers);

export const fullRights: EntityRights = { coverage: allRows, view: wholeView };

/** The digest by which statements of these rights differ: that of the rows, and of the fields if the view is a part. */
export function digestOfRights({ coverage, view }: EntityRights): string {
  return view.kind === 'whole' ? digestOf(coverage) : `${digestOf(coverage)}.${digestOfView(view)}`;
}
