/**
 * Facts about other processes: whether one lives, its start time and its command line. A process number alone identifies no process, because
 * numbers are reused after a reboot or in a restarted container.
 */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface RunningProcess {
  /** Program and arguments, separated by blanks. */
  command: string;
  /** Its start time in a unit of the platform; compare it for equality only. */
  began: string;
}

/** The living process with that number; undefined when there is none, or only a zombie. */
export async function findProcess(pid: number): Promise<RunningProcess | undefined> {
  if (!Number.isSafeInteger(pid) || pid <= 0) return undefined;
  try {
    if (process.platform !== 'linux') {
      const { stdout } = await run('ps', ['-o', 'stat=,lstart=,command=', '-p', String(pid)], { env: { ...process.env, LC_ALL: 'C' } });
      const found = /^(\S+)\s+(\S+\s+\S+\s+\S+\s+\S+\s+\S+)\s+(.*)$/.exec(stdout.trim());
      if (!found?.[1] || found[1].startsWith('Z')) return undefined;
      return { command: found[3] ?? '', began: (found[2] ?? '').replaceAll(/\W+/g, '.') };
    }
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    // The second field is the program's name in parentheses, which may contain blanks; the other fields are counted after it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
    const command = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0').join(' ').trim();
    return { command, began: fields[19] ?? '' };
  } catch {
    return undefined;
  }
}

/** A mark for the names of temporary files, by which a later process recognises that their process is dead: `<pid>-<began>`. */
export async function markOfThisProcess(): Promise<string> {
  const self = await findProcess(process.pid);
  return `${process.pid}-${self?.began ?? ''}`;
}

/** Whether the process that made this mark still lives. */
export async function isMarkAlive(mark: string): Promise<boolean> {
  const [pid, ...began] = mark.split('-');
  const found = await findProcess(Number(pid));
  return found !== undefined && found.began === began.join('-');
}
