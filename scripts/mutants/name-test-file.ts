/** Run before each test file while reach is recorded: tells `probe.ts`, here and in the processes that the file starts, which file it is. */
import { relative } from 'node:path';
import { expect } from 'vitest';

process.env['REACH_TEST'] = relative(process.cwd(), expect.getState().testPath ?? '');
