/** Sign-ins that wait for a transaction which changes the rows that they depend on. */
import { sql, type Kysely } from 'kysely';
import { expect, test } from 'vitest';
import type { components } from '../../generated/api.ts';
import type { Database } from '../../src/database/tables.ts';
import { Actions } from '../support/actions.ts';
import { BrowserSession } from '../support/browser-session.ts';
import { TestIssuer, writeIssuers } from '../support/issuer.ts';
import { cookieOf, password, useService, type Answer } from '../support/service.ts';

const corp = await TestIssuer.start('corp');
const service = useService({ ISSUERS_FILE: await writeIssuers(await corp.loginEntry()) });
const act = new Actions(service);

const signIn = (user: string, cookie?: string) =>
  service().call<components['schemas']['SessionInfo']>('POST', '/auth', { form: { user, password }, cookie });
const attempts = () => service().db.selectFrom('login_attempt').select(['failures', 'pending']).execute();
const waiting = async () => {
  const { rows } = await sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
    service().db,
  );
  return rows.length;
};

/** Runs `action` while the transaction of `change` locks the rows that it needs. Returns the result of `action` after the commit. */
async function behind<T>(change: (trx: Kysely<Database>) => Promise<unknown>, action: () => Promise<T>, meanwhile?: () => Promise<void>) {
  const { acting } = await service()
    .db.transaction()
    .execute(async (trx) => {
      await change(trx);
      const acting = action();
      await expect.poll(waiting).toBe(1);
      await meanwhile?.();
      return { acting };
    });
  return acting;
}

test('200 — a login that waits for another default profile answers with the profile of its session', async () => {
  const { id } = await service().createUser('ada');
  await service().createProfile(id, 'accounting', {});
  const answer = await behind(
    async (trx) => {
      await trx.selectFrom('user_account').where('id', '=', id).forUpdate().select('id').execute();
      await trx.updateTable('user_profile').set({ is_default: false }).where('user_id', '=', id).where('is_default', '=', true).execute();
      await sql`update user_profile set is_default = true from profile
        where profile.id = profile_id and user_id = ${id} and profile.name = 'accounting'`.execute(trx);
    },
    () => signIn('ada'),
  );
  expect(answer.status, answer.text).toBe(200);
  expect(answer.body.profile).toMatchObject({ name: 'accounting' });
  const shown = await service().call<components['schemas']['SessionInfo']>('GET', '/auth', { cookie: cookieOf(answer) });
  expect(shown.body.profile).toEqual(answer.body.profile);
});

test('401 — a login that waits for its user to be disabled opens no session, and is audited (rules 39 and 85)', async () => {
  const { id } = await service().createUser('bob');
  expect((await signIn('bob')).status).toBe(200);
  const { db } = service();
  const sessions = () => db.selectFrom('session').where('user_id', '=', id).select('id').execute();
  const answer = await behind(
    (trx) => trx.updateTable('user_account').set({ active: false }).where('id', '=', id).execute(),
    () => signIn('bob'),
  );
  expect(answer.status).toBe(401);
  expect(answer.body).toMatchObject({ code: 'invalid-credentials' });
  expect(await sessions()).toHaveLength(1);
  const events = await db.selectFrom('audit_event').where('user_name', '=', 'bob').select('event').orderBy('id').execute();
  expect(events.map(({ event }) => event)).toEqual(['login.ok', 'session.created', 'login.failed']);
  expect((await attempts()).every(({ pending }) => pending === 0)).toBe(true);
});

test('200 — a login that waits for the session that it ends does not block other logins from the same address (rule 41)', async () => {
  const { id } = await service().createUser('carol');
  await service().createUser('dave');
  const cookie = await service().openSession(id);
  const answer = await behind(
    (trx) => trx.selectFrom('session').where('user_id', '=', id).forUpdate().select('id').execute(),
    () => signIn('carol', cookie),
    async () => expect((await signIn('dave')).status).toBe(200),
  );
  expect(answer.status, answer.text).toBe(200);
  expect((await service().call('GET', '/auth', { cookie })).status).toBe(401);
});

interface Linked {
  id: string;
  name: string;
}

type Change = (trx: Kysely<Database>, user: Linked) => Promise<unknown>;
type Prepare = (name: string) => Promise<() => Promise<Answer>>;

const disable: Change = (trx, { id }) => trx.updateTable('user_account').set({ active: false }).where('id', '=', id).execute();
const unlink: Change = (trx, { name }) => trx.deleteFrom('identity').where('subject', '=', name).execute();

const byToken: Prepare = async (name) => () => act.signInByToken(corp, name);
/** The browser has signed in at the provider and returns. */
const atProvider: Prepare = async (name) => {
  const browser = new BrowserSession(service());
  const path = await browser.visit(corp, await browser.start(corp), name);
  return () => browser.call('GET', path);
};

test.each<[number, string, string, Change, Prepare, string, string | undefined]>([
  [401, 'by a token', 'its user to be disabled', disable, byToken, 'invalid-token', undefined],
  [403, 'by a token', 'its identity to be unlinked', unlink, byToken, 'identity-not-linked', undefined],
  [403, 'at a provider', 'its user to be disabled', disable, atProvider, 'identity-not-linked', 'user-disabled'],
  [403, 'at a provider', 'its identity to be unlinked', unlink, atProvider, 'identity-not-linked', 'not-linked'],
])('%s — a sign-in %s that waits for %s opens no session', async (status, way, what, change, prepare, code, reason) => {
  const { db } = service();
  const name = `${way} ${what}`.replaceAll(' ', '-');
  const user = { ...(await service().createUser(name)), name };
  await service().link(corp, name, name);
  const sessions = () => db.selectFrom('session').where('user_id', '=', user.id).select('id').execute();
  expect((await (await prepare(name))()).status).toBe(prepare === byToken ? 200 : 303);
  expect(await sessions()).toHaveLength(1);

  const signInAgain = await prepare(name);
  const answer = await behind((trx) => change(trx, user), signInAgain);
  expect(answer).toMatchObject({ status, body: { code } });
  expect(await sessions()).toHaveLength(1);
  const failures = await db
    .selectFrom('audit_event')
    .where('event', '=', 'oidc.failed')
    .where('user_name', '=', name)
    .select('detail')
    .execute();
  expect(failures.map(({ detail }) => detail['reason'])).toEqual(reason === undefined ? [] : [reason]);
});
