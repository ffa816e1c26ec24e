/** 200 changes of attributes, grants and files while three processes behind a proxy serve: no answer by the old right after the command has ended (rule 62). */
import { createServer, type ServerResponse } from 'node:http';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { AdminCommand } from '../support/admin.ts';
import { declareType, type Entity } from '../support/entities.ts';
import { rightsDirectory, writeRights } from '../support/rights-directory.ts';
import { useService } from '../support/service.ts';

const service = useService();
const changes = 200;

async function send(url: string, cookie: string | undefined, response: ServerResponse): Promise<void> {
  const answer = await fetch(url, { headers: { cookie: cookie ?? '' } });
  response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
}

/** A proxy that sends each request to the next of the targets. */
async function roundRobin(targets: readonly string[]): Promise<string> {
  let next = 0;
  const server = createServer((request, response) => {
    const target = targets[next++ % targets.length] ?? '';
    void send(target + request.url, request.headers.cookie, response);
  });
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The rules that change: by the attribute of the user, of one region, and none. */
const rules = {
  attribute: { region: { $in: { $var: 'user.regions' } } },
  north: { region: 'north' },
  none: undefined,
} as const;
type RuleName = keyof typeof rules;

const regionsOf = { none: [], north: ['north'], south: ['south'], both: ['north', 'south'] } as const;

test(`${changes} changes, each in force for the next request of each process`, { timeout: 900_000 }, async () => {
  const text = { type: 'string' };
  await declareType(service(), 'order', { type: 'object', properties: { region: text }, 'x-index': [['region']] });
  const root = { cookie: await service().openSession((await service().createUser('root')).id) };
  const keys = new Map<string, string>();
  for (const region of ['north', 'south']) {
    const { body } = await service().call<Entity>('POST', '/rest/entity/order', { ...root, json: { region } });
    keys.set(region, body.key);
  }
  const replicas = [await service().replica(), await service().replica()];
  for (const replica of replicas) onTestFinished(() => replica.stop());
  const url = await roundRobin([service().url, ...replicas.map((each) => each.url)]);
  const admin = new AdminCommand(service().databaseUrl);

  const grantsOf = (rule: RuleName) => (rules[rule] ? [{ entity: 'order', name: 'region', actions: ['read'], filter: rules[rule] }] : []);
  const filesOf = (rule: RuleName) => ({
    'attributes.yaml': { user: { regions: { type: 'array', items: text } } },
    'roles/clerk.yaml': { description: '', grants: grantsOf(rule) },
    'profiles/sales.yaml': { label: 'Sales', roles: ['clerk'] },
  });
  const directory = await rightsDirectory(filesOf('attribute'));
  const scratch = await mkdtemp(join(tmpdir(), 'changed-rights-'));
  onTestFinished(() => rm(scratch, { recursive: true }));
  await admin.say(['rights', 'apply', directory]);
  const { id } = await service().createUser('ada', null);
  await admin.say(['user', 'profile', 'add', 'ada', 'sales']);
  const cookie = await service().openSession(id);

  const state: { rule: RuleName; regions: keyof typeof regionsOf } = { rule: 'attribute', regions: 'none' };
  const apply = async (wanted: RuleName) => {
    await writeRights(directory, filesOf(wanted));
    const { digest } = JSON.parse((await admin.run(['rights', 'plan', directory, '--no-count', '--json'])).stdout) as { digest: string };
    await admin.say(['rights', 'apply', directory, '--confirm', digest]);
    state.rule = wanted;
  };
  const grant = async (wanted: RuleName) => {
    if (state.rule !== 'none') await admin.say(['role', 'revoke', 'clerk', '--entity', 'order', '--actions', 'read', '--name', 'region']);
    const filter = rules[wanted];
    if (filter) {
      await writeFile(join(scratch, 'rule.json'), JSON.stringify({ filter }));
      await admin.say([
        'role',
        'grant',
        'clerk',
        '--entity',
        'order',
        '--actions',
        'read',
        '--name',
        'region',
        '--rule',
        join(scratch, 'rule.json'),
      ]);
    }
    state.rule = wanted;
  };
  const setRegions = async (wanted: keyof typeof regionsOf) => {
    await admin.say(['user', 'update', 'ada', '--attribute', `regions=${JSON.stringify(regionsOf[wanted])}`]);
    state.regions = wanted;
  };
  const visible = (): readonly string[] =>
    state.rule === 'attribute' ? regionsOf[state.regions] : state.rule === 'north' ? ['north'] : [];

  const seen = async (region: string) => (await fetch(`${url}/rest/entity/order/${keys.get(region)}`, { headers: { cookie } })).status;
  const ruleNames = Object.keys(rules) as RuleName[];
  const regionNames = Object.keys(regionsOf) as (keyof typeof regionsOf)[];
  for (let n = 0; n < changes; n += 1) {
    if (n % 4 === 0) await grant(ruleNames[(n / 4) % 3] ?? 'none');
    else if (n % 4 === 2) await apply(ruleNames[(n + 5) % 3] ?? 'none');
    else await setRegions(regionNames[(n * 7) % 4] ?? 'none');
    const { rule, regions } = state;
    const hidden = rule === 'none' ? 403 : 404;
    for (const region of ['north', 'south']) {
      const expected = visible().includes(region) ? 200 : hidden;
      expect([n, rule, regions, region, ...(await Promise.all([seen(region), seen(region), seen(region)]))]).toEqual([
        n,
        rule,
        regions,
        region,
        expected,
        expected,
        expected,
      ]);
    }
  }
});
