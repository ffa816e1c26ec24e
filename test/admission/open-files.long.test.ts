/** A process that may open few files: it closes further connections, says so, and goes on serving (rule 80). */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { createDatabaseUntilDone } from '../support/database.ts';
import { metricsToken, scrape } from '../support/metrics.ts';
import { loginEnvironment, npmStart, project } from '../support/start.ts';

const request = 'GET /health/ready HTTP/1.1\r\nHost: localhost\r\n\r\n';

/** Whether the first bytes of an answer arrive, or the connection is closed. */
async function isAnswered(socket: Socket): Promise<boolean> {
  socket.on('error', () => undefined).write(request);
  const event = (name: string) =>
    once(socket, name).then(
      () => name === 'data',
      () => false,
    );
  return await Promise.race([event('data'), event('close')]);
}

test.skipIf(process.platform !== 'linux').for([
  ['one process', '1'],
  ['two workers', '2'],
])('with 96 open files %s answers some of 400 connections and closes the others at once (rule 80)', async ([, workers = '']) => {
  const service = await npmStart(
    { DATABASE_URL: await createDatabaseUntilDone(), METRICS_TOKEN: metricsToken, WORKERS: workers },
    { command: ['sh', '-c', 'ulimit -n 96; exec npm start'] },
  );
  await service.ready;
  await expect
    .poll(() => service.log())
    .toContainEqual(
      expect.objectContaining({
        event: 'configuration.risky',
        msg: expect.stringMatching(/^a process may open 96 files, so it has less than 72 connections/),
      }),
    );
  const sockets = Array.from({ length: 400 }, () => connect(service.port, '127.0.0.1'));
  const answered = (await Promise.all(sockets.map(isAnswered))).filter(Boolean).length;
  expect(answered).toBeGreaterThan(16);
  expect(answered).toBeLessThan(72 * Number(workers));
  for (const socket of sockets) socket.destroy();
  await expect.poll(async () => (await fetch(`${service.url}/health/ready`)).status).toBe(200);
  const metrics = await scrape(service.url);
  const refused = metrics.value('entity_service_connections_refused_total', { limit: 'files' });
  // The first process of several accepts for its workers, and closes without a count what it has no file for itself.
  if (workers !== '1') return;
  expect(refused).toBe(400 - answered);
  expect(metrics.value('process_max_fds')).toBe(96);
  const linesOfRefusals = () => service.log().filter(({ event }) => event === 'connections.refused');
  await expect.poll(() => linesOfRefusals().length).toBeGreaterThan(0);
  const lines = linesOfRefusals();
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatchObject({ level: 'warn', limit: 'files', msg: expect.stringContaining('ulimit -n') });
});

test.skipIf(process.platform !== 'linux')('doctor warns of few open files with the remedy', async () => {
  const words = ['src/cli/main.ts', 'doctor', '--json'];
  const child = spawn('sh', ['-c', 'ulimit -n 256; exec "$0" "$@"', process.execPath, ...words], {
    cwd: project,
    env: loginEnvironment({ DATABASE_URL: await createDatabaseUntilDone() }),
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const { checks } = JSON.parse(await text(child.stdout)) as { checks: { name: string; status: string; message: string }[] };
  expect(checks).toContainEqual({
    name: 'open files',
    status: 'warn',
    message: expect.stringMatching(/^a process may open 256 files, so it has less than 192 connections .*: allow 4352 \(ulimit -n/),
  });
});
