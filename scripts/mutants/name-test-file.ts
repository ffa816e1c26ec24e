/**
 * Runs before each test file while reach is recorded. It gives the file's name to `probe.ts`, in this process and in those that the file
 * starts.
 */
import { relative } from 'node:path';
import { expect } from 'vitest';

process.env['REACH_TEST'] = relative(process.cwd(), expect.getState().testPath ?? '');
