/** What `database verify` and `database after-restore` do for backups, also for those of PostgreSQL's own tools. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AdminCommand } from '../support/admin.ts';
import type { Entity } from '../support/entities.ts';
import { useService } from '../support/service.ts';

const service = useService();
let admin: AdminCommand;
let directory: string;

beforeAll(async () => {
  admin = new AdminCommand(service().databaseUrl);
  directory = await mkdtemp(join(tmpdir(), 'entity-service-after-restore-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const createNote = async (caller: object): Promise<bigint> =>
  BigInt((await service().call<Entity>('POST', '/rest/entity/note', { ...caller, json: { text: 'a' } })).body.key);

describe('database after-restore', () => {
  test('ends all sessions, keeps API keys and gives no key that was given before', async () => {
    const { id } = await service().createUser('ada');
    const session = { cookie: await service().openSession(id) };
    const apiKey = { headers: { 'x-api-key': await service().createKey(id) } };
    const last = await createNote(session);
    const takenAt = '2026-11-22T21:28:25Z';
    const { code, stdout } = await admin.run(['database', 'after-restore', '--taken-at', takenAt, '--json']);
    expect(code).toBe(0);
    const done = JSON.parse(stdout) as { sessions: number; nextKey: string };
    expect(done).toMatchObject({ takenAt, sessions: 1 });
    expect(BigInt(done.nextKey) - last).toBeGreaterThan(999_999n);

    expect((await service().call('GET', '/auth', session)).status).toBe(401);
    expect(String(await createNote(apiKey))).toBe(done.nextKey);
    const [event] = await service().db.selectFrom('audit_event').select('detail').where('event', '=', 'database.restored').execute();
    expect(event?.detail).toMatchObject({ via: 'cli', takenAt, sessions: 1, nextKey: done.nextKey });
  });

  test('says what it has done and what an operator has to look at', async () => {
    const { stdout, stderr } = await admin.run(['database', 'after-restore', '--taken-at', '2026-11-22T21:28:25Z']);
    expect(stdout).toMatch(/^Ended 0 sessions\. The keys of new entities begin at \d+\.\n$/);
    expect(stderr).toBe(
      'note: passwords, rights and API keys are those of 2026-11-22 21:28:25Z, also those that were changed or revoked after it\n',
    );
  });

  test.each(['yesterday', '2026-11-22', '2999-01-01T00:00:00Z'])('refuses the time %s', async (time) => {
    const { code, stderr } = await admin.run(['database', 'after-restore', '--taken-at', time]);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/--taken-at.*(Give a time such as|This time is not over yet)/s)]);
  });
});

describe('the check of backups by doctor', () => {
  const finding = async (settings = {}) => {
    const { stdout } = await new AdminCommand(service().databaseUrl, settings).run(['doctor', '--json']);
    const { checks } = JSON.parse(stdout) as { checks: { name: string; status: string; message: string }[] };
    const { status, message } = checks.find(({ name }) => name === 'backups') ?? {};
    return [status, message];
  };

  test('warns in production until there is a backup of the last seven days', async () => {
    const none = 'no "database backup" within seven days, and the server has no archive of its log';
    expect(await finding()).toEqual(['ok', none]);
    const production = { NODE_ENV: 'production', PUBLIC_URL: 'https://api.example.com' };
    expect(await finding(production)).toEqual(['warn', `${none}: see docs/backup.md, unless other tools copy the database`]);
    await sql`insert into audit_event (event, outcome, at) values ('database.backed_up', 'ok', now() - interval '8 days')`.execute(
      service().db,
    );
    expect((await finding(production))[0]).toBe('warn');
    await admin.run(['database', 'backup', '--to', join(directory, 'first.backup')]);
    expect(await finding(production)).toEqual([
      'ok',
      expect.stringMatching(/^"database backup" last began at [0-9: Z-]+: "database verify" reads its file to the end$/),
    ]);
  });
});

describe('database verify', () => {
  test('reads a backup to its end; of a damaged one it names the file', async () => {
    const file = join(directory, 'whole.backup');
    await admin.run(['database', 'backup', '--to', file]);
    const { code, stdout } = await admin.run(['database', 'verify', '--from', file]);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/ is whole: the state of [0-9: Z-]+, \d+ rows, written by version \d/)]);
    const bytes = await readFile(file);
    const middle = Math.floor(bytes.length / 2);
    bytes[middle] = (bytes[middle] ?? 0) ^ 1;
    const damaged = join(directory, 'damaged.backup');
    await writeFile(damaged, bytes);
    expect(await admin.refusal(['database', 'verify', '--from', damaged])).toContain(`${damaged} is damaged`);
    expect(await admin.refusal(['database', 'verify', '--from', join(directory, 'nil')])).toMatch(/^there is no file /);
  });
});
