/** The ledger: what each user's requests cost others, and how users who take more than their share wait. */
import { describe, expect, onTestFinished, test } from 'vitest';
import type { CostKind } from '../../src/network/origin.ts';
import { Ledger } from '../../src/admission/ledger.ts';
import { declareType, rowsOf, type Entity } from '../support/entities.ts';
import { TestClock } from '../support/issuer.ts';
import { useService } from '../support/service.ts';

const windowMs = 250;

/** A ledger whose clock, busy time and timers a test moves. */
function openLedger() {
  let [now, busy] = [0, 1];
  const timers: { at: number; action: () => void }[] = [];
  const ledger = new Ledger({
    now: () => now,
    utilization: () => busy,
    schedule: (ms, action) => {
      timers.push({ at: now + ms, action });
      return () => undefined;
    },
  });
  const move = async (ms: number) => {
    now += ms;
    for (const timer of timers.splice(0)) {
      if (timer.at <= now) timer.action();
      else timers.push(timer);
    }
    await new Promise((resolve) => setImmediate(resolve));
  };
  /** Windows in which each user takes so many milliseconds of the event loop. */
  const spend = async (windows: number, costs: Record<string, number>) => {
    for (let n = 0; n < windows; n++) {
      for (const [user, ms] of Object.entries(costs)) {
        void ledger.admit(user)?.catch(() => undefined);
        ledger.add(user, 'loop', ms);
      }
      await move(windowMs);
    }
  };
  return { ledger, move, spend, idle: () => (busy = 0.89) };
}

describe('the debt of a user', () => {
  test('is none for one who is alone, however much it takes (rule 166)', async () => {
    const { ledger, spend } = openLedger();
    await spend(100, { ada: 250 });
    expect([ledger.debtOf('ada', 'loop'), ledger.costsOf('ada')]).toEqual([0, { loop: 25_000, written: 0, answered: 0 }]);
    expect(ledger.admit('ada')).toBeUndefined();
  });

  test('is none while the event loop has a tenth of its time left (rule 166)', async () => {
    const { ledger, spend, idle } = openLedger();
    idle();
    await spend(100, { ada: 200, bob: 1 });
    expect(ledger.debtOf('ada', 'loop')).toBe(0);
  });

  test('is none for those who take the same (rule 166)', async () => {
    const { ledger, spend } = openLedger();
    await spend(100, { ada: 80, bob: 80, eve: 80 });
    expect(['ada', 'bob', 'eve'].map((user) => ledger.debtOf(user, 'loop'))).toEqual([0, 0, 0]);
  });

  test('is none for the largest of many who take little, while work without a user takes the rest of the time (rule 166)', async () => {
    const { ledger, spend } = openLedger();
    const pollers = Object.fromEntries(Array.from({ length: 25 }, (_, n) => [`poller ${n}`, 0.5]));
    await spend(100, { ada: 50, ...pollers });
    expect(ledger.debtOf('ada', 'loop')).toBe(0);
    await spend(100, { ada: 25, bob: 25, ...pollers });
    expect([ledger.debtOf('ada', 'loop'), ledger.debtOf('bob', 'loop')]).toEqual([0, 0]);
  });

  test('grows by what a user takes beyond a share, ends at three seconds, and falls by all of the time of a free resource (rule 166)', async () => {
    const { ledger, spend, idle } = openLedger();
    await spend(11, { ada: 200, bob: 20 });
    // A share is 110, and the first window had none before it.
    expect([ledger.debtOf('ada', 'loop'), ledger.debtOf('bob', 'loop')]).toEqual([900, 0]);
    await spend(200, { ada: 200, bob: 20 });
    expect(ledger.debtOf('ada', 'loop')).toBe(3_000 - 110);
    idle();
    // The first of these windows is contended still.
    await spend(4, { ada: 50, bob: 50 });
    expect(ledger.debtOf('ada', 'loop')).toBe(3_000 - 110 + 50 - 4 * 250);
    await spend(1, { ada: 50 });
    expect(ledger.debtOf('ada', 'loop')).toBe(0);
  });

  test('counts bytes by what a second has of them, without regard to the event loop (rule 166)', async () => {
    const { ledger, move, idle } = openLedger();
    idle();
    const write = async (bytes: number) => {
      ledger.add('ada', 'written', bytes);
      ledger.add('bob', 'written', 2 ** 20);
      await move(windowMs);
    };
    for (let n = 0; n < 9; n++) await write(6 * 2 ** 20);
    expect(ledger.debtOf('ada', 'written')).toBe(0);
    // Eight MiB are 250 ms of the capacity, and a share is half of that.
    for (let n = 0; n < 9; n++) await write(7 * 2 ** 20);
    expect(ledger.debtOf('ada', 'written')).toBe(8 * (218.75 - 125));
  });
});

describe('a user over its share', () => {
  const overdraw = async () => {
    const opened = openLedger();
    await opened.spend(24, { ada: 200, bob: 20 });
    expect(opened.ledger.debtOf('ada', 'loop')).toBeGreaterThan(2_000);
    return opened;
  };

  test('waits until the resource is free, and another user does not (rule 166)', async () => {
    const { ledger, move, idle } = await overdraw();
    expect(ledger.admit('bob')).toBeUndefined();
    const admitted = ledger.admit('ada');
    expect([admitted, ledger.waiting]).toEqual([expect.any(Promise), 1]);
    idle();
    await move(windowMs);
    await admitted;
    expect([ledger.waiting, ledger.refused]).toEqual([0, 0]);
  });

  test('429 — is refused at once while 64 of its requests wait, and its waits are over with it (rule 166)', async () => {
    const { ledger, move, idle } = await overdraw();
    const waits = Array.from({ length: 64 }, () => Promise.resolve(ledger.admit('ada')));
    expect(ledger.waiting).toBe(64);
    await expect(ledger.admit('ada')).rejects.toMatchObject({ code: 'rate-limited' });
    expect([ledger.waiting, ledger.refused]).toEqual([64, 1]);
    idle();
    await move(windowMs);
    await Promise.all(waits);
    expect(ledger.waiting).toBe(0);
    expect(ledger.admit('ada')).toBeUndefined();
  });

  test('429 — is refused after two seconds, with the limit and when to come back; a part of a stream goes on (rule 166)', async () => {
    const { ledger, spend } = await overdraw();
    ledger.add('ada', 'loop', 1_000);
    const outcomes = [Promise.resolve(ledger.admit('ada')), ledger.slowDown('ada')].map((each) => each.catch((error: unknown) => error));
    // Others go on, so the debt falls by 20 of 40 in each window.
    await spend(9, { bob: 20, eve: 20 });
    const [refused, slowed] = await Promise.all(outcomes);
    expect(refused).toMatchObject({
      code: 'rate-limited',
      headers: { 'Retry-After': expect.stringMatching(/^[1-9]\d?$/), RateLimit: expect.stringMatching(/^"share";r=0;t=[1-9]\d?$/) },
    });
    expect([slowed, ledger.waiting]).toEqual([undefined, 0]);
  });
});

test('the users without a request for the longest time are forgotten beyond 4,096 (rule 166: the memory is bounded)', () => {
  const { ledger } = openLedger();
  for (let n = 0; n < 5_000; n++) ledger.add(`user ${n}`, 'loop', 1);
  expect([ledger.size, ledger.costsOf('user 903'), ledger.costsOf('user 904')?.loop]).toEqual([4_096, undefined, 1]);
});

describe('in the service', () => {
  const clock = new TestClock();
  const service = useService({ RATE_LIMIT: 'on' }, clock);
  const cookieOf = async (name: string) => await service().openSession((await service().createUser(name)).id);
  const ledger = () => service().context.admission.ledger;

  test('each road counts what it costs, for its user (rule 166)', async () => {
    const grants = { '*': ['create', 'read', 'update', 'delete', 'type'] } as const;
    const { id } = await service().createUser('ada', { '*': [...grants['*']] });
    const cookie = await service().openSession(id);
    await declareType(service(), 'thing', { properties: { n: { type: 'integer' } }, 'x-unique': [{ fields: ['n'] }] });
    const send = (method: string, path: string, json?: unknown) =>
      service().call<Entity>(method, path, { cookie, ...(json !== undefined && { json }) });
    const roads: [name: string, costs: CostKind[], run: () => Promise<{ status: number; text: string }>][] = [
      ['create', ['loop', 'written', 'answered'], () => send('POST', '/rest/entity/thing', { n: 1 })],
      ['bulk create', ['loop', 'written', 'answered'], () => send('POST', '/rest/entity/thing/bulk', [{ n: 2 }, { n: 3 }])],
      ['upsert', ['loop', 'written', 'answered'], () => send('POST', '/rest/entity/thing/upsert?by=n', { n: 4 })],
      ['get', ['loop', 'answered'], () => send('GET', '/rest/entity/thing/1')],
      ['update', ['loop', 'written', 'answered'], () => send('POST', '/rest/entity/thing/1', { n: 5 })],
      ['list', ['loop', 'answered'], () => send('GET', '/rest/entity/thing')],
      ['aggregation', ['loop', 'answered'], () => send('POST', '/rest/entity/thing/aggregate', { measures: { n: { $count: true } } })],
      ['history', ['loop', 'answered'], () => send('GET', '/rest/entity/thing/1/history')],
      [
        'batch',
        ['loop', 'written', 'answered'],
        () => send('POST', '/rest/batch', { operations: [{ op: 'create', name: 'thing', fields: { n: 6 } }] }),
      ],
      ['delete', ['loop', 'written'], () => send('DELETE', '/rest/entity/thing/1')],
      ['export', ['loop', 'answered'], () => send('GET', '/rest/entity/thing/export')],
      [
        'import',
        ['loop', 'written', 'answered'],
        () => service().call('POST', '/rest/entity/thing/import', { headers: { cookie, 'content-type': 'text/csv' }, raw: 'n\n7\n' }),
      ],
      ['types', ['loop', 'answered'], () => send('GET', '/rest/entity-type')],
      ['session', ['loop', 'answered'], () => send('GET', '/auth')],
    ];
    for (const [name, costs, run] of roads) {
      const before = { ...ledger().costsOf('user ada') };
      const { status, text } = await run();
      expect(status, `${name}: ${text}`).toBeLessThan(300);
      const after = ledger().costsOf('user ada');
      const grown = (['loop', 'written', 'answered'] as const).filter((kind) => (after?.[kind] ?? 0) > (before[kind] ?? 0));
      expect(grown, name).toEqual(costs);
    }
    const sent = await service().call('POST', '/auth', { form: { user: 'ada', password: 'wrong' } });
    expect([sent.status, ledger().costsOf('127.0.0.1')?.answered]).toEqual([401, sent.text.length]);
  });

  test('429 — beside another user a user far over its share waits and is refused, and changes nothing (rule 166)', async () => {
    const [bob, eve] = [await cookieOf('bob'), await cookieOf('eve')];
    const create = (cookie: string) => service().call<Entity>('POST', '/rest/entity/shared', { cookie, json: { n: 1 } });
    expect([(await create(bob)).status, (await create(eve)).status]).toEqual([201, 201]);
    for (let n = 0; n < 30; n++) {
      ledger().add('user bob', 'written', 12 * 2 ** 20);
      ledger().add('user eve', 'written', 4 * 2 ** 20);
      clock.advance(windowMs / 1_000);
    }
    const before = (await rowsOf(service(), 'shared')).length;
    const refused = create(bob);
    const moving = setInterval(() => {
      // However late the request arrives, bob takes more than eve.
      ledger().add('user bob', 'written', 16 * 2 ** 20);
      ledger().add('user eve', 'written', 8 * 2 ** 20);
      clock.advance(windowMs / 1_000);
    }, 10);
    onTestFinished(() => clearInterval(moving));
    const { status, body, headers } = await refused;
    expect([status, body, headers.get('ratelimit')]).toMatchObject([
      429,
      { code: 'rate-limited' },
      expect.stringMatching(/^"share";r=0;t=\d+$/),
    ]);
    expect((await create(eve)).status).toBe(201);
    expect((await rowsOf(service(), 'shared')).length).toBe(before + 1);
  });
});
