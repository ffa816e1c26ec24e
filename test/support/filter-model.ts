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

/** Whether the row fulfils the filter. */
export function fulfils(row: ModelRow, filter: Json, typeOf: TypeOf): boolean {
  return Object.entries(filter).every(([name, value]) => {
    if (name === '$and') return (value as Json[]).every((one) => fulfils(row, one, typeOf));
    if (name === '$or') return (value as Json[]).some((one) => fulfils(row, one, typeOf));
    if (name === '$not') return !fulfils(row, value as Json, typeOf);
    const type = envelope[name];
    return type ? passes(row[name as '$key'], type, value) : fieldPasses(row.fields, name, name, value, typeOf);
  });
}

function fieldPasses(object: unknown, name: string, path: string, test: unknown, typeOf: TypeOf): boolean {
  const value = isObject(object) && Object.hasOwn(object, name) ? object[name] : undefined;
  if (isObject(test) && !Object.keys(test).some((operator) => operator.startsWith('$')))
    return Object.entries(test).every(([member, inner]) => fieldPasses(value, member, `${path}.${member}`, inner, typeOf));
  return passes(value, typeOf(path), test);
}

function passes(value: unknown, type: ModelType, test: unknown): boolean {
  const operators = isObject(test) ? test : { $eq: test };
  return Object.entries(operators).every(([name, operand]) => applies(name, value, type, operand));
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
