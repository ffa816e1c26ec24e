/** The checks of `doctor` that concern the companion tables of entity types. */
import type { Store } from '../database/port.ts';
import { foreignTablesAdvice, listForeignTables } from '../entities/companion/table.ts';
import { verifyCompanion } from '../entities/companion/verify.ts';
import { listOutdatedTypes } from '../entity-types/companion-build.ts';
import { listBuilds, listCompanions, listDocuments, listTypes } from '../entity-types/store.ts';
import { DocumentChecks } from '../entity-types/proof.ts';
import { faultOfStored } from '../entity-types/stored-type.ts';
import { uncheckedTypeRisk } from '../start/risks.ts';
import { failedCheck, okCheck, warningCheck, type CheckFinding } from './check.ts';

/** Entities of each type whose rows are compared unless all are. */
const sampledEntities = 1_000;

/** Whether each type in force has its indexes. */
export async function checkBuilds({ db }: Store): Promise<CheckFinding> {
  const builds = await listBuilds(db);
  return builds.length === 0
    ? okCheck('no type is being built')
    : warningCheck(
        `${builds.join(', ')}: being built, or a build was interrupted. Apply the type again to go on; otherwise the service undoes it within ten minutes`,
      );
}

/** Whether the service can check the fields of each type. */
export async function checkTypes({ db }: Store): Promise<CheckFinding> {
  const types = await listTypes(db);
  const documents = await listDocuments(db);
  const checks = new DocumentChecks();
  const risks: string[] = [];
  for (const { name, source } of types) {
    const document = documents.get(name);
    const fault = document && (await faultOfStored(document, source, checks));
    if (fault) risks.push(uncheckedTypeRisk(name, fault));
  }
  return risks.length > 0 ? failedCheck(risks.join('; ')) : okCheck(`fields can be checked against each of ${types.length} types`);
}

/** Whether this version would build the companion tables as they are. */
export async function checkLayouts({ db }: Store): Promise<CheckFinding> {
  const outdated = await listOutdatedTypes(db);
  return outdated.length === 0
    ? okCheck('the indexed values of each type are built as this version builds them')
    : warningCheck(`${outdated.join(', ')}: an earlier version built the indexed values. Run "types rebuild"`);
}

/** Whether the companion tables have the values of the entities. */
export async function checkCompanions(store: Store, all: boolean): Promise<CheckFinding> {
  const foreign = await listForeignTables(store.db);
  if (foreign.length > 0) return failedCheck(foreignTablesAdvice(foreign));
  const problems: string[] = [];
  const damaged: string[] = [];
  let compared = 0;
  const companions = (await listCompanions(store.db)).filter(({ companion }) => companion.state === 'ready');
  for (const { name, companion } of companions) {
    const found = await store.runLong((db) => verifyCompanion(db, name, companion, all ? undefined : sampledEntities));
    compared += found.compared;
    if (found.rows !== found.entities) problems.push(`${name} has ${found.entities} entities and ${found.rows} rows`);
    const keys = found.different.slice(0, 10).join(', ');
    if (found.different.length > 0) problems.push(`${name}: the rows of ${found.different.length} entities differ, as of ${keys}`);
    if (found.rows !== found.entities || found.different.length > 0) damaged.push(name);
  }
  if (problems.length > 0)
    return failedCheck(
      `${problems.join('; ')}. Run "types rebuild ${damaged.join(' ')} --all-rows". If that does not help, export the type, delete it, and apply it again`,
    );
  const tables = companions.length === 1 ? '1 table agrees' : `${companions.length} tables agree`;
  return okCheck(`${tables} with the entities, compared: ${compared}${all ? '' : '; --all compares all'}`);
}
