/** `POST /rest/entity/{name}/import` with `by`: which entity a row changes, what it may remove, and what is told of it. */
import { sql } from 'kysely';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { declareType, rowsOf } from '../support/entities.ts';
import { importFile, refusalsOf } from '../support/imports.ts';
import { useService } from '../support/service.ts';

const service = useService();
let cookie: string;
beforeAll(async () => {
  cookie = await service().openSession((await service().createUser('ada')).id);
});

let number = 0;
const newName = () => `product${++number}`;
const ndjson = 'application/x-ndjson';
const send = (name: string, file: string, query = '', type = 'text/csv', by = cookie) =>
  importFile(service(), name, file, { query, type, cookie: by });
const fieldsOf = async (name: string) => (await rowsOf(service(), name)).map(({ fields }) => JSON.parse(fields) as Record<string, unknown>);
const keysOf = async (name: string) => (await rowsOf(service(), name)).map(({ key }) => key);

const text = { type: 'string' };
const product = {
  type: 'object',
  properties: {
    code: text,
    serial: text,
    price: { type: 'string', format: 'decimal' },
    size: { type: 'object', properties: { width: { type: 'number' }, unit: text } },
    tags: { type: 'array', items: text },
    note: { type: ['string', 'null'] },
  },
  'x-unique': [{ fields: ['code'] }, { fields: ['serial'] }],
};
const declared = async (document: object = product) => {
  const name = newName();
  await declareType(service(), name, document as Record<string, unknown>);
  return name;
};
const full = { code: 'a', serial: 's1', price: '1.50', size: { width: 2.5, unit: 'cm' }, tags: ['x'], more: { deep: [1] } };
const withFull = async (...others: object[]) => {
  const name = await declared();
  await send(name, [full, ...others].map((each) => JSON.stringify(each)).join('\n'), '', ndjson);
  return name;
};

describe('fields that the file does not have', () => {
  test('200 — stay by default, in CSV and in NDJSON, and inside of objects too', async () => {
    const name = await withFull();
    expect((await send(name, 'code,price\na,2.00\n', '?by=code')).end).toMatchObject({ updated: 1, removedFields: 0 });
    expect(await fieldsOf(name)).toEqual([{ ...full, price: '2.00' }]);
    expect((await send(name, '{"code":"a","size":{"width":3},"note":null}', '?by=code', ndjson)).end).toMatchObject({
      updated: 1,
      removedFields: 0,
    });
    expect(await fieldsOf(name)).toEqual([{ ...full, price: '2.00', size: { width: 3, unit: 'cm' }, note: null }]);
  });

  test('200 — are removed by mode=replace, and are counted in the dry run and in the report', async () => {
    const name = await withFull();
    const counted = { updated: 1, removedFields: 4 };
    expect((await send(name, 'code,price\na,2.00\n', '?by=code&mode=replace&dryRun=true')).end).toMatchObject(counted);
    expect(await fieldsOf(name)).toEqual([full]);
    expect((await send(name, 'code,price\na,2.00\n', '?by=code&mode=replace')).end).toMatchObject(counted);
    expect(await fieldsOf(name)).toEqual([{ code: 'a', price: '2.00' }]);
  });

  test('200 — an empty cell removes its field, counted, and an object without any other; what is no object stays', async () => {
    const name = await withFull();
    const file = 'code,price,size.width,size.unit\na,,2.50,\n';
    expect((await send(name, file, '?by=code')).end).toMatchObject({ updated: 1, removedFields: 2 });
    const { price: _, ...rest } = full;
    expect((await fieldsOf(name))[0]).toEqual({ ...rest, size: { width: 2.5 } });
    expect((await send(name, 'code,size.width,size.unit\na,,\n', '?by=code')).end).toMatchObject({ updated: 1, removedFields: 1 });
    const { size: __, ...last } = rest;
    expect((await fieldsOf(name))[0]).toEqual(last);
    const open = newName();
    await send(open, '{"a":"text","b":[1],"c":{"d":{"e":1}}}', '', ndjson);
    const [key] = await keysOf(open);
    expect((await send(open, `$key,a.x,b.0,c.d.f\n${key},,,\n`, '?by=$key')).end).toMatchObject({ unchanged: 1 });
  });

  test('200 — the same file again changes nothing, and an export and its import change nothing', async () => {
    const name = await withFull({ code: 'b', note: null, size: {}, tags: [] });
    const stored = await rowsOf(service(), name);
    for (const format of ['csv', 'ndjson'])
      for (const query of ['?by=code', '?by=code&mode=replace', '?by=$key']) {
        const { text: file } = await service().call('GET', `/rest/entity/${name}/export?format=${format}`, { cookie });
        const { end } = await send(name, file, query, format === 'csv' ? 'text/csv' : ndjson);
        expect([format, query, end]).toMatchObject([format, query, { updated: 0, unchanged: 2, failed: 0, removedFields: 0 }]);
      }
    expect(await rowsOf(service(), name)).toEqual(stored);
  });
});

describe('by=$key', () => {
  test('200 — updates the entities with the keys of the file, creates without a key, and refuses the key of no entity', async () => {
    const name = await declared({ type: 'object', properties: { title: text } });
    await send(name, 'title\none\ntwo\n');
    const [one, two] = await keysOf(name);
    const file = `$key,title\n${one},eins\n${two},two\n,three\n999999999999,four\nx,five\n`;
    const planned = await send(name, file, '?by=$key&dryRun=true');
    const { refused, end } = await send(name, file, '?by=$key');
    expect(refusalsOf(refused)).toEqual(['5 404 not-found', '6 422 invalid-value /$key']);
    expect(end).toMatchObject({ created: 1, updated: 1, unchanged: 1, failed: 2 });
    expect(planned.end).toEqual(end);
    expect(end).not.toHaveProperty('ignored');
    expect(await fieldsOf(name)).toEqual([{ title: 'eins' }, { title: 'two' }, { title: 'three' }]);
  });

  test('200 — a name without a type, and an exported line of NDJSON', async () => {
    const name = newName();
    await send(name, '{"a":1,"b":2}', '', ndjson);
    const { text: file } = await service().call('GET', `/rest/entity/${name}/export`, { cookie });
    expect((await send(name, file.replace('"a": 1', '"a": 3'), '?by=$key', ndjson)).end).toMatchObject({ updated: 1, created: 0 });
    expect(await fieldsOf(name)).toEqual([{ a: 3, b: 2 }]);
    // The version of the line is an earlier one.
    expect(refusalsOf((await send(name, file, '?by=$key', ndjson)).refused)).toEqual(['1 412 precondition-failed']);
  });

  test('200 — entities of others are refused as an update refuses them: 404 without the right to read them, otherwise 403 (rule 64)', async () => {
    const name = newName();
    await send(name, 'a\n1\n');
    const [key] = await keysOf(name);
    const own = { condition: 'own' as const };
    const file = `$key,a\n${key},2\n`;
    const { id: blind } = await service().createUser('blind', { [name]: { actions: ['create', 'read', 'update'], ...own } });
    const refusalsFor = async (id: string) =>
      refusalsOf((await send(name, file, '?by=$key', 'text/csv', await service().openSession(id))).refused);
    expect(await refusalsFor(blind)).toEqual(['2 404 not-found']);
    const { id: seeing } = await service().createUser('seeing', { [name]: { actions: ['create', 'update'], ...own }, '*': ['read'] });
    expect(await refusalsFor(seeing)).toEqual(['2 403 forbidden']);
    expect(await fieldsOf(name)).toEqual([{ a: '1' }]);
  });

  test('200 — without by the report says that the keys were ignored', async () => {
    const name = await declared();
    for (const [file, type] of [
      ['$key,code\n7,a\n', 'text/csv'],
      ['$key,$version,code\n7,1,b\n', 'text/csv'],
    ] as const)
      expect((await send(name, file, '', type)).end?.ignored?.[0]).toBe('$key');
    expect((await send(name, '$key,code,price\n7,a,1\n', '?by=code')).end).toMatchObject({ updated: 1, ignored: ['$key'] });
  });
});

describe('two rows of one entity', () => {
  const pairs: [string, string, string][] = [
    ['the same text', 'code,price\na,1\nb,2\na,3\n', '?by=code'],
    ['the same key', '$key,price\nKEY,1\n,2\nKEY,3\n', '?by=$key'],
  ];
  test.for(pairs)('200 — %s: the second is refused with the number of the first, also in a dry run', async ([, file, query]) => {
    for (const dryRun of ['&dryRun=true', '']) {
      const name = await withFull();
      const [key = ''] = await keysOf(name);
      const { refused, end } = await send(name, file.replaceAll('KEY', key), query + dryRun);
      expect(refused).toMatchObject([{ row: 4, duplicateOf: 2, status: 409, code: 'unique-conflict' }]);
      expect(refused[0]?.errors?.[0]?.detail).toContain('row 2 ');
      expect(end).toMatchObject({ created: 1, updated: 1, failed: 1 });
      expect((await fieldsOf(name))[0]).toEqual({ ...full, price: dryRun === '' ? '1' : '1.50' });
    }
  });

  test('200 — equal values in other spellings, and far apart', async () => {
    const name = await declared({ properties: { n: { type: 'string', format: 'decimal' } }, 'x-unique': [{ fields: ['n'] }] });
    const rows = Array.from({ length: 1_200 }, (_, n) => `${n + 1}.0`);
    for (const query of ['?by=n&dryRun=true', '?dryRun=true', '?by=n']) {
      const { refused, end } = await send(name, ['n', ...rows, '7.00', '1100'].join('\n'), query);
      expect(refused.map(({ row, duplicateOf, status }) => [row, duplicateOf, status])).toEqual([
        [1_202, 8, 409],
        [1_203, 1_101, 409],
      ]);
      expect(end).toMatchObject({ created: 1_200, failed: 2 });
    }
  });

  test('200 — a row behind one that was refused counts', async () => {
    const name = await declared();
    const { refused, end } = await send(name, 'code,price\na,x\na,1\n', '?by=code');
    expect([refusalsOf(refused), end]).toMatchObject([['2 422 invalid-value /price'], { created: 1, failed: 1 }]);
  });
});

describe('unique values of other rules', () => {
  const file = 'code,serial\na,s9\nb,s1\nc,s9\nd,s4\ne,s4\nf,s2\n';
  test('200 — a dry run finds what the import finds: conflicts with entities, within the file, and values that the file sets free', async () => {
    const name = await withFull({ code: 'x', serial: 's2' });
    const planned = await send(name, file, '?by=code&dryRun=true');
    expect(await fieldsOf(name)).toEqual([full, { code: 'x', serial: 's2' }]);
    const done = await send(name, file, '?by=code');
    expect(done.refused.map(({ row, duplicateOf, code }) => [row, duplicateOf, code])).toEqual([
      [4, 2, 'unique-conflict'],
      [6, 5, 'unique-conflict'],
      [7, undefined, 'unique-conflict'],
    ]);
    expect([planned.refused, planned.end]).toEqual([done.refused, done.end]);
    expect(done.end).toMatchObject({ created: 2, updated: 1, failed: 3 });
    expect((await fieldsOf(name)).map(({ code, serial }) => [code, serial])).toEqual([
      ['a', 's9'],
      ['x', 's2'],
      ['b', 's1'],
      ['d', 's4'],
    ]);
  });

  test('200 — a value that a row removes is free for later rows of the same transaction and of others, in a dry run too', async () => {
    const name = await withFull({ code: 'b', serial: 's2' });
    const filler = Array.from({ length: 500 }, (_, n) => `f${n},`).join('\n');
    const file = `code,serial\na,\nc,s1\nd,s2\nb,\n${filler}\ne,s2\n`;
    const planned = await send(name, file, '?by=code&dryRun=true');
    const done = await send(name, file, '?by=code');
    for (const { refused, end } of [planned, done]) {
      expect(refusalsOf(refused)).toEqual(['4 409 duplicate-value /serial']);
      expect(end).toMatchObject({ created: 502, updated: 2, failed: 1 });
    }
    const serials = new Map((await fieldsOf(name)).map(({ code, serial }) => [code, serial]));
    expect(['a', 'b', 'c', 'd', 'e'].map((code) => serials.get(code))).toEqual([undefined, undefined, 's1', undefined, 's2']);
  });

  test('200 — a value that mode=replace or a merge with null removes is free too, and one of several fields', async () => {
    const name = await declared({ ...product, 'x-unique': [{ fields: ['code'] }, { fields: ['serial', 'price'] }] });
    const taken = { serial: 's', price: '1' };
    for (const [mode, row] of Object.entries({ replace: { code: 'a', serial: 's' }, merge: { code: 'a', price: null } })) {
      await send(name, JSON.stringify({ code: 'a', ...taken }), '?by=code&mode=replace', ndjson);
      const file = [row, { code: mode, ...taken }].map((each) => JSON.stringify(each)).join('\n');
      for (const dryRun of ['true', 'false'])
        expect((await send(name, file, `?by=code&mode=${mode}&dryRun=${dryRun}`, ndjson)).end).toMatchObject({
          created: 1,
          updated: 1,
          failed: 0,
        });
      await send(name, JSON.stringify({ code: mode }), '?by=code&mode=replace', ndjson);
    }
  });

  test('200 — two entities that exchange their values one after the other', async () => {
    const name = await withFull({ code: 'b', serial: 's2' });
    expect((await send(name, 'code,serial\na,s3\nb,s1\n', '?by=code')).end).toMatchObject({ updated: 2, failed: 0 });
    expect((await fieldsOf(name)).map(({ serial }) => serial)).toEqual(['s3', 's1']);
  });
});

test('200 — a transaction that a deadlock has undone runs again, and its rows are no duplicates of themselves (rule 76)', async () => {
  const name = await withFull();
  // A sequence does not go back with its transaction, so that the first write alone fails.
  await sql`create sequence failing_writes`.execute(service().db);
  await sql`
    create function fail_first_write() returns trigger language plpgsql security definer as $$
    begin
      if nextval('failing_writes') in (1, 3) then raise exception using errcode = '40P01'; end if;
      return new;
    end $$`.execute(service().db);
  await sql`
    create trigger fail_first_write before insert or update on entity for each row when (new.name = ${sql.lit(name)})
    execute function fail_first_write()`.execute(service().db);
  onTestFinished(async () => void (await sql`drop trigger fail_first_write on entity`.execute(service().db)));
  const { end, refused } = await send(name, 'code,serial\na,s9\nb,s1\nc,s2\n', '?by=code');
  expect([refused, end]).toMatchObject([[], { created: 2, updated: 1, failed: 0 }]);
  expect((await fieldsOf(name)).map(({ code, serial }) => [code, serial])).toEqual([
    ['a', 's9'],
    ['b', 's1'],
    ['c', 's2'],
  ]);
});

/** The bytes of all tables with entities, and the last key: rows that are rolled back leave both behind. */
async function written(): Promise<unknown> {
  const { rows } = await sql`
    select sum(pg_total_relation_size(oid))::text as bytes, (select last_value::text from entity_key_seq) as key
    from pg_class where relkind in ('r', 'p') and (relnamespace = 'entity_data'::regnamespace or relname in ('entity', 'entity_change', 'audit_event'))`.execute(
    service().db,
  );
  return rows[0];
}

test('200 — a dry run writes no row, not even one that it rolls back (rule 112)', async () => {
  const name = await withFull();
  const file = ['code,serial', ...Array.from({ length: 2_000 }, (_, n) => `c${n},${'x'.repeat(80)}${n}`)].join('\n');
  const before = await written();
  expect((await send(name, file, '?by=code&dryRun=true')).end).toMatchObject({ created: 2_000 });
  expect((await send(name, file, '?dryRun=true')).end).toMatchObject({ created: 2_000 });
  expect(await written()).toEqual(before);
});

test('200 — rows that conflict are found before they are written, in imports and in creates of many (rule 112)', async () => {
  const name = await declared();
  const items = Array.from({ length: 1_000 }, (_, n) => ({ code: `c${n}`, serial: 'x'.repeat(100) + String(n) }));
  await send(name, items.map((each) => JSON.stringify(each)).join('\n'), '', ndjson);
  const before = await written();
  const again = items.map((each) => JSON.stringify({ ...each, code: `d${each.code}` })).join('\n');
  expect((await send(name, again, '', ndjson)).end).toMatchObject({ created: 0, failed: 1_000 });
  const answer = await service().call('POST', `/rest/entity/${name}/bulk`, { cookie, json: items });
  expect([answer.status, answer.body.errors?.[0]]).toMatchObject([409, { pointer: '/0/code', code: 'duplicate-value' }]);
  expect(await written()).toEqual(before);
});

describe('a type with x-if-match: required', () => {
  test('200 — the column $version is the condition, and an export has it', async () => {
    const name = await declared({ ...product, 'x-if-match': 'required' });
    await send(name, 'code,price\na,1\nb,1\nc,1\n');
    const { text: file } = await service().call('GET', `/rest/entity/${name}/export?format=csv&fields=code,price`, { cookie });
    const [header, a, b, c] = file.split('\r\n');
    expect([header?.replace(/db\w+/, 'DB'), a?.split(',').slice(1)]).toEqual([
      '$key,$version,code,price,$database=DB',
      ['1', 'a', '1', ''],
    ]);
    const later = b?.replace(/,1,b,1,$/, ',2,b,5,');
    const edited = [header, a?.replace(/1,$/, '4,'), later, c, '', `,,d,1`].join('\n');
    for (const by of ['$key', 'code']) {
      const planned = await send(name, edited, `?by=${by}&dryRun=true`);
      expect(refusalsOf(planned.refused)).toEqual(['3 412 precondition-failed']);
      expect(planned.end).toMatchObject({ created: 1, updated: 1, unchanged: 1, failed: 1 });
    }
    expect((await send(name, edited, '?by=$key')).end).toMatchObject({ created: 1, updated: 1, unchanged: 1, failed: 1 });
    expect((await fieldsOf(name)).map(({ price }) => price)).toEqual(['4', '1', '1', '1']);
    expect(refusalsOf((await send(name, 'code,price\nc,7\n', '?by=code')).refused)).toEqual(['2 428 precondition-required']);
    expect(refusalsOf((await send(name, '$version,code,price\nx,c,7\n', '?by=code')).refused)).toEqual(['2 422 invalid-value /$version']);
  });
});
