/** Users, roles and profiles by the names that administrators use, and the refusals about these names. */
import { sql, type Kysely } from 'kysely';
import type { Database } from '../database/tables.ts';
import { Problem } from '../problems/errors.ts';

const tables = { user: 'user_account', role: 'role', profile: 'profile' } as const;

type NamedKind = keyof typeof tables;

export interface NamedRow {
  id: string;
  name: string;
}

/**
 * The row called `name`, with `lock` until the transaction ends: `key share` holds up its deletion, `no key update` every change, and `update` also
 * transactions that are about to refer to it. The name of a user has the normal form. Throws 404 `not-found`.
 */
export function getNamedRow(
  db: Kysely<Database>,
  kind: NamedKind,
  name: string,
  lock?: 'key share' | 'no key update' | 'update',
): Promise<NamedRow> {
  return db
    .selectFrom(tables[kind])
    .where('name', '=', name)
    .select(['id', 'name'])
    .modifyEnd(lock === undefined ? sql`` : sql`for ${sql.raw(lock)}`)
    .executeTakeFirstOrThrow(() => new Problem('not-found', { faults: [{ code: 'absent', values: { [kind]: name } }] }));
}

/** 409 `conflict`: there is one of that name. */
export function takenProblem(kind: NamedKind, name: string): Problem {
  return new Problem('conflict', { faults: [{ code: 'taken', pointer: '/name', values: { [kind]: name } }] });
}

/** Names in the text of a problem. */
const shownNames = 10;

/** 409 `conflict`: those called `names` have the role or profile called `name`. */
export function usedByProblem(kind: NamedKind, name: string, users: 'profiles' | 'users' | 'keys', names: readonly string[]): Problem {
  const more = names.length - shownNames;
  const shown = { [kind]: name, [users]: names.slice(0, shownNames).join(', ') };
  return new Problem('conflict', { faults: [{ code: 'used-by', values: { ...shown, ...(more > 0 && { more }) } }] });
}
