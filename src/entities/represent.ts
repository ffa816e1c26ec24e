/** Entities as the contract shows them, with their fields spliced in as the database wrote them. */
import { JsonText } from '../contract/operation.ts';
import type { components } from '../../generated/api.ts';
import type { EntityRow } from './row.ts';

export function representEntity(row: EntityRow): JsonText<components['schemas']['Entity']> {
  const created = `"createdAt":"${row.createdAt.toISOString()}","createdBy":${JSON.stringify(row.createdBy)}`;
  const updated = `"updatedAt":"${row.updatedAt.toISOString()}","updatedBy":${JSON.stringify(row.updatedBy)}`;
  return new JsonText(`{"name":"${row.name}","key":"${row.key}","version":${row.version},${created},${updated},"fields":${row.fields}}`);
}
