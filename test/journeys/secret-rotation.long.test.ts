/** Secrets in files change while two workers are under load: each worker finds the new content by its own timer. */
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { newDataDir } from '../support/embedded.ts';
import { metricsToken } from '../support/metrics.ts';
import { credentialsIn, npmStart, signIn } from '../support/start.ts';

const [oldPepper, newPepper] = ['2026:Kb7cq0wXn4Yt8uRz2Lm5Pv1Js6Hd3Gf9', '2027:q2Wm9Zt4Xc7Vb1Nk5Ph8Jd3Fs6Ga0Ly-'];
const nextToken = 'another-token-for-scraping-0123456789';
const patient = { interval: 50, timeout: 30_000 };

test(
  '200 — pepper and token of Prometheus change in all workers: no request fails, and no session ends (rule 87)',
  { timeout: 120_000 },
  async () => {
    const directory = await mkdtemp(join(tmpdir(), 'entity-service-rotation-'));
    onTestFinished(() => rm(directory, { recursive: true }));
    const [peppers, tokens] = [join(directory, 'peppers'), join(directory, 'tokens')];
    const replace = async (file: string, ...lines: string[]) => {
      await writeFile(`${file}.new`, lines.join('\n'));
      await rename(`${file}.new`, file);
    };
    await replace(peppers, oldPepper);
    await replace(tokens, metricsToken);
    const service = await npmStart({
      DATA_DIR: await newDataDir(),
      WORKERS: '2',
      PASSWORD_PEPPER_FILE: peppers,
      METRICS_TOKEN_FILE: tokens,
      RATE_LIMIT: 'off',
    });
    await service.ready;
    const { user, password } = credentialsIn(service.told()) ?? { user: '', password: '' };
    // Without repeats, which would hide a refusal.
    const login = () => signIn(service, user, password, { retry: false });
    const client = await login();

    let token = metricsToken;
    let requests = 0;
    const over = new AbortController();
    const scrape = async (shown: string) =>
      (await fetch(`${service.url}/metrics`, { headers: { authorization: `Bearer ${shown}`, connection: 'close' } })).status;
    const repeat = async (request: () => Promise<unknown>) => {
      while (!over.signal.aborted) {
        await request();
        requests += 1;
      }
    };
    const load = [
      repeat(() => client.getSession()),
      repeat(() => client.entities('note').create({})),
      repeat(async () => (await login()).endSession()),
      repeat(async () => expect(await scrape(token)).toBe(200)),
    ];
    const more = async () => {
      const before = requests;
      await expect.poll(() => requests, patient).toBeGreaterThan(before + 40);
    };
    /** Each worker logs it. */
    const changed = async (file: string, times: number) =>
      await expect
        .poll(() => service.log().filter((line) => line['event'] === 'secret.changed' && line['file'] === file).length, patient)
        .toBe(2 * times);
    await more();
    await replace(tokens, metricsToken, nextToken);
    await replace(peppers, oldPepper, newPepper);
    await Promise.all([changed('METRICS_TOKEN_FILE', 1), changed('PASSWORD_PEPPER_FILE', 1)]);
    token = nextToken;
    await replace(peppers, newPepper, oldPepper);
    await changed('PASSWORD_PEPPER_FILE', 2);
    await more();
    await replace(tokens, nextToken);
    await replace(peppers, newPepper);
    await Promise.all([changed('METRICS_TOKEN_FILE', 2), changed('PASSWORD_PEPPER_FILE', 3)]);
    await more();
    over.abort();
    await Promise.all(load);
    expect(await scrape(metricsToken)).toBe(401);
    service.signal('SIGTERM');
    expect((await service.ended).code).toBe(0);
  },
);
