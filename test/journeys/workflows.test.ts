/** The main journeys through the contract as Arazzo workflows. Redocly's respect runs them; it knows openapi.yaml and none of our code. */
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { password, useService } from '../support/service.ts';

const directory = join(import.meta.dirname, 'workflows');
const redocly = join(import.meta.dirname, '../../node_modules/.bin/redocly');
const files = readdirSync(directory).filter((file) => file.endsWith('.arazzo.yaml'));
const service = useService();

beforeAll(async () => {
  const ada = await service().createUser('ada');
  await service().createProfile(ada.id, 'visitor', { '*': ['read'] });
});

interface Failure {
  stdout: string;
  stderr: string;
}

/** Returns the output of respect, which runs the workflows one after the other. Throws it when a step differs from its workflow. */
async function walk(names: string[], other: Record<string, string> = {}): Promise<string> {
  const inputs = { user: 'ada', password, next: 'seven quiet lanterns drift north', ...other };
  const words = ['respect', ...names.map((name) => join(directory, name)), '--server', `api=${service().url}`];
  for (const [name, value] of Object.entries(inputs)) words.push('--input', `${name}=${value}`);
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', NO_COLOR: '1' };
  try {
    const { stdout, stderr } = await promisify(execFile)(redocly, words, { env });
    return stdout + stderr;
  } catch (error) {
    const { stdout, stderr } = error as Failure;
    throw new Error(`${names.join(', ')}:\n${stdout}${stderr}`, { cause: error });
  }
}

test('401 — a workflow whose first step is refused fails, and its output names the step', async () => {
  await expect(walk(['session.arazzo.yaml'], { password: 'not the password of ada' })).rejects.toThrow(/sign-in[^]*401/);
});

test('2xx — every workflow runs to its end, and every answer fits openapi.yaml', async () => {
  expect(files.length).toBeGreaterThan(3);
  // All have the same user; the change of the password is last.
  const told = await walk(files.toSorted((one, other) => Number(one.startsWith('password')) - Number(other.startsWith('password'))));
  expect([...told.matchAll(/Steps: ([1-9]\d*) passed, \1 total/g)], told).toHaveLength(files.length);
});
