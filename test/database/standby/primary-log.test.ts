/** Positions of the log, their tokens, and the lag of a standby that they show (decisions 170 and 172). */
import { expect, test } from 'vitest';
import type { Executor } from '../../../src/database/driver/prepared.ts';
import { hasReached, latestOf, positionOf, tokenOf } from '../../../src/database/standby/log-position.ts';
import { PrimaryLog } from '../../../src/database/standby/primary-log.ts';

const at = (lsn: bigint, timeline = 1) => ({ timeline, lsn });

/** A primary whose log ends at `lsn`, and which answers nothing without it. */
function serverAt(lsn: bigint | undefined) {
  const server: Executor & { lsn: bigint | undefined; asked: number } = {
    lsn,
    asked: 0,
    send: async () => {
      server.asked++;
      if (server.lsn === undefined) throw new Error('Connection terminated');
      return { rows: [{ timeline: 1, lsn: String(server.lsn) }] };
    },
  };
  return server;
}

test('a token is 16 characters, and every 16 characters of base64url are a token', () => {
  for (const position of [at(0n), at(2n ** 64n - 1n, 2 ** 32 - 1), at(123_456_789n, 7)]) {
    expect(tokenOf(position)).toMatch(/^[\w-]{16}$/);
    expect(positionOf(tokenOf(position))).toEqual(position);
  }
  for (const token of ['________________', 'AAAAAQAAAAAB2Bdw']) expect(tokenOf(positionOf(token))).toBe(token);
});

test('positions on two timelines are not comparable, and the later timeline is the later position', () => {
  expect([hasReached(at(5n), at(5n)), hasReached(at(4n), at(5n)), hasReached(at(9n, 2), at(5n)), hasReached(at(9n), at(5n, 2))]).toEqual([
    true,
    false,
    false,
    false,
  ]);
  expect(latestOf([undefined, at(5n), at(1n, 2), at(9n)])).toEqual(at(1n, 2));
  expect(latestOf([undefined])).toBeUndefined();
});

test('the lag is the age of the newest position that the standby has reached, and unknown beyond a day', async () => {
  let now = 0;
  const server = serverAt(100n);
  const log = new PrimaryLog(server, () => now);
  expect(log.lagMs(at(100n))).toBe(Infinity);
  for (const lsn of [100n, 200n, 200n, 300n]) {
    server.lsn = lsn;
    await log.sample();
    now += 250;
  }
  // Nothing was written between the second and the third question.
  expect([300n, 299n, 100n, 99n].map((lsn) => log.lagMs(at(lsn)))).toEqual([250, 500, 1_000, Infinity]);
  expect(log.lagMs(at(300n, 2))).toBe(Infinity);
  now += 5_000;
  await log.sample();
  expect([300n, 299n].map((lsn) => log.lagMs(at(lsn)))).toEqual([0, 5_500]);
  now += 86_400_000;
  await log.sample();
  expect([300n, 299n].map((lsn) => log.lagMs(at(lsn)))).toEqual([0, Infinity]);
});

test('a standby that is steadily behind, by seconds or an hour, has its lag within a twentieth', async () => {
  let now = 0;
  const server = serverAt(0n);
  const log = new PrimaryLog(server, () => now);
  // A byte is written each millisecond.
  for (; now <= 4_000_000; now += 250) {
    server.lsn = BigInt(now);
    await log.sample();
  }
  now -= 250;
  for (const lag of [250, 1_000, 5_000, 60_000, 3_600_000]) {
    const found = log.lagMs(at(BigInt(now - lag)));
    expect(found).toBeGreaterThanOrEqual(lag);
    expect(found).toBeLessThanOrEqual(lag * 1.06 + 250);
  }
  expect(log.lagMs(at(-1n))).toBe(Infinity);
});

test('the header of an empty page of the log is left out, since no standby replays it alone', async () => {
  const server = serverAt(8_192n + 24n);
  const log = new PrimaryLog(server);
  expect(await log.atPresent()).toEqual(at(8_192n));
  server.lsn = 8_192n + 48n;
  expect(await log.atPresent()).toEqual(at(8_192n + 48n));
});

test('after a write whose position remained unknown the primary is asked anew, and no older position is given', async () => {
  const server = serverAt(100n);
  const log = new PrimaryLog(server);
  await log.noteFrom(server);
  expect(await log.afterWrites()).toEqual(at(100n));
  server.lsn = undefined;
  await log.noteFrom(server);
  expect(await log.afterWrites()).toBeUndefined();
  server.lsn = 300n;
  expect(await log.afterWrites()).toEqual(at(300n));
  server.asked = 0;
  expect(await log.afterWrites()).toEqual(at(300n));
  expect(server.asked).toBe(0);
});

test('callers that ask at once share a statement', async () => {
  const server = serverAt(100n);
  const log = new PrimaryLog(server);
  await Promise.all([log.atPresent(), log.atPresent(), log.atPresent()]);
  expect(server.asked).toBe(1);
});
