/** Puts into a migrated database what the load asks for: users who may do everything, a session, an API key, and entities. */
import { Client } from 'pg';
import { hashKey, newKey } from '../../src/api-keys/key.ts';
import { Admission } from '../../src/admission/admission.ts';
import { hashPassword } from '../../src/credentials/hash.ts';
import { hashToken, newToken } from '../../src/sessions/token.ts';

export const entityCount = 10_000;
/** Enough that none reaches the limit of fifty live sessions while logins are measured. */
const userCount = 200;

export interface Seeds {
  sessionToken: string;
  apiKey: string;
  entityName: string;
  keys: string[];
  users: string[];
  password: string;
}

/** Fields as applications have them: about 300 bytes, six members, one of them nested. `n` makes them differ. */
export function fieldsOf(n: number): Record<string, unknown> {
  return {
    company: `Analytical Engines ${n} Ltd`,
    email: `accounts.${n}@example.com`,
    address: { street: '12 St James Square', city: 'London', postcode: 'SW1Y 4JH', country: 'GB' },
    tags: ['customer', 'wholesale', 'newsletter'],
    creditLimit: 12_500.5,
    note: 'Pays within thirty days. Prefers to be called in the morning, by the name on the account.',
  };
}

/** Fills the database at `databaseUrl`. Call once. */
export async function seed(databaseUrl: string): Promise<Seeds> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const password = 'correct horse battery staple';
    const users = Array.from({ length: userCount }, (_, n) => `bench-${n}`);
    const { rows: accounts } = await client.query<{ id: string }>(
      'insert into user_account (name, display_name, password_hash) select name, name, $2 from unnest($1::text[]) as name returning id',
      [users, await hashPassword({ admission: new Admission(), peppers: [] }, password)],
    );
    const { rows: profiles } = await client.query<{ id: string }>(
      `with granted as (insert into role (name) values ('bench') returning id),
         grants as (insert into role_grant (role_id, entity, action) select id, '*', unnest('{create,read,update,delete}'::text[]) from granted),
         made as (insert into profile (name, label) values ('bench', 'Bench') returning id),
         joined as (insert into profile_role (profile_id, role_id) select made.id, granted.id from made, granted),
         given as (insert into user_profile (user_id, profile_id, is_default) select account, made.id, true from made, unnest($1::bigint[]) as account)
       select id from made`,
      [accounts.map(({ id }) => id)],
    );
    const sessionToken = newToken();
    const owner = [accounts[0]?.id, profiles[0]?.id];
    await client.query(
      `insert into session (token_hash, user_id, profile_id, method, locale, credential_version, idle_expires_at, expires_at)
       values ($1, $2, $3, 'password', 'en', 1, now() + interval '8 hours', now() + interval '8 hours')`,
      [hashToken(sessionToken), ...owner],
    );
    const apiKey = await insertKey(client, users[0] ?? '');
    const entityName = 'customer';
    const { rows: entities } = await client.query<{ key: string }>(
      `insert into entity (name, fields, created_by, updated_by) select $1, fields, $2, $2 from unnest($3::jsonb[]) as fields returning key`,
      [entityName, users[0], Array.from({ length: entityCount }, (_, n) => JSON.stringify(fieldsOf(n)))],
    );
    await client.query('vacuum analyze');
    return { sessionToken, apiKey, entityName, keys: entities.map(({ key }) => key), users, password };
  } finally {
    await client.end();
  }
}

/** Makes an API key of a seeded user, under the user's default profile. */
export async function seedKey(databaseUrl: string, user: string): Promise<string> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    return await insertKey(client, user);
  } finally {
    await client.end();
  }
}

async function insertKey(client: Client, user: string): Promise<string> {
  const { id, key } = newKey();
  await client.query(
    `insert into api_key (id, key_hash, user_id, name, profile_id, expires_at)
     select $1, $2, account.id, 'bench', profile_id, now() + interval '8 hours'
     from user_account as account join user_profile on user_id = account.id and is_default where account.name = $3`,
    [id, hashKey(key), user],
  );
  return key;
}
