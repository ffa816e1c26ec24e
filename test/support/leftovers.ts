/** What a service with the embedded database has left behind: processes and files. Linux only. */
import { readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { isAlive } from './embedded.ts';

const unfinished = /^(?:building|starting)-/;
const files = ['postmaster.pid', '.s.PGSQL.5432', '.s.PGSQL.5432.lock'];

/** Living processes with this DATA_DIR, and those that work in it, as PostgreSQL does; and files of a server or an unfinished start. */
export async function leftovers(dataDir: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const left = await Promise.all(
    pids.map(async (pid) => {
      const hasSetting = (await textOf(`/proc/${pid}/environ`)).split('\0').includes(`DATA_DIR=${dataDir}`);
      const isOurs = hasSetting || (await directoryOf(pid)).startsWith(dataDir);
      return isOurs && (await isAlive(Number(pid))) ? [`process ${pid}: ${await commandOf(pid)}`] : [];
    }),
  );
  const cluster = join(dataDir, 'postgresql/data');
  return [
    ...left.flat(),
    ...(await namesIn(cluster)).filter((name) => files.includes(name)),
    ...(await namesIn(dataDir)).filter((name) => unfinished.test(name)),
  ];
}

const namesIn = (directory: string) => readdir(directory).catch(() => [] as string[]);
const textOf = (path: string) => readFile(path, 'utf8').catch(() => '');
const directoryOf = (pid: string) => readlink(`/proc/${pid}/cwd`).catch(() => '');
const commandOf = async (pid: string) => (await textOf(`/proc/${pid}/cmdline`)).replaceAll('\0', ' ');
