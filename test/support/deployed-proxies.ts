/** The proxies of `deploy/`, with the addresses of this machine in place of the operator's, and without TLS. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fixedPort } from './fixed-port.ts';
import { runHaproxy, whyNoHaproxy } from './haproxy.ts';
import { runNginx, whyNoNginx } from './nginx.ts';

const readDeployed = (name: string) => readFile(join(import.meta.dirname, '../../deploy', name), 'utf8');

/** Each name in the file of an operator, with its value here. Throws if one is missing. */
export function replaceEach(text: string, values: readonly (readonly [string, string])[]): string {
  return values.reduce((changed, [name, value]) => {
    if (!changed.includes(name)) throw new Error(`the file has no ${name}`);
    return changed.replaceAll(name, value);
  }, text);
}

/** The replicas' addresses in both files. */
const addressesOf = ([one, other]: readonly [number, number]) =>
  [
    ['10.0.0.11:3000', `127.0.0.1:${one}`],
    ['10.0.0.12:3000', `127.0.0.1:${other}`],
  ] as const;

export interface DeployedProxy {
  /** Why this machine cannot run it; undefined when it can. */
  whyNot: () => string | undefined;
  /** Starts it in front of the replicas on two ports of 127.0.0.1. */
  start: (replicas: readonly [number, number]) => Promise<{ port: number; stop: () => Promise<void> }>;
}

export const deployedProxies = {
  nginx: {
    whyNot: whyNoNginx,
    async start(replicas) {
      const port = await fixedPort();
      const withoutTls = (await readDeployed('nginx.conf')).replaceAll(/^ *ssl_.*$/gm, '');
      const servers = replaceEach(withoutTls, [['listen 443 ssl;', `listen 127.0.0.1:${port};`], ...addressesOf(replicas)]);
      return { port, stop: await runNginx(port, servers) };
    },
  },
  haproxy: {
    whyNot: whyNoHaproxy,
    async start(replicas) {
      const port = await fixedPort();
      const withoutTls = (await readDeployed('haproxy.cfg')).replace(/^ *bind :443 ssl .*$/m, `  bind 127.0.0.1:${port}`);
      return { port, stop: await runHaproxy(port, replaceEach(withoutTls, addressesOf(replicas))) };
    },
  },
} satisfies Record<string, DeployedProxy>;
