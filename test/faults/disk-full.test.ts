/** `npm run test:faults -- disk-full` runs longer, with fsync on and a service that manages its database itself. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openEmbedded } from '../../src/embedded/embedded.ts';
import { migrateDatabase } from '../../src/database/migrate.ts';
import { declareType, rowsOf } from '../support/entities.ts';
import { TestService } from '../support/service.ts';
import { SmallDisk, whyNoSmallDisk } from '../support/small-disk.ts';
import { reapAfter } from '../support/server-reaper.ts';
import { upload } from '../support/upload.ts';
import { diskBytes, fillDisk, type DiskTarget } from './disk-full.ts';

const reason = whyNoSmallDisk();

describe.skipIf(reason)(`a full disk${reason ? ` (skipped: ${reason})` : ''}`, () => {
  let target: DiskTarget;
  let service: TestService;
  const opened = new AsyncDisposableStack();
  beforeAll(async () => {
    const parent = await mkdtemp(join(tmpdir(), 'entity-service-disk-'));
    opened.defer(() => rm(parent, { recursive: true }));
    const callOff = reapAfter(parent);
    opened.defer(callOff);
    const dataDir = join(parent, 'data');
    const disk = await SmallDisk.mount(dataDir, diskBytes);
    opened.defer(() => disk.unmount());
    const embedded = await openEmbedded(dataDir, { settings: { fsync: 'off' } });
    opened.defer(() => embedded.stop());
    await migrateDatabase(embedded.url);
    service = await TestService.start({}, { url: embedded.url, drop: async () => undefined });
    opened.defer(() => service.close());
    target = { disk, databaseUrl: embedded.url, port: Number(new URL(service.url).port), hasEnded: () => false };
  });
  afterAll(() => opened.disposeAsync());

  test(
    'writes are 503, reads work, the service recovers within five seconds, and no acknowledged write is lost (rule 76)',
    { timeout: 180_000 },
    async () => {
      const { violations, figures } = await fillDisk({ clients: 8, sessions: 0, holdMilliseconds: 500 }, target, () => undefined);
      expect(violations).toEqual([]);
      expect(figures['reads while tables are full']).toBeGreaterThan(50);
      expect(figures['503 while all is full']).toBeGreaterThan(0);
    },
  );

  test(
    '200 — an import on a full disk ends with 503 and names the rows that are written; with room again, it goes on behind them (rule 76)',
    { timeout: 120_000 },
    async () => {
      const { disk } = target;
      const cookie = await service.openSession((await service.createUser('ada')).id);
      await declareType(service, 'article', {
        type: 'object',
        properties: { number: { type: 'integer' } },
        'x-unique': [{ fields: ['number'] }],
      });
      const rows = (from: number, to: number) =>
        Array.from({ length: to - from + 1 }, (_, index) =>
          JSON.stringify({ number: from + index, text: randomBytes(1_200).toString('base64') }),
        ).join('\n') + '\n';
      const stored = () => rowsOf(service, 'article');
      const under = upload(service, 'article', cookie);
      under.sent.write(rows(1, 600));
      await expect.poll(async () => (await stored()).length, { timeout: 10_000 }).toBe(500);
      await disk.fill();
      let sent = 600;
      const end = new AbortController();
      const answer = under.answer.finally(() => end.abort());
      for (; !end.signal.aborted; sent += 500) {
        if (!under.sent.write(rows(sent + 1, sent + 500))) await Promise.race([once(under.sent, 'drain'), answer]);
        await setImmediate();
      }
      const last = (await under.end()).at(-1);
      await disk.free();
      expect(last).toMatchObject({ done: false, problem: { status: 503 } });
      const written = last?.row ?? 0;
      expect(written).toBeGreaterThanOrEqual(500);
      expect(written).toBeLessThan(sent);
      await expect.poll(async () => (await stored().catch(() => [])).length, { timeout: 20_000 }).toBeGreaterThanOrEqual(written);
      if (last?.uncertainTo === undefined) expect(await stored()).toHaveLength(written);

      const goOn = async () =>
        (await upload(service, 'article', cookie, { query: `?by=number&fromRow=${written + 1}` }).end(rows(1, sent))).at(-1);
      await expect.poll(goOn, { timeout: 20_000 }).toMatchObject({ done: true, row: sent, failed: 0 });
      const numbers = (await stored()).map(({ fields }) => (JSON.parse(fields) as { number: number }).number);
      expect(numbers.toSorted((one, other) => one - other)).toEqual(Array.from({ length: sent }, (_, index) => index + 1));
    },
  );
});
