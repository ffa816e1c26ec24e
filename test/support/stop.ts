/** Ways to start and stop the service with the embedded PostgreSQL, and what must be left of it. Linux only. */
import { afterAll, beforeAll, expect } from 'vitest';
import { newDataDir } from './embedded.ts';
import { leftovers } from './leftovers.ts';
import { npmStart, primaryOf, type Started } from './start.ts';

export class StopTrial {
  dataDir = '';
  readonly #workers: string;

  /** Call it in a `describe` block, whose tests share one data directory. */
  constructor(workers = '1') {
    this.#workers = workers;
    beforeAll(async () => {
      this.dataDir = await newDataDir(afterAll);
    });
  }

  start(dataDir = this.dataDir, settings: Record<string, string> = {}): Promise<Started> {
    return npmStart({ DATA_DIR: dataDir, WORKERS: this.#workers, ...settings });
  }

  /** Starts the service, and waits until it serves and its PostgreSQL runs. */
  async ready(settings: Record<string, string> = {}): Promise<Started> {
    const service = await this.start(this.dataDir, settings);
    await service.ready;
    expect(await leftovers(this.dataDir)).toEqual(expect.arrayContaining(['postmaster.pid', '.s.PGSQL.5432']));
    return service;
  }

  /** Waits for the end of the service. Nothing is left of it then, and its log has the reason. */
  async expectGone(service: Started, reason: string, { status = 0, dataDir = this.dataDir } = {}): Promise<void> {
    expect((await service.ended).code, service.told()).toBe(status);
    expect(await leftovers(dataDir)).toEqual([]);
    const level = ['start-failed', 'fault', 'database-lost'].includes(reason) ? 'fatal' : 'info';
    expect(service.log().filter(({ event }) => String(event).startsWith('service.sto'))).toEqual([
      expect.objectContaining({ level, event: 'service.stop', reason }),
      expect.objectContaining({ level: 'info', event: 'service.stopped', status, durationMs: expect.any(Number) }),
    ]);
  }
}

/** Sends SIGTERM to the primary process alone. */
export const terminate = async (service: Started) => process.kill(await primaryOf(service), 'SIGTERM');
