import { spawnSync } from 'node:child_process';
import { chown } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { isAlive, newDataDir, serverPid } from '../support/embedded.ts';
import { credentialsIn, expectStopped, npmStart, signIn } from '../support/start.ts';

// Each start creates or opens a database and stops again, on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

const project = join(import.meta.dirname, '../..');

test('starts again after being killed while writing, and has lost no acknowledged write', async () => {
  const dataDir = await newDataDir();
  const killed = await npmStart({ DATA_DIR: dataDir });
  await killed.ready;
  const { user, password } = credentialsIn(killed.told()) ?? { user: '', password: '' };
  const client = await signIn(killed, user, password, { retry: false });
  const acknowledged = new Map<string, number>();
  const writing = (async () => {
    for (let number = 1; ; number += 1) acknowledged.set((await client.entities('note').create({ number })).key, number);
  })();
  await expect.poll(() => acknowledged.size).toBeGreaterThan(20);
  killed.signal('SIGKILL');
  await expect(writing).rejects.toMatchObject({ kind: 'client', reason: 'network' });
  await killed.ended;

  const again = await npmStart({ DATA_DIR: dataDir }, { port: killed.port });
  await again.ready;
  for (const [written, number] of acknowledged) expect((await client.entities('note').get(written)).fields).toEqual({ number });
  again.signal('SIGINT');
  await expectStopped(again);
  expect(await serverPid(dataDir)).toBeUndefined();
});

test('Ctrl-C during the start leaves no database server running', async () => {
  const dataDir = await newDataDir();
  const service = await npmStart({ DATA_DIR: dataDir });
  await expect.poll(() => serverPid(dataDir), { interval: 5 }).toBeDefined();
  service.signal('SIGINT');
  await expectStopped(service);
  expect(await isAlive(await serverPid(dataDir))).toBe(false);
});

const nobody = { uid: 65534, gid: 65534 };
/** Only root can run a program as another user, and that user must be able to read the project. */
const canBeNobody = process.getuid?.() === 0 && spawnSync(process.execPath, ['--version'], { ...nobody, cwd: project }).status === 0;

test.skipIf(!canBeNobody)('works for an ordinary user too', async () => {
  const dataDir = await newDataDir();
  const home = join(dataDir, '..');
  await chown(home, nobody.uid, nobody.gid);
  const service = await npmStart({ DATA_DIR: dataDir, HOME: home }, nobody);
  await service.ready;
  const { user, password } = credentialsIn(service.told()) ?? { user: '', password: '' };
  await signIn(service, user, password);
  service.signal('SIGINT');
  await expectStopped(service);
  expect(await serverPid(dataDir)).toBeUndefined();
});
