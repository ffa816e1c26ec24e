import { beforeEach, describe, expect, test } from 'vitest';
import { RuleBook, type RuledType, type UnboundRule } from '../../src/authn/rule-book.ts';
import { everyEntity } from '../../src/filter/syntax.ts';
import type { FieldType } from '../../src/filter/fields.ts';
import { grantMap } from '../../src/rights/permit.ts';
import type { Principal } from '../../src/rights/principal.ts';
import { canonicalText, digestOfRule } from '../../src/rights/rule-document.ts';
import { unboundGrant, type RuleDocument } from '../../src/rights/rule.ts';
import { variablesOf } from '../../src/rights/variables.ts';
import type { GrantRow } from '../../src/rights/vocabulary.ts';
import { useService } from '../support/service.ts';

const service = useService();
const types = new Map<string, RuledType>();
let unbound: UnboundRule[];
let statements: number;
let book: RuleBook;
let sensitive: ReadonlyMap<string, ReadonlySet<string>>;

const typeWith = (revision: string, fields: Record<string, FieldType>): RuledType => ({
  revision,
  fields: { typeOf: ([name = '']) => fields[name] },
});

beforeEach(() => {
  types.clear();
  sensitive = new Map();
  unbound = [];
  statements = 0;
  const { db } = service();
  const selectFrom = ((table: 'grant_rule') => {
    statements += 1;
    return db.selectFrom(table);
  }) as typeof db.selectFrom;
  book = new RuleBook({
    db: new Proxy(db, { get: (target, name) => (name === 'selectFrom' ? selectFrom : (Reflect.get(target, name) as unknown)) }),
    typeOf: (name) => Promise.resolve(types.get(name) ?? typeWith('0', {})),
    sensitiveFields: () => Promise.resolve(sensitive),
    variables: (principal) => Promise.resolve(variablesOf(principal)),
    onUnbound: (rule) => unbound.push(rule),
  });
});

const principalWith = (...grants: GrantRow[]) =>
  ({ user: { name: 'ada' }, profile: undefined, timeZone: null, grants: grantMap(grants) }) as unknown as Principal;

async function stored(document: RuleDocument): Promise<string> {
  const digest = digestOfRule(document);
  await service()
    .db.insertInto('grant_rule')
    .values({ digest, document: canonicalText(document) })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  return digest;
}

test('a caller without rules stays as it is, without a statement', async () => {
  const principal = principalWith({ entity: 'order', action: 'read', condition: 'own' });
  expect(await book.complete(principal)).toBe(principal);
  expect(statements).toBe(0);
});

test('a caller without rules knows the sensitive fields of types, if there are any', async () => {
  sensitive = new Map([['order', new Set(['margin'])]]);
  const { rules } = await book.complete(principalWith({ entity: '*', action: 'read', condition: 'any' }));
  expect([rules?.sensitiveOf('order'), rules?.sensitiveOf('note')]).toEqual([new Set(['margin']), new Set()]);
  expect(statements).toBe(0);
});

test('a rule is read once, and bound once for each action and revision', async () => {
  const digest = await stored({ filter: { region: 'north' }, read: ['*'] });
  const principal = principalWith(
    { entity: 'order', action: 'read', condition: digest },
    { entity: 'order', action: 'create', condition: digest },
  );
  types.set('order', typeWith('1', { region: 'string' }));
  const first = (await book.complete(principal)).rules;
  const grant = first?.grantOf(digest, 'order', 'read');
  expect(grant).toMatchObject({ kind: 'rule', filter: { kind: 'compare', field: ['region'] } });
  expect(first?.grantOf(digest, 'order', 'create').filter).toBe(everyEntity);
  const second = (await book.complete(principal)).rules;
  expect(second?.grantOf(digest, 'order', 'read')).toBe(grant);
  expect(statements).toBe(1);
  types.set('order', typeWith('2', { region: 'string' }));
  const third = (await book.complete(principal)).rules;
  expect(third?.grantOf(digest, 'order', 'read')).not.toBe(grant);
  // A request goes on with the rules that it has received.
  expect(first?.grantOf(digest, 'order', 'read')).toBe(grant);
});

describe('a rule that does not fit (rule 170)', () => {
  test('allows nothing, and is reported once for each revision', async () => {
    const digest = await stored({ filter: { state: 'draft' } });
    const principal = principalWith(
      { entity: 'order', action: 'read', condition: digest },
      { entity: 'order', action: 'delete', condition: digest },
    );
    const granted = async () => {
      const { rules } = await book.complete(principal);
      return [rules?.grantOf(digest, 'order', 'read'), rules?.grantOf(digest, 'order', 'delete')];
    };
    const nothing = { ...unboundGrant, digest };
    types.set('order', typeWith('1', { region: 'string' }));
    expect(await granted()).toEqual([nothing, nothing]);
    expect(await granted()).toEqual([nothing, nothing]);
    const report = { digest, entity: 'order', faults: [{ pointer: '/filter/state', code: 'unknown-field' }] };
    expect(unbound).toEqual([report]);
    types.set('order', typeWith('2', { region: 'string' }));
    expect(await granted()).toEqual([nothing, nothing]);
    expect(unbound).toEqual([report, report]);
    types.set('order', typeWith('3', { state: 'string' }));
    expect(await granted()).toMatchObject([{ filter: { kind: 'compare' } }, { filter: { kind: 'compare' } }]);
  });

  test('allows nothing if its document is missing, or the digest is asked for another name', async () => {
    const missing = 'f'.repeat(64);
    const { rules } = await book.complete(principalWith({ entity: 'order', action: 'read', condition: missing }));
    expect(rules?.grantOf(missing, 'order', 'read')).toEqual({ ...unboundGrant, digest: missing });
    expect(unbound).toEqual([{ digest: missing, entity: 'order', faults: [] }]);
    expect(rules?.grantOf(missing, 'invoice', 'read')).toBe(unboundGrant);
  });
});

test('a rule on all names is bound to the envelope', async () => {
  const digest = await stored({ filter: { $createdBy: { $var: 'user.name' } } });
  const { rules } = await book.complete(principalWith({ entity: '*', action: 'read', condition: digest }));
  expect(rules?.grantOf(digest, '*', 'read')).toMatchObject({ filter: { kind: 'compare', field: ['$createdBy'] } });
  expect(unbound).toEqual([]);
});
