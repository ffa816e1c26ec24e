/** Users, an API key and sessions for the load, inserted into a migrated database without the work on passwords. */
import { Client } from 'pg';
import { hashKey, newKey } from '../../src/api-keys/key.ts';
import { Admission } from '../../src/admission/admission.ts';
import { hashPassword } from '../../src/credentials/hash.ts';
import { hashToken, newToken } from '../../src/sessions/token.ts';

export interface Callers {
  /** Their password is {@link Callers.password}, and they have all rights. */
  users: string[];
  /** Users like these, without sessions. */
  spare: string[];
  password: string;
  apiKey: string;
  /** Tokens of live sessions; take them from the end. */
  sessions: string[];
}

/** Creates them. Call once for a database. `withTypes` gives them the right to change types. */
export async function makeCallers(
  databaseUrl: string,
  { users: userCount = 20, sessions: sessionCount = 0, spare: spareCount = 0, withTypes = false } = {},
): Promise<Callers> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const password = 'correct horse battery staple';
    const users = Array.from({ length: userCount }, (_, n) => `caller-${n}`);
    const spare = Array.from({ length: spareCount }, (_, n) => `spare-${n}`);
    const { rows: accounts } = await client.query<{ id: string }>(
      'insert into user_account (name, display_name, password_hash) select name, name, $2 from unnest($1::text[]) as name returning id',
      [[...users, ...spare], await hashPassword({ admission: new Admission(), peppers: [] }, password)],
    );
    const ids = accounts.map(({ id }) => id);
    const { rows: profiles } = await client.query<{ id: string }>(
      `with made as (insert into role (name) values ('caller') returning id),
         grants as (insert into role_grant (role_id, entity, action) select id, '*', unnest($2::text[]) from made),
         profile as (insert into profile (name, label) values ('caller', 'Caller') returning id),
         joined as (insert into profile_role (profile_id, role_id) select profile.id, made.id from profile, made),
         given as (insert into user_profile (user_id, profile_id, is_default) select account, profile.id, true from profile, unnest($1::bigint[]) as account)
       select id from profile`,
      [ids, ['create', 'read', 'update', 'delete', ...(withTypes ? ['type'] : [])]],
    );
    const { id, key: apiKey } = newKey();
    await client.query(
      `insert into api_key (id, key_hash, user_id, name, profile_id, expires_at) values ($1, $2, $3, 'load', $4, now() + interval '8 hours')`,
      [id, hashKey(apiKey), ids[0], profiles[0]?.id],
    );
    const sessions = Array.from({ length: sessionCount }, newToken);
    await client.query(
      `insert into session (token_hash, user_id, profile_id, method, locale, credential_version, idle_expires_at, expires_at)
       select hash, ($3::bigint[])[1 + n % cardinality($3::bigint[])], $2, 'password', 'en', 1, now() + interval '8 hours', now() + interval '8 hours'
       from unnest($1::bytea[]) with ordinality as token (hash, n)`,
      [sessions.map(hashToken), profiles[0]?.id, ids.slice(0, userCount)],
    );
    return { users, spare, password, apiKey, sessions };
  } finally {
    await client.end();
  }
}
