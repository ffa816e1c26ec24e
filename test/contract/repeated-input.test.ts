/**
 * No answer, log line or audit event repeats a name of the input that does not look like a name. The requests are derived from openapi.yaml:
 * hostile names of form fields, members, parameters, headers and cookies, for each operation.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { exampleBody, methodOf, operations, pathOf } from '../support/operations.ts';
import { sendRequest, type RawAnswer } from '../support/raw.ts';
import { useService } from '../support/service.ts';
import { npmStart } from '../support/start.ts';

vi.setConfig({ testTimeout: 120_000 });

const directory = await mkdtemp(join(tmpdir(), 'entity-types-'));
afterAll(() => rm(directory, { recursive: true }));
const closed = { type: 'object', additionalProperties: false, properties: { address: { type: 'object', additionalProperties: false } } };
await writeFile(join(directory, 'customer.json'), JSON.stringify(closed));

const service = useService();

/** What must not come back. Each name contains it. */
const secret = 'Wq7secret';
const names = [
  JSON.stringify({ user: 'ada', password: secret }),
  `correct horse ${secret}`,
  `a/b~c${secret}`,
  `${secret}${'x'.repeat(56)}`,
  `${secret}\n`,
  `<b>${secret}</b>`,
  `${secret} =%zz`,
  `\u202e${secret}`,
];
const form = (name: string, value: string) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`;

/** Bodies in the form of `text`, an accepted one, with a hostile name in each place. */
function hostileBodies(type: string, text: string, name: string): string[] {
  if (type !== 'application/json') {
    const pair = form(name, '1');
    // A line end would not be part of the name of a column.
    const alone = type === 'text/csv' ? `"${name.replaceAll('"', '""')}"` : name;
    return [pair, `${text}&${pair}`, `${text}&${pair}&${pair}`, `${text}&${name}=%zz`, `${text}&%zz${encodeURIComponent(name)}=1`, alone];
  }
  const quoted = JSON.stringify(name);
  const example = JSON.parse(text) as object;
  return [
    JSON.stringify({ ...example, [name]: 1 }),
    ...['sort', 'fields', 'groupBy', 'by', 'include'].flatMap((member) =>
      [name, [name]].map((value) => JSON.stringify({ ...example, [member]: value })),
    ),
    JSON.stringify({ ...example, 'x-index': [[name]], 'x-unique': [{ fields: [name] }], 'x-search': { fields: [name] } }),
    JSON.stringify({ ...example, address: { [name]: { deeper: 1 } } }),
    JSON.stringify({ ...example, scopes: [{ [name]: 1 }] }),
    `{${quoted}:1,${quoted}:2}`,
    `{${quoted}:1e400}`,
    `{${quoted}:{"a":[1e400]}}`,
    `{${quoted}:"\\u0000"}`,
    `{${quoted}:{"__proto__":1}}`,
    `{${quoted.slice(0, -1)}${'y'.repeat(128)}":1}`,
    `{${quoted.slice(0, -1)}\\ud800":1}`,
    `{${quoted}`,
    quoted,
  ];
}

test('an answer, a log line or an audit event never repeats a name that does not look like one (rule 75)', async () => {
  const { id } = await service().createUser('ada');
  const started = await npmStart({
    NODE_ENV: 'development',
    DATABASE_URL: service().databaseUrl,
    LOG_LEVEL: 'trace',
    RATE_LIMIT: 'off',
    ENTITY_TYPES_DIR: directory,
  });
  await started.ready;
  const answers: (RawAnswer & { request: string })[] = [];
  const send = async (method: string, path: string, headers: string[], body?: string) => {
    const answer = await sendRequest(started.url, method, path, headers, body);
    answers.push({ ...answer, request: `${method} ${path}` });
    return answer;
  };

  for (const [index, operation] of operations.entries()) {
    const cookie = ['cookie', await service().openSession(id)];
    const method = methodOf(operation);
    const path = pathOf(operation);
    const [body, ...otherBodies] = Object.keys(operation.requestBody?.content ?? {}).map((type) => exampleBody(operation, type));
    const type = body ? ['content-type', body.type] : [];
    // Every second name, so that two operations together have all of them.
    for (const name of names.filter((_, place) => place % 2 === index % 2)) {
      const query = encodeURIComponent(name);
      for (const search of [
        `sort=${query}`,
        `fields=${query}`,
        `by=${query}`,
        `${query}=1`,
        `${query}=1&${query}=2`,
        `${query}%zz=1`,
        `a=1&${query}=%zz`,
      ]) {
        await send(method, `${path}?${search}`, [...cookie, ...type], body?.text);
      }
      for (const each of body ? [body, ...otherBodies] : [])
        for (const text of hostileBodies(each.type, each.text, name))
          await send(method, path, [...cookie, 'content-type', each.type], text);
    }
    await send(method, path, [...cookie, ...type, `x-!${secret}~`, '1', '!~', secret], body?.text);
    await send(method, path, ['cookie', `sid=${secret}; ${secret}!=1`, ...type], body?.text);
    if (path !== operation.path) await send(method, operation.path.replaceAll(/\{\w+\}/g, encodeURIComponent(`no ${secret}!`)), cookie);
  }
  const unknown = await send('GET', '/auth?surplus=1', ['cookie', await service().openSession(id)]);
  expect(unknown.text, 'what looks like a name is repeated').toContain('"surplus"');
  started.signalParent('SIGTERM');
  await started.ended;

  expect(answers.filter(({ status }) => status >= 400).length).toBeGreaterThan((names.length * operations.length) / 2);
  expect(answers.filter(({ headers, text }) => `${JSON.stringify(headers)} ${text}`.includes(secret))).toEqual([]);
  expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
  expect(started.log().filter(({ event }) => event === 'request').length).toBeGreaterThan(answers.length / 2);
  expect(started.log().filter((line) => JSON.stringify(line).includes(secret))).toEqual([]);
  expect(started.told()).not.toContain(secret);
  const audit = await service().db.selectFrom('audit_event').selectAll().execute();
  expect(audit.filter((event) => JSON.stringify(event).includes(secret))).toEqual([]);
});
