/** CONTRIBUTING.md, compared with package.json. */
import { expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { codeOf, readDocument, section, tableRows } from '../support/markdown.ts';

test('the scripts in CONTRIBUTING.md are those of package.json, and no others', () => {
  const names = tableRows(section(readDocument('CONTRIBUTING.md'), '## Scripts')).map(([command]) =>
    codeOf(command).replace(/^npm (run )?/, ''),
  );
  expect(names.toSorted()).toEqual(Object.keys(packageJson.scripts).toSorted());
});
