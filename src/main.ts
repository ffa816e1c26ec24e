/**
 * Starts the service: settings, database, migrations, first administrator, then one process or `WORKERS` of them. Stops all of it on
 * SIGTERM or Ctrl-C.
 */
import cluster from 'node:cluster';
import { readContract } from './contract/contract.ts';
import { baseUrlOf } from './config/public-url.ts';
import { readConfig, type Config } from './config/settings.ts';
import { readEnvironment } from './config/environment.ts';
import { readIssuers } from './oidc/issuers-file/read.ts';
import { lowerThreadPoolPriority } from './credentials/thread-pool.ts';
import { prepareDatabase } from './start/prepare-database.ts';
import { openService } from './service.ts';
import { processTimeline, runSteps, stopTimeoutMs, type Opened } from './shutdown.ts';
import { explainFailure } from './start/failure.ts';
import { firstAdministratorText } from './start/first-password.ts';
import { endWorker, inheritedDatabase, startWorkers } from './workers.ts';

let config: Config | undefined;
const opened: Opened = {};
let stopping = false;

/** Standard error is for people; standard output is the log. */
function printError(...lines: string[]): void {
  for (const line of lines) process.stderr.write(line === '' ? '\n' : `entity-service: ${line}\n`);
}

/** Runs the whole service, or the primary of its workers. */
async function run(settings: Config): Promise<void> {
  const prepared = await prepareDatabase(settings, ({ message }) => printError(`${message}; it is tried again each second`));
  opened.database = prepared;
  void prepared.lost.then((reason) => stop(reason));
  // Before any other step can fail, because the password is printed only once.
  if (prepared.administrator) process.stderr.write(firstAdministratorText(prepared.administrator));
  if (stopping) return;
  if (settings.workers === 1) {
    opened.service = await openService(settings, prepared.url);
  } else {
    if (settings.metricsToken !== undefined) (await import('./maintenance/metrics-endpoint.ts')).answerWorkers();
    opened.workers = startWorkers(settings.workers, prepared.url, (reason) => printError(`${reason}; starting another worker`));
    await opened.workers.ready;
  }
  announce(settings, prepared.database);
}

/** Runs one of the workers. */
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
  // Every process reads the issuers itself. An invalid file ends the first process before it has opened anything.
  await readIssuers(config.issuersFile, process.env);
  await lowerThreadPoolPriority();
  const inherited = inheritedDatabase();
  await (inherited ? runWorker(config, inherited) : run(config));
}

/**
 * Takes the steps of `shutdown.ts` and ends the process, on the first signal or after the database is lost. With a reason the status is 1,
 * so that a supervisor starts the service again.
 */
async function stop(reason?: Error): Promise<void> {
  if (stopping) return;
  stopping = true;
  if (reason) printError('the service stops, because its database is lost:', ...explainFailure(reason, config));
  setTimeout(() => {
    printError(`not everything stopped within ${stopTimeoutMs / 1_000} seconds; leaving`);
    process.exit(1);
  }, stopTimeoutMs).unref();
  try {
    await runSteps(processTimeline(opened, started));
    process.exit(reason ? 1 : 0);
  } catch (error) {
    printError(`stopping failed: ${explainFailure(error, config).join(' ')}`);
    process.exit(1);
  }
}

/** Closes what a failed start has opened, and ends the process with the reason. */
async function giveUp(error: unknown): Promise<void> {
  if (stopping) return;
  try {
    await runSteps(processTimeline(opened, started));
  } catch {
    // The operator needs the reason of the failed start, not this one.
  }
  const reasons = explainFailure(error, config);
  if (cluster.isWorker) return endWorker(reasons.join(' '));
  printError('the service cannot start:', ...reasons);
  process.exit(1);
}

process.on('SIGTERM', () => void stop());
// Ctrl-C reaches every process of the terminal. Workers ignore it, because the primary stops them one after the other.
process.on('SIGINT', () => {
  if (!cluster.isWorker) void stop();
});
const started = start();
started.catch((error: unknown) => void giveUp(error));
