/** What the document of a type needs of the database: other types, collations, a time zone, and an extension. */
import { sql, type Kysely } from 'kysely';
import { findTimeZone } from '../accounts/time-zones.ts';
import { isTextIndexRule, type RuleKeywords } from '../entities/companion/rule-layout.ts';
import { createTrigrams, mayHaveTrigrams } from '../entities/companion/trigrams.ts';
import type { Database } from '../database/tables.ts';
import { Problem } from '../problems/errors.ts';
import type { Fault } from '../problems/faults.ts';
import { pointerTo } from '../problems/pointer.ts';
import { zoneKeyword } from './keywords/form.ts';
import type { TypeChange } from './plan.ts';
import { faultsOfReferences } from './references.ts';
import type { Schema } from './subschemas.ts';

/**
 * The faults of its references, as {@link faultsOfReferences}, and of indexes that the database cannot have: 422 `not-supported`, with
 * what an operator has to run.
 */
export async function faultsOfRequirements(
  db: Kysely<Database>,
  change: TypeChange,
  planned?: ReadonlyMap<string, Schema | null>,
): Promise<Fault[]> {
  const { 'x-index': indexes = [], 'x-collation': collations = {} }: RuleKeywords = change.document ?? {};
  const at = indexes.findIndex((rule) => isTextIndexRule(rule) && rule.substring);
  const faults = [
    ...(await faultsOfReferences(db, change, planned)),
    ...(await faultsOfCollations(db, collations)),
    ...(await faultsOfTimeZone(db, change.document?.[zoneKeyword])),
  ];
  if (at === -1 || (await mayHaveTrigrams(db))) return faults;
  return [...faults, { pointer: `/x-index/${at}`, code: 'not-supported', values: { statement: createTrigrams } }];
}

/** The faults of languages of which the database has no order: PostgreSQL has those of its ICU library. */
async function faultsOfCollations(db: Kysely<Database>, collations: Readonly<Record<string, string>>): Promise<Fault[]> {
  const languages = [...new Set(Object.values(collations))];
  if (languages.length === 0) return [];
  const { rows } = await sql<{ language: string }>`
    select regexp_replace(collname, '-x-icu$', '') as language from pg_collation
    where collprovider = 'i' and collnamespace = 'pg_catalog'::regnamespace and collname = any(${languages.map((each) => `${each}-x-icu`)}::name[])`.execute(
    db,
  );
  const known = new Set(rows.map(({ language }) => language));
  return Object.entries(collations).flatMap(([name, language]) =>
    known.has(language) ? [] : [{ pointer: pointerTo(['x-collation', name]), code: 'not-supported' as const }],
  );
}

/** The fault of a time zone that PostgreSQL does not know by this name, since both have to find the same day. */
async function faultsOfTimeZone(db: Kysely<Database>, zone: unknown): Promise<Fault[]> {
  if (typeof zone !== 'string' || (await findTimeZone(db, zone)) === zone) return [];
  return [{ pointer: `/${zoneKeyword}`, code: 'invalid-value', values: { allowed: 'Europe/Berlin' } }];
}

/** Throws 422 `validation-failed` with the {@link faultsOfRequirements}. */
export async function assertRequirements(db: Kysely<Database>, change: TypeChange): Promise<void> {
  const faults = await faultsOfRequirements(db, change);
  if (faults.length > 0) throw new Problem('validation-failed', { faults });
}
