/** What a session may do by the way it was opened: each operation with each kind of session, through the front door (rules 47, 48, 59 and 60). */
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { sessionKinds, type SessionRights } from '../../src/rights/session-rights.ts';
import { sessionOf } from '../support/clock.ts';
import { createHolder, holdingsOf, send, type Holder } from '../support/holdings.ts';
import { TestIssuer, writeIssuers } from '../support/issuer.ts';
import { operations } from '../support/operations.ts';
import { cookieOf, useService } from '../support/service.ts';
import { BrowserSession } from '../support/browser-session.ts';

/** Gives tokens without a ceiling, and is a provider to sign in at. */
const corp = await TestIssuer.start('corp');
/** Gives tokens with one. */
const narrow = await TestIssuer.start('narrow');
const scopes = { read: 'entities:read', write: 'entities:write' };
const service = useService({ ISSUERS_FILE: await writeIssuers(await corp.loginEntry(), narrow.entry({ scopes })) });

async function byToken(issuer: TestIssuer, sub: string): Promise<string> {
  const access_token = await issuer.mint({ claims: { sub, scope: 'entities:read', auth_time: Math.floor(Date.now() / 1_000) } });
  return cookieOf(await service().call('POST', '/auth', { form: { oidcIssuer: issuer.id, access_token } }));
}

const opened: Record<keyof SessionRights, (userName: string) => Promise<string>> = {
  password: (userName) => service().signIn(userName),
  openid: async (userName) => {
    const browser = new BrowserSession(service());
    expect((await browser.signIn(corp, userName)).status).toBe(303);
    return `sid=${browser.cookies.get('sid')}`;
  },
  token: (userName) => byToken(corp, userName),
  narrowed: (userName) => byToken(narrow, userName),
};

let users = 0;

/** A new user with a session of this kind, by a sign-in of this moment. */
async function holderOf(kind: keyof SessionRights): Promise<Holder> {
  const userName = `${kind}-${++users}`;
  const holder = await createHolder(service(), [corp, narrow], userName);
  const cookie = await opened[kind](userName);
  return { ...holder, cookie, sessionId: (await sessionOf(service(), cookie)).id };
}

async function expectRefused(operationId: string, holder: Holder, code: string): Promise<void> {
  const before = await holdingsOf(service(), holder.userId);
  const answer = await send(service(), operationId, holder);
  expect([answer.status, answer.body.code], answer.text).toEqual([403, code]);
  expect(answer.headers.getSetCookie()).toEqual([]);
  expect(await holdingsOf(service(), holder.userId)).toEqual(before);
  const audited = await service()
    .db.selectFrom('audit_event')
    .where('event', '=', 'permission.denied')
    .where('session_id', '=', holder.sessionId)
    .select(['user_name', 'detail'])
    .execute();
  expect(audited).toContainEqual({ user_name: holder.userName, detail: { operation: operationId, reason: code } });
}

async function expectDone(operationId: string, holder: Holder): Promise<void> {
  const answer = await send(service(), operationId, holder);
  expect(answer.status, answer.text).toBeLessThan(300);
}

const signedIn = (at: string, { sessionId }: Holder) =>
  sql`update session set signed_in_at = ${sql.raw(at)} where id = ${sessionId}`.execute(service().db);

/** Without the operations for which the grants of the caller decide, whatever opened the session. */
const rows = operations.filter(
  ({ tag, method }) => !['Entities', 'Batch', 'Transfer'].includes(tag) && !(tag === 'Entity types' && method === 'get'),
);
const cells = rows.flatMap(({ operationId, sessionRights }) =>
  sessionRights ? sessionKinds.map((kind) => [operationId, kind, sessionRights[kind]] as const) : [],
);
const cellsWith = (right: string) =>
  cells.filter(([, , cell]) => cell === right).map(([operationId, kind]) => [operationId, kind] as const);

describe('a session', () => {
  test.each(cellsWith('yes'))('may %s when it was opened by %s, however long ago the sign-in was', async (operationId, kind) => {
    const holder = await holderOf(kind);
    await signedIn("now() - interval '20 minutes'", holder);
    await expectDone(operationId, holder);
  });

  test.each(cellsWith('fresh'))('may %s when it was opened by %s within the last 15 minutes', async (operationId, kind) => {
    await expectDone(operationId, await holderOf(kind));
    const holder = await holderOf(kind);
    for (const at of ["now() - interval '15 minutes'", 'null']) {
      await signedIn(at, holder);
      await expectRefused(operationId, holder, 'fresh-login-required');
    }
    await signedIn("now() - interval '14 minutes'", holder);
    await expectDone(operationId, holder);
  });

  test.each(cellsWith('itself'))('may %s when it was opened by %s, upon itself alone', async (operationId, kind) => {
    const holder = await holderOf(kind);
    await expectRefused(operationId, holder, 'forbidden');
    await expectDone(operationId, { ...holder, otherSessionId: holder.sessionId.toUpperCase() });
    expect((await service().call('GET', '/auth', { cookie: holder.cookie })).status).toBe(401);
  });

  test.each(cellsWith('no'))('may not %s when it was opened by %s, while one opened by a password may', async (operationId, kind) => {
    await expectDone(operationId, await holderOf('password'));
    const holder = await holderOf(kind);
    await signedIn('now()', holder);
    await expectRefused(operationId, holder, 'forbidden');
  });
});

test('a narrowed session has its ceiling after a refresh still', async () => {
  const holder = await holderOf('narrowed');
  const cookie = cookieOf(await send(service(), 'refreshSession', holder));
  for (const operationId of ['createKey', 'linkIdentity', 'revokeOtherSessions', 'selectProfile'])
    await expectRefused(operationId, { ...holder, cookie }, 'forbidden');
  expect(await service().call('POST', '/rest/entity/note', { cookie, json: {} })).toMatchObject({ body: { code: 'insufficient-scope' } });
});

test('a session of any kind can be ended by its own logout', async () => {
  for (const kind of sessionKinds) {
    const { cookie } = await holderOf(kind);
    expect((await service().call('HEAD', '/auth?logout=1', { cookie })).status).toBe(204);
    expect((await service().call('GET', '/auth', { cookie })).status).toBe(401);
  }
});
