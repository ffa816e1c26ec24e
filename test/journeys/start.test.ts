/** The first and the second start. `start.long.test.ts` has others. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { isAlive, newDataDir, serverPid } from '../support/embedded.ts';
import { credentialsIn, expectStopped, npmStart, signIn } from '../support/start.ts';

// Each start creates or opens a database and stops again, on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

describe('npm start with no settings but the directory and the port', () => {
  let dataDir = '';
  let credentials = { user: '', password: '' };
  let key = '';
  beforeAll(async () => {
    dataDir = await newDataDir(afterAll);
  });

  test('starts the service with its own database, and prints its URL and how to sign in', async () => {
    const service = await npmStart({ DATA_DIR: dataDir });
    await service.ready;

    expect(service.told()).toContain(`  API         ${service.url}\n`);
    expect(service.told()).toContain(`  Swagger UI  ${service.url}/docs\n`);
    credentials = credentialsIn(service.told()) ?? credentials;
    expect(credentials).toEqual({ user: 'admin', password: expect.stringMatching(/^([a-z2-9]{6}-){3}[a-z2-9]{6}$/) });
    expect((await fetch(`${service.url}/health/ready`)).status).toBe(200);
    expect((await fetch(`${service.url}/docs`)).status).toBe(200);

    const client = await signIn(service, credentials.user, credentials.password);
    ({ key } = await client.entities('note').create({ text: 'kept' }));

    service.signal('SIGINT');
    await expectStopped(service);
    expect(await serverPid(dataDir)).toBeUndefined();

    const log = JSON.stringify(service.log());
    expect(log, 'the generated password is only printed to the terminal (rule 86)').not.toContain(credentials.password);
    expect(service.log().filter(({ event }) => event === 'configuration.loaded')).toHaveLength(1);
  });

  test('starts again on the same data without printing a password, and stops at SIGTERM to npm too', async () => {
    const service = await npmStart({ DATA_DIR: dataDir });
    await service.ready;
    expect(credentialsIn(service.told())).toBeUndefined();
    const client = await signIn(service, credentials.user, credentials.password);
    expect((await client.entities('note').get(key)).fields).toEqual({ text: 'kept' });

    service.signalParent('SIGTERM');
    await service.ended;
    await expect.poll(async () => isAlive(await serverPid(dataDir))).toBe(false);
  });
});
