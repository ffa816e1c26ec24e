/**
 * Clients of the package that write many entities at once: batches and bulk creates, which the package repeats under their Idempotency-Key, and one
 * that imports files. Their record is compared with the rows: a batch is there once and as a whole; an import is there up to the row that it has
 * reported, and continues there.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { Batch, EntityServiceClient, type Int64 } from '../../src/client/index.ts';
import { compareHistory } from './history.ts';
import type { Load, StartLoad } from './kill.ts';

/** A directory of ENTITY_TYPES_DIR: entities `row` have a unique `id`. The service must know it. */
export const typesDirectory = `${import.meta.dirname}/types`;

const partsOfBatch = 3;
const rowsOfBulk = 50;
const rowsOfFile = 4_000;
/** The service writes so many rows of a file in one transaction, if they are small. */
const rowsOfTransaction = 500;

/** A batch or a bulk create. */
interface Unit {
  size: number;
  /** The number of its entities that a later batch has not deleted. */
  left: number;
}

class ManyWriters implements Load {
  /** Of batches, bulk creates and transactions of imports. */
  acknowledged = 0;
  readonly #service: EntityServiceClient;
  readonly #violations: string[] = [];
  readonly #units = new Map<string, Unit>();
  /** The latest value that each client has written to its two counters. */
  readonly #counters = new Map<string, number>();
  /** The last reported row of each file without `by`, which is sent once. */
  readonly #once = new Map<string, number>();
  /** The files with `by`, which are sent until they are whole. */
  readonly #resumed = new Set<string>();
  #cuts = 0;
  #stopped = false;
  readonly #working: Promise<unknown>;

  constructor(clients: number, port: number, apiKey: string) {
    const retry = { attempts: 200, totalMs: 120_000, maxMs: 500 };
    this.#service = new EntityServiceClient({ baseUrl: `http://127.0.0.1:${port}`, credential: { apiKey }, retry });
    this.#working = Promise.all([...Array.from({ length: clients }, (_, n) => this.#sendUnits(`client-${n}`)), this.#sendFiles()]);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#working;
  }

  figures(): Record<string, number> {
    return {
      'batches and bulk creates': this.#units.size,
      'imported files': this.#once.size + this.#resumed.size,
      'imports cut off': this.#cuts,
    };
  }

  async #sendUnits(client: string): Promise<void> {
    let counters: Int64[] | undefined;
    let before: { unit: Unit; part: Int64 } | undefined;
    for (let number = 1; !this.#stopped; number++) {
      const of = `${client}-${number}`;
      try {
        if (number % 5 === 0) {
          await this.#service.entities('part').createMany(Array.from({ length: rowsOfBulk }, () => ({ of })));
          this.#note(of, rowsOfBulk);
          continue;
        }
        const batch = new Batch();
        for (let part = 0; part < partsOfBatch; part++) batch.create('part', { of });
        for (const index of [0, 1]) {
          if (counters?.[index] === undefined) batch.create('counter', { client, value: number });
          else batch.update('counter', counters[index], { value: number });
        }
        if (before) batch.delete('part', before.part);
        const { results } = await this.#service.runBatch(batch);
        const keys = results.map(({ entity }) => entity?.key ?? '');
        counters ??= keys.slice(partsOfBatch);
        if (before) before.unit.left -= 1;
        before = { unit: this.#note(of, partsOfBatch), part: keys[0] ?? '' };
        this.#counters.set(client, number);
      } catch (error) {
        this.#violations.push(`${of}: ${String(error)}`);
        return;
      }
    }
  }

  #note(of: string, size: number): Unit {
    const unit = { size, left: size };
    this.#units.set(of, unit);
    this.acknowledged += 1;
    return unit;
  }

  async #sendFiles(): Promise<void> {
    for (let number = 1; !this.#stopped; number++) {
      const file = `file-${number}`;
      if (number % 2 === 0) {
        this.#once.set(file, await this.#sendFile('plain', file, {}));
      } else {
        for (let row = 0; row < rowsOfFile;) row = await this.#sendFile('row', file, { by: ['id'], fromRow: row + 1 });
        this.#resumed.add(file);
      }
    }
  }

  /** Returns the last row that was reported. */
  async #sendFile(name: string, file: string, options: { by?: string[]; fromRow?: number }): Promise<number> {
    const rows = Array.from({ length: rowsOfFile }, (_, n) => ({ id: `${file}/${n + 1}`, file, number: n + 1 }));
    const before = (options.fromRow ?? 1) - 1;
    let reported = before;
    try {
      for await (const report of this.#service.entities(name).importFrom(rows, options)) {
        if (report.done === undefined) this.#violations.push(`${file}: row ${report.row}: ${report.detail}`);
        else reported = Math.max(before, report.row);
        if (report.done === false) this.acknowledged += 1;
      }
    } catch {
      if (reported > before) this.#cuts += 1;
      await delay(20);
    }
    return reported;
  }

  async compare(databaseUrl: string): Promise<string[]> {
    const client = new Client({ connectionString: databaseUrl });
    await client.connect();
    try {
      const violations = [this.#violations, await this.#compareUnits(client), await this.#compareFiles(client)];
      for (const name of ['part', 'counter', 'plain', 'row']) violations.push(await compareHistory(client, name));
      return violations.flat();
    } finally {
      await client.end();
    }
  }

  async #compareUnits(client: Client): Promise<string[]> {
    const { rows } = await client.query<{ of: string; created: number; left: number }>(
      `select change.fields ->> 'of' as of, count(*)::int as created, count(entity.key)::int as left
       from entity_change as change left join entity using (name, key)
       where name = 'part' and change.operation = 'created' group by 1`,
    );
    const found = new Map(rows.map(({ of, ...counts }) => [of, counts]));
    const wrong = [...this.#units].flatMap(([of, { size, left }]) => {
      const there = found.get(of);
      found.delete(of);
      return there?.created === size && there.left === left ? [] : [`${of}: ${size} created, ${left} left; but ${JSON.stringify(there)}`];
    });
    const { rows: counters } = await client.query<{ client: string; values: number[] }>(
      `select fields ->> 'client' as client, array_agg((fields ->> 'value')::int) as values from entity where name = 'counter' group by 1`,
    );
    const byClient = new Map(counters.map((row) => [row.client, row.values.join()]));
    for (const [owner, value] of this.#counters) {
      if (byClient.get(owner) !== `${value},${value}`) wrong.push(`${owner}: counters ${byClient.get(owner)}, not ${value}`);
    }
    return [...wrong, ...[...found.keys()].map((of) => `${of}: there, but never acknowledged`)];
  }

  async #compareFiles(client: Client): Promise<string[]> {
    const { rows } = await client.query<{ file: string; rows: number; numbers: number; last: number; version: number }>(
      `select fields ->> 'file' as file, count(*)::int as rows, count(distinct fields ->> 'number')::int as numbers,
         max((fields ->> 'number')::int) as last, max(version)::int as version
       from entity where name in ('plain', 'row') group by 1`,
    );
    const found = new Map(rows.map((row) => [row.file, row]));
    const isPrefix = (file: string, atLeast: number) => {
      const { rows: count, numbers, last, version } = found.get(file) ?? { rows: 0, numbers: 0, last: 0, version: 1 };
      return count === last && numbers === last && version === 1 && last >= atLeast && last % rowsOfTransaction === 0;
    };
    const files = [...this.#once, ...[...this.#resumed].map((file) => [file, rowsOfFile] as const)];
    return files
      .filter(([file, reported]) => !isPrefix(file, reported))
      .map(([file, reported]) => `${file}: ${reported} rows reported, but ${JSON.stringify(found.get(file))}`);
  }
}

/** Starts the clients, and one that imports. */
export const startManyWriters: StartLoad = (clients, port, { apiKey }) => new ManyWriters(clients, port, apiKey);
