/** Makes checks of schemas: one function for each keyword, without generated code. */
import { compositionKeywords } from './composition.ts';
import { arrayKeywords, objectKeywords, unevaluatedKeywords } from './containers.ts';
import { Evaluated } from './evaluated.ts';
import { kindOf, type Keyword, type Kind, type KeywordPlace } from './keyword.ts';
import { ReferenceTable } from './references.ts';
import type { SchemaCheck } from './run.ts';
import { isObject, type JsonSchema, type SchemaFault, type ValidatorOptions } from './types.ts';
import { valueKeywords } from './values.ts';

/** In the order in which they test a value and report errors. `type` is the first: its error makes all others pointless. */
const keywords: ReadonlyMap<string, Keyword> = new Map([
  ...valueKeywords,
  ...arrayKeywords,
  ...objectKeywords,
  ...compositionKeywords,
  ...unevaluatedKeywords,
]);
const rank = new Map([...keywords.keys()].map((name, index) => [name, index]));
const unevaluated = unevaluatedKeywords.map(([name]) => name);

/** The keywords whose schemas apply to the same value. */
const inPlace = new Set(['not', 'anyOf', 'oneOf', 'allOf', 'if', 'then', 'else', 'dependentSchemas']);
/** Schemas that may apply to one value because each refers to, or contains, the next one. */
const longestChain = 500;

type SchemaPath = readonly (string | number)[];

export class Compiler {
  readonly faults: SchemaFault[] = [];
  readonly #options: ValidatorOptions;
  readonly #references: ReferenceTable;
  readonly #checks = new Map<JsonSchema, SchemaCheck>();
  /** References whose targets have no check yet. */
  readonly #waiting: (() => void)[] = [];
  /** By schema: the schemas that apply to the same value, and where it says so. */
  readonly #applied = new Map<JsonSchema, { schema: JsonSchema; path: SchemaPath }[]>();

  constructor(root: unknown, options: ValidatorOptions) {
    this.#options = options;
    this.#references = new ReferenceTable(root);
  }

  /** The check of the whole schema. `faults` then has all that cannot be checked. */
  compileRoot(root: unknown): SchemaCheck {
    const check = this.#compile(root, [], undefined);
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) next();
    this.#findEndlessChains();
    return check;
  }

  #compile(schema: unknown, path: SchemaPath, base: string | undefined): SchemaCheck {
    if (!isObject(schema)) return booleanCheck(schema !== false);
    const known = this.#checks.get(schema);
    if (known) return known;
    let built: SchemaCheck | undefined;
    // A schema may contain itself.
    this.#checks.set(schema, (value, run, seen) => built?.(value, run, seen) ?? false);
    built = this.#build(schema, path, base);
    this.#checks.set(schema, built);
    return built;
  }

  #build(schema: JsonSchema, path: SchemaPath, outerBase: string | undefined): SchemaCheck {
    const base = this.#references.add(schema, outerBase);
    if (base === undefined) this.faults.push({ path: [...path, '$id'] });
    const checks: { kind: Keyword['kind']; check: SchemaCheck }[] = [];
    const names = Object.keys(schema).toSorted((one, other) => (rank.get(one) ?? 0) - (rank.get(other) ?? 0));
    for (const name of names) {
      const keyword = keywords.get(name);
      const check = keyword?.check(schema[name] as never, this.#place(schema, name, path, base ?? ''));
      if (keyword && check) checks.push({ kind: keyword.kind, check });
    }
    const of = (kind: Kind) => checks.filter((each) => each.kind === kind || each.kind === 'any').map(({ check }) => check);
    const byKind = { number: of('number'), string: of('string'), array: of('array'), object: of('object'), other: of('other') };
    const isTyped = Object.hasOwn(schema, 'type');
    const apply: SchemaCheck = (value, run, seen) => {
      run.countSchema();
      let fits = true;
      const own = byKind[kindOf(value)];
      for (let index = 0; index < own.length; index += 1) {
        if (own[index]?.(value, run, seen)) continue;
        fits = false;
        if (run.stops || (isTyped && index === 0)) return false;
      }
      return fits;
    };
    if (!unevaluated.some((name) => Object.hasOwn(schema, name))) return apply;
    return (value, run, seen) => {
      const own = new Evaluated();
      const fits = apply(value, run, own);
      seen?.add(own);
      return fits;
    };
  }

  #place(schema: JsonSchema, keyword: string, path: SchemaPath, base: string): KeywordPlace {
    const at = (...steps: (string | number)[]): SchemaPath => [...path, keyword, ...steps];
    const refuse = (...steps: string[]) => {
      this.faults.push({ path: [...at(...steps)] });
      return undefined;
    };
    const { compilePattern, formats } = this.#options;
    return {
      schema,
      refuse,
      inner: (inner, ...steps) => {
        if (inPlace.has(keyword)) this.#addApplied(schema, inner, at(...steps));
        return this.#compile(inner, at(...steps), base);
      },
      sibling: (name) => (Object.hasOwn(schema, name) ? this.#compile(schema[name], [...path, name], base) : undefined),
      referred: (reference) => this.#referred(schema, reference, at(), base),
      pattern: (pattern, ...steps) => compilePattern(pattern) ?? refuse(...steps),
      patternsBeside: () => Object.keys((schema['patternProperties'] ?? {}) as JsonSchema).flatMap((text) => compilePattern(text) ?? []),
      format: (name) => formats.get(name) ?? refuse(),
    };
  }

  #referred(schema: JsonSchema, reference: string, path: SchemaPath, base: string): SchemaCheck {
    let target: SchemaCheck | undefined;
    this.#waiting.push(() => {
      const isAmbiguous = path.at(-1) === '$dynamicRef' && this.#references.isDivided;
      const [found] = isAmbiguous ? [] : this.#references.target(reference, base);
      if (typeof found !== 'boolean' && !isObject(found)) return void this.faults.push({ path: [...path] });
      this.#addApplied(schema, found, path);
      target = this.#compile(found, path, base);
    });
    return (value, run, seen) => target?.(value, run, seen) ?? false;
  }

  #addApplied(schema: JsonSchema, inner: unknown, path: SchemaPath): void {
    if (!isObject(inner)) return;
    const applied = this.#applied.get(schema) ?? [];
    applied.push({ schema: inner, path });
    this.#applied.set(schema, applied);
  }

  /** Refuses a chain of schemas for one value that leads back to itself or is too long to be followed. */
  #findEndlessChains(): void {
    /** The length of the longest chain from a schema; 0 while it is being looked for. */
    const lengths = new Map<JsonSchema, number>();
    const follow = (schema: JsonSchema, depth: number): number => {
      const known = lengths.get(schema);
      if (known !== undefined) return known;
      lengths.set(schema, 0);
      let length = 1;
      for (const { schema: inner, path } of this.#applied.get(schema) ?? []) {
        const isOpen = lengths.get(inner) === 0;
        const rest = isOpen || depth > longestChain ? Infinity : follow(inner, depth + 1);
        if (rest === Infinity) this.faults.push({ path: [...path] });
        else length = Math.max(length, rest + 1);
      }
      lengths.set(schema, length);
      return length;
    };
    for (const schema of this.#applied.keys()) follow(schema, 1);
  }
}

function booleanCheck(fits: boolean): SchemaCheck {
  return (_value, run) => fits || run.refuse('false schema', {}, {});
}
