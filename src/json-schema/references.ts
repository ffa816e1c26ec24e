/**
 * What references of a schema lead to (JSON Schema 2020-12, core, "Base URI, Anchors, and Dereferencing"). Nothing outside of the schema
 * is loaded.
 */
import { isObject } from './types.ts';

/** The address of a schema without `$id`. */
const nameless = 'json-schema:///';

/** The schemas with an address of their own, collected while they are walked. */
export class ReferenceTable {
  readonly #resources = new Map<string, unknown>();
  readonly #anchors = new Map<string, unknown>();

  /**
   * Whether the schema has several resources, so that a `$dynamicRef` may lead to different places: the root, with or without `$id`, and
   * one inside.
   */
  get isDivided(): boolean {
    return new Set(this.#resources.values()).size > 1;
  }

  constructor(root: unknown) {
    this.#resources.set(nameless, root);
  }

  /**
   * Adds the `$id` and the anchors of a schema inside of the resource `base`. Returns the base of what is inside of the schema; undefined
   * for an `$id` that is no URI.
   */
  add(schema: Record<string, unknown>, base: string = nameless): string | undefined {
    const { $id, $anchor, $dynamicAnchor } = schema;
    const own = typeof $id === 'string' ? resolved($id, base)?.replace(/#.*$/s, '') : base;
    if (own === undefined) return undefined;
    if (own !== base || !this.#resources.has(own)) this.#resources.set(own, schema);
    for (const anchor of [$anchor, $dynamicAnchor]) if (typeof anchor === 'string') this.#anchors.set(`${own}#${anchor}`, schema);
    return own;
  }

  /**
   * The schema that the reference in the resource `base` leads to, as a list of one; an empty list if there is none. A `$dynamicRef` leads
   * to the same place: in a schema of one resource the outermost dynamic anchor of a name is the only one.
   */
  target(reference: string, base: string): unknown[] {
    const [address = '', fragment = ''] = (resolved(reference, base) ?? '').split(/#(.*)/s, 2);
    if (!this.#resources.has(address)) return [];
    if (fragment !== '' && !fragment.startsWith('/')) {
      const anchor = `${address}#${decoded(fragment) ?? ''}`;
      return this.#anchors.has(anchor) ? [this.#anchors.get(anchor)] : [];
    }
    let found = this.#resources.get(address);
    for (const step of fragment.split('/').slice(1)) {
      const name = decoded(step)?.replaceAll('~1', '/').replaceAll('~0', '~');
      const holdsIt = name !== undefined && (isObject(found) || Array.isArray(found)) && Object.hasOwn(found, name);
      if (!holdsIt) return [];
      found = (found as Record<string, unknown>)[name];
    }
    return [found];
  }
}

function resolved(reference: string, base: string): string | undefined {
  // URL would take a `#/a b` apart otherwise than it was written.
  if (reference.startsWith('#')) return base + reference;
  return URL.canParse(reference, base) ? new URL(reference, base).href : undefined;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
