import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { DatabaseError } from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ConfigError, readConfig } from '../../src/config/settings.ts';
import { DirectAddressError } from '../../src/database/failure.ts';
import { migrateDatabase } from '../../src/database/migrate.ts';
import { UntrustedServerError } from '../../src/database/driver/verified-client.ts';
import { explainFailure, ListenError } from '../../src/start/failure.ts';
import { prepareDatabase } from '../../src/start/prepare-database.ts';
import { createDatabaseUntilDone } from '../support/database.ts';
import { connect } from '../support/embedded.ts';
import { execute, withDatabase } from '../support/sql.ts';

const config = readConfig({ DATABASE_URL: 'postgres://ada:pa%3Ass@db.example.com:5433/entities', HOST: '192.0.2.1', PORT: '80' });
const direct = readConfig({ DATABASE_URL: 'postgres://eve:hush@direct.example.com/entities' }).databaseUrl;
const server = 'PostgreSQL at db.example.com:5433/entities (DATABASE_URL)';

function failure(code: string, syscall?: string, message = `${code} happened`): Error {
  return Object.assign(new Error(message), { code, syscall });
}

function refusal(code: string, message: string): DatabaseError {
  return Object.assign(new DatabaseError(message, message.length, 'error'), { code });
}

describe('the reason why the service cannot start', () => {
  test('settings have a line each', () => {
    expect(explainFailure(new ConfigError(['PORT is wrong', 'HOST is wrong']), undefined)).toEqual(['- PORT is wrong', '- HOST is wrong']);
  });

  test.each([
    [
      'the port is taken',
      new ListenError(failure('EADDRINUSE', 'listen')),
      'port 80 of 192.0.2.1 is in use: stop the program that has it, or set PORT to another one',
    ],
    ['the port is reserved', new ListenError(failure('EACCES', 'listen')), 'this user may not open port 80: set PORT to 1024 or more'],
    [
      'the address is foreign',
      new ListenError(failure('EADDRNOTAVAIL', 'listen')),
      'HOST 192.0.2.1 is not an address of this machine: set it to one, or to 0.0.0.0 for all',
    ],
    [
      'the name of HOST is unknown',
      new ListenError(failure('ENOTFOUND', 'getaddrinfo')),
      'HOST 192.0.2.1 is a name for which no address is found: set it to an address of this machine, or to 0.0.0.0 for all',
    ],
    [
      'the address cannot be used for another reason',
      new ListenError(failure('EINVAL', 'listen', 'bind EINVAL fe80::1')),
      'HOST 192.0.2.1 and PORT 80 cannot be listened on: bind EINVAL fe80::1',
    ],
    ['nobody listens', failure('ECONNREFUSED', 'connect'), `${server} refuses connections: start it, or correct host and port`],
    [
      'no server listens on any address',
      Object.assign(new AggregateError([], ''), { code: 'ECONNREFUSED' }),
      `${server} refuses connections: start it, or correct host and port`,
    ],
    [
      'the host is unknown',
      failure('ENOTFOUND', 'getaddrinfo'),
      `${server} cannot be found: no address is known for the host db.example.com`,
    ],
    ...['ENOENT', 'EACCES'].map((code): [string, Error, string] => [
      `the socket cannot be opened: ${code}`,
      failure(code, 'connect'),
      `${server} has no socket there that this user may open: start it, or correct host and port`,
    ]),
    ['a file is missing', failure('ENOENT', 'open'), 'ENOENT happened'],
    [
      'the server cannot be trusted',
      new UntrustedServerError('the PostgreSQL server asks for the password in clear'),
      `${server}: the PostgreSQL server asks for the password in clear`,
    ],
    ...['ECONNRESET', 'EPIPE', undefined].map((code): [string, Error, string] => [
      `the connection ends while it is opened: ${code ?? 'without a code'}`,
      code === undefined ? new Error('Connection terminated unexpectedly') : failure(code, 'read', 'read ECONNRESET'),
      `${server} has ended the connection (${code === undefined ? 'Connection terminated unexpectedly' : 'read ECONNRESET'}): check host and port, and look into the log of the server and of a proxy before it`,
    ]),
    ['the server does not answer', new Error('timeout expired'), `${server} does not answer: check host, port and firewall`],
    [
      'the password is wrong',
      refusal('28P01', 'password authentication failed'),
      `${server} does not let the user ada in: check user and password`,
    ],
    ['the database is missing', refusal('3D000', 'does not exist'), `${server} has no database entities: create it first`],
    [
      'the server is in recovery',
      refusal('25006', 'cannot execute DELETE in a read-only transaction'),
      `${server} accepts no writes now: if it recovers, wait until it has ended; if it is a standby, set DATABASE_URL to the primary; if default_transaction_read_only is on for the database or the role, writes are allowed again once it is off`,
    ],
    [
      'a right is missing',
      refusal('42501', 'permission denied for schema public'),
      `${server}: the user ada lacks a right (permission denied for schema public): first run "npm run admin -- migrate" as the owner of the tables, and give this user the rights of docs/application-role.sql`,
    ],
    [
      'pg_hba.conf allows TLS only',
      refusal('28000', 'no pg_hba.conf entry for host "192.0.2.7", user "ada", database "entities", no encryption'),
      `${server} does not let the user ada in (no pg_hba.conf entry for host "192.0.2.7", user "ada", database "entities", no encryption): check the user and pg_hba.conf, or end DATABASE_URL with ?sslmode=verify-full`,
    ],
    [
      'the certificate is of an unknown authority',
      failure('SELF_SIGNED_CERT_IN_CHAIN', undefined, 'self-signed certificate in certificate chain'),
      `${server} has a certificate that is not accepted (self-signed certificate in certificate chain): sslrootcert=FILE in DATABASE_URL names the authority that signed it`,
    ],
    [
      'the certificate is for another host',
      failure('ERR_TLS_CERT_ALTNAME_INVALID', undefined, "Hostname/IP does not match certificate's altnames"),
      `${server} has a certificate for another host (Hostname/IP does not match certificate's altnames): DATABASE_URL must have a host name of the certificate`,
    ],
    ['something else is refused', refusal('53300', 'too many clients'), `${server}: too many clients`],
    ['the error is of any other kind', new Error('first line\n  second line'), 'first line second line'],
  ])('%s', (_title, error, line) => {
    expect(explainFailure(error, config)).toEqual([line]);
  });

  /** What the start says when it connects to this address. */
  const connecting = async (url: string) => {
    const settings = readConfig({ DATABASE_URL: url });
    const error: unknown = await prepareDatabase(settings).catch((reason: unknown) => reason);
    return explainFailure(error, settings).join().replace(`PostgreSQL at ${settings.databaseUrl?.toString()} (DATABASE_URL)`, 'It');
  };

  /** The port of a program that answers what it receives with these texts, and then ends the connection. */
  async function listenWith(...answers: string[]): Promise<number> {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      if (answers.length === 0) socket.destroy();
      const left = [...answers];
      socket.on('data', () => (left.length > 1 ? socket.write(left.shift() ?? '') : socket.end(left[0] ?? '')));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    return (server.address() as AddressInfo).port;
  }

  test('an address without the password that the server asks for is explained', async () => {
    const url = new URL(await createDatabaseUntilDone());
    const user = url.username;
    url.password = '';
    expect(await connecting(url.href)).toBe(
      `It asks for the password of the user ${user}, and there is none: add it to DATABASE_URL, or name a file with ?password_file=FILE`,
    );
  });

  test('a database with another encoding than UTF8 is refused before any table is made, and in UTF8 it is accepted', async () => {
    const server = new URL(await createDatabaseUntilDone());
    const nameOf = (encoding: string) => `encoded_${encoding.toLowerCase()}`;
    for (const encoding of ['UTF8', 'SQL_ASCII', 'LATIN1']) {
      await execute(server.href, `create database ${nameOf(encoding)} encoding '${encoding}' locale 'C' template template0`);
      onTestFinished(() => execute(server.href, `drop database ${nameOf(encoding)} with (force)`));
    }
    const urlOf = (encoding: string) => withDatabase(server.href, nameOf(encoding));
    const accepted = await prepareDatabase(readConfig({ DATABASE_URL: urlOf('UTF8') }));
    await accepted.close();
    for (const encoding of ['SQL_ASCII', 'LATIN1']) {
      expect(await connecting(urlOf(encoding))).toBe(
        `- PostgreSQL at ${server.host}/${nameOf(encoding)} has the encoding ${encoding}, which cannot hold every text: create a database for the service with "create database NAME owner ROLE encoding 'UTF8' template template0", as in docs/own-database.md`,
      );
      await expect(migrateDatabase(urlOf(encoding))).rejects.toThrow(`the database ${nameOf(encoding)} has the encoding ${encoding}`);
      const client = await connect(urlOf(encoding));
      const { rows } = await client.query(`select from pg_class where relnamespace = 'public'::regnamespace`);
      await client.end();
      expect(rows).toEqual([]);
    }
  });

  test('a proxy that accepts connections and ends them is explained', async () => {
    expect(await connecting(`postgres://ada:hush@127.0.0.1:${await listenWith()}/entities`)).toMatch(
      /^It has ended the connection \((read ECONNRESET|Connection terminated unexpectedly)\): check host and port, /,
    );
  });

  test.each([
    [['HTTP/1.1 400 Bad Request\r\n\r\n'], 'It does not speak the protocol of PostgreSQL: correct host and port'],
    // The S means that TLS begins.
    [
      ['S', 'HTTP/1.1 400 Bad Request\r\n\r\n'],
      'It fails to set up TLS: check that PostgreSQL has this host and port, and which versions of TLS it accepts',
    ],
  ])('a program that is no PostgreSQL and says %j is explained', async (answers, line) => {
    const url = `postgres://ada:hush@127.0.0.1:${await listenWith(...answers)}/entities?sslmode=verify-full`;
    expect(await connecting(url)).toBe(line);
  });

  test('a failure at the direct address names its setting, or DATABASE_URL if that is the only one', () => {
    const refused = new DirectAddressError(failure('ECONNREFUSED', 'connect'));
    expect(explainFailure(refused, config)).toEqual([`${server} refuses connections: start it, or correct host and port`]);
    expect(explainFailure(refused, { ...config, databaseDirectUrl: direct })).toEqual([
      'PostgreSQL at direct.example.com:5432/entities (DATABASE_DIRECT_URL) refuses connections: start it, or correct host and port',
    ]);
  });

  test('no line contains the password', () => {
    for (const code of ['ECONNREFUSED', 'ENOTFOUND', '28P01', '3D000', '42501', 'XX000']) {
      expect(explainFailure(refusal(code, 'refused'), config).join()).not.toMatch(/pa:ss|pa%3Ass/);
    }
  });

  test('an error without a message has a line too', () => {
    expect(explainFailure(new Error(''), undefined)).toEqual(['Error']);
  });
});
