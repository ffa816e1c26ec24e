/**
 * What a filter and a sort mean, written a second time and without SQL: the tests compare what the service answers with this. It reads the
 * JSON of the caller directly and shares no code with `src/filter`.
 */

export type ModelType = 'any' | 'string' | 'number' | 'int64' | 'decimal' | 'date-time' | 'date' | 'boolean' | 'enum' | 'object' | 'array';

/** A row as the model sees it; the members of the envelope have their names in filters. */
export interface ModelRow {
  $key: string;
  $version: number;
  $createdAt: string;
  $createdBy: string;
  $updatedAt: string;
  $updatedBy: string;
  fields: Record<string, unknown>;
}

export type TypeOf = (path: string) => ModelType;

const envelope: Record<string, ModelType> = {
  $key: 'int64',
  $version: 'number',
  $createdAt: 'date-time',
  $createdBy: 'string',
  $updatedAt: 'date-time',
  $updatedBy: 'string',
};

type Json = Record<string, unknown>;
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

/** The variables of a filter by their names; `items` for a list. `value` is undefined for one that the caller lacks. */
export type ModelVariables = Readonly<Record<string, { type: ModelType; isList?: boolean; value: unknown }>>;

/** The rows that a name has, and the field by which they refer to others, for `$some` and `$none` by their `name.field`. */
export type ModelReferrers = Readonly<Record<string, { rows: readonly ModelRow[]; typeOf: TypeOf; by: string }>>;

/** The rows that references lead to, by the field of the reference, for `$match`. */
export type ModelTargets = Readonly<Record<string, { rows: readonly ModelRow[]; typeOf: TypeOf; referrers?: ModelReferrers }>>;

export interface ModelContext {
  typeOf: TypeOf;
  variables?: ModelVariables;
  referrers?: ModelReferrers;
  targets?: ModelTargets;
}

/**
 * Whether the row fulfils the filter. A test of a variable that is missing counts as false if it `mustHold`, and else as true: so it never lets a row in
 * that some value of the variable would not let in.
 */
export function fulfils(row: ModelRow, filter: Json, context: TypeOf | ModelContext, mustHold = true): boolean {
  const model = typeof context === 'function' ? { typeOf: context } : context;
  return Object.entries(filter).every(([name, value]) => {
    if (name === '$and') return (value as Json[]).every((one) => fulfils(row, one, model, mustHold));
    if (name === '$or') return (value as Json[]).some((one) => fulfils(row, one, model, mustHold));
    if (name === '$not') return !fulfils(row, value as Json, model, !mustHold);
    if (name === '$none') return !fulfils(row, { $some: value }, model, !mustHold);
    if (name === '$some') return hasReferrer(row, value as Json, model, mustHold);
    return new FieldModel(row, model).passes(name, value, mustHold);
  });
}

function hasReferrer(row: ModelRow, some: Json, { variables, referrers }: ModelContext, mustHold: boolean): boolean {
  const [[name, filter] = ['', {}]] = Object.entries(some);
  const referrer = referrers?.[name];
  if (!referrer) throw new Error(`the model has no reference ${name}`);
  const { rows, typeOf, by } = referrer;
  return rows.some(
    (one) => one.fields[by] === row.$key && fulfils(one, filter as Json, { typeOf, ...(variables && { variables }) }, mustHold),
  );
}

/** The operand of a comparison, and its type. `isMissing`: it is a variable that the caller lacks. */
interface ModelOperand {
  value: unknown;
  type: ModelType;
  isMissing: boolean;
}

class FieldModel {
  readonly #row: ModelRow;
  readonly #model: ModelContext;

  constructor(row: ModelRow, model: ModelContext) {
    this.#row = row;
    this.#model = model;
  }

  passes(path: string, test: unknown, mustHold: boolean): boolean {
    if (!isObject(test) || this.#isOperand(test)) return this.#applies('$eq', path, test, mustHold);
    return Object.entries(test).every(([name, operand]) => {
      if (name === '$and') return (operand as unknown[]).every((one) => this.passes(path, one, mustHold));
      if (name === '$or') return (operand as unknown[]).some((one) => this.passes(path, one, mustHold));
      if (name === '$not') return !this.passes(path, operand, !mustHold);
      if (name === '$match') return this.#matches(path, operand as Json, mustHold);
      return name.startsWith('$') ? this.#applies(name, path, operand, mustHold) : this.passes(`${path}.${name}`, operand, mustHold);
    });
  }

  #matches(path: string, filter: Json, mustHold: boolean): boolean {
    const target = this.#model.targets?.[path];
    if (!target) throw new Error(`the model has no target of ${path}`);
    const { variables } = this.#model;
    const found = target.rows.find(({ $key }) => $key === this.#row.fields[path]);
    return found !== undefined && fulfils(found, filter, { ...target, ...(variables && { variables }) }, mustHold);
  }

  #isOperand(value: Json): boolean {
    const [name = '', ...others] = Object.keys(value);
    return others.length === 0 && ['$var', '$field'].includes(name);
  }

  #typeOf(path: string): ModelType {
    return envelope[path] ?? this.#model.typeOf(path);
  }

  #operand(operand: unknown, type: ModelType): ModelOperand {
    if (!isObject(operand) || !this.#isOperand(operand)) return { value: operand, type, isMissing: false };
    if ('$field' in operand) {
      const other = String(operand['$field']);
      return { value: sortValue(this.#row, other), type: type === 'any' ? this.#typeOf(other) : type, isMissing: false };
    }
    const variable = this.#model.variables?.[String(operand['$var'])];
    if (!variable) throw new Error(`the model has no variable ${String(operand['$var'])}`);
    return { value: variable.value, type: type === 'any' ? variable.type : type, isMissing: variable.value === undefined };
  }

  #applies(name: string, path: string, raw: unknown, mustHold: boolean): boolean {
    if (name === '$ne') return !this.#applies('$eq', path, raw, !mustHold);
    if (name === '$nin') return !this.#applies('$in', path, raw, !mustHold);
    const { value: operand, type, isMissing } = this.#operand(raw, this.#typeOf(path));
    if (isMissing) return !mustHold;
    if (name === '$in') return (operand as unknown[]).some((one) => this.#applies('$eq', path, one, mustHold));
    // The row has no field like the operand of a field that it lacks, not even null.
    if (operand === undefined || (operand === null && isObject(raw))) return false;
    // Booleans have no order.
    if (typeof operand === 'boolean' && /^\$[lg]te?$/.test(name)) return false;
    return applies(name, sortValue(this.#row, path), type, operand);
  }
}

function applies(name: string, value: unknown, type: ModelType, operand: unknown): boolean {
  const order = () => compare(value, operand, type);
  switch (name) {
    case '$eq':
      return operand === null ? value === null : order() === 0;
    case '$ne':
      return !applies('$eq', value, type, operand);
    case '$lt':
      return order() === -1;
    case '$lte':
      return [-1, 0].includes(order() ?? 9);
    case '$gt':
      return order() === 1;
    case '$gte':
      return [1, 0].includes(order() ?? 9);
    case '$in':
      return (operand as unknown[]).some((one) => applies('$eq', value, type, one));
    case '$nin':
      return !applies('$in', value, type, operand);
    case '$prefix':
      return typeof value === 'string' && value.startsWith(operand as string);
    case '$contains':
      if (Array.isArray(value) && type !== 'string') return value.some((item) => item === operand);
      return typeof value === 'string' && type !== 'array' && typeof operand === 'string' && value.includes(operand);
    case '$fold':
      return Object.entries(isObject(operand) ? operand : { $eq: operand }).every(([inner, part]) =>
        applies(inner, folded(value), 'string', folded(part)),
      );
    case '$exists':
      return (value !== undefined) === operand;
    case '$empty':
      return (value === undefined || value === null) === operand;
    default:
      throw new Error(`the model has no operator ${name}`);
  }
}

/** -1, 0 or 1; undefined if one of them is no value of the type. */
export function compare(left: unknown, right: unknown, type: ModelType): number | undefined {
  const [a, b] = [measure(left, type), measure(right, type)];
  if (a === undefined || b === undefined || typeof a !== typeof b) return undefined;
  if (typeof a === 'string' && typeof b === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return a < b ? -1 : a > b ? 1 : 0;
}

/** A value that JavaScript compares as the type does. */
function measure(value: unknown, type: ModelType): string | number | bigint | boolean | undefined {
  switch (type) {
    case 'any':
      return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : undefined;
    case 'number':
      return typeof value === 'number' ? value : undefined;
    case 'boolean':
      return typeof value === 'boolean' ? value : undefined;
    case 'string':
    case 'enum':
    case 'date':
      return typeof value === 'string' ? value : undefined;
    case 'int64': {
      const number = typeof value === 'string' && /^-?\d+$/.test(value) ? BigInt(value) : undefined;
      return number !== undefined && String(number) === value && BigInt.asIntN(64, number) === number ? number : undefined;
    }
    case 'decimal': {
      const [, sign, whole = '', fraction = ''] = (typeof value === 'string' && /^(-?)(\d{1,31})(?:\.(\d{1,18}))?$/.exec(value)) || [];
      if (sign === undefined || /^0\d/.test(whole) || (sign === '-' && Number(whole + fraction) === 0)) return undefined;
      const scaled = BigInt(whole + fraction.padEnd(18, '0'));
      return sign === '-' ? -scaled : scaled;
    }
    case 'date-time': {
      const text = typeof value === 'string' && /^\d{4}-\d\d-\d\d[Tt]/.test(value) ? Date.parse(value) : Number.NaN;
      return Number.isNaN(text) ? undefined : text;
    }
    case 'object':
    case 'array':
      return undefined;
  }
}

const isText = (value: unknown): value is string => typeof value === 'string';

/** The Latin letters of a text in lower case, without marks. */
const bare = (text: string): string => text.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase();

/** The value, the operand, or the texts in it, without regard to case and accents. */
function folded(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(folded);
  return isText(value) ? bare(value) : value;
}

/** The names of a sort, each with `-` in front for descending; the key decides between equal rows. */
export function sorted(rows: readonly ModelRow[], sort: readonly string[], typeOf: TypeOf): ModelRow[] {
  const terms = sort.map((term) => ({ name: term.replace(/^-/, ''), down: term.startsWith('-') }));
  const keyDown = terms.at(-1)?.down ?? false;
  const order = (a: ModelRow, b: ModelRow): number => {
    for (const { name, down } of terms) {
      const type = envelope[name] ?? typeOf(name);
      const found = sortOrder(sortValue(a, name), sortValue(b, name), type);
      if (found !== 0) return down ? -found : found;
    }
    const found = BigInt(a.$key) < BigInt(b.$key) ? -1 : 1;
    return keyDown ? -found : found;
  };
  return rows.toSorted(order);
}

function sortValue(row: ModelRow, name: string): unknown {
  if (name in envelope) return row[name as '$key'];
  return name.split('.').reduce<unknown>((at, member) => (isObject(at) && Object.hasOwn(at, member) ? at[member] : undefined), row.fields);
}

/** Numbers before texts before booleans; what has no value of the type comes last. */
function sortOrder(a: unknown, b: unknown, type: ModelType): number {
  const rank = (value: unknown) => {
    const measured = measure(value, type);
    return measured === undefined ? 9 : type === 'any' ? ['number', 'string', 'boolean'].indexOf(typeof measured) : 0;
  };
  return rank(a) - rank(b) || (compare(a, b, type) ?? 0);
}
