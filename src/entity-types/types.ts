/**
 * Declared entity types: one JSON Schema (2020-12) an entity name, read once at the start from ENTITY_TYPES_DIR. A schema says what fields
 * are accepted; it changes none of them. Beside the schema a type says whether changes must name a version. Who may touch entities of the
 * name is not its business.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { compileSchema } from '../contract/every-error.ts';
import { faultsOf } from '../http/validation-faults.ts';
import { ConfigError, type Config } from '../config/settings.ts';
import { Problem } from '../errors.ts';
import { isEntityName } from '../entities/name.ts';

/**
 * Throws 422 `validation-failed`, with the places of what is wrong, unless the fields fit the type. `sent` gives what the caller sent,
 * if that is not the same.
 */
export type CheckFields = (fields: unknown, sent?: () => unknown) => void;

export interface EntityType {
  check: CheckFields;
  /** Whether an update or a delete needs If-Match. */
  requiresIfMatch: boolean;
}

export interface EntityTypes {
  /**
   * What holds for entities called `name`; undefined when they may be any object. Throws 404 `not-found` when only declared names exist and
   * this is none (rule 64).
   */
  find(name: string): EntityType | undefined;
}

/**
 * Reads `<name>.json`, `<name>.yaml` and `<name>.yml` in ENTITY_TYPES_DIR; other files are not looked at. Throws {@link ConfigError} with a
 * line for each file that is no schema or no name, so that nothing starts with a rule missing.
 */
export async function readEntityTypes({
  entityTypes,
  entityTypesDir,
}: Pick<Config, 'entityTypes' | 'entityTypesDir'>): Promise<EntityTypes> {
  // A Map, since `constructor` is a valid name (rule 65).
  const types = new Map<string, EntityType>();
  const problems: string[] = [];
  for (const file of await listFiles(entityTypesDir, problems)) {
    const [, name = ''] = /^(.*)\.(?:json|ya?ml)$/.exec(file) ?? [];
    try {
      if (!isEntityName(name))
        throw new Error('the part before the dot must be an entity name: a letter, then up to 63 letters, digits, _ . -');
      if (types.has(name)) throw new Error(`there is a second file for ${name}`);
      types.set(name, compile(await readFile(join(entityTypesDir ?? '', file), 'utf8'), file));
    } catch (error) {
      problems.push(`ENTITY_TYPES_DIR: ${file}: ${describe(error)}`);
    }
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return {
    find(name) {
      const type = types.get(name);
      if (!type && entityTypes === 'declared') throw new Problem('not-found');
      return type;
    },
  };
}

async function listFiles(directory: string | undefined, problems: string[]): Promise<string[]> {
  if (directory === undefined) return [];
  try {
    const files = await readdir(directory);
    return files.filter((file) => /\.(json|ya?ml)$/.test(file)).sort();
  } catch (error) {
    problems.push(`ENTITY_TYPES_DIR: ${describe(error)}`);
    return [];
  }
}

/** What JSON Schema has no word for. */
const ifMatchKeyword = 'x-if-match';

function compile(text: string, file: string): EntityType {
  const type: unknown = file.endsWith('.json') ? JSON.parse(text) : parse(text);
  if (typeof type !== 'object' || type === null || Array.isArray(type)) throw new Error('a type is a JSON Schema, an object');
  const { [ifMatchKeyword]: ifMatch, ...schema } = type as Record<string, unknown>;
  if (ifMatchKeyword in type && ifMatch !== 'required') throw new Error(`${ifMatchKeyword} must be "required", or left out`);
  // Its validator would answer with a promise, which is true.
  if ('$async' in schema) throw new Error('$async is not of JSON Schema');
  const validate = compileSchema(schema);
  return {
    check(fields, sent = () => fields) {
      if (!validate(fields)) throw faultsOf(validate.errors ?? [], 'body', sent());
    },
    requiresIfMatch: ifMatch === 'required',
  };
}

const describe = (error: unknown): string => (error instanceof Error ? error.message : String(error)).replaceAll(/\s*\n\s*/g, ' ').trim();
