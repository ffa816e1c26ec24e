/** Hosts of a cluster on this machine: namespaces with processes, files and a network of their own, and the switches between them. Needs root. */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Runs in new namespaces, and ends with this process. */
const inNamespaces = (...words: string[]) =>
  spawn('setpriv', ['--pdeathsig', 'KILL', 'unshare', ...words], { stdio: ['ignore', 'pipe', 'inherit'] });

/** The process of the namespaces that `unshare --fork` started. */
async function childOf({ pid }: ChildProcess): Promise<number> {
  return Number((await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim());
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

/** Runs this machine's `ip` in the network of the process. */
const ipIn = (pid: number, words: string[]) => run('nsenter', ['--target', String(pid), '--net', 'ip', ...words]);

/** A network with two switches that are not connected with each other. This machine is at the first one, as 10.77.0.1. */
export class Network {
  readonly #child: ChildProcess;
  readonly #pid: number;

  private constructor(child: ChildProcess, pid: number) {
    this.#child = child;
    this.#pid = pid;
  }

  static async open(): Promise<Network> {
    const child = inNamespaces('--net', '--fork', '--kill-child', 'sh', '-c', 'echo ready; exec sleep infinity');
    await once(child.stdout, 'data');
    const network = new Network(child, await childOf(child));
    for (const bridge of ['whole', 'apart']) {
      await network.#ip('link', 'add', bridge, 'type', 'bridge', 'forward_delay', '0');
      await network.#ip('link', 'set', bridge, 'up');
    }
    await run('ip', ['link', 'add', 'es-cluster', 'type', 'veth', 'peer', 'name', 'here', 'netns', String(network.#pid)]);
    await run('ip', ['addr', 'add', '10.77.0.1/24', 'dev', 'es-cluster']);
    await run('ip', ['link', 'set', 'es-cluster', 'up']);
    await network.connect('here');
    return network;
  }

  /** Gives the host its place at the first switch, with `address` (CIDR). */
  async plugIn(host: Host, address: string): Promise<void> {
    // The port of a host that was killed may still be there.
    await this.#ip('link', 'del', host.name).catch(() => undefined);
    await this.#ip('link', 'add', host.name, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', String(host.pid));
    await host.ip('addr', 'add', address, 'dev', 'eth0');
    await host.ip('link', 'set', 'eth0', 'up');
    await host.ip('link', 'set', 'lo', 'up');
    await this.connect(host.name);
  }

  /** Connects the host with this machine by a line of its own, with `address` here and `hostAddress` there (CIDR). */
  async lineTo(host: Host, address: string, hostAddress: string): Promise<void> {
    const here = `es-${host.name}`;
    // Unclosed connections of a former host of that name keep its line.
    await run('ip', ['link', 'del', here]).catch(() => undefined);
    await run('ip', ['link', 'add', here, 'type', 'veth', 'peer', 'name', 'line', 'netns', String(host.pid)]);
    await run('ip', ['addr', 'add', address, 'dev', here]);
    await run('ip', ['link', 'set', here, 'up']);
    await host.ip('addr', 'add', hostAddress, 'dev', 'line');
    await host.ip('link', 'set', 'line', 'up');
  }

  /** Connects the port with the first switch. */
  async connect(port: string): Promise<void> {
    await this.#ip('link', 'set', port, 'master', 'whole', 'up');
  }

  /** Connects the port with the other switch: the host reaches only hosts that are there too. */
  async separate(port: string): Promise<void> {
    await this.#ip('link', 'set', port, 'master', 'apart', 'up');
  }

  async close(): Promise<void> {
    await run('ip', ['link', 'del', 'es-cluster']).catch(() => undefined);
    await kill(this.#child);
  }

  #ip(...words: string[]) {
    return ipIn(this.#pid, words);
  }
}

export class Host {
  readonly name: string;
  /** Its files stay when the host is killed. */
  readonly directory: string;
  readonly #root: string;
  #child: ChildProcess | undefined;
  /** The first process of the running host, as this machine numbers it. */
  pid = 0;

  constructor(name: string, directory: string, root: string) {
    this.name = name;
    this.directory = directory;
    this.#root = root;
  }

  async boot(): Promise<void> {
    await mkdir(this.directory, { recursive: true });
    const script = join(import.meta.dirname, 'host.sh');
    const child = inNamespaces('--net', '--mount', '--pid', '--fork', '--kill-child', 'sh', script, this.#root, this.directory);
    this.#child = child;
    await Promise.race([
      once(child.stdout, 'data'),
      once(child, 'exit').then(() => Promise.reject(new Error(`${this.name} did not boot`))),
    ]);
    this.pid = await childOf(child);
  }

  /** Ends all processes of the host at once, and its network with them. */
  async lose(): Promise<void> {
    if (this.#child) await kill(this.#child);
  }

  ip(...words: string[]) {
    return ipIn(this.pid, words);
  }

  /** Starts a program that runs until the host is killed or it ends. Its output goes to `<program>.log`. */
  start(account: string, environment: Record<string, string>, program: string, ...words: string[]): ChildProcess {
    const log = createWriteStream(join(this.directory, `${program}.log`), { flags: 'a' });
    const child = spawn('nsenter', this.#enter(account, environment, program, words), { stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.pipe(log);
    child.stderr.pipe(log, { end: false });
    return child;
  }

  /** Runs a program of the host as its root, and returns what it writes. */
  async execute(program: string, ...words: string[]): Promise<string> {
    return await this.executeAs('root', program, ...words);
  }

  async executeAs(account: string, program: string, ...words: string[]): Promise<string> {
    const { stdout } = await run('nsenter', this.#enter(account, {}, program, words));
    return stdout;
  }

  #enter(account: string, environment: Record<string, string>, program: string, words: string[]): string[] {
    const given = Object.entries({ PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LANG: 'C.UTF-8', ...environment });
    const as = ['setpriv', `--reuid=${account}`, `--regid=${account}`, '--init-groups'];
    const entered = ['--target', String(this.pid), '--net', '--mount', '--pid', '--root', '--wd'];
    return [...entered, 'env', '-i', ...given.map(([name, value]) => `${name}=${value}`), ...as, program, ...words];
  }
}
