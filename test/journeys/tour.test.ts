import { expect, test, vi } from 'vitest';
import { runDocument, stepsOf } from '../support/document-runner.ts';
import { readDocument } from '../support/markdown.ts';

vi.setConfig({ testTimeout: 120_000 });

const tour = readDocument('docs/tour.md');

test('docs/tour.md shows a type as its file has it', () => {
  const [, file = '', type] = /^```yaml\n# (\S+)\n(.*?)^```$/ms.exec(tour) ?? [];
  expect(type).toBe(readDocument(file));
});

test('the commands of docs/tour.md, run one after the other, return the documented answers', async () => {
  expect(stepsOf(tour).map(({ command }) => command)[0]).toBe('npm start');
  expect(stepsOf(tour).length).toBeGreaterThan(15);
  const { service } = await runDocument(tour);
  service.signal('SIGINT');
  expect((await service.ended).code).toBe(0);
});
