/** The columns of a CSV file: each has a field of the entities, and the declared type of the field decides how a cell has the value. */
import type { EntityType } from '../entity-types/types.ts';
import { declaredFields } from '../entity-types/field-types.ts';
import type { Field } from '../filter/fields.ts';

/** How a cell has a value: as the text itself, as the text of a JSON number or boolean, or as any JSON text. */
export type CellKind = 'text' | 'number' | 'boolean' | 'json';

export interface FieldColumn {
  field: Field;
  kind: CellKind;
}

/** The header of the column with the key of each entity; an import ignores it, and all other names of the envelope. */
export const keyHeader = '$key';
/** The header of the column with a JSON object of all members that no other column has. */
export const restHeader = '$fields';

/** The cell of null, without quotes. An empty cell without quotes is a missing value. */
export const nullCell = '\\N';

/** A column for each field that `properties` of the type name. */
export function columnsOf(type: EntityType | undefined): FieldColumn[] {
  if (!type) return [];
  return declaredFields(type.document).map((field) => ({ field, kind: kindOf(type, field) }));
}

/** How a column has the field: as text, unless the type declares something else. */
export function columnOf(type: EntityType | undefined, field: Field): FieldColumn {
  const isDeclared = type && declaredFields(type.document).some((declared) => field.every((name, index) => declared[index] === name));
  return { field, kind: isDeclared ? kindOf(type, field) : 'text' };
}

function kindOf({ fields }: EntityType, field: Field): CellKind {
  const type = fields.typeOf(field);
  switch (type) {
    case 'string':
    case 'int64':
    case 'decimal':
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
