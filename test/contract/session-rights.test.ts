/** That what openapi.yaml says of sessions is sound, and that docs/security.md shows it (rules 3, 48 and 59). */
import { describe, expect, test } from 'vitest';
import { isOpen } from '../../src/contract/contract.ts';
import { sessionKinds, type SessionRights } from '../../src/rights/session-rights.ts';
import { codeOf, readDocument, section, tableRows } from '../support/markdown.ts';
import { document, operations } from '../support/operations.ts';

const authApi = operations.filter(({ path }) => path.startsWith('/auth'));
/** An operation that has its question in the body and changes nothing. */
const isQuestion = ({ operationId }: { operationId: string }) => operationId === 'checkOwnPermission';
const changing = authApi.filter((operation) => operation.method !== 'get' && !isOpen(operation) && !isQuestion(operation));

describe('x-session-rights', () => {
  test('leaves entities and the reading of their types, and no other operation, to grants and scopes', () => {
    const named = Object.values(document.paths).flatMap((item) =>
      [item.get, item.post, item.delete].flatMap((operation) =>
        operation?.['x-session-rights'] === 'by-grants' ? [operation.operationId] : [],
      ),
    );
    const expected = operations.filter(
      ({ tag, method }) => ['Entities', 'Batch', 'Transfer'].includes(tag) || (tag === 'Entity types' && method === 'get'),
    );
    expect(named).toEqual(expected.map(({ operationId }) => operationId));
  });

  test('lets a session that a token opened change nothing but itself', () => {
    const allowed = (kind: keyof SessionRights) =>
      changing.flatMap((operation) => {
        const right = operation.sessionRights?.[kind];
        return right === 'no' ? [] : [`${operation.operationId}: ${right}`];
      });
    expect(allowed('narrowed').toSorted()).toEqual(['refreshSession: yes', 'revokeSession: itself']);
    expect(allowed('token').toSorted()).toEqual(['refreshSession: yes', 'revokeSession: itself', 'selectDefaultProfile: yes']);
  });
});

test('x-session: every change by a session takes it from the database, and so does what opens or ends one', () => {
  const writing = operations.filter(({ writesSession }) => writesSession).map(({ operationId }) => operationId);
  const others = ['createSession', 'endSession', 'startOpenIdSignIn', 'finishOpenIdSignIn'];
  expect(writing.toSorted()).toEqual([...changing.map(({ operationId }) => operationId), ...others].toSorted());
});

test('docs/security.md shows what each kind of session may do', () => {
  const shown = tableRows(section(readDocument('docs/security.md'), '## Sessions and what they may do'));
  const rows = operations.flatMap((operation) => {
    if (['Entities', 'Batch', 'Transfer'].includes(operation.tag)) return [];
    const rights = sessionKinds.map((kind) => operation.sessionRights?.[kind] ?? 'anyone');
    return `${operation.operationId}: ${rights.join(', ')}`;
  });
  expect(shown.map(([operation, ...rights]) => `${codeOf(operation)}: ${rights.join(', ')}`).toSorted()).toEqual(rows.toSorted());
});
