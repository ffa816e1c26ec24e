import { globSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { auditEvents } from '../../src/audit/store.ts';
import { problemEvents } from '../../src/audit/problem-events.ts';
import { section } from '../support/markdown.ts';

const root = new URL('../../', import.meta.url);
const read = (file: string) => readFileSync(new URL(file, root), 'utf8');

const documented = section(read('docs/audit.md'), '## Events')
  .split('\n')
  .flatMap((line) => /^\| `([a-z_.]+)` +\|/.exec(line)?.[1] ?? []);
const sources = globSync('src/**/*.ts', { cwd: root }).filter((file) => file !== 'src/audit/store.ts');
const code = sources.map(read).join('\n');

describe('the events of the audit trail', () => {
  test('are each explained once in docs/audit.md, and no others are', () => {
    expect([...documented].sort()).toEqual([...auditEvents].sort());
  });

  test.each(auditEvents)('%s is written by the code', (event) => {
    expect(code).toContain(`'${event}'`);
  });

  test('that any client can cause have their bound in docs/audit.md', () => {
    const bounded = Object.values(problemEvents).map(({ event }) => event);
    const bounds = read('docs/audit.md').split('### What bounds each event')[1]?.split('\n| `login.locked`')[0] ?? '';
    expect(bounded.length).toBeGreaterThan(3);
    for (const event of [...bounded, 'login.throttled', 'api_key.refused']) expect(bounds).toContain(`\`${event}\``);
  });
});
