/**
 * Stands in for the service in tests that kill, interrupt and race it: opens the embedded database of a directory, then runs the commands
 * on its standard input. It writes lines of JSON.
 * `write TABLE` inserts rows without end and prints each number once it is committed; `query` queries the database; `stop` stops the
 * database and ends.
 */
import { createInterface } from 'node:readline';
import { Client } from 'pg';
import { openEmbedded } from '../../src/embedded/embedded.ts';

const tell = (event: object) => process.stdout.write(`${JSON.stringify(event)}\n`);
process.on('SIGINT', () => tell({ interrupted: true }));

const [dataDir = '', cacheDir] = process.argv.slice(2);
try {
  const database = await openEmbedded(dataDir, cacheDir === undefined ? {} : { cacheDir });
  tell({ url: database.url, origin: database.origin });
  for await (const command of createInterface(process.stdin)) {
    if (command === 'stop') break;
    await using client = await connect(database.url);
    if (command === 'query') tell({ rows: (await client.query('select 1 as one')).rows });
    const [, table] = /^write (\w+)$/.exec(command) ?? [];
    if (table !== undefined) {
      await client.query(`create table ${table} (number int primary key)`);
      for (let number = 1; ; number += 1) {
        await client.query(`insert into ${table} values ($1)`, [number]);
        tell({ written: number });
      }
    }
  }
  await database.stop();
  tell({ stopped: true });
} catch (error) {
  tell({ error: error instanceof Error ? error.message : String(error) });
  process.exitCode = 1;
}
process.stdin.destroy();

async function connect(url: string): Promise<Client & AsyncDisposable> {
  const client = new Client({ connectionString: url });
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}
