/**
 * The order of the files: first those that start processes and cause load and failures, so that none of them runs alone at the end. For
 * files that it has not run before, Vitest sorts by size, but the slowest files are short.
 */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const long = /\/test\/(database|faults|http|journeys|monitoring|races|scripts)\//;

export default class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => Number(long.test(other.moduleId)) - Number(long.test(one.moduleId)));
  }
}
