/** Directories of rights files. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { stringify } from 'yaml';

/** A directory with the files by their paths, until the end of the test. A value that is no text is written as YAML. */
export async function rightsDirectory(files: Readonly<Record<string, unknown>>): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'rights-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  await writeRights(directory, files);
  return directory;
}

export async function writeRights(directory: string, files: Readonly<Record<string, unknown>>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(directory, path)), { recursive: true });
    await writeFile(join(directory, path), typeof content === 'string' ? content : stringify(content));
  }
}
