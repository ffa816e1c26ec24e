/** A YAML or JSON file whose problems are told with the line and column they are at. Knows nothing of what should be in it. */
import { isAlias, isNode, LineCounter, parseDocument, type Document, type Node } from 'yaml';

export class LocatedFile {
  /** Every problem so far, as `ISSUERS_FILE issuers.yaml:12:5: …`. */
  readonly problems: string[] = [];
  readonly #name: string;
  readonly #lines = new LineCounter();
  readonly #document: Document;

  /** `name` begins every problem. Text that is neither YAML nor JSON is reported at once; there is no root then. */
  constructor(name: string, text: string) {
    this.#name = name;
    this.#document = parseDocument(text, { prettyErrors: false, lineCounter: this.#lines });
    for (const { message, pos } of [...this.#document.errors, ...this.#document.warnings]) {
      this.#reportAt(pos[0], `is neither YAML nor JSON: ${message}`);
    }
  }

  /** The value of the whole file; undefined for an empty file and for one that could not be read. */
  get root(): Node | undefined {
    return this.problems.length === 0 ? (this.#document.contents ?? undefined) : undefined;
  }

  /** Adds a problem with what `node` holds, or with the file as a whole. */
  report(problem: string, node: unknown): void {
    this.#reportAt(isNode(node) ? (node.range?.[0] ?? 0) : 0, problem);
  }

  /** What the node is in the end: an alias stands for what it names. */
  resolve(node: unknown): unknown {
    return isAlias(node) ? node.resolve(this.#document) : node;
  }

  /** The value as JavaScript has it. */
  value(node: unknown): unknown {
    return isNode(node) ? node.toJS(this.#document) : undefined;
  }

  #reportAt(offset: number, problem: string): void {
    const { line, col } = this.#lines.linePos(offset);
    this.problems.push(`${this.#name}:${Math.max(1, line)}:${Math.max(1, col)}: ${problem}`);
  }
}
