/** `deploy/Dockerfile`, built by buildah and run by crun: as another user, without rights, on a read-only file system. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { crun, Images, startContainer, whyNoContainers } from '../support/container.ts';
import { createDatabaseUntilDone } from '../support/database.ts';
import { fixedPort } from '../support/fixed-port.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 600_000 });

const project = join(import.meta.dirname, '../..');
const reason = whyNoContainers();
const adminPassword = 'seven quiet lanterns drift north';

describe.skipIf(reason !== undefined)(`the image${reason ? ` (skipped: ${reason})` : ''}`, () => {
  let directory = '';
  let images: Images;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'entity-service-image-'));
    images = new Images(directory);
    const dist = join(directory, 'dist');
    await promisify(execFile)(process.execPath, ['scripts/package/main.ts', '--out', dist], { cwd: project });
    await images.makeBase('localhost/debian-node');
    await images.build(join(project, 'deploy/Dockerfile'), dist, 'localhost/debian-node', 'localhost/entity-service');
  });
  afterAll(async () => {
    await images.close();
    await rm(directory, { recursive: true, force: true });
  });

  test('serves as a user without rights on a read-only root, is healthy, and ends with 0 at its stop signal (rule 92)', async () => {
    const { root, config } = await images.open('localhost/entity-service');
    expect(config).toMatchObject({ User: '65532:65532', StopSignal: 'SIGTERM' });
    const data = join(directory, 'data');
    await mkdir(data, { mode: 0o700 });
    await chown(data, 65_532, 65_532);
    const port = String(await fixedPort());
    const settings = { PORT: port, PUBLIC_URL: 'https://api.example.com', TRUST_PROXY: '127.0.0.1', ADMIN_PASSWORD: adminPassword };
    const service = await startContainer('service', root, config, data, { ...settings, DATABASE_URL: await createDatabaseUntilDone() });
    onTestFinished(() => void crun(data, 'delete', '--force', 'service'));
    let told = '';
    service.stderr.on('data', (text: Buffer) => (told += text.toString()));
    service.stdout.resume();
    await expect.poll(() => told, { timeout: 60_000 }).toContain('is ready');

    const health = `fetch(\`http://127.0.0.1:\${process.env.PORT}/health/ready\`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))`;
    expect(crun(data, 'exec', 'service', 'node', '-e', health)).toMatchObject({ status: 0, stderr: '' });
    const status = crun(data, 'exec', 'service', 'cat', '/proc/1/status').stdout;
    expect(status).toMatch(/^Uid:\t65532\t/m);
    expect(status).toMatch(/^CapEff:\t0+$/m);
    expect(crun(data, 'exec', 'service', 'touch', '/opt/entity-service/new').stderr).toContain('Read-only file system');

    const body = new URLSearchParams({ user: 'admin', password: adminPassword });
    const headers = { 'x-forwarded-for': '203.0.113.9', 'x-forwarded-proto': 'https' };
    expect((await fetch(`http://127.0.0.1:${port}/auth`, { method: 'POST', headers, body })).status).toBe(200);
    const ended = once(service, 'exit');
    crun(data, 'kill', 'service', 'SIGTERM');
    expect(await ended, told).toEqual([0, null]);
    expect(await readdir(data)).toEqual([]);
  });
});
