/** The fields that a change of a type hides from callers or shows to them, and the numbers of grants and people. */
import { sql, type Kysely } from 'kysely';
import type { Database } from '../database/tables.ts';
import { pointerTo } from '../problems/pointer.ts';
import { allFields, hasField, noFields, readFieldSet, type FieldSet } from '../rights/field-set.ts';
import type { RuleDocument } from '../rights/rule.ts';
import type { Action } from '../rights/vocabulary.ts';
import { sensitiveFields } from './document.ts';
import { isSchemaObject, type Schema } from './subschemas.ts';

/** A field whose place in `*` changes. `added` is one that the type has not had, and that is not sensitive. */
export interface FieldChange {
  field: string;
  kind: 'sensitive' | 'not-sensitive' | 'added';
}

/** The grants whose lists lose or gain the field, and the people whose profiles have these grants. */
export interface FieldAccess {
  /** Into the new document, or where that has nothing, into the old one. */
  pointer: string;
  change: 'lost' | 'gained';
  grants: number;
  people: number;
  /** The names of the profiles of these people, in order. */
  profiles: string[];
}

const propertiesOf = ({ properties }: Schema): Schema => (isSchemaObject(properties) ? properties : {});

/** The fields in the order of the documents, those of the new one first. */
export function fieldChanges(old: Schema | undefined, now: Schema): FieldChange[] {
  const [before, after] = [sensitiveFields(old ?? {}), sensitiveFields(now)];
  const isAdded = (field: string) => old !== undefined && !after.has(field) && !Object.hasOwn(propertiesOf(old), field);
  return [
    ...Object.keys(propertiesOf(now)).flatMap((field): FieldChange[] => {
      if (after.has(field)) return before.has(field) ? [] : [{ field, kind: 'sensitive' }];
      return isAdded(field) ? [{ field, kind: 'added' }] : [];
    }),
    ...[...before].filter((field) => !after.has(field)).map((field) => ({ field, kind: 'not-sensitive' as const })),
  ];
}

interface FieldGrant {
  action: Action;
  role: string;
  /** Undefined for a grant without a rule. */
  document: RuleDocument | undefined;
}

/** A list of fields of a grant. */
interface GrantedList {
  grant: FieldGrant;
  member: 'read' | 'write';
  fields: FieldSet;
}

/** The grants and people that lose or gain each of the fields of the entities called `name`. */
export async function fieldAccess(db: Kysely<Database>, name: string, changes: readonly FieldChange[]): Promise<FieldAccess[]> {
  if (changes.length === 0) return [];
  const lists = (await grantsOn(db, name)).flatMap(listsOf);
  const found: FieldAccess[] = [];
  for (const { field, kind } of changes) {
    const changed = lists.filter(({ fields }) => isOfPlainFields(fields, field));
    // In each row of a role with such a list the field is there before and afterwards.
    const unchanged = lists.filter(({ grant, fields }) => grant.document?.filter === undefined && isNamed(fields, field));
    found.push({
      pointer: pointerTo(['properties', field]),
      change: kind === 'sensitive' ? 'lost' : 'gained',
      grants: new Set(changed.map(({ grant }) => grant)).size,
      ...(await peopleOf(db, changed, unchanged)),
    });
  }
  return found;
}

/** Whether the list has the field by `*` alone. */
const isOfPlainFields = (fields: FieldSet, field: string) =>
  hasField(fields, field, new Set()) && !hasField(fields, field, new Set([field]));

const isNamed = (fields: FieldSet, field: string) => hasField(fields, field, new Set([field]));

async function grantsOn(db: Kysely<Database>, name: string): Promise<FieldGrant[]> {
  const rows = await db
    .selectFrom('role_grant')
    .leftJoin('grant_rule', 'digest', 'condition')
    .where('entity', 'in', [name, '*'])
    .where('action', 'in', ['create', 'read', 'update'])
    .select(['action', 'role_id as role', 'document'])
    .execute();
  return rows.map(({ action, role, document }) => ({ action, role, document: document ?? undefined }));
}

function listsOf(grant: FieldGrant): GrantedList[] {
  const { action, document = {} } = grant;
  const setOf = (list: readonly string[] | undefined, otherwise: FieldSet) => (list === undefined ? otherwise : readFieldSet(list));
  const read: GrantedList = { grant, member: 'read', fields: setOf(document.read, action === 'read' ? allFields : noFields) };
  return action === 'read' ? [read] : [read, { grant, member: 'write', fields: setOf(document.write, allFields) }];
}

/** The people whose profile has a changed list, and no unchanged one for the same action. */
async function peopleOf(
  db: Kysely<Database>,
  changed: readonly GrantedList[],
  unchanged: readonly GrantedList[],
): Promise<Pick<FieldAccess, 'people' | 'profiles'>> {
  const placeOf = ({ grant: { role, action }, member }: GrantedList) => ({ role, place: `${action} ${member}` });
  const { rows } = await sql<{ people: number; profiles: string[] }>`
    with changed as (select * from jsonb_to_recordset(${JSON.stringify(changed.map(placeOf))}::jsonb) as changed (role bigint, place text)),
    unchanged as (select * from jsonb_to_recordset(${JSON.stringify(unchanged.map(placeOf))}::jsonb) as unchanged (role bigint, place text)),
    concerned as (
      select distinct profile_id from profile_role join changed on role = role_id where not exists (
        select from profile_role as other join unchanged on unchanged.role = other.role_id
        where other.profile_id = profile_role.profile_id and unchanged.place = changed.place))
    select (select count(distinct user_id)::int from user_profile join concerned using (profile_id)) as people,
      array(select name from profile join concerned on profile_id = id order by name) as profiles`.execute(db);
  return rows[0] ?? { people: 0, profiles: [] };
}
