/** Previews a patch: the fields that it would make of an entity, before anything is written. */
import { sql } from 'kysely';
import { builder } from '../../database/driver/prepared.ts';
import type { Statements } from '../../database/port.ts';
import type { Field } from '../../filter/fields.ts';
import type { Permit } from '../../rights/permit.ts';
import { prepareCovered } from '../covered-statements.ts';
import { placeOf, rowAt, type Place, type RowState } from '../find-entity.ts';
import { areLight } from '../size-classes.ts';
import { typeRevision } from '../type-revision.ts';
import { valuesAt } from './references.ts';

interface Preview extends Place {
  patch: string;
  light: boolean;
  /** JSON text of the paths to references. */
  paths: string;
}

/** The row as the patch would make it. */
export interface PreviewedRow extends RowState {
  /** The merged fields as JSON text. */
  fields: string | null;
  /** The present values at the paths, as JSON texts. */
  present: (string | null)[] | null;
}

/** The merged fields and the present references, or null if `light` is set and the entity is heavy; no row if the permit covers none. */
export const previewOne = prepareCovered<Preview, PreviewedRow>('entity.preview', (value, { coverage }) => {
  const isWanted = sql<boolean>`not ${value('light')}::boolean or ${areLight(sql`fields`)}`;
  const merged = sql<string | null>`case when ${isWanted} then json_merge_patch(fields, ${value('patch')}::jsonb)::text end`;
  const present = sql<(string | null)[] | null>`case when ${isWanted} then ${valuesAt(sql`fields`, value('paths'))} end`;
  return builder
    .selectFrom('entity')
    .where(rowAt(value, coverage))
    .select(['version', typeRevision(value('name')).as('typeRevision'), merged.as('fields'), present.as('present')])
    .compile();
});

/**
 * The fields that a merge of the patch would store, the present version, and the present values at `paths`; undefined if the permit covers no such
 * row. With `light` there are no fields for a heavy row, so that it costs little on a connection that requests share.
 */
export async function previewUpdate(
  store: Pick<Statements, 'run' | 'read'>,
  permit: Permit<'update'>,
  key: string,
  { patch, light, paths }: { patch: string; light: boolean; paths: readonly Field[] },
): Promise<PreviewedRow | undefined> {
  const values = { ...placeOf(permit, key), patch, light, paths: JSON.stringify(paths) };
  const preview = previewOne(permit);
  const [row] = await (light ? store.read(preview, values) : store.run(preview, values));
  return row;
}
