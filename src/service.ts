/**
 * One process's share of the service: opens what handlers need, serves, and closes it all again in order. Which database, and what runs
 * before (migrations, the first administrator), is decided by `main.ts`.
 */
import { availableParallelism } from 'node:os';
import type { FastifyInstance } from 'fastify';
import { readContract } from './contract/contract.ts';
import { AttributeRegistry } from './accounts/attribute-registry.ts';
import { buildApp } from './app.ts';
import { recordEvent } from './audit/record.ts';
import { AuditQuota } from './audit/quota.ts';
import { PrincipalCache } from './authn/principal-cache.ts';
import { RuleBook } from './authn/rule-book.ts';
import { openMetricsTokens } from './config/metrics-tokens.ts';
import { SecretFile } from './config/secret-file.ts';
import { ConfigError, type Config } from './config/settings.ts';
import type { Context } from './context.ts';
import { migrationState } from './database/migration-state.ts';
import { openStore } from './database/port.ts';
import { openReaders } from './database/standby/readers.ts';
import { announceProcess } from './database/processes.ts';
import { ServiceSecrets } from './database/service-secrets.ts';
import { adviceForMissingNotifications, MissingNotificationError } from './database/missing-notification-error.ts';
import { applyTypeFiles } from './entity-types/files.ts';
import { LeftoverQueue } from './entity-types/leftover-queue.ts';
import { DocumentChecks } from './entity-types/proof.ts';
import { TypeRegistry } from './entity-types/registry.ts';
import { typesForRules } from './entity-types/types-for-rules.ts';
import type { StoredTypeFault } from './entity-types/stored-type.ts';
import { claimTypes } from './oidc/provisioning/claimed-rights.ts';
import { missingProfiles } from './oidc/provisioning/claimed-profiles.ts';
import { readIssuers } from './oidc/issuers-file/read.ts';
import { systemClock, IssuerRegistry } from './oidc/tokens/issuer-registry.ts';
import { addressIn } from './network/address.ts';
import { listenOn } from './http/listen.ts';
import { readOpenFilesLimit } from './admission/open-files.ts';
import { runSteps, serviceStopSteps } from './shutdown.ts';
import { HeldBytes } from './admission/held-bytes.ts';
import { Ledger } from './admission/ledger.ts';
import { openDailyBackups } from './administration/daily-backups.ts';
import { openRightsFiles } from './administration/rights/rights-files.ts';
import { Background } from './background/background.ts';
import { schedulePeriodicWork } from './background/periodic-work.ts';
import { explainFailure, ListenError } from './start/failure.ts';
import { leftPasswordFile } from './start/first-password.ts';
import { OutageLog } from './telemetry/outage-log.ts';
import { listeningLine, logConfiguration, logSecretFiles, openLog, settingsInForce } from './telemetry/logging.ts';
import { isSuperuser, laterSchemaRisk, risksOf, unboundRuleRisk, uncheckedTypeRisk, youngSpaceBytes } from './start/risks.ts';
import type { Traces } from './telemetry/traces.ts';
import { Admission } from './admission/admission.ts';
import { openPeppers } from './credentials/pepper.ts';
import { createPasswordPolicy } from './credentials/policy.ts';
import { createThrottle } from './credentials/throttle.ts';
import { isSessionToken } from './sessions/store.ts';

/** Read once, so that all services of a process share what is made of it. */
const contract = readContract();

export interface Service {
  app: FastifyInstance;
  context: Context;
  /** The address on which it listens, as `http://127.0.0.1:3000`. */
  address: string;
  /** Takes the steps of `serviceStopSteps`, once (rule 92). */
  close(): Promise<void>;
}

/**
 * Opens the service on a migrated database and listens on `config.host` and `config.port` (0: any free one). `clock` tells how old access
 * tokens are. Throws ConfigError for a bad ISSUERS_FILE, PASSWORD_PEPPER_FILE, METRICS_TOKEN_FILE,
 * ENTITY_TYPES_DIR or RIGHTS_DIR, and for a profile in it that does not exist.
 */
export async function openService(config: Config, databaseUrl: string, clock = systemClock): Promise<Service> {
  const issuers = await readIssuers(config.issuersFile, process.env);
  const peppers = config.passwordPepperFile === undefined ? undefined : await openPeppers(config.passwordPepperFile);
  const metricsTokens = await openMetricsTokens(config);
  const secretFiles = [peppers, metricsTokens, ...issuers.map(({ clientSecret }) => clientSecret)].filter(
    (each) => each instanceof SecretFile,
  );
  const principals = new PrincipalCache(clock.steady);
  let app: FastifyInstance | undefined;
  const onError = (error: Error) => app?.log.warn({ event: 'outage', err: error }, 'database connection lost');
  const onIssuerError = (error: unknown, issuer: string) =>
    app?.log.warn({ event: 'outage', issuer, err: error }, 'the issuer does not answer');
  const directUrl = config.databaseDirectUrl?.reveal() ?? databaseUrl;
  const store = openStore(databaseUrl, config.databasePoolSize, onError, { directUrl, followsLog: config.databaseReadUrl !== undefined });
  const readers = openReaders(
    store,
    { url: config.databaseReadUrl?.reveal(), size: config.databasePoolSize, maximumLagMs: config.readLagSeconds * 1_000 },
    {
      onError: (error) => app?.log.warn({ event: 'outage', dependency: 'standby', err: error }, 'connection to the standby lost'),
      onDown: (error) =>
        app?.log.warn(
          { event: 'outage', dependency: 'standby', err: error },
          'the standby does not answer: lists are read from the primary',
        ),
      onUp: () => app?.log.info({ event: 'standby.up' }, 'lists are read from the standby'),
    },
  );
  const { db } = store;
  const heldBytes = new HeldBytes();
  const cores = Math.ceil(availableParallelism() / config.workers);
  const admission = new Admission({
    heldBytes,
    ledger: new Ledger({ now: clock.steady, isEnforced: config.rateLimit }),
    cores,
    connections: store.connections().pool.limit,
  });
  const documentChecks = new DocumentChecks(admission);
  const background = new Background(() => app?.log);
  const onUnchecked = (name: string, fault: StoredTypeFault) =>
    app?.log.warn({ event: 'configuration.risky' }, uncheckedTypeRisk(name, fault));
  const entityTypes = new TypeRegistry(db, config, onUnchecked, documentChecks);
  const attributes = new AttributeRegistry(db, claimTypes(issuers), (unfit) =>
    app?.log.warn(
      { event: 'attribute.unfit', ...unfit },
      'the value of the attribute is not of its declared type, so it counts as missing',
    ),
  );
  const rules = new RuleBook({
    db,
    typeOf: typesForRules(entityTypes),
    sensitiveFields: () => entityTypes.sensitiveFields(),
    variables: (principal) => attributes.variablesOf(principal),
    onUnbound: (rule) => app?.log.warn({ event: 'configuration.risky' }, unboundRuleRisk(rule)),
  });
  const leftovers = new LeftoverQueue(store, (name, error) =>
    app?.log.warn(
      { event: 'housekeeping', job: 'type-leftovers', outcome: 'failed', type: name, err: error },
      'what a change of the type has left could not be dropped',
    ),
  );
  const serviceSecrets = new ServiceSecrets(db);
  const traces = await openTraces(config, contract.document.info.version, (error) =>
    app?.log.warn({ event: 'outage', dependency: 'traces', err: error }, 'traces could not be sent'),
  );
  const notificationOutage = new OutageLog(clock.steady);
  const listener = store.listener(directUrl, {
    onLine: (up) => {
      if (up) notificationOutage.succeeded(app?.log, 'notifications arrive again');
      principals.enable(up);
      entityTypes.enable(up);
      attributes.enable(up);
      serviceSecrets.enable(up);
    },
    onNotice: (notice) => {
      // Principals have rules that are bound to types and attributes.
      if (notice.startsWith('type ')) entityTypes.forget();
      if (notice === 'attribute') attributes.forget();
      principals.forget(notice);
      if (notice === 'all') serviceSecrets.forget();
    },
    onError: (error) => {
      if (error instanceof MissingNotificationError)
        app?.log.warn({ event: 'configuration.risky' }, adviceForMissingNotifications(error, config));
      else notificationOutage.failed(app?.log, error, `notifications do not arrive: ${explainFailure(error, config).join('; ')}`);
    },
  });
  const closeDatabase = async () => {
    await readers.close();
    await store.close();
  };
  try {
    const missing = await missingProfiles(db, issuers);
    if (missing.length > 0) throw new ConfigError(missing);
    const startLog = openLog(config);
    await applyTypeFiles(store, config, startLog, leftovers);
    const claims = new Map([...claimTypes(issuers).values()].flatMap((types) => Array.from(types)));
    const rightsFiles = await openRightsFiles(config, { store, claims, log: () => app?.log ?? startLog });
    const context: Context = {
      config,
      store,
      readers,
      principals,
      rules,
      listener,
      entityTypes,
      attributes,
      leftovers,
      issuers: new IssuerRegistry(issuers, { onError: onIssuerError, isOurs: (text) => isSessionToken(db, text), admission }, clock),
      auditQuota: new AuditQuota(),
      heldBytes,
      admission,
      documentChecks,
      get peppers() {
        return peppers?.current ?? [];
      },
      renewPeppers: peppers && (() => peppers.reload()),
      metricsTokens,
      secretFiles,
      background,
      serviceSecrets,
      rightsFiles,
      dailyBackups: await openDailyBackups(config, { store, directUrl }, contract.document.info.version),
      throttle: createThrottle(db, serviceSecrets, admission),
      policy: await createPasswordPolicy(config),
      trace: traces?.open,
      version: contract.document.info.version,
    };
    app = await buildApp(context, contract);
    const running = app;
    logConfiguration(running.log, config);
    // libuv reads it once, when the process starts; its default is four.
    const threads = Number(process.env['UV_THREADPOOL_SIZE'] ?? 4);
    const surroundings = {
      superuser: await isSuperuser(db),
      threads,
      hashes: admission.queueOf('hashing').limit,
      passwordFile: await leftPasswordFile(config),
      youngBytes: youngSpaceBytes(),
      openFiles: readOpenFilesLimit(),
    };
    for (const risk of risksOf(config, surroundings)) running.log.warn({ event: 'configuration.risky' }, risk);
    const { later } = await migrationState(db);
    if (later.length > 0) running.log.warn({ event: 'configuration.risky' }, laterSchemaRisk(later));
    await listener.open();
    // So the first lists can be read from the standby.
    await readers.sample();
    const address = await listenOn(running, config.host, config.port, listeningLine).catch((cause: unknown) => {
      throw new ListenError(cause);
    });
    const processRow = await announceProcess(db, context.version);
    logSecretFiles(running.log, secretFiles);
    schedulePeriodicWork(context, processRow);
    const record = (event: 'configuration.loaded' | 'service.start' | 'service.stop', detail: Record<string, unknown> = {}) =>
      recordEvent(context, running.log, undefined, { event, outcome: 'ok', detail: { process: process.pid, ...detail } });
    await record('configuration.loaded', { settings: settingsInForce(config) });
    await record('service.start', { version: context.version, address });
    let closing: Promise<void> | undefined;
    const steps = serviceStopSteps({
      app: running,
      background: {
        stop: () => {
          leftovers.close();
          return background.stop();
        },
      },
      // Together, because each waits until a database that does not answer counts as lost.
      recordStop: async () => void (await Promise.allSettled([record('service.stop'), processRow.withdraw()])),
      traces,
      listener,
      pool: { close: closeDatabase },
    });
    return { app: running, context, address, close: () => (closing ??= runSteps(steps)) };
  } catch (error) {
    leftovers.close();
    await background.stop();
    await app?.close();
    await traces?.close();
    await listener.close();
    await closeDatabase();
    throw error;
  }
}

/** Loads what traces need only where they are on. */
async function openTraces(
  { tracesUrl, traceSampler, traceShare, trustProxy }: Config,
  version: string,
  onError: (error: unknown) => void,
): Promise<Traces | undefined> {
  if (tracesUrl === undefined) return undefined;
  const { openTraces } = await import('./telemetry/traces.ts');
  return openTraces({ url: tracesUrl, sampler: traceSampler, share: traceShare, isTrusted: addressIn(trustProxy), version }, onError);
}
