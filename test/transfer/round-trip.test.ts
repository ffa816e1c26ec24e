/** Random entities, exported and imported into another name, are the same: as NDJSON and as CSV, with a type and without one. */
import * as fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { declareType, rowsOf, seed } from '../support/entities.ts';
import { useService } from '../support/service.ts';

const service = useService();
let cookie: string;
let key = 1_000_000;
let number = 0;
beforeAll(async () => {
  cookie = await service().openSession((await service().createUser('ada')).id);
});

const texts = fc
  .oneof(
    fc.constantFrom(
      '',
      '\\N',
      '"',
      ',',
      ';',
      '\t',
      '\r\n',
      '\n',
      '\r',
      "'",
      ' ',
      '=1+1',
      'null',
      'true',
      '1.50',
      '{}',
      '\uFEFF',
      '𝔘',
      '9007199254740993',
      '[',
      '-',
    ),
    fc.string({ unit: 'grapheme', maxLength: 8 }).filter((text) => !text.includes('\0')),
  )
  .map((text) => JSON.stringify(text));
const numbers = fc.constantFrom('0', '-1', '1.50', '10.00', '123456789012345', '0.1', '1e3', '-0.5e-3');
const leaves = fc.oneof(texts, numbers, fc.constantFrom('null', 'true', 'false', '[]', '{}'));
const { value: values } = fc.letrec<{ value: string; object: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', maxDepth: 2 },
    leaves,
    fc.array(tie('value'), { maxLength: 3 }).map((items) => `[${items.join()}]`),
    tie('object'),
  ),
  object: fc.dictionary(fc.constantFrom('text', 'a', 'b.c', '$key', 'x y'), tie('value'), { maxKeys: 3 }).map(objectText),
}));
const objects = fc
  .record(
    {
      text: fc.oneof(texts, values),
      decimal: fc.oneof(fc.constantFrom('"1.50"', '"-0.10"'), values),
      int64: fc.oneof(fc.constantFrom('"9007199254740993"', '"-1"'), values),
      number: fc.oneof(numbers, values),
      flag: values,
      list: values,
      any: values,
      inner: fc.oneof(fc.record({ text: texts, number: numbers, other: values }, { requiredKeys: [] }).map(objectText), values),
      'with.dot': values,
      other: values,
    },
    { requiredKeys: [] },
  )
  .map(objectText);

function objectText(members: Record<string, string>): string {
  return `{${Object.entries(members)
    .map(([name, text]) => `${JSON.stringify(name)}:${text}`)
    .join()}}`;
}

const text = { type: 'string' };
const type = {
  type: 'object',
  properties: {
    text,
    decimal: { type: 'string', format: 'decimal' },
    int64: { type: 'string', format: 'int64' },
    number: { type: 'number' },
    flag: { type: 'boolean' },
    list: { type: 'array' },
    any: {},
    inner: { type: 'object', properties: { text, number: { type: 'number' } } },
    'with.dot': text,
  },
};

test.for([
  ['ndjson', 'application/x-ndjson'],
  ['csv', 'text/csv'],
])('nothing is lost as %s', async ([format, mediaType]) => {
  await fc.assert(
    fc.asyncProperty(fc.array(objects, { minLength: 5, maxLength: 40 }), fc.boolean(), async (entities, isDeclared) => {
      const [from, to] = [`from${++number}`, `to${number}`];
      for (const fields of entities) await seed(service(), from, String(++key), fields, 'ada');
      // What does not fit the type comes back all the same; the name of the import has none, or has columns that take it.
      if (isDeclared) await declareType(service(), from, type);
      const { text: file } = await service().call('GET', `/rest/entity/${from}/export?format=${format}`, { cookie });
      if (isDeclared)
        await declareType(service(), to, {
          ...type,
          properties: Object.fromEntries(Object.entries(type.properties).map(([name, schema]) => [name, schema])),
        });
      const { text: report } = await service().call('POST', `/rest/entity/${to}/import`, {
        cookie,
        headers: { 'content-type': mediaType ?? '' },
        raw: file,
      });
      const refused = new Set(
        report
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line) as { row: number; toRow?: number; done?: boolean })
          .filter(({ done }) => done === undefined)
          .flatMap(({ row, toRow = row }) => Array.from({ length: toRow - row + 1 }, (_, index) => row + index))
          .map((row) => row - (format === 'csv' ? 2 : 1)),
      );
      const stored = (await rowsOf(service(), from)).filter((_, index) => !refused.has(index)).map(({ fields }) => fields);
      expect((await rowsOf(service(), to)).map(({ fields }) => fields)).toEqual(stored);
      if (!isDeclared) expect(refused.size).toBe(0);
    }),
    { numRuns: 6 },
  );
});
