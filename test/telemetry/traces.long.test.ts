import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { fixedPort } from '../support/fixed-port.ts';
import { TestService, password } from '../support/service.ts';

test('a collector that is unreachable or does not answer delays nothing', async () => {
  const silent = createServer(() => undefined);
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const { port } = silent.address() as { port: number };
  for (const endpoint of [`http://127.0.0.1:${await fixedPort()}`, `http://127.0.0.1:${port}`]) {
    const service = await TestService.start({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint });
    await service.createUser('ada');
    await service.signIn('ada', password);
    const stoppedAt = performance.now();
    await service.stop();
    expect(performance.now() - stoppedAt).toBeLessThan(8_000);
    await service.close();
  }
  silent.closeAllConnections();
  silent.close();
});
