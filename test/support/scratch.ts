/** Directories for the files of tests. All of a run lie in one, which `global-setup.ts` removes at the end. */
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { inject } from 'vitest';

/** A new, empty directory; `label` is the beginning of its name. */
export async function scratchDirectory(label: string): Promise<string> {
  return await mkdtemp(join(inject('filesDirectory'), `${label}-`));
}
