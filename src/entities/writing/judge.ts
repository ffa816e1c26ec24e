/**
 * Judges changes by the rules of a permit before they are written. One statement tests the filters and checks of all grants on its snapshot. The change is then written
 * into the version that was tested, so a row that another transaction has changed meanwhile is judged again (decision 320).
 */
import { sql, type RawBuilder } from 'kysely';
import { LRUCache } from 'lru-cache';
import { builder, prepare, type PreparedStatement, type ValueOf } from '../../database/driver/prepared.ts';
import type { Statements } from '../../database/port.ts';
import type { Field } from '../../filter/fields.ts';
import { parseJson } from '../../json/parse-json.ts';
import { Problem } from '../../problems/errors.ts';
import type { ChangeFacts, ChangeRule } from '../../rights/change-rule.ts';
import type { PermitValues } from '../../rights/coverage.ts';
import type { Permit } from '../../rights/permit.ts';
import { areLight } from '../size-classes.ts';
import { Judgement } from './judgement.ts';
import { valuesAt } from './references.ts';
import { typeRevision } from '../type-revision.ts';

/** The most digests whose statements are stored. The least recently used ones are compiled again. */
const maximumDigests = 64;

/** The names of the members of a JSON text of an object. */
export const namesIn = (text: string): string[] => Object.keys(parseJson(text) as object);

interface CreationRow extends Required<Pick<ChangeFacts, 'accepts' | 'readsAfter'>> {
  n: string;
}

/** The judgement of each new entity, whose fields are JSON texts; undefined for a permit without rules. */
export async function judgeCreations(
  store: Pick<Statements, 'run'>,
  { change: rule, entity, userName }: Permit<'create'>,
  texts: readonly string[],
): Promise<(Judgement | undefined)[]> {
  if (!rule) return texts.map(() => undefined);
  const rows = texts.map((text, n) => `{"n":${n},"fields":${text}}`);
  const found = await store.run(creationsBy(rule), { ...rule.values, owner: null, name: entity, userName, rows: `[${rows.join()}]` });
  const byRow = new Map(found.map((row) => [Number(row.n), row]));
  return texts.map((text, n) => {
    const row = byRow.get(n);
    if (!row) throw new Error('there is a judgement for each entity');
    const sent = namesIn(text);
    return new Judgement(rule, row, { sent, changed: new Set(sent) }, true);
  });
}

type CreationValues = PermitValues & { userName: string; rows: string };

const creationsBy = preparedByRule<CreationValues, CreationRow>('entity.judge-creates', (value, rule) => {
  const { accepts, reads } = rule.after({ row: 'entity', value });
  return sql<CreationRow>`
    select n, ${accepts} as accepts, ${reads} as "readsAfter"
    from jsonb_to_recordset(${value('rows')}::jsonb) as input (n int, fields jsonb)
    cross join lateral (
      select ${value('name')}::text as name, null::bigint as key, 1::bigint as version, input.fields, now() as created_at,
        ${value('userName')}::text as created_by, now() as updated_at, ${value('userName')}::text as updated_by offset 0
    ) as entity`;
});

/** A change of one entity. */
export interface WantedMerge {
  key: string;
  /** JSON text of a merge patch. */
  patch?: string | undefined;
  /** JSON text of the fields afterwards; undefined for those that the patch makes. */
  merged?: string | undefined;
  /** The members that the caller has sent; undefined for those of the patch, and without a patch for all of the row before and afterwards that do not stay. */
  members?: readonly string[] | undefined;
  /** The fields that stay as they are, besides those that the row before hides from the caller; undefined if none stays, because `merged` has all. */
  staying?: readonly string[] | undefined;
  /** The fields that the caller has named in any case. They do not stay. */
  named?: readonly string[] | undefined;
}

/** The result of a change of an entity, and its judgement. */
export interface JudgedMerge {
  version: string;
  typeRevision: string;
  /** The fields afterwards as JSON text; null for a heavy entity if `light` is set. */
  fields: string | null;
  /** The present values at the paths, as JSON texts. */
  present: (string | null)[] | null;
  /** Undefined for a heavy entity if `light` is set. */
  judgement: Judgement | undefined;
}

interface MergeRow extends Omit<JudgedMerge, 'judgement'> {
  n: string;
  covers: boolean[];
  reads: boolean[];
  accepts: boolean[];
  readsAfter: boolean[];
  sent: string[] | null;
  changed: string[] | null;
}

export interface MergeReading {
  /** Whether a heavy entity is left out, so that the look costs little on a connection that requests share. */
  light: boolean;
  /** The paths to references. */
  paths: readonly Field[];
  /** Whether the entities are in the trash. */
  isTrash?: boolean;
}

/**
 * Judges each change. Undefined in its place for an entity that does not exist, or that the grants of the action do not cover; `forbidden` if those of `read` cover
 * it.
 */
export async function judgeMerges(
  store: Pick<Statements, 'run'>,
  { entity, userName }: Permit<'update'>,
  rule: ChangeRule,
  wanted: readonly WantedMerge[],
  { light, paths, isTrash = false }: MergeReading,
): Promise<(JudgedMerge | 'forbidden' | undefined)[]> {
  const rows = wanted.map(({ key, patch = 'null', merged = 'null', members, staying, named }, n) => {
    const sent = members && Object.fromEntries(members.map((name) => [name, true]));
    return `${JSON.stringify({ n, key, members: sent, staying, named }).slice(0, -1)},"patch":${patch},"merged":${merged}}`;
  });
  const statement = isTrash ? trashedMergesBy(rule) : mergesBy(rule);
  const values = { ...rule.values, owner: null, name: entity, userName, light, paths: JSON.stringify(paths), rows: `[${rows.join()}]` };
  const found = new Map((await store.run(statement, values)).map((row) => [Number(row.n), row]));
  return wanted.map((_, n) => {
    const row = found.get(n);
    if (!row || (!rule.isCovered(row) && !rule.isReadable(row))) return undefined;
    if (!rule.isCovered(row)) return 'forbidden';
    const { version, typeRevision: revision, fields, present, sent, changed } = row;
    const members = { sent: sent ?? [], changed: new Set(changed) };
    const judgement = fields === null ? undefined : new Judgement(rule, row, members, false);
    return { version, typeRevision: revision, fields, present, judgement };
  });
}

/** Judges one change. Throws 404, and 403 for an entity that the caller may read. */
export async function judgeMerge(
  store: Pick<Statements, 'run'>,
  permit: Permit<'update'>,
  rule: ChangeRule,
  wanted: WantedMerge,
  look: MergeReading,
): Promise<JudgedMerge> {
  const [judged] = await judgeMerges(store, permit, rule, [wanted], look);
  if (judged === undefined) throw new Problem('not-found');
  if (judged === 'forbidden') throw new Problem('forbidden', { audit: { entity: permit.entity, action: 'update' } });
  return judged;
}

type MergeValues = PermitValues & { userName: string; light: boolean; paths: string; rows: string };

const mergesBy = preparedByRule<MergeValues, MergeRow>('entity.judge-changes', (value, rule) => mergesIn(sql`entity`, value, rule));
const trashedMergesBy = preparedByRule<MergeValues, MergeRow>('entity.judge-restores', (value, rule) =>
  mergesIn(sql`(select * from entity_trash where expires_at > now()) as entity`, value, rule),
);

function mergesIn(table: RawBuilder<unknown>, value: ValueOf<MergeValues>, rule: ChangeRule): RawBuilder<MergeRow> {
  const before = rule.before({ row: 'entity', value });
  const after = rule.after({ row: 'after', value });
  const hidden = rule.hidden({ row: 'entity', value });
  const kept = sql`array(
    select name from (select jsonb_object_keys(${hidden}) union select unnest(input.staying)) as staying (name)
    where input.staying is not null and name <> all(coalesce(input.named, '{}')))`;
  const candidates = sql`coalesce(input.members, input.patch, (entity.fields || after.fields) - kept.names)`;
  return sql<MergeRow>`
    select n, entity.version, ${typeRevision(value('name'))} as "typeRevision", covers, reads, accepts, "readsAfter",
      case when true = any(covers) then after.fields::text end as fields,
      case when after.fields is not null then ${valuesAt(sql`entity.fields`, value('paths'))} end as present,
      array(select jsonb_object_keys(${candidates})) as sent, change.changed
    from jsonb_to_recordset(${value('rows')}::jsonb) as input (n int, key bigint, patch jsonb, merged jsonb, members jsonb, staying text[], named text[])
    cross join lateral (select entity.* from ${table} where entity.name = ${value('name')} and entity.key = input.key offset 0) as entity
    cross join lateral (select ${before.covers} as covers, ${before.reads} as reads offset 0) as tested
    cross join lateral (select ${kept} as names offset 0) as kept
    left join lateral (
      select entity.name, entity.key, entity.version + 1 as version,
        case when input.merged is null then json_merge_patch(entity.fields, input.patch)
          else (input.merged - kept.names) || (entity.fields - array(select jsonb_object_keys(entity.fields - kept.names))) end as fields,
        entity.created_at, entity.created_by, greatest(now(), entity.updated_at) as updated_at, ${value('userName')}::text as updated_by
      where not ${value('light')}::boolean or ${areLight(sql`entity.fields`)} offset 0
    ) as after on true
    cross join lateral (select ${after.accepts} as accepts, ${after.reads} as "readsAfter" offset 0) as found
    cross join lateral json_changed_members(entity.fields, after.fields, ${candidates}) as change
    where true = any(covers) or true = any(reads)`;
}

/** Makes the statement for a rule: always the same one for the same digest. */
function preparedByRule<V extends object, R>(
  name: string,
  build: (value: ValueOf<V>, rule: ChangeRule) => RawBuilder<R>,
): (rule: ChangeRule) => PreparedStatement<V, R> {
  const statements = new LRUCache<string, PreparedStatement<V, R>>({ max: maximumDigests });
  return (rule) => {
    const statement = statements.get(rule.digest) ?? prepare<V, R>(name, (value) => build(value, rule).compile(builder), rule.digest);
    statements.set(rule.digest, statement);
    return statement;
  };
}
