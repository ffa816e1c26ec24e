/** docs/settings.md, compared with the settings that the service reads. */
import { describe, expect, test } from 'vitest';
import { readConfig } from '../../src/config/settings.ts';
import { codeOf, readDocument, tableRows } from '../support/markdown.ts';

/** Every setting that the configuration looks up. */
function settingsRead(): Set<string> {
  const names = new Set<string>();
  const environment = new Proxy<Record<string, string>>({}, { get: (_target, name) => void names.add(String(name)) });
  readConfig(environment);
  return names;
}

describe('the settings in docs/settings.md', () => {
  const rows = tableRows(readDocument('docs/settings.md')).map(([name, fallback = '']) => ({ name: codeOf(name), fallback }));

  test('are those that the service reads, and no others', () => {
    expect(rows.map(({ name }) => name).toSorted()).toEqual([...settingsRead()].toSorted());
  });

  test.each(rows.filter(({ fallback }) => fallback !== ''))('$name has the default it says', ({ name, fallback }) => {
    expect(readConfig({ [name]: codeOf(fallback) })).toEqual(readConfig({}));
  });
});
