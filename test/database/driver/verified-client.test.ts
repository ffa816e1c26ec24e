import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readConfig } from '../../../src/config/settings.ts';
import { DirectAddressError } from '../../../src/database/failure.ts';
import { connectPool } from '../../../src/database/driver/pool.ts';
import { isOutage } from '../../../src/database/failure.ts';
import { Listener } from '../../../src/database/notifications.ts';
import { migrateDatabase } from '../../../src/database/migrate.ts';
import { prepareDatabase } from '../../../src/start/prepare-database.ts';
import { whyNoCertificate, writeCertificate } from '../../support/certificate.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';
import { attacks, FakePostgres, type Attack } from '../../support/fake-postgres.ts';

const password = 'nine-grey-herons-wade';
const ignore = () => undefined;

type Way = (url: string) => Promise<unknown>;

const viaPool: Way = async (url) => {
  const { pool, close } = connectPool(url, 1, ignore);
  try {
    await pool.query('select 1');
  } finally {
    await close();
  }
};

/** Every connection that the service makes. Each rejects with what its client says. */
const ways: Record<string, Way> = {
  'the pool': viaPool,
  'the connections for reads': async (url) => {
    const errors: Error[] = [];
    const { reads, close } = connectPool(url, 4, (error) => errors.push(error));
    // The first statement goes over the pool, while the connection for reads is being opened.
    await reads.send({ name: undefined, text: 'select 1', values: [] }).catch(ignore);
    await close();
    if (errors[0]) throw errors[0];
  },
  'the listener': async (url) => {
    const { promise, reject, resolve } = Promise.withResolvers<void>();
    const { pool, close } = connectPool(url, 1, ignore);
    const listener = new Listener(url, pool, { onLine: (up) => up && resolve(), onNotice: ignore, onError: reject });
    try {
      await listener.open();
      await promise;
    } finally {
      await listener.close();
      await close();
    }
  },
  'the migrations': async (url) => migrateDatabase(url),
  'the start': async (url) => prepareDatabase(readConfig({ DATABASE_URL: url, ADMIN_PASSWORD: 'seven quiet lanterns drift north' })),
};

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

async function attack(way: Way, kind: Attack, query = '') {
  const fake = await FakePostgres.start(kind);
  const error = await way(fake.url(password, query)).then(
    () => undefined,
    (reason: Error) => (reason instanceof DirectAddressError ? (reason.cause as Error) : reason),
  );
  return { fake, error };
}

describe.each(Object.entries(ways))('%s', (_name, way) => {
  test('reaches a server that proves with SCRAM that it knows the password', async () => {
    const url = new URL(database.url);
    url.searchParams.set('require_auth', 'scram-sha-256');
    await expect(way(url.href)).resolves.not.toThrow();
  });

  test.each(['asks for the password', 'asks for the MD5 of the password'] as const)(
    'sends nothing to a server that %s, without TLS (rule 88)',
    async (kind) => {
      const { fake, error } = await attack(way, kind);
      expect(fake.connections).toBeGreaterThan(0);
      expect(fake.received).toBe('');
      expect(error?.message).toMatch(/^the PostgreSQL server asks for .*, but the connection is not TLS with a verified certificate: use /);
      expect(isOutage(error)).toBe(true);
    },
  );

  test.each(attacks)('where the address requires SCRAM: sends no password and no statement to a server that %s (rule 91)', async (kind) => {
    const { fake, error } = await attack(way, kind, '?require_auth=scram-sha-256');
    expect(fake.connections).toBeGreaterThan(0);
    expect(fake.received).not.toContain(password);
    expect(fake.received).not.toMatch(/select |listen |set |md5[0-9a-f]{32}/i);
    expect(error?.message).toMatch(/^the PostgreSQL server /);
    expect(isOutage(error)).toBe(true);
  });

  test('takes no server that breaks SCRAM off and lets it in (rule 88)', async () => {
    const { fake, error } = await attack(way, 'begins SCRAM and does not finish it');
    expect(fake.received).not.toMatch(/select|listen|set /i);
    expect(error?.message).toBe('the PostgreSQL server has not proved that it knows the password, but lets us in');
  });
});

test('an operator may allow the password without TLS, in the address', async () => {
  const { fake } = await attack(viaPool, 'asks for the password', '?require_auth=md5&require_auth=scram-sha-256,password');
  expect(fake.received).toContain(password);
});

describe.skipIf(whyNoCertificate)(`over TLS${whyNoCertificate ? ` (skipped: ${whyNoCertificate})` : ''}`, () => {
  let tls: { key: string; cert: string; file: string };
  beforeAll(async () => {
    tls = await makeCertificate();
  });
  afterAll(() => rm(dirname(tls.file), { recursive: true }));

  test('a server with a verified certificate may ask for the password', async () => {
    const fake = await FakePostgres.start('asks for the password', tls);
    await viaPool(fake.url(password, `?sslmode=verify-full&sslrootcert=${tls.file}`)).catch(ignore);
    expect(fake.received).toContain(password);
  });

  test.each([
    ['is not verified', () => 'sslmode=no-verify'],
    ['is not compared with the host', () => `uselibpqcompat=true&sslmode=verify-ca&sslrootcert=${tls.file}`],
  ])('a server whose certificate %s gets no password (rule 88)', async (_title, query) => {
    const fake = await FakePostgres.start('asks for the password', tls);
    await expect(viaPool(fake.url(password, `?${query()}`))).rejects.toThrow('not TLS with a verified certificate');
    expect(fake.connections).toBeGreaterThan(0);
    expect(fake.received).toBe('');
  });
});

async function makeCertificate(): Promise<{ key: string; cert: string; file: string }> {
  const directory = await mkdtemp(join(tmpdir(), 'entity-service-certificate-'));
  const { keyFile, certificateFile: file } = writeCertificate(directory, 'IP:127.0.0.1');
  return { key: await readFile(keyFile, 'utf8'), cert: await readFile(file, 'utf8'), file };
}
