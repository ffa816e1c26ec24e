import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

const run = promisify(execFile);

test.each(['send', 'send, prepared,', 'query', 'query without limits'])(
  'what %s has answered goes with the young objects, and is not kept until the next whole collection',
  async (way) => {
    const { stdout } = await run(process.execPath, ['--expose-gc', 'test/support/kept-answers.ts', database.url, way]);
    expect(Number(stdout)).toBeLessThan(5_000);
  },
);
