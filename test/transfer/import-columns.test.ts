/** `POST /rest/entity/{name}/import` of CSV: which columns and cells count, and what programs write around them. */
import csvSpectrum from 'csv-spectrum';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { declareType, rowsOf } from '../support/entities.ts';
import { importFile, refusalsOf } from '../support/imports.ts';
import { useService } from '../support/service.ts';

const service = useService();
let cookie: string;
beforeAll(async () => {
  cookie = await service().openSession((await service().createUser('ada')).id);
});

let number = 0;
const newName = () => `column${++number}`;
const send = (name: string, file: string | Buffer, query = '', type = 'text/csv') =>
  importFile(service(), name, file, { query, type, cookie });
const fieldsOf = async (name: string) => (await rowsOf(service(), name)).map(({ fields }) => JSON.parse(fields) as Record<string, unknown>);
/** The fields of a file without a type, and its refusals. */
async function read(file: string | Buffer, query = '') {
  const name = newName();
  const { refused, end } = await send(name, file, query);
  return { fields: await fieldsOf(name), refused: refusalsOf(refused), end };
}
const text = { type: 'string' };

describe('quotes', () => {
  test.for<[string, string, unknown]>([
    ['inches', 'size\n24" monitor\n', '24" monitor'],
    ['coordinates', `place\n37°36'37.8"N 121°2'17.9"W\n`, `37°36'37.8"N 121°2'17.9"W`],
    ['a pair of quotes', 'a\nsay ""hello""\n', 'say ""hello""'],
    ['a quote behind a space', 'a\n "x"\n', ' "x"'],
    ['a quote at the end', 'a\nx"\n', 'x"'],
    ['quotes of a quoted cell', 'a\n"say ""hello"""\n', 'say "hello"'],
    ['a line end in a quoted cell', 'a\n"x\r\n""\n"\n', 'x\r\n"\n'],
  ])('200 — %s in a cell that does not begin with a quote is data', async ([, file, value]) => {
    const { fields, refused } = await read(file);
    expect([fields.map((each) => Object.values(each)), refused]).toEqual([[[value]], []]);
  });

  test.for([
    ['text behind the quote that ends a cell', 'a,b\n1,2\n"3"4,5\n'],
    ['a space there', 'a,b\n1,2\n"3" ,5\n'],
    ['a quote that is not closed', 'a,b\n1,2\n3,"4\n'],
  ])('200 — %s ends the import with its row', async ([, file]) => {
    const { fields, refused, end } = await read(file ?? '');
    expect([fields, refused, end?.done]).toEqual([[{ a: '1', b: '2' }], ['3 400 invalid-csv '], false]);
  });

  test('200 — the files of csv-spectrum are read as they say, written, and read again', async () => {
    const files = await promisify(csvSpectrum)();
    expect(files.length).toBeGreaterThanOrEqual(12);
    for (const { name: title, csv, json } of files) {
      const wanted = [JSON.parse(json.toString()) as Record<string, string> | Record<string, string>[]].flat();
      const name = newName();
      const names = Object.keys(wanted[0] ?? {});
      await declareType(service(), name, { properties: Object.fromEntries(names.map((each) => [each, text])) });
      const { refused } = await send(name, csv);
      // The package has another number here than its CSV file.
      for (const row of wanted) if (row['Contact Phone Number'] === '1234567890') row['Contact Phone Number'] = '2095257564';
      // An empty cell without quotes is a missing field here.
      const present = wanted.map((row) => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== '')));
      const stored = async (of: string) =>
        (await fieldsOf(of)).map((row) => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== '')));
      expect([title, refused, await stored(name)]).toEqual([title, [], present]);
      const { text: file } = await service().call('GET', `/rest/entity/${name}/export?format=csv`, { cookie });
      const again = newName();
      await send(again, file);
      expect([title, await fieldsOf(again)]).toEqual([title, await fieldsOf(name)]);
    }
  });
});

describe('what spreadsheets write', () => {
  test.for(['\n', '\r\n', '\r'])('200 — rows of empty cells are none, with lines that end with %j', async (end) => {
    const { fields, refused, end: last } = await read([',,', 'a,b,c', '1,2,', ',,', '', ',', '3,,', ',,,,', ''].join(end));
    expect([fields, refused, last?.created]).toEqual([[{ a: '1', b: '2' }, { a: '3' }], [], 2]);
  });

  test('200 — in a file of one column an empty line is no row either, and "" is the empty text', async () => {
    expect((await read('a\n1\n\n""\n\n')).fields).toEqual([{ a: '1' }, { a: '' }]);
  });

  test('200 — rows whose only values are in columns called $ignore are none, and two byte order marks are as one', async () => {
    const { fields, refused } = await read('\uFEFF\uFEFFa,$ignore\n1,x\n,y\n"",z\n');
    expect([fields, refused]).toEqual([[{ a: '1' }, { a: '' }], []]);
  });

  test('200 — columns without a name count for nothing while their cells are empty', async () => {
    const { fields, refused } = await read('code,,name,,,\n1,,x,,,\n2,y,z,,,\n3,,w\n4,,v,,,u\n5,,t,,,,,\n');
    expect(refused).toEqual(['3 400 unnamed-column #2', '5 400 unnamed-column #6']);
    expect(fields).toEqual([
      { code: '1', name: 'x' },
      { code: '3', name: 'w' },
      { code: '5', name: 't' },
    ]);
  });

  test('200 — cells behind the last column are refused unless they are empty, and too few cells are', async () => {
    expect((await read('a,b\n1,2,3\n1\n1,2,\n')).refused).toEqual(['2-3 400 cell-count ']);
  });

  test('200 — a byte order mark, mixed line ends, quotes in the header and a row of 1 MB', async () => {
    const long = 'x'.repeat(1_048_576);
    const { fields, refused } = await read(`\uFEFF"a","b"\r1,2\n"3","4"\r\n"${long}",5\r6,7`);
    expect(refused).toEqual([]);
    expect(fields).toEqual([
      { a: '1', b: '2' },
      { a: '3', b: '4' },
      { a: long, b: '5' },
      { a: '6', b: '7' },
    ]);
  });

  test.for([
    ['comma', 'code;name\n1;x\n', 'semicolon'],
    ['comma', 'code\tname\n1\tx\n', 'tab'],
    ['comma', '"code";"name"\n"1";"x"\n', 'semicolon'],
    ['semicolon', '"code","name"\n1,x\n', 'comma'],
    ['semicolon', 'code,name\n1,x\n', 'comma'],
  ])('200 — a header with another delimiter than %s is refused, and the delimiter is named', async ([delimiter, file = '', other]) => {
    const declared = newName();
    await declareType(service(), declared, { properties: { code: text, name: text }, additionalProperties: false });
    for (const name of [declared, newName()]) {
      const { refused, end } = await send(name, file, `?delimiter=${delimiter}`);
      expect(refusalsOf(refused)).toEqual(['1 422 other-delimiter #1']);
      expect([refused[0]?.errors?.[0]?.detail, end?.done]).toEqual([expect.stringContaining(other ?? ''), false]);
      expect((await send(name, file, `?delimiter=${other}`)).end).toMatchObject({ done: true, created: 1 });
    }
  });

  test('200 — a field that the type declares may have a semicolon in its name', async () => {
    const name = newName();
    await declareType(service(), name, { properties: { 'a;b': text } });
    await send(name, 'a;b\n1\n');
    expect(await fieldsOf(name)).toEqual([{ 'a;b': '1' }]);
  });

  test('200, 415 — the parameters of text/csv (RFC 4180)', async () => {
    const statusOf = async (type: string) => (await send(newName(), 'a\n1\n', '', type)).status;
    for (const type of ['text/csv; header=present; charset=utf-8', 'Text/CSV;charset=UTF-8;header="present"', 'text/csv;header=present'])
      expect([type, await statusOf(type)]).toEqual([type, 200]);
    for (const type of ['text/csv; header=absent', 'text/csv; charset=iso-8859-1', 'application/x-ndjson; header=present'])
      expect([type, await statusOf(type)]).toEqual([type, 415]);
  });
});

test('200 — columns called $ignore count for nothing, also twice, and the report names what it ignored', async () => {
  const name = newName();
  const { end } = await send(name, '$ignore,a,$ignore,$createdAt,$key\nx,1,y,z,7\n');
  expect(end).toMatchObject({ done: true, created: 1, ignored: ['$ignore', '$createdAt', '$key'] });
  expect(await fieldsOf(name)).toEqual([{ a: '1' }]);
  expect((await send(name, 'a\n1\n')).end).not.toHaveProperty('ignored');
  expect(refusalsOf((await send(name, '$version,$version,$other\n1,1,1\n')).refused)).toEqual([
    '1 422 repeated /$version, unknown-field /$other',
  ]);
});

describe('csvSafe', () => {
  const texts = ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r', "'=1", "''-", "'", "'plain", 'plain'];

  test('200 — an import with csvSafe=true gives each text back; without it the apostrophes stay', async () => {
    const type = {
      properties: {
        '=cmd': text,
        title: text,
        price: { type: 'string', format: 'decimal' },
        size: { type: 'object', properties: { '+w': text } },
      },
    };
    const from = newName();
    await declareType(service(), from, type);
    const entities = texts.map((title) => ({ '=cmd': title, title, price: '-1.5', size: { '+w': title }, '@more': title }));
    for (const json of entities) await service().call('POST', `/rest/entity/${from}`, { cookie, json });
    const { text: file } = await service().call('GET', `/rest/entity/${from}/export?format=csv&csvSafe=true`, { cookie });
    expect(file.split('\r\n')[0]).toMatch(/^\$key,'=cmd,title,price,size\.\+w,\$fields,\$database=db\w+$/);
    const [safe, plain] = [newName(), newName()];
    await declareType(service(), safe, type);
    expect((await send(safe, file, '?csvSafe=true')).end).toMatchObject({ done: true, created: texts.length });
    expect(await fieldsOf(safe)).toEqual(entities);
    await send(plain, file);
    expect((await fieldsOf(plain)).map(({ title }) => title)).toEqual(
      texts.map((each) => (/^'*[=+\-@\t\r]/.test(each) ? `'${each}` : each)),
    );
  });
});
