/** The key of the entity that has a unique value already, for a caller who may read that entity (rule 154, decision 287). */
import { builder } from '../../database/driver/prepared.ts';
import type { Statements } from '../../database/port.ts';
import { labelColumn } from '../companion/layout.ts';
import { isShown } from '../shown-rows.ts';
import { coveredKey } from './upsert-statements.ts';
import { UniqueConflict, whileTableExists } from './violations.ts';

/**
 * Runs `work`, which must have ended its transaction. The faults of a {@link UniqueConflict} get the key of the other entity, if the caller's grants and scopes
 * of `read` cover it and show the value, and it still has that. They get its name too, if the caller sees all fields of it in every row. The statement is the same for every caller, so its time tells nothing.
 */
export async function namingConflict<T>(store: Pick<Statements, 'query'>, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof UniqueConflict ? await namedConflict(store, error) : error;
  }
}

async function namedConflict(store: Pick<Statements, 'query'>, conflict: UniqueConflict): Promise<UniqueConflict> {
  const { unique, write } = conflict;
  const { layout, values, permit } = write;
  const findable = permit.findable(permit.entity);
  const { coverage, view } = findable ?? permit;
  const query = coveredKey({ entity: permit.entity, coverage, view }, layout, unique, values, write.key).compile(builder);
  const found = await whileTableExists(layout, () => store.query(query));
  const [other] = (findable && found) ?? [];
  if (!other) return conflict;
  const isNamed = labelColumn(layout)?.label?.every((part) => isShown(view, part)) === true;
  const named = { key: other.key, ...(isNamed && other.label && { label: other.label }) };
  return conflict.withFaults(
    conflict.faults.map((fault) => ({ ...fault, code: 'duplicate-value', values: { ...fault.values, ...named } })),
  );
}
