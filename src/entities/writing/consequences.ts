/** Deletes or changes locked entities that refer to a deleted one, in statements of bounded size. */
import type { Kysely } from 'kysely';
import type { Companion, CompanionReference, CompanionValues } from '../companion/layout.ts';
import { companionValues } from '../companion/values.ts';
import type { Database } from '../../database/tables.ts';
import type { EntityType, EntityTypes } from '../../entity-types/types.ts';
import { Problem } from '../../problems/errors.ts';
import { parseJson } from '../../json/parse-json.ts';
import type { ChangeValues } from './changed.ts';
import type { Referrer } from './referrers.ts';
import { clearReferences, deleteEntities, fieldsWithout, type Deleted } from './removal-statements.ts';
import { StillReferencedError } from './still-referenced.ts';

/** Entities of more bytes are not changed by one statement. */
const maximumBytes = 4_194_304;
const maximumRows = 200;

/** An entity that is locked. */
export interface Victim {
  key: string;
  /** Of its fields as JSON. */
  bytes: number;
}

/** Deletes entities of one name. */
export async function deleteVictims(
  trx: Kysely<Database>,
  deleted: Deleted,
  victims: readonly Victim[],
  change: ChangeValues,
): Promise<void> {
  const rest = [...victims];
  while (rest.length > 0) await deleteEntities(deleted, nextBatch(rest), change).execute(trx);
}

/** Puts null in place of a reference. Throws a {@link StillReferencedError} if an entity would not fit its type. */
export async function clearVictims(
  trx: Kysely<Database>,
  types: EntityTypes,
  { referrer, reference, victims }: { referrer: Referrer; reference: CompanionReference; victims: readonly Victim[] },
  change: ChangeValues,
): Promise<void> {
  const { name, revision, companion } = referrer;
  const path = companion.columns.find((column) => column.name === reference.column)?.field ?? [];
  const type = await types.at(name, revision);
  const rest = [...victims];
  while (rest.length > 0) {
    const { rows } = await fieldsWithout(name, path, nextBatch(rest)).execute(trx);
    const values = rows.map(({ key, fields }) => ({ key, values: checked(name, type, companion, key, parseJson(fields)) }));
    await clearReferences(name, companion, path, values, change).execute(trx);
  }
}

function checked(name: string, type: EntityType | undefined, companion: Companion, key: string, fields: unknown): CompanionValues {
  try {
    type?.check(fields);
    return companionValues(companion, fields);
  } catch (error) {
    if (error instanceof Problem) throw new StillReferencedError(new Map([[name, new Set([key])]]), 'restrict');
    throw error;
  }
}

/** Takes entities from the front of `victims`: at least one, at most 200, and others only up to 4 MiB. */
function nextBatch(victims: Victim[]): string[] {
  let bytes = 0;
  const end = victims.findIndex((victim, index) => (bytes += victim.bytes) > maximumBytes && index > 0);
  return victims.splice(0, Math.min(end === -1 ? victims.length : end, maximumRows)).map(({ key }) => key);
}
