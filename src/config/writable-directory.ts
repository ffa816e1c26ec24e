/** The check of the directories into which the service writes copies of its data: BACKUP_DIR and ARCHIVE_DIR. */
import { access, stat } from 'node:fs/promises';
import { diskFailure } from './disk-failure.ts';
import { ConfigError } from './settings.ts';

/** Throws ConfigError if the directory of the setting is missing, or this process has not the access of `mode`, a sum of constants of `node:fs`. */
export async function assertWritableDirectory(setting: 'ARCHIVE_DIR' | 'BACKUP_DIR', directory: string, mode: number): Promise<void> {
  const refuse = (reason: string): never => {
    throw new ConfigError([`${setting}: ${directory} cannot be written: ${reason}. Name a directory of the user of the service`]);
  };
  const isDirectory = await stat(directory).then(
    (found) => found.isDirectory(),
    (error: unknown) => {
      // It may be there, below a directory that this user may not enter.
      const reason = diskFailure(error);
      return reason === undefined ? false : refuse(reason);
    },
  );
  if (!isDirectory) throw new ConfigError([`${setting}: there is no directory ${directory}: create it for the user of the service`]);
  await access(directory, mode).catch((error: unknown) => refuse(diskFailure(error) ?? String(error)));
}
