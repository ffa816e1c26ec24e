/** The queries about packages, against the test's own registry, and the bill of materials (rule 93). */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };

let scratch: string;
beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'supply-chain-'));
});
afterAll(() => rm(scratch, { recursive: true, force: true }));

interface Run {
  code: number;
  stdout: string;
}

/** Runs the check against a registry on this machine. npm stores advisories, so each run has a separate cache. */
async function checkAgainst(answer: RequestListener): Promise<Run & { asked: string[] }> {
  const asked: string[] = [];
  const registry = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    answer(request, response);
  });
  await once(registry.listen(0, '127.0.0.1'), 'listening');
  try {
    const { port } = registry.address() as AddressInfo;
    const env = {
      ...process.env,
      npm_config_registry: `http://127.0.0.1:${port}`,
      npm_config_cache: await mkdtemp(join(scratch, 'cache-')),
    };
    return { ...(await runScript('main.ts', [], env)), asked };
  } finally {
    registry.closeAllConnections();
    registry.close();
  }
}

async function runScript(name: string, options: string[], env = process.env): Promise<Run> {
  const script = join('scripts/supply-chain', name);
  return promisify(execFile)(process.execPath, [script, ...options], { env }).then(
    ({ stdout }) => ({ code: 0, stdout }),
    ({ code, stdout }: Run) => ({ code, stdout }),
  );
}

/** A registry with one advisory, for every version of Fastify. */
const withAdvisory =
  (severity: string): RequestListener =>
  (request, response) => {
    const asked = request.url?.endsWith('/advisories/bulk') ?? false;
    const advisory = { id: 1, url: 'https://example.com/1', title: 'Example', severity, vulnerable_versions: '<99', cwe: [], cvss: {} };
    response.writeHead(asked ? 200 : 404, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify(asked ? { fastify: [advisory] } : {}));
  };

describe('npm run check:packages (rule 93)', () => {
  test.each(['high', 'critical'])('fails on an advisory of severity %s, and names the package and the advisory', async (severity) => {
    const { code, stdout, asked } = await checkAgainst(withAdvisory(severity));
    expect(asked).toContain('POST /-/npm/v1/security/advisories/bulk');
    expect(stdout).toContain(`npm audit --omit=dev: failed: fastify: ${severity}: Example (https://example.com/1)`);
    expect(code).toBe(1);
  });

  test('lists an advisory of severity moderate, and passes', async () => {
    const { code, stdout } = await checkAgainst(withAdvisory('moderate'));
    expect(stdout).toContain('npm audit --omit=dev: passed: fastify: moderate: Example');
    expect(code).toBe(0);
  });

  test('passes when the registry has no advisory', async () => {
    const { code, stdout } = await checkAgainst((_request, response) => response.writeHead(200).end('{}'));
    expect(stdout).toContain('npm audit --omit=dev: passed: no known vulnerability');
    expect(code).toBe(0);
  });

  test.each<[string, RequestListener]>([
    ['refuses the request', (_request, response) => response.writeHead(405).end()],
    ['is unavailable', (_request, response) => response.writeHead(503).end()],
    ['closes the connection', (request) => request.socket.destroy()],
  ])('prints "not asked" and passes when the registry %s', async (_what, answer) => {
    const { code, stdout } = await checkAgainst(answer);
    expect(stdout).toContain('npm audit --omit=dev: not asked: ');
    expect(code).toBe(0);
  });
});

interface Bom {
  bomFormat: string;
  specVersion: string;
  metadata: { component: { name: string; version: string; licenses?: unknown[] } };
  components: { 'bom-ref': string; name: string; version: string; purl: string; licenses?: unknown[] }[];
  dependencies: { ref: string; dependsOn: string[] }[];
}

/** `name@version` of all packages of the lock file that production installs. */
async function lockedForProduction(): Promise<string[]> {
  const lock = JSON.parse(await readFile('package-lock.json', 'utf8')) as {
    packages: Record<string, { version: string; dev?: boolean; link?: boolean }>;
  };
  const kept = Object.entries(lock.packages).filter(([path, { dev, link }]) => path.includes('node_modules/') && !dev && !link);
  return [...new Set(kept.map(([path, { version }]) => `${path.split('node_modules/').at(-1)}@${version}`))].toSorted();
}

test('npm run sbom writes a CycloneDX document of all production packages and no others, each with its licence (rule 93)', async () => {
  const path = join(scratch, 'sbom.cdx.json');
  expect(await runScript('sbom.ts', [path])).toMatchObject({ code: 0 });
  const bom = JSON.parse(await readFile(path, 'utf8')) as Bom;

  expect(bom).toMatchObject({ bomFormat: 'CycloneDX', specVersion: '1.5' });
  expect(bom.metadata.component).toMatchObject({
    name: packageJson.name,
    version: packageJson.version,
    licenses: [{ license: { id: 'Apache-2.0' } }],
  });
  expect(bom.components.map(({ name, version }) => `${name}@${version}`).toSorted()).toEqual(await lockedForProduction());
  const versions = Object.fromEntries(bom.components.map(({ name, version }) => [name, version]));
  expect(versions).toMatchObject({ ...packageJson.dependencies, ...packageJson.optionalDependencies });
  expect(bom.components.filter(({ licenses }) => !licenses?.length)).toEqual([]);
  const references = new Set([...bom.components.map((component) => component['bom-ref']), `${packageJson.name}@${packageJson.version}`]);
  for (const { ref, dependsOn } of bom.dependencies) expect([ref, ...dependsOn].filter((other) => !references.has(other))).toEqual([]);
});
