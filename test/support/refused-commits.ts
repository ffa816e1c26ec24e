/** Fails the COMMIT of transactions that write certain rows, by deferred triggers, and reads the rows afterwards. */
import { sql, type Kysely, type RawBuilder } from 'kysely';
import type { AuditEventName } from '../../src/audit/store.ts';
import type { Database } from '../../src/database/tables.ts';

export class RefusedCommits {
  readonly #db: Kysely<Database>;

  private constructor(db: Kysely<Database>) {
    this.#db = db;
  }

  static async prepare(db: Kysely<Database>): Promise<RefusedCommits> {
    // Insufficient resources (class 53), such as a full disk, an error that a COMMIT can return.
    await sql`
      create function refuse_commit() returns trigger language plpgsql as $$
      begin raise exception 'no commit' using errcode = '53400'; end $$`.execute(db);
    return new RefusedCommits(db);
  }

  /** Runs `work` while the COMMIT of each transaction that has written a row of the table fails. */
  async ofTable(table: keyof Database, work: () => Promise<void>): Promise<void> {
    await this.#refusing(table, sql`insert or update or delete`, sql``, work);
  }

  /** Runs `work` while the COMMIT of each transaction that has written an audit event of this name fails. */
  async ofEvent(event: AuditEventName, work: () => Promise<void>): Promise<void> {
    await this.#refusing('audit_event', sql`insert`, sql`when (new.event = ${sql.lit(event)})`, work);
  }

  async #refusing(table: string, writes: RawBuilder<unknown>, condition: RawBuilder<unknown>, work: () => Promise<void>): Promise<void> {
    await sql`
      create constraint trigger refuse_commit after ${writes} on ${sql.table(table)} deferrable initially deferred
      for each row ${condition} execute function refuse_commit()`.execute(this.#db);
    try {
      await work();
    } finally {
      await sql`drop trigger refuse_commit on ${sql.table(table)}`.execute(this.#db);
    }
  }

  /** A hash of the rows of the table, and the number of events of each name. */
  async stateOf(table: keyof Database, events: readonly AuditEventName[]) {
    const { rows } = await sql<{ hash: string }>`
      select md5(coalesce(string_agg(t::text, ',' order by t::text), '')) as hash from ${sql.table(table)} t`.execute(this.#db);
    const counts = await this.#db
      .selectFrom('audit_event')
      .where('event', 'in', events)
      .groupBy('event')
      .select(['event', sql<number>`count(*)::int`.as('count')])
      .execute();
    return { rows: rows[0]?.hash, events: Object.fromEntries(counts.map(({ event, count }) => [event, count])) };
  }
}
