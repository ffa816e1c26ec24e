/**
 * The statements that change entities: one set for all names without a companion table, and one for each companion table. They differ by the
 * digest of the caller's rights too.
 */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { digestOfRights, fullRights, type EntityRights } from '../../rights/field-view.ts';
import type { Companion } from '../companion/layout.ts';
import type { StatementVariant } from '../covered-statements.ts';
import { prepareInsertBulk, prepareInsertWithKey } from './create-statements.ts';
import { prepareInsertMany, prepareUpdateMany } from './grouped-writes.ts';
import { prepareReplaceMany } from './import-statements.ts';
import {
  prepareDeleteOne,
  prepareRestoreAlways,
  prepareRestoreOne,
  prepareTrashOne,
  prepareUndeleteOne,
  prepareUpdateAlways,
  prepareUpdateOne,
} from './statements.ts';

/** The most digests whose statements are stored for each companion table. The least recently used ones are compiled again. */
const maximumDigests = 8;

function prepareAll(of: StatementVariant) {
  return {
    insertMany: prepareInsertMany(of),
    insertBulk: prepareInsertBulk(of),
    updateMany: prepareUpdateMany(of),
    replaceMany: prepareReplaceMany(of),
    insertWithKey: prepareInsertWithKey(of),
    updateOne: prepareUpdateOne(of),
    updateAlways: prepareUpdateAlways(of),
    restoreOne: prepareRestoreOne(of),
    restoreAlways: prepareRestoreAlways(of),
    undeleteOne: prepareUndeleteOne(of),
    deleteOne: prepareDeleteOne(of),
    trashOne: prepareTrashOne(of),
  };
}

export type WriteStatements = ReturnType<typeof prepareAll>;

const usualDigest = digestOfRights(fullRights);
const usual = prepareAll({ companion: null, rights: fullRights, variant: undefined });
const withoutCompanion = {};
/** By the layout and the digest. */
const statements = new WeakMap<object, LRUCache<string, WriteStatements>>();

/** The statements that write this companion table too, for a permit; null or undefined for a name without a table. */
export function writeStatementsOf(companion: Companion | null | undefined, rights: EntityRights): WriteStatements {
  const digest = digestOfRights(rights);
  if (!companion && digest === usualDigest) return usual;
  const ofLayout = statements.get(companion ?? withoutCompanion) ?? new LRUCache({ max: maximumDigests });
  statements.set(companion ?? withoutCompanion, ofLayout);
  const found = ofLayout.get(digest) ?? prepareAll({ companion: companion ?? null, rights, variant: variantOf(companion, digest) });
  ofLayout.set(digest, found);
  return found;
}

/** The same layout in two revisions gives the same texts, and so the same names. */
function variantOf(companion: Companion | null | undefined, digest: string): string {
  const layout = companion && createHash('sha256').update(JSON.stringify(companion)).digest('hex').slice(0, 16);
  return [companion?.table, layout, digest].filter(Boolean).join('.');
}

/** The statement that deletes an entity of a type with this companion table, and stores it in the trash unless `trashKeep` is null. */
export function deletionOf(
  companion: Companion | null | undefined,
  rights: EntityRights,
  trashKeep: string | null,
): WriteStatements['deleteOne'] {
  const { deleteOne, trashOne } = writeStatementsOf(companion, rights);
  return trashKeep === null ? deleteOne : trashOne;
}
