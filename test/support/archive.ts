/** An embedded database with an archive, in directories of the test under way. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { readHistories, type LogHistory } from '../../src/embedded/archive/histories.ts';
import { planRestore } from '../../src/embedded/archive/restore-plan.ts';
import { restoreArchive } from '../../src/embedded/archive/restore.ts';
import { openEmbedded, type EmbeddedDatabase } from '../../src/embedded/embedded.ts';
import { Archive } from '../../src/embedded/archive/archive.ts';
import { connect, newDataDir } from './embedded.ts';

export const never = new AbortController().signal;
export const unsafe = { settings: { fsync: 'off' } };

export interface Archiving {
  database: EmbeddedDatabase;
  archive: Archive;
  /** What the archive has logged. */
  lines: Record<string, unknown>[];
}

export class ArchiveScene {
  readonly directory: string;
  readonly dataDir: string;

  private constructor(directory: string, dataDir: string) {
    this.directory = directory;
    this.dataDir = dataDir;
  }

  static async create(): Promise<ArchiveScene> {
    const directory = await mkdtemp(join(tmpdir(), 'entity-service-archive-'));
    onTestFinished(() => rm(directory, { recursive: true, force: true }));
    return new ArchiveScene(directory, await newDataDir());
  }

  async open(at = this.dataDir): Promise<Archiving> {
    const database = await openEmbedded(at, unsafe);
    onTestFinished(() => database.stop());
    const lines: Record<string, unknown>[] = [];
    const log = { info: (line: Record<string, unknown>) => lines.push(line), error: (line: Record<string, unknown>) => lines.push(line) };
    const archive = new Archive(database.archiveUrl, { directory: this.directory, days: 7 }, log);
    onTestFinished(() => archive.close());
    return { database, archive, lines };
  }

  async close({ archive, database }: Archiving): Promise<void> {
    await archive.close();
    await database.stop();
  }

  async newest(): Promise<LogHistory | undefined> {
    return (await readHistories(this.directory)).at(-1);
  }

  /** Until there is a moment that can be restored. */
  untilBase(): Promise<void> {
    return expect
      .poll(async () => {
        const { bases = [], reach } = (await this.newest()) ?? {};
        return bases.length === 1 && reach !== undefined && reach.at >= (bases[0]?.at ?? reach.at);
      })
      .toBe(true);
  }

  untilReach(at: Date): Promise<void> {
    return expect.poll(async () => ((await this.newest())?.reach?.at ?? new Date(0)) >= at).toBe(true);
  }

  async write({ database }: Archiving, from: number, to: number): Promise<Date> {
    const client = await connect(database.url);
    await client.query('create table if not exists written (number int)');
    await client.query('insert into written select generate_series($1::int, $2::int)', [from, to]);
    await client.end();
    return new Date();
  }

  /** The numbers in a restored database. `onStep` gets the lines for a person. */
  async restored(until: Date | undefined, onStep: (line: string) => void = () => undefined): Promise<number[]> {
    const plan = await planRestore(this.directory, until);
    return await restoreArchive(await newDataDir(), plan, { signal: never, onStep }, async (at) => {
      const database = await openEmbedded(at, unsafe);
      try {
        const client = await connect(database.url);
        const { rows } = await client.query<{ number: number }>('select number from written order by number');
        await client.end();
        return rows.map(({ number }) => number);
      } finally {
        await database.stop();
      }
    });
  }
}
