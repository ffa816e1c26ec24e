/** The dashboard and the alert rules in a real Prometheus, configured as in docs/observability.md. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { Admission } from '../../src/admission/admission.ts';
import { found } from '../support/contract.ts';
import { TestIssuer, writeIssuers } from '../support/issuer.ts';
import { readDocument, section } from '../support/markdown.ts';
import { metricsToken } from '../support/metrics.ts';
import { startPrometheus, testRules, whyNoPrometheus, type Prometheus } from '../support/prometheus.ts';
import { password, TestService } from '../support/service.ts';

interface Dashboard {
  templating: { list: { name: string; type: string; definition?: string }[] };
  panels: { title: string; targets?: { expr: string; legendFormat: string }[] }[];
}

const { templating, panels } = JSON.parse(readDocument('docs/observability/grafana-dashboard.json')) as Dashboard;
const targets = panels.flatMap(({ title, targets = [] }) => targets.map((target) => ({ panel: title, ...target })));
const folder = join(import.meta.dirname, '../../docs/observability');
/** Escapes a host as Grafana does for a regular expression in a PromQL string. */
const escaped = (value: string) => value.replaceAll('.', String.raw`\\.`);
const reason = whyNoPrometheus();
/** The interval of scrapes and of rule evaluations. */
const interval = '500ms';
/** The interval that Grafana computes from it: at least four scrapes. */
const rateInterval = '2s';

describe.skipIf(reason)(`Prometheus${reason ? ` (skipped: ${reason})` : ''}`, () => {
  let directory: string;
  let issuer: TestIssuer;
  let service: TestService;
  let prometheus: Prometheus;
  let cookie: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'entity-service-scrape-'));
    issuer = await TestIssuer.start('corp');
    service = await TestService.start({ METRICS_TOKEN: metricsToken, ISSUERS_FILE: await writeIssuers(issuer.entry()) });
    await service.createUser('ada');
    cookie = await service.signIn('ada');
    // Of two concurrent sign-ins one is refused.
    service.context.admission = new Admission({
      cores: 1,
      schedule: (_ms, action) => {
        queueMicrotask(action);
        return () => undefined;
      },
    });
    prometheus = await startPrometheus(await documented());
  });
  afterEach(() => {
    expect(found.splice(0), 'answers that do not match openapi.yaml').toEqual([]);
  });
  afterAll(async () => {
    await prometheus.stop();
    await service.close();
    await rm(directory, { recursive: true, force: true });
  });

  /** The configuration in docs/observability.md with the paths and hosts of this test. */
  const documented = async () => {
    const token = join(directory, 'token');
    await writeFile(token, metricsToken);
    const [, text = ''] = /^```yaml\n(.*?)^```/ms.exec(section(readDocument('docs/observability.md'), '## Metrics')) ?? [];
    const given = parse(text) as { scrape_configs: [object]; rule_files: string[] };
    expect(given.scrape_configs).toHaveLength(1);
    const places = { authorization: { credentials_file: token }, static_configs: [{ targets: [new URL(service.url).host] }] };
    return {
      ...given,
      global: { scrape_interval: interval, scrape_timeout: interval, evaluation_interval: interval },
      scrape_configs: [{ ...given.scrape_configs[0], ...places }],
      rule_files: given.rule_files.map((file) => join(folder, file)),
    };
  };

  /** The traffic that a dashboard shows: reads, writes, sign-ins, and failures of each. */
  const traffic = async () => {
    const signIn = (secret: string) => service.call('POST', '/auth', { form: { user: 'ada', password: secret } });
    const authorization = `Bearer ${await issuer.mint()}`;
    await Promise.all([
      service.call('GET', '/auth', { cookie }),
      service.call('GET', '/auth', { headers: { authorization } }),
      service.call('POST', '/rest/entity/note', { cookie, json: { text: 'kept' } }),
      service.call('GET', '/rest/entity/note/none', { cookie }),
      signIn(password),
      signIn(password),
    ]);
  };

  /** Replaces variables as Grafana does if all their values are chosen. */
  const fill = async (expression: string) => {
    let filled = expression.replaceAll('$__rate_interval', rateInterval);
    for (const { name, definition } of templating.list) {
      if (definition === undefined || !filled.includes(`$${name}`)) continue;
      const [, match = '', label = ''] = /^label_values\((.+), (\w+)\)$/.exec(definition) ?? [];
      const values = await prometheus.ask<string[]>(`label/${label}/values`, { 'match[]': await fill(match) });
      filled = filled.replaceAll(`$${name}`, values.map(escaped).join('|'));
    }
    return filled;
  };

  test('has the job and the instance that the dashboard selects', async () => {
    await expect.poll(() => fill('$job at $instance')).toBe(`entity-service at ${escaped(new URL(service.url).host)}`);
  });

  test('has numbers for every line of every panel, with the labels in its legend', async () => {
    expect(targets.length).toBeGreaterThan(25);
    const incomplete = async () => {
      await traffic();
      const lacking = targets.map(async ({ panel, expr, legendFormat }) => {
        const series = (await prometheus.series(await fill(expr))).filter(({ numbers }) => numbers.length > 0);
        const shown = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label);
        const isComplete = series.length > 0 && series.every(({ metric }) => shown.every((label) => metric[label]));
        return isComplete ? [] : [{ panel, expr }];
      });
      return (await Promise.all(lacking)).flat();
    };
    await expect.poll(incomplete).toEqual([]);
  });

  test('evaluates every alert rule without an error', async () => {
    const { groups } = parse(readDocument('docs/observability/alerts.yaml')) as { groups: { rules: { alert: string }[] }[] };
    const evaluated = async () => {
      const answer = await prometheus.ask<{ groups: { rules: { name: string; health: string; lastError?: string }[] }[] }>('rules');
      return answer.groups.flatMap(({ rules }) => rules.map(({ name, health, lastError }) => ({ name, health, lastError })));
    };
    const healthy = groups.flatMap(({ rules }) => rules.map(({ alert }) => ({ name: alert, health: 'ok' })));
    await expect.poll(evaluated).toEqual(healthy);
  });

  test('raises each alert in its own situation only: docs/observability/alerts.test.yaml', async () => {
    await testRules(join(folder, 'alerts.test.yaml'));
  });
});
