/** An index over 100,000 entities is built while clients write them, and the building process is killed half way. */
import { once } from 'node:events';
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { verifyCompanion } from '../../src/entities/companion/verify.ts';
import { findStoredType } from '../../src/entity-types/store.ts';
import { statuses } from '../support/races.ts';
import { useService } from '../support/service.ts';

const service = useService();
const count = 100_000;
const batch = 10_000;
const writers = 4;

const document = {
  type: 'object',
  properties: { text: { type: 'string' }, number: { type: 'number' } },
  'x-index': [['text', '-number'], ['number'], ['$createdBy', '-$updatedAt']],
};

test('a build of 100,000 entities under four writers, killed half way, is complete after the next one', async () => {
  const { db } = service();
  const cookie = await service().openSession((await service().createUser('ada')).id);
  const keys: string[] = [];
  for (let from = 1; from <= count; from += batch) {
    const { rows } = await sql<{ key: string }>`
      insert into entity (name, fields, created_by, updated_by)
      select 'large', jsonb_build_object('text', 'text ' || n, 'number', n), 'ada', 'ada' from generate_series(${from}::int, ${from + batch - 1}) n
      returning key`.execute(db);
    keys.push(...rows.map(({ key }) => key));
  }
  const directory = await mkdtemp(join(tmpdir(), 'large-build-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  await writeFile(join(directory, 'large.json'), JSON.stringify(document));
  const build = () =>
    spawn(process.execPath, ['src/cli/main.ts', 'types', 'apply', directory], {
      env: { ...process.env, DATABASE_URL: service().databaseUrl },
      stdio: 'ignore',
    });
  const answers: { status: number }[] = [];
  const race = { isOver: false };
  /** Repeats what the service was too busy for, as a client does. */
  const send = async (method: string, path: string, json?: object) => {
    for (;;) {
      const answer = await service().call<{ key: string }>(method, `/rest/entity/large${path}`, { cookie, ...(json && { json }) });
      if (answer.status === 503) continue;
      answers.push(answer);
      return answer.body;
    }
  };
  const write = async (writer: number) => {
    for (let n = 0; !race.isOver; n++) {
      const at = Math.floor(Math.random() * (count / writers)) * writers + writer;
      const json = { text: `writer ${writer} ${n}`, number: n };
      if (n % 4 === 0) {
        await send('DELETE', `/${keys[at]}`);
        keys[at] = (await send('POST', '', json)).key;
      } else await send('POST', `/${keys[at]}`, json);
    }
  };
  const writing = Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
  const first = build();
  const table = async () => (await findStoredType(db, 'large')).companion?.table;
  await expect.poll(table, { timeout: 120_000 }).toBeDefined();
  const filled = async () => {
    const { rows } = await sql<{ rows: string }>`select count(*) as rows from ${sql.table(`entity_data.${await table()}`)}`.execute(db);
    return Number(rows[0]?.rows);
  };
  await expect.poll(filled, { timeout: 120_000 }).toBeGreaterThan(count / 3);
  first.kill('SIGKILL');
  await once(first, 'exit');
  expect((await findStoredType(db, 'large')).companion?.state).toBe('building');
  const [code] = (await once(build(), 'exit')) as [number];
  race.isOver = true;
  await writing;
  expect(code).toBe(0);
  const { companion, type } = await findStoredType(db, 'large');
  if (!companion) throw new Error('there is no companion table');
  expect([type?.document, companion.state]).toEqual([document, 'ready']);
  const { different, rows, entities } = await verifyCompanion(db, 'large', companion, undefined);
  expect([different, rows, entities]).toEqual([[], count, count]);
  expect(Object.keys(statuses(answers)).toSorted()).toEqual(['200', '201', '204']);
}, 900_000);
