/** What the document of a type needs of the database: other types, and an extension. */
import type { Kysely } from 'kysely';
import { isSubstringRule, type RuleKeywords } from '../companion/rules.ts';
import { createTrigrams, mayHaveTrigrams } from '../companion/trigrams.ts';
import type { Database } from '../database/tables.ts';
import { Problem } from '../errors.ts';
import type { Fault } from '../faults.ts';
import type { TypeChange } from './plan.ts';
import { faultsOfReferences } from './references.ts';
import type { Schema } from './subschemas.ts';

/** The faults of its references, as {@link faultsOfReferences}, and of indexes that the database cannot have: 422 `not-supported`, with what an operator has to run. */
export async function faultsOfRequirements(
  db: Kysely<Database>,
  change: TypeChange,
  planned?: ReadonlyMap<string, Schema | null>,
): Promise<Fault[]> {
  const { 'x-index': indexes = [] }: RuleKeywords = change.document ?? {};
  const at = indexes.findIndex(isSubstringRule);
  const faults = await faultsOfReferences(db, change, planned);
  if (at === -1 || (await mayHaveTrigrams(db))) return faults;
  return [...faults, { pointer: `/x-index/${at}`, code: 'not-supported', values: { statement: createTrigrams } }];
}

/** Throws 422 `validation-failed` with the {@link faultsOfRequirements}. */
export async function assertRequirements(db: Kysely<Database>, change: TypeChange): Promise<void> {
  const faults = await faultsOfRequirements(db, change);
  if (faults.length > 0) throw new Problem('validation-failed', { faults });
}
