/** The checks of `doctor` that concern secrets: those which the service gets from outside, and its keys in the database. `peppers` is a check of its own. */
import { readFile, stat } from 'node:fs/promises';
import type { Kysely } from 'kysely';
import { passwordFile } from '../config/database-address.ts';
import { databaseUrls } from '../config/database-settings.ts';
import { openMetricsTokens } from '../config/metrics-tokens.ts';
import type { Secret } from '../config/secrets.ts';
import type { Config } from '../config/settings.ts';
import type { Issuer } from '../oidc/issuers-file/read.ts';
import type { ServiceSecretName } from '../database/service-secrets.ts';
import type { Database } from '../database/tables.ts';
import { failedCheck, okCheck, warningCheck, type CheckFinding } from './check.ts';

const readableByAll = 0o004;

/** Which secrets are in use, from where and since when, without their values; whether their files can be used. `issuers` have been read. */
export async function checkSecrets(config: Config, issuers: readonly Issuer[]): Promise<CheckFinding> {
  const { passwordPepperFile, metricsToken, metricsTokenFile } = config;
  const found: string[] = [];
  const files = [passwordPepperFile, metricsTokenFile, ...issuers.map(({ clientSecretFile }) => clientSecretFile)];
  for (const [name, url] of databaseUrls(config)) {
    const file = passwordFile(url.reveal());
    if (file === undefined) found.push(`${name}: ${passwordIn(url)}`);
    else {
      const text = await readFile(file, 'utf8').catch((error: Error) => error);
      if (typeof text !== 'string') return failedCheck(`the password_file of ${name} cannot be read: ${text.message}`);
      if (text.trim() === '') return failedCheck(`${file}, the password_file of ${name}, is empty`);
      found.push(`${name}: ${await changeOf(file)}, read by each connection`);
      files.push(file);
    }
  }
  if (passwordPepperFile !== undefined) found.push(`PASSWORD_PEPPER_FILE: ${await changeOf(passwordPepperFile)}`);
  if (metricsTokenFile === undefined) found.push(`METRICS_TOKEN: ${metricsToken === undefined ? 'not set' : 'set'}`);
  else {
    const tokens = await openMetricsTokens(config);
    found.push(`METRICS_TOKEN_FILE: ${await changeOf(metricsTokenFile)}, valid tokens: ${tokens?.current.length}`);
  }
  for (const { id, clientSecret, clientSecretFile } of issuers) {
    if (clientSecretFile !== undefined) found.push(`client secret of ${id}: ${await changeOf(clientSecretFile)}`);
    else if (clientSecret !== undefined) found.push(`client secret of ${id}: from the environment`);
  }
  for (const file of files) {
    if (file !== undefined && ((await stat(file)).mode & readableByAll) !== 0)
      return warningCheck(`every user of this machine can read ${file}: chmod o-r`);
  }
  return okCheck(found.join('; '));
}

const passwordIn = (url: Secret): string =>
  new URL(url.reveal()).password === '' ? 'no password' : 'its password, which a restart changes';

/** The file with the day of its last change. */
async function changeOf(file: string): Promise<string> {
  return `${file} of ${dayOf((await stat(file)).mtime)}`;
}

const dayOf = (time: Date): string => time.toISOString().slice(0, 10);

/** Whether the keys in the database are there, and since when. */
export async function checkServiceSecrets(db: Kysely<Database>): Promise<CheckFinding> {
  const rows = await db.selectFrom('service_secret').select(['name', 'changed_at']).orderBy('name').execute();
  const needed: ServiceSecretName[] = ['cursor', 'login-attempt'];
  const missing = needed.filter((name) => !rows.some((row) => row.name === name));
  return missing.length > 0
    ? failedCheck(`missing in service_secret: ${missing.join(', ')}; was the database restored in part?`)
    : okCheck(rows.map((row) => `${row.name} of ${dayOf(row.changed_at)}`).join(', '));
}
