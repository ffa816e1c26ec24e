/** A clerk of the north, and the rows that the clerk attacks. */
import { sql } from 'kysely';
import { beforeAll, expect } from 'vitest';
import { declareType, type Entity } from './entities.ts';
import { callerWith } from './rules.ts';
import { useService, type Call } from './service.ts';

export interface Row {
  key: string;
  number: string;
}

/** The facts that an answer tells. */
export interface Told {
  status: number;
  headers: [string, string][];
  text: string;
}

/** Sends a request to a path below `/rest`, or to one with a leading slash. An array is the lines of a file. */
export type Send = (method: string, path: string, json?: object, call?: Call) => Promise<Told>;

export const encoded = (value: object): string => encodeURIComponent(JSON.stringify(value));
export const missingKey = '9000000000000000000';

/** Headers that tell of the time or of the request alone. */
const ofRequest = new Set(['date', 'x-request-id', 'traceparent', 'content-length', 'keep-alive', 'connection']);

/** The answers as texts without what names the row or the time. */
export const spoken = (told: unknown, { key, number }: Row): unknown =>
  JSON.parse(
    JSON.stringify(told)
      .replaceAll(/"\\"(\d{21}|[\w-]{22})\\""/g, '"a hash"')
      .replaceAll(new RegExp(`(?<!\\d)${key}(?!\\d)`, 'g'), 'KEY')
      .replaceAll(number, 'NUMBER')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
      .replaceAll(/\b\d{4}-\d\d-\d\dT[\d%A:.]+Z/g, 'TIME')
      .replaceAll(/dur=[\d.]+/g, 'dur')
      .replaceAll(/\\"instance\\":\\"[^"]*\\"/g, 'INSTANCE')
      .replaceAll(/\\"(next|prev)\\":\\"[^"]*\\"/g, '$1'),
  );

export interface AttackedWorld {
  clerk: Send;
  chief: Send;
  /** May write the margin of the north, but not read it. */
  writer: Send;
  /** An order of the north with hidden values, and one that is the same without them. Each refers to itself. */
  twins: () => Promise<[full: Row, empty: Row]>;
  /** Removes the hidden values of an order without a new version. */
  strip: (row: Row) => Promise<unknown>;
  order: (fields: object) => Promise<Row>;
  customer: (fields: object) => Promise<string>;
}

const text = { type: 'string' };
const decimal = { type: 'string', format: 'decimal' };

/** The world of a test file. */
export function attackedWorld(): () => AttackedWorld {
  const service = useService();
  let world: AttackedWorld;
  const senderOf =
    (caller: Call): Send =>
    async (method, path, json, call = {}) => {
      const isFile = Array.isArray(json) && path.includes('/import');
      const body = isFile ? { raw: json.map((line) => JSON.stringify(line)).join('\n') } : json && { json };
      const headers = { ...(isFile && { 'content-type': 'application/x-ndjson' }), ...caller.headers, ...call.headers };
      const answer = await service().call(method, path.startsWith('/') ? path : `/rest/${path}`, { ...caller, ...call, ...body, headers });
      return {
        status: answer.status,
        headers: [...answer.headers].filter(([name]) => !ofRequest.has(name)),
        text: answer.text,
      };
    };

  beforeAll(async () => {
    // Otherwise a tick between two answers moves the position that exports name.
    await service().context.background.stop();
    // Keys so long that no other part of an answer looks like one.
    await sql`select setval(pg_get_serial_sequence('entity', 'key'), 700000000000)`.execute(service().db);
    await declareType(service(), 'customer', { type: 'object', properties: { agent: text, isVisible: { type: 'boolean' }, secret: text } });
    await declareType(service(), 'order', {
      type: 'object',
      additionalProperties: false,
      properties: {
        number: text,
        region: text,
        state: text,
        note: text,
        total: decimal,
        margin: decimal,
        pin: { type: 'string', 'x-sensitive': true },
        customer: { type: 'string', format: 'int64' },
        self: { type: 'string', format: 'int64' },
      },
      'x-unique': [{ fields: ['number'] }],
      'x-index': [['region'], ['margin'], ['self', 'margin'], ['self', 'pin']],
      'x-references': { customer: { to: 'customer' }, self: { to: 'order', onDelete: 'set-null' } },
      'x-soft-delete': true,
    });
    const chief = senderOf(
      await callerWith(service(), 'chief', [
        { entity: 'order', actions: ['create', 'read', 'update'], rule: { filter: {}, read: ['**'], write: ['**'] } },
        { entity: 'order', actions: ['delete', 'purge'] },
        { entity: 'customer', actions: ['create', 'read', 'update', 'delete'] },
      ]),
    );
    const north = { region: 'north' };
    const clerk = senderOf(
      await callerWith(service(), 'clerk', [
        { entity: 'order', actions: ['read'], rule: { filter: north, read: ['*', '-margin'] } },
        {
          entity: 'order',
          actions: ['update'],
          rule: { filter: north, check: north, read: ['*', '-margin'], write: ['note', 'total', 'customer'] },
        },
        { entity: 'order', actions: ['create'], rule: { check: north, read: ['*', '-margin'], write: ['*', '-margin'] } },
        { entity: 'order', actions: ['read', 'update', 'delete'], condition: 'own' },
        { entity: 'order', actions: ['delete'], rule: { filter: north } },
        {
          entity: 'order',
          actions: ['read'],
          rule: { filter: { customer: { $match: { agent: { $var: 'user.name' } } } }, read: ['note'] },
        },
        { entity: 'customer', actions: ['label'], rule: { filter: { isVisible: true } } },
      ]),
    );
    const writer = senderOf(
      await callerWith(service(), 'writer', [
        { entity: 'order', actions: ['read'], rule: { filter: north, read: ['*', '-margin'] } },
        { entity: 'order', actions: ['create', 'update'], rule: { filter: north, write: ['*'] } },
      ]),
    );
    let count = 0;
    const made = async (name: string, fields: object) => {
      const { status, text: body } = await chief('POST', `entity/${name}`, fields);
      expect(status, body).toBe(201);
      return (JSON.parse(body) as Entity).key;
    };
    const order = async (fields: object): Promise<Row> => {
      const number = `number-${++count}`;
      return { key: await made('order', { number, ...fields }), number };
    };
    const twin = async (hidden: object) => {
      const row = await order({ region: 'north', state: 'draft', note: 'old', total: '9', ...hidden });
      const { status, text: body } = await chief('POST', `entity/order/${row.key}`, { self: row.key });
      expect(status, body).toBe(200);
      return row;
    };
    world = {
      clerk,
      chief,
      writer,
      order,
      strip: async ({ key }) => {
        await sql`update entity_change set fields = fields - '{margin,pin}'::text[] where key = ${key}`.execute(service().db);
        await sql`update entity set fields = fields - '{margin,pin}'::text[] where key = ${key}`.execute(service().db);
      },
      customer: (fields) => made('customer', fields),
      twins: async () => [await twin({ margin: '5', pin: 'secret' }), await twin({})],
    };
  });
  return () => world;
}
