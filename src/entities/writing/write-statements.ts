/** The statements that change entities: one set for all names without a companion table, and one for each companion table. */
import { createHash } from 'node:crypto';
import type { Companion } from '../companion/layout.ts';
import { prepareInsertBulk, prepareInsertWithKey } from './create-statements.ts';
import { prepareInsertMany, prepareUpdateMany } from './grouped-writes.ts';
import { prepareReplaceMany } from './import-statements.ts';
import { prepareDeleteOne, prepareRestoreOne, prepareTrashOne, prepareUndeleteOne, prepareUpdateOne } from './statements.ts';

function prepareAll(companion: Companion | null, variant?: string) {
  return {
    insertMany: prepareInsertMany(companion, variant),
    insertBulk: prepareInsertBulk(companion, variant),
    updateMany: prepareUpdateMany(companion, variant),
    replaceMany: prepareReplaceMany(companion, variant),
    insertWithKey: prepareInsertWithKey(companion, variant),
    updateOne: prepareUpdateOne(companion, variant),
    restoreOne: prepareRestoreOne(companion, variant),
    undeleteOne: prepareUndeleteOne(companion, variant),
    deleteOne: prepareDeleteOne(companion, variant),
    trashOne: prepareTrashOne(companion, variant),
  };
}

export type WriteStatements = ReturnType<typeof prepareAll>;

const withoutCompanion = prepareAll(null);
const withCompanion = new WeakMap<Companion, WriteStatements>();

/** The statements that write this companion table too; null or undefined for a name without one. */
export function writeStatementsOf(companion: Companion | null | undefined): WriteStatements {
  if (!companion) return withoutCompanion;
  let statements = withCompanion.get(companion);
  if (!statements) {
    // The same layout in two revisions gives the same texts, and so the same names.
    const digest = createHash('sha256').update(JSON.stringify(companion)).digest('hex').slice(0, 16);
    statements = prepareAll(companion, `${companion.table}.${digest}`);
    withCompanion.set(companion, statements);
  }
  return statements;
}

/** The statement that deletes an entity of a type with this companion table, and stores it in the trash unless `trashKeep` is null. */
export function deletionOf(companion: Companion | null | undefined, trashKeep: string | null): WriteStatements['deleteOne'] {
  const { deleteOne, trashOne } = writeStatementsOf(companion);
  return trashKeep === null ? deleteOne : trashOne;
}
