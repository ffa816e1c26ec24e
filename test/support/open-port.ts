/** Waiting for a program that opens a port when it is ready. */
import type { ChildProcess } from 'node:child_process';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** Resolves when `port` of 127.0.0.1 accepts connections. Rejects when `child` ends before. */
export async function waitForPort(port: number, child: ChildProcess): Promise<void> {
  while (!(await isOpen(port))) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`${child.spawnfile} did not start`);
    await delay(10);
  }
}

function isOpen(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect(port, '127.0.0.1', () => {
    socket.destroy();
    resolve(true);
  });
  socket.on('error', () => resolve(false));
  return promise;
}
