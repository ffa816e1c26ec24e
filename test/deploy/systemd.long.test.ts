/** The command of `deploy/entity-service.service` with the rights of its user. systemd itself would have to be the first process. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { serverPid } from '../support/embedded.ts';
import { reapAfter } from '../support/server-reaper.ts';
import { expectStopped, npmStart } from '../support/start.ts';

vi.setConfig({ testTimeout: 60_000 });

const project = join(import.meta.dirname, '../..');
const unit = readFileSync(join(project, 'deploy/entity-service.service'), 'utf8');
const nobody = { uid: 65_534, gid: 65_534 };
const rights = ['--reuid=65534', '--regid=65534', '--clear-groups', '--no-new-privs', '--bounding-set=-all', '--inh-caps=-all'];
/** Only root can give up its rights, and only if others can read the project. */
const canBeNobody =
  process.getuid?.() === 0 && spawnSync('setpriv', [...rights, process.execPath, '--version'], { cwd: project }).status === 0;

test.skipIf(!canBeNobody)(
  'a user without capabilities starts the service with an embedded database behind a link, as DynamicUser has it',
  async () => {
    const state = await mkdtemp(join(tmpdir(), 'entity-service-state-'));
    const callOff = reapAfter(join(state, 'private'));
    onTestFinished(async () => {
      await rm(state, { recursive: true, force: true, maxRetries: 5 });
      callOff();
    });
    await chmod(state, 0o755);
    const dataDir = join(state, 'private/data');
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    await chmod(join(state, 'private'), 0o711);
    await chown(dataDir, nobody.uid, nobody.gid);
    await symlink('private/data', join(state, 'data'));

    expect(unit).toContain('\nExecStart=/usr/bin/node node_modules/entity-service/bin/entity-service.cjs\n');
    expect(unit).toContain('\nEnvironment=NODE_ENV=production DATA_DIR=%S/entity-service\n');
    const settings = {
      NODE_ENV: 'production',
      DATA_DIR: join(state, 'data'),
      DATABASE: 'embedded',
      PUBLIC_URL: 'https://example.com',
    };
    const command = ['setpriv', ...rights, process.execPath, join(project, 'bin/entity-service.cjs')];
    const service = await npmStart(settings, { command });
    await service.ready;
    expect(service.told()).toContain(join(state, 'data/first-password'));
    expect((await fetch(`${service.url}/health/ready`)).status).toBe(200);
    service.signalParent('SIGTERM');
    await expectStopped(service);
    expect(await serverPid(dataDir)).toBeUndefined();
  },
);
