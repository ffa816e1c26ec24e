/** Entities as the contract shows them, with their fields spliced in as the database wrote them. */
import { JsonText } from '../contract/operation.ts';
import type { components } from '../../generated/api.ts';
import { instantOf } from '../database/timestamp.ts';
import type { EntityRow, TrashedRow } from './row.ts';

export function representEntity(row: EntityRow & Partial<TrashedRow>): JsonText<components['schemas']['Entity']> {
  const created = `"createdAt":"${instantOf(row.createdAt)}","createdBy":${JSON.stringify(row.createdBy)}`;
  const updated = `"updatedAt":"${instantOf(row.updatedAt)}","updatedBy":${JSON.stringify(row.updatedBy)}`;
  const { deletedAt, deletedBy, expiresAt } = row;
  const deleted =
    deletedAt && expiresAt
      ? `"deletedAt":"${deletedAt.toISOString()}","deletedBy":${JSON.stringify(deletedBy)},"expiresAt":"${expiresAt.toISOString()}",`
      : '';
  return new JsonText(
    `{"name":"${row.name}","key":"${row.key}","version":${row.version},${created},${updated},${deleted}"fields":${row.fields}}`,
  );
}
