/** The small mistakes for a TypeScript file: each replaces one place. */
import ts from 'typescript';
import { sqlMutations, type Change } from './sql.ts';

export interface Mutation extends Change {
  /** Path relative to the project. */
  file: string;
}

const operators: Partial<Record<ts.SyntaxKind, string>> = {
  [ts.SyntaxKind.LessThanToken]: '<=',
  [ts.SyntaxKind.LessThanEqualsToken]: '<',
  [ts.SyntaxKind.GreaterThanToken]: '>=',
  [ts.SyntaxKind.GreaterThanEqualsToken]: '>',
  [ts.SyntaxKind.EqualsEqualsEqualsToken]: '!==',
  [ts.SyntaxKind.ExclamationEqualsEqualsToken]: '===',
  [ts.SyntaxKind.AmpersandAmpersandToken]: '||',
  [ts.SyntaxKind.BarBarToken]: '&&',
  [ts.SyntaxKind.PlusToken]: '-',
  [ts.SyntaxKind.MinusToken]: '+',
};

const otherMethod: Record<string, string> = {
  some: 'every',
  every: 'some',
  min: 'max',
  max: 'min',
  startsWith: 'includes',
  endsWith: 'includes',
  includes: 'startsWith',
};

/** Calls in a Kysely chain that can be removed. */
const clauses = new Set(['where', 'whereRef', 'forUpdate', 'forShare', 'limit', 'skipLocked', 'onConflict', 'orderBy', 'distinct']);

/** Calls that affect neither an answer nor a row. */
const logging = /^(\w+\.)*(log|logger|span|recorder)\b/;

export function findMutations(file: string, text: string): Mutation[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found: Mutation[] = [];
  const visit = (node: ts.Node): void => {
    // Types and imports do not exist when the code runs.
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return;
    if (ts.isCallExpression(node) && logging.test(node.expression.getText())) return;
    for (const change of changesOf(node, text)) found.push({ file, ...change });
    node.forEachChild(visit);
  };
  visit(source);
  return found.filter(({ start, end }) => isShort(text.slice(start, end)));
}

/** Removing twenty lines is no small mistake, and every test would notice it. */
const isShort = (removed: string) => removed.split('\n').length <= 4;

function changesOf(node: ts.Node, text: string): Change[] {
  const change = (kind: string, target: ts.Node, replacement: string): Change[] => [
    { kind, start: target.getStart(), end: target.getEnd(), replacement },
  ];
  if (ts.isBinaryExpression(node)) {
    const other = operators[node.operatorToken.kind];
    return other ? change('operator', node.operatorToken, other) : [];
  }
  if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken) {
    return change('negation removed', node, node.operand.getText());
  }
  if (ts.isIfStatement(node)) return change('condition negated', node.expression, `!(${node.expression.getText()})`);
  if (ts.isConditionalExpression(node)) return change('condition negated', node.condition, `!(${node.condition.getText()})`);
  if (ts.isAwaitExpression(node))
    return isReturned(node) || isStatement(node) ? [] : change('await removed', node, node.expression.getText());
  if (ts.isExpressionStatement(node)) return isCall(node.expression) ? change('call removed', node, ';') : [];
  if (ts.isThrowStatement(node)) return change('throw removed', node, ';');
  if (ts.isReturnStatement(node)) return isEarly(node) ? change('early return removed', node, ';') : [];
  if (ts.isCallExpression(node)) return changesOfCall(node);
  if (ts.isNumericLiteral(node)) return change('number', node, otherNumber(node.text));
  if (node.kind === ts.SyntaxKind.TrueKeyword) return change('boolean', node, 'false');
  if (node.kind === ts.SyntaxKind.FalseKeyword) return change('boolean', node, 'true');
  if (ts.isRegularExpressionLiteral(node)) return changesOfRegex(node);
  return ts.isStringLiteral(node) || ts.isTemplateLiteral(node) ? changesOfText(node, text) : [];
}

/** Fragments of SQL are recognised by their tag, whole statements by their words. */
function changesOfText(node: ts.Node, text: string): Change[] {
  const isFragment = ts.isTaggedTemplateExpression(node.parent) && /^sql\b/.test(node.parent.tag.getText());
  return sqlMutations(text, node.getStart(), node.getEnd(), isFragment);
}

function isCall(expression: ts.Expression): boolean {
  const inner = ts.isAwaitExpression(expression) || ts.isVoidExpression(expression) ? expression.expression : expression;
  return ts.isCallExpression(inner) && !logging.test(inner.expression.getText());
}

/** `return await` differs from `return` only inside `try`. */
function isReturned({ parent }: ts.AwaitExpression): boolean {
  return ts.isReturnStatement(parent) && !ts.findAncestor(parent, (node) => (ts.isFunctionLike(node) ? 'quit' : ts.isTryStatement(node)));
}

/** `npm run check` refuses a statement that does not await its promise (no-floating-promises). */
const isStatement = ({ parent }: ts.AwaitExpression): boolean => ts.isExpressionStatement(parent);

/** A return that is not the last statement of its function. */
function isEarly(node: ts.ReturnStatement): boolean {
  const { parent } = node;
  if (ts.isIfStatement(parent)) return true;
  return ts.isBlock(parent) && ts.isIfStatement(parent.parent);
}

function changesOfCall(node: ts.CallExpression): Change[] {
  if (!ts.isPropertyAccessExpression(node.expression)) return [];
  const { name, expression } = node.expression;
  if (clauses.has(name.text)) return [{ kind: `${name.text} removed`, start: expression.getEnd(), end: node.getEnd(), replacement: '' }];
  const other = otherMethod[name.text];
  return other ? [{ kind: 'method', start: name.getStart(), end: name.getEnd(), replacement: other }] : [];
}

function changesOfRegex(node: ts.RegularExpressionLiteral): Change[] {
  const start = node.getStart();
  const changes: Change[] = [];
  const last = node.text.lastIndexOf('/');
  if (node.text.startsWith('/^')) changes.push({ kind: 'anchor removed', start: start + 1, end: start + 2, replacement: '' });
  if (node.text[last - 1] === '$') changes.push({ kind: 'anchor removed', start: start + last - 1, end: start + last, replacement: '' });
  return changes;
}

/** A limit is moved by one. A large number is usually a time, where a test can notice only a doubling. */
function otherNumber(literal: string): string {
  const value = Number(literal);
  return String(value > 1_000 ? value * 2 : value + 1);
}
