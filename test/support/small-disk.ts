/** A disk of its own that can be full: a tmpfs, which gives ENOSPC as every file system does. Mounting one takes root. */
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { mkdir, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const options = (bytes: number, ...others: string[]) => ['-o', [`size=${bytes}`, ...others].join(',')];

/** Why no disk can be mounted here; undefined when one can. */
export function whyNoSmallDisk(): string | undefined {
  if (process.platform !== 'linux') return 'only Linux has tmpfs';
  const directory = mkdtempSync(join(tmpdir(), 'entity-service-mount-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', ...options(65_536), 'tmpfs', directory], { stdio: ['ignore', 'ignore', 'pipe'] });
    execFileSync('umount', [directory]);
    return undefined;
  } catch (error) {
    return `nothing can be mounted: ${error instanceof Error ? error.message.replaceAll(/\s+/g, ' ').trim() : String(error)}`;
  } finally {
    rmdirSync(directory);
  }
}

export class SmallDisk {
  readonly #directory: string;
  readonly #bytes: number;

  private constructor(directory: string, bytes: number) {
    this.#directory = directory;
    this.#bytes = bytes;
  }

  /** Mounts one of `bytes` at `directory`, which is made, and which only its owner may enter. */
  static async mount(directory: string, bytes: number): Promise<SmallDisk> {
    await mkdir(directory, { recursive: true });
    await run('mount', ['-t', 'tmpfs', ...options(bytes, 'mode=0700'), 'tmpfs', directory]);
    return new SmallDisk(directory, bytes);
  }

  /** Leaves not a block free from now on. */
  async fill(): Promise<void> {
    for (;;) {
      const { bsize, blocks, bfree } = await statfs(this.#directory);
      try {
        return await this.#resize(bsize * (blocks - bfree));
      } catch (error) {
        // It refuses to be smaller than what somebody has written meanwhile.
        if ((await statfs(this.#directory)).bfree === bfree) throw error;
      }
    }
  }

  /** Makes it as large as it was. */
  async free(): Promise<void> {
    await this.#resize(this.#bytes);
  }

  /** Takes it away with all that is on it; a program that still has a file open there keeps that. */
  async unmount(): Promise<void> {
    await run('umount', ['--lazy', this.#directory]);
  }

  async #resize(bytes: number): Promise<void> {
    await run('mount', [...options(bytes, 'remount'), this.#directory]);
  }
}
