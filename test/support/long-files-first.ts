/**
 * The order of the files: first those that start processes, crowd the service and break it, so that none of them is left to run alone in the
 * end. Vitest goes by size where it has not run them before, and the longest are short texts.
 */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const long = /\/test\/(database|faults|journeys|ops|races|scripts)\//;

export default class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => Number(long.test(other.moduleId)) - Number(long.test(one.moduleId)));
  }
}
