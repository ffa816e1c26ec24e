/** `npm run test:faults -- restart` runs longer. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { whyNoNginx } from '../support/nginx.ts';
import { restartService } from './restart.ts';

const reason = whyNoNginx();

describe.skipIf(reason)(`the service behind nginx${reason ? ` (skipped: ${reason})` : ''}`, () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await createDatabase();
  });
  afterEach(() => database.drop());

  test(
    'while it restarts, 8 clients create: no create is refused, and none makes two rows (rules 77 and 79)',
    { timeout: 120_000 },
    async () => {
      const plan = { rounds: 2, clients: 8, creates: 20, downMilliseconds: 0, retry: { attempts: 100, totalMs: 100_000 } };
      const { violations, figures } = await restartService(plan, database.url, { DATABASE_URL: database.url }, () => undefined);
      expect(violations).toEqual([]);
      expect(figures).toMatchObject({ restarts: 2, refused: 0, doubled: 0 });
    },
  );
});
