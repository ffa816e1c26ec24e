/**
 * The name of a database in the files that it exports, so that an import elsewhere does not take its keys for those of other entities (decision 278). Copies
 * and restored backups have the same keys, and the same name.
 */
import { createHmac } from 'node:crypto';
import { secretNamed, type SecretValues } from '../database/service-secrets.ts';

/** The present name: `db` and 16 hexadecimal digits. It tells nothing of the key that it is made with. */
export function databaseNameOf(secrets: SecretValues): string {
  return nameBy(secretNamed(secrets, 'cursor'));
}

/** Whether a file with this name comes from another database. The name from before the last rotation of the keys of the service counts too. */
export function isOtherDatabase(name: string, secrets: SecretValues): boolean {
  const before = secrets.get('cursor-before');
  return name !== databaseNameOf(secrets) && !(before && name === nameBy(before));
}

const nameBy = (key: Buffer): string => `db${createHmac('sha256', key).update('database of an export').digest('hex').slice(0, 16)}`;
