import { expect, test } from 'vitest';
import { problemFacts } from '../../src/problems/errors.ts';
import { catalogues } from '../../src/locales/describe.ts';
import { codeOf, readDocument, section, tableRows } from '../support/markdown.ts';
import { useService } from '../support/service.ts';

const text = readDocument('docs/errors.md');
const service = useService();

test('docs/errors.md lists every problem code with its status, and no other', () => {
  const rows = tableRows(section(text, '## Problem codes'));
  expect(rows.map(([code, status]) => [codeOf(code), Number(status)])).toEqual(
    Object.entries(problemFacts).map(([code, { status }]) => [code, status]),
  );
  for (const row of rows) expect(row.slice(2), codeOf(row[0])).toEqual([expect.stringMatching(/\.$/), expect.stringMatching(/\.$/)]);
});

test('docs/errors.md lists every fault code, and no other', () => {
  const rows = tableRows(section(text, '## Codes in `errors`'));
  expect(rows.map(([code]) => codeOf(code))).toEqual(Object.keys(catalogues.en.faults));
});

test('the example of docs/errors.md is what the service answers', async () => {
  const example = JSON.parse(/```json\n([^`]+)```/.exec(text)?.[1] ?? '') as Record<string, unknown>;
  const answer = await service().call('POST', '/auth', { form: { usr: 'ada', password: 'guess' } });
  expect(answer.body).toMatchObject({ ...example, instance: expect.any(String), errors: expect.arrayContaining(example['errors'] as []) });
});

test.each(Object.keys(problemFacts))('the type of %s is the address of its texts', async (code) => {
  const answer = await service().call<Record<string, unknown>>('GET', `/problems/${code}`, { headers: { 'accept-language': 'de' } });
  expect(answer.status).toBe(200);
  const { title } = catalogues.de.problems[code as keyof typeof problemFacts];
  expect(answer.body).toMatchObject({ code, status: problemFacts[code as keyof typeof problemFacts].status, title });
});

test('404 — a code that does not exist has no page', async () => {
  expect((await service().call('GET', '/problems/toString')).status).toBe(404);
});
