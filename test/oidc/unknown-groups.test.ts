/** A claim that a token does not tell is unknown, not empty: profiles that follow it stay, and the audit trail says so (rule 123). */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { AuditQuota } from '../../src/audit/quota.ts';
import { TestClock, TestIssuer, writeIssuers } from '../support/issuer.ts';
import { TestService, useService, type Answer } from '../support/service.ts';

interface Info {
  user: { name: string };
  profiles: { name: string }[];
}

const clock = new TestClock();
const corp = await TestIssuer.start('corp', clock);
const nested = await TestIssuer.start('nested', clock);
const home = useService({}, clock);
let service: TestService;

beforeAll(async () => {
  const { id } = await home().createUser('keeper', null);
  for (const profile of ['member', 'sales', 'support']) await home().createProfile(id, profile, { note: ['read'] });
  const provision = { enabled: true, profile: 'member' };
  const issuersFile = await writeIssuers(
    corp.entry({ provision, profiles: { claim: 'groups', map: { 'sales-team': 'sales' } } }),
    nested.entry({ provision, profiles: { claim: ['realm_access', 'roles'], map: { helpdesk: 'support' } } }),
  );
  service = await home().replica({ ISSUERS_FILE: issuersFile }, clock);
});
afterAll(() => service.close());
beforeEach(() => {
  service.context.auditQuota = new AuditQuota();
  clock.advance(2);
});

async function profilesWith(claims: Record<string, unknown>, issuer = corp): Promise<string[]> {
  const authorization = `Bearer ${await issuer.mint({ claims })}`;
  const answer: Answer<Info> = await service.call('GET', '/auth?profiles=1', { headers: { authorization } });
  expect(answer.status, answer.text).toBe(200);
  return answer.body.profiles.map(({ name }) => name).sort();
}

async function unknownEvents(subject: string): Promise<unknown[]> {
  const events = await service.db
    .selectFrom('audit_event')
    .where('event', '=', 'profile.unknown')
    .select(['outcome', 'user_name', 'detail'])
    .execute();
  return events.filter(({ detail }) => detail['subject'] === subject);
}

const overage = {
  _claim_names: { groups: 'src1' },
  _claim_sources: { src1: { endpoint: 'https://graph.microsoft.com/v1.0/users/u1/getMemberObjects' } },
};

test.each<[string, Record<string, unknown>, string]>([
  ['a reference to groups elsewhere, as of Entra ID above 200 groups', overage, 'elsewhere'],
  ['names of claims as text', { _claim_names: '{"groups":"src1"}' }, 'elsewhere'],
  ['hasgroups', { hasgroups: true }, 'elsewhere'],
  ['hasgroups as text', { hasgroups: 'true' }, 'elsewhere'],
  ['groups that are an object', { groups: { 'sales-team': true } }, 'unreadable'],
  ['groups that are a number', { groups: 7 }, 'unreadable'],
  ['groups that are true', { groups: true }, 'unreadable'],
])('200 — with %s the profiles stay, and a later token decides (rule 123)', async (what, claims, reason) => {
  const sub = `user ${what}`;
  expect(await profilesWith({ sub, groups: ['sales-team'] })).toEqual(['member', 'sales']);
  clock.advance(2);
  expect(await profilesWith({ sub, ...claims })).toEqual(['member', 'sales']);
  expect(await unknownEvents(sub)).toEqual([
    { outcome: 'failed', user_name: expect.any(String), detail: { by: 'issuer', issuer: corp.url, subject: sub, claim: 'groups', reason } },
  ]);
  clock.advance(2);
  expect(await profilesWith({ sub, groups: [] })).toEqual(['member']);
});

test.each<[string, Record<string, unknown>]>([
  ['no claim', {}],
  ['null', { groups: null }],
  ['an empty list', { groups: [] }],
  ['a list without texts', { groups: [7, null, {}] }],
  ['another text', { groups: 'support' }],
  ['a reference to another claim', { _claim_names: { address: 'src1' } }],
  ['no reference', { _claim_names: null }],
  ['hasgroups that is false', { hasgroups: false }],
])('200 — with %s the claim is known, and the profiles go (rule 123)', async (what, claims) => {
  const sub = `user of ${what}`;
  expect(await profilesWith({ sub, groups: 'sales-team' })).toEqual(['member', 'sales']);
  clock.advance(2);
  expect(await profilesWith({ sub, ...claims })).toEqual(['member']);
  expect(await unknownEvents(sub)).toEqual([]);
});

test('200 — a new user whose groups are unknown gets the profile of the provisioning alone (rule 123)', async () => {
  expect(await profilesWith({ sub: 'newcomer', ...overage })).toEqual(['member']);
  expect(await unknownEvents('newcomer')).toHaveLength(1);
  clock.advance(2);
  expect(await profilesWith({ sub: 'newcomer', groups: ['sales-team'] })).toEqual(['member', 'sales']);
});

test('200 — the same holds for a claim inside of another (rule 123)', async () => {
  const sub = 'alice';
  const known = { sub, realm_access: { roles: ['helpdesk'] } };
  expect(await profilesWith(known, nested)).toEqual(['member', 'support']);
  for (const claims of [{ _claim_names: { realm_access: 'src1' } }, { realm_access: 'helpdesk' }, { realm_access: { roles: 1 } }]) {
    clock.advance(2);
    expect(await profilesWith({ sub, ...claims }, nested)).toEqual(['member', 'support']);
  }
  clock.advance(2);
  expect(await profilesWith({ sub, realm_access: {} }, nested)).toEqual(['member']);
});
