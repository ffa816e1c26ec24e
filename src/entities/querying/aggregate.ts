/** Aggregations: numbers over the entities of a name, in groups. */
import type { components } from '../../../generated/api.ts';
import { readableCompanion, type Companion } from '../companion/layout.ts';
import { bindToColumns, bindToEntities, type BoundFields } from '../companion/fields.ts';
import { JsonText } from '../../contract/operation.ts';
import { refusedValue } from '../../database/failure.ts';
import type { Reads } from '../../database/standby/readers.ts';
import { Problem } from '../../problems/errors.ts';
import { testsOf } from '../../filter/syntax.ts';
import type { Permit } from '../../rights/permit.ts';
import type { AggregateRequest } from './aggregate-request.ts';
import { aggregateQuery, type GroupRow } from './aggregate-statements.ts';
import { aggregatedRows } from './column-statements.ts';
import { followMatches } from './match.ts';
import { splitKeys } from './bind.ts';
import { selectRows } from './list-statements.ts';
import { shownCompanion, shownRows } from '../shown-rows.ts';
import { withinTimeLimit } from './time-limit.ts';

/** In milliseconds, since an aggregation reads all entities that the filter finds. A test lowers it. */
export const aggregateLimits = { timeMs: 5_000 };

type AggregatedBody = components['schemas']['EntityAggregated'];

/**
 * Reads the groups. Throws 422 `query-too-expensive` for fields without an index, 422 `validation-failed` for a search of a type without
 * texts to search, and 503 `busy` for what takes too long.
 */
export async function aggregateEntities(
  reads: Reads,
  permit: Permit<'read'>,
  request: AggregateRequest,
  stored: Companion | null | undefined,
): Promise<JsonText<AggregatedBody>> {
  const companion = (stored && readableCompanion(stored)) ?? undefined;
  const shown = companion && shownCompanion(companion, permit.view);
  assertIndexed(request, bindToColumns(companion), shown?.search !== undefined);
  const hasColumns = fieldsOf(request).every(({ field, type }) => bindToColumns(shown).of(field, type).column !== undefined);
  // A field that some rows hide has no column for this caller, but it is in the rows.
  const fields = hasColumns ? bindToColumns(shown) : bindToEntities(shown);
  try {
    const groups = await withinTimeLimit({ pointer: '' }, () =>
      reads.readOnly(aggregateLimits.timeMs, async (run) => {
        const filter = await followMatches(run, request.filter, request.targets);
        const rows = hasColumns
          ? aggregatedRows(fields, permit, filter, fieldsOf(request).length > 0)
          : selectRows({ ...shownRows(permit), fields, ...splitKeys(filter) });
        return await run(aggregateQuery(rows, fields, request), 'any');
      }),
    );
    return represent(groups, request, permit);
  } catch (error) {
    const at = request.groups.findIndex(({ zone }) => zone !== 'UTC');
    if (at === -1 || !refusedValue(error)) throw error;
    // Node.js knows the time zone, and PostgreSQL does not.
    throw new Problem('validation-failed', { faults: [{ pointer: `/groupBy/${at}/zone`, code: 'invalid-value' }], cause: error });
  }
}

const fieldsOf = ({ groups, measures }: AggregateRequest) => [...groups, ...measures.filter((measure) => measure.of !== 'count')];

function assertIndexed(request: AggregateRequest, bound: BoundFields, isSearchable: boolean): void {
  if (testsOf(request.filter).some(({ kind }) => kind === 'search') && !isSearchable)
    throw new Problem('validation-failed', { faults: [{ pointer: '/search', code: 'not-filterable' }] });
  const faults = fieldsOf(request)
    .filter(({ field, type }) => !bound.of(field, type).column)
    .map(({ field, pointer }) => ({ pointer, code: 'needs-index' as const, values: { fields: field.join('.') } }));
  if (faults.length > 0) throw new Problem('query-too-expensive', { faults });
}

function represent(
  rows: readonly GroupRow[],
  { groups, measures, limit }: AggregateRequest,
  { coverage }: Permit<'read'>,
): JsonText<AggregatedBody> {
  const members = (names: readonly string[], values: readonly (string | null)[]) =>
    names.map((name, index) => `${JSON.stringify(name)}:${values[index] ?? 'null'}`);
  const paths = groups.map(({ path }) => path);
  const names = measures.map(({ name }) => name);
  const texts = rows
    .slice(0, limit)
    .map((row) => `{${[`"key":{${members(paths, row.key).join(',')}}`, ...members(names, row.measures)].join(',')}}`);
  return new JsonText(
    `{"groups":[${texts.join(',')}],"complete":${rows.length <= limit}${coverage.kind === 'all' ? '' : ',"partial":true'}}`,
  );
}
