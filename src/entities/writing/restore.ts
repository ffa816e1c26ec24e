/**
 * Gives an entity the fields of an earlier version again, or brings it back from the trash, with the changes of a merge patch: a new version, under the
 * caller's precondition and the rules of the type as it is now.
 */
import { sql } from 'kysely';
import type { Caller } from '../../authn/caller.ts';
import { builder, prepare } from '../../database/driver/prepared.ts';
import type { Statements } from '../../database/port.ts';
import { Problem } from '../../problems/errors.ts';
import { wholeView } from '../../rights/field-view.ts';
import type { Permit } from '../../rights/permit.ts';
import { findVersion } from '../history/history.ts';
import { referencePaths, requireReferences } from './references.ts';
import { refusalOf } from './refusal.ts';
import type { EntityRow } from '../row.ts';
import { inRounds } from './rounds.ts';
import { allowChange, type Guard } from './rules.ts';
import { executeAlone } from './execute.ts';
import { stateOfTrashed } from '../trash.ts';
import { judgeMerge, namesIn } from './judge.ts';
import type { Writes } from './update.ts';
import { previewUpdate } from './preview.ts';
import { stateOf } from '../find-entity.ts';

export interface Restoration extends Guard {
  /** The version whose fields the entity gets, and the permit to read it; undefined for the fields that it has in the trash. */
  from: { version: string; read: Permit<'read'> } | undefined;
  /** The permit to see the entity in the trash; undefined for a caller without the right. */
  trash: Permit<'update'> | undefined;
  /** What else changes: JSON text of a merge patch; undefined for nothing. */
  patch: string | undefined;
  /** How long versions are kept, as an interval. */
  keep: string;
  /** The most bytes of the fields as PostgreSQL writes them. */
  limitBytes: number;
}

/**
 * Restores the version and returns the row as it then is. Throws
 * - 400: the entity is live, and `version` is missing.
 * - 403, 404: the permit covers no such entity, live or in the trash ({@link refusalOf}).
 * - 404: the history has no such version that the caller may read.
 * - 409, 422: the fields do not fit the type as it is now, or have a reference that is new and leads to an entity that the caller may not read.
 * - 412, 428: as an update.
 * - 413: the fields are too large.
 * - 503 `busy`: others are always faster.
 */
export async function restoreEntity(
  { store, admission, types }: Writes,
  permit: Permit<'update'>,
  caller: Caller,
  key: string,
  { from, trash, patch, keep, limitBytes, ...guard }: Restoration,
): Promise<EntityRow> {
  return await admission.run('heavy-write', { flow: permit.userName, caller }, async () => {
    const old = from && (await findVersion(store, from.read, key, from.version, keep));
    if (from && !old) throw new Problem('not-found');
    const whole = from && permit.change && (await findVersion(store, { ...from.read, view: wholeView }, key, from.version, keep));
    // The version hides these from the caller.
    const staying = old && whole ? namesIn(whole.fields).filter((name) => !namesIn(old.fields).includes(name)) : [];
    return await inRounds(async () => {
      const live = await stateOf(store, permit, key);
      const trashed = live || !trash ? undefined : await stateOfTrashed(store, trash, key);
      const state = live ?? trashed;
      const restored = (old ?? trashed)?.fields;
      if (!state) throw await refusalOf(store, permit, key);
      if (restored === undefined) throw new Problem('malformed-request', { faults: [{ parameter: 'version', code: 'required' }] });
      const wanted = patch === undefined ? restored : await mergedText(store, restored, patch);
      const type = await types.at(permit.entity, state.typeRevision);
      const paths = live ? referencePaths(permit, type?.companion) : [];
      const look = { light: false, paths, isTrash: trashed !== undefined };
      const named = patch === undefined ? [] : namesIn(patch);
      const judged = permit.change && (await judgeMerge(store, permit, permit.change, { key, merged: wanted, staying, named }, look));
      if (judged && judged.version !== state.version) return undefined;
      const text = judged?.fields ?? wanted;
      const { judgement } = judged ?? {};
      const checked = allowChange({ judgement, type, guard, state, next: { text, limitBytes, isStoredText: true } });
      const looked =
        paths.length > 0 && !judged ? await previewUpdate(store, permit, key, { patch: '{}', light: false, paths }) : undefined;
      const seen = judged ?? looked;
      // The references are compared with those of the version that is replaced.
      if (paths.length > 0 && seen?.version !== state.version) return undefined;
      await requireReferences(store, permit, checked.companion, { judgement, present: seen?.present });
      const merge = { patch: text, versions: [state.version], limitBytes, ...checked, judgement };
      const statement = live ? ('restoreOne' as const) : ('undeleteOne' as const);
      return await executeAlone(store, { ...merge, statement, permit, origin: caller.origin, key });
    });
  });
}

const mergeTexts = prepare<{ fields: string; patch: string }, { fields: string }>('entity.merge-texts', (value) =>
  builder.selectNoFrom(sql<string>`json_merge_patch(${value('fields')}::jsonb, ${value('patch')}::jsonb)::text`.as('fields')).compile(),
);

async function mergedText(store: Statements, fields: string, patch: string): Promise<string> {
  const [row] = await store.run(mergeTexts, { fields, patch });
  return row?.fields ?? fields;
}
