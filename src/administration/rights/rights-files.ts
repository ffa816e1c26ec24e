/** The files of RIGHTS_DIR: applied to a database that has none of their documents, and compared with the rights in force from then on. */
import type { Kysely } from 'kysely';
import { typeFiles } from '../../audit/actor.ts';
import { ConfigError, type Config } from '../../config/settings.ts';
import type { Store } from '../../database/port.ts';
import type { Database } from '../../database/tables.ts';
import type { DeclaredTypes } from '../../rights/attribute-types.ts';
import { applyRightsWithin, isAllNew, type AppliedRights } from './apply.ts';
import { RefusedRights } from './check.ts';
import { driftFromFiles, stepsToFiles } from './drift.ts';
import type { RightsPlanRequest } from './plan.ts';
import { problemsOf, readRightsDirectory } from './read-directory.ts';
import { assertServedGrants } from './slow-grants.ts';

const label = 'RIGHTS_DIR';

export interface DriftLog {
  info(members: object, text: string): void;
  warn(members: object, text: string): void;
}

/** Opens RIGHTS_DIR; undefined without the setting. Throws {@link ConfigError} for files that are no rights, and for rights that cannot be put in force. */
export async function openRightsFiles(
  { rightsDir }: Pick<Config, 'rightsDir'>,
  { store, claims, log }: { store: Store; claims: DeclaredTypes; log: () => DriftLog | undefined },
): Promise<RightsFilesWatch | undefined> {
  if (rightsDir === undefined) return undefined;
  const files = await readRightsDirectory(rightsDir, label);
  const applied = await applyNewFiles(store, { files, claims, prune: false }).catch((error: unknown) => {
    throw error instanceof RefusedRights ? new ConfigError(problemsOf(error, files, label)) : error;
  });
  if (applied.isApplied) log()?.info({ event: 'rights.applied', digest: applied.plan.digest }, 'the rights of RIGHTS_DIR are in force');
  const watch = new RightsFilesWatch(store.db, rightsDir, log);
  await watch.compare();
  return watch;
}

/** Applies the files if none of their documents is in force. Rights that are in force are not judged. */
async function applyNewFiles(store: Store, request: RightsPlanRequest): Promise<AppliedRights> {
  if (isAllNew(await stepsToFiles(store.db, request.files), request.files)) await assertServedGrants(store, request);
  return await store.transaction((trx) => applyRightsWithin(trx, typeFiles, { ...request, confirm: undefined, onlyNew: true }));
}

export class RightsFilesWatch {
  readonly #db: Kysely<Database>;
  readonly #directory: string;
  readonly #log: () => DriftLog | undefined;
  #documents: readonly string[] = [];

  constructor(db: Kysely<Database>, directory: string, log: () => DriftLog | undefined) {
    this.#db = db;
    this.#directory = directory;
    this.#log = log;
  }

  /** Documents of files that were not in force as they are at the last comparison. */
  get differences(): number {
    return this.#documents.length;
  }

  /** Compares the files as they are now with the rights in force. The log has a line when other documents differ than before. */
  async compare(): Promise<void> {
    const { differences } = await driftFromFiles(this.#db, await readRightsDirectory(this.#directory, label));
    const documents = differences.map(({ path }) => path);
    if (documents.join() === this.#documents.join()) return;
    this.#documents = documents;
    if (documents.length > 0)
      this.#log()?.warn(
        { event: 'rights.drift', documents },
        'rights are not in force as RIGHTS_DIR has them: run "rights plan" and "rights apply"',
      );
    else this.#log()?.info({ event: 'rights.drift', documents }, 'the rights are in force as RIGHTS_DIR has them');
  }
}
