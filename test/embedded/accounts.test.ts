/** Accounts that own the cluster, as far as no server runs. `accounts.long.test.ts` starts servers. */
import { chmod, chown, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openEmbedded } from '../../src/embedded/embedded.ts';
import { changeOwner } from '../../src/embedded/ownership.ts';
import { copyOfProject, newDataDir, startService } from '../support/embedded.ts';

const nobody = { uid: 65534, gid: 65534 };
const isRoot = process.getuid?.() === 0;

describe.skipIf(!isRoot)(`started by root${isRoot ? '' : ' (skipped: the suite does not run as root)'}`, () => {
  /** Creates a directory of another user. */
  async function makeForeign(path: string, mode = 0o700): Promise<void> {
    await mkdir(path, { mode });
    await chown(path, nobody.uid, nobody.gid);
  }

  test('a data directory of an ordinary user is refused, and the targets of its links do not change (rule 91)', async () => {
    const dataDir = await newDataDir();
    await makeForeign(dataDir);
    const target = join(dataDir, '../target');
    await writeFile(target, 'of root', { mode: 0o600 });
    await symlink(target, join(dataDir, 'postgres.log'));

    await expect(openEmbedded(dataDir)).rejects.toThrow(
      /^The data directory \S+ cannot be used: \S+ belongs to another user \(uid 65534\): start as that user, .* run "chown -R 0:0 '\S+'" as root\.$/,
    );
    expect(await stat(target)).toMatchObject({ uid: 0, mode: 0o100600 });
    expect(await readFile(target, 'utf8')).toBe('of root');
    expect(await readdir(dataDir)).toEqual(['postgres.log']);
  });

  test('a data directory that an ordinary user could replace is refused, and not created (rule 91)', async () => {
    const home = await newDataDir();
    await makeForeign(home, 0o755);
    await expect(openEmbedded(join(home, 'data'))).rejects.toThrow(
      `${home} belongs to another user (uid 65534): start as that user, or choose another directory`,
    );
    expect(await readdir(home)).toEqual([]);

    await chown(home, 0, 0);
    await chmod(home, 0o775);
    await expect(openEmbedded(join(home, 'data'))).rejects.toThrow(`other users than root may write to ${home}`);
    await mkdir(join(home, 'elsewhere'));
    await symlink(join(home, 'elsewhere'), join(home, '../link'));
    await expect(openEmbedded(join(home, '../link/data'))).rejects.toThrow(`other users than root may write to ${home}`);
    expect(await readdir(home)).toEqual(['elsewhere']);
  });

  test('a cluster that an ordinary user has put into a writable data directory is refused (rule 91)', async () => {
    const dataDir = await newDataDir();
    await mkdir(dataDir);
    await chmod(dataDir, 0o777);
    await makeForeign(join(dataDir, 'postgresql'));
    await expect(openEmbedded(dataDir)).rejects.toThrow(/postgresql belongs to another user \(uid 65534\)/);
  });

  test('root stops changing owners once another process has given the cluster away (rule 91)', async () => {
    const cluster = join(await newDataDir(), 'postgresql/data');
    await mkdir(cluster, { recursive: true });
    for (let number = 0; number < 3_000; number++) await writeFile(join(cluster, `${number}`), '');
    const names = await readdir(cluster);
    const changed = changeOwner(cluster, nobody);
    await expect.poll(async () => (await stat(join(cluster, names[0] ?? ''))).uid, { interval: 1 }).toBe(nobody.uid);
    await chown(cluster, nobody.uid, nobody.gid);
    await rm(join(cluster, names.at(-1) ?? ''));
    await changed;
    expect((await stat(join(cluster, names.at(-2) ?? ''))).uid).toBe(0);
  });
});

test('without the optional dependency, one line says what to do', async () => {
  const copy = await copyOfProject([]);
  const service = startService([join(copy, 'data')], { script: join(copy, 'test/support/embedded-process.ts') });
  expect(await service.next()).toEqual({
    error: 'The embedded PostgreSQL is not installed: install the optional dependencies (npm ci) or set DATABASE_URL.',
  });
});
