import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { AdminCommand, runAdmin, startAdmin } from '../support/admin.ts';
import { useService } from '../support/service.ts';

const service = useService();
let environment: Record<string, string>;

beforeAll(async () => {
  await service().createUser('eve');
  environment = { DATABASE_URL: service().databaseUrl };
});

describe('the process', () => {
  test('reads a password from a pipe, and exits with 0', async () => {
    const run = await startAdmin(['user', 'create', 'ada', '--password-stdin', '--json'], {
      environment,
      input: 'a pale horse battery staple\n',
    });
    expect(run).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(run.stdout)).toMatchObject({ name: 'ada' });
    await service().signIn('ada', 'a pale horse battery staple');
  });

  test('exits with 1 after a refusal, and with 2 on wrong usage; with --json the reason is a document', async () => {
    const refused = await startAdmin(['user', 'disable', 'nobody', '--json'], { environment });
    expect(refused).toMatchObject({ code: 1, stderr: 'error: there is no user called "nobody"\n' });
    expect(JSON.parse(refused.stdout)).toEqual({ error: 'there is no user called "nobody"' });
    const wrong = await startAdmin(['user', 'disable', '--json'], { environment });
    expect(wrong).toMatchObject({ code: 2, stderr: "error: missing required argument 'name'\n" });
    expect(JSON.parse(wrong.stdout)).toEqual({ error: "missing required argument 'name'" });
  });

  test.each([
    [['database', 'backup', '--to', ''], 'the value of --to <file> is empty'],
    [['database', 'verify', '--from', ''], 'the value of --from <path> is empty'],
    [['entities', 'export', 'note', '-', '--filter', ''], 'the value of --filter <json> is empty'],
    [['entities', 'export', 'note', ''], 'the argument <file> is empty'],
    [['types', 'plan', 'a', ''], 'the argument <path> is empty'],
  ])('exits with 2 if a value is empty, as of a variable that is not set: %j', async (words, message) => {
    expect(await runAdmin(words, { environment })).toEqual({ code: 2, stdout: '', stderr: `error: ${message}\n` });
  });

  test.each([
    [['key', 'create', 'eve', '--name', 'lost']],
    [['audit', 'list', '--json']],
    [['entities', 'export', 'note', '-']],
    [['doctor']],
  ])('exits with 1 and says why if its output cannot be written: %j', async (words) => {
    const { code, stderr } = await startAdmin(words, { environment, outputFile: '/dev/full' });
    expect(stderr).toMatch(
      /^error: standard output cannot be written \(ENOSPC: [^\n]+\): changes of the command stand, and what it had to show is lost$/m,
    );
    expect(stderr.match(/^error: /gm)).toHaveLength(1);
    expect(code).toBe(1);
  });

  test('exits with 2 on wrong usage also if the reader of its messages has ended', async () => {
    const script = '"$0" src/cli/main.ts 2>&1 | true; exit "${PIPESTATUS[0]}"';
    const run = promisify(execFile)('bash', ['-c', script, process.execPath], { cwd: fileURLToPath(new URL('../..', import.meta.url)) });
    await expect(run).rejects.toMatchObject({ code: 2 });
  });

  test('is run by "npm run -s admin", with no other text on standard output', async () => {
    const { stdout } = await promisify(execFile)('npm', ['run', '-s', 'admin', '--', 'user', 'list', '--json'], {
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
      env: { ...process.env, ...environment },
    });
    expect(JSON.parse(stdout)).toEqual(await new AdminCommand(service().databaseUrl).json(['user', 'list']));
  });
});

test('an unreachable database is one line, without its password', async () => {
  const run = await runAdmin(['user', 'list'], { environment: { DATABASE_URL: 'postgres://me:hush@127.0.0.1:1/db' } });
  expect(run).toMatchObject({ code: 1, stdout: '' });
  expect(run.stderr).toMatch(/^error: PostgreSQL at .* refuses connections: [^\n]+\n$/);
  expect(run.stderr).not.toContain('hush');
});

test('invalid settings are named, one a line', async () => {
  const run = await runAdmin(['user', 'list'], { environment: { PORT: 'x', WORKERS: 'y' } });
  expect(run).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^error: PORT must[^\n]*\nerror: WORKERS must[^\n]*\n$/),
  });
});

test('--version prints the version of the service', async () => {
  const { version } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string };
  expect(await runAdmin(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
});

test.each([
  [['usr'], "unknown command 'usr' (Did you mean user?)"],
  [['user', 'lst'], "unknown command 'lst' (Did you mean list?)"],
  [['user', 'list', '--jsn'], "unknown option '--jsn' (Did you mean --json?)"],
  [['user', 'list', 'ada'], "too many arguments for 'list'. Expected 0 arguments but got 1: ada."],
  [['profile', 'update', 'sales'], 'nothing to change: give --label, --roles, --locale, --no-locale or --attribute'],
  [['user', 'update', 'ada'], 'nothing to change: give --display-name, --locale, --no-locale, --time-zone or --attribute'],
  [['key', 'create', 'ada'], "required option '--name <text>' not specified"],
  [['help', 'user', 'lst'], 'there is no command "user lst"'],
])('wrong usage is one line and exit code 2: %j', async (words, message) => {
  expect(await runAdmin(words)).toEqual({ code: 2, stdout: '', stderr: `error: ${message}\n` });
});

test.each([[[]], [['user']], [['user', 'profile']]])(
  'an incomplete command shows the help on standard error and exits with 2: %j',
  async (words) => {
    const run = await runAdmin(words);
    expect(run).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(/^Usage: npm run admin -- /) });
  },
);
