/** The functions of a file that have a body: the reach of a test is recorded by function. */
import ts from 'typescript';

export interface Body {
  /** `path#outer.inner`, by the names of the functions around it; with `~n` if n others before it have the same. So it lasts when other functions come and go. */
  id: string;
  start: number;
  end: number;
}

export function functionBodies(file: string, text: string): Body[] {
  const found: Body[] = [];
  const uses = new Map<string, number>();
  const visit = (node: ts.Node, path: string): void => {
    const inner = ts.isFunctionLike(node) || ts.isClassLike(node) ? `${path}.${nameOf(node)}` : path;
    const body = ts.isFunctionLike(node) && 'body' in node ? node.body : undefined;
    if (body && ts.isBlock(body)) {
      const count = uses.get(inner) ?? 0;
      uses.set(inner, count + 1);
      found.push({ id: `${file}#${inner.slice(1)}${count > 0 ? `~${count}` : ''}`, start: body.getStart(), end: body.getEnd() });
    }
    node.forEachChild((child) => visit(child, inner));
  };
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true), '');
  return found;
}

/** Its own name, or that of the variable or member whose value it is. Ids stand in code between single quotes, so it has word characters only. */
function nameOf(node: ts.SignatureDeclaration | ts.ClassLikeDeclaration): string {
  const { parent } = node;
  const named =
    node.name ??
    (ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent) || ts.isPropertyDeclaration(parent) ? parent.name : undefined);
  return named?.getText().replaceAll(/\W+/g, '') || 'function';
}

/** The text with a call of the probe at the start of each body. */
export function withProbes(file: string, text: string): string {
  let probed = text;
  for (const { id, start } of functionBodies(file, text).toSorted((one, other) => other.start - one.start)) {
    probed = `${probed.slice(0, start + 1)} globalThis.noteReached?.('${id}');${probed.slice(start + 1)}`;
  }
  return probed;
}
