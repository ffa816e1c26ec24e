import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { createDatabase } from '../support/database.ts';

async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

test('test databases are migrated, and what one test writes another does not see', async () => {
  const [one, other] = await Promise.all([createDatabase(), createDatabase()]);
  onTestFinished(async () => void (await Promise.all([one.drop(), other.drop()])));
  const [clientOfOne, clientOfOther] = [await connect(one.url), await connect(other.url)];

  await clientOfOne.query(`insert into user_account (name, display_name) values ('ada', 'Ada')`);

  expect((await clientOfOne.query('select name from user_account')).rows).toEqual([{ name: 'ada' }]);
  expect((await clientOfOther.query('select name from user_account')).rows).toEqual([]);
});
