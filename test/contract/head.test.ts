/** HEAD of what GET reads: the same status and headers, and no content (RFC 9110 section 9.3.2). */
import { beforeAll, describe, expect, test } from 'vitest';
import { exampleCall, operations, titled, urlOf } from '../support/operations.ts';
import { sendRequest, type RawAnswer } from '../support/raw.ts';
import { useService } from '../support/service.ts';

const service = useService();
const reading = operations.filter(({ path, method, responses }) => {
  const declared = operations.some((other) => other.path === path && other.method === 'head');
  return method === 'get' && '200' in responses && !declared;
});
let cookie: string;
let key: string;

beforeAll(async () => {
  const { id } = await service().createUser('ada');
  cookie = await service().openSession(id);
  const created = await service().call<{ key: string }>('POST', '/rest/entity/note', { cookie, json: { text: 'one' } });
  key = created.body.key;
  await service().call('POST', `/rest/entity/note/${key}`, { cookie, json: { text: 'two' } });
});

const send = (method: string, path: string, headers: string[] = []) =>
  sendRequest(service().url, method, path, ['cookie', cookie, ...headers]);

/** The headers of an answer, without those that differ in any two answers or say how the content is sent. */
function headersOf({ headers }: RawAnswer): Record<string, unknown> {
  const { date, connection, 'transfer-encoding': coding, 'content-length': length, ...others } = headers;
  return others;
}

describe.for(titled(reading))('%s', ([, operation]) => {
  test('HEAD has the status of GET and no content, also for a caller without a credential', async () => {
    const { headers = {} } = exampleCall(operation);
    const path = urlOf(operation);
    for (const credential of [['cookie', cookie], []]) {
      const call = (method: string) => sendRequest(service().url, method, path, [...Object.entries(headers).flat(), ...credential]);
      const [get, head] = [await call('GET'), await call('HEAD')];
      expect([head.status, head.text]).toEqual([get.status, '']);
      if (get.status < 300) expect(headersOf(head)).toEqual(headersOf(get));
      else expect(head.headers['problem-code']).toBe((JSON.parse(get.text) as { code: string }).code);
    }
  });
});

test('200 — the headers of an entity, a view, a list, a history and a type, with the length of the content', async () => {
  for (const path of [`note/${key}`, `note/${key}?fields=text`, `note/${key}?version=1`, 'note', 'note?limit=1', `note/${key}/history`]) {
    const url = `/rest/entity/${path}`;
    const [get, head] = [await send('GET', url), await send('HEAD', url)];
    expect([get.status, head.status, head.text], path).toEqual([200, 200, '']);
    expect(headersOf(head), path).toEqual(headersOf(get));
    expect(head.headers['content-length'], path).toBe(String(Buffer.byteLength(get.text)));
  }
});

test('304 and 404 — a HEAD with the present tag, and of an entity that does not exist', async () => {
  const tag = (await send('HEAD', `/rest/entity/note/${key}`)).headers.etag ?? '';
  expect((await send('HEAD', `/rest/entity/note/${key}`, ['if-none-match', tag])).status).toBe(304);
  const missing = await send('HEAD', '/rest/entity/note/9999');
  expect([missing.status, missing.headers['problem-code'], missing.text]).toEqual([404, 'not-found', '']);
});

test('200 — HEAD of an export has its media type, sends nothing, takes no place and leaves no event', async () => {
  const exported = () => service().db.selectFrom('audit_event').where('event', '=', 'entity.exported').select('id').execute();
  const before = await exported();
  for (const [query, type] of [
    ['', 'application/x-ndjson; charset=utf-8'],
    ['?format=csv', 'text/csv; charset=utf-8'],
  ]) {
    const answers = await Promise.all(Array.from({ length: 6 }, () => send('HEAD', `/rest/entity/note/export${query}`)));
    expect(answers.map(({ status, headers, text }) => [status, headers['content-type'], text])).toEqual(answers.map(() => [200, type, '']));
  }
  expect(await exported()).toEqual(before);
  expect((await send('GET', '/rest/entity/note/export')).status).toBe(200);
  expect(await exported()).toHaveLength(before.length + 1);
});

test('403 — HEAD by cookie from another site, as GET (rule 27)', async () => {
  const answer = await send('HEAD', `/rest/entity/note/${key}`, ['sec-fetch-site', 'cross-site']);
  expect([answer.status, answer.headers['problem-code']]).toEqual([403, 'csrf-rejected']);
});
