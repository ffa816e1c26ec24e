import { expect, test, vi } from 'vitest';
import { readDocument } from '../support/markdown.ts';
import { npmStart } from '../support/start.ts';
import { comparable, projectDirectory, runAll, stepsOf } from '../support/document-runner.ts';

vi.setConfig({ testTimeout: 120_000 });

const tour = readDocument('docs/tour.md');

test('the tour of docs/tour.md goes as it is written, command by command and answer by answer', async () => {
  const [first, ...steps] = stepsOf(tour);
  expect(first?.command).toBe('npm start');
  expect(steps.length).toBeGreaterThan(15);

  const cwd = await projectDirectory();
  const service = await npmStart({}, { cwd });
  await service.ready;
  const passwordIn = (text: string) => /^ +password +(\S+)$/m.exec(text)?.[1] ?? '';
  const [written, real] = [passwordIn(first?.expected ?? ''), passwordIn(service.told())];
  expect(written).not.toBe('');
  const asWritten = (text: string) => text.replaceAll(String(service.port), '3000').replaceAll(real, written);
  expect(asWritten(service.told()).trim()).toBe(first?.expected.trim());

  const commands = steps.map(({ command }) => command.replaceAll(written, real).replaceAll('localhost:3000', `localhost:${service.port}`));
  const answers = (await runAll(commands, cwd)).map(asWritten);

  expect(answers).toHaveLength(steps.length);
  steps.forEach(({ command, expected }, index) => {
    expect(comparable(answers[index] ?? ''), command).toBe(comparable(expected));
  });

  service.signal('SIGINT');
  expect((await service.ended).code).toBe(0);
});
