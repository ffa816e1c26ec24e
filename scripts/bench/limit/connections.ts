/** How the raw limit sends statements: reads many at a time on two connections, small writes together in one statement. */
import { Client, Pool, type QueryArrayConfig } from 'pg';

const readConnections = 2;
/** As the service gathers them (src/database/driver/write-group.ts). */
const maximumRows = 64;
const maximumUnderWay = 3;

/** Timestamps stay text: PostgreSQL writes them nearly as JSON wants them. */
const types = { getTypeParser: () => (text: string) => text } as unknown as NonNullable<QueryArrayConfig['types']>;

/** One row of a named statement, as PostgreSQL writes its values; undefined when there is none. */
export type Row = (string | null)[];
export type Read = (name: string, text: string, values: unknown[]) => Promise<Row | undefined>;

/** Opens the connections for reads. What is read in one turn of the event loop leaves in one write. */
export async function openReads(connectionString: string): Promise<Read> {
  const clients = Array.from(
    { length: readConnections },
    () => new Client({ connectionString, pipeline: true, options: '-c timezone=UTC' }),
  );
  await Promise.all(clients.map((client) => client.connect()));
  const corked = new Set<Client>();
  let turn = 0;
  return async (name, text, values) => {
    const client = clients[turn++ % readConnections] as Client;
    if (!corked.has(client)) {
      corked.add(client);
      client.connection.stream.cork();
      setImmediate(() => {
        corked.delete(client);
        client.connection.stream.uncork();
      });
    }
    const { rows } = await client.query<Row>({ name, text, values, rowMode: 'array', types });
    return rows[0];
  };
}

interface Waiting {
  row: string;
  resolve: (row: Row | undefined) => void;
  reject: (error: unknown) => void;
}

/**
 * Gathers rows, JSON text of an object each, for a statement that takes a JSON array of them. Its first column must be the number of the
 * row that a row of its result is for.
 */
export function groupWrites(pool: Pool, name: string, text: string): (row: string) => Promise<Row | undefined> {
  let waiting: Waiting[] = [];
  let underWay = 0;
  let scheduled = false;
  const schedule = () => {
    if (scheduled || underWay >= maximumUnderWay || waiting.length === 0) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      void send(waiting.splice(0, maximumRows));
    });
  };
  const send = async (rows: Waiting[]) => {
    underWay++;
    schedule();
    try {
      const values = [`[${rows.map(({ row }) => row).join()}]`];
      const result = await pool.query<Row>({ name, text, values, rowMode: 'array', types });
      const byNumber = new Map(result.rows.map(([n, ...row]) => [Number(n), row]));
      rows.forEach(({ resolve }, index) => resolve(byNumber.get(index + 1)));
    } catch (error) {
      for (const { reject } of rows) reject(error);
    } finally {
      underWay--;
      schedule();
    }
  };
  return (row) => {
    const { promise, resolve, reject } = Promise.withResolvers<Row | undefined>();
    waiting.push({ row, resolve, reject });
    schedule();
    return promise;
  };
}
