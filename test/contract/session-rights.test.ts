/** The table of session rights, the contract and docs/security.md agree (rules 3, 48 and 59). */
import { describe, expect, test } from 'vitest';
import { isOpen } from '../../src/contract/contract.ts';
import { sessionKinds, sessionRights } from '../../src/rights/session-rights.ts';
import { codeOf, readDocument, section, tableRows } from '../support/markdown.ts';
import { operations } from '../support/operations.ts';

const authApi = operations.filter(({ path }) => path.startsWith('/auth'));

describe('the table of session rights', () => {
  test('has a row for every operation of the Auth API, and no other', () => {
    expect([...sessionRights.keys()].toSorted()).toEqual(authApi.map(({ operationId }) => operationId).toSorted());
  });

  test('has every operation outside the Entities API, which alone uses roles and scopes', () => {
    expect(operations.filter(({ tag }) => tag !== 'Entities')).toEqual(authApi);
  });

  test('allows any caller for operations that take no credential', () => {
    const open = authApi.filter(isOpen).map(({ operationId }) => operationId);
    const anyone = [...sessionRights].filter(([, row]) => row === 'anyone').map(([operationId]) => operationId);
    expect(anyone.toSorted()).toEqual(open.toSorted());
  });

  test('allows a session that a token opened to change only itself', () => {
    const changing = authApi.filter((operation) => operation.method !== 'get' && !isOpen(operation));
    const allowed = (kind: 'token' | 'narrowed') =>
      changing.flatMap(({ operationId }) => {
        const row = sessionRights.get(operationId);
        return row === undefined || row === 'anyone' || row[kind] === 'no' ? [] : [`${operationId}: ${row[kind]}`];
      });
    expect(allowed('narrowed').toSorted()).toEqual(['refreshSession: yes', 'revokeSession: itself']);
    expect(allowed('token').toSorted()).toEqual(['refreshSession: yes', 'revokeSession: itself', 'selectDefaultProfile: yes']);
  });
});

test('is shown unchanged in docs/security.md', () => {
  const shown = tableRows(section(readDocument('docs/security.md'), '## Sessions and what they may do'));
  const rows = [...sessionRights].map(([operationId, row]) => {
    const rights = sessionKinds.map((kind) => (row === 'anyone' ? row : row[kind]));
    return `${operationId}: ${rights.join(', ')}`;
  });
  expect(shown.map(([operation, ...rights]) => `${codeOf(operation)}: ${rights.join(', ')}`).toSorted()).toEqual(rows.toSorted());
});
