import { readdir, readFile, stat, writeFile, mkdir, chmod } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from 'pg';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { openEmbedded } from '../../src/embedded/embedded.ts';
import { layoutOf, prepareDataDir } from '../../src/embedded/cluster.ts';
import { AddressLostError, reachServer } from '../../src/embedded/server.ts';
import type { EmbeddedDatabase, EmbeddedOptions } from '../../src/embedded/embedded.ts';
import { connect, isAlive, newDataDir, serverPid, startService } from '../support/embedded.ts';

async function open(dataDir: string, options?: EmbeddedOptions): Promise<EmbeddedDatabase> {
  const database = await openEmbedded(dataDir, options);
  onTestFinished(() => database.stop());
  return database;
}

/** Most tests share this directory. Each one leaves it stopped and in working order. */
const sharedDir = await newDataDir(afterAll);

const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);

test('the first start creates a PostgreSQL 18 database that is durable and sorts the same on every machine (rule 91)', async () => {
  await mkdir(sharedDir, { mode: 0o755 });
  const database = await open(sharedDir);
  expect(database.origin).toBe('created');

  const client = await connect(database.url);
  const { rows } = await client.query(`
    select current_setting('server_version_num')::int / 10000 as version, current_setting('fsync') as fsync,
           current_setting('synchronous_commit') as synchronous_commit, current_setting('data_checksums') as data_checksums,
           current_setting('max_connections')::int as max_connections, current_setting('server_encoding') as encoding,
           datlocprovider as provider, datlocale as locale, current_database() as database
      from pg_database where datname = current_database()`);
  expect(rows).toEqual([
    {
      version: 18,
      fsync: 'on',
      synchronous_commit: 'on',
      data_checksums: 'on',
      max_connections: 200,
      encoding: 'UTF8',
      provider: 'b',
      locale: 'C.UTF-8',
      database: 'entity_service',
    },
  ]);
});

test('the leftovers of a dead start are removed from the data directory, and no directory with a similar name', async () => {
  const dataDir = await newDataDir();
  await mkdir(dataDir, { mode: 0o700 });
  // The mark of a process that has ended.
  const left = 'building-4194304-1-abc';
  for (const name of [left, `kept-${left}`]) await mkdir(join(dataDir, name));
  await prepareDataDir(dataDir);
  expect(await readdir(dataDir)).toEqual([`kept-${left}`]);
});

test('the data directory, the cluster and the password are closed to other users (rule 91)', async () => {
  await open(sharedDir);
  expect(await modeOf(sharedDir)).toBe('700'); // it was 755 before the first start
  expect(await modeOf(join(sharedDir, 'postgresql/data'))).toBe('700');
  expect(await modeOf(join(sharedDir, 'postgresql/password'))).toBe('600');
  expect(await modeOf(join(sharedDir, 'postgres.log'))).toBe('600');
});

test.skipIf(process.getuid?.() !== 0)(
  'started by root, the server runs as another user, which can enter nothing except the cluster',
  async () => {
    await open(sharedDir);
    const owner = (await stat(`/proc/${await serverPid(sharedDir)}`)).uid;
    expect(owner).not.toBe(0);
    expect((await stat(join(sharedDir, 'postgresql/data'))).uid).toBe(owner);
    for (const closed of ['..', '.', 'postgresql', 'postgresql/password', 'postgres.log']) {
      const { uid, mode } = await stat(join(sharedDir, closed));
      expect({ closed, uid, others: mode & 0o077 }).toEqual({ closed, uid: 0, others: 0 });
    }
  },
);

const settings = `
  select current_setting('listen_addresses') as addresses, current_setting('password_encryption') as encryption, rolsuper as superuser
    from pg_roles where rolname = current_user`;

/** The directory of the server's socket, as the server wrote it down. */
async function socketDirectory(dataDir: string): Promise<string | undefined> {
  return (await readFile(join(dataDir, 'postgresql/data/postmaster.pid'), 'utf8')).split('\n')[4];
}

function changed(address: string, change: (url: URL) => void): Promise<Client> {
  const url = new URL(address);
  change(url);
  return connect(url.href);
}

test('the socket is closed to other users and requires the password and the role of the service (rule 91)', async () => {
  const database = await open(sharedDir);
  const client = await connect(database.url);
  expect((await client.query(settings)).rows).toEqual([{ addresses: '', encryption: 'scram-sha-256', superuser: false }]);
  expect(await socketDirectory(sharedDir)).toBe('.');
  expect(await modeOf(join(sharedDir, 'postgresql/data/.s.PGSQL.5432'))).toBe('700');

  await expect(changed(database.url, (url) => (url.password = 'guessed'))).rejects.toThrow('password authentication failed');
  await expect(changed(database.url, (url) => (url.password = ''))).rejects.toThrow('password must be a string');
  await expect(changed(database.url, (url) => (url.username = 'postgres'))).rejects.toThrow('no pg_hba.conf entry');
});

test('if the path is too long for a socket, the server listens on loopback only and requires the password (rule 91)', async () => {
  const dataDir = join(await newDataDir(), 'long'.repeat(20), 'data');
  const database = await open(dataDir);
  const client = await connect(database.url);
  expect((await client.query(settings)).rows).toEqual([{ addresses: '127.0.0.1', encryption: 'scram-sha-256', superuser: false }]);
  expect(await socketDirectory(dataDir)).toBe('');
  expect(new URL(database.url).searchParams.get('require_auth')).toBe('scram-sha-256');

  await expect(changed(database.url, (url) => (url.password = 'guessed'))).rejects.toThrow('password authentication failed');
  await expect(changed(database.url, (url) => (url.username = 'postgres'))).rejects.toThrow('no pg_hba.conf entry');
  await expect(changed(database.url, (url) => (url.hostname = '127.0.0.2'))).rejects.toThrow('ECONNREFUSED');
  await database.stop();
});

test('a cluster of version 0.1.0, which accepts no socket connection, is opened on a socket, and its other access rules stay', async () => {
  await (await open(sharedDir)).stop();
  const access = join(sharedDir, 'postgresql/data/pg_hba.conf');
  const old = 'host all entity_service 127.0.0.1/32 scram-sha-256\n';
  await writeFile(access, old);
  const database = await open(sharedDir);
  expect(database.origin).toBe('started');
  await connect(database.url);
  expect(await socketDirectory(sharedDir)).toBe('.');
  const role = 'entity_service_archive';
  const added = ['local all entity_service', `local replication ${role}`, `host replication ${role} 127.0.0.1/32`];
  expect(await readFile(access, 'utf8')).toBe(`${added.map((line) => `${line} scram-sha-256\n`).join('')}${old}`);
});

test('a running server that listens on TCP, as those of version 0.1.0 do, is joined there', async () => {
  const first = await openEmbedded(sharedDir, { tcp: true });
  onTestFinished(() => first.stop());
  expect(new URL(first.url).hostname).toBe('127.0.0.1');
  const second = await open(sharedDir);
  expect(second).toMatchObject({ origin: 'joined', url: first.url });
});

test('a server restarted at another address is lost for a process that expects the former one', async () => {
  await open(sharedDir);
  const launcher = () => Promise.reject(new Error('nothing is to be started'));
  const reaching = reachServer(layoutOf(sharedDir), launcher, { required: { kind: 'tcp', port: 5432 } });
  await expect(reaching).rejects.toThrow(
    /^The embedded PostgreSQL in \S+ was started again on the socket \.s\.PGSQL\.5432, and this process looks for it on port 5432$/,
  );
  await expect(reaching).rejects.toBeInstanceOf(AddressLostError);
});

test('a stop leaves no process, and the next start finds the data again', async () => {
  const first = await open(sharedDir);
  await (await connect(first.url)).query('create table kept as select 42 as answer');
  const pid = await serverPid(sharedDir);
  expect(await isAlive(pid)).toBe(true);

  await first.stop();
  expect(await isAlive(pid)).toBe(false);
  expect(await readdir(sharedDir)).toEqual(['postgres.log', 'postgresql']);
  expect(await readFile(join(sharedDir, 'postgres.log'), 'utf8')).toContain('database system is shut down');

  const second = await open(sharedDir);
  expect(second.origin).toBe('started');
  expect((await (await connect(second.url)).query('select answer from kept')).rows).toEqual([{ answer: 42 }]);
  expect(await readFile(join(sharedDir, 'postgres.log'), 'utf8')).not.toContain('database system is shut down');
});

test('a process that joins a server leaves it running for others, and the last one to leave stops it', async () => {
  const service = await open(sharedDir);
  const admin = await open(sharedDir);
  expect(admin.origin).toBe('joined');
  expect(admin.url).toBe(service.url);
  const pid = await serverPid(sharedDir);

  await admin.stop();
  expect((await (await connect(service.url)).query('select 1 as one')).rows).toEqual([{ one: 1 }]);

  const secondAdmin = await open(sharedDir);
  await service.stop();
  expect((await (await connect(secondAdmin.url)).query('select 1 as one')).rows).toEqual([{ one: 1 }]);

  await secondAdmin.stop();
  expect(await isAlive(pid)).toBe(false);
});

test('two concurrent first starts open the same database', async () => {
  const dataDir = await newDataDir();
  const services = [startService([dataDir]), startService([dataDir])];
  const opened = await Promise.all(services.map((service) => service.next()));

  expect(opened[0]?.['url']).toBe(opened[1]?.['url']);
  expect(opened.map((event) => event['origin'])).toContain('created');
  for (const service of services) service.send('query');
  expect(await Promise.all(services.map((service) => service.next()))).toEqual([{ rows: [{ one: 1 }] }, { rows: [{ one: 1 }] }]);

  const pid = await serverPid(dataDir);
  for (const service of services) service.send('stop');
  expect(await Promise.all(services.map((service) => service.next()))).toEqual([{ stopped: true }, { stopped: true }]);
  expect(await isAlive(pid)).toBe(false);
  expect(await readdir(dataDir)).toEqual(['postgres.log', 'postgresql']);
});

test('processes that start and stop concurrently always get a server, and the last one stops it', async () => {
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (let round = 0; round < 3; round += 1) {
        const database = await openEmbedded(sharedDir);
        const client = await connect(database.url);
        expect((await client.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
        await client.end();
        await database.stop();
      }
    }),
  );
  expect(await serverPid(sharedDir)).toBeUndefined();
});

test('a directory that is open to other users and has other files is refused and does not change', async () => {
  const dataDir = await newDataDir();
  await mkdir(dataDir);
  await chmod(dataDir, 0o755);
  await writeFile(join(dataDir, 'letter.txt'), 'not a database');

  await expect(openEmbedded(dataDir)).rejects.toThrow(/^The data directory \S+ cannot be used: .* choose an empty directory\.$/);
  expect(await modeOf(dataDir)).toBe('755');
  expect(await readdir(dataDir)).toEqual(['letter.txt']);
});

test('a server that cannot start says why in one line', async () => {
  const versionFile = join(sharedDir, 'postgresql/data/PG_VERSION');
  const version = await readFile(versionFile);
  onTestFinished(() => writeFile(versionFile, version));
  await writeFile(versionFile, '17\n');

  const failure = await openEmbedded(sharedDir).catch((error: Error) => error.message);
  expect(failure).toMatch(/^The embedded PostgreSQL in .* does not start: FATAL: .*initialized by PostgreSQL version 17.*$/);
  expect(failure).not.toContain('\n');
});
