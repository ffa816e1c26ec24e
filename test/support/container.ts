/** Images built by buildah and run by crun, which need root and no daemon. */
import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const programs = ['buildah', 'crun', 'debootstrap'];

/** Why this machine builds no images; undefined when it does. */
export function whyNoContainers(): string | undefined {
  if (process.getuid?.() !== 0) return 'only root can build and run images here';
  const missing = programs.filter((program) => spawnSync(program, ['--version']).error !== undefined);
  return missing.length === 0 ? undefined : `not installed: ${missing.join(', ')}`;
}

/** The part of an image's configuration that says how it runs (image-spec, config.md). */
export interface ImageConfig {
  User: string;
  Env: string[];
  Entrypoint: string[];
  WorkingDir: string;
  StopSignal: string;
}

/** The files of a small Debian, from the cache of the user or from the mirror. */
async function debianRoot(): Promise<string> {
  const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'entity-service');
  const root = join(cache, 'debian-bookworm');
  if (existsSync(root)) return root;
  await mkdir(cache, { recursive: true });
  const made = await mkdtemp(join(cache, 'debian-'));
  await run('debootstrap', ['--variant=minbase', 'bookworm', made], { maxBuffer: 2 ** 24 });
  await rename(made, root);
  return root;
}

/** Images in a storage of their own below `directory`. */
export class Images {
  readonly #storage: string[];

  constructor(directory: string) {
    this.#storage = ['--root', join(directory, 'storage'), '--runroot', join(directory, 'run'), '--storage-driver', 'vfs'];
  }

  async #buildah(...words: string[]): Promise<string> {
    const { stdout } = await run('buildah', [...this.#storage, ...words], { maxBuffer: 2 ** 24 });
    return stdout.trim();
  }

  /** Makes an image of Debian with this Node.js and the npm of this machine, which reads packages from `/npm-cache` alone. */
  async makeBase(name: string): Promise<void> {
    const npm = join(execFileSync('npm', ['root', '--global'], { encoding: 'utf8' }).trim(), 'npm');
    const container = await this.#buildah('from', 'scratch');
    await this.#buildah('copy', '--quiet', container, await debianRoot(), '/');
    await this.#buildah('copy', '--quiet', container, process.execPath, '/usr/local/bin/node');
    await this.#buildah('copy', '--quiet', container, npm, '/usr/local/lib/node_modules/npm');
    const root = await this.#buildah('mount', container);
    await writeFile(join(root, 'usr/local/lib/node_modules/npm/npmrc'), 'offline=true\ncache=/npm-cache\nupdate-notifier=false\n');
    await writeFile(join(root, 'usr/local/bin/npm'), '#!/bin/sh\nexec node /usr/local/lib/node_modules/npm/bin/npm-cli.js "$@"\n', {
      mode: 0o755,
    });
    await this.#buildah('commit', '--quiet', '--rm', container, name);
  }

  /** Builds the Dockerfile with the base `base`. The npm of the build has the cache of this machine. */
  async build(dockerfile: string, context: string, base: string, name: string): Promise<void> {
    const cache = execFileSync('npm', ['config', 'get', 'cache'], { encoding: 'utf8' }).trim();
    const options = ['--quiet', '--isolation', 'chroot', '--build-arg', `BASE=${base}`, '--volume', `${cache}:/npm-cache`];
    await this.#buildah('bud', ...options, '--file', dockerfile, '--tag', name, context);
  }

  /** The files of a container of the image, and how it runs. */
  async open(name: string): Promise<{ root: string; config: ImageConfig }> {
    const root = await this.#buildah('mount', await this.#buildah('from', name));
    const { OCIv1 } = JSON.parse(await this.#buildah('inspect', '--type', 'image', name)) as { OCIv1: { config: ImageConfig } };
    return { root, config: OCIv1.config };
  }

  /** Unmounts and removes all containers. */
  async close(): Promise<void> {
    await this.#buildah('rm', '--all');
  }
}

/**
 * Starts a container with crun: a read-only root, no capabilities, a temporary `/tmp`, `data` at `/data`, and the network of this machine.
 * Returns its process.
 */
export async function startContainer(id: string, root: string, image: ImageConfig, data: string, settings: Record<string, string>) {
  const [uid, gid] = image.User.split(':').map(Number);
  const mounts = [
    { destination: '/proc', type: 'proc', source: 'proc' },
    { destination: '/dev', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'mode=755'] },
    { destination: '/tmp', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'nodev'] },
    { destination: '/data', type: 'none', source: data, options: ['bind', 'rw'] },
  ];
  const config = {
    ociVersion: '1.0.2',
    root: { path: root, readonly: true },
    process: {
      user: { uid, gid },
      args: image.Entrypoint,
      env: [...image.Env, ...Object.entries(settings).map(([name, value]) => `${name}=${value}`)],
      cwd: image.WorkingDir,
      noNewPrivileges: true,
      capabilities: { bounding: [], effective: [], inheritable: [], permitted: [], ambient: [] },
    },
    mounts,
    linux: { namespaces: ['pid', 'ipc', 'uts', 'mount'].map((type) => ({ type })) },
  };
  const bundle = join(dirname(data), id);
  await mkdir(bundle);
  await writeFile(join(bundle, 'config.json'), JSON.stringify(config));
  return spawn('unshare', [...crunWords(data), 'run', '--bundle', bundle, id], { stdio: ['ignore', 'pipe', 'pipe'] });
}

/** crun without limits of resources. It refuses a machine with both versions of cgroups, so it does not see the second one. */
const crunWords = (data: string) => {
  const command = 'umount /sys/fs/cgroup/unified 2>/dev/null; exec crun "$@"';
  const options = ['--cgroup-manager=disabled', '--root', join(dirname(data), 'crun')];
  return ['--mount', '--propagation', 'private', 'sh', '-c', command, 'crun', ...options];
};

/** Runs crun for a container whose `/data` is `data`: `exec`, `kill`. */
export const crun = (data: string, ...words: string[]) => spawnSync('unshare', [...crunWords(data), ...words], { encoding: 'utf8' });
