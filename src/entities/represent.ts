/** Entities as the contract shows them, with their fields spliced in as the database wrote them. */
import { JsonText } from '../contract/operation.ts';
import type { components } from '../../generated/api.ts';
import type { EntityRow } from './row.ts';
import type { TrashedRow } from './trash.ts';

export function representEntity(row: EntityRow & Partial<TrashedRow>): JsonText<components['schemas']['Entity']> {
  const created = `"createdAt":"${row.createdAt.toISOString()}","createdBy":${JSON.stringify(row.createdBy)}`;
  const updated = `"updatedAt":"${row.updatedAt.toISOString()}","updatedBy":${JSON.stringify(row.updatedBy)}`;
  const { deletedAt, deletedBy, expiresAt } = row;
  const deleted =
    deletedAt && expiresAt
      ? `"deletedAt":"${deletedAt.toISOString()}","deletedBy":${JSON.stringify(deletedBy)},"expiresAt":"${expiresAt.toISOString()}",`
      : '';
  return new JsonText(
    `{"name":"${row.name}","key":"${row.key}","version":${row.version},${created},${updated},${deleted}"fields":${row.fields}}`,
  );
}
