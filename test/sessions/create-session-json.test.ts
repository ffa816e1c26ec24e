/** createSession with a JSON body: the fields, limits, refusals and events of a form. */
import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { cookieOf, password, useService, type Answer, type Call, type ProblemBody } from '../support/service.ts';

const service = useService();
const send = (call: Call) => service().call('POST', '/auth', call);
const byForm = (fields: Record<string, string>, call: Call = {}) => send({ form: fields, ...call });
const byJson = (fields: Record<string, unknown>, call: Call = {}) => send({ json: fields, ...call });
const credentials = { user: 'ada', password };

beforeAll(async () => {
  service().waitPatiently();
  await service().createUser('ada');
});
beforeEach(async () => {
  await sql`delete from session; delete from login_attempt`.execute(service().db);
});

/** The answer to a request, and what it adds to the audit trail. */
async function audited(request: () => Promise<Answer<ProblemBody>>) {
  const { db } = service();
  const latest = await db.selectFrom('audit_event').select('id').orderBy('id', 'desc').limit(1).executeTakeFirst();
  const answer = await request();
  const added = db
    .selectFrom('audit_event')
    .where('id', '>', latest?.id ?? '0')
    .orderBy('id');
  return { answer, events: await added.select(['event', 'outcome', 'user_name', 'detail']).execute() };
}

const sessions = async () => (await service().db.selectFrom('session').select('id').execute()).length;
const pointersOf = ({ body }: Answer<ProblemBody>) => body.errors?.map(({ pointer }) => pointer);
/** The answer without what differs from one request to the next. */
const comparable = ({ status, headers, text }: Answer) => ({
  status,
  headers: [...headers.keys()],
  text: text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '…'),
});

describe('createSession with JSON', () => {
  test('200 — the answer, the cookie and the events are those of a form', async () => {
    const { answer: form, events } = await audited(() => byForm({ ...credentials, locale: 'de-at' }));
    const { answer: json, events: sameEvents } = await audited(() => byJson({ ...credentials, locale: 'de-at' }));
    expect(json.status, json.text).toBe(200);
    expect(json.headers.getSetCookie()[0]).toMatch(/^sid=[A-Za-z0-9_-]{32}; Path=\/; HttpOnly; SameSite=Lax$/);
    expect(comparable(json)).toEqual(comparable(form));
    expect(events.length).toBeGreaterThan(0);
    expect(sameEvents).toEqual(events);
    expect((await service().call('GET', '/auth', { cookie: cookieOf(json) })).status).toBe(200);
  });

  test('401 — a wrong password gets the answer and the event of a form (rule 42)', async () => {
    const wrong = { ...credentials, password: 'not the password at all' };
    const { answer: form, events } = await audited(() => byForm(wrong));
    const { answer: json, events: sameEvents } = await audited(() => byJson(wrong));
    expect(form.status).toBe(401);
    expect(comparable(json)).toEqual(comparable(form));
    expect(comparable(await byJson({ user: 'nobody', password }))).toEqual(comparable(form));
    expect(events).toMatchObject([{ event: 'login.failed', user_name: 'ada' }]);
    expect(sameEvents).toEqual(events);
  });

  test('429 — failures by JSON and by form count together (rule 39)', async () => {
    for (const [index, way] of [byJson, byForm, byJson, byForm, byJson].entries())
      expect((await way({ ...credentials, password: `wrong password number ${index}` })).status).toBe(401);
    await sql`update login_attempt set blocked_until = now() + interval '1 minute' where kind = 'account'`.execute(service().db);
    for (const way of [byJson, byForm]) expect((await way(credentials)).status).toBe(429);
    expect(await sessions()).toBe(0);
  });

  test.for<[string, Record<string, unknown>]>([
    ['an empty object', {}],
    ['only a user', { user: 'ada' }],
    ['an unknown member', { ...credentials, remember: '1' }],
    ['a password and an issuer', { ...credentials, oidcIssuer: 'corp', access_token: 't' }],
    ['an issuer without a token', { oidcIssuer: 'corp' }],
    ['a token without an issuer', { access_token: 't' }],
    ['an invalid locale', { ...credentials, locale: 'not_a_locale' }],
    ['an empty password', { ...credentials, password: '' }],
    ['a user name that is too long', { ...credentials, user: 'x'.repeat(513) }],
  ])('422 — %s is refused with the pointers of a form, and opens no session (rule 71)', async ([, fields]) => {
    const json = await byJson(fields);
    expect([json.status, json.body.code], json.text).toEqual([422, 'validation-failed']);
    // An empty form is no body at all.
    const form = Object.keys(fields).length > 0 ? pointersOf(await byForm(fields as Record<string, string>)) : ['/user', '/password'];
    expect(pointersOf(json)).toEqual(form);
    expect(await sessions()).toBe(0);
  });

  test.for<[string, Record<string, unknown>, string]>([
    ['a number', { user: 'ada', password: 1 }, '/password'],
    ['null', { user: null, password }, '/user'],
    ['an object', { user: { name: 'ada' }, password }, '/user'],
    ['a list', { user: ['ada', 'grace'], password }, '/user'],
  ])('422 — %s in place of a text is refused, not converted (rule 72)', async ([, fields, pointer]) => {
    const answer = await byJson(fields);
    expect([answer.status, pointersOf(answer)], answer.text).toEqual([422, [pointer]]);
  });

  test.for<[string, string | Buffer]>([
    ['a repeated member', `{"user":"grace","user":"ada","password":"${password}"}`],
    ['a lone surrogate', `{"user":"ada","password":"\\ud83d"}`],
    ['U+0000', `{"user":"ada","password":"a\\u0000b"}`],
    ['bytes that are not UTF-8', Buffer.from(`{"user":"ada","password":"\xe9"}`, 'latin1')],
    ['a form that is called JSON', new URLSearchParams(credentials).toString()],
  ])('400 — %s is refused (rules 33 and 70)', async ([, raw]) => {
    const answer = await send({ raw, headers: { 'content-type': 'application/json' } });
    expect([answer.status, answer.body.code], answer.text).toEqual([400, 'malformed-request']);
    expect(await sessions()).toBe(0);
  });

  test('400 — a header credential beside a password', async () => {
    const mixed = await byJson(credentials, { headers: { authorization: 'Bearer x.y.z' } });
    expect([mixed.status, mixed.body.code]).toEqual([400, 'ambiguous-credentials']);
  });

  test.for<Record<string, string>>([
    { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
    { 'sec-fetch-site': 'same-site', origin: 'https://evil.example' },
    { 'sec-fetch-site': 'cross-site' },
    { origin: 'https://evil.example' },
    { origin: 'null' },
  ])('403 — another site cannot sign its visitor in with JSON: %j (rules 27 and 28)', async (headers) => {
    expect((await byJson(credentials, { headers: { 'sec-fetch-site': 'same-origin' } })).status).toBe(200);
    await sql`delete from session`.execute(service().db);
    const foreign = await byJson(credentials, { headers });
    expect([foreign.status, foreign.body.code]).toEqual([403, 'csrf-rejected']);
    expect(foreign.headers.getSetCookie()).toEqual([]);
    expect(await sessions()).toBe(0);
  });

  test.for(['text/plain', 'text/plain; charset=utf-8', 'multipart/form-data; boundary=x', 'text/json', 'application/x-json'])(
    '415 — JSON as %s, which a form of another site can send without a preflight, is not read (rule 73)',
    async (type) => {
      const answer = await send({ raw: JSON.stringify(credentials), headers: { 'content-type': type } });
      expect(answer.status).toBe(415);
      expect(answer.headers.get('accept-post')).toBe('application/x-www-form-urlencoded, application/json');
      expect(await sessions()).toBe(0);
    },
  );
});
