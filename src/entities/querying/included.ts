/**
 * The entities that those of an answer refer to. One statement for each step of references reads them, whatever the number of rows, by the
 * caller's right to read their names (rule 64). Each comes once. An entity that is missing and one that the caller may not read are
 * withheld alike (decision 139).
 */
import type { Run } from '../../database/read-transaction.ts';
import type { Field } from '../../filter/fields.ts';
import type { Include } from './include.ts';
import { includedQuery, type IncludedRow, type WantedEntities } from './include-statements.ts';
import { isProjected, type Projection } from './projection.ts';
import { representEntity } from '../represent.ts';

type Keys = readonly (string | null)[];

/** An entity of the answer: its JSON text, and the keys of its references in the order of the includes. */
export interface ReferringItem {
  text: string;
  references: Keys;
}

/** The references of an item or of an included entity. */
interface Referring {
  /** The index of the first item that leads here. */
  position: number;
  includes: readonly Include[];
  keyOf: (include: Include) => string | null;
  /** Whether the caller sees the field, and so the key in it. */
  shows: (field: Field) => boolean;
}

/** A reference with a key. */
interface FollowedReference {
  include: Include;
  key: string;
  position: number;
  isShown: boolean;
}

/** An entity that a reference leads to. Without text it is withheld. */
interface IncludeTarget {
  name: string;
  key: string;
  position: number;
  /** Whether the caller sees a reference to it. */
  isShown: boolean;
  bytes: number;
  text?: string;
  /** The keys of the references to follow. */
  keys?: ReadonlyMap<Include, string | null>;
}

export interface Included {
  /** How many items there is room for, with all that they lead to; at least one. */
  kept: number;
  /** The members `included` and `withheld` for these items, as JSON text. */
  members: string;
}

/** Follows the references of the items up to `bytes` of JSON text. The first item comes with all that it leads to, however long. */
export async function readIncluded(
  run: Run,
  items: readonly ReferringItem[],
  { includes, projection }: { includes: readonly Include[]; projection: Projection | undefined },
  bytes: number,
): Promise<Included> {
  const reader = new IncludedReader(items, bytes);
  let referring: Referring[] = items.map(({ references }, position) => ({
    position,
    includes,
    keyOf: (include) => references[includes.indexOf(include)] ?? null,
    shows: (field) => isProjected(projection, field),
  }));
  while (referring.length > 0) referring = await reader.follow(run, referring);
  return { kept: reader.kept, members: reader.members() };
}

class IncludedReader {
  readonly #items: readonly ReferringItem[];
  readonly #bytes: number;
  readonly #targets = new Map<string, IncludeTarget>();
  kept: number;

  constructor(items: readonly ReferringItem[], bytes: number) {
    this.#items = items;
    this.#bytes = bytes;
    this.kept = items.length;
  }

  /** Reads what these references lead to, and returns the references to follow next. */
  async follow(run: Run, referring: readonly Referring[]): Promise<Referring[]> {
    const steps = referring.flatMap(stepsOf);
    const wanted = this.#wantedBy(steps);
    if (wanted.length > 0) this.#add(wanted, await run(includedQuery(wanted, this.#bytes), 'by-index'));
    this.#cut();
    return this.#next(steps);
  }

  /** Notes the targets of the steps, which are in the order of their positions. Returns those to read. */
  #wantedBy(steps: readonly FollowedReference[]): WantedEntities[] {
    const wanted = Map.groupBy(
      steps.filter(({ include, key, position, isShown }) => {
        const isNew = this.#note(include.to, key, position, isShown);
        return isNew && include.permit;
      }),
      ({ include }) => include.to,
    );
    return [...wanted].flatMap(([name, ofName]) => {
      const permit = ofName[0]?.include.permit;
      const further = new Set(steps.flatMap(({ include }) => (include.to === name ? include.further : [])));
      return permit ? [{ permit, positions: new Map(ofName.map(({ key, position }) => [key, position])), further: [...further] }] : [];
    });
  }

  /** Returns whether no step before led to the entity. */
  #note(name: string, key: string, position: number, isShown: boolean): boolean {
    const known = this.#targets.get(idOf(name, key));
    if (known) {
      known.position = Math.min(known.position, position);
      known.isShown ||= isShown;
    } else this.#targets.set(idOf(name, key), { name, key, position, isShown, bytes: name.length + key.length + 25 });
    return !known;
  }

  #add(wanted: readonly WantedEntities[], rows: readonly IncludedRow[]): void {
    for (const row of rows) {
      const target = this.#targets.get(idOf(row.name, row.key));
      if (!target) continue;
      if (row.fields === null) {
        target.bytes = Infinity;
        continue;
      }
      const { text } = representEntity(row);
      const further = wanted.find(({ permit }) => permit.entity === row.name)?.further ?? [];
      const keys = new Map(further.map((include, index) => [include, row.references[index] ?? null]));
      Object.assign(target, { text, keys, bytes: Buffer.byteLength(text) + row.key.length + 4 });
    }
  }

  /** Forgets the items that there is no room for, and what only they lead to. */
  #cut(): void {
    const bytesAt = this.#items.slice(0, this.kept).map(({ text }) => Buffer.byteLength(text));
    for (const { position, bytes } of this.#targets.values()) bytesAt[position] = (bytesAt[position] ?? 0) + bytes;
    let total = 0;
    const end = bytesAt.findIndex((bytes, index) => {
      total += bytes;
      return total > this.#bytes && index > 0;
    });
    if (end === -1) return;
    this.kept = end;
    for (const [id, { position }] of this.#targets) if (position >= end) this.#targets.delete(id);
  }

  #next(steps: readonly FollowedReference[]): Referring[] {
    const seen = new Map<Include, Set<string>>();
    return steps.flatMap(({ include, key, position }) => {
      const target = this.#targets.get(idOf(include.to, key));
      const seenKeys = seen.get(include) ?? new Set();
      seen.set(include, seenKeys);
      if (include.further.length === 0 || position >= this.kept || target?.keys === undefined || seenKeys.has(key)) return [];
      seenKeys.add(key);
      const { keys } = target;
      return [{ position, includes: include.further, keyOf: (next: Include) => keys.get(next) ?? null, shows: () => true }];
    });
  }

  members(): string {
    const targets = [...this.#targets.values()];
    const names = Map.groupBy(
      targets.filter(({ text }) => text !== undefined),
      ({ name }) => name,
    );
    const included = [...names].map(([name, ofName]) => `"${name}":{${ofName.map(({ key, text }) => `"${key}":${text}`).join()}}`);
    const withheld = targets.filter(({ text, isShown }) => text === undefined && isShown).map(({ name, key }) => ({ name, key }));
    return `"included":{${included.join()}},"withheld":${JSON.stringify(withheld)}`;
  }
}

const idOf = (name: string, key: string) => `${name}/${key}`;

function stepsOf({ position, includes, keyOf, shows }: Referring): FollowedReference[] {
  return includes.flatMap((include) => {
    const key = keyOf(include);
    return key === null ? [] : [{ include, key, position, isShown: shows(include.field) }];
  });
}
