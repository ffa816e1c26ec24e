/**
 * The statements that change entities: one set for all names without a companion table, and one for each companion table. Those that find
 * rows by a permit differ by the digest of its coverage too.
 */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { allRows, digestOf, type Coverage } from '../../rights/coverage.ts';
import type { Companion } from '../companion/layout.ts';
import type { StatementVariant } from '../covered-statements.ts';
import { prepareInsertBulk, prepareInsertWithKey } from './create-statements.ts';
import { prepareInsertMany, prepareUpdateMany } from './grouped-writes.ts';
import { prepareReplaceMany } from './import-statements.ts';
import { prepareDeleteOne, prepareRestoreOne, prepareTrashOne, prepareUndeleteOne, prepareUpdateOne } from './statements.ts';

/** The most digests besides the usual one whose statements are stored for each companion table. */
const maximumDigests = 8;

function prepareAll(companion: Companion | null, variant?: string) {
  return {
    insertMany: prepareInsertMany(companion, variant),
    insertBulk: prepareInsertBulk(companion, variant),
    insertWithKey: prepareInsertWithKey(companion, variant),
    ...prepareCoveredWrites({ companion, coverage: allRows, variant }),
  };
}

function prepareCoveredWrites(of: StatementVariant) {
  return {
    updateMany: prepareUpdateMany(of),
    replaceMany: prepareReplaceMany(of),
    updateOne: prepareUpdateOne(of),
    restoreOne: prepareRestoreOne(of),
    undeleteOne: prepareUndeleteOne(of),
    deleteOne: prepareDeleteOne(of),
    trashOne: prepareTrashOne(of),
  };
}

export type WriteStatements = ReturnType<typeof prepareAll>;

/** The statements of one layout: the usual ones, and those of other digests. */
class LayoutStatements {
  readonly #companion: Companion | null;
  readonly #variant: string | undefined;
  readonly #usual: WriteStatements;
  readonly #others = new LRUCache<string, WriteStatements>({ max: maximumDigests });

  constructor(companion: Companion | null) {
    this.#companion = companion;
    // The same layout in two revisions gives the same texts, and so the same names.
    const layout = companion && createHash('sha256').update(JSON.stringify(companion)).digest('hex').slice(0, 16);
    this.#variant = companion ? `${companion.table}.${layout}` : undefined;
    this.#usual = prepareAll(companion, this.#variant);
  }

  statementsFor(coverage: Coverage): WriteStatements {
    const digest = digestOf(coverage);
    if (digest === digestOf(allRows)) return this.#usual;
    const variant = [this.#variant, digest].filter((part) => part !== undefined).join('.');
    const known = this.#others.get(digest);
    const statements = known ?? { ...this.#usual, ...prepareCoveredWrites({ companion: this.#companion, coverage, variant }) };
    this.#others.set(digest, statements);
    return statements;
  }
}

const withoutCompanion = new LayoutStatements(null);
const withCompanion = new WeakMap<Companion, LayoutStatements>();

/** The statements that write this companion table too, of the rows of the coverage; null or undefined for a name without a table. */
export function writeStatementsOf(companion: Companion | null | undefined, coverage: Coverage): WriteStatements {
  if (!companion) return withoutCompanion.statementsFor(coverage);
  const statements = withCompanion.get(companion) ?? new LayoutStatements(companion);
  withCompanion.set(companion, statements);
  return statements.statementsFor(coverage);
}

/** The statement that deletes an entity of a type with this companion table, and stores it in the trash unless `trashKeep` is null. */
export function deletionOf(
  companion: Companion | null | undefined,
  coverage: Coverage,
  trashKeep: string | null,
): WriteStatements['deleteOne'] {
  const { deleteOne, trashOne } = writeStatementsOf(companion, coverage);
  return trashKeep === null ? deleteOne : trashOne;
}
