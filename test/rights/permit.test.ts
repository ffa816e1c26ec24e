import { describe, expect, test } from 'vitest';
import type { Principal } from '../../src/rights/principal.ts';
import type { Action } from '../../src/rights/vocabulary.ts';
import { authorize, grantMap, type Permit } from '../../src/rights/permit.ts';
import { wholeView } from '../../src/rights/field-view.ts';
import { allRows } from '../../src/rights/coverage.ts';
import { ownRowsOf } from '../support/coverage.ts';
import { findEntity } from '../../src/entities/find-entity.ts';

const principal = {
  user: { id: '1', name: 'ada', displayName: 'Ada' },
  grants: grantMap([{ entity: 'note', action: 'read', condition: 'own' }]),
  scopes: null,
  session: undefined,
} as unknown as Principal;

test('a permit for an action is what authorize gives for it, and nothing else compiles (rule 66)', () => {
  const permit: Permit<'read'> = authorize(principal, 'note', 'read');
  const referable = expect.any(Function) as Permit<'read'>['referable'];
  expect(permit).toEqual({
    entity: 'note',
    action: 'read',
    userName: 'ada',
    sessionId: null,
    coverage: { ...ownRowsOf('ada'), matches: expect.any(Function) as object },
    view: wholeView,
    change: undefined,
    widerRead: undefined,
    referable,
    findable: referable,
  });
  expect(() => authorize(principal, 'note', 'delete')).toThrow('forbidden');
  // @ts-expect-error A permit to read is none to delete.
  const other: Permit<'delete'> = permit;
  // @ts-expect-error Nor does a look-alike pass, which is why no statement can be reached unchecked.
  const unchecked: Parameters<typeof findEntity>[1] = {
    entity: 'note',
    action: 'read',
    userName: 'ada',
    sessionId: null,
    coverage: allRows,
    view: wholeView,
    change: undefined,
    widerRead: undefined,
    referable: () => undefined,
    findable: () => undefined,
  };
  expect([other, unchecked]).toHaveLength(2);
});

test.each([
  ['own', 'any'],
  ['any', 'own'],
] as const)('of two roles that grant the same action, for %s and for %s rows, the wider counts (rule 61)', (first, second) => {
  const row = { entity: 'note', action: 'read' } as const;
  const grants = grantMap([
    { ...row, condition: first },
    { ...row, condition: second },
    { ...row, entity: 'memo', condition: 'own' },
  ]);
  expect(grants.get('note')?.get('read')).toEqual(['any']);
  expect(grants.get('memo')?.get('read')).toEqual(['own']);
});

test.each([
  ['own', 'any'],
  ['any', 'own'],
] as const)('so it does where one grants %s rows of the name and one %s rows of every name (rule 61)', (named, every) => {
  const rows = [
    { entity: 'note', action: 'read', condition: named },
    { entity: '*', action: 'read', condition: every },
  ] as const;
  for (const list of [rows, rows.toReversed()]) {
    expect(authorize({ ...principal, grants: grantMap(list) }, 'note', 'read')).toMatchObject({ coverage: allRows });
  }
});

describe('a permit for own rows', () => {
  const update = { entity: 'note', action: 'update', condition: 'own' } as const;
  const every = { entity: '*', action: 'read', condition: 'any' } as const;
  const scopes = (actions: Action[]) => [{ entity: 'note', actions }];

  test.each([
    ['any row', [update, every], null, true],
    ['any row, in a scope', [update, every], scopes(['update', 'read']), true],
    ['any row, outside of the scopes', [update, every], scopes(['update']), false],
    ['own rows', [update, { ...every, condition: 'own' }], null, false],
    ['no row', [update], null, false],
    ['any row, where it covers these itself', [{ ...update, condition: 'any' }, every], null, false],
  ] as const)('has the wider permit to read of a caller who may read %s: %j %j %j (rule 64)', (_what, rows, limits, isWider) => {
    const { widerRead } = authorize({ ...principal, grants: grantMap(rows), scopes: limits }, 'note', 'update');
    expect(widerRead).toEqual(
      isWider
        ? {
            entity: 'note',
            action: 'read',
            userName: 'ada',
            sessionId: null,
            coverage: allRows,
            view: wholeView,
            widerRead: undefined,
            referable: expect.any(Function) as unknown,
            findable: expect.any(Function) as unknown,
          }
        : undefined,
    );
  });
});
