/** The columns of a CSV file: each has a field of the entities, and the declared type of the field decides how a cell has the value. */
import type { EntityType, EntityTypes } from '../entity-types/types.ts';
import { Problem } from '../problems/errors.ts';
import type { Field } from '../filter/fields.ts';

/** How a cell has a value: as the text itself, which may be that of a decimal or an int64, as the text of a JSON number or boolean, or as any JSON text. */
export type CellKind = 'text' | 'decimal' | 'number' | 'boolean' | 'json';

export interface FieldColumn {
  field: Field;
  kind: CellKind;
}

/** The header of the column with the key of each entity. */
export const keyHeader = '$key';
/** The header of the column with the version of each entity. */
export const versionHeader = '$version';
/** The header of columns that an import ignores. */
export const ignoredHeader = '$ignore';
/** The header of the column with a JSON object of all members that no other column has. */
export const restHeader = '$fields';

/** How the header of the column begins that names the database of an export, and has no cells: `$database=db0123456789abcdef`. */
export const databaseHeader = '$database=';

/** The separators of cells, by the value of the parameter `delimiter`. */
export const delimiters = { comma: ',', semicolon: ';', tab: '\t' } as const;
export type Delimiter = keyof typeof delimiters;

/** The cell of null, without quotes. An empty cell without quotes is a missing value. */
export const nullCell = '\\N';

/** A column for each field that `properties` of the type name. */
export function columnsOf(type: EntityType | undefined): FieldColumn[] {
  return type ? type.declaredFields().map((field) => ({ field, kind: kindOf(type, field) })) : [];
}

/** The types to which the references of a type lead, by the path of the reference with dots. A name without a type has none. */
export type ReferenceTargets = ReadonlyMap<string, EntityType | undefined>;

/** The targets of the references of the type. */
export async function targetsOf(type: EntityType | undefined, types: Pick<EntityTypes, 'find'>): Promise<ReferenceTargets> {
  const { columns = [], references = [] } = type?.companion ?? {};
  const targets = new Map<string, EntityType | undefined>();
  for (const { column, to } of references) {
    const path = columns.find(({ name }) => name === column)?.field.join('.');
    if (path !== undefined) targets.set(path, await types.find(to).catch(ifMissing));
  }
  return targets;
}

/** Undefined for a name that has no type where only declared names exist. */
function ifMissing(error: unknown): undefined {
  if (!(error instanceof Problem) || error.code !== 'not-found') throw error;
}

/** How many names of the field lead to a reference above it, as `customer` is of `customer.number`; 0 without one. A file can name a target so (decision 245). */
export function referenceDepth(targets: ReferenceTargets, field: Field): number {
  return Math.max(
    field.findIndex((_, index) => targets.has(field.slice(0, index).join('.'))),
    0,
  );
}

/** How a column has the field: as text, unless the type declares something else. */
export function columnOf(type: EntityType | undefined, field: Field): FieldColumn {
  const isDeclared = type?.declaredFields().some((declared) => field.every((name, index) => declared[index] === name));
  return { field, kind: type && isDeclared ? kindOf(type, field) : 'text' };
}

function kindOf({ fields }: EntityType, field: Field): CellKind {
  const type = fields.typeOf(field);
  switch (type) {
    case 'int64':
    case 'decimal':
      return 'decimal';
    case 'string':
    case 'date':
    case 'date-time':
    case 'instant':
    case 'enum':
      return 'text';
    case 'number':
    case 'boolean':
      return type;
    default:
      return 'json';
  }
}
