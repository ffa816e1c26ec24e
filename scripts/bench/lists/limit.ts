/**
 * The raw limit of lists: `node:http` and `pg` run the statements of a list, one after the other, and send the rows as text. The path is the number of the
 * list, with `/named` behind it for statements with a name, which PostgreSQL parses and plans a few times only. It has no rights, cursors, entity tags or JSON.
 */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Pool } from 'pg';
import type { Statement } from './statements.ts';

const pool = new Pool({ connectionString: process.env['DATABASE_URL'] ?? '', max: Number(process.env['DATABASE_POOL_SIZE'] ?? 10) });
pool.on('error', () => undefined);
const asText = { getTypeParser: () => (text: string | Buffer) => text };

const [{ lists }] = (await once(process, 'message')) as [{ lists: Statement[][] }];

async function answer(path: string, response: ServerResponse): Promise<void> {
  const [, number, isNamed] = path.split('/');
  const parts: string[] = [];
  for (const [index, { sql, parameters }] of (lists[Number(number)] ?? []).entries()) {
    const name = isNamed && `${number}.${index}`;
    const { rows } = await pool.query<string[]>({ name, text: sql, values: [...parameters], rowMode: 'array', types: asText });
    for (const row of rows) parts.push(row.join());
  }
  const body = parts.join('\n');
  response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8', 'content-length': Buffer.byteLength(body) }).end(body);
}

const server = createServer((request, response) => {
  answer(request.url ?? '', response).catch((error: unknown) => {
    response.writeHead(500, { 'content-length': 0 }).end();
    process.stderr.write(`limit: ${String(error)}\n`);
  });
});
server.keepAliveTimeout = 72_000;
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on('SIGTERM', () => process.exit(0));
