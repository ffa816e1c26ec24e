/** `npm run test:faults -- disk-full` runs longer, with fsync on and a service that manages its database itself. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openEmbedded } from '../../src/database/embedded/embedded.ts';
import { migrate } from '../../src/database/migrate.ts';
import { TestService } from '../support/service.ts';
import { SmallDisk, whyNoSmallDisk } from '../support/small-disk.ts';
import { reapAfter } from '../support/server-reaper.ts';
import { diskBytes, fillDisk, type DiskTarget } from './disk-full.ts';

const reason = whyNoSmallDisk();

describe.skipIf(reason)(`a full disk${reason ? ` (skipped: ${reason})` : ''}`, () => {
  let target: DiskTarget;
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
    await migrate(embedded.url);
    const service = await TestService.start({}, { url: embedded.url, drop: async () => undefined });
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
});
