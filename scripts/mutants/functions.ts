/** The functions of a file that have a body: the reach of a test is recorded by function. */
import ts from 'typescript';

export interface Body {
  /** `path#n` for the n-th body of the file. Changes elsewhere in the file do not change it. */
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

/** The text with a call of the probe at the start of each body. */
export function withProbes(file: string, text: string): string {
  let probed = text;
  for (const { id, start } of functionBodies(file, text).toSorted((one, other) => other.start - one.start)) {
    probed = `${probed.slice(0, start + 1)} globalThis.noteReached?.('${id}');${probed.slice(start + 1)}`;
  }
  return probed;
}
