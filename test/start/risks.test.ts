import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { Secret } from '../../src/config/secrets.ts';
import { isSuperuser, lacksProxy, risksOf } from '../../src/start/risks.ts';
import { useService } from '../support/service.ts';

const service = useService();
const verified = new Secret('postgres://app@db.example.com/entities?sslmode=verify-full');
const careful = {
  production: true,
  databaseUrl: verified,
  databaseDirectUrl: undefined,
  databaseReadUrl: undefined,
  passwordMinLength: 15,
  publicUrl: new URL('https://api.example.com'),
  trustProxy: ['10.0.0.1'],
};
const mebibyte = 1_048_576;
const usual = { superuser: false, threads: 6, hashes: 2, passwordFile: undefined, youngBytes: 32 * mebibyte, openFiles: 20_000 };

test('careful settings and development have no warning', () => {
  expect(risksOf(careful, usual)).toEqual([]);
  expect(risksOf({ ...careful, production: false }, { ...usual, superuser: true })).toEqual([]);
});

test('short passwords, a superuser and an unprotected database connection are reported (rules 32, 38, 86, 88)', () => {
  expect(risksOf({ ...careful, passwordMinLength: 14 }, usual)).toEqual([expect.stringContaining('PASSWORD_MIN_LENGTH')]);
  expect(risksOf(careful, { ...usual, superuser: true })).toEqual([expect.stringContaining('superuser')]);
  const open = new Secret('postgres://app@db.example.com/entities?sslmode=disable');
  expect(risksOf({ ...careful, databaseUrl: open }, usual)).toEqual([expect.stringContaining('DATABASE_URL turns off TLS')]);
  expect(risksOf({ ...careful, databaseDirectUrl: open }, usual)).toEqual([expect.stringContaining('DATABASE_DIRECT_URL turns off TLS')]);
  expect(risksOf({ ...careful, databaseReadUrl: open }, usual)).toEqual([expect.stringContaining('DATABASE_READ_URL turns off TLS')]);
  const here = new Secret('postgres://app@localhost/entities?sslmode=disable');
  expect(risksOf({ ...careful, databaseUrl: here, databaseDirectUrl: verified }, usual)).toEqual([]);
  expect(risksOf(careful, { ...usual, threads: 5 })).toEqual([expect.stringContaining('Set it to 6 in the environment')]);
  expect(risksOf(careful, { ...usual, hashes: 3 })).toEqual([expect.stringContaining('UV_THREADPOOL_SIZE is 6')]);
});

test('https without a trusted proxy is reported: the service speaks plain http, so there is a proxy (rule 83)', () => {
  expect(risksOf({ ...careful, trustProxy: [] }, usual)).toEqual([expect.stringContaining('TRUST_PROXY')]);
  expect(lacksProxy({ publicUrl: new URL('http://localhost:3000'), trustProxy: [] })).toBe(false);
});

test('plain http on a private network is reported with what it gives up (rule 9)', () => {
  const config = { ...careful, production: false, publicUrl: new URL('http://192.168.1.20:3000'), trustProxy: [] };
  expect(risksOf(config, usual)).toEqual([expect.stringMatching(/^HTTP_ON_PRIVATE_NETWORK is on: every device on the network can read/)]);
  expect(risksOf({ ...config, publicUrl: new URL('http://127.0.0.1:3000') }, usual)).toEqual([]);
});

test('the file of the first password is reported while it is there (rule 86)', () => {
  expect(risksOf(careful, { ...usual, passwordFile: '/data/first-password' })).toEqual([
    '/data/first-password still has the first password: sign in, change the password, and delete the file',
  ]);
});

test('little room for young objects is reported, as Node.js leaves it at 512 MiB of memory', async () => {
  expect(risksOf(careful, { ...usual, youngBytes: 2 * mebibyte })).toEqual([expect.stringMatching(/^Node\.js has little room/)]);
  // The smallest of `npm run start:lean`.
  expect(risksOf(careful, { ...usual, youngBytes: 8 * mebibyte })).toEqual([]);
});

test.each([
  ['1', 2],
  ['4', 8],
])('the size of that room is read from V8: with --max-semi-space-size=%s it is %i MiB', async (option, size) => {
  const script = `import { youngSpaceBytes } from './src/start/risks.ts';
    for (let n = 0, kept = []; n < 2_000_000; n++) kept[n % 20_000] = { n };
    console.log(youngSpaceBytes());`;
  const { stdout } = await promisify(execFile)(process.execPath, [
    `--max-semi-space-size=${option}`,
    '--input-type=module',
    '--eval',
    script,
  ]);
  expect(Number(stdout)).toBe(size * mebibyte);
});

test('the superuser check agrees with PostgreSQL', async () => {
  const { rows } = await sql<{ superuser: string }>`select current_setting('is_superuser') as superuser`.execute(service().db);
  expect(await isSuperuser(service().db)).toBe(rows[0]?.superuser === 'on');
});

test('few open files are reported with what they mean and the remedy, and as many as all connections need are not', () => {
  expect(risksOf(careful, { ...usual, openFiles: 4_096 })).toEqual([
    expect.stringMatching(
      /^a process may open 4096 files, so it has less than 3968 connections .* allow 4352 \(ulimit -n, LimitNOFILE= of systemd/,
    ),
  ]);
  for (const openFiles of [4_096 + 128, undefined]) expect(risksOf(careful, { ...usual, openFiles })).toEqual([]);
  expect(risksOf(careful, { ...usual, openFiles: 4_096 + 127 })).toHaveLength(1);
});
