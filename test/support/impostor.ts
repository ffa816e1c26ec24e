/**
 * Another user of the machine. It waits for the port of the embedded PostgreSQL, and for the path of its socket, and requests a password
 * from each client. Arguments: the port and, if any, the path of the socket. Writes each event as a line of JSON; ends with its standard
 * input.
 */
import { createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

const [port = '', socketPath] = process.argv.slice(2);
const tell = (event: object) => process.stdout.write(`${JSON.stringify(event)}\n`);
const askForPassword = Buffer.from('520000000800000003', 'hex');

const attack = (socket: Socket) => {
  tell({ connected: true });
  socket.on('error', () => undefined);
  socket.on('close', () => tell({ closed: true }));
  socket.once('data', () => {
    socket.on('data', (bytes: Buffer) => tell({ received: bytes.toString('latin1') }));
    socket.write(askForPassword);
  });
};

/** Resolves once it listens there; fails where it may not. */
async function take(place: { port: number; host: string } | { path: string }): Promise<void> {
  for (;;) {
    const server = createServer(attack);
    const { promise, resolve } = Promise.withResolvers<string>();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? ''));
    server.listen(place, () => resolve('listening'));
    const outcome = await promise;
    if (outcome !== 'EADDRINUSE') return void tell({ ...place, outcome });
    await delay(1);
  }
}

tell({ waits: true });
process.stdin.resume().on('end', () => process.exit());
await Promise.all([take({ port: Number(port), host: '127.0.0.1' }), socketPath && take({ path: socketPath })]);
