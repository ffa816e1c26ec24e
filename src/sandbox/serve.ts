/** The side of the thread: does the jobs that a `Sandbox` sends. */
import { parentPort } from 'node:worker_threads';
import type { SandboxMessage } from './sandbox.ts';

/** Answers each input with the output of `work`, which may report the place that it is about to look at. An error of `work` ends the thread. */
export function serveSandbox(work: (input: never, report: (place: string) => void) => unknown): void {
  const port = parentPort;
  if (!port) throw new Error('this module is the entry of a worker thread');
  const send = (message: SandboxMessage<unknown>) => port.postMessage(message, []);
  port.on('message', (input: unknown) => send({ kind: 'output', output: work(input as never, (place) => send({ kind: 'place', place })) }));
  send({ kind: 'ready' });
}
