/** The fields that a caller may read and write, by their names; `*` stands for those that the type does not name. */
import type { EntityType } from '../entity-types/types.ts';
import { hasField, otherFields, type FieldSet } from '../rights/field-set.ts';
import type { Grant } from '../rights/grant.ts';
import type { IsVisible } from '../rights/rule-text.ts';

export interface ExplainedFields {
  readable: string[];
  writable: string[];
}

export interface FieldGrants {
  type: EntityType | undefined;
  /** The grants of `read` that count, and those of the action. */
  reads: readonly Grant[];
  writes: readonly Grant[];
  sensitive: ReadonlySet<string>;
  /** The fields that the caller may know of. */
  isShown: IsVisible;
  /** The fields that it reads, where that is not the same. */
  isReadable?: IsVisible;
}

/** The fields, those of the type first. */
export function fieldsOf({ type, reads, writes, sensitive, isShown, isReadable = isShown }: FieldGrants): ExplainedFields {
  const declared = type?.declaredFields().map(([name = '']) => name) ?? [];
  const sets = [...reads.map(({ read }) => read), ...writes.map(({ write }) => write)];
  const named = sets.flatMap((set) => Array.from(set.named.keys()));
  const presets = writes.flatMap(({ set }) => Array.from(set.keys()));
  const names = [...new Set([...declared, ...named, ...presets])];
  const rest = (sets: readonly FieldSet[]) => (isOpen(type) && sets.some(({ others }) => others !== 'none') ? ['*'] : []);
  const isWritable = (name: string) => writes.some(({ write, set }) => set.has(name) || hasField(write, name, sensitive));
  return {
    readable: [...names.filter(isReadable), ...rest(reads.map(({ read }) => read))],
    writable: [...names.filter((name) => isShown(name) && isWritable(name)), ...rest(writes.map(({ write }) => write))],
  };
}

/** Whether entities may have fields that the type does not name. */
const isOpen = (type: EntityType | undefined): boolean => !type || type.fields.typeOf([otherFields]) !== undefined;
