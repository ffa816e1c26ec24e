/**
 * The rules of a type are built, changed and dropped while entities of the name are written through two replicas, and the connections of builds are cut.
 * Afterwards every entity has its row, with its values, and there is no other row.
 */
import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { theService } from '../../src/audit/actor.ts';
import { applyChange } from '../../src/entity-types/apply.ts';
import type { Companion } from '../../src/entities/companion/layout.ts';
import { findStoredType } from '../../src/entity-types/store.ts';
import { verifyCompanion } from '../../src/entities/companion/verify.ts';
import { rowsOf } from '../support/entities.ts';
import { raceRounds, statuses, timeoutOf } from '../support/races.ts';
import { useService } from '../support/service.ts';

const service = useService();
const writers = 4;
/** Entities at the start. */
const seeded = 3_000;

const properties = { text: { type: 'string' }, number: { type: 'number' }, at: { type: 'string', format: 'date-time' } };
const documents = [
  { properties, 'x-index': [['text', '-number']], 'x-search': { fields: ['text'] } },
  { properties, 'x-unique': [{ fields: ['at', 'number'] }], 'x-index': [['number'], ['$createdBy', '-$updatedAt']] },
  {
    properties: { ...properties, number: { type: ['number', 'null'] } },
    'x-index': [['at'], ['text']],
    'x-search': { fields: ['text'], language: 'english' },
  },
];

test(
  `a build under ${writers} writers leaves no entity without its row, and no row without its entity: ${raceRounds()} builds`,
  async () => {
    const other = await service().replica();
    onTestFinished(() => other.stop());
    const { db, store } = service();
    const cookie = await service().openSession((await service().createUser('ada')).id);
    await sql`insert into entity (name, fields, created_by, updated_by)
      select 'race', jsonb_build_object('text', 'text ' || n, 'number', n), 'ada', 'ada' from generate_series(1, ${seeded}::int) n`.execute(
      db,
    );
    const race = { isOver: false };
    const answers: { status: number }[] = [];
    const seededKeys = (await rowsOf(service(), 'race')).map(({ key }) => key);
    const write = async (writer: number) => {
      const at = writer % 2 === 0 ? service() : other;
      // Each writer has entities of its own, all over the batches of a build.
      const keys = seededKeys.filter((_, index) => index % writers === writer);
      for (let count = 0; !race.isOver; count++) {
        const json = { text: `writer ${writer} ${count}`, number: seeded + writers * count + writer };
        const index = Math.floor(Math.random() * keys.length);
        const place = `/rest/entity/race/${keys[index]}`;
        if (count % 4 === 0) {
          answers.push(await at.call('DELETE', place, { cookie }));
          const answer = await at.call<{ key: string }>('POST', '/rest/entity/race', { cookie, json });
          answers.push(answer);
          keys[index] = answer.body.key;
        } else answers.push(await at.call('POST', place, { cookie, json }));
      }
    };
    const writing = Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
    let cuts = 0;
    for (let round = 0; round < raceRounds(); round++) {
      const change = { name: 'race', document: documents[round % documents.length] ?? {}, source: 'command' as const };
      const isCut = round % 3 === 1;
      const build = applyChange(store, theService, change, {
        onProgress({ phase, done }) {
          if (isCut && phase === 'rows' && done > seeded / 2 && cuts <= round)
            void sql`select pg_terminate_backend(pid) from pg_stat_activity
              where application_name = 'entity-service build' and datname = current_database()`.execute(db);
        },
      });
      await build.catch((error: unknown) => {
        if (!isCut) throw error;
        cuts += 1;
      });
      if ((await findStoredType(db, 'race')).companion?.state === 'building') {
        await expect.poll(async () => (await applyChange(other.store, theService, change)).changed, { timeout: 15_000 }).toBe(true);
      }
      const { companion, type } = await findStoredType(db, 'race');
      expect(type?.document).toEqual(change.document);
      expect(companion?.state).toBe('ready');
      const { different, rows, entities } = await verifyCompanion(db, 'race', companion as Companion, undefined);
      expect([different, rows]).toEqual([[], entities]);
    }
    race.isOver = true;
    await writing;
    const counts = statuses(answers);
    expect(
      Object.keys(counts).every((status) => ['200', '201', '204'].includes(status)),
      JSON.stringify(counts),
    ).toBe(true);
    for (const status of [200, 201, 204]) expect(counts[status], String(status)).toBeGreaterThan(0);
    expect(cuts).toBeGreaterThan(0);
    const { companion } = await findStoredType(db, 'race');
    if (!companion) throw new Error('there is no companion table');
    const found = await verifyCompanion(db, 'race', companion, undefined);
    expect(found.entities).toBe(seeded);
    expect(found).toEqual({ entities: found.entities, rows: found.entities, compared: found.entities, different: [] });
  },
  timeoutOf(raceRounds()),
);
