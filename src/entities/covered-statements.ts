/** Prepared statements with the rows and the fields of a permit, one for each digest of its rights. */
import { LRUCache } from 'lru-cache';
import type { CompiledQuery } from 'kysely';
import { prepare, type PreparedStatement, type ValueOf } from '../database/driver/prepared.ts';
import { digestOfRights, fullRights, type EntityRights } from '../rights/field-view.ts';
import type { Companion } from './companion/layout.ts';

/** The table, the rights and the variant of a statement that changes entities. Without a variant it is the usual one of names without a table. */
export interface StatementVariant {
  companion: Companion | null;
  rights: EntityRights;
  variant: string | undefined;
}

/** The most digests besides the usual one whose statements are stored. The least recently used ones are compiled again. */
const maximumDigests = 64;

/** Makes the statement for rights: always the same one for the same digest. `build` must put them into the text, with `rowsCovered` and `shownFields`. */
export function prepareCovered<V extends object, R>(
  name: string,
  build: (value: ValueOf<V>, rights: EntityRights) => CompiledQuery<R>,
): (rights: EntityRights) => PreparedStatement<V, R> {
  const usual = prepare<V, R>(name, (value) => build(value, fullRights));
  const others = new LRUCache<string, PreparedStatement<V, R>>({ max: maximumDigests });
  return (rights) => {
    const digest = digestOfRights(rights);
    if (digest === digestOfRights(fullRights)) return usual;
    const statement = others.get(digest) ?? prepare<V, R>(name, (value) => build(value, rights), digest);
    others.set(digest, statement);
    return statement;
  };
}
