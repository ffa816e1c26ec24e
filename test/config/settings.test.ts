import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { basePathOf, baseUrlOf, originPolicy, publicAddress, publicPath, usesSecureCookie } from '../../src/config/public-url.ts';
import { ConfigError, readConfig } from '../../src/config/settings.ts';

/** The problems of an environment; empty if the service would start with it. */
function problemsOf(environment: Record<string, string>): readonly string[] {
  try {
    readConfig(environment);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

afterEach(() => vi.unstubAllEnvs());

const production = {
  NODE_ENV: 'production',
  PUBLIC_URL: 'https://api.example.com',
  DATABASE_URL: 'postgres://app:secret@db.example.com/entities?sslmode=verify-full',
};

test('a token for metrics is a secret of at least 32 bytes that a header can contain (rule 86)', () => {
  const token = 'x'.repeat(32);
  expect(problemsOf({ METRICS_TOKEN: token })).toEqual([]);
  for (const bad of [token.slice(1), `${token} ${token}`, `${token}é`, 'x'.repeat(300)]) {
    const [problem, ...others] = problemsOf({ METRICS_TOKEN: bad });
    expect(problem).toMatch(/^METRICS_TOKEN must be 32 to 256 /);
    expect(problem, 'a secret is not shown').not.toContain(bad);
    expect(others).toEqual([]);
  }
});

test('traces go to a URL without secrets, because the log contains the URL', () => {
  expect(problemsOf({ OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector.example.com:4318' })).toEqual([]);
  for (const bad of ['collector:4318', 'ftp://collector', 'https://user:secret@collector', 'https://collector?key=secret']) {
    expect(problemsOf({ OTEL_EXPORTER_OTLP_ENDPOINT: bad })).toEqual([expect.stringMatching(/^OTEL_EXPORTER_OTLP_ENDPOINT must be a URL/)]);
  }
});

test('the share of traces is a number from 0 to 1', () => {
  for (const share of ['0', '1', '0.01', '.5']) expect(problemsOf({ OTEL_TRACES_SAMPLER_ARG: share })).toEqual([]);
  for (const bad of ['1.01', '-1', '1%', 'half', '0x1', '.'])
    expect(problemsOf({ OTEL_TRACES_SAMPLER_ARG: bad })).toEqual([`OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1, not "${bad}"`]);
  expect(problemsOf({ OTEL_TRACES_SAMPLER: 'jaeger_remote' })).toEqual([expect.stringMatching(/^OTEL_TRACES_SAMPLER must be one of/)]);
});

describe('without any setting', () => {
  test('the service is for one machine: loopback, its own database, and no trusted proxy or origin', () => {
    const config = readConfig({});
    expect(config).toMatchObject({ host: '127.0.0.1', port: 3000, dataDir: './data', adminUser: 'admin', production: false });
    expect(config.publicUrl.origin).toBe('http://localhost:3000');
    expect([config.databaseUrl, config.adminPassword, config.issuersFile]).toEqual([undefined, undefined, undefined]);
    expect([config.trustProxy, [...config.trustedOrigins]]).toEqual([[], []]);
  });

  test('the limits are those of the rules (rules 12, 32, 70, 88)', () => {
    expect(readConfig({})).toMatchObject({
      sessionIdleSeconds: 30 * 60,
      sessionAbsoluteSeconds: 8 * 60 * 60,
      sessionSameSite: 'lax',
      passwordMinLength: 15,
      bodyLimitBytes: 1024 * 1024,
      databasePoolSize: 10,
      rateLimit: true,
    });
  });

  test('an empty value is an unset one', () => {
    expect(readConfig({ PORT: '', HOST: '', DATABASE: '', TRUST_PROXY: '', ADMIN_PASSWORD: '' })).toEqual(readConfig({}));
  });
});

test('PUBLIC_URL follows PORT if it is not set, and is compared with the origin of browsers (rule 29)', () => {
  expect(originPolicy(readConfig({ PORT: '8080' })).publicOrigin).toBe('http://localhost:8080');
  expect(originPolicy(readConfig({ PORT: '8080', PUBLIC_URL: 'https://api.example.com:443/' })).publicOrigin).toBe(
    'https://api.example.com',
  );
});

test.each([
  ['https://example.com', '', 'https://example.com'],
  ['https://Example.com:443/api', '/api', 'https://example.com/api'],
  ['https://example.com/v1/entity-service/', '/v1/entity-service', 'https://example.com/v1/entity-service'],
])('PUBLIC_URL=%s has the base path "%s", and its origin alone is compared with that of browsers (rule 29)', (text, basePath, url) => {
  const config = readConfig({ PUBLIC_URL: text });
  expect(basePathOf(config.publicUrl)).toBe(basePath);
  expect(publicPath(config.publicUrl, '/docs')).toBe(`${basePath}/docs`);
  expect(publicAddress(config.publicUrl, '/docs')).toBe(`${url}/docs`);
  expect(baseUrlOf(config.publicUrl)).toBe(url);
  expect(originPolicy(config).publicOrigin).toBe('https://example.com');
});

test.each(['0.0.0.0', '::', 'localhost', 'my_service', 'api-1.example.com', 'fe80::1%eth0'])('HOST=%s is accepted', (host) => {
  expect(readConfig({ HOST: host }).host).toBe(host);
});

test('the cookie is secure if clients use https (rule 9)', () => {
  expect(usesSecureCookie(readConfig({}))).toBe(false);
  expect(usesSecureCookie(readConfig({ PUBLIC_URL: 'https://localhost' }))).toBe(true);
});

test('lists may have blanks around their commas, and origins are compared as browsers write them', () => {
  const config = readConfig({ TRUSTED_ORIGINS: 'https://App.example.com:443 , http://localhost:5173', TRUST_PROXY: '10.0.0.0/8, ::1' });
  expect([...config.trustedOrigins]).toEqual(['https://app.example.com', 'http://localhost:5173']);
  expect(config.trustProxy).toEqual(['10.0.0.0/8', '::1']);
});

test.each([
  ['https://*.example.com', ': no pattern matches an origin, so list each of them whole'],
  ['https://%2A.example.com', ''],
  ['*', ': no pattern matches an origin, so list each of them whole'],
  ['https://app.example.com/path', ': write https://app.example.com'],
  ['https://app.example.com/?a=1', ': write https://app.example.com'],
  ['https://app.example.com#top', ': write https://app.example.com'],
  ['HTTPS://App.example.com:443/index.html', ': write https://app.example.com'],
  ['https:app.example.com', ': write https://app.example.com'],
  ['app.example.com', ''],
  ['app://localhost', ''],
  ['https://one.example.com;two.example.com', ''],
  ['https://app_.example.com:70000', ''],
])('TRUSTED_ORIGINS=%s, which no origin of a browser equals, is refused with what to write', (text, hint) => {
  expect(problemsOf({ TRUSTED_ORIGINS: `https://ok.example.com, ${text}` })).toEqual([
    `TRUSTED_ORIGINS must list origins such as https://app.example.com, not "${text}"${hint}`,
  ]);
});

test('TRUSTED_ORIGINS in another spelling of an origin is the origin, and a password in it is refused unseen (rule 84)', () => {
  for (const [text, origin] of [
    ['https://app.example.com/', 'https://app.example.com'],
    ['HTTPS://app.example.com', 'https://app.example.com'],
    ['https://app.example.com:443', 'https://app.example.com'],
    ['https://app_1.example.com:8443', 'https://app_1.example.com:8443'],
    ['https://bücher.example', 'https://xn--bcher-kva.example'],
    ['http://[::1]:5173', 'http://[::1]:5173'],
  ] as const)
    expect([...readConfig({ TRUSTED_ORIGINS: text }).trustedOrigins], text).toEqual([origin]);
  for (const text of ['https://:sEcret@app.example.com', 'https://ada@app.example.com', 'https://@app.example.com'])
    expect(problemsOf({ TRUSTED_ORIGINS: text }), text).toEqual(['TRUSTED_ORIGINS must list origins such as https://app.example.com']);
});

test('ADMIN_USER is read in the canonical form of names (rule 35)', () => {
  expect(readConfig({ ADMIN_USER: 'ＡＤＡ' }).adminUser).toBe('ada');
});

test('all problems are reported at once, each with its setting', () => {
  const problems = problemsOf({ PORT: '-1', LOG_LEVEL: 'loud', WORKERS: '0', DATABASE_URL: 'mysql://x/y', RATE_LIMIT: 'maybe' });
  expect(problems.map((problem) => problem.split(' ')[0])).toEqual(['PORT', 'DATABASE_URL', 'RATE_LIMIT', 'LOG_LEVEL', 'WORKERS']);
  for (const problem of problems) expect(problem).not.toContain('\n');
});

describe('invalid values are refused', () => {
  test.each([
    ['PORT', '70000'],
    ['PORT', '1e3'],
    ['PORT', ' 80'],
    ['HOST', '0.0.0.0.0'],
    ['HOST', '127.0.0.256'],
    ['HOST', 'localhost:3000'],
    ['HOST', 'http://localhost'],
    ['HOST', '[::1]'],
    ['DATABASE', 'postgres'],
    ['HTTP_ON_PRIVATE_NETWORK', 'yes'],
    ['DOCUMENTATION_URL', 'docs.example.com'],
    ['DOCUMENTATION_URL', 'javascript:alert(1)'],
    ['HTTP_ON_PRIVATE_NETWORK', 'on'],
    ['DATABASE_POOL_SIZE', '0'],
    ['SESSION_IDLE_SECONDS', '59'],
    ['SESSION_IDLE_SECONDS', '28801'],
    ['SESSION_ABSOLUTE_SECONDS', 'day'],
    ['SESSION_SAME_SITE', 'Lax'],
    ['SESSION_SAME_SITE', 'none'],
    ['SESSION_COOKIE_NAME', '__Host-sid'],
    ['SESSION_COOKIE_NAME', 'oidc'],
    ['SESSION_COOKIE_NAME', 'a b'],
    ['SESSION_COOKIE_NAME', 'a=b'],
    ['SESSION_COOKIE_NAME', 'x'.repeat(33)],
    ['SESSION_COOKIE_PERSISTENT', 'true'],
    ['NODE_ENV', 'prod'],
    ['NODE_ENV', 'Production'],
    ['NODE_ENV', 'production '],
    ['NODE_ENV', 'prodcution'],
    ['PASSWORD_MIN_LENGTH', '7'],
    ['BODY_LIMIT_BYTES', '1MB'],
    ['ENTITY_TYPES_SOURCE', 'api'],
    ['ENTITY_TYPES', 'closed'],
    ['PUBLIC_URL', 'api.example.com'],
    ['PUBLIC_URL', 'https://api.example.com//base'],
    ['PUBLIC_URL', 'https://api.example.com/a%2fb'],
    ['PUBLIC_URL', 'https://api.example.com/base?'],
    ['PUBLIC_URL', 'https://api.example.com/#base'],
    ['PUBLIC_URL', 'https://user@api.example.com'],
    ['PUBLIC_URL', 'ftp://localhost'],
    ['TRUSTED_ORIGINS', '*'],
    ['TRUSTED_ORIGINS', 'https://app.example.com/path'],
    ['TRUSTED_ORIGINS', 'null'],
    ['DATABASE_URL', 'localhost:5432/entities'],
    ['DATABASE_URL', 'postgres://app:50%@localhost/entities'],
    ['DATABASE_DIRECT_URL', 'localhost:5432/entities'],
    ['DATABASE_DIRECT_URL', 'postgres://app@localhost/entities'],
    ['DATABASE_READ_URL', 'postgres://app@localhost/entities'],
    ['READ_LAG_SECONDS', '3'],
    ['ADMIN_USER', 'a\tb'],
  ])('%s=%s', (name, value) => {
    const problems = problemsOf({ [name]: value });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(name);
  });

  test.each(['PUBLIC_URL', 'TRUSTED_ORIGINS', 'TRUST_PROXY', 'HOST'])('%s with credentials is not repeated (rule 84)', (name) => {
    for (const settings of [{}, production]) {
      const problems = problemsOf({ ...settings, [name]: 'http://user:sEcret@example.com/path' });
      expect(problems).toEqual([expect.stringMatching(new RegExp(`^${name} must`))]);
      expect(problems.join()).not.toContain('sEcret');
    }
  });

  test('SESSION_SAME_SITE=none on plain http, where browsers drop the cookie (rule 9)', () => {
    const settings = { SESSION_SAME_SITE: 'none', TRUSTED_ORIGINS: 'https://app.example.com' };
    expect(problemsOf({ ...settings, PUBLIC_URL: 'https://localhost:3000' })).toEqual([]);
    expect(problemsOf(settings)).toEqual([
      'SESSION_SAME_SITE=none needs a PUBLIC_URL with https: browsers drop such a cookie on plain http',
    ]);
  });

  test.each(['true', '1', '0.0.0.0/0', '10.0.0.0/33', 'proxy.example.com', '10.0.0.0/8/8'])(
    'TRUST_PROXY=%s, with which clients could forge their address (rules 83, 86)',
    (value) => {
      expect(problemsOf({ TRUST_PROXY: value })).toEqual([expect.stringContaining('TRUST_PROXY must list addresses or CIDR ranges')]);
    },
  );

  test.each(['http://api.example.com', 'http://192.168.1.20:3000', 'http://[fd00::1]'])(
    'PUBLIC_URL=%s is refused: plain http is for this machine, as its network could read the cookie (rule 9)',
    (url) => {
      for (const host of ['127.0.0.1:3000', '127.0.0.2', '[::1]:3000', 'localhost'])
        expect(problemsOf({ PUBLIC_URL: `http://${host}` })).toEqual([]);
      expect(problemsOf({ PUBLIC_URL: url })).toEqual([expect.stringContaining('PUBLIC_URL must be https')]);
    },
  );

  test.each([
    'Xk9@Secret-Pw/1',
    '5432/Secret',
    '5432?Secret',
    '5432?Secret=x',
    '5432#Secret',
    'a@Secret',
    'Secret/a',
    'a@Secret,b',
    'a@Secret?b',
    'Secret%',
  ])('DATABASE_URL whose password %s has a character that separates parts: no piece of it is printed', (password) => {
    const escaped = encodeURIComponent(password);
    for (const name of ['DATABASE_URL', 'DATABASE_DIRECT_URL', 'DATABASE_READ_URL']) {
      const local = { DATABASE_URL: 'postgres://localhost/entities' };
      const problems = (text: string) => problemsOf({ ...local, [name]: `postgres://entities:${text}@db.example.test/entities` });
      expect(problems(escaped)).toEqual([]);
      const [problem = '', ...others] = problems(password);
      expect(others).toEqual([]);
      expect(problem).toMatch(new RegExp(`^${name} must look like .* with %-escapes .*%40 for @, %2F for /`));
      expect(problem).not.toMatch(/Secret|Xk9|5432\?|5432#/);
    }
  });

  test('but an @ in the path of a file is no separator, as systemd has it in the paths of credentials', () => {
    const file = '/run/credentials/entity-service@one.service/password';
    expect(problemsOf({ DATABASE_URL: `postgres://app@localhost/entities?password_file=${file}` })).toEqual([]);
  });

  test.each([
    ['postgres://app@db1,db2/entities', 'db1,db2'],
    ['postgres://app@localhost,db.example.com/entities', 'localhost,db.example.com'],
    ['postgres://app@db1/entities?host=db1,db2', 'db1,db2'],
    ['postgres://app@db1/entities?target_session_attrs=read-write', 'target_session_attrs'],
    ['postgres://app@db1/entities?load_balance_hosts=random', 'load_balance_hosts'],
  ])('DATABASE_URL=%s, because node-postgres would ignore the choice among hosts or look up all as one name', (url, part) => {
    expect(problemsOf({ DATABASE_URL: 'postgres://app@db1/entities' })).toEqual([]);
    expect(problemsOf({ DATABASE_URL: url })).toEqual([expect.stringContaining(`must name one host, and has ${part}: put HAProxy`)]);
  });

  test('PORT=0 without PUBLIC_URL, because the service’s URL would be unknown', () => {
    expect(problemsOf({ PORT: '0' })).toEqual([expect.stringContaining('PUBLIC_URL')]);
    expect(problemsOf({ PORT: '0', PUBLIC_URL: 'http://localhost' })).toEqual([]);
  });
});

describe('HTTP_ON_PRIVATE_NETWORK=on', () => {
  const withUrl = (url: string, more: Record<string, string> = {}) => ({ HTTP_ON_PRIVATE_NETWORK: 'on', PUBLIC_URL: url, ...more });

  test.each([
    'http://192.168.1.20:3000',
    'http://10.0.0.1',
    'http://172.16.0.1',
    'http://172.31.255.255/api',
    'http://169.254.1.1',
    'http://[fd12:3456::1]:3000',
    'http://[fe80::1]',
  ])('allows %s, where the cookie is not secure (rule 9)', (url) => {
    const config = readConfig(withUrl(url));
    expect(usesSecureCookie(config)).toBe(false);
    expect(problemsOf({ PUBLIC_URL: url })).toEqual([expect.stringContaining('HTTP_ON_PRIVATE_NETWORK=on allows http')]);
  });

  test.each([
    'http://8.8.8.8',
    'http://172.32.0.1',
    'http://192.169.0.1',
    'http://[2001:db8::1]',
    'http://printer.local',
    'http://10.0.0.1.example.com',
    'http://localhost:3000',
    'https://192.168.1.20',
  ])('refuses %s: it is for plain http on a private address only (rule 86)', (url) => {
    expect(problemsOf(withUrl(url))).toEqual([expect.stringMatching(/^HTTP_ON_PRIVATE_NETWORK=on needs a PUBLIC_URL with http/)]);
  });

  test('is refused in production (rule 86)', () => {
    expect(problemsOf({ ...production, ...withUrl('http://192.168.1.20') })).toEqual([
      expect.stringContaining('HTTP_ON_PRIVATE_NETWORK=on is not for production'),
    ]);
    expect(problemsOf({ ...production, HTTP_ON_PRIVATE_NETWORK: 'on' })).toHaveLength(1);
  });
});

describe('which database', () => {
  test('an empty DATABASE_URL is a mistake, such as a variable that is not set, and not the embedded database', () => {
    expect(problemsOf({ DATABASE_URL: '' })).toEqual([expect.stringMatching(/^DATABASE_URL is empty: set it to .*, or remove it /)]);
    expect(problemsOf({ ...production, DATABASE_URL: '' })).toEqual([expect.stringMatching(/^DATABASE_URL is empty: /)]);
  });

  test('production says which one it uses (rule 86)', () => {
    const { DATABASE_URL: url, ...rest } = production;
    expect(problemsOf(rest)).toEqual([
      expect.stringMatching(/^DATABASE_URL is missing in production .* does not read \.env: .*DATABASE=embedded/),
    ]);
    expect(problemsOf({ ...rest, DATABASE: 'embedded' })).toEqual([]);
    expect(problemsOf({ ...rest, DATABASE: 'embedded', DATABASE_URL: '' })).toEqual([]);
    expect(readConfig({ ...rest, DATABASE: 'embedded' }).databaseUrl).toBeUndefined();
    expect(problemsOf({ ...rest, DATABASE: 'embedded', DATABASE_URL: url })).toEqual([
      'DATABASE=embedded and DATABASE_URL name two databases: remove one of them',
    ]);
  });

  test('a URL in DATABASE is refused without its password', () => {
    const problems = problemsOf({ DATABASE: 'postgres://ada:hush@localhost/entities' });
    expect(problems).toEqual([expect.stringContaining('DATABASE_URL')]);
    expect(problems.join()).not.toContain('hush');
  });
});

describe('in production', () => {
  test('a complete configuration starts', () => {
    expect(problemsOf(production)).toEqual([]);
  });

  test('plain http is refused, including the default (rule 86)', () => {
    expect(problemsOf({ ...production, PUBLIC_URL: 'http://localhost:3000' })).toHaveLength(1);
    expect(problemsOf({ ...production, PUBLIC_URL: '' })).toHaveLength(1);
  });

  test.each(['debug', 'trace'])('LOG_LEVEL=%s is refused (rule 86)', (level) => {
    expect(problemsOf({ ...production, LOG_LEVEL: level })).toHaveLength(1);
    expect(problemsOf({ LOG_LEVEL: level })).toEqual([]);
  });

  describe.each(['DATABASE_URL', 'DATABASE_DIRECT_URL', 'DATABASE_READ_URL'])(
    'the connection to a database on another machine: %s',
    (name) => {
      const at = (url: string) => problemsOf({ ...production, [name]: `postgres://${url}` });
      const open = [expect.stringContaining(`${name} must end with ?sslmode=verify-full`)];
      const certificates = join(import.meta.dirname, 'settings.test.ts');

      test.each([
        'app:secret@db.example.com/entities?sslmode=verify-full',
        'app:secret@db.example.com/entities?sslmode=disable',
        'app:secret@db.example.com/entities?ssl=true',
        `app:secret@db.example.com/entities?sslmode=verify-full&sslrootcert=${certificates}`,
        'app:secret@db.example.com/entities?uselibpqcompat=true&sslmode=verify-full',
      ])('%s is accepted: the connection is verified, or the setting turns that off explicitly (rule 88)', (url) => {
        expect(at(url)).toEqual([]);
      });

      test.each([
        'app:secret@localhost/entities',
        'app:secret@127.0.0.1/entities',
        'app:secret@[::1]:5433/entities',
        'app:secret@%6cocalhost/entities',
        'app:secret@%2Frun%2Fpostgresql/entities',
        '/entities?host=/run/postgresql',
        '/entities',
      ])('%s is accepted: it does not leave this machine (rule 88)', (url) => {
        expect(at(url)).toEqual([]);
      });

      test.each([
        'app:secret@db.example.com/entities',
        'app:secret@localhost/entities?host=db.example.com',
        'app:secret@db.example.com/entities?sslmode=no-verify',
        'app:secret@db.example.com/entities?ssl=no-verify',
        'app:secret@db.example.com/entities?ssl=0',
        'app:secret@db.example.com/entities?uselibpqcompat=true&sslmode=require',
        'app:secret@db.example.com/entities?uselibpqcompat=true&sslmode=prefer',
        `app:secret@db.example.com/entities?uselibpqcompat=true&sslmode=verify-ca&sslrootcert=${certificates}`,
        'app:secret@localhost%2eexample.com/entities',
      ])('%s is refused: node-postgres would connect to another machine without verifying it (rule 88)', (url) => {
        expect(at(url)).toEqual(open);
        expect(problemsOf({ DATABASE_URL: 'postgres://localhost/entities', [name]: `postgres://${url}` }), 'in development').toEqual([]);
      });

      test.each(['sslmode=verify-full&sslmode=disable', 'sslmode=disable&sslmode=verify-full', 'sslmode=verify-full&sslmode=no-verify'])(
        '?%s is refused everywhere: two values are a mistake, and only one would count (rule 88)',
        (query) => {
          const url = `postgres://app:secret@db.example.com/entities?${query}`;
          for (const settings of [production, { DATABASE_URL: 'postgres://localhost/entities' }]) {
            expect(problemsOf({ ...settings, [name]: url })).toEqual([expect.stringMatching(/^\w+ must have the parameter sslmode once/)]);
          }
        },
      );

      test.each(['scram', 'SCRAM-SHA-256', 'scram-sha-256, md5', '!password', 'gss', ''])(
        '?require_auth=%s is refused everywhere: no server could satisfy it (rule 88)',
        (list) => {
          const problem = `${name} cannot be used: require_auth must list scram-sha-256, md5, password or none, separated by commas`;
          expect(at(`app:secret@localhost/entities?require_auth=${encodeURIComponent(list)}`)).toEqual([problem]);
        },
      );

      test.each(['scram-sha-256', 'md5,password,none'])('?require_auth=%s is accepted (rule 88)', (list) => {
        expect(at(`app:secret@localhost/entities?require_auth=${list}`)).toEqual([]);
      });

      test('?password_file=FILE names a file from the root, in place of a password (rule 87)', () => {
        const file = encodeURIComponent('/run/secrets/database');
        expect(at(`app@localhost/entities?password_file=${file}`)).toEqual([]);
        expect(at('app@localhost/entities?password_file=secrets/database')).toEqual([
          `${name} must name the file of password_file from the root, such as /run/secrets/database`,
        ]);
        for (const both of [
          `app:secret@localhost/entities?password_file=${file}`,
          `app@localhost/entities?password=secret&password_file=${file}`,
        ]) {
          expect(at(both)).toEqual([`${name} must have a password or password_file, not both`]);
        }
      });

      test.each([
        ['ssl=verify-full', 'ssl=verify-full is none of its values'],
        ['sslmode=verify-full&sslrootcert=/nowhere/ca.pem', '/nowhere/ca.pem'],
        ['uselibpqcompat=true&sslmode=verify-ca', 'sslrootcert'],
      ])('?%s is refused everywhere: node-postgres could not connect', (query, reason) => {
        const [problem = '', ...others] = at(`app:secret@db.example.com/entities?${query}`);
        expect(problem).toMatch(new RegExp(`^${name} cannot be used: `));
        expect(problem).toContain(reason);
        expect(problem).not.toContain('secret');
        expect(others).toEqual([]);
      });

      test('the values of PGHOST and PGSSLMODE are checked as well (rule 88)', () => {
        vi.stubEnv('PGHOST', 'db.example.com');
        expect(at('/entities')).toEqual(open);
        expect(at('localhost/entities')).toEqual([]);
        vi.stubEnv('PGSSLMODE', 'verify-full');
        expect(at('/entities')).toEqual([]);
        vi.stubEnv('PGSSLMODE', 'no-verify');
        expect(at('/entities')).toEqual(open);
      });

      test('NODE_TLS_REJECT_UNAUTHORIZED=0 turns off all verification and is reported (rule 88)', () => {
        vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
        const url = 'postgres://app:secret@db.example.com/entities?sslmode=verify-full';
        const local = 'postgres://localhost/entities';
        const problems = problemsOf({ ...production, DATABASE_URL: local, [name]: url });
        expect(problems).toEqual([expect.stringMatching(/unset NODE_TLS_REJECT_UNAUTHORIZED$/)]);
      });
    },
  );

  test('a trusted origin is https, because its pages act with the user’s cookie, or this machine (rule 86)', () => {
    const trusting = (origins: string, settings: Record<string, string> = production) =>
      problemsOf({ ...settings, TRUSTED_ORIGINS: origins });
    expect(trusting('https://app.example.com,http://localhost:5173,http://127.0.0.1:5173,http://[::1]:5173')).toEqual([]);
    expect(trusting('https://app.example.com,http://app.example.com')).toEqual([
      expect.stringMatching(/^TRUSTED_ORIGINS must be https in production .*"http:\/\/app.example.com"/),
    ]);
    expect(trusting('http://localhost.example.com')).toHaveLength(1);
    expect(trusting('http://app.example.com', {})).toEqual([]);
  });
});

test('the variables of OpenTelemetry are honoured, or refused', () => {
  const base = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/' };
  const urlOf = (environment: Record<string, string>) => readConfig(environment).tracesUrl;
  expect(urlOf(base)).toBe('http://collector:4318/v1/traces');
  expect(urlOf({ ...base, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://traces:4318/own' })).toBe('http://traces:4318/own');
  expect(urlOf({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://traces:4318/own' })).toBe('http://traces:4318/own');
  for (const off of [{ OTEL_SDK_DISABLED: 'true' }, { OTEL_SDK_DISABLED: 'TRUE' }, { OTEL_TRACES_EXPORTER: 'none' }])
    expect(urlOf({ ...base, ...off })).toBeUndefined();
  expect(urlOf({ ...base, OTEL_SDK_DISABLED: 'false', OTEL_TRACES_EXPORTER: 'otlp' })).toBe('http://collector:4318/v1/traces');
  for (const [name, value] of [
    ['OTEL_TRACES_EXPORTER', 'zipkin'],
    ['OTEL_METRICS_EXPORTER', 'otlp'],
    ['OTEL_LOGS_EXPORTER', 'otlp'],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
    ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'http/protobuf'],
    ['OTEL_PROPAGATORS', 'b3'],
  ] as const)
    expect(problemsOf({ ...base, [name]: value })).toEqual([expect.stringMatching(new RegExp(`^${name} must be `))]);
});
