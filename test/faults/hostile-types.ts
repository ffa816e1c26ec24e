/**
 * Hostile types are planned and applied, hostile values are sent for those that are accepted, and hostile files are imported. Other clients are served meanwhile, nothing is a 500, and
 * the memory does not grow (rules 101 and 102).
 */
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { residentBytes, startService, type Server } from '../../scripts/lib/processes.ts';
import { makeCallers } from './callers.ts';
import { hostileTypes, type HostileType } from './hostile-documents.ts';
import { hostileFiles, ordinaryFile, type HostileFile } from './hostile-files.ts';
import { Caller, type Reply, type Send } from './http.ts';
import type { Outcome, Progress } from './outcome.ts';

export interface HostilePlan {
  /** The number of types, spread over all kinds. */
  types: number;
  /** The number of files, the first of them. */
  files: number;
  /** How long the memory may take to settle, in seconds; 0 if it is not compared. */
  settleSeconds: number;
}

const mebibyte = 1_048_576;
const maximumGrowth = 64 * mebibyte;

export async function sendHostileTypes(
  { types, files, settleSeconds }: HostilePlan,
  databaseUrl: string,
  settings: Record<string, string>,
  progress: Progress,
): Promise<Outcome> {
  await using opened = new AsyncDisposableStack();
  const server = await startService(settings, opened);
  const { apiKey } = await makeCallers(databaseUrl, { users: 1, withTypes: true });
  const violations: string[] = [];
  const attack = new Attack(server, apiKey, violations);
  opened.defer(() => attack.close());
  const step = hostileTypes.length / Math.min(types, hostileTypes.length);
  const chosen = Array.from({ length: Math.min(types, hostileTypes.length) }, (_, n) => hostileTypes[Math.floor(n * step)]);
  if (settleSeconds > 0) {
    for (const type of chosen.slice(0, 100)) if (type) await attack.send(type);
    // Then the space for young objects has the size that ordinary work gives it.
    for (let round = 0; round < 3; round++) await attack.sendFile(ordinaryFile);
  }
  const before = await residentBytes(server);
  const others = watchOthers(server, apiKey);
  for (const [n, type] of chosen.entries()) {
    if (type) await attack.send(type);
    if ((n + 1) % 100 === 0) progress(`${n + 1} types, ${attack.sent} requests`);
  }
  for (const file of hostileFiles.slice(0, files)) await attack.sendFile(file);
  const { served, failed, slowest } = await others.stop();
  if (failed > 0 || served === 0) violations.push(`other clients: ${served} served, ${failed} failed`);
  const growth = settleSeconds > 0 ? await settledGrowth(server, before ?? 0, settleSeconds) : 0;
  if (growth > maximumGrowth) violations.push(`the memory has grown by ${(growth / mebibyte).toFixed(0)} MiB`);
  if (server.exitCode !== null) violations.push('the service has ended');
  return {
    violations,
    figures: {
      types: chosen.length,
      files: Math.min(files, hostileFiles.length),
      requests: attack.sent,
      accepted: attack.accepted,
      'most time of the main thread for one request (ms)': Math.round(attack.longest.ms),
      'of this request': attack.longest.about,
      'slowest read of other clients (ms)': Math.round(slowest),
      'reads of other clients': served,
      'growth of the memory (MiB)': Math.round(growth / mebibyte),
    },
  };
}

class Attack {
  sent = 0;
  accepted = 0;
  longest = { ms: 0, about: '' };
  readonly #caller: Caller;
  readonly #server: Server;
  readonly #apiKey: string;
  readonly #violations: string[];
  #number = 0;

  constructor(server: Server, apiKey: string, violations: string[]) {
    this.#caller = new Caller(() => server.port);
    this.#server = server;
    this.#apiKey = apiKey;
    this.#violations = violations;
  }

  async send({ about, document, values }: HostileType): Promise<void> {
    const name = `hostile${(this.#number += 1)}`;
    await this.#call('POST', `/rest/entity-type/${name}/plan`, about, { json: document });
    const { status, headers } = await this.#call('PUT', `/rest/entity-type/${name}`, about, { json: document }, { 'if-none-match': '*' });
    if (status !== 201) return;
    this.accepted += 1;
    for (const value of values) await this.#call('POST', `/rest/entity/${name}`, about, { json: value });
    await this.#call('DELETE', `/rest/entity-type/${name}`, about, {}, { 'if-match': headers.etag ?? '*' });
  }

  async sendFile({ about, type, text }: HostileFile): Promise<void> {
    for (const query of ['', '?dryRun=true'])
      await this.#call('POST', `/rest/entity/hostile-file/import${query}`, about, { raw: text }, { 'content-type': type });
  }

  close(): void {
    this.#caller.close();
  }

  async #call(
    method: string,
    path: string,
    about: string,
    body: Pick<Send, 'json' | 'raw'>,
    headers: Record<string, string> = {},
  ): Promise<Reply> {
    const before = await mainThreadMs(this.#server);
    const all = { 'x-api-key': this.#apiKey, ...headers };
    const reply = await this.#caller.send(method, path, { ...body, headers: all }).catch(() => undefined);
    const ms = (await mainThreadMs(this.#server)) - before;
    this.sent += 1;
    if (ms > this.longest.ms) this.longest = { ms, about: `${method} ${about}` };
    if (reply === undefined || reply.status === 500)
      this.#violations.push(`${method} ${about}: ${reply ? reply.body.slice(0, 200) : 'no answer'}`);
    return reply ?? { status: 0, headers: {}, body: '' };
  }
}

/** The processor time of the main thread since its start; NaN where the system has no /proc. It depends less on other work of the machine than elapsed time. */
async function mainThreadMs({ pid }: Server): Promise<number> {
  const text = await readFile(`/proc/${pid}/task/${pid}/schedstat`, 'latin1').catch(() => '');
  return Number(text.split(' ')[0] || NaN) / 1e6;
}

/** A client that reads, one request after the other, until it is stopped. */
function watchOthers(server: Server, apiKey: string): { stop(): Promise<{ served: number; failed: number; slowest: number }> } {
  const seen = { served: 0, failed: 0, slowest: 0 };
  const stopping = new AbortController();
  const work = async () => {
    const caller = new Caller(() => server.port);
    while (!stopping.signal.aborted) {
      const began = performance.now();
      const reply = await caller.send('GET', '/rest/entity/quick', { headers: { 'x-api-key': apiKey } }).catch(() => ({ status: 0 }));
      seen[reply.status === 200 ? 'served' : 'failed'] += 1;
      seen.slowest = Math.max(seen.slowest, performance.now() - began);
      await delay(5);
    }
    caller.close();
  };
  const ended = work();
  return {
    async stop() {
      stopping.abort();
      await ended;
      return seen;
    },
  };
}

/** By how much the memory has grown, as soon as it is within the limit, or after this time. */
async function settledGrowth(server: Server, before: number, seconds: number): Promise<number> {
  const deadline = performance.now() + seconds * 1_000;
  for (;;) {
    const growth = ((await residentBytes(server)) ?? before) - before;
    if (growth <= maximumGrowth || performance.now() > deadline) return growth;
    await delay(1_000);
  }
}
