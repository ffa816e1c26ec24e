/** Runs files of the suite in a copy of the project, and stops at the first failure. */
import { spawn } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';

export interface TestRun {
  /**
   * `timed out`: the first failure is a limit on the clock that was exceeded, by a test or by the whole run. It may show a busy machine
   * instead of a mistake.
   */
  status: 'passed' | 'failed' | 'timed out';
  /** File and name of the test that failed, or what Vitest printed when no test began. */
  failure: string | undefined;
  /** The file of that test; undefined when no test began. */
  failedFile: string | undefined;
  /** For each file that ran: whether it passed, and its milliseconds. */
  files: Record<string, { passed: boolean; ms: number }>;
}

export interface RunOptions {
  /** The copy of the project. */
  directory: string;
  /**
   * Limit of the processor time of each process: exceeding it is an endless loop, a failure. Vitest's own timeouts end a test that only
   * waits. The run is killed in any case after five times as long on the clock, a timeout.
   */
  timeoutMs: number;
  env?: Record<string, string>;
  /** Whether to continue after a failure. */
  all?: boolean;
}

interface Report {
  testResults: {
    name: string;
    status: string;
    startTime: number;
    endTime: number;
    message: string;
    assertionResults: { fullName: string; status: string; failureMessages?: string[] }[];
  }[];
}

/** What Vitest writes about a test or a hook that exceeded its time, and the function in the stack of a failed `expect.poll`. */
const timeout = /timed out in \d+ ?ms|__VITEST_POLL_CHAIN__/;

export async function runTests(files: readonly string[], options: RunOptions): Promise<TestRun> {
  const { directory, timeoutMs, env = {}, all = false } = options;
  const reportFile = join(directory, '.test-report.json');
  rmSync(reportFile, { force: true });
  const vitest = join(directory, 'node_modules/vitest/vitest.mjs');
  const args = [vitest, 'run', ...files, '--config=scripts/mutants/vitest.config.ts', '--reporter=json', `--outputFile=${reportFile}`];
  const limited = ['-c', `ulimit -t ${Math.ceil(timeoutMs / 1_000)}; exec "$@"`, 'sh', process.execPath];
  const child = spawn('/bin/sh', [...limited, ...args, ...(all ? [] : ['--bail=1'])], {
    cwd: directory,
    env: { ...process.env, ...env, TEST_ORDER: files.join(',') },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A separate process group: an endless mistake is killed with all processes that its tests have started.
    detached: true,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output = (output + text).slice(-4_000)));
  let killed = false;
  const killGroup = () => {
    try {
      process.kill(-(child.pid ?? 0), 'SIGKILL');
    } catch {
      // The group has ended.
    }
  };
  process.once('exit', killGroup);
  const timer = setTimeout(() => {
    killed = true;
    killGroup();
  }, 5 * timeoutMs);
  const code = await new Promise<number | null>((resolve, reject) => child.once('close', resolve).once('error', reject));
  clearTimeout(timer);
  process.off('exit', killGroup);
  killGroup();
  if (killed) return { status: 'timed out', failure: 'the run did not end', failedFile: undefined, files: {} };
  return readReport(reportFile, directory, code === 0, output);
}

function readReport(path: string, directory: string, passed: boolean, output: string): TestRun {
  let report: Report;
  try {
    report = JSON.parse(readFileSync(path, 'utf8')) as Report;
  } catch {
    return { status: 'failed', failure: output.trim(), failedFile: undefined, files: {} };
  }
  const fileOf = ({ name }: { name: string }) => relative(directory, name);
  const failed = report.testResults.find(({ status }) => status !== 'passed');
  const test = failed?.assertionResults.find(({ status }) => status === 'failed');
  const isTimeout = timeout.test(test?.failureMessages?.join('\n') ?? failed?.message ?? '');
  return {
    status: passed ? 'passed' : isTimeout ? 'timed out' : 'failed',
    failure: failed ? `${fileOf(failed)}: ${test?.fullName ?? failed.message.split('\n')[0]}` : passed ? undefined : output.trim(),
    failedFile: failed && fileOf(failed),
    files: Object.fromEntries(
      report.testResults.map((result) => [fileOf(result), { passed: result.status === 'passed', ms: result.endTime - result.startTime }]),
    ),
  };
}
