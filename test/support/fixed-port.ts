/** Ports for servers whose address must be known before they start. */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** A free port of the loopback address below 32768, where Linux begins to assign ports by itself. So no other test gets it by listening on port 0. */
export async function fixedPort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_000);
    const server = createServer().listen(port, '127.0.0.1');
    try {
      await once(server, 'listening');
      return port;
    } catch {
      // Another program has this one.
    } finally {
      server.close();
    }
  }
}
