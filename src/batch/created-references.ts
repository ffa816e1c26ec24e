/** References of a batch to entities that its other operations create: `{"$ref": id}`. */
import { validationProblem } from '../entities/writing/rules.ts';
import type { SentFields } from '../entities/writing/natural-keys.ts';
import type { EntityType } from '../entity-types/types.ts';
import type { Field } from '../filter/fields.ts';
import { withReplaced } from '../json/json-parts.ts';
import { parseJson } from '../json/parse-json.ts';
import { pointerTo } from '../problems/pointer.ts';

export class CreatedReferences {
  readonly #ids: ReadonlySet<string>;
  /** The creates that `$ref` can lead to, by their ids. */
  readonly #created = new Map<string, { key: string; index: number }>();
  #referForward = false;

  /** `ids` are those of all creates. */
  constructor(ids: Iterable<string>) {
    this.#ids = new Set(ids);
  }

  /** Whether a reference that was replaced leads to a later operation. */
  get referForward(): boolean {
    return this.#referForward;
  }

  /** The keys of the creates that references lead to. */
  get keys(): ReadonlySet<string> {
    return new Set([...this.#created.values()].map(({ key }) => key));
  }

  /** Lets later calls of {@link replaced} replace references to the create. */
  add(id: string, create: { key: string; index: number }): void {
    this.#created.set(id, create);
  }

  /**
   * The fields of the operation at `index`, with the key of a create in place of each reference to it. Throws 422 for a reference to no create, and for one where
   * the type has none.
   */
  replaced(index: number, { fields, text: sent }: SentFields, type: EntityType | undefined): SentFields {
    let text = sent;
    const references = new Set<string>();
    for (const { column } of type?.companion?.references ?? []) {
      const path = type?.companion?.columns.find(({ name }) => name === column)?.field ?? [];
      references.add(path[0] ?? '');
      const id = referenceAt(fields, path);
      if (id === undefined) continue;
      const target = this.#created.get(id);
      if (target && target.index > index) this.#referForward = true;
      if (!target) throw validationProblem([{ pointer: pointerTo(path), code: 'reference-not-found' }]);
      text = withReplaced(text, path, JSON.stringify(target.key));
    }
    const stray = Object.keys(fields as object).find((name) => this.#ids.has(referenceAt(fields, [name]) ?? '') && !references.has(name));
    if (stray !== undefined) throw validationProblem([{ pointer: pointerTo([stray]), code: 'not-a-reference' }]);
    return { text, fields: text === sent ? fields : parseJson(text) };
  }
}

/** The id in `{"$ref": id}` at the path; undefined for any other value. */
function referenceAt(fields: unknown, path: Field): string | undefined {
  const value = path.reduce<unknown>(
    (object, name) => (typeof object === 'object' && object !== null ? (object as Record<string, unknown>)[name] : undefined),
    fields,
  );
  const { $ref: id } = (value ?? {}) as { $ref?: unknown };
  return typeof id === 'string' && Object.keys(value as object).length === 1 ? id : undefined;
}
