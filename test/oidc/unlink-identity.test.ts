import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { sessionOf } from '../support/clock.ts';
import { TestIssuer, writeIssuers } from '../support/issuer.ts';
import { cookieOf, useService } from '../support/service.ts';
import { BrowserSession } from '../support/browser-session.ts';

const corp = await TestIssuer.start('corp');
const partner = await TestIssuer.start('partner');
const club = await TestIssuer.start('club');
const issuersFile = await writeIssuers(await corp.loginEntry(), partner.entry(), await club.loginEntry());
const clubFile = await writeIssuers(club.entry({ profiles: { claim: 'groups', map: { board: 'director' } } }));
const service = useService({ ISSUERS_FILE: issuersFile });

const unlink = (cookie: string, id: string) => service().call('DELETE', `/auth/identities/${id}`, { cookie });
const status = async (cookie: string) => (await service().call('GET', '/auth', { cookie })).status;
const subjectsOf = async (userId: string) =>
  (await service().db.selectFrom('identity').where('user_id', '=', userId).select('subject').orderBy('subject').execute()).map(
    ({ subject }) => subject,
  );
const linkOf = async (subject: string, { url }: TestIssuer = corp) =>
  (
    await service()
      .db.selectFrom('identity')
      .where('issuer', '=', url)
      .where('subject', '=', subject)
      .select('id')
      .executeTakeFirstOrThrow()
  ).id;
const byToken = async (sub: string, issuer = corp) => {
  const access_token = await issuer.mint({ claims: { sub } });
  return cookieOf(await service().call('POST', '/auth', { form: { oidcIssuer: issuer.id, access_token } }));
};
const byProvider = async (subject: string) => {
  const browser = new BrowserSession(service());
  expect((await browser.signIn(corp, subject)).status).toBe(303);
  return `sid=${browser.cookies.get('sid')}`;
};
const withoutPassword = async (name: string, ...subjects: string[]) => {
  const { id } = await service().createUser(name);
  await sql`update user_account set password_hash = null where id = ${id}`.execute(service().db);
  for (const subject of subjects) await service().link(corp, subject, name);
  return id;
};

let ada: string;
beforeAll(async () => {
  ada = (await service().createUser('ada')).id;
  await service().createUser('eve');
});

describe('unlinkIdentity', () => {
  test('204 — removes the link and the sessions it opened, on all replicas with a cached caller (rules 17, 56 and 85)', async () => {
    const replica = await service().replica({ ISSUERS_FILE: issuersFile });
    try {
      for (const subject of ['a-1', 'a-2']) await service().link(corp, subject, 'ada');
      const mine = await service().signIn('ada');
      const [ended, other] = [await byToken('a-1'), await byToken('a-2')];
      const bearer = { authorization: `Bearer ${await corp.mint({ claims: { sub: 'a-1' } })}` };
      const read = (call: object) => replica.call('GET', '/rest/entity/note/1', call);
      for (const call of [{ cookie: ended }, { cookie: other }, { headers: bearer }]) expect((await read(call)).status).toBe(404);
      const { id: endedId } = await sessionOf(service(), ended);
      const answer = await unlink(mine, (await linkOf('a-1')).toUpperCase());
      expect(answer.status, answer.text).toBe(204);
      expect(answer.headers.getSetCookie()).toEqual([]);
      expect((await read({ cookie: ended })).status).toBe(401);
      expect((await read({ cookie: other })).status).toBe(404);
      expect(await read({ headers: bearer })).toMatchObject({ status: 403, body: { code: 'identity-not-linked' } });
      expect(await status(mine)).toBe(200);
      expect(await subjectsOf(ada)).toEqual(['a-2']);
      expect((await new BrowserSession(service()).signIn(corp, 'a-1')).status).toBe(403);

      const { id: by } = await sessionOf(service(), mine);
      const events = await service()
        .db.selectFrom('audit_event')
        .where('event', 'in', ['identity.unlinked', 'session.revoked'])
        .select(['event', 'user_name', 'session_id', 'detail'])
        .orderBy('id')
        .execute();
      expect(events).toEqual([
        {
          event: 'identity.unlinked',
          user_name: 'ada',
          session_id: by,
          detail: { by: 'user', issuer: corp.url, subject: 'a-1', endedSessions: 1 },
        },
        { event: 'session.revoked', user_name: 'ada', session_id: endedId, detail: { bySession: by } },
      ]);
    } finally {
      await replica.close();
    }
  });

  test('204 — also ends the calling session if the identity opened it, and clears its cookie', async () => {
    const { id } = await service().createUser('carol');
    await service().link(corp, 'carol', 'carol');
    const cookie = await byProvider('carol');
    const answer = await unlink(cookie, await linkOf('carol'));
    expect(answer.status, answer.text).toBe(204);
    expect(answer.headers.getSetCookie()).toEqual([expect.stringMatching(/^sid=; Max-Age=0; Path=\/; HttpOnly; SameSite=Lax$/)]);
    expect(await status(cookie)).toBe(401);
    expect(await subjectsOf(id)).toEqual([]);
  });

  test('204 — API keys and other identities of the same issuer still work', async () => {
    const { id } = await service().createUser('dora');
    for (const subject of ['d-1', 'd-2']) await service().link(corp, subject, 'dora');
    const key = await service().createKey(id);
    expect((await unlink(await service().signIn('dora'), await linkOf('d-1'))).status).toBe(204);
    expect((await service().call('GET', '/auth', { headers: { 'x-api-key': key } })).status).toBe(200);
    expect(await status(await byProvider('d-2'))).toBe(200);
  });

  test('204 — with the last link to an issuer, its profiles are removed, and no others (rules 62 and 85)', async () => {
    const { id } = await service().createUser('kim');
    await service().createProfile(id, 'kept', {});
    await service().createProfile((await service().createUser('keeper')).id, 'director', { note: ['read'] });
    for (const subject of ['k-1', 'k-2']) await service().link(club, subject, 'kim');
    const [cookie, key] = [await service().signIn('kim'), await service().createKey(id)];
    const replica = await service().replica({ ISSUERS_FILE: clubFile });
    try {
      const profiles = async (headers: Record<string, string>) => {
        const { body } = await replica.call<{ profiles: { name: string }[] }>('GET', '/auth?profiles=1', { headers });
        return body.profiles.map(({ name }) => name).sort();
      };
      const authorization = `Bearer ${await club.mint({ claims: { sub: 'k-1', groups: ['board'] } })}`;
      expect(await profiles({ authorization })).toEqual(['director', 'kept', 'kim']);
      for (const [subject, left] of [
        ['k-2', ['director', 'kept', 'kim']],
        ['k-1', ['kept', 'kim']],
      ] as const) {
        const answer = await replica.call('DELETE', `/auth/identities/${await linkOf(subject, club)}`, { cookie });
        expect(answer.status, answer.text).toBe(204);
        expect(await profiles({ 'x-api-key': key })).toEqual(left);
      }
    } finally {
      await replica.close();
    }
    const removed = service().db.selectFrom('audit_event').where('event', '=', 'profile.removed').select(['user_name', 'detail']);
    const detail = { by: 'user', profile: 'director', issuer: club.url, subject: 'k-1' };
    expect(await removed.execute()).toEqual([{ user_name: 'kim', detail }]);
  });

  test('404 — another user’s link and an unknown one get the same answer, and nothing changes (rule 56)', async () => {
    await service().link(corp, 'evelyn', 'eve');
    const mine = await service().signIn('ada');
    const foreign = await unlink(mine, await linkOf('evelyn'));
    const unknown = await unlink(mine, crypto.randomUUID());
    expect(foreign.status).toBe(404);
    expect({ ...foreign.body, instance: '' }).toEqual({ ...unknown.body, instance: '' });
    expect((await unlink(await service().signIn('eve'), await linkOf('evelyn'))).status).toBe(204);
  });

  test('404 — a link cannot be removed twice', async () => {
    await service().link(corp, 'a-3', 'ada');
    const [mine, id] = [await service().signIn('ada'), await linkOf('a-3')];
    expect((await unlink(mine, id)).status).toBe(204);
    expect((await unlink(mine, id)).status).toBe(404);
  });

  test('409 — for the last sign-in link of a user without a password', async () => {
    const id = await withoutPassword('frank', 'f-1', 'f-2');
    await service().link({ url: 'https://gone.example.com' }, 'f-3', 'frank');
    const cookie = await byProvider('f-1');
    expect((await unlink(cookie, await linkOf('f-2'))).status).toBe(204);
    expect(await unlink(cookie, await linkOf('f-1'))).toMatchObject({ status: 409, body: { code: 'last-sign-in-method' } });
    expect(await subjectsOf(id)).toEqual(['f-1', 'f-3']);
    expect(await status(cookie)).toBe(200);
    // The issuer of f-3 is not trusted. The issuer of f-4 has only access tokens, whose sessions cannot manage the account.
    await service().link(partner, 'f-4', 'frank');
    expect(await unlink(cookie, await linkOf('f-1'))).toMatchObject({ status: 409, body: { code: 'last-sign-in-method' } });
    expect((await unlink(cookie, await linkOf('f-4', partner))).status).toBe(204);
    await service().link(club, 'f-5', 'frank');
    expect((await unlink(cookie, await linkOf('f-1'))).status).toBe(204);
    expect(await subjectsOf(id)).toEqual(['f-3', 'f-5']);
  });

  test('204 and 409 — of two concurrent removals that would leave a user without a sign-in, one is refused', async () => {
    for (let round = 0; round < 5; round++) {
      const subjects = [`g-${round}-1`, `g-${round}-2`] as const;
      const id = await withoutPassword(`grace-${round}`, ...subjects);
      const cookies = [await byProvider(subjects[0]), await byProvider(subjects[1])] as const;
      // Each session removes the link of the other, so that neither ends itself; one of them ends the other.
      const ids = [await linkOf(subjects[1]), await linkOf(subjects[0])] as const;
      const answers = await Promise.all([unlink(cookies[0], ids[0]), unlink(cookies[1], ids[1])]);
      const statuses = answers.map((answer) => answer.status).toSorted((one, other) => one - other);
      expect([
        [204, 401],
        [204, 409],
      ]).toContainEqual(statuses);
      expect(await subjectsOf(id)).toHaveLength(1);
    }
  });

  test('204 and 303 — concurrent removal and linking: the removal holds no lock while it waits for the other', async () => {
    const { id } = await service().createUser('ivan');
    await service().link(corp, 'i-1', 'ivan');
    const [cookie, link] = [await service().openSession(id), await linkOf('i-1')];
    const browser = new BrowserSession(service());
    browser.cookies.set('sid', cookie.slice('sid='.length));
    const { body } = await browser.call<{ url: string }>('POST', '/auth/oidc/corp/link');
    const path = await browser.visit(corp, new URL(body.url), 'i-1');
    const answers = await service()
      .db.transaction()
      .execute(async (trx) => {
        await sql`select from user_account where id = ${id} for update`.execute(trx);
        const linked = browser.call('GET', path);
        await expect.poll(waiting).toBe(1);
        const removed = unlink(cookie, link);
        await expect.poll(waiting).toBe(2);
        await sql`select from identity where subject = 'i-1' for update nowait`.execute(trx);
        return [linked, removed];
      });
    expect((await Promise.all(answers)).map((answer) => answer.status)).toEqual([303, 204]);
    expect(await subjectsOf(id)).toEqual([]);
  });

  test('204 and 403 — a sign-in in progress while its link is removed leaves no session', async () => {
    for (let round = 0; round < 10; round++) {
      const { id } = await service().createUser(`hugo-${round}`);
      const subject = `h-${round}`;
      await service().link(corp, subject, `hugo-${round}`);
      const cookie = await service().openSession(id);
      const [link, access_token] = [await linkOf(subject), await corp.mint({ claims: { sub: subject } })];
      const [opened, removed] = await Promise.all([
        service().call('POST', '/auth', { form: { oidcIssuer: 'corp', access_token } }),
        unlink(cookie, link),
      ]);
      expect(removed.status, removed.text).toBe(204);
      expect([200, 401, 403], opened.text).toContain(opened.status);
      const live = await sql`select from session where user_id = ${id} and subject is not null and revoked_at is null`.execute(
        service().db,
      );
      expect(live.rows).toEqual([]);
    }
  });
});

/** The number of connections that wait for a lock. */
async function waiting(): Promise<number> {
  const { rows } = await sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
    service().db,
  );
  return rows.length;
}
