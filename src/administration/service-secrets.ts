/** An administrator's replacement of the keys in `service_secret`. Only the owner of the tables may make it. */
import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { ServiceSecretName } from '../database/service-secrets.ts';
import type { Store } from '../database/port.ts';
import { recordChange } from '../audit/actor.ts';
import type { Owner } from '../rights/administration.ts';

/**
 * Replaces the keys. Cursors of the key from before stay valid until the next call. The counts of failed sign-ins are lost, since they cannot be found
 * with another key.
 */
export async function rotateServiceSecrets(store: Store, { actor }: Owner): Promise<void> {
  await store.transaction(async (trx) => {
    // Deleting row by row could deadlock with sign-ins, which lock two rows each.
    await sql`truncate login_attempt`.execute(trx);
    await sql`
      insert into service_secret (name, value) select 'cursor-before', value from service_secret where name = 'cursor'
      on conflict (name) do update set value = excluded.value, changed_at = now()`.execute(trx);
    for (const name of ['cursor', 'login-attempt'] satisfies ServiceSecretName[]) {
      await trx
        .updateTable('service_secret')
        .set({ value: randomBytes(32), changed_at: sql`now()` })
        .where('name', '=', name)
        .execute();
    }
    await recordChange(trx, actor, { event: 'secret.rotated', detail: { secrets: ['cursor', 'login-attempt'] } });
  });
}
