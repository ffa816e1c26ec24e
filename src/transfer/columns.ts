/** The columns of a CSV file: each has a field of the entities, and the declared type of the field decides how a cell has the value. */
import type { EntityType } from '../entity-types/types.ts';
import { declaredFields } from '../entity-types/field-types.ts';
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

/** What is between the cells, by the value of the parameter `delimiter`. */
export const delimiters = { comma: ',', semicolon: ';', tab: '\t' } as const;
export type Delimiter = keyof typeof delimiters;

/** The cell of null, without quotes. An empty cell without quotes is a missing value. */
export const nullCell = '\\N';

/** A column for each field that `properties` of the type name. */
export function columnsOf(type: EntityType | undefined): FieldColumn[] {
  if (!type) return [];
  return declaredFields(type.document).map((field) => ({ field, kind: kindOf(type, field) }));
}

/** Whether the field is a value of what a reference leads to, as `customer.number` is, by which a file can name the target (decision 245). */
export function isBelowReference({ companion }: EntityType, field: Field): boolean {
  const paths = companion?.references.map(({ column }) => companion.columns.find(({ name }) => name === column)?.field ?? []) ?? [];
  return paths.some((path) => path.length > 0 && path.length < field.length && path.every((name, index) => name === field[index]));
}

/** How a column has the field: as text, unless the type declares something else. */
export function columnOf(type: EntityType | undefined, field: Field): FieldColumn {
  const isDeclared = type && declaredFields(type.document).some((declared) => field.every((name, index) => declared[index] === name));
  return { field, kind: isDeclared ? kindOf(type, field) : 'text' };
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
