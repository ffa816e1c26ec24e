/** Runs the five jobs of docs/rights.md, from the plan to requests that succeed and requests that are refused, and its plan of a change. */
import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { AdminCommand } from '../support/admin.ts';
import { declareType } from '../support/entities.ts';
import { readDocument, tableRows } from '../support/markdown.ts';
import { rightsDirectory, writeRights } from '../support/rights-directory.ts';
import { useService } from '../support/service.ts';

const service = useService();
const page = readDocument('docs/rights.md');
let admin: AdminCommand;
let cookie = '';

beforeAll(async () => {
  admin = new AdminCommand(service().databaseUrl);
  cookie = await service().openSession((await service().createUser('root')).id);
  const text = { type: 'string' };
  const key = { type: 'string', format: 'int64' };
  await declareType(service(), 'project', { properties: { title: text } });
  await declareType(service(), 'member', {
    properties: { project: key, user: text },
    'x-references': { project: { to: 'project' } },
    'x-index': [['user']],
  });
  await declareType(service(), 'task', { properties: { project: key }, 'x-references': { project: { to: 'project' } } });
});

async function createdBy(session: string, entity: string, json: object): Promise<string> {
  const { status, body } = await service().call<{ key: string }>('POST', `/rest/entity/${entity}`, { cookie: session, json });
  expect(status).toBe(201);
  return body.key;
}

/** The files in the section, each behind a comment with its path. */
function filesIn(text: string): Record<string, string> {
  const [, block = ''] = /```yaml\n(.*?)```/s.exec(text) ?? [];
  return Object.fromEntries(
    block
      .split(/^# (?=\S+\.yaml$)/m)
      .filter(Boolean)
      .map((file) => [file.slice(0, file.indexOf('\n')), file.slice(file.indexOf('\n') + 1)]),
  );
}

/** The text of the section. The comments with paths look like headings. */
const sectionOf = (title: string): string => page.split(`${title}\n`)[1]?.split('\n## ')[0] ?? '';

type Seed = (root: string, own: string) => Promise<string[]>;

test.each<[string, string, string[], Seed]>([
  [
    '## The own region',
    'sales',
    ['regions=["north"]'],
    async (root) => [await createdBy(root, 'order', { region: 'north', margin: 5 }), await createdBy(root, 'order', { region: 'south' })],
  ],
  [
    '## A team by membership',
    'team',
    [],
    async (root) => {
      const [project, other] = [await createdBy(root, 'project', {}), await createdBy(root, 'project', {})];
      await createdBy(root, 'member', { project, user: 'team-user' });
      return [await createdBy(root, 'task', { project }), await createdBy(root, 'task', { project: other })];
    },
  ],
  [
    '## Four-eyes approval',
    'approvers',
    [],
    async (root, own) => [
      await createdBy(root, 'invoice', { state: 'submitted' }),
      await createdBy(own, 'invoice', { state: 'submitted' }),
    ],
  ],
  [
    '## A hidden salary',
    'staff',
    [],
    async (root) => [
      await createdBy(root, 'employee', { user: 'staff-user', salary: 1 }),
      await createdBy(root, 'employee', { user: 'root', salary: 2 }),
    ],
  ],
  [
    '## Tenants',
    'tenants',
    ['tenant=acme'],
    async (root) => [await createdBy(root, 'ticket', { tenant: 'acme' }), await createdBy(root, 'ticket', { tenant: 'umbrella' })],
  ],
])('%s: the plan is applied, and each request has the answer of the page', async (title, profile, attributes, seed) => {
  const text = sectionOf(title);
  const directory = await rightsDirectory(filesIn(text));
  expect((await admin.run(['rights', 'plan', directory])).code).toBe(3);
  expect((await admin.run(['rights', 'apply', directory])).code).toBe(0);
  const { id } = await service().createUser(`${profile}-user`, null);
  await admin.say(['user', 'profile', 'add', `${profile}-user`, profile]);
  for (const attribute of attributes) await admin.say(['user', 'update', `${profile}-user`, '--attribute', attribute]);
  const own = await service().openSession(id);
  const keys = await seed(cookie, own);
  const rows = tableRows(text);
  expect(rows.length).toBeGreaterThan(1);
  const statuses = new Set<boolean>();
  for (const [request = '', answer = ''] of rows) {
    const [, method = '', path = '', number, json] = /^`(\w+) (\/rest\/entity\/\w+)(?:\/(\d))?(?: (\{.*\}))?`/.exec(request) ?? [];
    const place = number === undefined ? path : `${path}/${keys[Number(number) - 1]}`;
    const sent = await service().call<{ fields?: object; errors?: { pointer: string }[] }>(method, place, {
      cookie: own,
      ...(json !== undefined && { json: JSON.parse(json) as object }),
    });
    expect(sent.status, request).toBe(Number(answer.slice(0, 3)));
    statuses.add(sent.status < 300);
    const [, pointer] = /at `(.*)`/.exec(answer) ?? [];
    if (pointer !== undefined) expect(sent.body.errors?.map((each) => each.pointer)).toContain(pointer);
    const [, field = '', shown] = /the (\w+) (shown|hidden)/.exec(answer) ?? [];
    if (shown !== undefined) expect(Object.keys(sent.body.fields ?? {}).includes(field)).toBe(shown === 'shown');
  }
  expect(statuses).toEqual(new Set([true, false]));
});

test('the plan of a change prints the documents, the grants and the rows of the page (check 31 of rights)', async () => {
  const files = filesIn(sectionOf('## The own region'));
  const directory = await rightsDirectory(files);
  await admin.say(['rights', 'apply', directory]);
  const { db } = service();
  await sql`delete from user_profile`.execute(db);
  await sql`delete from entity where name = 'order'`.execute(db);
  await sql`
    insert into entity (name, fields, created_by, updated_by)
    select 'order',
      jsonb_build_object('region', case when n <= 40 then 'north' else 'south' end, 'state', (array['open', 'draft', 'open', 'closed'])[1 + n % 4]),
      'root', 'root'
    from generate_series(1, 100) as n`.execute(db);
  for (const [name, region] of Object.entries({ ada: 'north', bob: 'north', eve: 'south' })) {
    await service().createUser(name, null);
    await admin.say(['user', 'profile', 'add', name, 'sales']);
    await admin.say(['user', 'update', name, '--attribute', `regions=["${region}"]`]);
  }
  const section = sectionOf('## What a plan tells');
  await writeRights(directory, filesIn(section));
  const [, written] = /```console\n\$ npm run -s admin -- rights plan rights\/\n(.*?)```/s.exec(section) ?? [];
  const { code, stdout } = await admin.run(['rights', 'plan', directory]);
  expect(stdout.replace(/--confirm \w{64}/, '--confirm 9f86d0…')).toBe(written);
  expect(code).toBe(4);
});
