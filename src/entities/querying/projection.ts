/** The fields of an entity that a request selects. */
import { sql, type RawBuilder } from 'kysely';
import type { Field, FieldTypes } from '../../filter/fields.ts';
import { readField, type NameFault } from '../../filter/sort.ts';

const maximumProjection = 50;

/** The members to send: true for all of a member. */
export interface Projection {
  [name: string]: true | Projection;
}

/** The fields by their names from the root down. A name of the envelope is refused: the envelope is always sent. */
export function readProjection(names: readonly string[], types: FieldTypes): { projection: Projection } | { faults: NameFault[] } {
  if (names.length > maximumProjection) return { faults: [{ index: -1, code: 'invalid-value', values: { maximum: maximumProjection } }] };
  const faults: NameFault[] = [];
  // Without a prototype, since `__proto__` is a name like any other here.
  const projection = Object.create(null) as Projection;
  names.forEach((name, index) => {
    const found = readField(name, types);
    if ('code' in found) faults.push({ index, ...found });
    else addField(projection, found.field);
  });
  return faults.length > 0 ? { faults } : { projection };
}

function addField(projection: Projection, [name = '', ...below]: Field): void {
  if (below.length === 0) {
    projection[name] = true;
    return;
  }
  const inner = projection[name] ?? (Object.create(null) as Projection);
  if (inner === true) return;
  projection[name] = inner;
  addField(inner, below);
}

/** SQL: the column `fields` of a row as JSON text; of the projection if there is one. */
export function projectedFields(projection: Projection | undefined): RawBuilder<string> {
  return projection ? sql`json_project(fields, ${JSON.stringify(projection)}::jsonb)::text` : sql`fields::text`;
}

/** Whether the field is one of those that are sent. */
export function isProjected(projection: Projection | undefined, field: Field): boolean {
  let found: Projection | true | undefined = projection ?? true;
  for (const name of field) {
    if (found === true || found === undefined) break;
    found = found[name];
  }
  return found === true;
}
