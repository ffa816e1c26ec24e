/** Documents that a test runs: the `console` blocks are commands and their answers. */
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished } from 'vitest';
import { loginEnvironment, npmStart } from './start.ts';
import { reapAfter } from './server-reaper.ts';

const project = join(import.meta.dirname, '../..');

export interface Step {
  command: string;
  expected: string;
}

/** The commands of the `console` blocks in order, each with the answer below it. */
export function stepsOf(text: string): Step[] {
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

/** The programs that the document shows, by the name of the file in their first line. */
function programsIn(text: string): Map<string, string> {
  return new Map([...text.matchAll(/^```ts\n\/\/ (\S+\.ts)\n(.*?)^```$/gms)].map(([, file = '', program = '']) => [file, program]));
}

/** The values that differ from run to run, as patterns. */
const variable: Record<string, RegExp> = {
  time: /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g,
  uuid: /\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g,
  password: /(?<=shown this once:\n\n +)[a-z0-9]{6}(-[a-z0-9]{6}){3}$/gm,
  key: /\besk_[0-9A-Za-z]{12}_[0-9A-Za-z]{49}\b/g,
  keyId: /(?<="id":")[0-9A-Za-z]{12}(?=")/g,
  cursor: /\bq1\.[\w-]+/g,
};

/** The text with its JSON on one line, as the service sends it, and with a name in place of every value that varies. */
export function comparable(text: string): string {
  const [, json, rest = ''] = /^(\{(?:[^\n]*\}|.*?\n\}))\n(.*)$/s.exec(`${text.trimEnd()}\n`) ?? [];
  let result = json === undefined ? text : `${JSON.stringify(JSON.parse(json))}\n${rest}`;
  for (const [name, pattern] of Object.entries(variable)) result = result.replaceAll(pattern, `<${name}>`);
  return result.trim();
}

/** A directory with the project's files and without data. */
export async function projectDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'entity-service-readme-'));
  const callOff = reapAfter(directory);
  onTestFinished(async () => {
    await rm(directory, { recursive: true, force: true, maxRetries: 5 });
    callOff();
  });
  for (const name of ['package.json', '.npmrc', 'node_modules', 'openapi.yaml', 'generated', 'scripts', 'src', 'examples']) {
    await symlink(join(project, name), join(directory, name));
  }
  return directory;
}

/** Runs the commands in `cwd` in one shell, since later ones use variables of earlier ones. Returns the answer of each. */
export async function runAll(commands: readonly string[], cwd: string): Promise<string[]> {
  // A record separator ends each answer.
  await writeFile(join(cwd, 'tour.sh'), commands.map((command) => `${command}\nprintf '\\036'\n`).join(''));
  const { stdout } = await promisify(execFile)('bash', ['tour.sh'], { cwd, env: loginEnvironment() });
  return stdout.split('\u001e').slice(0, -1);
}

/** A proxy between the commands of a document and the service. */
export interface Front {
  /** The port of the proxy, which PUBLIC_URL names. */
  port: number;
  /** Starts the proxy in front of the service at the URL `service`, with the document's directory for its files. */
  start(service: string, directory: string): Promise<void>;
}

/**
 * Starts the service with an empty database, runs the commands of a document against it and compares the answers. The document may show
 * `npm start` as its first command. With `front` the commands go through that proxy. The service has its own port and its own password of
 * the first administrator; the document shows port 3000. `.gitignore` must have the files that the commands write: some have a cookie or a key.
 * @returns the directory, the running service, and `asRun`, which puts their port and password into a text of the document
 */
export async function runDocument(text: string, front?: Front) {
  const cwd = await projectDirectory();
  const service = await npmStart(front ? { PUBLIC_URL: `http://localhost:${front.port}` } : {}, { cwd });
  await service.ready;
  await front?.start(service.url, cwd);
  const present = new Set(await filesIn(cwd));
  const { port } = front ?? service;
  const told = service.told();
  const passwordIn = (each: string) => /\b[a-z0-9]{6}(-[a-z0-9]{6}){3}\b/.exec(each)?.[0];
  const real = passwordIn(told) ?? expect.fail('the service prints no password');
  const written = passwordIn(text) ?? real;
  const asRun = (part: string) => part.replaceAll(written, real).replaceAll('localhost:3000', `localhost:${port}`);
  const asWritten = (part: string) => part.replaceAll(real, written).replaceAll(`localhost:${port}`, 'localhost:3000');

  const steps = stepsOf(text);
  const shown = steps[0]?.command === 'npm start' ? steps.shift() : undefined;
  if (shown) expect(asWritten(told).trim()).toBe(shown.expected.trim());
  for (const [file, program] of programsIn(text)) await writeFile(join(cwd, file), asRun(program));
  const commands = steps.map(({ command }) => asRun(command));
  const answers = await runAll(commands, cwd);
  expect(answers).toHaveLength(steps.length);
  steps.forEach(({ command, expected }, index) => {
    expect(comparable(asWritten(answers[index] ?? '')), command).toBe(comparable(expected));
  });
  const made = (await filesIn(cwd)).filter((name) => !present.has(name));
  expect((await readFile(join(project, '.gitignore'), 'utf8')).split('\n')).toEqual(expect.arrayContaining(made));
  return { cwd, service, asRun };
}

/** The files of the directory without the script of {@link runAll}, as `.gitignore` names them. */
async function filesIn(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  return entries.filter((entry) => entry.isFile() && entry.name !== 'tour.sh').map(({ name }) => `/${name}`);
}
