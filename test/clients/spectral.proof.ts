/** openapi.yaml breaks no rule of Spectral's set for OpenAPI, at any severity. */
import { expect, test } from 'vitest';
import { runTool } from './tools.ts';

test('Spectral finds nothing in openapi.yaml', async () => {
  const found = await runTool('spectral', 'lint', '../../openapi.yaml', '--ruleset', '.spectral.yaml', '--fail-severity', 'hint');
  expect(found).toContain('No results');
});
