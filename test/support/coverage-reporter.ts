/**
 * Fails a full run in which an operation did not answer with each status that openapi.yaml declares for it. `contract.ts` records the
 * answers. The exceptions are in `test/contract/uncovered.json`, which may only get shorter. Runs of a part of the suite are not checked.
 */
import { readFileSync } from 'node:fs';
import type { Reporter, TestSpecification, Vitest } from 'vitest/node';
import { operationsOf, readContract } from '../../src/contract/contract.ts';
import { readUncovered, uncoveredFile } from './uncovered.ts';

export default class CoverageReporter implements Reporter {
  private vitest: Vitest | undefined;
  private full = false;

  onInit(vitest: Vitest): void {
    this.vitest = vitest;
  }

  async onTestRunStart(specifications: readonly TestSpecification[]): Promise<void> {
    const all = (await this.vitest?.globTestSpecifications()) ?? [];
    this.full = specifications.length === all.length && !this.vitest?.config.testNamePattern;
  }

  onTestRunEnd(): void {
    const file = process.env['CONTRACT_COVERAGE_FILE'];
    if (!this.full || !file) return;
    const lines = complaints(new Set(readFileSync(file, 'utf8').split('\n')), readUncovered());
    if (lines.length === 0) return;
    this.vitest?.logger.error(`\n${lines.join('\n')}\n`);
    // The closing line counts such a run as failed.
    process.exitCode = 1;
  }
}

/** What to do about the pairs of operation and status (`getEntity 404`) that no test got, and about exceptions that a test got. */
export function complaints(exercised: ReadonlySet<string>, uncovered: Readonly<Record<string, string>>): string[] {
  const declared = operationsOf(readContract().document).flatMap(({ operationId, responses }) =>
    Object.keys(responses).map((status) => `${operationId} ${status}`),
  );
  const missing = declared.filter((pair) => !exercised.has(pair) && !Object.hasOwn(uncovered, pair));
  const stale = Object.keys(uncovered).filter((pair) => exercised.has(pair));
  return [
    ...section(
      missing,
      'openapi.yaml declares these answers, and no test got one. Write the test, or take the status out of the document:',
    ),
    ...section(stale, `Tests get these answers now. Take them out of ${uncoveredFile}, so that the list gets shorter:`),
  ];
}

const section = (pairs: readonly string[], heading: string) => (pairs.length === 0 ? [] : [heading, ...pairs.map((pair) => `  ${pair}`)]);
