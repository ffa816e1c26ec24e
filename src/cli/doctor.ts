/**
 * The checks of `doctor`, for the most common problems of operators. Each reports its finding and, for a problem, the remedy. Checks only
 * read.
 */
import { readFileSync } from 'node:fs';
import { misspeltSettings } from '../config/environment.ts';
import { readConfig, type Config } from '../config/settings.ts';
import { discoverIssuer, discoverProvider, fetchKeys, innermostMessage, leewaySeconds } from '../oidc/tokens/discover.ts';
import { readIssuers, type Issuer } from '../oidc/issuers-file/read.ts';
import { redirectUri } from '../oidc/sign-in/begin.ts';
import { swaggerUiRedirectUri } from '../oidc/sign-in/swagger-ui.ts';
import { isPlainHttpOnNetwork, lacksProxy, leftPasswordRisk, plainHttpRisk } from '../start/risks.ts';
import { unnamedProxyRisk } from '../network/client-address.ts';
import { openFilesAdvice, readOpenFilesLimit } from '../admission/open-files.ts';
import { leftPasswordFile } from '../start/first-password.ts';
import { performCheck, failedCheck, okCheck, warningCheck, type Check, type CheckFinding } from './check.ts';
import { checkArchive, checkDailyBackups } from './doctor-backup.ts';
import { examineDatabase } from './doctor-database.ts';
import { checkSecrets } from './doctor-secrets.ts';
import { messagesOf } from './failure.ts';

/**
 * Runs all checks that can run, in the order of their dependencies. `environment` may throw ConfigError; this function never throws. With `all` the
 * values of all entities are compared with their companion tables.
 */
export async function runChecks(environment: () => NodeJS.ProcessEnv, all = false): Promise<Check[]> {
  const checks: Check[] = [];
  await performCheck(checks, undefined, 'node', checkNode);
  await performCheck(checks, undefined, 'open files', checkOpenFiles);
  const config = readSettings(environment, checks);
  if (!config) return checks;
  const misspelt = misspeltSettings(environment());
  if (misspelt.length > 0) await performCheck(checks, config, 'environment', () => warningCheck(misspelt.join('; ')));
  await performCheck(checks, config, 'proxy', () => checkProxy(config));
  if (isPlainHttpOnNetwork(config)) await performCheck(checks, config, 'network', () => warningCheck(plainHttpRisk));
  const passwordFile = await leftPasswordFile(config);
  if (passwordFile !== undefined) await performCheck(checks, config, 'first password', () => warningCheck(leftPasswordRisk(passwordFile)));
  const issuers = await examineIssuers(checks, config, environment());
  const { archiveDir, backupDir } = config;
  if (backupDir !== undefined) await performCheck(checks, config, 'daily backups', () => checkDailyBackups(backupDir));
  if (archiveDir !== undefined) await performCheck(checks, config, 'archive', () => checkArchive(archiveDir));
  await performCheck(checks, config, 'secrets', () => checkSecrets(config, issuers));
  await examineDatabase(checks, config, issuers, all);
  return checks;
}

function readSettings(environment: () => NodeJS.ProcessEnv, checks: Check[]): Config | undefined {
  try {
    const config = readConfig(environment());
    checks.push({ name: 'settings', ...okCheck(config.production ? 'valid, for production' : 'valid') });
    return config;
  } catch (error) {
    for (const problem of messagesOf(error, undefined)) checks.push({ name: 'settings', ...failedCheck(problem) });
    return undefined;
  }
}

/** Fetches the keys of every trusted issuer, without which its tokens cannot be verified; returns all issuers of the file. */
async function examineIssuers(checks: Check[], config: Config, environment: NodeJS.ProcessEnv): Promise<Issuer[]> {
  if (config.issuersFile === undefined) return [];
  let issuers: Issuer[] = [];
  await performCheck(checks, config, 'issuers', async () => {
    issuers = await readIssuers(config.issuersFile, environment);
    return okCheck(`${issuers.length} in ${config.issuersFile}`);
  });
  for (const issuer of issuers) {
    await performCheck(checks, config, `issuer ${issuer.id}`, async () => {
      try {
        const { jwksUri, clockAheadMs } = await discoverIssuer(issuer);
        const { keys } = await fetchKeys(jwksUri);
        if (!Array.isArray(keys) || keys.length === 0) return failedCheck(`${jwksUri.href} has no keys`);
        return checkClock(clockAheadMs) ?? okCheck(`${jwksUri.href} has keys: ${keys.length}`);
      } catch (error) {
        return failedCheck(`${issuer.issuer} does not give its keys: ${innermostMessage(error)}`);
      }
    });
    if (issuer.clientId !== undefined) await performCheck(checks, config, `sign-in ${issuer.id}`, () => checkSignIn(issuer, config));
  }
  return issuers;
}

/** The greatest difference in milliseconds between two clocks that are set right; the header `Date` has whole seconds. */
const usualDifferenceMs = 5_000;

/** Undefined for a clock of the issuer that agrees with this machine's, or is unknown. */
function checkClock(clockAheadMs: number | undefined): CheckFinding | undefined {
  if (clockAheadMs === undefined || Math.abs(clockAheadMs) <= usualDifferenceMs) return undefined;
  const seconds = Math.round(Math.abs(clockAheadMs) / 1_000);
  const difference = `its clock is ${seconds} s ${clockAheadMs > 0 ? 'ahead of' : 'behind'} this machine's`;
  const remedy = `tokens are judged with ${leewaySeconds} s of leeway: set both clocks by NTP`;
  return seconds > leewaySeconds ? failedCheck(`${difference}; ${remedy}`) : warningCheck(`${difference}; ${remedy}`);
}

/** Whether users can sign in at the issuer, and the URLs to register there. */
async function checkSignIn(issuer: Issuer, { publicUrl }: Config): Promise<CheckFinding> {
  const forSwaggerUi = issuer.swaggerUi && `; for ${issuer.swaggerUi.clientId}: ${swaggerUiRedirectUri(publicUrl)}`;
  const registered = `register the redirect URI ${redirectUri(publicUrl, issuer)}${forSwaggerUi ?? ''}`;
  try {
    await discoverProvider(issuer);
    return okCheck(registered);
  } catch (error) {
    return failedCheck(`${issuer.issuer} does not say where to sign in: ${innermostMessage(error)}; ${registered}`);
  }
}

function checkNode(): CheckFinding {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  const { engines } = JSON.parse(text) as { engines: { node: string } };
  const [, needed = '', untested = ''] = /^>=(\S+) <(\S+)$/.exec(engines.node) ?? [];
  const numbers = (version: string) => version.split('.').map(Number);
  const [major = 0, minor = 0] = numbers(process.versions.node);
  const [neededMajor = 0, neededMinor = 0] = numbers(needed);
  if (major < neededMajor || (major === neededMajor && minor < neededMinor)) {
    return failedCheck(`${process.version} is too old: Node ${needed} or later is needed`);
  }
  return major >= Number(untested)
    ? warningCheck(`${process.version} is newer than what the service is tested with: use Node ${neededMajor}`)
    : okCheck(process.version);
}

/** The limit of this command is that of the service only where both are started alike. */
function checkOpenFiles(): CheckFinding {
  const limit = readOpenFilesLimit();
  const advice = openFilesAdvice(limit);
  return advice === undefined ? okCheck(limit === undefined ? 'no limit is known' : `a process may open ${limit}`) : warningCheck(advice);
}

function checkProxy(config: Config): CheckFinding {
  if (lacksProxy(config)) return warningCheck(unnamedProxyRisk);
  return okCheck(config.trustProxy.length > 0 ? `requests from ${config.trustProxy.join(', ')} tell of the client` : 'none');
}
