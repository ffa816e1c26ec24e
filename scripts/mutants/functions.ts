/** The functions of a file that have a body, by which the record says what a test reaches. */
import ts from 'typescript';

export interface Body {
  /** `path#n` of the n-th body of the file: it outlives a change elsewhere in the file. */
  id: string;
  start: number;
  end: number;
}

export function functionBodies(file: string, text: string): Body[] {
  const found: Body[] = [];
  const visit = (node: ts.Node): void => {
    const body = ts.isFunctionLike(node) && 'body' in node ? node.body : undefined;
    if (body && ts.isBlock(body)) found.push({ id: `${file}#${found.length}`, start: body.getStart(), end: body.getEnd() });
    node.forEachChild(visit);
  };
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true));
  return found;
}

/** The text with a call of the probe at the start of every body. */
export function withProbes(file: string, text: string): string {
  let probed = text;
  for (const { id, start } of functionBodies(file, text).toSorted((one, other) => other.start - one.start)) {
    probed = `${probed.slice(0, start + 1)} globalThis.noteReached?.('${id}');${probed.slice(start + 1)}`;
  }
  return probed;
}
