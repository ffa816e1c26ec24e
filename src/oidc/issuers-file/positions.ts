/** A YAML or JSON file that reports problems with their line and column. It does not know what the file should contain. */
import { isAlias, isNode, LineCounter, parseDocument, type Document, type Node } from 'yaml';

export class LocatedFile {
  /** The problems so far, as `ISSUERS_FILE issuers.yaml:12:5: …`. */
  readonly problems: string[] = [];
  readonly #name: string;
  readonly #lines = new LineCounter();
  readonly #document: Document;

  /** `name` begins every problem. Text that is neither YAML nor JSON is reported at once; then there is no root. */
  constructor(name: string, text: string) {
    this.#name = name;
    this.#document = parseDocument(text, { prettyErrors: false, lineCounter: this.#lines });
    for (const { message, pos } of [...this.#document.errors, ...this.#document.warnings]) {
      this.#reportAt(pos[0], `is neither YAML nor JSON: ${message}`);
    }
  }

  /** The root node of the file; undefined for an empty file and for one that could not be parsed. */
  get root(): Node | undefined {
    return this.problems.length === 0 ? (this.#document.contents ?? undefined) : undefined;
  }

  /** Adds a problem at the position of `node`; at the start of the file if `node` is no node. */
  report(problem: string, node: unknown): void {
    this.#reportAt(isNode(node) ? (node.range?.[0] ?? 0) : 0, problem);
  }

  /** The node itself, or the node that an alias refers to. */
  resolve(node: unknown): unknown {
    return isAlias(node) ? node.resolve(this.#document) : node;
  }

  /** The node as a JavaScript value. */
  value(node: unknown): unknown {
    return isNode(node) ? node.toJS(this.#document) : undefined;
  }

  #reportAt(offset: number, problem: string): void {
    const { line, col } = this.#lines.linePos(offset);
    this.problems.push(`${this.#name}:${Math.max(1, line)}:${Math.max(1, col)}: ${problem}`);
  }
}
