/** `deploy/nginx.conf` and `deploy/haproxy.cfg` in front of two replicas. `npm run test:faults -- rolling-nginx replica-nginx` and those of HAProxy run longer. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { loseReplica, replicaFaults } from '../faults/one-replica.ts';
import { rollReplicas } from '../faults/rolling.ts';
import { whyNoCertificate, writeCertificate } from '../support/certificate.ts';
import { createDatabaseUntilDone } from '../support/database.ts';
import { deployedProxies } from '../support/deployed-proxies.ts';
import { checkHaproxy } from '../support/haproxy.ts';
import { TestService } from '../support/service.ts';

for (const [name, proxy] of Object.entries(deployedProxies)) {
  const reason = proxy.whyNot();
  describe.skipIf(reason)(`two replicas behind ${name}${reason ? ` (skipped: ${reason})` : ''}`, () => {
    test(
      'while one after the other restarts, 12 clients create: no create is refused, and none makes two rows (rules 77 and 92)',
      { timeout: 180_000 },
      async () => {
        const url = await createDatabaseUntilDone();
        const plan = { rounds: 1, clients: 12, creates: 300, workers: 2 };
        const { violations, figures } = await rollReplicas(plan, proxy, url, { DATABASE_URL: url }, () => undefined);
        expect(violations).toEqual([]);
        expect(figures).toMatchObject({ restarts: 2, refused: 0, doubled: 0 });
      },
    );

    test.for(replicaFaults)(
      'with a replica that is %s, 12 clients create: others are served, each 503 has Retry-After, and no create makes two rows (rules 77 and 92)',
      { timeout: 240_000 },
      async (fault) => {
        const url = await createDatabaseUntilDone();
        const plan = { fault, clients: 12, holdMilliseconds: 10_000 };
        const { violations, figures } = await loseReplica(plan, proxy, url, { DATABASE_URL: url }, () => undefined);
        expect(violations).toEqual([]);
        expect(figures).toMatchObject({ refused: 0, doubled: 0 });
      },
    );
  });
}

for (const [name, proxy] of Object.entries(deployedProxies)) {
  const reason = proxy.whyNot();
  test.skipIf(reason)(`a file of 5 MB is imported through ${name}${reason ? ` (skipped: ${reason})` : ''}`, async () => {
    const service = await TestService.start();
    onTestFinished(() => service.close());
    const cookie = await service.openSession((await service.createUser('ada')).id);
    const address = Number(new URL(service.url).port);
    const { port, stop } = await proxy.start([address, address]);
    onTestFinished(stop);
    const headers = { cookie, 'content-type': 'application/x-ndjson' };
    const body = `${JSON.stringify({ text: 'x'.repeat(1_000_000) })}\n`.repeat(5);
    const response = await fetch(`http://127.0.0.1:${port}/rest/entity/large/import`, { method: 'POST', headers, body });
    expect(await response.text()).toContain('{"done":true,"row":5,"created":5,');
  });
}

const reason = deployedProxies.haproxy.whyNot() ?? whyNoCertificate;
describe.skipIf(reason)(`the file of HAProxy as it is, with TLS${reason ? ` (skipped: ${reason})` : ''}`, () => {
  test('has no fault', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'entity-service-proxies-'));
    onTestFinished(() => rm(directory, { recursive: true }));
    const { keyFile, certificateFile } = writeCertificate(directory, 'DNS:api.example.com');
    const both = join(directory, 'both.pem');
    await writeFile(both, (await readFile(certificateFile, 'utf8')) + (await readFile(keyFile, 'utf8')));
    const file = join(directory, 'haproxy.cfg');
    const deployed = await readFile(join(import.meta.dirname, '../../deploy/haproxy.cfg'), 'utf8');
    await writeFile(file, deployed.replace('/etc/ssl/entity-service/certificate-and-key.pem', both));
    const { status, stdout, stderr } = checkHaproxy(file);
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' });
  });
});
