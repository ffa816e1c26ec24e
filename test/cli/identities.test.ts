import { userInfo } from 'node:os';
import { beforeAll, describe, expect, test } from 'vitest';
import { AdminCommand, runAdmin } from '../support/admin.ts';
import { TestIssuer, writeIssuers } from '../support/issuer.ts';
import { useService } from '../support/service.ts';

const corp = await TestIssuer.start('corp');
const issuersFile = await writeIssuers(corp.entry());
const service = useService({ ISSUERS_FILE: issuersFile });
let admin: AdminCommand;

beforeAll(async () => {
  admin = new AdminCommand(service().databaseUrl, { ISSUERS_FILE: issuersFile });
  await service().createUser('ada');
  await service().createUser('bob');
});

const words = (verb: 'link' | 'unlink', user: string, subject: string, issuer = 'corp') => [
  'identity',
  verb,
  user,
  '--issuer',
  issuer,
  '--subject',
  subject,
];

async function whoIs(subject: string): Promise<number> {
  const headers = { authorization: `Bearer ${await corp.mint({ claims: { sub: subject } })}` };
  return (await service().call('GET', '/auth', { headers })).status;
}

async function events(subject: string) {
  const rows = await service().db.selectFrom('audit_event').select(['event', 'user_name', 'detail']).orderBy('id').execute();
  return rows.filter(({ event, detail }) => event.startsWith('identity.') && detail['subject'] === subject);
}

describe('identity link, unlink, list', () => {
  test('a link counts from the next request until it is removed, and the audit trail has both events (rules 56 and 85)', async () => {
    expect(await whoIs('a-1')).toBe(403);
    expect(await admin.say(words('link', 'ada', 'a-1'))).toBe(`Linked the subject "a-1" of ${corp.url} to ada.\n`);
    expect(await whoIs('a-1')).toBe(200);
    expect(await admin.json(words('link', 'ada', 'a-1', corp.url))).toEqual({
      user: 'ada',
      issuer: corp.url,
      subject: 'a-1',
      changed: false,
    });
    const form = { oidcIssuer: 'corp', access_token: await corp.mint({ claims: { sub: 'a-1' } }) };
    expect((await service().call('POST', '/auth', { form })).status).toBe(200);
    expect(await admin.json(words('unlink', 'ada', 'a-1'))).toMatchObject({ user: 'ada', changed: true, endedSessions: 1 });
    await service().settle();
    expect(await whoIs('a-1')).toBe(403);
    const detail = { by: 'administrator', via: 'cli', actor: userInfo().username, issuer: corp.url, subject: 'a-1' };
    expect(await events('a-1')).toEqual([
      { event: 'identity.linked', user_name: 'ada', detail },
      { event: 'identity.unlinked', user_name: 'ada', detail: { ...detail, endedSessions: 1 } },
    ]);
  });

  test('an identity of one user is never linked to another (rule 56)', async () => {
    await admin.say(words('link', 'ada', 'a-2'));
    expect(await admin.refusal(words('link', 'bob', 'a-2'))).toBe(
      `the subject "a-2" of ${corp.url} is linked to another user: unlink it first`,
    );
    expect(await admin.refusal(words('unlink', 'bob', 'a-2'))).toMatch(/^bob is not linked to the subject "a-2" of /);
    expect(await events('a-2')).toHaveLength(1);
    expect(await whoIs('a-2')).toBe(200);
  });

  test('the list shows all links, or those of one user', async () => {
    await admin.say(words('link', 'bob', 'b-1'));
    const all = await admin.json<{ user: string }[]>(['identity', 'list']);
    expect(new Set(all.map(({ user }) => user))).toEqual(new Set(['ada', 'bob']));
    expect(await admin.json(['identity', 'list', 'bob'])).toEqual([
      { user: 'bob', issuer: corp.url, subject: 'b-1', createdAt: expect.stringMatching(/Z$/) as string },
    ]);
    expect(await admin.say(['identity', 'list', 'bob'])).toMatch(/^USER +ISSUER +SUBJECT +LINKED\nbob +http:\S+ +b-1 +\d{4}-/);
  });
});

describe('the command refuses', () => {
  test('an issuer that is not trusted, even by a final slash, because its tokens would be refused', async () => {
    for (const issuer of ['corpo', `${corp.url}/`, 'https://elsewhere.example']) {
      expect(await admin.refusal(words('link', 'ada', 'x', issuer))).toBe(
        `"${issuer}" is not a trusted issuer; ISSUERS_FILE lists corp (${corp.url})`,
      );
    }
    expect(await events('x')).toEqual([]);
  });

  test('an unknown user, and an invalid subject', async () => {
    expect(await admin.refusal(words('link', 'nobody', 'x'))).toBe('there is no user called "nobody"');
    for (const subject of ['', 'a\nb', 'x'.repeat(256)]) {
      expect(await admin.refusal(words('link', 'ada', subject), '', 2)).toContain('A subject has 1 to 255 characters');
    }
  });

  test('an id without ISSUERS_FILE; a URL is linked with a warning', async () => {
    const environment = { DATABASE_URL: service().databaseUrl };
    expect(await runAdmin(words('link', 'ada', 'y'), { environment })).toMatchObject({
      code: 2,
      stderr: 'error: ISSUERS_FILE is not set, so "corp" names no issuer: set it, or give --issuer the issuer\'s URL\n',
    });
    expect(await runAdmin(words('unlink', 'ada', 'y'), { environment })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('ISSUERS_FILE is not set'),
    });
    expect(await runAdmin(words('link', 'ada', 'y', 'https://login.example.com'), { environment })).toEqual({
      code: 0,
      stdout: 'Linked the subject "y" of https://login.example.com to ada.\n',
      stderr: 'note: ISSUERS_FILE is not set here; a service without it takes no tokens\n',
    });
  });

  test('nothing when a former issuer is unlinked by its URL', async () => {
    const environment = { DATABASE_URL: service().databaseUrl };
    await runAdmin(words('link', 'ada', 'z', 'https://gone.example.com'), { environment });
    expect(await admin.say(words('unlink', 'ada', 'z', 'https://gone.example.com'))).toContain('sessions ended: 0.');
  });
});

describe('doctor', () => {
  const findings = async (settings: Record<string, string>) => {
    const { stdout } = await runAdmin(['doctor'], { environment: { DATABASE_URL: service().databaseUrl, ...settings } });
    return stdout.split('\n').filter((line) => line.includes('issuer'));
  };

  test('requests the keys of each trusted issuer, and says why one sends none', async () => {
    expect(await findings({})).toEqual([]);
    expect(await findings({ ISSUERS_FILE: issuersFile })).toEqual([
      expect.stringMatching(/^ok +issuers +1 in /),
      expect.stringMatching(/^ok +issuer corp +http:\S+\/jwks has keys: 1$/),
    ]);
    corp.behaviour = 'down';
    expect(await findings({ ISSUERS_FILE: issuersFile })).toContainEqual(
      expect.stringMatching(/^fail +issuer corp +http:\S+ does not give its keys: ./),
    );
    corp.behaviour = 'up';
    expect(await findings({ ISSUERS_FILE: '/nonexistent' })).toEqual([
      expect.stringMatching(/^fail +issuers +ISSUERS_FILE \/nonexistent: cannot be read: ENOENT/),
    ]);
  });

  test('shows the redirect URI of each issuer for sign-in (rule 51)', async () => {
    const told = async (file: string) => {
      const environment = { DATABASE_URL: service().databaseUrl, PUBLIC_URL: 'https://api.example.com', ISSUERS_FILE: file };
      return (await runAdmin(['doctor'], { environment })).stdout;
    };
    const line = 'ok +sign-in corp +register the redirect URI https://api.example.com/auth/oidc/corp/callback';
    expect(await told(await writeIssuers(await corp.loginEntry()))).toMatch(new RegExp(`^${line}$`, 'm'));
    const withSwaggerUi = await writeIssuers(await corp.loginEntry({ swaggerUi: { clientId: 'entity-docs' } }));
    const another = '; for entity-docs: https://api.example.com/docs/static/oauth2-redirect.html';
    expect(await told(withSwaggerUi)).toMatch(new RegExp(`^${line}${another}$`, 'm'));
  });

  test('checks that the profiles of the issuers exist', async () => {
    const giving = await writeIssuers(
      corp.entry({ provision: { enabled: true, profile: 'ada' }, profiles: { claim: 'g', map: { a: 'nix' } } }),
    );
    expect(await findings({ ISSUERS_FILE: giving })).toContainEqual(
      expect.stringMatching(/^fail +profiles +ISSUERS_FILE: issuer "corp" gives the profile "nix", which does not exist: create it first$/),
    );
    const fine = await writeIssuers(corp.entry({ provision: { enabled: true, profile: 'ada' } }));
    expect(await findings({ ISSUERS_FILE: fine })).toContainEqual(expect.stringMatching(/^ok +profiles +all that the issuers give exist$/));
  });
});
