/**
 * An ended session may not act: each operation of a session that changes something waits for the transaction that ends the session, and is
 * then refused (rules 14, 17 and 44).
 */
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { isOpen } from '../../src/contract/contract.ts';
import { sessionOf } from '../support/clock.ts';
import { createHolder, holdingsOf, requests, send, type Holder } from '../support/holdings.ts';
import { TestIssuer, writeIssuers } from '../support/issuer.ts';
import { operations } from '../support/operations.ts';
import { useService, type Answer } from '../support/service.ts';
import { BrowserSession } from '../support/browser-session.ts';

const corp = await TestIssuer.start('corp');
const service = useService({ ISSUERS_FILE: await writeIssuers(await corp.loginEntry()) });

/**
 * The start of a link and an explanation change nothing for the user. The return from the provider completes it, and has a test of its own. Changes of entities
 * and their types are no changes of the user.
 */
const changing = operations
  .filter(({ operationId, method }) => method !== 'get' && !['linkIdentity', 'checkOwnPermission'].includes(operationId))
  .filter(({ tag }) => !['Entities', 'Batch', 'Transfer', 'Entity types'].includes(tag))
  .filter((operation) => !isOpen(operation))
  .map(({ operationId }) => operationId);

async function holderCalled(userName: string): Promise<Holder> {
  const holder = await createHolder(service(), [corp], userName);
  const cookie = await service().openSession(holder.userId);
  return { ...holder, cookie, sessionId: (await sessionOf(service(), cookie)).id };
}

const waiting = async () => {
  const query = sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  return (await query.execute(service().db)).rows.length;
};

/**
 * What another transaction does to the session: it ends it, with or without the user's row, or changes the password by it, which goes on with another
 * token.
 */
const endings = {
  'has logged out': ({ sessionId }: Holder) =>
    sql`update session set revoked_at = now(), revoked_reason = 'logout' where id = ${sessionId}`,
  'is revoked': ({ sessionId }: Holder) => sql`update session set revoked_at = now(), revoked_reason = 'revoked' where id = ${sessionId}`,
  'has changed the password': ({ userId, sessionId }: Holder) => sql`
    with changed as (update user_account set credential_version = credential_version + 1 where id = ${userId} returning credential_version)
    update session set credential_version = changed.credential_version, token_hash = sha256(token_hash) from changed where session.id = ${sessionId}`,
};

/** The answer to `act`, which waits while another transaction does `ending`, and the user's data before and after. */
async function whileEnding<T>(holder: Holder, act: () => Promise<Answer<T>>, ending: keyof typeof endings = 'is revoked') {
  const { userId } = holder;
  const acting = await service()
    .db.transaction()
    .execute(async (trx) => {
      if (ending === 'is revoked') await sql`select from user_account where id = ${userId} for update`.execute(trx);
      await endings[ending](holder).execute(trx);
      let isAnswered = false;
      const answer = act().finally(() => (isAnswered = true));
      await expect.poll(async () => isAnswered || (await waiting()) === 1).toBe(true);
      return { answer, before: await holdingsOf({ db: trx }, userId) };
    });
  return { answer: await acting.answer, before: acting.before, after: await holdingsOf(service(), userId) };
}

describe('a session that ends during its request', () => {
  test.each(changing)('cannot %s any more', async (operationId) => {
    expect(requests[operationId], 'a request in test/support/holdings.ts').toBeDefined();
    const allowed = await holderCalled(`allowed-${operationId.toLowerCase()}`);
    expect((await send(service(), operationId, allowed)).status).toBeLessThan(300);

    for (const [index, ending] of (['is revoked', 'has logged out', 'has changed the password'] as const).entries()) {
      const holder = await holderCalled(`ended-${index}-${operationId.toLowerCase()}`);
      const { answer, before, after } = await whileEnding(holder, () => send(service(), operationId, holder), ending);
      expect([answer.status, answer.body.code], `${ending}: ${answer.text}`).toEqual([401, 'unauthenticated']);
      expect(after, ending).toEqual(before);
    }
  });

  test('cannot complete a link', async () => {
    const begin = async (userName: string) => {
      const holder = await holderCalled(userName);
      const browser = new BrowserSession(service());
      browser.cookies.set('sid', holder.cookie.slice('sid='.length));
      const { body } = await browser.call<{ url: string }>('POST', '/auth/oidc/corp/link');
      return { holder, browser, path: await browser.visit(corp, new URL(body.url), `${userName}-new`) };
    };
    const allowed = await begin('allowed-link');
    expect((await allowed.browser.call('GET', allowed.path)).status).toBe(303);

    const { holder, browser, path } = await begin('ended-link');
    const { answer, before, after } = await whileEnding(holder, () => browser.call('GET', path));
    expect([answer.status, answer.body.code], answer.text).toEqual([401, 'unauthenticated']);
    expect(after).toEqual(before);
  });
});
