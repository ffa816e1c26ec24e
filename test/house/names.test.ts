/** Names in `src`, by the rules of CONTRIBUTING.md. An exception goes when its name has been mended: a test fails for one that is not needed. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
/** Without the built client, which is in no commit. */
const files = globSync('src/**/*.ts', { cwd: root, exclude: ['src/client/dist/**'] }).toSorted();
const sources = files.map((file) => ({
  file,
  source: ts.createSourceFile(file, readFileSync(join(root, file), 'utf8'), ts.ScriptTarget.Latest, true),
}));

/** Verbs that say what a person does. A program stores, returns, receives, logs, queries, checks, has. */
const personal =
  /^(?:keep|keeps|kept|keeping|give|gives|gave|giving|(?:un)?heard?|hears|tells?|told|telling|ask|asks|asked|asking|looks?|looked|knows?|knew)$/;

/** The words of a name, in small letters. */
const wordsOf = (name: string): string[] =>
  name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[ _]/);

const isExported = (node: ts.Statement): boolean =>
  ts.canHaveModifiers(node) && (ts.getModifiers(node) ?? []).some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);

interface Declared {
  file: string;
  name: string;
  node: ts.Node;
}

/** The declarations at the top of each file. */
function declarations(wanted: (statement: ts.Statement) => boolean): Declared[] {
  return sources.flatMap(({ file, source }) =>
    source.statements.filter(wanted).flatMap((statement) => {
      const nodes: readonly ts.NamedDeclaration[] = ts.isVariableStatement(statement)
        ? statement.declarationList.declarations
        : [statement as ts.DeclarationStatement];
      return nodes.flatMap((node) => (node.name && ts.isIdentifier(node.name) ? [{ file, name: node.name.text, node }] : []));
    }),
  );
}

const exported = declarations(isExported);

/** The exported names, and the public members of exported classes as `Class.member`. */
const exportedNames = exported.flatMap(({ file, name, node }) => {
  const members = ts.isClassDeclaration(node)
    ? node.members.flatMap(({ name: member }) => (member && ts.isIdentifier(member) ? [`${name}.${member.text}`] : []))
    : [];
  return [name, ...members].map((each) => ({ file, name: each }));
});

const isFunction = (node: ts.Node): boolean =>
  ts.isFunctionDeclaration(node) ||
  (ts.isVariableDeclaration(node) &&
    !!node.initializer &&
    (ts.isArrowFunction(node.initializer) || ts.isFunctionExpression(node.initializer)));

/** Functions with more than four parameters, as `file: name`. */
function longParameterLists(): string[] {
  const found: string[] = [];
  for (const { file, source } of sources.filter(({ file }) => !rewritten.test(file))) {
    const visit = (node: ts.Node): void => {
      if (ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node) || ts.isConstructorDeclaration(node) || ts.isArrowFunction(node)) {
        const { name } = ts.isArrowFunction(node) ? (node.parent as ts.NamedDeclaration) : node;
        if (node.parameters.length > 4) found.push(`${file}: ${name?.getText() ?? 'constructor'}`);
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  return found.toSorted();
}

/** Rooms that are being rewritten: their types and the parameters of their functions are not looked at. Take a room out when it is done. */
const rewritten = /^src\/entities\/(?:companion|history|idempotency|querying|reading|writing)\//;

/** Names with many uses in those rooms. */
const personalNames = ['src/problems/pointer.ts: looksLikeName'];
const singleWords = [
  'src/database/driver/prepared.ts: prepare',
  'src/filter/syntax.ts: all',
  'src/filter/syntax.ts: any',
  'src/filter/syntax.ts: conjuncts',
  'src/filter/syntax.ts: not',
  'src/rights/permit.ts: authorize',
];

/** Functions with five parameters or more. */
const longLists = [
  'src/administration/transfer.ts: backUpDatabase',
  'src/administration/transfer.ts: copyDatabase',
  'src/administration/transfer.ts: restoreDatabase',
  'src/api-keys/self-service.ts: audit',
  'src/api-keys/self-service.ts: rotateKey',
  'src/authn/principal-cache.ts: store',
  'src/batch/handlers.ts: run',
  'src/batch/operations.ts: #operation',
  'src/cli/types.ts: applyAll',
  'src/config/secret-file.ts: constructor',
  'src/config/secret-file.ts: parsed',
  'src/embedded/access.ts: runAlone',
  'src/embedded/address.ts: urlOf',
  'src/entity-types/apply.ts: settleType',
  'src/entity-types/apply.ts: startOf',
  'src/entity-types/document.ts: faultsOfKeyword',
  'src/entity-types/handlers.ts: requireReading',
  'src/filter/parse.ts: #test',
  'src/json-schema/composition.ts: tryAlternatives',
  'src/oidc/provisioning/claimed-profiles.ts: setClaimed',
  'src/oidc/provisioning/unknown-claims.ts: recordUnknownClaim',
  'src/oidc/sign-in/begin.ts: authorizationUrl',
  'src/oidc/sign-in/begin.ts: bindBrowser',
  'src/oidc/sign-in/callback.ts: completeSignIn',
  'src/oidc/sign-in/link.ts: linkOwn',
  'src/oidc/tokens/login.ts: succeed',
  'src/pages/docs.ts: serveDocs',
  'src/sessions/insert.ts: insertSession',
  'src/sessions/login.ts: succeed',
  'src/sessions/open.ts: insert',
  'src/sessions/open.ts: insertInTransaction',
  'src/sessions/replace-token.ts: replaceToken',
  'src/telemetry/metric-set.ts: gauges',
];

describe('an exported name', () => {
  test('has no verb that only a person does', () => {
    expect(exportedNames.length).toBeGreaterThan(1_000);
    const found = exportedNames.filter(({ name }) => wordsOf(name.replace('.', '_')).some((word) => personal.test(word)));
    expect(found.map(({ file, name }) => `${file}: ${name}`).toSorted()).toEqual(personalNames);
  });

  test('of a function has a noun', () => {
    const functions = exported.filter(({ node }) => isFunction(node));
    expect(functions.length).toBeGreaterThan(500);
    const found = functions.filter(({ name }) => wordsOf(name).length === 1).map(({ file, name }) => `${file}: ${name}`);
    expect(found.toSorted()).toEqual(singleWords);
  });
});

test('a type has a name of its own', () => {
  const types = declarations(
    (statement) => ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement) || ts.isClassDeclaration(statement),
  );
  expect(types.length).toBeGreaterThan(600);
  const filesOf = Map.groupBy(
    types.filter(({ file }) => !rewritten.test(file)),
    ({ name }) => name,
  );
  const repeated = [...filesOf]
    .filter(([, all]) => all.length > 1)
    .map(([name, all]) => `${name}: ${all.map(({ file }) => file).join(', ')}`);
  expect(repeated).toEqual([]);
});

test('a function has at most four parameters', () => {
  expect(longParameterLists()).toEqual(longLists);
});
