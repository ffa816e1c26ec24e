/**
 * How the operator gets the generated password of the first administrator: in the terminal or, in production without one, in a file that only
 * this process's user may read. A service manager stores what a process prints (rule 84).
 */
import { access, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Config } from '../config/settings.ts';
import { prepareDataDir } from '../database/embedded/cluster.ts';
import { syncDirectory, writeSynced } from '../database/embedded/synced.ts';
import type { FirstAdministrator } from '../administration/first-administrator.ts';

const fileName = 'first-password';

/** The first administrator that this start has made. `file` has the password if it must not be printed. */
export interface MadeAdministrator extends FirstAdministrator {
  file: string | undefined;
}

/** The file for the password; undefined if it is printed, because there is a terminal or this is no production. */
export function passwordFileFor({ production, dataDir }: Config): string | undefined {
  return production && !process.stderr.isTTY ? join(resolve(dataDir), fileName) : undefined;
}

/**
 * Writes the password to a new file with mode 0600, in place of an older one. The directory is closed to other users before. Throws an Error
 * with one line for a person, also when another user could replace the directory.
 */
export async function writePassword(file: string, password: string): Promise<void> {
  try {
    const { dataDir } = await prepareDataDir(dirname(file));
    await rm(join(dataDir, fileName), { force: true });
    await writeSynced(join(dataDir, fileName), `${password}\n`);
    await syncDirectory(dataDir);
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

/** The file of the first password, if the operator has not deleted it yet. */
export async function leftPasswordFile({ dataDir }: Config): Promise<string | undefined> {
  const file = join(resolve(dataDir), fileName);
  return await access(file).then(
    () => file,
    () => undefined,
  );
}

/** What the operator reads. */
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
