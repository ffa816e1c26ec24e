/**
 * The client's record of its requests and of the acknowledged ones, and the comparison of both with the rows. Everything acknowledged must
 * be there, everything there must have been requested, and each write must be complete or absent.
 */
import { Client } from 'pg';
import { hashToken } from '../../src/sessions/token.ts';
import { compareHistory } from './history.ts';

/** The name of all entities in ledgers. */
export const entityName = 'ledger';

/** One entity. Its fields are `{ id, value, copy }`; the last two are always equal. */
export interface Line {
  id: string;
  /** Undefined until the create is acknowledged. */
  key?: string;
  /** Whether every answer to the create said that nothing was done. */
  undone: boolean;
  /** The largest value that was sent, the largest that may have been written, and the largest that was acknowledged. */
  sent: number;
  possible: number;
  acknowledged: number;
  deletion: 'none' | 'sent' | 'acknowledged';
}

interface Row {
  key: string;
  version: number;
  id: string;
  value: number;
  copy: number;
}

export class Ledger {
  readonly lines: Line[] = [];
  /** Tokens of sessions whose logout was acknowledged. */
  readonly ended: string[] = [];
  /** New tokens of sessions whose refresh was acknowledged. */
  readonly rotated: string[] = [];
  /** The number of acknowledged writes. */
  acknowledged = 0;
  /** The number of requests on an open connection without an answer. */
  unanswered = 0;
  /** The number of requests that could not connect. */
  refused = 0;
  /** The longest time of an answer, in milliseconds, since `measureAnew`. */
  slowest = 0;
  /** The number of answers with each status. */
  readonly statuses = new Map<number, number>();
  /** The longest time between two acknowledged writes at each port, in milliseconds, since `measureAnew`. */
  readonly pauses = new Map<number, number>();
  readonly #ofPorts = new Map<number, { count: number; latest: number }>();
  /** Answers that no client should ever get. */
  readonly violations: string[] = [];

  open(): Line {
    const line: Line = { id: `line-${this.lines.length}`, undone: true, sent: 0, possible: 0, acknowledged: 0, deletion: 'none' };
    this.lines.push(line);
    return line;
  }

  /** Records a write that the service at `port` has acknowledged. */
  acknowledge(port: number): void {
    this.acknowledged += 1;
    const latest = performance.now();
    const { count, latest: before } = this.#ofPorts.get(port) ?? { count: 0, latest };
    this.#ofPorts.set(port, { count: count + 1, latest });
    this.pauses.set(port, Math.max(this.pauses.get(port) ?? 0, latest - before));
  }

  /** The number of writes that the service at `port` has acknowledged. */
  acknowledgedAt(port: number): number {
    return this.#ofPorts.get(port)?.count ?? 0;
  }

  /** Forgets `slowest` and `pauses`. */
  measureAnew(): void {
    this.slowest = 0;
    this.pauses.clear();
    for (const port of this.#ofPorts.values()) port.latest = performance.now();
  }

  /** Records an answer: a 500 is always a violation, and a 503 must have Retry-After. */
  note({ status, headers, body }: { status: number; headers: Record<string, unknown>; body: string }): void {
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
    if (status >= 500 && status !== 503) this.violations.push(`${status}: ${body}`);
    if (status === 503 && !(Number(headers['retry-after']) > 0)) this.violations.push(`503 without Retry-After: ${body}`);
  }

  /** The differences between ledger and rows, one a line; empty when there are none. Call it when no request is in progress. */
  async compare(databaseUrl: string): Promise<string[]> {
    const client = new Client({ connectionString: databaseUrl });
    await client.connect();
    try {
      const violations = [this.violations, await this.#compareEntities(client), await this.#compareSessions(client)];
      return [...violations.flat(), ...(await compareHistory(client, entityName))];
    } finally {
      await client.end();
    }
  }

  async #compareEntities(client: Client): Promise<string[]> {
    const { rows } = await client.query<Row>(
      `select key::text, version::int, fields ->> 'id' as id, (fields ->> 'value')::int as value, (fields ->> 'copy')::int as copy
       from entity where name = $1`,
      [entityName],
    );
    const byId = Map.groupBy(rows, ({ id }) => id);
    const wrong = this.lines.flatMap((line) => {
      const fault = faultOf(line, byId.get(line.id) ?? []);
      byId.delete(line.id);
      return fault === undefined ? [] : [`${line.id}: ${fault}`];
    });
    for (const id of byId.keys()) wrong.push(`${id}: no request created it`);
    // Each row and its audit events are written together.
    const { rows: halves } = await client.query<{ key: string }>(
      `select coalesce(entity.key::text, trail.key) as key
       from (select key, version from entity where name = $1) as entity
       full join (
         select detail ->> 'key' as key, count(*) filter (where event = 'entity.created') as created,
           count(*) filter (where event = 'entity.updated') as updated, count(*) filter (where event = 'entity.deleted') as deleted
         from audit_event where event like 'entity.%' and outcome = 'ok' and detail ->> 'entity' = $1 group by 1
       ) as trail on trail.key = entity.key::text
       where trail.created is distinct from 1
         or case when entity.key is null then trail.deleted <> 1 else trail.deleted <> 0 or trail.updated <> entity.version - 1 end`,
      [entityName],
    );
    for (const { key } of halves) wrong.push(`key ${key}: the row differs from its audit trail`);
    const { rows: claims } = await client.query<{ key: string }>(
      `select key from idempotency where entity = $1 and entity_key is not null and not exists (
         select from audit_event where event = 'entity.created' and detail ->> 'key' = entity_key::text)
       union all
       select idempotency.key from idempotency cross join jsonb_to_recordset(results) as effect (key bigint, version bigint)
       where entity = $1 and version is not null and not exists (
         select from entity_change where (entity_change.key, entity_change.version) = (effect.key, effect.version))`,
      [entityName],
    );
    for (const { key } of claims) wrong.push(`Idempotency-Key ${key}: stored without its entity`);
    return wrong;
  }

  async #compareSessions(client: Client): Promise<string[]> {
    const live = async (tokens: string[]) => {
      const { rows } = await client.query<{ live: number }>(
        'select count(*)::int as live from session where revoked_at is null and token_hash = any($1)',
        [tokens.map(hashToken)],
      );
      return rows[0]?.live ?? 0;
    };
    const [risen, kept] = [await live(this.ended), await live(this.rotated)];
    return [
      ...(risen > 0 ? [`${risen} sessions live on after an acknowledged logout`] : []),
      ...(kept < this.rotated.length ? [`${this.rotated.length - kept} acknowledged rotations are gone`] : []),
    ];
  }
}

function faultOf(line: Line, [row, ...others]: Row[]): string | undefined {
  if (others.length > 0) return `${others.length + 1} rows of one create`;
  if (!row) return line.key === undefined || line.deletion !== 'none' ? undefined : 'acknowledged, but not there';
  if (line.deletion === 'acknowledged') return 'deleted, but still there';
  if (line.key === undefined && line.undone) return 'there, although the answer said that nothing was done';
  if (line.key !== undefined && line.key !== row.key) return `acknowledged as ${line.key}, stored as ${row.key}`;
  if (row.value !== row.copy) return `half written: ${row.value} and ${row.copy}`;
  if (row.value < line.acknowledged) return `${line.acknowledged} was acknowledged, ${row.value} is there`;
  if (row.value > line.possible) return `${row.value} is there, but was never sent, or the answer said that it was not written`;
  return undefined;
}
