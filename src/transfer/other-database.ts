/** The parts of rows that an import refuses in a file that another database has exported: there the same keys lead to other entities (decision 278). */
import { memberAt } from '../entities/companion/values.ts';
import type { NaturalKeys } from '../entities/writing/natural-keys.ts';
import type { EntityType } from '../entity-types/types.ts';
import type { Fault } from '../problems/faults.ts';
import { pointerTo } from '../problems/pointer.ts';
import { keyHeader, versionHeader } from './columns.ts';
import type { ReadRow } from './import-row.ts';

export interface RowUse {
  type: EntityType | undefined;
  /** Whether the key names the entity that the row updates. */
  isByKey: boolean;
  /** Whether the version is the condition of the update. */
  isCondition: boolean;
  keys: NaturalKeys;
}

/** The faults of a row of another database: its key and version, where they count, and references by key. A reference by values is none. */
export async function otherDatabaseFaults(
  { fields, key, version }: ReadRow,
  { type, isByKey, isCondition, keys }: RowUse,
): Promise<Fault[]> {
  const faults: Fault[] = [];
  const refuse = (path: readonly string[], instead?: string) => {
    faults.push({ pointer: pointerTo(path), code: 'other-database', ...(instead !== undefined && { values: { instead } }) });
  };
  if (isByKey && key !== undefined) refuse([keyHeader]);
  if (isCondition && version !== undefined) refuse([versionHeader]);
  const { references = [], columns = [] } = type?.companion ?? {};
  for (const { column, to } of references) {
    const path = columns.find(({ name }) => name === column)?.field ?? [];
    if (typeof memberAt(fields, path) === 'string') refuse(path, await keys.columnsInstead(path, to));
  }
  return faults;
}
