/** The steps of docs/own-database.md: a service moves from the embedded database to another server, and its session goes on. */
import { randomBytes } from 'node:crypto';
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, inject, onTestFinished, test, vi } from 'vitest';
import { projectDirectory, runAll, stepsOf } from '../support/document-runner.ts';
import { readDocument } from '../support/markdown.ts';
import { execute, withDatabase } from '../support/sql.ts';
import { npmStart } from '../support/start.ts';

vi.setConfig({ testTimeout: 180_000 });

const page = readDocument('docs/own-database.md');
const blockOf = (language: string) => new RegExp(`^ *\`\`\`${language}\n(.*?)^ *\`\`\`$`, 'ms').exec(page)?.[1]?.trim() ?? '';

test('the steps of docs/own-database.md move entities and sessions to another server', async () => {
  const server = inject('postgresUrl');
  const name = `moved_${randomBytes(6).toString('hex')}`;
  const url = withDatabase(server, name);
  const { username, password } = new URL(url);
  const real: [string, string][] = [
    ['postgres://entities_owner:what-only-the-service-knows@db.example.com/entities?sslmode=verify-full', url],
    ['postgres://entities_owner@db.example.com/entities?sslmode=verify-full', url.replace(`:${password}@`, '@')],
    ['what-only-the-service-knows', decodeURIComponent(password)],
    ['database entities owner entities_owner', `database ${name} owner ${username}`],
  ];
  const asRun = (text: string) => real.reduce((result, [written, value]) => result.replaceAll(written, value), text);

  const cwd = await projectDirectory();
  const embedded = await npmStart({}, { cwd });
  await embedded.ready;
  const [secret = ''] = /\b[a-z0-9]{6}(-[a-z0-9]{6}){3}\b/.exec(embedded.told()) ?? [];
  const signedIn = await fetch(`${embedded.url}/auth`, { method: 'POST', body: new URLSearchParams({ user: 'admin', password: secret }) });
  const headers = { cookie: signedIn.headers.getSetCookie()[0]?.split(';')[0] ?? '', 'content-type': 'application/json' };
  const created = await fetch(`${embedded.url}/rest/entity/customer`, { method: 'POST', headers, body: '{"city":"London"}' });
  expect(created.status).toBe(201);

  onTestFinished(() => execute(server, `drop database if exists ${name} with (force)`));
  // The role of the suite's server may make no other role, so the database is its own.
  const [makeRole, makeDatabase = ''] = blockOf('sql').split(';\n');
  expect(makeRole).toMatch(/^create role/);
  await execute(server, asRun(makeDatabase));
  embedded.signal('SIGINT');
  expect((await embedded.ended).code).toBe(0);
  const commands = stepsOf(page).map(({ command }) => asRun(command));
  expect(commands).toHaveLength(2);
  const [, copied = ''] = await runAll(commands, cwd);
  expect(copied).toContain('The rows of each table are the same in both.');

  await appendFile(join(cwd, '.env'), `${asRun(blockOf('ini'))}\n`);
  const [checked = ''] = await runAll(['npm run -s admin -- doctor'], cwd);
  expect(checked).toMatch(/^ok +migrations +complete$/m);
  const moved = await npmStart({}, { cwd, port: embedded.port });
  await moved.ready;
  expect(moved.told()).toContain(name);
  const read = await fetch(`${moved.url}${created.headers.get('location')}`, { headers });
  expect([read.status, await read.json()]).toMatchObject([200, { createdBy: 'admin', fields: { city: 'London' } }]);
  moved.signal('SIGINT');
  expect((await moved.ended).code).toBe(0);
});
