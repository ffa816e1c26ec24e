/** Runs the examples of docs/modelling.md, from the first to the last. */
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { allActions } from '../../src/rights/vocabulary.ts';
import { declareType } from '../support/entities.ts';
import { faultsIn } from '../support/lists.ts';
import { codeOf, readDocument, section, tableRows } from '../support/markdown.ts';
import { useService, type Answer, type ProblemBody } from '../support/service.ts';

type Properties = Record<string, unknown>;

const service = useService();
const page = readDocument('docs/modelling.md');
const shown = [...page.matchAll(/^```yaml\n# (examples\/types\/(\w+)\.yaml)\n(.*?)^```$/gms)];
/** Without the types, whose comments look like headings. */
const text = page.replaceAll(/^```yaml\n.*?^```$/gms, '');
const types = new Map(shown.map(([, , name = '', yaml = '']) => [name, parse(yaml) as Properties]));
let ada: { cookie: string };

beforeAll(async () => {
  ada = { cookie: await service().openSession((await service().createUser('ada', { '*': [...allActions] })).id) };
  for (const [name, document] of types) await declareType(service(), name, document);
});

const send = (method: string, path: string, json?: unknown, headers = {}): Promise<Answer<ProblemBody>> =>
  service().call(method, `/rest/entity/${path}`, { ...ada, headers, ...(json !== undefined && { json }) });

/** The answer as the tables have it: `201`, or ``422 `required` at `/email` ``. */
function told(answer: Answer<ProblemBody | undefined>): string {
  const { status, body } = answer;
  if (status < 400 || status === 404) return String(status);
  const [fault = ''] = body?.errors ? faultsIn(answer as Answer<ProblemBody>) : [];
  const [pointer = '', code = ''] = fault.split(' ');
  if (body?.code === 'validation-failed') return `422 \`${code}\` at \`${pointer}\``;
  return `${status} \`${body?.code}\`${pointer.startsWith('/') ? ` at \`${pointer}\`` : ''}`;
}

/** The JSON values in a cell, each as code. */
const valuesIn = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, json = '']) => JSON.parse(json) as unknown);

test('shows the types as their files have them', () => {
  expect([...types.keys()]).toEqual(['customer', 'order', 'line']);
  for (const [, file = '', , yaml] of shown) expect(yaml).toBe(readDocument(file));
});

const fieldRows = tableRows(section(text, '## Fields').split('### ')[0] ?? '');
test.for(fieldRows)('fields: %s', async ([fields, answer]) => {
  expect(told(await send('POST', 'customer', JSON.parse(codeOf(fields))))).toBe(answer);
});

describe('a format', () => {
  const rows = [...tableRows(section(text, '### Formats')).entries()];
  test.for(rows)('%i %j', async ([index, [schema, , fits, fitsNot]]) => {
    const name = `format${index}`;
    await declareType(service(), name, { properties: { value: JSON.parse(codeOf(schema)) as unknown } });
    expect(valuesIn(fits).length * valuesIn(fitsNot).length).toBeGreaterThan(0);
    for (const value of valuesIn(fits)) expect((await send('POST', name, { value })).status, String(value)).toBe(201);
    for (const value of valuesIn(fitsNot)) expect((await send('POST', name, { value })).status, String(value)).toBe(422);
  });
});

test('the requests about references, one after the other', async () => {
  const requests = tableRows(section(text, '## References')).filter(([cell = '']) => /^`(GET|POST|DELETE) /.test(cell));
  expect(requests.length).toBeGreaterThan(8);
  // Creates that were refused have used keys.
  const first = await service().db.selectFrom('entity').where('name', '=', 'customer').select('key').executeTakeFirstOrThrow();
  const keys = new Map([['1', first.key]]);
  const asRun = (part: string) => part.replaceAll(/(?<=\/|": ")\d+(?=\?|"|$)/g, (key) => keys.get(key) ?? key);
  for (const [cell, expected = ''] of requests) {
    const [, method = '', path = '', json] = /^(\w+) (\S+)(?: (.*))?$/.exec(codeOf(cell)) ?? [];
    const answer = await send(method, asRun(path), json === undefined ? undefined : JSON.parse(asRun(json)));
    const [, created] = /^201 `\w+\/(\d+)`$/.exec(expected) ?? [];
    if (created !== undefined) keys.set(created, answer.headers.get('location')?.split('/').at(-1) ?? '');
    expect(told(answer) + (created === undefined ? '' : expected.slice(3)), cell).toBe(expected);
  }
});

test('the lists of the table of indexes are accepted', async () => {
  const rows = tableRows(section(text, '## Indexes'));
  expect(rows.length).toBeGreaterThan(3);
  for (const [list = ''] of rows) {
    const [, filter = '', sort = ''] = /^`(\{.*?\})`(?: sorted by `(.*)`)?$/.exec(list) ?? [];
    const name = sort === '-company' ? 'customer' : 'order';
    const query = { filter: JSON.parse(filter) as unknown, ...(sort !== '' && { sort: [sort] }) };
    const answer = await service().call('POST', `/rest/entity/${name}/query`, { ...ada, json: query });
    expect(answer.status, list).toBe(200);
  }
});

test('the updates of a type that requires If-Match', async () => {
  await declareType(service(), 'guarded', { 'x-if-match': 'required' });
  const created = await service().call<{ key: string }>('POST', '/rest/entity/guarded', { ...ada, json: {} });
  for (const [request = '', expected] of tableRows(section(text, '## One writer at a time'))) {
    const [, tag] = /`If-Match: (.*?)`/.exec(request) ?? [];
    const answer = await send('POST', `guarded/${created.body.key}`, { a: request }, tag === undefined ? {} : { 'if-match': tag });
    expect(told(answer), request).toBe(expected);
  }
});

describe('a change', () => {
  const isObject = (value: unknown): value is Properties => typeof value === 'object' && value !== null && !Array.isArray(value);
  const merged = (target: Properties, patch: Properties): Properties => ({
    ...target,
    ...Object.fromEntries(
      Object.entries(patch).map(([name, value]) => {
        const old = target[name];
        return [name, isObject(value) && isObject(old) ? merged(old, value) : value];
      }),
    ),
  });

  test.for(tableRows(section(text, '## Change a type')))('%s', async ([change = '', effect]) => {
    const document = change.startsWith('`') ? merged(types.get('customer') ?? {}, JSON.parse(codeOf(change)) as Properties) : undefined;
    const plan = await service().call<{ effect: string }>('POST', '/rest/entity-type/customer/plan', { ...ada, json: { document } });
    expect(plan.body.effect, plan.text).toBe(codeOf(effect));
  });
});
