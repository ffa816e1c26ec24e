/** A copy of the checkout for the mistakes: the checkout itself is never changed. */
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { reapAfter } from '../../test/support/server-reaper.ts';
import { listFiles } from '../lib/repository.ts';

export interface Copy {
  directory: string;
  remove(): void;
}

/** Copies the files in their present state, committed or not. A separate process removes the copy if this one is killed. */
export function copyProject(project: string): Copy {
  const files = listFiles('test:mutants', '--cached', '--others', '--exclude-standard');
  const directory = mkdtempSync(join(tmpdir(), 'entity-service-mutants-'));
  const callOff = reapAfter(directory);
  for (const file of files.filter((name) => existsSync(join(project, name)))) {
    mkdirSync(dirname(join(directory, file)), { recursive: true });
    cpSync(join(project, file), join(directory, file));
  }
  symlinkSync(join(project, 'node_modules'), join(directory, 'node_modules'));
  return {
    directory,
    remove() {
      rmSync(directory, { recursive: true, force: true });
      callOff();
    },
  };
}
