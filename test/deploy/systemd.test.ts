/** `deploy/entity-service.service`, checked by systemd itself. `systemd.long.test.ts` starts its command. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { stopTimeoutMs } from '../../src/shutdown.ts';
import { readDocument } from '../support/markdown.ts';

const unit = readFileSync(join(import.meta.dirname, '../../deploy/entity-service.service'), 'utf8');
const analyze = (...words: string[]) => spawnSync('systemd-analyze', words, { encoding: 'utf8' });
const reason = analyze('--version').status === 0 ? '' : ' (skipped: systemd-analyze is not installed)';

/** The unit as a file, with a Node.js that this machine has. */
async function unitFile(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'entity-service-unit-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const file = join(directory, 'entity-service.service');
  await writeFile(file, unit.replace('/usr/bin/node', process.execPath));
  return file;
}

describe.skipIf(reason !== '')(`the unit for systemd${reason}`, () => {
  test('has no fault', async () => {
    const { status, stdout, stderr } = analyze('verify', '--man=no', await unitFile());
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' });
  });

  test('has an exposure of 1.5 at most', async () => {
    const { status, stdout, stderr } = analyze('security', '--offline=true', '--threshold=15', '--no-pager', await unitFile());
    expect(status, stdout + stderr).toBe(0);
    expect(stdout).toMatch(/Overall exposure level for entity-service\.service: [01]\.\d /);
  });
});

test('the unit lets the primary process stop its workers, and gives it the time for that (rule 92)', () => {
  expect(unit).toContain('\nKillMode=mixed\n');
  expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1])).toBeGreaterThan(stopTimeoutMs / 1_000);
});

test('the unit starts the service again every few seconds for as long as the database is away', () => {
  const [settingsOfUnit = '', settingsOfService = ''] = unit.split('\n[Service]\n');
  expect(settingsOfUnit).toContain('\nStartLimitIntervalSec=0\n');
  expect(settingsOfService).toContain('\nRestart=on-failure\nRestartSec=5\n');
});

test('the command of docs/admin.md for systemd has the program, the user, the directories and the settings of the unit', () => {
  const command = /^systemd-run .*?[^\\]$/ms.exec(readDocument('docs/admin.md'))?.[0] ?? '';
  for (const name of ['DynamicUser', 'StateDirectory', 'StateDirectoryMode', 'UMask', 'WorkingDirectory', 'EnvironmentFile']) {
    const [line = 'missing'] = new RegExp(`^${name}=.*$`, 'm').exec(unit) ?? [];
    expect(command).toContain(`--property=${line} `);
  }
  const [, program = 'missing'] = /^ExecStart=(.*)$/m.exec(unit) ?? [];
  expect(command).toContain(`${program} admin doctor`);
  const [, settings = ''] = /^Environment=(.*)$/m.exec(unit) ?? [];
  for (const setting of settings.replace('%S', '/var/lib').split(' ')) expect(command).toContain(`--setenv=${setting} `);
});
