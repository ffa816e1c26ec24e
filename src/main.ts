/**
 * Starts the service: settings, database, migrations, first administrator, then one process or `WORKERS` of them. Stops all of it on a
 * signal, after a fault, and when the database is lost.
 */
import cluster from 'node:cluster';
import { inspect } from 'node:util';
import { readContract } from './contract/contract.ts';
import { baseUrlOf } from './config/public-url.ts';
import { readConfig, type Config } from './config/settings.ts';
import { readEnvironment } from './config/environment.ts';
import { readIssuers } from './oidc/issuers-file/read.ts';
import { lowerThreadPoolPriority } from './credentials/thread-pool.ts';
import { Archive, assertOwnArchive, readArchive } from './embedded/archive/archive.ts';
import { prepareDatabase } from './start/prepare-database.ts';
import { openService } from './service.ts';
import { lastStepMs, processStopSteps, runSteps, stopTimeoutMs, workerFlushMs, type Opened } from './shutdown.ts';
import { printoutFor } from './start/arguments.ts';
import { explainFailure } from './start/failure.ts';
import { firstAdministratorText } from './start/first-password.ts';
import { flushLog, openLog } from './telemetry/logging.ts';
import { endWorker, inheritedDatabase, startWorkers } from './workers.ts';

const printout = printoutFor(process.argv.slice(2));
if (printout) {
  (printout.status === 0 ? process.stdout : process.stderr).write(printout.text);
  process.exit(printout.status);
}

let config: Config | undefined;
const opened: Opened = {};
/** Fires when the process begins to stop. */
const stopping = new AbortController();

/** Standard error is for people; standard output is the log. */
function printError(...lines: string[]): void {
  for (const line of lines) process.stderr.write(line === '' ? '\n' : `entity-service: ${line}\n`);
}

/** Runs the whole service, or the primary of its workers. */
async function run(settings: Config): Promise<void> {
  const log = openLog(settings);
  log.info({ event: 'service.start', process: process.pid, version: readContract().document.info.version, workers: settings.workers });
  const archive = await readArchive(settings);
  const onError = ({ message }: Error) => printError(`${message}; it is tried again each second`);
  const prepared = await prepareDatabase(settings, { onError, onWait: printError, signal: stopping.signal });
  opened.database = prepared;
  void prepared.lost.then((error) => stop('database-lost', error));
  // Before any other step can fail, because the password is printed only once.
  if (prepared.administrator) process.stderr.write(firstAdministratorText(prepared.administrator));
  if (stopping.signal.aborted) return;
  if (archive && prepared.archiveUrl !== undefined) {
    await assertOwnArchive(prepared.archiveUrl, archive.directory);
    opened.archive = new Archive(prepared.archiveUrl, archive, log);
  }
  if (settings.workers === 1) {
    opened.service = await openService(settings, prepared.url);
  } else {
    if (settings.metricsToken !== undefined || settings.metricsTokenFile !== undefined)
      (await import('./monitoring/metrics-endpoint.ts')).answerWorkers();
    opened.workers = startWorkers(settings.workers, prepared.url, (change) => log.warn(change));
    await opened.workers.ready;
  }
  announce(settings, prepared.database);
}

async function runWorker(settings: Config, databaseUrl: string): Promise<void> {
  opened.service = await openService(settings, databaseUrl);
}

function announce({ publicUrl }: Config, database: string): void {
  const url = baseUrlOf(publicUrl);
  process.stderr.write(`
Entity Service ${readContract().document.info.version} is ready.

  API         ${url}
  Swagger UI  ${url}/docs
  Contract    ${url}/openapi.yaml
  Database    ${database}

  Press Ctrl-C to stop.

`);
}

async function start(): Promise<void> {
  // A worker has the settings of its primary, also when `.env` has changed since.
  config = readConfig(cluster.isWorker ? process.env : readEnvironment());
  if (config.production) ignoreNodeSignals(config);
  // Every process reads the issuers itself. An invalid file ends the first process before it has opened anything.
  await readIssuers(config.issuersFile, process.env);
  await lowerThreadPoolPriority();
  const inherited = inheritedDatabase();
  await (inherited ? runWorker(config, inherited) : run(config));
}

/**
 * Without these listeners Node.js opens its debugger at SIGUSR1, and every user of the machine can connect to it. At SIGUSR2 it ends
 * without the steps of a stop. In development both stay as they are.
 */
function ignoreNodeSignals(of: Config): void {
  for (const signal of ['SIGUSR1', 'SIGUSR2'] as const)
    process.on(signal, () => openLog(of).warn({ event: 'signal.ignored', signal, process: process.pid }));
}

/** How long the last lines of the log may take, also after the time limit of all steps. */
const leastFlushMs = 1_000;

/** Why the process stops: the signal that it received, or what has failed. */
type StopReason = NodeJS.Signals | 'start-failed' | 'database-lost' | 'fault';

/**
 * Takes the steps of `shutdown.ts` and ends the process; a further call changes nothing. With a failure the status is 1, so that a supervisor
 * starts the service again.
 */
async function stop(reason: StopReason, failure?: unknown): Promise<void> {
  if (stopping.signal.aborted) return;
  stopping.abort(new Error('the start was stopped'));
  const began = performance.now();
  // A worker's end is logged by its primary.
  const log = cluster.isWorker ? undefined : openLog(config);
  const reasons = reasonsOf(reason, failure);
  if (failure === undefined) log?.info({ event: 'service.stop', reason });
  else log?.fatal({ event: 'service.stop', reason, ...(reason === 'fault' && { err: failure }) }, reasons.join(' '));
  if (failure !== undefined) printFailure(reason, failure, reasons);

  const leave = async (status: number): Promise<void> => {
    log?.info({ event: 'service.stopped', status, durationMs: Math.round(performance.now() - began) });
    const flushUntilMs = cluster.isWorker ? workerFlushMs : lastStepMs;
    if (!(await flushLog(Math.max(leastFlushMs, flushUntilMs - (performance.now() - began))))) {
      printError('the last lines of the log are lost, because the reader of standard output has stopped');
      // `process.exit` would wait for the reader as well.
      process.kill(process.pid, 'SIGKILL');
    }
    if (cluster.isWorker && reasons.length > 0) endWorker(reasons.join(' '));
    else process.exit(status);
  };
  setTimeout(() => {
    printError(`not everything stopped within ${stopTimeoutMs / 1_000} seconds; leaving`);
    void leave(1);
  }, stopTimeoutMs);
  try {
    await runSteps(processStopSteps(opened, started), AbortSignal.timeout(lastStepMs));
  } catch (error) {
    printError(`stopping failed: ${explainFailure(error, config).join(' ')}`);
    return await leave(1);
  }
  await leave(failure === undefined ? 0 : 1);
}

/** One line for each thing that is wrong. The message of an uncaught error can quote a value of a row, and does not go into the log. */
function reasonsOf(reason: StopReason, failure: unknown): string[] {
  if (failure === undefined) return [];
  return reason === 'fault' ? ['an uncaught error'] : explainFailure(failure, config);
}

function printFailure(reason: StopReason, failure: unknown, reasons: string[]): void {
  if (reason === 'fault') printError('the service stops after a fault:', inspect(failure));
  else if (!cluster.isWorker)
    printError(reason === 'start-failed' ? 'the service cannot start:' : 'the service stops, because its database is lost:', ...reasons);
}

// A terminal that was closed takes no more text. Without a listener each failed write is a fault, whose text is one more failed write.
process.stderr.on('error', () => undefined);
process.on('SIGTERM', () => void stop('SIGTERM'));
// A terminal sends SIGINT for Ctrl-C, and SIGHUP when it is closed, to every process of it. Workers ignore both, because the primary stops
// them one after the other.
for (const signal of ['SIGINT', 'SIGHUP'] as const) {
  process.on(signal, () => {
    if (!cluster.isWorker) void stop(signal);
  });
}
// Also a rejected promise that no code handles.
process.on('uncaughtException', (error) => {
  if (stopping.signal.aborted) printError('a fault during the stop:', inspect(error));
  else void stop('fault', error);
});
const started = start();
started.catch((error: unknown) => void stop('start-failed', error));
