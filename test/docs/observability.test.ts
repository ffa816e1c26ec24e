import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { schedulePeriodicWork } from '../../src/background/periodic-work.ts';
import { codeOf, readDocument, section, tableRows } from '../support/markdown.ts';
import { metricsToken, scrape } from '../support/metrics.ts';
import { useService } from '../support/service.ts';

const text = readDocument('docs/observability.md');
const dashboard = readDocument('docs/observability/grafana-dashboard.json');
const alerts = readDocument('docs/observability/alerts.yaml');
const service = useService({ METRICS_TOKEN: metricsToken });

/** The metrics that queries name, of histograms without what Prometheus adds. */
function namedIn(queries: string): Set<string> {
  const names = [...queries.matchAll(/\b(?:entity_service|nodejs|process)_\w+/g)].map(([name]) => name);
  return new Set(names.map((name) => name.replace(/_(bucket|sum|count)$/, '')));
}

const expressions = (node: unknown): string[] =>
  typeof node !== 'object' || node === null
    ? []
    : Object.entries(node).flatMap(([name, value]) => (name === 'expr' ? [String(value)] : expressions(value)));

describe('the metrics', () => {
  test('are those in docs/observability.md, with their types and labels, and no others', async () => {
    const metrics = await scrape(service().url);
    const rows = tableRows(section(text, '## Metrics')).map(([name, type = '', labels = '']) => ({ name: codeOf(name), type, labels }));
    expect(new Map(rows.map(({ name, type }) => [name, type]))).toEqual(metrics.types);
    for (const { name, type, labels: listed } of rows) {
      const wanted = [...listed.matchAll(/`(\w+)`/g)].map(([, label = '']) => label).toSorted();
      for (const sample of metrics.labels(type === 'histogram' ? `${name}_count` : name))
        expect(Object.keys(sample).toSorted(), name).toEqual(wanted);
    }
  });

  test('that the dashboard and the alert rules name are there, and all of ours are in one of the two', async () => {
    const { types } = await scrape(service().url);
    const named = namedIn([...expressions(JSON.parse(dashboard)), ...expressions(parse(alerts))].join('\n'));
    expect([...named].filter((name) => !types.has(name))).toEqual([]);
    expect([...types.keys()].filter((name) => name.startsWith('entity_service_') && !named.has(name))).toEqual([]);
  });

  test('that docs/observability.md and the dashboard name in passing are there as well', async () => {
    const { types } = await scrape(service().url);
    for (const document of [text, dashboard, alerts]) expect([...namedIn(document)].filter((name) => !types.has(name))).toEqual([]);
  });
});

test('the jobs in docs/observability.md are those of the periodic work, with their intervals, and no others', () => {
  const jobs: [string, number][] = [];
  const nothing = async () => undefined;
  const parts = { readers: { hasStandby: true, sample: nothing }, dailyBackups: { run: nothing }, rightsFiles: { compare: nothing } };
  const background = { every: (name: string, intervalMs: number) => void jobs.push([name, intervalMs]) };
  schedulePeriodicWork({ ...service().context, ...parts, background }, { renew: nothing, withdraw: nothing });
  const units: Record<string, number> = { ms: 1, s: 1_000, min: 60_000 };
  const documented = tableRows(section(text, '## Periodic work')).map(([name, interval = '']) => {
    const [count, unit = ''] = interval.split(' ');
    return [codeOf(name), Number(count) * (units[unit] ?? Number.NaN)];
  });
  expect(documented).toEqual(jobs);
});

test('the alerts in docs/observability.md are those of the rules, with their severities, and no others', () => {
  const { groups } = parse(alerts) as { groups: { rules: { alert: string; labels: { severity: string } }[] }[] };
  const rules = groups.flatMap(({ rules }) => rules.map(({ alert, labels }) => [alert, labels.severity]));
  expect(tableRows(section(text, '## Dashboard and alerts')).map(([alert, severity]) => [codeOf(alert), severity])).toEqual(rules);
});
