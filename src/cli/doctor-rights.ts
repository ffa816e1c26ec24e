/** The checks of `doctor` about rights: profiles whose rights to write lack a right to read, without which requests are refused, and files that are not in force. */
import { sql, type Kysely } from 'kysely';
import { driftFromFiles } from '../administration/rights/drift.ts';
import { readRightsDirectory } from '../administration/rights/read-directory.ts';
import { listReferences, referencesUnread, updatesUnread } from '../administration/rights/unread.ts';
import type { Database } from '../database/tables.ts';
import type { Action, Condition } from '../rights/vocabulary.ts';
import { grantMap } from '../rights/permit.ts';
import { okCheck, warningCheck, type CheckFinding } from './check.ts';

interface ProfileGrant {
  profile: string;
  entity: string;
  action: Action;
  condition: Condition;
}

/** Profiles of a finding at most; the message says how many there are besides. */
const shownFindings = 20;

/**
 * Whether each profile that updates entities may read them (rule 116), and each that writes entities with references may refer to what these lead to
 * (rule 115).
 */
export async function checkReadRights(db: Kysely<Database>): Promise<CheckFinding> {
  const { rows } = await sql<ProfileGrant>`
    select profile.name as profile, entity, action, condition
    from profile join profile_role on profile_id = profile.id join role_grant using (role_id) order by profile.name`.execute(db);
  const references = await listReferences(db);
  const ofProfiles = [...Map.groupBy(rows, ({ profile }) => profile)].flatMap(([profile, grants]) => {
    const granted = grantMap(grants);
    return [...updatesUnread(granted), ...referencesUnread(granted, references)].map((what) => `${profile} ${what}`);
  });
  const found = [...ofProfiles, ...(await keysThatUpdateUnread(db))];
  if (found.length === 0) return okCheck('profiles and keys that write may read what their answers show and their references lead to');
  const more = found.length > shownFindings ? `; and ${found.length - shownFindings} more` : '';
  return warningCheck(
    `${found.slice(0, shownFindings).join('; ')}${more}. Such requests are refused; give the role \`read\` with \`role grant ROLE --entity NAME --actions read\`, or \`label\` ` +
      'for what it only refers to, and make a key anew with `read` in its scopes',
  );
}

/** Whether the files of RIGHTS_DIR are in force as they are. */
export async function checkRightsFiles(db: Kysely<Database>, directory: string): Promise<CheckFinding> {
  const { differences } = await driftFromFiles(db, await readRightsDirectory(directory, 'RIGHTS_DIR'));
  if (differences.length === 0) return okCheck(`in force as ${directory} has them`);
  const paths = differences.slice(0, shownFindings).map(({ path }) => path);
  return warningCheck(`not in force as ${directory} has them: ${paths.join(', ')}. See \`rights plan\`, and run \`rights apply\``);
}

/** Live keys whose scopes have `update` of a name without `read` of it; scopes do not narrow references (rule 115). */
async function keysThatUpdateUnread(db: Kysely<Database>): Promise<string[]> {
  const keys = await db
    .selectFrom('api_key')
    .innerJoin('user_account', 'user_account.id', 'api_key.user_id')
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', sql<Date>`now()`)
    .where('scopes', 'is not', null)
    .select(['api_key.name', 'user_account.name as user', 'scopes'])
    .orderBy('user_account.name')
    .orderBy('api_key.name')
    .execute();
  return keys.flatMap(({ name, user, scopes }) => {
    const rows = (scopes ?? []).flatMap(({ entity, actions }) => actions.map((action) => ({ entity, action, condition: 'any' as const })));
    return updatesUnread(grantMap(rows)).map((what) => `the key ${name} of ${user} ${what}`);
  });
}
