/** The check of `doctor` that concerns the secrets which the service gets from outside. `peppers` is a check of its own. */
import { readFile, stat } from 'node:fs/promises';
import { passwordFile } from '../config/database-address.ts';
import type { Config } from '../config/settings.ts';
import { fail, ok, warn, type Finding } from './check.ts';

const readableByAll = 0o004;

/** Which secrets are in use and from where, without their values; whether the files of database passwords can be used. */
export async function checkSecrets({ databaseUrl, databaseDirectUrl, metricsToken }: Config): Promise<Finding> {
  const found: string[] = [];
  for (const [name, url] of Object.entries({ DATABASE_URL: databaseUrl, DATABASE_DIRECT_URL: databaseDirectUrl })) {
    if (url === undefined) continue;
    const file = passwordFile(url.reveal());
    if (file === undefined) {
      found.push(`${name}: ${new URL(url.reveal()).password === '' ? 'no password' : 'its password, which a restart changes'}`);
      continue;
    }
    const text = await readFile(file, 'utf8').catch((error: Error) => error);
    if (typeof text !== 'string') return fail(`the password_file of ${name} cannot be read: ${text.message}`);
    if (text.trim() === '') return fail(`${file}, the password_file of ${name}, is empty`);
    if (((await stat(file)).mode & readableByAll) !== 0) return warn(`every user of this machine can read ${file}: chmod o-r`);
    found.push(`${name}: ${file}, which each connection reads`);
  }
  found.push(`METRICS_TOKEN: ${metricsToken === undefined ? 'not set' : 'set'}`);
  return ok(found.join('; '));
}
