/** The files for containers, as far as they can be checked without an engine. `container.long.test.ts` builds and runs the image. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { readConfig } from '../../src/config/settings.ts';
import { stopTimeoutMs } from '../../src/shutdown.ts';

const read = (name: string) => readFileSync(join(import.meta.dirname, '../../deploy', name), 'utf8');
const dockerfile = read('Dockerfile');

interface Container {
  environment: Record<string, string>;
  read_only: boolean;
  cap_drop: string[];
  security_opt: string[];
  ports: string[];
  stop_grace_period: string;
}
const { services } = parse(read('compose.yaml')) as { services: { service: Container; database: Container } };

test('the image runs the command as another user than root, without a shell, and has a health check', () => {
  const last = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '));
  expect(last).toMatch(/^USER 65532:65532$/m);
  expect(last).toMatch(/^ENTRYPOINT \["node", "bin\/entity-service\.cjs"\]$/m);
  expect(last).toMatch(/^HEALTHCHECK .* CMD \["node", "-e", ".*\/health\/ready.*"\]$/m);
  expect(last).toMatch(/^STOPSIGNAL SIGTERM$/m);
});

test('the settings of the image and of compose.yaml are accepted in production', () => {
  const [, ofImage = ''] = /^ENV (.*)$/m.exec(dockerfile) ?? [];
  const given: Record<string, string> = {
    PUBLIC_URL: 'https://api.example.com',
    TRUST_PROXY: '172.16.0.0/12',
    POSTGRES_PASSWORD: 'secret',
  };
  const settings = Object.entries(services.service.environment).map(([name, value]) => [
    name,
    value.replaceAll(/\$\{(\w+):\?is missing\}/g, (_, variable: string) => given[variable] ?? ''),
  ]);
  const config = readConfig({ ...Object.fromEntries(ofImage.split(' ').map((pair) => pair.split('='))), ...Object.fromEntries(settings) });
  expect(config).toMatchObject({ production: true, host: '0.0.0.0', port: 3000, dataDir: '/data', trustProxy: ['172.16.0.0/12'] });
  expect(config.databaseUrl?.toString()).toBe('database:5432/entities');
});

test('compose.yaml runs the service on a read-only root without rights, publishes no port to the network, and lets it stop', () => {
  const { service, database } = services;
  expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] });
  expect(service.ports).toEqual([expect.stringMatching(/^127\.0\.0\.1:/)]);
  expect(database.ports).toBeUndefined();
  expect(Number.parseInt(service.stop_grace_period, 10)).toBeGreaterThan(stopTimeoutMs / 1_000);
});
