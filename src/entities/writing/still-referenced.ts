/** Why an entity cannot be deleted: others refer to it. */

/** The most entities that one transaction deletes or changes besides the entity that was to be deleted. */
export const maximumVictims = 1_000;

/** `restrict`: entities that may not lose the reference. `too many`: more than {@link maximumVictims} would be deleted or changed. */
export type Obstacle = 'restrict' | 'too many';

/** The entities that keep another one from being deleted: the answer tells their names and numbers to callers who may read them. */
export class StillReferencedError extends Error {
  override readonly name = 'StillReferencedError';
  readonly keys: ReadonlyMap<string, ReadonlySet<string>>;
  readonly obstacle: Obstacle;

  constructor(keys: ReadonlyMap<string, ReadonlySet<string>>, obstacle: Obstacle) {
    super('the entity is still referenced');
    this.keys = keys;
    this.obstacle = obstacle;
  }
}

export function keysByName(all: readonly { name: string; keys: readonly string[] }[]): Map<string, Set<string>> {
  const byName = new Map<string, Set<string>>();
  for (const { name, keys } of all) if (keys.length > 0) byName.set(name, new Set([...(byName.get(name) ?? []), ...keys]));
  return byName;
}
