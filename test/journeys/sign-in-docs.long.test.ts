import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { fixedPort } from '../support/fixed-port.ts';
import { loginClient, TestIssuer } from '../support/issuer.ts';
import { readDocument } from '../support/markdown.ts';
import { npmStart } from '../support/start.ts';
import { comparable, projectDirectory, runAll, stepsOf } from '../support/document-runner.ts';

vi.setConfig({ testTimeout: 120_000 });

const tour = readDocument('docs/sign-in.md');
const port = await fixedPort();
const corp = await TestIssuer.start('corp', undefined, { publicUrl: `http://localhost:${port}` });

const blockOf = (language: string) => new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'ms').exec(tour)?.[1] ?? '';

/** The last cookie that the answer sets, such as the session's. */
const cookieOf = (answer: Response) => answer.headers.getSetCookie().at(-1)?.split(';')[0] ?? '';

test('the commands of docs/sign-in.md sign in with a provider and return the documented answers', async () => {
  const steps = stepsOf(tour);
  const start = steps.findIndex(({ command }) => command === 'npm start');
  expect(start).toBe(2);
  expect(steps.length).toBeGreaterThan(10);

  const { accessToken } = await corp.signIn('24400320');
  const real: [string, string][] = [
    ['what-the-provider-has-given-you', loginClient.secret],
    ['what-the-provider-has-given-the-program', accessToken],
    ['https://login.example.com', corp.url],
    ['localhost:3000', `localhost:${port}`],
    ['localhost%3A3000', `localhost%3A${port}`],
  ];
  const asRun = (text: string) => real.reduce((result, [written, value]) => result.replaceAll(written, value), text);
  const asWritten = (text: string) => real.reduce((result, [written, value]) => result.replaceAll(value, written), text);

  const cwd = await projectDirectory();
  // The provider has no certificate, and another program may use port 3000.
  await writeFile(join(cwd, 'issuers.yaml'), asRun(blockOf('yaml')).replace('algorithms:', 'allowInsecureHttp: true\n    algorithms:'));
  await appendFile(join(cwd, '.env'), `PORT=${port}\n`);
  const commands = steps.map(({ command }) => asRun(command));
  const before = await runAll(commands.slice(0, start), cwd);
  const service = await npmStart({}, { cwd, port });
  await service.ready;
  const answers = [...before, '', ...(await runAll(commands.slice(start + 1), cwd))];
  expect(answers).toHaveLength(steps.length);
  steps.forEach(({ command, expected }, index) => {
    expect(comparable(asWritten(answers[index] ?? '')), command).toBe(comparable(expected));
  });

  const [, startUrl = ''] = /<(http:\S+\/start\?return_to=\/docs)>/.exec(tour) ?? [];
  const left = await fetch(asRun(startUrl), { redirect: 'manual' });
  expect(left.status).toBe(303);
  const back = await fetch(await corp.visit(left.headers.get('location') ?? '', '24400320'), {
    redirect: 'manual',
    headers: { cookie: cookieOf(left) },
  });
  expect([back.status, back.headers.get('location')]).toEqual([303, '/docs']);
  const headers = {
    cookie: back.headers
      .getSetCookie()
      .map((line) => line.split(';')[0])
      .join('; '),
  };
  const shown = await fetch(`${service.url}/auth`, { headers });

  expect(comparable(asWritten(await shown.text()))).toBe(comparable(blockOf('json')));

  expect(tour).toContain("fetch('/auth?logout=1', { method: 'HEAD' })");
  expect((await fetch(`${service.url}/auth?logout=1`, { method: 'HEAD', headers })).status).toBe(204);
  expect((await fetch(`${service.url}/auth`, { headers })).status).toBe(401);

  service.signal('SIGINT');
  expect((await service.ended).code).toBe(0);
});
