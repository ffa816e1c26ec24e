import { DatabaseError } from 'pg';
import { describe, expect, test } from 'vitest';
import {
  connectionStaysUsable,
  connectionWasLost,
  isOutage,
  retryOnConflict,
  ServerUnresponsiveError,
} from '../../src/database/failure.ts';

const state = (code: string, severity = 'ERROR') =>
  Object.assign(new DatabaseError('as PostgreSQL puts it', 0, 'error'), { code, severity });
const system = (code: string) => Object.assign(new Error(`connect ${code}`), { code });

describe('isOutage', () => {
  test.each([
    '08006', // connection failure
    '25006', // write sent to a standby, after a failover
    '25P03', // idle in transaction for too long
    '28P01', // the password was changed under us
    '3D000', // the database was dropped
    '40001',
    '40P01',
    '53300', // too many connections
    '55P03',
    '57014',
    '57P01',
    '57P03',
    '58030', // input or output failed
  ])('SQL state %s is the database, so 503 (rule 76)', (code) => {
    expect(isOutage(state(code))).toBe(true);
  });

  test.each(['22021', '22P02', '22P05', '23505', '42501', '42601', '54001'])(
    'SQL state %s is a bug or a conflict, never hidden as 503 (rule 76)',
    (code) => {
      expect(isOutage(state(code))).toBe(false);
    },
  );

  test.each(['ECONNREFUSED', 'ECONNRESET', 'ENETUNREACH', 'EADDRNOTAVAIL', 'EMFILE', 'EAI_AGAIN'])('%s is an outage', (code) => {
    expect(isOutage(system(code))).toBe(true);
  });

  test('a Unix socket that is not there is an outage, and a file that is not there is none', () => {
    expect(isOutage(Object.assign(system('ENOENT'), { syscall: 'connect' }))).toBe(true);
    expect(isOutage(Object.assign(system('ENOENT'), { syscall: 'open' }))).toBe(false);
  });

  test.each([
    'Connection terminated unexpectedly',
    'SASL: SCRAM-SERVER-FINAL-MESSAGE: server signature does not match',
    'Connection terminated due to connection timeout',
    'Connection terminated while connecting',
    'Query read timeout',
    'Client has encountered a connection error and is not queryable',
    'timeout exceeded when trying to connect',
  ])('an error of pg without a code is one: %s', (message) => {
    expect(isOutage(new Error(message))).toBe(true);
  });

  test('anything else is not', () => {
    expect(isOutage(new TypeError('x is not a function'))).toBe(false);
    expect(isOutage('a text')).toBe(false);
  });
});

describe('isLost', () => {
  test.each([
    state('57P01', 'FATAL'),
    state('57P02', 'FATAL'),
    state('08006', 'FATAL'),
    system('ECONNRESET'),
    system('EPIPE'),
    new Error('Query read timeout'),
    new ServerUnresponsiveError('no answer in time'),
  ])('%s leaves it open whether a write has taken effect (rule 77)', (error) => {
    expect(connectionWasLost(error)).toBe(true);
    expect(isOutage(error)).toBe(true);
  });

  test.each([
    state('57014'),
    state('55P03'),
    state('53100'),
    state('53300', 'FATAL'),
    system('ECONNREFUSED'),
    new Error('Connection terminated while connecting'),
  ])('%s comes before anything was done, or undoes it', (error) => {
    expect(connectionWasLost(error)).toBe(false);
    expect(isOutage(error)).toBe(true);
  });

  test.each(['53100', '58030'])('SQL state %s that ends the whole server may come after the COMMIT was written', (code) => {
    expect(connectionWasLost(state(code, 'PANIC'))).toBe(true);
    expect(connectionWasLost(state(code, 'PANIK')), 'in German').toBe(true);
  });
});

describe('isHarmless', () => {
  test.each(['23505', '40001', '53100', '55P03', '57014'])('SQL state %s leaves the connection as it was', (code) => {
    expect(connectionStaysUsable(state(code))).toBe(true);
  });

  test.each([
    state('0A000'), // a cached plan that does not fit the table any more would fail again and again
    state('26000'),
    state('57P01', 'FATAL'),
    state('53100', 'PANIC'),
    system('ECONNRESET'),
    new Error('Query read timeout'),
    new ServerUnresponsiveError('no answer in time'),
  ])('%s does not, or nobody knows', (error) => {
    expect(connectionStaysUsable(error)).toBe(false);
  });
});

describe('repeating', () => {
  /** Work that fails with these errors, one after the other, and then succeeds. */
  function failing(...errors: Error[]) {
    const work = {
      runs: 0,
      run: async () => {
        work.runs += 1;
        const error = errors.shift();
        if (error) throw error;
        return 'done';
      },
    };
    return work;
  }

  test('runs a transaction again that a deadlock or a serialisation failure has undone, up to three times (rule 76)', async () => {
    const work = failing(state('40P01'), state('40001'), state('40P01'));
    expect(await retryOnConflict(work.run)).toBe('done');
    expect(work.runs).toBe(4);
  });

  test('gives up after the fourth failure (rule 76)', async () => {
    const work = failing(...Array.from({ length: 5 }, () => state('40001')));
    await expect(retryOnConflict(work.run)).rejects.toMatchObject({ code: '40001' });
    expect(work.runs).toBe(4);
  });

  test('runs nothing again that failed for another reason (rule 76)', async () => {
    const work = failing(state('23505'));
    await expect(retryOnConflict(work.run)).rejects.toMatchObject({ code: '23505' });
    expect(work.runs).toBe(1);
  });
});

test.each(['57P01', '57P02', '08006'])('SQL state %s does not repeat the work, which may be committed (rule 76)', async (code) => {
  let runs = 0;
  const work = async () => {
    runs++;
    throw state(code);
  };
  await expect(retryOnConflict(work)).rejects.toMatchObject({ code });
  expect(runs).toBe(1);
});
