/** How the rights in force differ from those of files. */
import type { Kysely } from 'kysely';
import type { Database } from '../../database/tables.ts';
import type { RightsDocuments } from '../../rights/documents.ts';
import { pathsWithoutFile, rightsBehind, stepsBetween, type RightsStep } from '../../rights/plan.ts';
import { readRightsInForce } from './in-force.ts';

export interface RightsDrift {
  /** The documents of files that are not in force, or not as their files have them. */
  differences: { path: string; isMissing: boolean }[];
  /** The documents in force that no file has, which are no difference. */
  withoutFile: string[];
}

/** The steps from the rights in force to those of files, without deletions. */
export async function stepsToFiles(db: Kysely<Database>, files: RightsDocuments): Promise<RightsStep[]> {
  const inForce = await readRightsInForce(db);
  return stepsBetween(inForce, rightsBehind(inForce, files, {}));
}

export async function driftFromFiles(db: Kysely<Database>, files: RightsDocuments): Promise<RightsDrift> {
  const inForce = await readRightsInForce(db);
  const steps = stepsBetween(inForce, rightsBehind(inForce, files, {}));
  return {
    differences: steps.map(({ kind, path }) => ({ path, isMissing: kind === 'create' })),
    withoutFile: pathsWithoutFile(inForce, files),
  };
}
