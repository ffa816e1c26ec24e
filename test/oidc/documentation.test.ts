/** docs/issuers.md says what is so. */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { readIssuers } from '../../src/oidc/issuers.ts';
import { refusalReasons } from '../../src/oidc/refusal.ts';
import { writeIssuersText } from '../support/issuer.ts';

const text = await readFile(new URL('../../docs/issuers.md', import.meta.url), 'utf8');

/** What the first column of the table with this heading names. */
function firstColumn(heading: string): string[] {
  const lines = text.split('\n');
  const start = lines.findIndex((line) => line.startsWith(`| ${heading} `));
  const end = lines.indexOf('', start);
  return lines.slice(start, end).flatMap((line) => /^\| `([\w-]+)`/.exec(line)?.[1] ?? []);
}

test('every reason for which a token is refused is explained, and no other', () => {
  expect(firstColumn('reason')).toEqual([...refusalReasons]);
});

test('the example is a file that the service takes', async () => {
  const [, example = ''] = /```yaml\n([^`]+)```/.exec(text) ?? [];
  const [issuer] = await readIssuers(await writeIssuersText(example), {});
  expect(issuer).toMatchObject({ id: 'corp', audience: 'entity-service', scopes: { read: 'entities:read', write: 'entities:write' } });
});

test('every member of an issuer is explained, and no other', async () => {
  const file = await writeIssuersText('issuers: [{ id: corp, other: 1 }]');
  const failure = await readIssuers(file, {}).then(() => '', String);
  const [, known = ''] = /other is not known here; known are (.+)/.exec(failure) ?? [];
  expect(firstColumn('member').toSorted()).toEqual(known.split(', '));
});
