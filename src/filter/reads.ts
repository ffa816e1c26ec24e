/** The fields, variables and references of a filter. */
import { isDeepStrictEqual } from 'node:util';
import { comparedFields, testsOf, type Filter, type Test } from './syntax.ts';
import type { Field } from './fields.ts';

export interface FilterReads {
  /** Of the entities that it is about, each once; references and members of the envelope are among them. */
  fields: readonly Field[];
  /** The variables that it names, also behind references; not `now` and `today`. */
  variables: readonly string[];
  /** The entities at the other ends of references. */
  related: readonly RelatedReads[];
}

interface RelatedReads {
  /** The name of these entities. */
  name: string;
  /** The reference: a field of this entity for `$match`, of the other ones for `$some` and `$none`. */
  reference: Field;
  isReferrer: boolean;
  reads: FilterReads;
}

/** The fields, variables and references of a filter that `parseFilter` has returned. */
export function readsOf(filter: Filter): FilterReads {
  const tests = testsOf(filter);
  const related = tests.flatMap(relatedOf);
  const fields = tests.flatMap((test) => comparedFields(test).map(({ field }) => field));
  const own = tests.flatMap((test) => ('operand' in test && test.operand.kind === 'variable' ? [test.operand.name] : []));
  return {
    fields: fields.filter((field, index) => fields.findIndex((each) => isDeepStrictEqual(each, field)) === index),
    variables: [...new Set([...own, ...related.flatMap(({ reads }) => reads.variables)])],
    related,
  };
}

function relatedOf(test: Test): RelatedReads[] {
  switch (test.kind) {
    case 'match':
      return [{ name: test.to, reference: test.field, isReferrer: false, reads: readsOf(test.of) }];
    case 'some':
      return [{ name: test.name, reference: test.by, isReferrer: true, reads: readsOf(test.of) }];
    default:
      return [];
  }
}
