/**
 * Starts the service: settings, database, migrations, first administrator, then one process or `WORKERS` of them, and stops it all again
 * on SIGTERM or Ctrl-C.
 */
import cluster from 'node:cluster';
import { readContract } from './api/contract.ts';
import { ConfigError, readConfig, type Config } from './config.ts';
import { prepareDatabase, type Prepared } from './prepare.ts';
import { openService } from './service.ts';

const shutdownMilliseconds = 10_000;
const restartMilliseconds = 1_000;
/** How the primary tells its workers which database it has opened. */
const workerDatabase = 'WORKER_DATABASE_URL';

/** Runs `stop` once on the first SIGTERM or SIGINT and leaves; what takes longer than ten seconds is cut off. */
function onSignal(stop: () => Promise<void>): void {
  let stopping = false;
  const leave = (signal: NodeJS.Signals) => {
    if (stopping) return;
    stopping = true;
    setTimeout(() => process.exit(1), shutdownMilliseconds).unref();
    stop().then(
      () => process.exit(0),
      (error: unknown) => fail(`stopping after ${signal} failed: ${error instanceof Error ? error.message : String(error)}`),
    );
  };
  process.on('SIGTERM', leave);
  process.on('SIGINT', leave);
}

function fail(reason: string): never {
  for (const line of reason.split('\n')) process.stderr.write(`entity-service: ${line}\n`);
  process.exit(1);
}

/** Keeps `count` workers running, each a whole service on the shared port; returns the function that stops them. */
function runWorkers(count: number, databaseUrl: string, onListening: () => void): () => Promise<void> {
  let stopping = false;
  let listening = 0;
  const fork = () => {
    const worker = cluster.fork({ [workerDatabase]: databaseUrl });
    worker.once('listening', () => {
      listening += 1;
      if (listening === count) onListening();
    });
    worker.once('exit', (code) => {
      if (stopping) return;
      process.stderr.write(`entity-service: worker ${worker.process.pid} ended with code ${code}; starting another\n`);
      setTimeout(fork, restartMilliseconds);
    });
  };
  for (let index = 0; index < count; index++) fork();
  return async () => {
    stopping = true;
    const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
    await Promise.all(
      workers.map((worker) => {
        const { promise, resolve } = Promise.withResolvers<void>();
        worker.once('exit', () => resolve());
        worker.process.kill('SIGTERM');
        return promise;
      }),
    );
  };
}

/** What a person wants to know once the service is up. Goes to standard error: standard output is the log. */
function announce(config: Config, { administrator, database }: Prepared, version: string): void {
  const base = config.publicUrl.origin;
  const lines = [
    `Entity Service ${version} is ready.`,
    '',
    `  API         ${base}`,
    `  Swagger UI  ${base}/docs`,
    `  Contract    ${base}/openapi.yaml`,
    `  Database    ${database}`,
    ...(administrator
      ? [
          '',
          '  The first administrator has been created. The password is shown this once:',
          '',
          `    user      ${administrator.name}`,
          `    password  ${administrator.password}`,
        ]
      : []),
    '',
    '  Press Ctrl-C to stop.',
    '',
  ];
  process.stderr.write(`\n${lines.join('\n')}\n`);
}

async function runWorker(config: Config, databaseUrl: string): Promise<void> {
  const service = await openService(config, databaseUrl);
  onSignal(() => service.close());
}

async function run(config: Config): Promise<void> {
  const prepared = await prepareDatabase(config);
  try {
    if (config.workers === 1) {
      const service = await openService(config, prepared.url);
      onSignal(async () => {
        await service.close();
        await prepared.close();
      });
      announce(config, prepared, service.context.version);
    } else {
      const { version } = readContract().document.info;
      const stop = runWorkers(config.workers, prepared.url, () => announce(config, prepared, version));
      onSignal(async () => {
        await stop();
        await prepared.close();
      });
    }
  } catch (error) {
    await prepared.close();
    throw error;
  }
}

try {
  const config = readConfig(process.env);
  const inherited = process.env[workerDatabase];
  await (cluster.isWorker && inherited ? runWorker(config, inherited) : run(config));
} catch (error) {
  if (error instanceof ConfigError) fail(`the service cannot start:\n${error.problems.map((problem) => `- ${problem}`).join('\n')}`);
  fail(`the service cannot start: ${error instanceof Error ? error.message : String(error)}`);
}
