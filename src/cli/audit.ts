/** `audit …`: reads the audit trail, and says how long it is kept. */
import type { Command } from 'commander';
import { getNamedRow } from '../accounts/named-rows.ts';
import { changeRetention } from '../administration/retention.ts';
import { readRetention, type RetentionPeriod } from '../audit/retention.ts';
import { listEvents, type EventFilter, type EventRow } from '../audit/store.ts';
import { auditedKey, entityName, eventName, retentionPeriod, parseTime, userName, wholeNumber } from './arguments.ts';
import type { Reads } from '../database/standby/readers.ts';
import { addGroup, addCommand, onDatabase, onReaders, type Admin, type Desk, type Shown } from './command.ts';
import { tableText, timeText, type CommandOutcome } from './output.ts';

/** The number of events that one statement reads. */
const pageSize = 5_000;

export function auditCommands(program: Command, desk: Desk): void {
  const audit = addGroup(program, 'audit', 'the audit trail', ['audit list --user ada --since 24h']);
  addCommand(audit, 'list', 'list what has happened, the latest last', [
    'audit list --user ada --since 24h',
    'audit list --event login.failed --since 2026-11-20T08:00:00Z --json',
    'audit list --entity customer --key 7',
  ])
    .option('--user <name>', 'only events of this user', userName)
    .option('--event <name>', 'only events of this name', eventName)
    .option('--entity <name>', 'only events about entities of this name', entityName)
    .option('--key <key>', 'only events about the entity with this key, or the API key with this id', auditedKey)
    .option('--since <time>', 'only events from then on: 2026-11-20T08:00:00Z, 2026-11-20 (UTC), or 30m, 24h, 7d ago', parseTime)
    .option('--limit <number>', 'at most so many, the latest; 0 for all', wholeNumber(0, 999_999_999), 1_000)
    .action((options: Shown & EventFilter & { limit: number }) => onDatabase(desk, options, (admin) => list(admin, options)));
  addCommand(audit, 'keep', 'tell or change how long events are kept', ['audit keep', 'audit keep P400D', 'audit keep forever'])
    .argument('[period]', 'at least 30 days as P400D, P60W, P13M or P2Y, or "forever"', retentionPeriod)
    .action((period: RetentionPeriod | undefined, options: Shown) => onDatabase(desk, options, (admin) => setRetention(admin, period)));
}

async function setRetention({ store, by }: Admin, period: RetentionPeriod | undefined): Promise<CommandOutcome> {
  const { state: kept, changed } =
    period === undefined ? { state: await readRetention(store.db), changed: false } : await changeRetention(store, by, period);
  return {
    document: { changed, keep: kept },
    text:
      kept === null ? 'Events are kept for ever.' : `Events are kept for ${kept}. The service drops a month when all its events are older.`,
  };
}

async function list(admin: Admin, { limit, ...filter }: EventFilter & { limit: number }): Promise<CommandOutcome> {
  if (filter.user !== undefined) await getNamedRow(admin.store.db, 'user', filter.user);
  const most = limit === 0 ? Number.POSITIVE_INFINITY : limit;
  const rows = await onReaders(admin, async (readers, after) => {
    const read = await readers.begin({ after, name: '', typeRevision: '0' });
    return (await read((reads) => eventsOf(reads, filter, most))).value;
  });
  const more = rows.length > most;
  const shown = (more ? rows.slice(0, most) : rows).toReversed();
  return {
    document: shown,
    text: describeEvents(shown),
    ...(more && { note: `there are earlier events; --limit shows more than ${limit}` }),
  };
}

/** The latest events, the latest first: one more than `most`, if there are further ones. */
async function eventsOf(reads: Reads, filter: EventFilter, most: number): Promise<EventRow[]> {
  const rows: EventRow[] = [];
  let page: EventRow[];
  do {
    page = await listEvents(reads, filter, Math.min(pageSize, most + 1 - rows.length), rows.at(-1)?.id);
    rows.push(...page);
  } while (page.length > 0 && rows.length <= most);
  return rows;
}

function describeEvents(rows: readonly EventRow[]): string {
  const cells = rows.map((row) => [
    timeText(row.at),
    row.event,
    row.outcome,
    row.user ?? '-',
    row.address ?? '-',
    Object.entries(row.detail)
      .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
      .join(' '),
  ]);
  return tableText(['TIME', 'EVENT', 'OUTCOME', 'USER', 'ADDRESS', 'DETAIL'], cells, 'There are no such events.');
}
