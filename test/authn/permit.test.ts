import { expect, test } from 'vitest';
import { authorize, grantMap, type Permit, type Principal } from '../../src/authn/principal.ts';
import { find } from '../../src/entities/store.ts';

const principal = {
  user: { id: '1', name: 'ada', displayName: 'Ada' },
  grants: grantMap([{ entity: 'note', action: 'read', condition: 'own' }]),
  scopes: null,
  session: undefined,
} as unknown as Principal;

test('a permit for an action is what authorize gives for it, and nothing else compiles (rule 66)', () => {
  const permit: Permit<'read'> = authorize(principal, 'note', 'read');
  expect(permit).toEqual({ entity: 'note', userName: 'ada', sessionId: null, ownOnly: true });
  expect(() => authorize(principal, 'note', 'delete')).toThrow('forbidden');
  // @ts-expect-error A permit to read is none to delete.
  const other: Permit<'delete'> = permit;
  // @ts-expect-error Nor does a look-alike pass, which is why no statement can be reached unchecked.
  const unchecked: Parameters<typeof find>[1] = { entity: 'note', userName: 'ada', sessionId: null, ownOnly: false };
  expect([other, unchecked]).toHaveLength(2);
});
