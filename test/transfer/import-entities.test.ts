/** `POST /rest/entity/{name}/import`: entities of the rows of a file, with a report that is sent meanwhile. */
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { inSchema } from '../../src/entities/companion/table.ts';
import { findStoredType } from '../../src/entity-types/store.ts';
import { declareType, rowsOf } from '../support/entities.ts';
import { writeTypes } from '../support/lists.ts';
import { useService } from '../support/service.ts';

const service = useService();
let cookie: string;
beforeAll(async () => {
  cookie = await service().openSession((await service().createUser('ada')).id);
});

interface Line {
  row: number;
  status?: number;
  code?: string;
  errors?: { code: string; pointer: string; detail: string }[];
  done?: boolean;
  created?: number;
  problem?: { code: string; status: number; errors?: { code: string; parameter?: string; pointer?: string }[] };
}

let number = 0;
const newName = () => `article${++number}`;
const types = { ndjson: 'application/x-ndjson', csv: 'text/csv' };
async function send(
  name: string,
  file: string | Buffer,
  { query = '', format = 'ndjson', by = cookie }: { query?: string; format?: keyof typeof types; by?: string } = {},
) {
  const headers = { 'content-type': types[format] };
  const { status, body, text } = await service().call('POST', `/rest/entity/${name}/import${query}`, { cookie: by, headers, raw: file });
  const lines =
    status === 200
      ? text
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line) as Line)
      : [];
  return { status, body, lines, end: lines.at(-1), refused: lines.filter(({ done }) => done === undefined) };
}
const csv = (name: string, text: string | Buffer, query = '') => send(name, text, { format: 'csv', query });
const counts = (row: number, created: number, { updated = 0, unchanged = 0, failed = 0, removedFields = 0 } = {}) => ({
  row,
  created,
  updated,
  unchanged,
  failed,
  removedFields,
});
const fieldsOf = async (name: string) => (await rowsOf(service(), name)).map(({ fields }) => JSON.parse(fields) as Record<string, unknown>);
const faultsOf = (lines: Line[]) =>
  lines.map(({ row, status, errors = [] }) => `${row} ${status} ${errors.map(({ code, pointer }) => `${code} ${pointer}`).join(', ')}`);

const text = { type: 'string' };
const article = {
  type: 'object',
  properties: {
    number: text,
    price: { type: 'string', format: 'decimal' },
    stock: { type: 'integer' },
    sold: { type: 'boolean' },
    since: { type: 'string', format: 'date' },
    size: { type: 'object', properties: { width: { type: 'number' }, unit: text } },
    tags: { type: 'array', items: text },
  },
  required: ['number'],
  'x-unique': [{ fields: ['number'], fold: true }],
};
const declared = async () => {
  const name = newName();
  await declareType(service(), name, article);
  return name;
};

describe('NDJSON', () => {
  test('200 — creates an entity of each line, with its digits, its audit event and its history', async () => {
    const name = newName();
    const { lines } = await send(name, '{"n":1.50}\n\n{"n":2,"text":"a,\\"]"}\r\n{"n":[{}]}');
    expect(lines).toEqual([
      { done: false, ...counts(4, 3) },
      { done: true, ...counts(4, 3) },
    ]);
    expect((await rowsOf(service(), name)).map(({ fields }) => fields)).toEqual([
      '{"n": 1.50}',
      '{"n": 2, "text": "a,\\"]"}',
      '{"n": [{}]}',
    ]);
    const events = await service().db.selectFrom('audit_event').where('event', '=', 'entity.created').select('detail').execute();
    expect(events.filter(({ detail }) => detail['entity'] === name)).toHaveLength(3);
    expect(await service().db.selectFrom('entity_change').where('name', '=', name).select('operation').execute()).toHaveLength(3);
  });

  test('200 — a row that is refused is told with its number, and does not stop the others', async () => {
    const name = await declared();
    const file = ['{"number":"1"}', '{"number":2}', '{', '[]', '{"number":"3","stock":1.5}', 'ÿ', '{"number":"1"}', '{"number":"4"}'].join(
      '\n',
    );
    const { refused, end } = await send(name, file.replace('ÿ', '"'));
    expect(faultsOf(refused)).toEqual([
      '2 422 invalid-type /number',
      '3 400 invalid-json ',
      '4 400 invalid-type ',
      '5 422 invalid-type /stock',
      '6 400 invalid-json ',
      '7 409 duplicate-value /number',
    ]);
    expect(refused[0]?.errors?.[0]?.detail).toMatch(/\w/);
    expect(end).toEqual({ done: true, ...counts(8, 2, { failed: 6 }) });
    expect(await fieldsOf(name)).toEqual([{ number: '1' }, { number: '4' }]);
  });

  test('200 — portions of 500 rows are a transaction each, and a report follows each', async () => {
    const name = newName();
    const { lines } = await send(name, Array.from({ length: 1_201 }, (_, n) => `{"n":${n}}`).join('\n'));
    expect(lines).toEqual([
      { done: false, ...counts(500, 500) },
      { done: false, ...counts(1_000, 1_000) },
      { done: false, ...counts(1_201, 1_201) },
      { done: true, ...counts(1_201, 1_201) },
    ]);
    expect((await fieldsOf(name)).map(({ n }) => n)).toEqual(Array.from({ length: 1_201 }, (_, n) => n));
  });

  test('200 — takes what an export has written, and refuses one that is not complete', async () => {
    const [from, to] = [newName(), newName()];
    await send(from, '{"a":1.10}\n{"fields":{"b":null}}');
    const { text } = await service().call('GET', `/rest/entity/${from}/export`, { cookie });
    expect((await send(to, text)).end).toEqual({ done: true, ...counts(2, 2), ignored: ['$key', '$version'] });
    expect((await rowsOf(service(), to)).map(({ fields }) => fields)).toEqual(['{"a": 1.10}', '{"fields": {"b": null}}']);
    expect(faultsOf((await send(to, text.replace('"$complete":true', '"$complete":false'))).refused)).toEqual([
      '3 400 invalid-value /$complete',
    ]);
  });

  test('200 — takes entities to which updates have added more values than a body may have, and the deepest ones', async () => {
    const manyValues = (letter: string) => Object.fromEntries(Array.from({ length: 9_000 }, (_, n) => [letter + String(n), n]));
    const nested = (levels: number) => JSON.parse('{"a":'.repeat(levels) + '1' + '}'.repeat(levels)) as object;
    const created = await service().call<{ key: string }>('POST', '/rest/entity/large', { cookie, json: manyValues('a') });
    const path = `/rest/entity/large/${created.body.key}`;
    expect((await service().call('POST', path, { cookie, json: manyValues('b') })).status).toBe(200);
    expect((await service().call('POST', '/rest/entity/large', { cookie, json: nested(32) })).status).toBe(201);
    for (const format of ['ndjson', 'csv'] as const) {
      const { text: file } = await service().call('GET', `/rest/entity/large/export?format=${format}`, { cookie });
      expect((await send(`large-${format}`, file, { format })).end).toMatchObject({ done: true, created: 2, failed: 0 });
      expect(await fieldsOf(`large-${format}`)).toEqual([{ ...manyValues('a'), ...manyValues('b') }, nested(32)]);
    }
    const { refused, end } = await send('large', JSON.stringify(nested(33)));
    expect(faultsOf(refused)).toEqual([`1 400 too-deep ${'/a'.repeat(32)}`]);
    expect(end).toMatchObject({ created: 0, failed: 1 });
  });

  test('200 — takes an entity with as many bytes as it may have, and no fields with one more (rule 70)', async () => {
    const [from, to] = [newName(), newName()];
    const lineOf = (bytes: number) => `{"a": "${'x'.repeat(bytes - '{"a": ""}'.length)}"}`;
    const limit = 2 * 1_048_576;
    await send(from, lineOf(limit));
    const { text: file } = await service().call('GET', `/rest/entity/${from}/export`, { cookie });
    expect((await send(to, file)).end).toEqual({ done: true, ...counts(1, 1), ignored: ['$key', '$version'] });
    expect((await rowsOf(service(), to)).map(({ fields }) => fields.length)).toEqual([limit]);
    expect(faultsOf((await send(to, lineOf(limit + 1))).refused)).toEqual(['1 413 ']);
  });

  test('200 — bytes that are not UTF-8, NUL, and a line beyond the limit are faults of their rows (rules 70 and 71)', async () => {
    const name = newName();
    const long = Buffer.from(`{"a":"${'x'.repeat(3_000_000)}"}\n`);
    const file = Buffer.concat([
      Buffer.from('\uFEFF{"a":1}\n{"a":"'),
      Buffer.from([0xe9]),
      Buffer.from('"}\n{"a":"\\u0000"}\n'),
      long,
      Buffer.from('{"a":2}\n'),
    ]);
    const { refused, end } = await send(name, file);
    expect(faultsOf(refused)).toEqual(['2 400 invalid-encoding ', '3 400 nul-character /a', '4 413 ']);
    expect(end).toEqual({ done: true, ...counts(5, 2, { failed: 3 }) });
    expect(await fieldsOf(name)).toEqual([{ a: 1 }, { a: 2 }]);
  });
});

describe('CSV', () => {
  test('200 — a line beyond the limit is told as that, wherever it divides a character (rule 71)', async () => {
    for (const first of ['', 'x']) {
      const { refused } = await csv(newName(), `a\n1\n${first}${'é'.repeat(1_600_000)}\n`);
      expect(faultsOf(refused)).toEqual(['3 413 ']);
    }
  });

  test('200 — the declared type decides what a cell is', async () => {
    const name = await declared();
    const file = [
      'number,price,stock,sold,since,size.width,size.unit,tags',
      '1,1.50,10,TRUE,2026-11-22,2.50,cm,"[""a"",""b""]"',
      '"two, ""2""\r\n",,,,,,,',
      '3,\\N,\\N,,,,"",',
      '"\\N",12,,,,,,',
    ].join('\r\n');
    const { refused, end } = await csv(name, file);
    expect(faultsOf(refused)).toEqual(['4 422 invalid-type /price, invalid-type /stock']);
    expect(end).toEqual({ done: true, ...counts(5, 3, { failed: 1 }) });
    expect((await rowsOf(service(), name)).map(({ fields }) => fields)).toEqual([
      '{"size": {"unit": "cm", "width": 2.50}, "sold": true, "tags": ["a", "b"], "price": "1.50", "since": "2026-11-22", "stock": 10, "number": "1"}',
      '{"number": "two, \\"2\\"\\r\\n"}',
      '{"price": "12", "number": "\\\\N"}',
    ]);
  });

  test('200 — a cell that only begins as JSON is a text, also one of more values than a body may have', async () => {
    const name = newName();
    await declareType(service(), name, { properties: { a: true } });
    const cells = ['1', '1,'.repeat(10_001)].map((items) => `[${items}1],"b":2`);
    await csv(name, ['a', ...cells.map((cell) => `"${cell.replaceAll('"', '""')}"`)].join('\n'));
    expect(await fieldsOf(name)).toEqual(cells.map((a) => ({ a })));
  });

  test('200 — an unquoted empty cell is a missing field, \\N is null, and "" is the empty text; without a type all are texts', async () => {
    const name = newName();
    await csv(name, 'a;b;c.d\n1;\\N;""\n;"\\N";x\n', '?delimiter=semicolon');
    expect(await fieldsOf(name)).toEqual([
      { a: '1', b: null, c: { d: '' } },
      { b: '\\N', c: { d: 'x' } },
    ]);
  });

  test('200 — $fields has further members, and columns of the envelope are ignored', async () => {
    const name = await declared();
    const file =
      '$key,$version,number,size.width,$fields\n7,1,1,2,"{""more"":{""n"":1.0},""size"":{""unit"":""cm"",""x"":[]}}"\n8,1,2,,"{""size"":{}}"\n9,1,3,,[1]\n';
    expect(faultsOf((await csv(name, file)).refused)).toEqual(['4 400 invalid-type /$fields']);
    expect((await rowsOf(service(), name)).map(({ fields }) => fields)).toEqual([
      '{"more": {"n": 1.0}, "size": {"x": [], "unit": "cm", "width": 2}, "number": "1"}',
      '{"size": {}, "number": "2"}',
    ]);
  });

  test('200 — a row with another number of cells is refused, and an empty line is none', async () => {
    const name = newName();
    const { refused, end } = await csv(name, 'a,b\n1,2\n3\n\n4,5,6\n7,8');
    expect(faultsOf(refused)).toEqual(['3 400 cell-count ', '5 400 cell-count ']);
    expect(end).toMatchObject({ done: true, created: 2, failed: 2 });
  });

  test.for<[string, string | Buffer, string]>([
    ['a quote in the wrong place', 'a,b\n1,2\n3,"4"5\n6,7\n', '3 400 invalid-csv '],
    ['a quote that is not closed', 'a,b\n1,2\n3,"4\n6,7\n', '3 400 invalid-csv '],
    ['Latin-1', Buffer.from('a,b\n1,2\n3,\u00e9\n6,7\n', 'latin1'), '3 400 invalid-encoding '],
    ['UTF-16', Buffer.from('\uFEFFa,b\n1,2\n', 'utf16le'), '1 400 invalid-encoding '],
    ['UTF-16 without a mark', Buffer.from('a,b\n1,2\n', 'utf16le'), '1 422 invalid-encoding , invalid-encoding '],
    ['a header with a name twice', 'a,a\n1,2\n', '1 422 repeated /a'],
    ['a header of empty names', ' ,.a\n1,2\n', '1 422 required '],
    ['a header with a field and one inside of it', 'a,a.b\n1,2\n', '1 422 conflicting /a/b'],
  ])('200 — %s ends the import with the row, and the rows before it are written', async ([, file, fault]) => {
    const name = newName();
    const { refused, end } = await csv(name, file);
    expect(faultsOf(refused)).toEqual([fault]);
    expect(end).toMatchObject({
      done: false,
      failed: 1,
      problem: { code: fault.includes(' 422') ? 'validation-failed' : 'malformed-request' },
    });
    expect(await fieldsOf(name)).toEqual(fault.startsWith('3') ? [{ a: '1', b: '2' }] : []);
  });

  test('200 — a header with a field that the type refuses', async () => {
    const name = newName();
    await declareType(service(), name, { ...article, additionalProperties: false });
    expect(faultsOf((await csv(name, 'number,colour\n1,red\n')).refused)).toEqual(['1 422 unknown-field /colour']);
  });

  test('200 — NUL in a cell is a fault of its row', async () => {
    expect(faultsOf((await csv(newName(), 'a,b\n1,2\n3,\0\n')).refused)).toEqual(['3 400 nul-character /b']);
  });
});

/** Whether a statement waits for a lock of the companion table. */
async function waitsFor(table: string): Promise<boolean> {
  const { rows } =
    await sql`select from pg_locks where not granted and database = (select oid from pg_database where datname = current_database()) and relation = ${`entity_data.${table}`}::regclass`.execute(
      service().db,
    );
  return rows.length > 0;
}

describe('by', () => {
  test('200 — updates the entities with the same values, and changes nothing when the file is imported again', async () => {
    const name = await declared();
    expect((await csv(name, 'number,stock\nA1,1\nA2,2\n')).end).toEqual({ done: true, ...counts(3, 2) });
    const file = 'number,stock,sold\na1,5,\nA2,2,\nA3,\\N,true\nA3,3,true\nA4,4,\n';
    const first = await csv(name, file, '?by=number');
    expect(faultsOf(first.refused)).toEqual(['4 422 invalid-type /stock']);
    expect(first.end).toEqual({ done: true, ...counts(6, 2, { updated: 1, unchanged: 1, failed: 1 }) });
    const rows = await rowsOf(service(), name);
    expect(rows.map(({ version, fields }) => [version, JSON.parse(fields)])).toEqual([
      ['2', { number: 'a1', stock: 5 }],
      ['1', { number: 'A2', stock: 2 }],
      ['1', { number: 'A3', stock: 3, sold: true }],
      ['1', { number: 'A4', stock: 4 }],
    ]);
    expect((await csv(name, file, '?by=number')).end).toEqual({ done: true, ...counts(6, 0, { unchanged: 4, failed: 1 }) });
    expect(await rowsOf(service(), name)).toEqual(rows);
    const changes = await service().db.selectFrom('entity_change').where('name', '=', name).select('operation').execute();
    expect(changes).toHaveLength(5);
  });

  test('200 — other digits of a number are a change, and the same digits are none', async () => {
    const name = await declared();
    const line = (digits: string) => `{"number":"1","size":{"width":${digits}}}`;
    await send(name, line('1.5'));
    for (const [mode, digits] of [
      ['replace', '1.50'],
      ['merge', '1.500'],
    ] as const) {
      const again = () => send(name, line(digits), { query: `?by=number&mode=${mode}` });
      expect((await again()).end).toEqual({ done: true, ...counts(1, 0, { updated: 1 }) });
      expect((await rowsOf(service(), name))[0]?.fields).toContain(` ${digits}}`);
      expect((await again()).end).toEqual({ done: true, ...counts(1, 0, { unchanged: 1 }) });
    }
  });

  test('200 — merge keeps the fields that the row does not have, and checks what comes of it', async () => {
    const name = await declared();
    await send(name, '{"number":"1","stock":1,"sold":true}\n{"number":"2","tags":["x"]}\n{"number":"4"}');
    const file = '{"number":"1","stock":2}\n{"number":"2","tags":null}\n{"number":"4","stock":"x"}\n{"number":"3","stock":{}}\n';
    const { refused, end } = await send(name, file, { query: '?by=number&mode=merge' });
    expect(faultsOf(refused)).toEqual(['3 422 invalid-type /stock']);
    expect(refused).toMatchObject([{ row: 3, toRow: 4 }]);
    expect(end).toEqual({ done: true, ...counts(4, 0, { updated: 2, failed: 2, removedFields: 1 }) });
    expect(await fieldsOf(name)).toEqual([{ number: '1', stock: 2, sold: true }, { number: '2' }, { number: '4' }]);
  });

  test('200 — with merge null is no member of a new entity either, so the same file again changes nothing', async () => {
    const name = await declared();
    const file = '{"number":"1","stock":null}\n{"number":"2","stock":3,"size":{"width":null,"unit":"m"}}';
    const again = () => send(name, file, { query: '?by=number&mode=merge' });
    expect((await again()).end).toEqual({ done: true, ...counts(2, 2) });
    expect(await fieldsOf(name)).toEqual([{ number: '1' }, { number: '2', stock: 3, size: { unit: 'm' } }]);
    expect((await again()).end).toEqual({ done: true, ...counts(2, 0, { unchanged: 2 }) });
  });

  test('200 — a row without a value of the rule is refused, and so is one whose entity the caller may not change', async () => {
    const name = await declared();
    const own = { actions: ['create' as const, 'read' as const, 'update' as const], condition: 'own' as const };
    const other = await service().openSession((await service().createUser('other', { [name]: own })).id);
    await send(name, '{"number":"1"}');
    const { refused, end } = await send(name, '{"number":"1","stock":1}\n{"stock":1}\n{"number":"2","stock":2}', {
      query: '?by=number',
      by: other,
    });
    expect(faultsOf(refused)).toEqual(['1 409 duplicate-value /number', '2 422 required /number']);
    expect(end).toMatchObject({ created: 1, updated: 0, failed: 2 });
    expect(await fieldsOf(name)).toEqual([{ number: '1' }, { number: '2', stock: 2 }]);
  });

  test('200 — of ten imports of the same rows at once, each entity is created once (rule 76)', async () => {
    const name = await declared();
    const file = (n: number) =>
      Array.from({ length: 20 }, (_, m) => JSON.stringify({ number: String((m * 7 + n) % 20), stock: n })).join('\n');
    const others = await Promise.all([service().replica(), service().replica()]);
    const imports = await Promise.all(
      [service(), ...others].map((each, n) =>
        each.call('POST', `/rest/entity/${name}/import?by=number`, { cookie, headers: { 'content-type': types.ndjson }, raw: file(n) }),
      ),
    );
    for (const other of others) await other.close();
    const ends = imports.map(({ text }) => JSON.parse(text.trimEnd().split('\n').at(-1) ?? '') as { created: number; failed: number });
    expect([ends.reduce((sum, { created }) => sum + created, 0), ends.map(({ failed }) => failed)]).toEqual([20, [0, 0, 0]]);
    expect(await rowsOf(service(), name)).toHaveLength(20);
  });

  test('200 — a type that changes between the search for the entities and their update changes no outcome', async () => {
    const name = await declared();
    await send(name, '{"number":"1"}\n{"number":"2"}');
    const { db } = service();
    const { companion } = await findStoredType(db, name);
    if (!companion) throw new Error('the type has no companion table');
    const file = '{"number":"1","stock":1}\n{"number":"2","stock":2}';
    const { imported } = await db.transaction().execute(async (trx) => {
      await sql`lock table ${inSchema(companion.table)} in access exclusive mode`.execute(trx);
      const imported = send(name, file, { query: '?by=number' });
      await expect.poll(() => waitsFor(companion.table)).toBe(true);
      await declareType(service(), name, { ...article, title: 'Article' });
      return { imported };
    });
    expect(await imported).toMatchObject({ refused: [], end: { done: true, ...counts(2, 0, { updated: 2 }) } });
  });

  test('422 — by which there is no unique rule', async () => {
    const { status, body } = await send(await declared(), '{"number":"1"}', { query: '?by=price' });
    expect([status, body.errors?.[0]]).toEqual([422, expect.objectContaining({ parameter: 'by', code: 'invalid-value' })]);
    expect((await send(newName(), '{"number":"1"}', { query: '?by=number' })).status).toBe(422);
  });
});

test('200 — a dry run reports the same and writes nothing', async () => {
  const name = await declared();
  await csv(name, 'number,stock\n1,1\n2,2\n');
  const before = await rowsOf(service(), name);
  const file = 'number,stock\n1,1\n2,3\n3,x\n4,4\n5,5\n';
  const { refused, end } = await csv(name, file, '?by=number&dryRun=true');
  expect(faultsOf(refused)).toEqual(['4 422 invalid-type /stock']);
  expect(end).toEqual({ done: true, ...counts(6, 2, { updated: 1, unchanged: 1, failed: 1 }) });
  expect(await rowsOf(service(), name)).toEqual(before);
  expect((await csv(name, file, '?by=number')).end).toEqual(end);
});

test('200 — fromRow leaves out the rows before it', async () => {
  const name = newName();
  expect((await csv(name, 'a\n1\n2\n3\n', '?fromRow=3')).end).toEqual({ done: true, ...counts(4, 2) });
  expect(await fieldsOf(name)).toEqual([{ a: '2' }, { a: '3' }]);
});

test('200 — format goes before the media type, and a reference to no entity is told by its row', async () => {
  const [target, name] = [newName(), newName()];
  await declareType(service(), target, { type: 'object' });
  const properties = { parent: { type: 'string', format: 'int64' } };
  await declareType(service(), name, { type: 'object', properties, 'x-references': { parent: { to: target } } });
  await send(target, '{}');
  const [parent] = await rowsOf(service(), target);
  const { refused, end } = await csv(name, `{"parent":"${parent?.key}"}\n{"parent":"1"}\n{}`, '?format=ndjson');
  expect(faultsOf(refused)).toEqual(['2 422 reference-not-found /parent']);
  expect(end).toMatchObject({ done: true, created: 2 });
});

test('413 — an announced file beyond 64 MiB (rule 70)', async () => {
  const name = newName();
  const answer = await service().inject({
    method: 'POST',
    url: `/rest/entity/${name}/import`,
    headers: { cookie, 'content-type': types.ndjson, 'content-length': String(2 ** 26 + 1) },
    payload: '{}',
  });
  expect([answer.statusCode, answer.json<{ code: string }>().code]).toEqual([413, 'content-too-large']);
  expect(await rowsOf(service(), name)).toEqual([]);
});

test('403 — a caller who may not create, or with by not read or update, imports nothing', async () => {
  const name = await declared();
  const all = ['create', 'read', 'update'] as const;
  const callers = await Promise.all(
    all.map(
      async (missing) =>
        await service().openSession(
          (await service().createUser(`without-${missing}`, { [name]: all.filter((action) => action !== missing) })).id,
        ),
    ),
  );
  const file = '{"number":"1"}';
  const statuses = (query: string) => Promise.all(callers.map(async (by) => (await send(name, file, { query, by })).status));
  expect(await statuses('?by=number')).toEqual([403, 403, 403]);
  expect((await send(name, file, { by: callers[0] ?? '' })).status).toBe(403);
  expect(await rowsOf(service(), name)).toEqual([]);
  expect((await send(name, file, { by: callers[1] ?? '' })).end).toMatchObject({ done: true, created: 1 });
});

test('400, 406 — parameters that are not accepted, and an answer that is not accepted', async () => {
  const name = newName();
  for (const query of ['?mode=x', '?fromRow=0', '?delimiter=x', '?dryRun=1', '?format=xml'])
    expect((await send(name, '{}', { query })).status, query).toBe(400);
  const headers = { 'content-type': types.csv, accept: 'text/csv' };
  expect((await service().call('POST', `/rest/entity/${name}/import`, { cookie, headers, raw: 'a\n1' })).status).toBe(406);
  expect(await rowsOf(service(), name)).toEqual([]);
});

test('404 — a name without a type, where only declared names exist', async () => {
  const strict = await service().replica({
    ENTITY_TYPES: 'declared',
    ENTITY_TYPES_DIR: await writeTypes({ imported: { type: 'object' } }),
  });
  try {
    const call = (name: string) =>
      strict.call('POST', `/rest/entity/${name}/import`, { cookie, headers: { 'content-type': types.ndjson }, raw: '{}' });
    expect((await call('imported')).status).toBe(200);
    expect((await call(newName())).status).toBe(404);
  } finally {
    await strict.close();
  }
});
