/** Writes entities as CSV (RFC 4180), with null, missing and empty texts apart and every digit of a number. */
import type { EntityRow } from '../entities/row.ts';
import { isDecimal } from '../json/decimal.ts';
import { memberTexts } from '../json/json-parts.ts';
import { isNeverShown } from '../entities/shown-rows.ts';
import type { FieldView } from '../rights/field-view.ts';
import type { EntityType } from '../entity-types/types.ts';
import {
  columnOf,
  columnsOf,
  databaseHeader,
  delimiters,
  keyHeader,
  nullCell,
  restHeader,
  versionHeader,
  type CellKind,
  type Delimiter,
  type FieldColumn,
} from './columns.ts';
import { escapedText } from './safe-texts.ts';

const lineEnd = '\r\n';

/** The columns as they are inside of each other; `index` is that of a cell. */
interface Branch {
  index: number | undefined;
  kind: CellKind;
  below: Map<string, Branch> | undefined;
}

/** How CSV is written, whatever its columns are. */
export interface CsvFile {
  /** Whether texts that a spreadsheet would take for a formula begin with an apostrophe. */
  isSafe: boolean;
  /** `comma` where it is undefined. */
  delimiter: Delimiter | undefined;
  /** The name of the database, as `databaseNameOf` returns it. */
  database: string;
  /** Whether the file begins with a byte order mark, by which some spreadsheets recognise UTF-8. */
  hasByteOrderMark: boolean;
}

interface CsvOptions extends CsvFile {
  columns: readonly FieldColumn[];
  /** Whether the last column has what no other column can hold. Without it, a value that is no text is its JSON text. */
  hasRest: boolean;
  /** Whether the column after the key has the version. */
  hasVersion: boolean;
}

/** Writes the entities of a type with the `fields`; undefined for all. The version has a column where an update needs it. */
export function csvWriterFor(
  type: EntityType | undefined,
  fields: readonly string[] | undefined,
  { view, ...file }: CsvFile & { view: FieldView },
): CsvWriter {
  const shown = columnsOf(type).filter(({ field }) => !isNeverShown(view, field));
  const columns = fields ? fields.map((field) => columnOf(type, field.split('.'))) : shown;
  return new CsvWriter({ ...file, columns, hasRest: !fields, hasVersion: type?.requiresIfMatch === true });
}

export class CsvWriter {
  readonly #options: CsvOptions;
  readonly #root = new Map<string, Branch>();

  constructor(options: CsvOptions) {
    this.#options = options;
    options.columns.forEach(({ field, kind }, index) => {
      let members = this.#root;
      field.forEach((name, depth) => {
        const branch = members.get(name) ?? { index: undefined, kind: 'json', below: undefined };
        members.set(name, branch);
        if (depth === field.length - 1) Object.assign(branch, { index, kind });
        else members = branch.below ??= new Map();
      });
    });
  }

  /** The first line. */
  get header(): string {
    const { columns, hasRest, hasVersion, hasByteOrderMark, database } = this.#options;
    const names = columns.map(({ field }) => this.#text(field.join('.')));
    const all = [keyHeader, ...(hasVersion ? [versionHeader] : []), ...names, ...(hasRest ? [restHeader] : []), databaseHeader + database];
    return (hasByteOrderMark ? '\uFEFF' : '') + this.#joined(all);
  }

  line({ key, version, fields }: Pick<EntityRow, 'key' | 'version' | 'fields'>): string {
    const { columns, hasRest, hasVersion } = this.#options;
    const cells = columns.map(() => '');
    const rest = this.#fill(cells, fields, this.#root);
    return this.#joined([key, ...(hasVersion ? [version] : []), ...cells, ...(hasRest ? [quoted(rest ?? '', true)] : []), '']);
  }

  #joined(cells: readonly string[]): string {
    return cells.join(delimiters[this.#options.delimiter ?? 'comma']) + lineEnd;
  }

  /** Fills the cells of the members, and returns the object of those that have no cell; undefined if all have one. */
  #fill(cells: string[], object: string, branches: ReadonlyMap<string, Branch>): string | undefined {
    const rest: string[] = [];
    for (const [name, text] of memberTexts(object)) {
      const branch = branches.get(name);
      const left = branch ? this.#place(cells, text, branch) : text;
      if (left !== undefined) rest.push(`${JSON.stringify(name)}:${left}`);
    }
    return rest.length > 0 ? `{${rest.join()}}` : undefined;
  }

  /** The rest of the value after its cells are filled. */
  #place(cells: string[], text: string, { index, kind, below }: Branch): string | undefined {
    const cell = index === undefined ? undefined : this.#cell(text, kind);
    if (cell !== undefined && index !== undefined) cells[index] = cell;
    const left = below && text.startsWith('{') && text !== '{}' ? this.#fill(cells, text, below) : text;
    return cell === undefined ? left : undefined;
  }

  /** The cell of a value; undefined for one that a cell of this kind cannot hold. */
  #cell(text: string, kind: CellKind): string | undefined {
    if (text === 'null') return nullCell;
    switch (kind) {
      case 'json':
        return quoted(text);
      case 'number':
        if (/^[-\d]/.test(text)) return text;
        break;
      case 'boolean':
        if (text === 'true' || text === 'false') return text;
        break;
      case 'decimal':
      case 'text':
        if (text.startsWith('"')) return this.#text(JSON.parse(text) as string, kind === 'decimal');
    }
    return this.#options.hasRest ? undefined : quoted(text);
  }

  #text(text: string, mayBeNumber = false): string {
    return quoted(this.#options.isSafe && !(mayBeNumber && isDecimal(text)) ? escapedText(text) : text);
  }
}

/** A cell that reads back as this text, and not as null or a missing value, unless `mayBeMissing`. */
function quoted(text: string, mayBeMissing = false): string {
  if (text === '') return mayBeMissing ? '' : '""';
  return text === nullCell || /[",;\t\r\n]|^\uFEFF/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
