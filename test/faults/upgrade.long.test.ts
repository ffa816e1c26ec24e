/** `npm run test:faults -- upgrade` runs longer. */
import { expect, onTestFinished, test } from 'vitest';
import { execute } from '../support/sql.ts';
import { createDatabase } from '../support/database.ts';
import { dropTables } from '../support/sql.ts';
import { whyNoNginx } from '../support/nginx.ts';
import { upgradeService, whyNoRevisionBefore } from './upgrade.ts';

const reason = whyNoNginx() ?? whyNoRevisionBefore();

test.skipIf(reason)(
  `two replicas are upgraded, taken back and upgraded again under 16 clients: no write is lost or doubled (rules 77 and 92)${reason ? ` (skipped: ${reason})` : ''}`,
  { timeout: 600_000 },
  async () => {
    const database = await createDatabase();
    onTestFinished(() => database.drop());
    await execute(database.url, dropTables);
    const { violations, figures } = await upgradeService(
      { clients: 16, writes: 100 },
      database.url,
      { DATABASE_URL: database.url },
      (line) => console.log(line),
    );
    expect(violations).toEqual([]);
    expect(figures).toMatchObject({ replacements: 8 });
    console.log(figures);
  },
);
