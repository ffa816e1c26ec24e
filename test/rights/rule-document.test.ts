import { assert, json, property } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { undeclaredFields, type FieldTypes } from '../../src/filter/fields.ts';
import { canonicalText, digestOfRule, faultsOfBinding, readRuleDocument, type GrantTarget } from '../../src/rights/rule-document.ts';
import { envelopeFields, type RuleDocument } from '../../src/rights/rule.ts';
import type { Action } from '../../src/rights/vocabulary.ts';

const onOrder = (...actions: Action[]): GrantTarget => ({ entity: 'order', actions });
const variables = {
  names: ['user.name', 'user.regions'],
  typeOf: (name: string) => (name === 'user.regions' ? { items: 'string' as const } : 'string'),
};
const closed: FieldTypes = {
  typeOf: ([name = '', ...below]) =>
    below.length > 0 ? undefined : ({ region: 'string', total: 'number', state: 'string' } as const)[name],
};

/** The pointers and codes of what is wrong with the document. */
function faultsOf(value: unknown, target: GrantTarget): string[] {
  const read = readRuleDocument(value, target);
  return 'faults' in read ? read.faults.map(({ pointer, code }) => `${pointer} ${code}`) : [];
}

describe('a rule as it is written', () => {
  test('has the members that its actions use', () => {
    const whole = { filter: { region: 'n' }, check: { state: 'd' }, read: ['*', '-total'], write: ['state'] };
    expect(faultsOf(whole, onOrder('read', 'update'))).toEqual([]);
    expect(faultsOf({ ...whole, set: { region: 'n' } }, onOrder('create'))).toEqual([]);
    expect(faultsOf({ ...whole, set: { region: 'n' } }, onOrder('create', 'update'))).toEqual(['/set unknown']);
    expect(faultsOf(whole, onOrder('read'))).toEqual(['/check unknown', '/write unknown']);
  });

  test.each(['delete', 'purge', 'label'] as const)('has a filter alone for %s, also beside other actions', (action) => {
    expect(faultsOf({ filter: { region: 'n' } }, onOrder(action))).toEqual([]);
    const more = { check: {}, read: [], write: [], set: {} };
    const faults = ['/check unknown', '/read unknown', '/write unknown', '/set unknown'];
    expect(faultsOf(more, onOrder(action))).toEqual(faults);
    expect(faultsOf(more, onOrder(action, 'update'))).toEqual(faults);
  });

  test('has no member for the action type', () => {
    expect(faultsOf({ filter: {} }, onOrder('type'))).toEqual(['/filter unknown']);
  });

  test('is an object with at least one member, each of its own kind', () => {
    expect(faultsOf([], onOrder('read'))).toEqual([' invalid-type']);
    expect(faultsOf({}, onOrder('read'))).toEqual([' required']);
    expect(faultsOf({ filter: [], check: 1, read: '*', write: [1, ''], set: [] }, onOrder('create'))).toEqual([
      '/filter invalid-type',
      '/check invalid-type',
      '/read invalid-type',
      '/write/0 invalid-type',
      '/write/1 invalid-value',
      '/set invalid-type',
    ]);
    expect(faultsOf({ name: 'x', filters: {} }, onOrder('read'))).toEqual(['/name unknown', '/filters unknown']);
  });

  test('takes fields out of * and ** alone', () => {
    expect(faultsOf({ read: ['*', '-total'], write: ['-total', '**'] }, onOrder('update'))).toEqual([]);
    expect(faultsOf({ read: ['region', '-total'] }, onOrder('read'))).toEqual(['/read/1 contradictory']);
  });

  test('presets texts, numbers, booleans and variables', () => {
    expect(faultsOf({ set: { region: 'n', total: 1, open: true, by: { $var: 'user.name' } } }, onOrder('create'))).toEqual([]);
    expect(faultsOf({ set: { region: { $prefix: 'n' }, total: [1], state: null, $key: 1 } }, onOrder('create'))).toEqual([
      '/set/region invalid-type',
      '/set/total invalid-type',
      '/set/state invalid-type',
      '/set/$key not-addressable',
    ]);
  });

  test('folds no texts of its own entities, at any depth', () => {
    const folded = { region: { $fold: 'x' } };
    expect(faultsOf({ filter: { $or: [folded, { $not: folded }] } }, onOrder('read'))).toEqual([
      '/filter/$or/0/region/$fold not-supported',
      '/filter/$or/1/$not/region/$fold not-supported',
    ]);
    expect(faultsOf({ filter: { customer: { $match: folded }, $none: { 'line.order': folded } } }, onOrder('read'))).toEqual([]);
  });

  test('has the envelope, * and ** alone on all names', () => {
    const target: GrantTarget = { entity: '*', actions: ['read'] };
    expect(faultsOf({ filter: { $createdBy: { $var: 'user.name' } }, read: ['*'] }, target)).toEqual([]);
    expect(faultsOf({ read: ['**', 'region', '-region'] }, target)).toEqual(['/read/1 invalid-value', '/read/2 invalid-value']);
  });

  test('has up to 8 KiB', () => {
    const ofSize = (bytes: number) => ({ filter: { region: 'x'.repeat(bytes - '{"filter":{"region":""}}'.length) } });
    expect(faultsOf(ofSize(8_192), onOrder('read'))).toEqual([]);
    expect(faultsOf(ofSize(8_193), onOrder('read'))).toEqual([' too-long']);
  });
});

describe('a rule that is bound', () => {
  const bound = (document: RuleDocument, target = onOrder('update'), fields: FieldTypes = closed) =>
    faultsOfBinding(document, target, { fields, variables }).map(({ pointer, code }) => `${pointer} ${code}`);

  test('names fields and variables that exist, in filters and lists', () => {
    const fine = { filter: { region: { $in: { $var: 'user.regions' } } }, check: { state: 's' }, read: ['*', '-total'], write: ['$key'] };
    expect(bound(fine)).toEqual([]);
    const misspelt = { filter: { regoin: 'n' }, check: { $and: [{ total: 'x' }] }, read: ['*', '-totl'], write: ['stat'] };
    expect(bound(misspelt)).toEqual([
      '/filter/regoin unknown-field',
      '/check/$and/0/total invalid-type',
      '/read/1 unknown-field',
      '/write/0 unknown-field',
    ]);
    expect(bound(misspelt, onOrder('update'), undeclaredFields)).toEqual([]);
  });

  test('names fields of the envelope alone on all names', () => {
    const document = { filter: { $createdBy: { $var: 'user.name' }, region: 'n' } };
    expect(bound(document, { entity: '*', actions: ['read'] }, envelopeFields)).toEqual(['/filter/region unknown-field']);
  });

  test('has up to 20 tests in all of its members', () => {
    const tests = (count: number) => ({ $or: Array.from({ length: count }, () => ({ region: 'n' })) });
    expect(bound({ filter: tests(10), check: tests(10) })).toEqual([]);
    expect(bound({ filter: tests(10), check: tests(11) })).toEqual([' too-many-tests']);
    expect(bound({ check: tests(19), set: { state: 's' } }, onOrder('create'))).toEqual([]);
    expect(bound({ check: tests(20), set: { state: 's' } }, onOrder('create'))).toEqual([' too-many-tests']);
  });
});

test('documents with the same members have the same digest, whatever their order, and others have another', () => {
  expect(digestOfRule({ filter: { a: 1, b: { $gt: 1, $lt: 2 } } })).toBe(digestOfRule({ filter: { b: { $lt: 2, $gt: 1 }, a: 1 } }));
  expect(digestOfRule({ read: ['a', 'b'] })).not.toBe(digestOfRule({ read: ['b', 'a'] }));
  expect(digestOfRule({ filter: {} })).toMatch(/^[0-9a-f]{64}$/);
  assert(
    property(json({ maxDepth: 4 }), (text) => {
      const value: unknown = JSON.parse(text);
      expect(JSON.parse(canonicalText(value))).toEqual(value);
    }),
  );
});
