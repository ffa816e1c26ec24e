/** The check of `doctor` that concerns backups: what the service and PostgreSQL know of them (docs/backup.md). */
import { sql, type Kysely } from 'kysely';
import type { Config } from '../config/settings.ts';
import type { Database } from '../database/tables.ts';
import { archiveReach } from '../embedded/archive/histories.ts';
import { assertBackupDirectory, mayReadTrail, newestBackup, ownerAdvice } from '../administration/daily-backups.ts';
import { failedCheck, okCheck, warningCheck, type CheckFinding } from './check.ts';
import { timeText } from './output.ts';

/** The age at which two daily backups are missing. */
const lateMs = 48 * 3_600_000;

const archiveLateMs = 60_000;

/** An archive of the log that fails, a BACKUP_DIR that the role of the service may not have, and in production neither an archive nor a `database backup` within seven days. */
export async function checkBackups(
  db: Kysely<Database>,
  { production, backupDir }: Pick<Config, 'production' | 'backupDir'>,
): Promise<CheckFinding> {
  const mayRead = await mayReadTrail(db);
  if (!mayRead && backupDir !== undefined) return failedCheck(ownerAdvice);
  const archive = await archiveOf(db);
  if (archive) return archive;
  if (!mayRead) return okCheck('not known: the role may not read the audit trail');
  const { rows } = await sql<{ last: Date | null }>`
    select max(at) as last from audit_event
    where event = 'database.backed_up' and user_name is null and at > now() - interval '7 days'`.execute(db);
  const last = rows[0]?.last;
  if (last) return okCheck(`"database backup" last began at ${timeText(last)}: "database verify" reads its file to the end`);
  const finding = 'no "database backup" within seven days, and the server has no archive of its log';
  return production ? warningCheck(`${finding}: see docs/backup.md, unless other tools copy the database`) : okCheck(finding);
}

/** The newest file in `directory`, BACKUP_DIR, into which the service writes one each day. */
export async function checkDailyBackups(directory: string): Promise<CheckFinding> {
  const obstacle = await assertBackupDirectory(directory).then(
    () => undefined,
    (error: Error) => error.message,
  );
  const newest = await newestBackup(directory).catch((error: unknown) => {
    if (obstacle === undefined) throw error;
    return undefined;
  });
  const reason = 'the log of the service says why ("event":"backup")';
  if (!newest)
    return obstacle === undefined
      ? warningCheck(`no backup in ${directory}: the service writes one when it starts, or ${reason}`)
      : failedCheck(obstacle);
  const finding = `the newest backup in ${directory} is of ${timeText(newest)}`;
  if (Date.now() - newest.getTime() > lateMs) return failedCheck(`${finding}: ${reason}`);
  // Another user may run the service.
  return obstacle === undefined ? okCheck(finding) : warningCheck(`${finding}; ${obstacle}`);
}

/** How far `directory`, ARCHIVE_DIR, reaches. While the service runs that is two seconds ago. */
export async function checkArchive(directory: string): Promise<CheckFinding> {
  const reach = await archiveReach(directory);
  const reason = 'the log of the service says why ("event":"archive")';
  if (!reach) return warningCheck(`nothing in ${directory}: the service archives while it runs, or ${reason}`);
  const finding = `${directory} has every moment until ${timeText(reach)}`;
  return Date.now() - reach.getTime() > archiveLateMs ? warningCheck(`${finding}: if the service runs, ${reason}`) : okCheck(finding);
}

/** What the server says of the archive of its log; undefined without one. */
async function archiveOf(db: Kysely<Database>): Promise<CheckFinding | undefined> {
  const { rows } = await sql<{ last: Date | null; failed: Date | null }>`
    select last_archived_time as last, last_failed_time as failed
    from pg_stat_archiver where current_setting('archive_mode') <> 'off'`.execute(db);
  const [archiver] = rows;
  if (!archiver) return undefined;
  const { last, failed } = archiver;
  if (failed && (!last || failed > last))
    return failedCheck(`the server cannot archive its log since ${timeText(failed)}: it keeps the log, until its disk is full`);
  return okCheck(last ? `the server archived its log at ${timeText(last)}` : 'the server archives its log, and has not had to yet');
}
