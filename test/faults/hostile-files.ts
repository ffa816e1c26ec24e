/** Files for an import that are written to take long, or that programs read in different ways. */

export interface HostileFile {
  about: string;
  type: 'text/csv' | 'application/x-ndjson';
  text: string;
}

const csv = (about: string, text: string): HostileFile => ({ about: `CSV: ${about}`, type: 'text/csv', text });
const ndjson = (about: string, text: string): HostileFile => ({ about: `NDJSON: ${about}`, type: 'application/x-ndjson', text });
const mebibyte = 1_048_576;

/** A file as users import it. */
export const ordinaryFile = csv('customers', `name,city\n${'Analytical Engines Ltd,London\n'.repeat(20_000)}`);

export const hostileFiles: readonly HostileFile[] = [
  csv('one column', `a\n${'1\n'.repeat(20_000)}`),
  csv('rows that lack a cell', `a,b\n${'1\n'.repeat(32_700)}`),
  csv('a row of 1 MB', `a\n${'x'.repeat(mebibyte - 10)}\n`),
  csv('a quoted row of 1 MB', `a\n"${'""'.repeat(mebibyte / 2 - 10)}"\n`),
  csv('a header of 1 MB', `${Array.from({ length: 100_000 }, (_, n) => `c${n}`).join(',')}\n1\n`),
  csv('100,000 columns without a name', `${','.repeat(100_000)}\n${','.repeat(100_000)}\n`),
  csv('a byte order mark', '\ufeffa,b\n1,2\n'),
  csv('two byte order marks', '\ufeff\ufeffa\n1\n'),
  csv('semicolons', 'a;b\n1;2\n'),
  csv('mixed ends of lines', 'a,b\r\n1,2\n3,4\r5,6\r\n\r\r\n7,8'),
  csv('quotes in quotes', 'a,b\n"1 ""2"" 3",4" monitor\n"5"6,7\n"8\n9",10\n'),
  csv('an open quote', `a\n"${'x\n'.repeat(400_000)}`),
  csv('quotes alone', `a\n${'"'.repeat(500_001)}`),
  csv('odd names', '__proto__,constructor,a.b.c.d.e,$key,for(let a,*/\n1,2,3,4,5,6\n'),
  csv('one name twice', 'a,a\n1,2\n'),
  csv('NUL', 'a\n\u0000\n'),
  csv('commas alone', `a,b\n${',\n'.repeat(200_000)}`),
  csv('line ends alone', '\n'.repeat(1_000_000)),
  csv('nothing', ''),
  csv('deep names', `${'a.'.repeat(500)}b\n1\n`),
  ndjson('no JSON', 'x\n'.repeat(500_000)),
  ndjson('numbers', '1\n'.repeat(500_000)),
  ndjson('empty objects', '{}\n'.repeat(5_000)),
  ndjson('deep arrays', `{"a":${'['.repeat(200_000)}\n`.repeat(2)),
  ndjson('one line of 1 MB', `{"a":"${'x'.repeat(mebibyte - 20)}"}\n`),
  ndjson('many members', `{${Array.from({ length: 80_000 }, (_, n) => `"m${n}":1`).join()}}\n`),
  ndjson('names of prototypes', '{"__proto__":{"a":1},"constructor":{"prototype":1}}\n'.repeat(1_000)),
];
