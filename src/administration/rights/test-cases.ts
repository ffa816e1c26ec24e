/** Runs the cases of files in a scratch database. The database of the command is only read. */
import type { Kysely } from 'kysely';
import type { Database } from '../../database/tables.ts';
import { listDocuments } from '../../entity-types/store.ts';
import { faultsOfValue } from '../../rights/attribute-types.ts';
import { readCases, type RightsCase } from '../../rights/cases.ts';
import type { RightsDocuments } from '../../rights/documents.ts';
import type { Members } from '../../rights/file-faults.ts';
import { Problem } from '../../problems/errors.ts';
import { pointerTo } from '../../problems/pointer.ts';
import { normaliseUserName } from '../../user-name.ts';
import { RefusedRights, type DocumentFault } from './check.ts';
import { planRights, type RightsPlanRequest } from './plan.ts';
import type { RightsFiles } from './read-directory.ts';
import { failureOfCase } from './run-case.ts';
import { declaredTypes } from './scope.ts';
import { openScratch } from './scratch.ts';

export interface CaseResult {
  file: string;
  name: string;
  /** Why the case fails; null if it holds. */
  failure: string | null;
}

export interface TestRightsRequest extends RightsPlanRequest {
  files: RightsFiles;
  /** A server whose role may make databases; undefined for an embedded one. */
  scratchUrl: string | undefined;
}

interface ReadyCase {
  file: string;
  each: RightsCase;
  attributes: Members;
}

/** Throws `RefusedRights` for rights that cannot be put in force, and for cases with a fault, such as one that cannot fail. */
export async function testRights(db: Kysely<Database>, { scratchUrl, ...request }: TestRightsRequest): Promise<CaseResult[]> {
  const { after } = await planRights(db, request);
  const cases = await readyCases(db, request.files, after);
  if (cases.length === 0) return [];
  const types = [...(await listDocuments(db))].map(([name, document]) => ({ name, document, source: 'command' as const }));
  await using scratch = await openScratch(scratchUrl, { types, rights: after, claims: request.claims });
  const results: CaseResult[] = [];
  for (const { file, each, attributes } of cases) {
    const failure = await scratch.onCopy((store) => failureOfCase(store, each, attributes));
    results.push({ file, name: each.name, failure: failure ?? null });
  }
  return results;
}

async function readyCases(db: Kysely<Database>, files: RightsFiles, after: RightsDocuments): Promise<ReadyCase[]> {
  const faults: DocumentFault[] = [];
  const ready: ReadyCase[] = [];
  for (const [file, value] of files.cases) {
    const read = readCases(value);
    if ('faults' in read) faults.push(...read.faults.map((fault) => ({ path: file, fault })));
    else
      for (const [index, each] of read.document.entries()) {
        const refuse = (found: DocumentFault['fault'][]) => faults.push(...found.map((fault) => ({ path: file, fault })));
        if (!after.profiles.has(each.profile))
          refuse([{ code: 'absent', pointer: pointerTo([index, 'profile']), values: { profile: each.profile } }]);
        const attributes = each.user.attributes ?? (await attributesOf(db, each.user.name));
        if (!attributes) refuse([{ code: 'absent', pointer: pointerTo([index, 'user']), values: { user: each.user.name } }]);
        else {
          refuse(faultsOfAttributes(attributes, after, index));
          ready.push({ file, each, attributes });
        }
      }
  }
  if (faults.length > 0) throw new RefusedRights(faults);
  return ready;
}

async function attributesOf(db: Kysely<Database>, name: string): Promise<Members | undefined> {
  const row = await db
    .selectFrom('user_account')
    .where('name', '=', normaliseUserName(name) ?? name)
    .select('attributes')
    .executeTakeFirst();
  return row?.attributes;
}

/** A misspelt attribute would be a missing one, and the case would test nothing. */
function faultsOfAttributes(attributes: Members, { attributes: { user } }: RightsDocuments, index: number): DocumentFault['fault'][] {
  const declared = declaredTypes(user);
  return Object.entries(attributes).flatMap(([name, value]) => {
    const pointer = pointerTo([index, 'user', 'attributes', name]);
    const type = declared.get(name);
    if (!type) return [{ code: 'unknown' as const, pointer }];
    return new Problem('validation-failed', { faults: faultsOfValue(type, value) }).under(pointer).faults.slice();
  });
}
