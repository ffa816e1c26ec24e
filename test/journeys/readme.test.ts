import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test, vi } from 'vitest';
import { readDocument, section } from '../support/markdown.ts';
import { loginEnvironment, npmStart } from '../support/start.ts';
import { watchOver } from '../support/watchdog.ts';

vi.setConfig({ testTimeout: 120_000 });

const project = join(import.meta.dirname, '../..');
const tour = section(readDocument('README.md'), '## Five minutes with curl');

interface Step {
  command: string;
  expected: string;
}

/** The commands of the `console` blocks in order, each with what stands below it. */
function stepsOf(text: string): Step[] {
  const steps: Step[] = [];
  for (const [, block = ''] of text.matchAll(/^```console\n(.*?)^```$/gms)) {
    let continues = false;
    for (const line of block.trimEnd().split('\n')) {
      const last = steps.at(-1);
      if (line.startsWith('$ ')) steps.push({ command: line.slice(2), expected: '' });
      else if (last && continues) last.command += `\n${line}`;
      else if (last) last.expected += `${line}\n`;
      continues = (line.startsWith('$ ') || continues) && line.endsWith('\\');
    }
  }
  return steps;
}

/** What differs from run to run, and how to know it. */
const variable: Record<string, RegExp> = {
  time: /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g,
  uuid: /\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g,
  key: /\besk_[0-9A-Za-z]{12}_[0-9A-Za-z]{49}\b/g,
  keyId: /(?<="id":")[0-9A-Za-z]{12}(?=")/g,
};

/** The text with its JSON on one line, as the service sends it, and with a name in place of everything that varies. */
function comparable(text: string): string {
  const [, json, rest = ''] = /^(\{(?:[^\n]*\}|.*?\n\}))\n(.*)$/s.exec(`${text.trimEnd()}\n`) ?? [];
  let result = json === undefined ? text : `${JSON.stringify(JSON.parse(json))}\n${rest}`;
  for (const [name, pattern] of Object.entries(variable)) result = result.replaceAll(pattern, `<${name}>`);
  return result.trim();
}

/** A directory that is as good as the project and has no data in it. */
async function projectDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'entity-service-readme-'));
  const callOff = watchOver(directory);
  onTestFinished(async () => {
    await rm(directory, { recursive: true, force: true, maxRetries: 5 });
    callOff();
  });
  for (const name of ['package.json', '.npmrc', 'node_modules', 'openapi.yaml', 'generated', 'scripts', 'src']) {
    await symlink(join(project, name), join(directory, name));
  }
  return directory;
}

test('the five minutes of README.md go as they are written, command by command and answer by answer', async () => {
  const [first, ...steps] = stepsOf(tour);
  expect(first?.command).toBe('npm start');
  expect(steps.length).toBeGreaterThan(15);

  const cwd = await projectDirectory();
  const service = await npmStart({}, { cwd });
  await service.ready;
  const passwordIn = (text: string) => /^ +password +(\S+)$/m.exec(text)?.[1] ?? '';
  const [written, real] = [passwordIn(first?.expected ?? ''), passwordIn(service.told())];
  expect(written).not.toBe('');
  const asWritten = (text: string) => text.replaceAll(String(service.port), '3000').replaceAll(real, written);
  expect(asWritten(service.told()).trim()).toBe(first?.expected.trim());

  // One shell for all, since later commands use what earlier ones have set. A record separator ends each answer.
  const commands = steps.map(({ command }) => command.replaceAll(written, real).replaceAll('localhost:3000', `localhost:${service.port}`));
  await writeFile(join(cwd, 'tour.sh'), commands.map((command) => `${command}\nprintf '\\036'\n`).join(''));
  const { stdout } = await promisify(execFile)('bash', ['tour.sh'], { cwd, env: loginEnvironment() });
  const answers = stdout.split('\u001e').slice(0, -1).map(asWritten);

  expect(answers).toHaveLength(steps.length);
  steps.forEach(({ command, expected }, index) => {
    expect(comparable(answers[index] ?? ''), command).toBe(comparable(expected));
  });

  service.signal('SIGINT');
  expect((await service.ended).code).toBe(0);
});
