/** Two replicas behind PgBouncer. `poolers.long.test.ts` has other numbers of connections. */
import { describe, expect, test } from 'vitest';
import { readConfig } from '../../src/config/settings.ts';
import { explainFailure } from '../../src/start/failure.ts';
import { prepareDatabase } from '../../src/start/prepare-database.ts';
import { runAdmin } from '../support/admin.ts';
import { createDatabase } from '../support/database.ts';
import { startPgBouncer, whyNoPgBouncer } from '../support/pgbouncer.ts';
import { TestService } from '../support/service.ts';
import { describeWithDirectAddress, describeWithoutDirectAddress } from './poolers.ts';

const reason = whyNoPgBouncer();

describe.skipIf(reason)(`behind PgBouncer in transaction mode (rule 17)${reason ? ` (skipped: ${reason})` : ''}`, () => {
  describeWithoutDirectAddress(2);
  describeWithDirectAddress(4);

  test.each([1, 4])(
    'without prepared statements and with %i connections: the start and doctor refuse it, and requests are 503, never 500',
    async (connections) => {
      const database = await createDatabase();
      const pooler = await startPgBouncer(database.url, connections, undefined, { preparedStatements: false });
      const pooled = { url: pooler.url, drop: async () => undefined };
      const replicas = [await TestService.start({}, database), await TestService.start({}, pooled).catch(() => undefined)];
      try {
        const environment = { DATABASE_URL: pooler.url, DATABASE_DIRECT_URL: database.url };
        const config = readConfig(environment);
        const error: unknown = await prepareDatabase(config).catch((reason: unknown) => reason);
        const advice =
          /goes through a pooler that loses prepared statements: use PgBouncer 1\.21 or later with max_prepared_statements=200/;
        expect(explainFailure(error, config)).toEqual([expect.stringMatching(advice)]);
        const { code, stdout } = await runAdmin(['doctor'], { environment });
        expect(stdout).toMatch(new RegExp(`^fail +prepared statements +DATABASE_URL ${advice.source}`, 'm'));
        expect(code).toBe(1);

        const [direct, behind] = replicas;
        if (!direct || !behind) throw new Error('a replica is missing');
        const cookie = await direct.openSession((await direct.createUser('ada')).id);
        const calls = Array.from({ length: 40 }, () => behind.call('POST', '/rest/entity/note', { cookie, json: { a: 1 } }));
        for (const answer of await Promise.all(calls)) expect([201, 503], answer.text).toContain(answer.status);
      } finally {
        for (const replica of replicas.toReversed()) await replica?.close();
        await pooler.stop();
      }
    },
  );
});
