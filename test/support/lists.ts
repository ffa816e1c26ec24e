/** Asks the service for lists, page by page, and inserts many rows at once. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { DatabaseError } from 'pg';
import { expect } from 'vitest';
import { inSchema } from '../../src/entities/companion/table.ts';
import { fillCompanion } from '../../src/entities/companion/fill.ts';
import { findStoredType } from '../../src/entity-types/store.ts';
import type { Entity } from './entities.ts';
import { scratchDirectory } from './scratch.ts';
import type { Answer, ProblemBody, TestService } from './service.ts';

export interface EntityPage {
  items: Entity[];
  next: string | null;
  prev: string | null;
  count?: { value: number; kind: string };
  included?: Record<string, Record<string, Entity>>;
  withheld?: { name: string; key: string }[];
}

/** The query of a list, as the body of `queryEntities` has it. */
export interface ListQuery {
  filter?: unknown;
  search?: string;
  sort?: string[];
  limit?: number;
  cursor?: string;
  fields?: string[];
  include?: string[];
  count?: string;
}

type Credential = { cookie: string } | { headers: Record<string, string> };

/** The path of `listEntities` with this query. */
export function listPath(name: string, { filter, search, sort, limit, cursor, fields, include, count }: ListQuery = {}): string {
  const parameters = {
    filter: filter && JSON.stringify(filter),
    search,
    sort: sort?.join() || undefined,
    limit,
    cursor,
    fields: fields?.join(),
    include: include?.join() || undefined,
    count,
  };
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined) as [string, string][];
  return `/rest/entity/${name}?${new URLSearchParams(given).toString()}`;
}

/** A page by `listEntities`. */
export function list<T = EntityPage>(service: TestService, caller: Credential, name: string, query: ListQuery = {}): Promise<Answer<T>> {
  return service.call<T>('GET', listPath(name, query), caller);
}

/** A page by `queryEntities`. */
export function queryBy<T = EntityPage>(service: TestService, caller: Credential, name: string, query: ListQuery = {}): Promise<Answer<T>> {
  return service.call<T>('POST', `/rest/entity/${name}/query`, { ...caller, json: query });
}

/** The faults of a refusal as `parameter pointer code`, without what is empty. */
export function faultsIn({ body }: Answer<ProblemBody>): string[] {
  return (body.errors ?? []).map(({ parameter, pointer, code }) => [parameter, pointer, code].filter(Boolean).join(' '));
}

/** All pages from the first on, or by `prev` from the last one back; at most 200. */
export async function pagesOf(service: TestService, caller: Credential, name: string, query: ListQuery, by = list): Promise<EntityPage[]> {
  const pages: EntityPage[] = [];
  for (let cursor: string | null | undefined = query.cursor; pages.length < 200;) {
    const answer: Answer<EntityPage> = await by(service, caller, name, { ...query, ...(cursor && { cursor }) });
    expect(answer.status, answer.text).toBe(200);
    pages.push(answer.body);
    cursor = answer.body.next;
    if (cursor === null) break;
  }
  return pages;
}

export const keysIn = (pages: readonly EntityPage[]): string[] => pages.flatMap(({ items }) => items.map(({ key }) => key));

/** The keys of what a page or an entity includes, by name. JavaScript puts members of digits in their order. */
export const keysIncluded = ({ included = {} }: { included?: EntityPage['included'] | undefined }): Record<string, string[]> =>
  Object.fromEntries(Object.entries(included).map(([name, entities]) => [name, Object.keys(entities)]));

/** Inserts entities, with the rows of a companion table, and returns their keys in order. `owners` take turns. */
export async function seedMany({ db }: TestService, name: string, all: readonly object[], ...owners: string[]): Promise<string[]> {
  const { rows } = await sql<{ key: string }>`
    insert into entity (name, fields, version, created_by, updated_by, created_at, updated_at)
    select ${name}, value, n % 3 + 1, owner[n % cardinality(owner) + 1], owner[1],
      timestamptz '2026-01-01T00:00:00Z' + n % 5 * interval '1 ms', '2026-01-02T00:00:00Z'
    from jsonb_array_elements(${JSON.stringify(all)}::jsonb) with ordinality as input (value, n), (select ${owners}::text[] as owner) as owners
    returning key::text`.execute(db);
  const { companion } = await findStoredType(db, name);
  if (companion) {
    const fill = () => fillCompanion(db, name, companion, () => undefined);
    await fill().catch(async (error: unknown) => {
      if (!(error instanceof DatabaseError && error.code === '23503')) throw error;
      // A test may refer to entities that do not exist.
      const constraints = companion.references.map((reference) => sql`drop constraint if exists ${sql.ref(reference.name)}`);
      await sql`alter table ${inSchema(companion.table)} ${sql.join(constraints)}`.execute(db);
      await fill();
    });
  }
  return rows.map(({ key }) => key);
}

/** Inserts `count` entities with the member `n`, 1 to `count`. */
export async function seedNumbers({ db }: TestService, name: string, count: number, owner: string): Promise<void> {
  await sql`insert into entity (name, fields, created_by, updated_by)
    select ${name}, jsonb_build_object('n', n), ${owner}, ${owner} from generate_series(1, ${count}::int) as n`.execute(db);
}

/** A directory for ENTITY_TYPES_DIR with these JSON Schemas. */
export async function writeTypes(types: Readonly<Record<string, object>>): Promise<string> {
  const directory = await scratchDirectory('types');
  await Promise.all(Object.entries(types).map(([name, schema]) => writeFile(join(directory, `${name}.json`), JSON.stringify(schema))));
  return directory;
}
