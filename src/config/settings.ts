/**
 * The settings, read once from the environment and checked; every problem is reported at once and nothing starts with a bad one.
 * docs/settings.md lists them; a test compares both.
 */
import { readDatabase } from './database-settings.ts';
import { readMetricsSettings } from './metrics-tokens.ts';
import { nearName } from './near-name.ts';
import { usesSecureCookie } from './public-url.ts';
import { Reader, type Environment } from './reader.ts';
import { readConnectionsPerAddress, readHost, readDocumentationUrl, readOrigins, readProxies, readPublicUrl } from './network-settings.ts';
import { readTracesUrl } from './trace-settings.ts';
import type { Secret } from './secrets.ts';
import { normaliseUserName } from '../user-name.ts';

export interface Config {
  host: string;
  port: number;
  /**
   * Where clients reach the service, with a slash at the end: CSRF checks use its origin, never the Host header (rule 29). `public-url.ts` makes
   * links from it.
   */
  publicUrl: URL;
  /** The address of the published documentation; undefined: nowhere. */
  documentationUrl: string | undefined;
  /** Its description is `host:port/database`. Undefined: the embedded database in `dataDir`. */
  databaseUrl: Secret | undefined;
  /** Leads to the same database without pooling by transaction; undefined: `databaseUrl` does. */
  databaseDirectUrl: Secret | undefined;
  /** Leads to a standby of the database; undefined: all reads go to the primary. */
  databaseReadUrl: Secret | undefined;
  /** How old the answer of a standby may be. */
  readLagSeconds: number;
  dataDir: string;
  /** The directory into which the service writes a backup each day; undefined: nowhere. */
  backupDir: string | undefined;
  /** The number of these that it keeps. */
  backupKeep: number;
  /** The directory in which the service archives the log of the embedded database; undefined: nowhere. */
  archiveDir: string | undefined;
  /** For how many days the archive has every moment. */
  archiveDays: number;
  databasePoolSize: number;
  /** In normal form. */
  adminUser: string;
  adminPassword: Secret | undefined;
  sessionIdleSeconds: number;
  sessionAbsoluteSeconds: number;
  sessionSameSite: 'lax' | 'strict' | 'none';
  /** Without the prefix `__Host-`, which https adds. */
  sessionCookieName: string;
  /** Whether the cookie outlives the browser, as long as its session lives. */
  sessionCookiePersistent: boolean;
  passwordMinLength: number;
  passwordBlocklistFile: string | undefined;
  passwordPepperFile: string | undefined;
  /** Origins, serialised as browsers send them, that may act with the user's cookie besides our own. */
  trustedOrigins: ReadonlySet<string>;
  /** CIDR ranges of the proxies whose X-Forwarded-* headers are believed; empty: none. */
  trustProxy: string[];
  issuersFile: string | undefined;
  entityTypes: 'open' | 'declared';
  entityTypesDir: string | undefined;
  rightsDir: string | undefined;
  /** Whether requests may change types although `entityTypesDir` declares some. */
  entityTypesSource: 'files' | 'both';
  bodyLimitBytes: number;
  rateLimit: boolean;
  /** Requests a second; 0: no limit. */
  rateLimitPerUser: number;
  /** Open connections; 0: no limit. */
  connectionsPerAddress: number;
  logLevel: (typeof logLevels)[number];
  /** What a scraper of `/metrics` must show. With neither this nor `metricsTokenFile` there is no such route. */
  metricsToken: Secret | undefined;
  /** The file with such tokens, instead of `metricsToken`. */
  metricsTokenFile: string | undefined;
  /** The address to which traces are sent; undefined: there are none. */
  tracesUrl: string | undefined;
  /** Which of them are, as OpenTelemetry's specification calls the ways to choose. */
  traceSampler: (typeof traceSamplers)[number];
  /** The share that is sent, from 0 to 1, where the sampler goes by one. */
  traceShare: number;
  workers: number;
  production: boolean;
  /** Whether answers say what they spent their time on. */
  serverTiming: boolean;
}

/** The problems that stopped a start: one line a problem, each naming the setting and what to do. */
export class ConfigError extends Error {
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
const traceSamplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

/**
 * The settings of `environment` (usually `process.env`). Throws {@link ConfigError} with all problems. What only the file system or the
 * database can tell (a missing issuers file, a refused connection) is found later, at the start.
 */
export function readConfig(environment: Environment): Config {
  const read = new Reader(environment);
  const config = readSettings(read);
  if (read.problems.length > 0) throw new ConfigError(read.problems);
  return config;
}

/** The problems for which {@link readConfig} would throw; empty if it would not. */
export function problemsOfConfig(environment: Environment): string[] {
  const read = new Reader(environment);
  readSettings(read);
  return read.problems;
}

export function settingNames(): string[] {
  const read = new Reader({});
  readSettings(read);
  return [...read.names];
}

function readSettings(read: Reader): Config {
  const port = read.integer('PORT', 3000, 0, 65_535);
  const mode = read.text('NODE_ENV');
  const production = mode === 'production';
  if (mode !== undefined && !production && isNearProduction(mode.trim())) {
    read.problems.push(`NODE_ENV must be "production" in exactly these letters, not "${mode}", which would start without its checks`);
  }
  const trustedOrigins = readOrigins(read, production);
  const config: Config = {
    host: readHost(read),
    port,
    publicUrl: readPublicUrl(read, port, production),
    documentationUrl: readDocumentationUrl(read),
    ...readDatabase(read, production),
    dataDir: read.text('DATA_DIR', './data'),
    backupDir: read.text('BACKUP_DIR'),
    backupKeep: read.integer('BACKUP_KEEP', 7, 1, 1_000),
    archiveDir: read.text('ARCHIVE_DIR'),
    archiveDays: read.integer('ARCHIVE_DAYS', 7, 1, 1_000),
    databasePoolSize: read.integer('DATABASE_POOL_SIZE', 10, 1, 1_000),
    adminUser: readAdminUser(read),
    adminPassword: read.secret('ADMIN_PASSWORD'),
    sessionIdleSeconds: read.integer('SESSION_IDLE_SECONDS', 1_800, 60, 86_400),
    sessionAbsoluteSeconds: read.integer('SESSION_ABSOLUTE_SECONDS', 28_800, 60, 2_592_000),
    sessionSameSite: read.choice('SESSION_SAME_SITE', 'lax', ['lax', 'strict', 'none']),
    sessionCookieName: readCookieName(read),
    sessionCookiePersistent: read.choice('SESSION_COOKIE_PERSISTENT', 'off', ['on', 'off']) === 'on',
    passwordMinLength: read.integer('PASSWORD_MIN_LENGTH', 15, 8, 64),
    passwordBlocklistFile: read.text('PASSWORD_BLOCKLIST_FILE'),
    passwordPepperFile: read.text('PASSWORD_PEPPER_FILE'),
    trustedOrigins,
    trustProxy: readProxies(read),
    issuersFile: read.text('ISSUERS_FILE'),
    entityTypes: read.choice('ENTITY_TYPES', 'open', ['open', 'declared']),
    entityTypesDir: read.text('ENTITY_TYPES_DIR'),
    rightsDir: read.text('RIGHTS_DIR'),
    entityTypesSource: read.choice('ENTITY_TYPES_SOURCE', 'files', ['files', 'both']),
    bodyLimitBytes: read.integer('BODY_LIMIT_BYTES', 1_048_576, 1_024, 67_108_864),
    rateLimit: read.choice('RATE_LIMIT', 'on', ['on', 'off']) === 'on',
    rateLimitPerUser: read.integer('RATE_LIMIT_PER_USER', 0, 0, 100_000),
    connectionsPerAddress: readConnectionsPerAddress(read),
    logLevel: read.choice('LOG_LEVEL', 'info', logLevels),
    ...readMetricsSettings(read),
    tracesUrl: readTracesUrl(read),
    traceSampler: read.choice('OTEL_TRACES_SAMPLER', 'parentbased_always_on', traceSamplers),
    traceShare: read.share('OTEL_TRACES_SAMPLER_ARG', 1),
    workers: read.integer('WORKERS', 1, 1, 256),
    production,
    serverTiming: mode === 'development',
  };
  if (config.archiveDir !== undefined && config.databaseUrl !== undefined) {
    read.problems.push('ARCHIVE_DIR is for the embedded database: your own PostgreSQL archives its log itself (docs/backup.md)');
  }
  if (config.sessionIdleSeconds > config.sessionAbsoluteSeconds) {
    read.problems.push('SESSION_IDLE_SECONDS must not be more than SESSION_ABSOLUTE_SECONDS');
  }
  if (config.sessionSameSite === 'none' && trustedOrigins.size === 0) {
    read.problems.push('SESSION_SAME_SITE=none needs TRUSTED_ORIGINS: without them no other site may use the cookie anyway');
  }
  if (config.sessionSameSite === 'none' && trustedOrigins.size > 0 && !usesSecureCookie(config)) {
    read.problems.push('SESSION_SAME_SITE=none needs a PUBLIC_URL with https: browsers drop such a cookie on plain http');
  }
  if (production && (config.logLevel === 'debug' || config.logLevel === 'trace')) {
    read.problems.push(`LOG_LEVEL=${config.logLevel} is not for production (NODE_ENV=production); use info`);
  }
  return config;
}

const isNearProduction = (mode: string): boolean => /^prod$/i.test(mode) || nearName(mode, ['production']) !== undefined;

function readAdminUser(read: Reader): string {
  const text = read.text('ADMIN_USER', 'admin');
  const name = normaliseUserName(text);
  if (name === undefined) read.problems.push('ADMIN_USER must be 1 to 128 characters without control characters');
  return name ?? text;
}

/** SESSION_COOKIE_NAME. A prefix such as `__Host-` is for the service to add, and `oidc` is the cookie of a sign-in that is under way. */
function readCookieName(read: Reader): string {
  const name = read.text('SESSION_COOKIE_NAME', 'sid');
  if (!/^[A-Za-z][\w-]{0,31}$/.test(name) || name === 'oidc') {
    read.problems.push('SESSION_COOKIE_NAME must be 1 to 32 letters, digits, "_" and "-", beginning with a letter, and not "oidc"');
  }
  return name;
}
