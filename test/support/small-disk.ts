/** A separate disk that can be full: a tmpfs, which returns ENOSPC like every file system. Mounting one requires root. */
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
  if (process.platform !== 'linux') return 'tmpfs needs Linux';
  const directory = mkdtempSync(join(tmpdir(), 'entity-service-mount-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', ...options(65_536), 'tmpfs', directory], { stdio: ['ignore', 'ignore', 'pipe'] });
    execFileSync('umount', [directory]);
    return undefined;
  } catch (error) {
    return `cannot mount a tmpfs: ${error instanceof Error ? error.message.replaceAll(/\s+/g, ' ').trim() : String(error)}`;
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

  /** Mounts a tmpfs of `bytes` at the new directory `directory`, which only its owner may enter. */
  static async mount(directory: string, bytes: number): Promise<SmallDisk> {
    await mkdir(directory, { recursive: true });
    await run('mount', ['-t', 'tmpfs', ...options(bytes, 'mode=0700'), 'tmpfs', directory]);
    return new SmallDisk(directory, bytes);
  }

  /** Shrinks the disk until no block is free. */
  async fill(): Promise<void> {
    for (;;) {
      const { bsize, blocks, bfree } = await statfs(this.#directory);
      try {
        return await this.#resize(bsize * (blocks - bfree));
      } catch (error) {
        // The resize fails if a program has written meanwhile.
        if ((await statfs(this.#directory)).bfree === bfree) throw error;
      }
    }
  }

  /** Restores the original size. */
  async free(): Promise<void> {
    await this.#resize(this.#bytes);
  }

  /** Unmounts it with all its files; a program with an open file there can still use it. */
  async unmount(): Promise<void> {
    await run('umount', ['--lazy', this.#directory]);
  }

  async #resize(bytes: number): Promise<void> {
    await run('mount', [...options(bytes, 'remount'), this.#directory]);
  }
}
