import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, inject, onTestFinished, test } from 'vitest';

const timeout = 300_000;

async function measure(script: string, args: string[]) {
  const child = spawn(process.execPath, [`scripts/bench/${script}.ts`, ...args], {
    env: { ...process.env, DATABASE_URL: inject('postgresUrl') },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [output, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { output, errors, code };
}

test('bench:flood measures reads without and with a flood of sign-ins, which succeed or are refused as busy', { timeout }, async () => {
  const { output, errors, code } = await measure('login-flood', ['--seconds', '0.5', '--connections', '20', '--json']);
  expect(code, errors).toBe(0);
  const reads = { answers: expect.toSatisfy((answers: number) => answers > 0), refused: 0, p99: expect.any(Number) };
  expect(JSON.parse(output)).toMatchObject({
    idle: reads,
    flood: reads,
    ratio: expect.any(Number),
    logins: { granted: expect.toSatisfy((granted: number) => granted > 0), other: 0 },
  });
});

test('bench:patches measures updates and creates of one user without and with large patches of another', { timeout }, async () => {
  const options = ['--seconds', '0.5', '--connections', '4', '--objects', '200', '--json'];
  const { output, errors, code } = await measure('large-patches', options);
  expect(code, errors).toBe(0);
  const latencies = { answers: expect.toSatisfy((answers: number) => answers > 0), refused: 0, p95: expect.any(Number) };
  const both = { updates: latencies, creates: latencies };
  expect(JSON.parse(output)).toMatchObject({
    alone: both,
    beside: both,
    ratio: { updates: expect.any(Number), creates: expect.any(Number) },
    patches: { perSecond: expect.toSatisfy((perSecond: number) => perSecond > 0) },
  });
});

test('bench:watched prints what metrics and traces cost a read and a create', { timeout }, async () => {
  const { output, errors, code } = await measure('observability-cost', ['--seconds', '0.02', '--rounds', '1', '--connections', '4']);
  expect(code, errors).toBe(0);
  expect(output).toMatch(/^\| get-entity-by-session *\|(?: *\S+ (?:µs|%) \|){4}$/m);
  expect(output).toMatch(/^\| create-entity *\|(?: *\S+ (?:µs|%) \|){4}$/m);
});

test('timing compares wrong passwords for known and unknown users, pair by pair', { timeout }, async () => {
  const { output, errors, code } = await measure('login-timing', ['--pairs', '10', '--json']);
  expect(code, errors).toBe(0);
  expect(JSON.parse(output)).toMatchObject({ pairs: 10, known: expect.any(Number), unknown: expect.any(Number), p: expect.any(Number) });
});

test.each(['login-flood', 'large-patches', 'observability-cost', 'login-timing'])(
  '%s reports an unknown option on standard error, with exit code 2',
  { timeout },
  async (script) => {
    const { errors, code } = await measure(script, ['--telepathy']);
    expect(code).toBe(2);
    expect(errors).toContain('--telepathy');
  },
);
