/** The declared types as a process knows them. */
import { sql } from 'kysely';
import { expect, test, vi } from 'vitest';
import { TypeRegistry } from '../../src/entity-types/registry.ts';
import { Compiler } from '../../src/json-schema/compiler.ts';
import { declareType } from '../support/entities.ts';
import { useService } from '../support/service.ts';

const service = useService();

test('concurrent requests share the load of a type, and later ones its result', async () => {
  await declareType(service(), 'order', { required: ['a'] });
  const { revision } = await service().db.selectFrom('entity_type').select('revision').executeTakeFirstOrThrow();
  const registry = new TypeRegistry(service().db, { entityTypes: 'open' });
  const [first, ...others] = await Promise.all(Array.from({ length: 5 }, () => registry.at('order', revision)));
  expect(first?.document).toEqual({ required: ['a'] });
  for (const type of [...others, await registry.find('order')]) expect(type).toBe(first);
});

test('a load makes one validator', async () => {
  await declareType(service(), 'receipt', { properties: { a: { type: 'string' } } });
  const compile = vi.spyOn(Compiler.prototype, 'compileRoot');
  try {
    await new TypeRegistry(service().db, { entityTypes: 'open' }).find('receipt');
    expect(compile).toHaveBeenCalledTimes(1);
  } finally {
    compile.mockRestore();
  }
});

test('what a transaction loads is there for later ones', async () => {
  await declareType(service(), 'invoice', { required: ['a'] });
  const registry = new TypeRegistry(service().db, { entityTypes: 'open' });
  const find = () =>
    service()
      .db.transaction()
      .execute((trx) => registry.within(trx).find('invoice'));
  const first = await find();
  expect(first?.document).toEqual({ required: ['a'] });
  expect(await find()).toBe(first);
  expect(await registry.find('invoice')).toBe(first);
});

test('a load that failed is tried again', async () => {
  const registry = new TypeRegistry(service().db, { entityTypes: 'open' });
  await expect(registry.at('order', '999999')).rejects.toThrow('999999');
  await expect(registry.at('order', '999999')).rejects.toThrow('999999');
});

test('a name whose first type is being built has no type yet, so it does not exist where only declared names do (rule 64)', async () => {
  await sql`
    with revision as (
      insert into entity_type_revision (name, document, source, plan, applied_by)
      values ('ghost', '{}', 'api', '{"isPlaceholder":true}', 'ada') returning revision
    )
    insert into entity_type (name, revision) select 'ghost', revision from revision`.execute(service().db);
  const find = (entityTypes: 'open' | 'declared') => new TypeRegistry(service().db, { entityTypes }).find('ghost');
  expect((await find('open'))?.isPlaceholder).toBe(true);
  await expect(find('declared')).rejects.toMatchObject({ code: 'not-found' });
});

test('a load of all revisions that failed is tried again by the next request, although notifications arrive', async () => {
  await declareType(service(), 'retried', { required: ['a'] });
  let failures = 1;
  const failing = service().db.withPlugin({
    transformQuery: ({ node }) => {
      if (failures-- > 0) throw new Error('the database is away');
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  const registry = new TypeRegistry(failing, { entityTypes: 'open' });
  registry.enable(true);
  await expect(registry.find('retried')).rejects.toThrow('the database is away');
  expect((await registry.find('retried'))?.document).toEqual({ required: ['a'] });
});
