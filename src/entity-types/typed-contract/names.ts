/**
 * The names of the schemas of entity types. No two are equal, also where a generator ignores case, and none is a name of the contract or of
 * JavaScript. They depend on no type that the caller may not see (rule 64).
 */
import { createHash } from 'node:crypto';
import type { ContractDocument } from '../../contract/contract.ts';
import { entityOperations } from './entity-operations.ts';
import { sharedTests } from './tests.ts';

/** What follows the name of a type in the names of its further schemas. */
export const roles = ['New', 'Patch', 'List', 'Filter', 'Sort', 'Entity', 'View', 'Page', 'Query', 'Aggregation'] as const;

const verbs = Object.values(entityOperations).map(({ verb }) => verb);
/** What makes a verb of another one: a type `many-customers` would have `createManyCustomers`, too. */
const infixes = verbs.flatMap((verb) =>
  verbs.filter((other) => other !== verb && other.startsWith(verb)).map((other) => other.slice(verb.length)),
);

/** Globals that generated code uses under their own names. */
const globals = (
  'Array Blob Boolean Date Error File FormData Function Headers Map Number Object Omit Partial Pick Promise Readonly ' +
  'Record Request Required Response Set String Symbol URL URLSearchParams'
).split(' ');

/** The schema name of each type, such as `OrderLine` for `order-line`. */
export function schemaNames(names: readonly string[], contract: ContractDocument): ReadonlyMap<string, string> {
  const taken = takenNames(contract);
  const isTaken = (name: string) => ['', ...roles].some((role) => taken.has((name + role).toLowerCase()));
  const wanted = names.map((name) => {
    const pascal = pascalCase(name);
    return { name, base: isTaken(pascal) ? `${pascal}Type` : pascal };
  });
  const counts = Map.groupBy(wanted, ({ base }) => base.toLowerCase());
  const derived = new Set(
    wanted.flatMap(({ base }) =>
      [...roles.map((role) => base + role), ...infixes.map((infix) => infix + base)].map((name) => name.toLowerCase()),
    ),
  );
  return new Map(
    wanted.map(({ name, base }) => {
      const isAlone = counts.get(base.toLowerCase())?.length === 1 && !derived.has(base.toLowerCase()) && !isTaken(base);
      return [name, isAlone ? base : `${base}__${digestOf(name)}`];
    }),
  );
}

/** Every word of the text with a capital letter in front, and nothing between them: letters and digits only. */
export function pascalCase(text: string): string {
  const words = text.split(/[^A-Za-z0-9]+/).filter((word) => word !== '');
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}

/** In lower case: schemas, tags, what follows the verb in an operation id, and globals. */
function takenNames({ components, paths, tags }: ContractDocument): ReadonlySet<string> {
  const operationIds = Object.values(paths).flatMap((path) =>
    Object.values(path).flatMap((operation) => ('operationId' in operation ? operation.operationId : [])),
  );
  const nouns = operationIds.flatMap((id) => verbs.filter((verb) => id.startsWith(verb)).map((verb) => id.slice(verb.length)));
  const schemas = [...Object.keys(components['schemas'] ?? {}), ...Object.keys(sharedTests)];
  return new Set([...schemas, ...tags.map(({ name }) => name), ...nouns, ...globals].map((name) => name.toLowerCase()));
}

function digestOf(name: string): string {
  return createHash('sha256').update(name).digest('hex').slice(0, 8);
}
