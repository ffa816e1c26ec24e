import { expect, test, vi } from 'vitest';
import { runDocument, stepsOf } from '../support/document-runner.ts';
import { readDocument } from '../support/markdown.ts';

vi.setConfig({ testTimeout: 120_000 });

const concepts = readDocument('docs/concepts.md');

test('the commands of docs/concepts.md, run one after the other, return the documented answers', async () => {
  expect(stepsOf(concepts).length).toBeGreaterThan(10);
  const { service } = await runDocument(concepts);
  service.signal('SIGINT');
  expect((await service.ended).code).toBe(0);
});
