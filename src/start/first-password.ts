/**
 * How the operator gets the generated password of the first administrator: in the terminal or, in production without one, in a file that only
 * this process's user may read. A service manager stores what a process prints (rule 84).
 */
import { createHash } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Config } from '../config/settings.ts';
import { isPasswordFile, prepareDataDir } from '../embedded/cluster.ts';
import { syncDirectory, writeSynced } from '../embedded/synced.ts';
import type { FirstAdministrator } from '../administration/first-administrator.ts';

const fileName = 'first-password';
/** Characters of the database in the name of a file; a digest of all follows. */
const maximumReadable = 100;

/** The first administrator that this start has made. `file` has the password if it must not be printed. */
export interface MadeAdministrator extends FirstAdministrator {
  file: string | undefined;
}

/** The directory for the file of the password; undefined if it is printed, because there is a terminal or this is no production. */
export function passwordDirectoryFor({ production, dataDir }: Config): string | undefined {
  return production && !process.stderr.isTTY ? resolve(dataDir) : undefined;
}

/**
 * Writes the password to a new file with mode 0600, whose path it returns. If there is one, which may be of another database, the name of the new file ends
 * with that of this `database`. The directory is closed to other users before. Throws an Error with one line for a person, also when another user could
 * replace the directory.
 */
export async function writePassword(directory: string, password: string, database: string): Promise<string> {
  try {
    const { dataDir } = await prepareDataDir(directory);
    const name = await writeNewFile(dataDir, `${password}\n`, database);
    await syncDirectory(dataDir);
    return join(directory, name);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(
      `the first password cannot be stored in DATA_DIR (${reason}): set DATA_DIR to a directory of this user, or set ADMIN_PASSWORD`,
      {
        cause,
      },
    );
  }
}

/** Returns the name of the file. */
async function writeNewFile(directory: string, text: string, database: string): Promise<string> {
  try {
    await writeSynced(join(directory, fileName), text);
    return fileName;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const readable = database.replaceAll(/[^\w.-]+/g, '-').slice(0, maximumReadable);
  const digest = createHash('sha256').update(database).digest('hex').slice(0, 8);
  const name = `${fileName}-${readable}-${digest}`;
  // One of this database is out of date, because the database has no user.
  await rm(join(directory, name), { force: true });
  await writeSynced(join(directory, name), text);
  return name;
}

/** The file of a first password, if the operator has not deleted it yet. */
export async function leftPasswordFile({ dataDir }: Config): Promise<string | undefined> {
  const directory = resolve(dataDir);
  const name = (await readdir(directory).catch((): string[] => [])).toSorted().find(isPasswordFile);
  return name === undefined ? undefined : join(directory, name);
}

/** The text for the operator. */
export function firstAdministratorText({ name, password, file }: MadeAdministrator): string {
  if (file === undefined) {
    return `
  The first administrator has been created. The password is shown this once:

    user      ${name}
    password  ${password}
`;
  }
  return `
  The first administrator has been created. The password is in a file that only this user may read:

    user      ${name}
    file      ${file}

  Sign in, change the password, and delete the file.
`;
}
