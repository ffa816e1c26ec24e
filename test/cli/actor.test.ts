/** The audit trail names the administrator who runs the command (decision 79). */
import { userInfo } from 'node:os';
import { beforeAll, describe, expect, test } from 'vitest';
import { asOwner } from '../../src/cli/owner.ts';
import { createRole } from '../../src/administration/roles/use-cases.ts';
import { AdminCommand, startAdmin } from '../support/admin.ts';
import { useService } from '../support/service.ts';

const service = useService();
const issuer = ['--issuer', 'https://login.example.com', '--subject', 's-1'];
let admin: AdminCommand;
beforeAll(() => {
  admin = new AdminCommand(service().databaseUrl);
});

/** The audit events of changes by administrators, oldest first. */
async function changes(): Promise<{ event: string; detail: Record<string, unknown>; requestId: string | null; address: string | null }[]> {
  const rows = await service()
    .db.selectFrom('audit_event')
    .select(['event', 'detail', 'request_id as requestId', 'address'])
    .orderBy('id')
    .execute();
  return rows.filter(({ detail }) => detail['by'] === 'administrator');
}

describe('the administrator in the audit trail', () => {
  test('each change by a command has `cli` and the user of the operating system (rule 85)', async () => {
    for (const words of [
      ['role', 'create', 'clerk'],
      ['role', 'grant', 'clerk', '--entity', 'invoice', '--actions', 'read,update'],
      ['role', 'revoke', 'clerk', '--entity', 'invoice', '--actions', 'update'],
      ['profile', 'create', 'books', '--label', 'Books', '--roles', 'clerk'],
      ['user', 'create', 'ada'],
      ['user', 'profile', 'add', 'ada', 'books'],
      ['user', 'profile', 'remove', 'ada', 'books'],
      ['user', 'set-password', 'ada'],
      ['user', 'disable', 'ada'],
      ['user', 'enable', 'ada'],
      ['identity', 'link', 'ada', ...issuer],
      ['identity', 'unlink', 'ada', ...issuer],
    ]) {
      expect(await admin.run(words), words.join(' ')).toMatchObject({ code: 0 });
    }
    const key = await admin.json<{ id: string }>(['key', 'create', 'ada', '--name', 'import']);
    await admin.say(['key', 'revoke', key.id]);
    await service().call('POST', '/auth', { form: { user: 'ada', password: 'a wrong horse battery staple' } });
    await admin.say(['user', 'unlock', 'ada']);
    const made = await changes();
    expect(made.map(({ event }) => event)).toEqual([
      'role.created',
      'role.granted',
      'role.revoked',
      'profile.created',
      'user.created',
      'profile.assigned',
      'profile.removed',
      'password.changed',
      'user.disabled',
      'user.enabled',
      'identity.linked',
      'identity.unlinked',
      'api_key.created',
      'api_key.revoked',
      'user.unlocked',
    ]);
    for (const { event, detail, requestId, address } of made) {
      expect(detail, event).toMatchObject({ by: 'administrator', via: 'cli', actor: userInfo().username });
      expect([requestId, address], event).toEqual([null, null]);
    }
  });

  test('the environment cannot set another name (rule 85)', async () => {
    const environment = { DATABASE_URL: service().databaseUrl, USER: 'mallory', LOGNAME: 'mallory', SUDO_USER: 'mallory' };
    expect(await startAdmin(['role', 'create', 'auditor'], { environment })).toMatchObject({ code: 0 });
    expect((await changes()).at(-1)?.detail).toMatchObject({ role: 'auditor', via: 'cli', actor: userInfo().username });
  });

  test('an administrator who sends a request is named with the request (rule 85)', async () => {
    const origin = { requestId: 'r-1', address: '192.0.2.1', userAgent: undefined };
    await createRole(service().store, asOwner({ name: 'maria', origin, via: 'api' }), { name: 'reader', description: '' });
    expect((await changes()).at(-1)).toMatchObject({
      event: 'role.created',
      requestId: 'r-1',
      address: '192.0.2.1',
      detail: { by: 'administrator', via: 'api', actor: 'maria', role: 'reader' },
    });
  });
});
