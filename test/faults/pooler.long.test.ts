/** PgBouncer in front of PostgreSQL reconnects, ends and starts again while clients write. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { createDatabaseUntilDone } from '../support/database.ts';
import { startPgBouncer, whyNoPgBouncer } from '../support/pgbouncer.ts';
import { TestService } from '../support/service.ts';
import { execute, withDatabase } from '../support/sql.ts';
import { makeCallers } from './callers.ts';
import { Ledger } from './ledger.ts';
import { startWriters } from './load.ts';
import { recovered, recoveryMilliseconds } from './recovery.ts';

const reason = whyNoPgBouncer();

describe.skipIf(reason)(`PgBouncer under 8 clients that write${reason ? ` (skipped: ${reason})` : ''}`, () => {
  test.each(['RECONNECT', 'SIGINT', 'SIGKILL'] as const)(
    '503 — %s: nothing else than 503 is answered, the service is back within 5 s, and no acknowledged write is lost (rule 76)',
    async (how) => {
      const direct = await createDatabaseUntilDone();
      let pooler = await startPgBouncer(direct, 4);
      onTestFinished(() => pooler.stop());
      const settings = { DATABASE_URL: pooler.url, DATABASE_DIRECT_URL: direct };
      const service = await TestService.start(settings, { url: pooler.url, drop: async () => undefined });
      onTestFinished(() => service.close());
      const callers = await makeCallers(direct, { sessions: 500 });
      const ledger = new Ledger();
      const port = Number(new URL(service.url).port);
      const stop = startWriters(8, () => port, callers, ledger);
      const more = async () => {
        const enough = ledger.acknowledged + 100;
        await expect.poll(() => ledger.acknowledged).toBeGreaterThan(enough);
      };

      await more();
      if (how === 'RECONNECT') {
        await execute(withDatabase(pooler.url, 'pgbouncer'), 'RECONNECT');
      } else {
        await pooler.stop(how);
        pooler = await startPgBouncer(direct, 4, pooler.port);
      }
      expect(await recovered({ port, hasEnded: () => false }, callers.apiKey)).toBeLessThan(recoveryMilliseconds);
      await more();
      await stop();
      expect([ledger.unanswered, ledger.refused]).toEqual([0, 0]);
      expect(await ledger.compare(direct)).toEqual([]);
    },
  );
});
