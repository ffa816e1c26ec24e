import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { Command } from 'commander';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { buildProgram } from '../../src/cli/program.ts';
import { AdminCommand, runAdmin } from '../support/admin.ts';
import { writeRights } from '../support/rights-directory.ts';
import { createDatabase } from '../support/database.ts';

const desk = {
  input: new PassThrough(),
  output: new PassThrough(),
  errors: new PassThrough(),
  environment: () => ({}),
  exitCode: 0 as const,
};

/** All commands without subcommands, as their words. */
function leaves(command: Command, words: string[] = []): { words: string[]; command: Command }[] {
  if (command.commands.length === 0) return [{ words, command }];
  return command.commands.flatMap((each) => leaves(each, [...words, each.name()]));
}

/** The heading of a command's section in docs/admin.md, such as `user create <name> [--display-name <text>] …`. */
function usage(words: string[], command: Command): string {
  const parts = command.registeredArguments.map((argument) => {
    const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
    return argument.required ? `<${name}>` : `[${name}]`;
  });
  const options = command.options.filter((option) => option.long !== '--json');
  return [...words, ...parts, ...options.map((option) => (option.mandatory ? option.flags : `[${option.flags}]`))].join(' ');
}

const all = leaves(await buildProgram(desk));
const documented = await readFile(new URL('../../docs/admin.md', import.meta.url), 'utf8');

test('docs/admin.md has a section for every command with its arguments and options, and for no other', () => {
  const headings = [...documented.matchAll(/^### `(.*)`$/gm)].map(([, heading = '']) => heading);
  const usages = all.filter(({ words }) => words[0] !== 'help').map(({ words, command }) => usage(words, command));
  expect(headings.sort()).toEqual(usages.sort());
});

/** The words that a shell passes on after `npm run -s admin --`, and the standard input. */
function shell(line: string): { words: string[]; input: string } {
  const [command = '', file] = line.split(' < ');
  const words = [...command.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map((match) => match[1] ?? match[2] ?? match[3] ?? '');
  return { words, input: file === 'password.txt' ? 'kettle marmot vestibule nine\n' : '' };
}

/** Replaces the parts of the output that differ between runs. */
function masked(output: string): string {
  return output
    .trimEnd()
    .replaceAll(/\d{4}-\d\d-\d\d([ T])\d\d:\d\d:\d\d(\.\d{3})?Z/g, '<time>')
    .replaceAll(/<time> {2}\S+$/gm, '<time>  <actor>')
    .replaceAll(/\b[a-z2-9]{6}(?:-[a-z2-9]{6}){3}\b/g, '<password>')
    .replaceAll(/"id": "\d+"/g, '"id": "<number>"')
    .replaceAll(/\bactor=\S+|(?<="actor": )"[^"]*"/g, '<actor>');
}

/** Row counts and sizes depend on the commands before, and the columns on the counts. */
function maskedTransfer(output: string): string {
  return masked(output)
    .replaceAll(/ to \S+:\d+\/\w+\./g, ' to <target>.')
    .replaceAll(/\d+/g, '<number>')
    .replaceAll(/ +/g, ' ');
}

test('every command of docs/admin.md prints the output written there, run from the first to the last', async () => {
  const database = await createDatabase();
  onTestFinished(() => database.drop());
  const admin = new AdminCommand(database.url);
  const [target, empty] = [await createDatabase(), await createDatabase()];
  const backups = await mkdtemp(join(tmpdir(), 'entity-service-documentation-'));
  onTestFinished(async () => {
    await Promise.all([target.drop(), empty.drop(), rm(backups, { recursive: true })]);
    vi.unstubAllEnvs();
  });
  await writeFile(join(backups, 'products.csv'), 'number,price\n1,9.50\n2,4.25\n3,12\n');
  const [, rule = ''] = /^```json\n(\{ "filter".*)\n```$/m.exec(documented) ?? [];
  await writeFile(join(backups, 'rule.json'), rule);
  await writeRights(join(backups, 'more-rights'), {
    'roles/editor.yaml': {
      description: 'Keeps customers up to date',
      grants: [
        { entity: '*', actions: ['read'], filter: { $createdBy: { $var: 'user.name' } } },
        { entity: 'customer', actions: ['create', 'read', 'update'] },
        { entity: 'order', actions: ['create', 'read', 'update', 'label'] },
      ],
    },
  });
  const [, cases = ''] = /^```yaml\n(- name: a clerk.*?)^```$/ms.exec(documented) ?? [];
  const filter = { region: { $in: { $var: 'user.regions' } } };
  await writeRights(join(backups, 'tested-rights'), {
    'attributes.yaml': { user: { regions: { type: 'array', items: { type: 'string' } } } },
    'roles/clerk.yaml': { grants: [{ entity: 'order', name: 'region', actions: ['read', 'update'], filter, read: ['*', '-margin'] }] },
    'profiles/clerks.yaml': { label: 'Clerks', roles: ['clerk'] },
    'cases/order.yaml': cases,
  });
  const targetUrl = new URL(target.url);
  vi.stubEnv('PGPASSWORD', decodeURIComponent(targetUrl.password));
  targetUrl.password = '';
  const inTest = (text: string) => text.replace('/backups', backups).replace(/^postgres:.*/, targetUrl.href);
  const pattern = /^esk_(\w{12})_\w{49}$/;
  const keys: [written: string, real: string][] = [];
  const asReal = (text: string) => keys.reduce((result, [written, real]) => result.replaceAll(written, real), text);
  const used = new Set<string>();
  for (const [, block = ''] of documented.matchAll(/^```console\n(.*?)^```$/gms)) {
    for (const [, line = '', written = ''] of block.matchAll(/^\$ npm run -s admin -- (.*)\n((?:(?!\$ ).*\n)*)/gm)) {
      const { words, input } = shell(asReal(line));
      used.add(all.find((each) => each.words.every((word, index) => word === words[index]))?.words.join(' ') ?? line);
      const runner = words[1] === 'restore' ? new AdminCommand(empty.url) : admin;
      const { stdout, stderr } = await runner.run(words.map(inTest), input);
      const [writtenKey, realKey] = [written, stdout].map((text) => /esk_\w+/.exec(text)?.[0] ?? '');
      if (writtenKey && realKey) {
        keys.push([writtenKey, realKey], [pattern.exec(writtenKey)?.[1] ?? '', pattern.exec(realKey)?.[1] ?? '']);
      }
      if (words[0] === 'doctor') {
        const checks = (text: string) => text.split('\n').map((each) => each.split(/ {2,}/)[1]);
        // The test's own database has no disk to check.
        expect(checks(stdout).filter(Boolean)).toEqual(checks(written).filter((name) => name && name !== 'disk'));
      } else if (words[0] === 'database') {
        const notes = stderr.split('\n').filter((text) => text.startsWith('note: '));
        expect(maskedTransfer(stdout + notes.join('\n')), line).toBe(maskedTransfer(inTest(written)));
      } else {
        expect(masked(stdout + stderr), line).toBe(masked(asReal(inTest(written))));
      }
    }
  }
  expect([...used].sort()).toEqual(
    all
      .map(({ words }) => words.join(' '))
      .filter((name) => name !== 'help')
      .sort(),
  );
});

describe('help', () => {
  const groups = [
    [],
    ['user'],
    ['user', 'profile'],
    ['role'],
    ['profile'],
    ['key'],
    ['types'],
    ['entities'],
    ['audit'],
    ['service-secret'],
    ['database'],
  ];

  test.each([...groups, ...all.map(({ words }) => words)].map((words) => [words]))(
    '%j has an example, with --help and with help',
    async (words) => {
      const run = await runAdmin([...words, '--help']);
      expect(run).toMatchObject({ code: 0, stderr: '' });
      expect(run.stdout).toContain(['Usage: npm run admin --', ...words].join(' '));
      expect(run.stdout).toMatch(/\nExamples?:\n {2}\$ npm run admin -- /);
      expect(await runAdmin(['help', ...words])).toEqual(run);
    },
  );

  test('all commands except help have --json', () => {
    expect(all.filter(({ command }) => command.options.every(({ long }) => long !== '--json')).map(({ words }) => words)).toEqual([
      ['help'],
    ]);
  });

  test('no option takes a secret (rule 87)', () => {
    const flags = all.flatMap(({ command }) => command.options.map((option) => option.flags));
    expect(flags).toContain('--password-stdin');
    expect(flags.filter((each) => /password|secret|token/.test(each))).toEqual(['--password-stdin', '--password-stdin']);
  });
});
