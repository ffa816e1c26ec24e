/** Debian's nginx for tests that need a load balancer. Without it, plain `npm test` skips these tests and prints the reason. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fixedPort } from './fixed-port.ts';
import { waitForPort } from './open-port.ts';

const program = process.env['NGINX'] ?? '/usr/sbin/nginx';

/**
 * Why there is no nginx; undefined when there is one.
 * @throws Error if there is none and NGINX_REQUIRED is set.
 */
export function whyNoNginx(): string | undefined {
  if (existsSync(program)) return undefined;
  const reason = `no nginx at ${program}: run "apt-get install nginx-light", or set NGINX to its path`;
  if (process.env['NGINX_REQUIRED']) throw new Error(reason);
  return reason;
}

/** A configuration with these servers, in which everything that nginx writes goes into `directory`. */
const configuration = (directory: string, servers: string) => `
${process.getuid?.() === 0 ? 'user root;' : ''}
pid ${directory}/pid;
error_log ${directory}/error.log;
events { worker_connections 1024; }
http {
  access_log off;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${directory}/${name};`).join(' ')}
  ${servers}
}
`;

/** A balancer like an operator's. The header `x-replica` names the replica that answered. */
const balancer = (port: number, basePath: string, replicas: string[]) => `
  upstream entity_service {
    ${replicas.map((replica) => `server ${replica};`).join(' ')}
    keepalive 16;
  }
  server {
    listen 127.0.0.1:${port};
    location ${basePath}/ {
      proxy_pass http://entity_service${basePath && '/'};
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $http_host;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
      add_header X-Replica $upstream_addr always;
    }
  }
`;

export interface Nginx {
  port: number;
  stop: () => Promise<void>;
}

/** Balances between the services at `urls` until it is stopped. It serves them behind `basePath`, such as `/api`, and removes that path. */
export async function startNginx(
  urls: string[],
  { basePath = '', port: given }: { basePath?: string; port?: number } = {},
): Promise<Nginx> {
  const port = given ?? (await fixedPort());
  const replicas = urls.map((url) => new URL(url).host);
  return { port, stop: await runNginx(port, balancer(port, basePath, replicas)) };
}

/** Runs nginx with `servers`, of which one listens on `port` of 127.0.0.1, until the returned function is called. */
export async function runNginx(port: number, servers: string): Promise<() => Promise<void>> {
  const directory = await mkdtemp(join(tmpdir(), 'entity-service-nginx-'));
  const file = join(directory, 'nginx.conf');
  await writeFile(file, configuration(directory, servers));
  const nginx = spawn(program, ['-p', directory, '-e', join(directory, 'error.log'), '-c', file, '-g', 'daemon off;'], {
    stdio: 'inherit',
  });
  const ended = once(nginx, 'exit');
  const stop = async () => {
    nginx.kill('SIGTERM');
    await ended;
    await rm(directory, { recursive: true, force: true });
  };
  await waitForPort(port, nginx);
  return stop;
}
