/** Rights to write without the rights to read that requests need. */
import type { Kysely } from 'kysely';
import type { Database } from '../../database/tables.ts';
import { listCompanions } from '../../entity-types/store.ts';
import type { Grants } from '../../rights/permit.ts';
import type { Action, Condition } from '../../rights/vocabulary.ts';

/** Entities of the type `from` refer to those of the type `to`. */
export interface ReferencingType {
  from: string;
  to: string;
}

export async function listReferences(db: Kysely<Database>): Promise<ReferencingType[]> {
  return (await listCompanions(db)).flatMap(({ name, companion }) => companion.references.map(({ to }) => ({ from: name, to })));
}

const conditionOf = (grants: Grants, name: string, ...actions: Action[]): Condition | undefined => {
  const conditions = actions.flatMap((action) => [name, '*'].flatMap((each) => grants.get(each)?.get(action) ?? []));
  return conditions.find((condition) => condition === 'any') ?? conditions[0];
};

/** The names that the grants update without `read`, as sentences without a subject. Such updates are refused (rule 116). */
export function updatesUnread(grants: Grants): string[] {
  const names = [...grants].flatMap(([name, actions]) => (actions.has('update') ? [name] : []));
  return names.filter((name) => !conditionOf(grants, name, 'read')).map((name) => `updates ${name} without \`read\``);
}

/** The names that the grants write without `label` or `read` of what they refer to, likewise. A reference to it is refused (rule 115). */
export function referencesUnread(grants: Grants, references: readonly ReferencingType[]): string[] {
  const findings = references.flatMap(({ from, to }) => {
    if (!conditionOf(grants, from, 'create', 'update')) return [];
    const seen = conditionOf(grants, to, 'label', 'read');
    if (seen !== undefined && seen !== 'own') return [];
    return [
      `writes ${from}, which refers to ${to}, ${seen === 'own' ? 'and sees own entities of it alone' : 'without `label` or `read` of it'}`,
    ];
  });
  return [...new Set(findings)];
}
