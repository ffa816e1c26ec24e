/**
 * One process's share of the service: opens what handlers need, serves, and closes it all again in order. Which database, and what runs
 * before (migrations, the first administrator), is decided by `main.ts`.
 */
import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { readContract } from './contract/contract.ts';
import { buildApp } from './app.ts';
import { recordEvent } from './audit/record.ts';
import { AuditQuota } from './audit/quota.ts';
import { PrincipalCache } from './authn/principal-cache.ts';
import { ConfigError, type Config } from './config/settings.ts';
import type { Context } from './context.ts';
import { connectPool } from './database/driver/pool.ts';
import { adviceForUnheard, Listener, UnheardError } from './database/notifications.ts';
import { EntityQueues } from './entities/heavy.ts';
import { readEntityTypes } from './entity-types/types.ts';
import { missingProfiles } from './oidc/provisioning/claimed-profiles.ts';
import { readIssuers } from './oidc/issuers-file/read.ts';
import { systemClock, IssuerRegistry } from './oidc/tokens/issuer-registry.ts';
import { addressIn } from './http/address.ts';
import { stopListening } from './http/drain.ts';
import { waitForPrimary } from './workers.ts';
import { HeldBytes } from './http/held-bytes.ts';
import { scheduleCleanup } from './maintenance/cleanup.ts';
import { explainFailure } from './start/failure.ts';
import { listeningLine, logConfiguration, openSettings } from './telemetry/logging.ts';
import { isSuperuser, risksOf } from './maintenance/risks.ts';
import type { Traces } from './telemetry/traces.ts';
import { createHashingQueue } from './http/concurrency-limit.ts';
import { readPeppers } from './credentials/pepper.ts';
import { createPasswordPolicy } from './credentials/policy.ts';
import { createThrottle } from './credentials/throttle.ts';
import { isSessionToken } from './sessions/store.ts';

/** How long load balancers have to learn at `/health/ready` that nobody should be sent here any more. */
const noticeMilliseconds = 750;
/** How long requests under way may then take; security rule 92 gives ten seconds for all of the stop. */
const drainTimeoutMs = 5_000;

/** Read once, so that all services of a process share what is made of it. */
const contract = readContract();

export interface Service {
  app: FastifyInstance;
  context: Context;
  /** Where it listens, as `http://127.0.0.1:3000`. */
  address: string;
  /** Stops accepting, finishes what is under way, and closes the pool (security rule 92). */
  close(): Promise<void>;
}

/**
 * Opens the service on a migrated database and listens on `config.host` and `config.port` (0: any free one). `clock` tells how old access
 * tokens are. Throws ConfigError for a bad ISSUERS_FILE, PASSWORD_PEPPER_FILE or ENTITY_TYPES_DIR, and for a profile in it that does not exist.
 */
export async function openService(config: Config, databaseUrl: string, clock = systemClock): Promise<Service> {
  const issuers = await readIssuers(config.issuersFile, process.env);
  const entityTypes = await readEntityTypes(config);
  const peppers = await readPeppers(config.passwordPepperFile);
  const principals = new PrincipalCache(clock.steady);
  let app: FastifyInstance | undefined;
  const onError = (error: Error) => app?.log.warn({ event: 'outage', err: error }, 'database connection lost');
  const onIssuerError = (error: unknown, issuer: string) =>
    app?.log.warn({ event: 'outage', issuer, err: error }, 'the issuer does not answer');
  const { db, pool, reads, close: closePool } = connectPool(databaseUrl, config.databasePoolSize, onError);
  const traces = await openTraces(config, contract.document.info.version, (error) =>
    app?.log.warn({ event: 'outage', err: error }, 'traces could not be sent'),
  );
  const listener = new Listener(config.databaseDirectUrl ?? databaseUrl, pool, {
    onLine: (up) => principals.enable(up),
    onNotice: (notice) => principals.forget(notice),
    onError: (error) => {
      if (error instanceof UnheardError) app?.log.warn({ event: 'configuration.risky' }, adviceForUnheard(config));
      else app?.log.warn({ event: 'outage', err: error }, `notifications do not arrive: ${explainFailure(error, config).join('; ')}`);
    },
  });
  const closeDatabase = async () => {
    await listener.close();
    await closePool();
  };
  try {
    const missing = await missingProfiles(db, issuers);
    if (missing.length > 0) throw new ConfigError(missing);
    const heldBytes = new HeldBytes();
    const context: Context = {
      config,
      db,
      pool,
      reads,
      principals,
      listener,
      entityTypes,
      issuers: new IssuerRegistry(issuers, onIssuerError, (text) => isSessionToken(db, text), clock),
      auditQuota: new AuditQuota(),
      heldBytes,
      entityQueues: new EntityQueues(heldBytes),
      gate: createHashingQueue(Math.ceil(availableParallelism() / config.workers)),
      peppers,
      throttle: createThrottle(db),
      policy: await createPasswordPolicy(config),
      trace: traces?.open,
      version: contract.document.info.version,
    };
    app = await buildApp(context, contract);
    const running = app;
    logConfiguration(running.log, config);
    // libuv reads it once, when the process starts; its default is four.
    const threads = Number(process.env['UV_THREADPOOL_SIZE'] ?? 4);
    for (const risk of risksOf(config, { superuser: await isSuperuser(db), threads }))
      running.log.warn({ event: 'configuration.risky' }, risk);
    await listener.open();
    const address = await running.listen({ host: config.host, port: config.port, listenTextResolver: listeningLine });
    const stopHousekeeping = scheduleCleanup(context, running.log);
    const record = (event: 'configuration.loaded' | 'service.start' | 'service.stop', detail: Record<string, unknown> = {}) =>
      recordEvent(context, running.log, undefined, { event, outcome: 'ok', detail: { process: process.pid, ...detail } });
    await record('configuration.loaded', { settings: openSettings(config) });
    await record('service.start', { version: context.version, address });
    let closing: Promise<void> | undefined;

    const close = async () => {
      stopHousekeeping();
      running.stopping = true;
      if ((await openConnections(running)) > 0) await delay(noticeMilliseconds);
      await stopListening(running.server);
      await waitForPrimary();
      // Clients that are not done by then, such as one that sends its body a byte at a time, do not keep the process from leaving.
      const patience = setTimeout(() => running.server.closeAllConnections(), drainTimeoutMs);
      await running.close();
      clearTimeout(patience);
      await record('service.stop');
      await traces?.close();
      await closeDatabase();
    };
    return { app: running, context, address, close: () => (closing ??= close()) };
  } catch (error) {
    await app?.close();
    await traces?.close();
    await closeDatabase();
    throw error;
  }
}

/** Loads what traces need only where they are on. */
async function openTraces(
  { otlpEndpoint, traceSampler, traceShare, trustProxy }: Config,
  version: string,
  onError: (error: unknown) => void,
): Promise<Traces | undefined> {
  if (otlpEndpoint === undefined) return undefined;
  const { openTraces } = await import('./telemetry/traces.ts');
  return openTraces(
    { endpoint: otlpEndpoint, sampler: traceSampler, share: traceShare, isTrusted: addressIn(trustProxy), version },
    onError,
  );
}

function openConnections(app: FastifyInstance): Promise<number> {
  return new Promise((resolve) => app.server.getConnections((_error, count) => resolve(count ?? 0)));
}
