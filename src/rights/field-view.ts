/** The fields of entities that a permit shows and lets its caller write. Nothing outside of this folder knows what a part of them is. */
import { sql, type RawBuilder } from 'kysely';
import { allRows, digestOf, type Coverage } from './coverage.ts';

/** Some of the fields. */
export interface PartialView {
  kind: 'part';
  /** Letters and digits. Views with the same digest have the same SQL. */
  digest: string;
  /** SQL: the shown ones of `fields`, as `jsonb`. */
  cut(fields: RawBuilder<unknown>): RawBuilder<unknown>;
  /** Whether the caller may write the member with this name. */
  isWritable(name: string): boolean;
}

export type FieldView = { kind: 'whole' } | PartialView;

export const wholeView: FieldView = { kind: 'whole' };

/** SQL: the shown fields of a row with a column `fields`. It is in every statement that answers with the fields of entities. */
export function shownFields(view: FieldView): RawBuilder<unknown> {
  return view.kind === 'whole' ? sql`fields` : view.cut(sql`fields`);
}

/** The digest by which statements of the view differ. */
export const digestOfView = (view: FieldView): string => (view.kind === 'whole' ? '' : view.digest);

/** The rows and the fields of a permit. */
export interface EntityRights {
  coverage: Coverage;
  view: FieldView;
}

export const fullRights: EntityRights = { coverage: allRows, view: wholeView };

/** The digest by which statements of these rights differ: that of the rows, and of the fields if the view is a part. */
export function digestOfRights({ coverage, view }: EntityRights): string {
  return view.kind === 'whole' ? digestOf(coverage) : `${digestOf(coverage)}.${digestOfView(view)}`;
}
