/** A change of the attributes of one user or profile, checked against their declarations. */
import { sql, type Transaction } from 'kysely';
import { lockDeclaredTypes } from '../../accounts/attributes.ts';
import { nearName } from '../../config/near-name.ts';
import type { Database } from '../../database/tables.ts';
import { Problem } from '../../problems/errors.ts';
import type { Fault } from '../../problems/faults.ts';
import { pointerTo } from '../../problems/pointer.ts';
import { faultsOfValue, keysIn, type DeclaredTypes } from '../../rights/attribute-types.ts';
import type { AttributeOwner } from '../../rights/vocabulary.ts';

/** The most attributes of a user or profile, and their most bytes as JSON. */
const maximumAttributes = 30;
const maximumBytes = 4_096;

/** Values by name; null removes one. */
export type AttributeChanges = Readonly<Record<string, unknown>>;

export interface ChangedAttributes {
  /** All of them behind the change. */
  attributes: Record<string, unknown>;
  /** The names of those that differ. */
  names: string[];
  /** The values of those before and behind the change; null for none. */
  before: Record<string, unknown>;
  after: Record<string, unknown>;
}

/**
 * What `changes` make of the present attributes of a user or profile, whose row must be locked. Throws 422 `validation-failed` with a fault for each value that
 * is not declared, not of its type, or the key of no entity, and for too many of them.
 */
export async function changeAttributes(
  trx: Transaction<Database>,
  owner: AttributeOwner,
  present: Readonly<Record<string, unknown>>,
  changes: AttributeChanges,
): Promise<ChangedAttributes> {
  const declared = await lockDeclaredTypes(trx, owner, Object.keys(changes));
  const entries = Object.entries(changes);
  const undeclared = entries.flatMap(([name, value]) => (declared.has(name) || (value === null && name in present) ? [] : [name]));
  const all = { ...present, ...changes };
  const attributes = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null));
  const faults: Fault[] = [
    ...(await faultsOfNames(trx, owner, undeclared)),
    ...entries.flatMap(([name, value]) => {
      const type = declared.get(name);
      if (!type || value === null) return [];
      return new Problem('validation-failed', { faults: faultsOfValue(type, value) }).under(pointerOf(name)).faults;
    }),
  ];
  if (Object.keys(attributes).length > maximumAttributes)
    faults.push({ code: 'too-many-values', pointer: '/attributes', values: { limit: maximumAttributes } });
  if (Buffer.byteLength(JSON.stringify(attributes)) > maximumBytes)
    faults.push({ code: 'too-long', pointer: '/attributes', values: { maximum: maximumBytes } });
  if (faults.length === 0) faults.push(...(await faultsOfReferences(trx, declared, changes)));
  if (faults.length > 0) throw new Problem('validation-failed', { faults });
  const names = Object.keys(changes).filter((name) => JSON.stringify(present[name]) !== JSON.stringify(attributes[name]));
  const valuesIn = (values: Readonly<Record<string, unknown>>) => Object.fromEntries(names.map((name) => [name, values[name] ?? null]));
  return { attributes, names, before: valuesIn(present), after: valuesIn(attributes) };
}

const pointerOf = (name: string) => pointerTo(['attributes', name]);

/** A fault for each name, with the declared one that was meant. */
async function faultsOfNames(trx: Transaction<Database>, owner: AttributeOwner, names: readonly string[]): Promise<Fault[]> {
  if (names.length === 0) return [];
  const rows = await trx.selectFrom('attribute').where('owner', '=', owner).select('name').execute();
  return names.map((name) => {
    const instead = nearName(
      name,
      rows.map((row) => row.name),
    );
    return { code: 'unknown', pointer: pointerOf(name), ...(instead !== undefined && { values: { instead } }) };
  });
}

/** A fault for each key of no entity. An entity may be deleted later: then the value leads to none. */
async function faultsOfReferences(trx: Transaction<Database>, declared: DeclaredTypes, changes: AttributeChanges): Promise<Fault[]> {
  const faults: Fault[] = [];
  for (const [name, type] of declared) {
    const { [name]: value = null } = changes;
    const keys = value === null ? [] : keysIn(type, value);
    if (keys.length === 0) continue;
    const { rows } = await sql<{ key: string }>`
      select key from entity where name = ${type.to} and key = any(${keys}::bigint[])`.execute(trx);
    const found = new Set(rows.map(({ key }) => key));
    for (const [index, key] of keys.entries())
      if (!found.has(key)) faults.push({ code: 'reference-not-found', pointer: `${pointerOf(name)}${type.isList ? `/${index}` : ''}` });
  }
  return faults;
}
