/** `npm run test:faults -- disk-full` for longer, with fsync on and a service that looks after its database itself. */
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

describe.skipIf(reason)(`a disk that is full${reason ? ` (skipped: ${reason})` : ''}`, () => {
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
    '503 that says when to come back for writes, reads go on while PostgreSQL lives, back within five seconds, nothing acknowledged lost (rule 76)',
    { timeout: 180_000 },
    async () => {
      const { violations, figures } = await fillDisk({ clients: 8, sessions: 0, holdMilliseconds: 500 }, target, () => undefined);
      expect(violations).toEqual([]);
      expect(figures['reads while tables are full']).toBeGreaterThan(50);
      expect(figures['503 while all is full']).toBeGreaterThan(0);
    },
  );
});
