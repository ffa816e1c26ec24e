/** `x-form`: the groups of fields that people fill in, and `x-zone`, the time zone of the type. */
import { isTimeZone } from '../../accounts/time-zones.ts';
import type { Schemas } from '../../contract/operation.ts';
import type { FieldTypes } from '../../filter/fields.ts';
import { readField, unknownField } from '../../filter/sort.ts';
import type { Languages } from '../../locales/negotiate.ts';
import type { Fault } from '../../problems/faults.ts';
import { pointerTo } from '../../problems/pointer.ts';
import { isSchemaObject, type Schema } from '../subschemas.ts';
import { faultsOfText, maximumTitle, textFor } from './texts.ts';

export const formKeyword = 'x-form';
export const zoneKeyword = 'x-zone';

/** The most groups of a form, the most rows of a group, and the most fields of a row. */
const maximum = { groups: 50, rows: 200, fields: 12 };

/** The faults of the form of `x-form`, whatever the fields of the type. */
export function faultsOfGroups(value: unknown, pointer: string): Fault[] {
  const list = (items: unknown, place: string, most: number, of: (item: unknown, at: string) => Fault[]): Fault[] => {
    if (!Array.isArray(items)) return [{ pointer: place, code: 'invalid-type', values: { allowed: 'array' } }];
    if (items.length === 0) return [{ pointer: place, code: 'too-short', values: { minimum: 1 } }];
    if (items.length > most) return [{ pointer: place, code: 'too-many-values', values: { limit: most } }];
    return items.flatMap((item: unknown, index) => of(item, `${place}/${index}`));
  };
  const name = (item: unknown, at: string): Fault[] =>
    typeof item === 'string' ? [] : [{ pointer: at, code: 'invalid-type', values: { allowed: 'string' } }];
  return list(value, pointer, maximum.groups, (group, at) => {
    if (!isSchemaObject(group)) return [{ pointer: at, code: 'invalid-type', values: { allowed: 'object' } }];
    const unknown = Object.keys(group).filter((member) => member !== 'title' && member !== 'fields');
    return [
      ...unknown.map((member): Fault => ({ pointer: at + pointerTo([member]), code: 'unknown' })),
      ...('title' in group ? faultsOfText(group['title'], `${at}/title`, maximumTitle) : []),
      ...('fields' in group
        ? list(group['fields'], `${at}/fields`, maximum.rows, (row, place) =>
            Array.isArray(row) ? list(row, place, maximum.fields, name) : name(row, place),
          )
        : [{ pointer: `${at}/fields`, code: 'required' as const }]),
    ];
  });
}

/** The faults of the names in `x-form`: fields that the type lacks, and fields that it names twice. */
export function faultsOfFormFields(document: Schema, types: FieldTypes): Fault[] {
  const seen = new Set<string>();
  return namesIn(document).flatMap(({ name, place }): Fault[] => {
    const pointer = pointerTo(place);
    const found = readField(name, types);
    if ('code' in found) return [{ pointer, ...found }];
    if (types.declares?.(found.field) === false) return [{ pointer, ...unknownField(name) }];
    if (seen.has(name)) return [{ pointer, code: 'repeated' }];
    seen.add(name);
    return [];
  });
}

function namesIn(document: Schema): { name: string; place: (string | number)[] }[] {
  return groupsIn(document).flatMap(({ fields }, group) =>
    fields.flatMap((row, at) =>
      (Array.isArray(row) ? row : [row]).map((name, index) => ({
        name,
        place: [formKeyword, group, 'fields', at, ...(Array.isArray(row) ? [index] : [])],
      })),
    ),
  );
}

interface WrittenGroup {
  title?: unknown;
  fields: (string | string[])[];
}

/** The groups of a document that {@link faultsOfGroups} has accepted. */
const groupsIn = (document: Schema): WrittenGroup[] => (document[formKeyword] ?? []) as WrittenGroup[];

/** The form with the fields that `isShown` leaves; without groups that have none. */
export function formFor(languages: Languages, document: Schema, isShown: (name: string) => boolean): Schemas['FormGroup'][] {
  return groupsIn(document).flatMap(({ title, fields }) => {
    const rows = fields.map((row) => (Array.isArray(row) ? row : [row]).filter(isShown)).filter((row) => row.length > 0);
    const heading = textFor(languages, title, undefined);
    return rows.length === 0 ? [] : [{ ...(heading !== undefined && { title: heading }), rows }];
  });
}

/** The faults of `x-zone`: a name of the IANA database that this process knows. Whether PostgreSQL knows it too, the requirements of the change find. */
export function faultsOfZone(value: unknown, pointer: string): Fault[] {
  if (typeof value !== 'string') return [{ pointer, code: 'invalid-type', values: { allowed: 'string' } }];
  return isTimeZone(value) ? [] : [{ pointer, code: 'invalid-value', values: { allowed: 'Europe/Berlin' } }];
}
