import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readEnvFile } from '../../src/config/env-file.ts';
import { nearName } from '../../src/config/near-name.ts';

let directory = '';
let path = '';
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'entity-service-env-'));
  path = join(directory, '.env');
});
afterAll(() => rm(directory, { recursive: true }));

/** The problems of a file with this text, with `.env` in place of its path. */
async function problemsOf(text: string, environment: Record<string, string> = {}): Promise<string[]> {
  await writeFile(path, text);
  return readEnvFile(path, environment).problems.map((problem) => problem.replaceAll(path, '.env'));
}

test('settings, comments, quotation marks and values of several lines are read', async () => {
  const text = `\uFEFF# a comment
PORT=3001 # another one
export HOST = "127.0.0.1"

  ADMIN_USER='ada # lovelace'\r
ADMIN_PASSWORD=\`with "both" 'marks' # and a hash\`
METRICS_TOKEN="first
second"
DATABASE_URL=postgres://localhost/entities?sslmode=disable
TRUST_PROXY=
LOG_LEVEL=warn`;
  expect(await problemsOf(text)).toEqual([]);
  expect(readEnvFile(path, {}).values).toEqual({
    PORT: '3001',
    HOST: '127.0.0.1',
    ADMIN_USER: 'ada # lovelace',
    ADMIN_PASSWORD: `with "both" 'marks' # and a hash`,
    METRICS_TOKEN: 'first\nsecond',
    DATABASE_URL: 'postgres://localhost/entities?sslmode=disable',
    TRUST_PROXY: '',
    LOG_LEVEL: 'warn',
  });
});

test('no file has no values', () => {
  expect(readEnvFile(join(directory, 'missing'), {})).toEqual({ values: {}, problems: [] });
});

describe('a name that has no meaning', () => {
  test.each([
    ['DATABASE_ULR', 'DATABASE_URL'],
    ['DATABSE_URL', 'DATABASE_URL'],
    ['database_url', 'DATABASE_URL'],
    ['DATABASEURL', 'DATABASE_URL'],
    ['PUBLICURL', 'PUBLIC_URL'],
    ['PORTT', 'PORT'],
    ['SESSION_IDLE_SECOND', 'SESSION_IDLE_SECONDS'],
    ['TRUSTED_ORIGIN', 'TRUSTED_ORIGINS'],
  ])('%s is reported with the setting that is near', async (name, near) => {
    expect(await problemsOf(`# first\n${name}=secret\n`)).toEqual([`${name} in line 2 of .env is no setting: did you mean ${near}?`]);
  });

  /** Some contain a name that Node.js or a library reads. */
  const strangers = ['SMTP_HOST', 'PATH', 'X', 'POSTGRES_PASSWORD', 'MY_OTEL_TOKEN', 'TZ_OFFSET', 'OLD_NODE_OPTIONS', 'NODE_OPTIONS_OLD'];
  test.each(strangers)('%s is reported without a guess', async (name) => {
    expect(await problemsOf(`${name}=secret`)).toEqual([`${name} in line 1 of .env is no setting; docs/settings.md lists all of them`]);
  });

  test.each(['NODE_OPTIONS', 'NODE_EXTRA_CA_CERTS', 'UV_THREADPOOL_SIZE', 'SSL_CERT_FILE', 'npm_config_loglevel'])(
    '%s is read before the file, and would have no effect',
    async (name) => {
      expect(await problemsOf(`${name}=8`)).toEqual([
        `${name} in line 1 of .env has no effect, because it is read before the file: set it in the environment of the process`,
      ]);
    },
  );

  test.each(['OTEL_SERVICE_NAME', 'OTEL_EXPORTER_OTLP_HEADERS', 'PGSSLMODE', 'TZ', 'NODE_TLS_REJECT_UNAUTHORIZED', 'NODE_ENV'])(
    '%s is allowed: libraries or this service read it afterwards',
    async (name) => {
      expect(await problemsOf(`${name}=x`)).toEqual([]);
    },
  );

  test('the secrets that ISSUERS_FILE names are allowed, wherever it is set', async () => {
    const issuers = join(directory, 'issuers.yaml');
    await writeFile(issuers, 'issuers:\n  - id: corp\n    clientSecretEnv: CORP_SECRET\n');
    expect(await problemsOf(`CORP_SECRET=x\nISSUERS_FILE=${issuers}`)).toEqual([]);
    expect(await problemsOf('CORP_SECRET=x', { ISSUERS_FILE: issuers })).toEqual([]);
    expect(await problemsOf('CORP_SECRETS=x', { ISSUERS_FILE: issuers })).toHaveLength(1);
    expect(await problemsOf('CORP_SECRET=x')).toHaveLength(1);
    expect(await problemsOf('CORP_SECRET=x', { ISSUERS_FILE: join(directory, 'missing') }), 'the start reports the missing file').toEqual(
      [],
    );
  });

  test('a name that is there twice is reported, because one of its values has no effect', async () => {
    expect(await problemsOf('PORT=1\nHOST=x\nPORT=2')).toEqual(['PORT in line 1 of .env is repeated in line 3: remove one of them']);
  });
});

describe('a line that is no setting is reported by its number, without its text', () => {
  const reason = 'is no setting: write NAME=value, with both quotation marks or none';

  test.each([
    'DATABASE_URL',
    'DATABASE_URL: secret',
    '- PORT',
    '1PORT=secret',
    '=secret',
    'A B=secret',
    'PORT="secret',
    `PORT='3000"`,
    'PORT="3000" secret',
    'PORT= "3000" secret',
    'PORT= "3000',
    `PORT=\t'3000"`,
    'export\tPORT=1',
  ])('%s', async (line) => {
    expect(await problemsOf(`HOST=::1\n${line}\nLOG_LEVEL=info`)).toEqual([`line 2 of .env ${reason}`]);
  });

  test('quotation marks that do not close hide no setting of the following lines', async () => {
    expect(await problemsOf('METRICS_TOKEN= "abc\nADMIN_USER=x\nDATA_DIR="y"')).toContain(`line 1 of .env ${reason}`);
  });

  test('a value that Node.js continues in the next line', async () => {
    expect(await problemsOf('PORT=1\nHOST= \nADMIN_USER=x')).toEqual([
      'line 2 of .env is not what Node.js reads: remove the blanks around =, or put the value in quotation marks',
    ]);
  });

  test.each(['q3Zl9xKfaaA=', 'Q3ZL9XKFAAAQ3ZL9XKFAAAQ3ZL9XKFAAAQ3ZL9XKFAAA='])(
    'a name that looks like none, such as the second half of a secret (rule 84): %s',
    async (line) => {
      expect(await problemsOf(`ADMIN_PASSWORD=\n${line}`)).toEqual([
        'the name in line 2 of .env is no setting; docs/settings.md lists all of them',
      ]);
      expect(await problemsOf(`${line}\n${line}`)).toEqual(['the name in line 1 of .env is repeated in line 2: remove one of them']);
    },
  );

  test('with all other problems, after values of several lines', async () => {
    expect(await problemsOf(`ADMIN_PASSWORD="a\nb\nc"\nnothing\nPROT=1\n`)).toEqual([
      `line 4 of .env ${reason}`,
      'PROT in line 5 of .env is no setting: did you mean PORT?',
    ]);
  });

  test('a # inside a value, which Node.js would cut off there', async () => {
    expect(await problemsOf('ADMIN_PASSWORD=half#secret')).toEqual([
      'line 1 of .env has a # in its value, where a comment would begin: put the value in quotation marks',
    ]);
  });
});

test('a near name has at most one mistake in three characters, and three in all', () => {
  expect(nearName('PROT', ['PORT', 'HOST'])).toBe('PORT');
  expect(nearName('POTR', ['PORT'])).toBe('PORT');
  expect(nearName('ABC', ['XYZ'])).toBeUndefined();
  expect(nearName('WORK', ['WORKERS'])).toBeUndefined();
  expect(nearName('DATABASE', ['DATABASE_URL'])).toBeUndefined();
});
