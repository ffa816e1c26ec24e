/** The statement of an aggregation. */
import { sql, type CompiledQuery, type RawBuilder } from 'kysely';
import type { BoundFields } from '../companion/fields.ts';
import { builder } from '../../database/driver/prepared.ts';
import { filterCondition } from '../../filter/compile.ts';
import type { ScalarType } from '../../filter/fields.ts';
import { sqlTypes, type Source } from '../../filter/source.ts';
import type { AggregateRequest, Grouping, Measure, Unit } from './aggregate-request.ts';
import { directionOf, type SelectedRows } from './list-statements.ts';

/** A group: the JSON texts of its key and of its measures, in the order of the request; null for JSON null. */
export interface GroupRow {
  key: (string | null)[];
  measures: (string | null)[];
}

type Expression = RawBuilder<unknown>;

/** The groups of `rows`, whose values `fields` has, one more than the limit if there are more. */
export function aggregateQuery(rows: SelectedRows, fields: BoundFields, request: AggregateRequest): CompiledQuery<GroupRow> {
  const { groups, measures, having, sort, limit } = request;
  const column = ({ field, type }: Pick<Grouping, 'field' | 'type'>) => fields.of(field, type).expression;
  const groupRefs = groups.map((_, index) => sql.ref(`g${index}`));
  const measureRefs = measures.map((_, index) => sql.ref(`m${index}`));
  const selected = [
    ...groups.map((group, index) => sql`${groupValue(group, column(group))} as ${sql.ref(`g${index}`)}`),
    ...measures.map((measure, index) => sql`${measureValue(measure, column)} as ${sql.ref(`m${index}`)}`),
  ];
  const order = [
    ...sort.map(({ of, index, descending }) => sql`${sql.ref(`${of === 'groups' ? 'g' : 'm'}${index}`)} ${directionOf(descending)}`),
    ...groupRefs,
  ];
  return sql<GroupRow>`
    select array[${sql.join(groups.map((group, index) => jsonOf(group.by === undefined ? group.type : 'string', shown(group, sql.ref(`g${index}`)))))}]::text[] as key,
      array[${sql.join(measures.map((measure, index) => measureJson(measure, sql.ref(`m${index}`))))}]::text[] as measures
    from (
      select ${sql.join(selected)} from ${rows.from} where ${rows.where}
      ${groups.length > 0 ? sql`group by ${sql.join(groups.map((_, index) => sql.lit(index + 1)))}` : sql``}
    ) as groups
    where ${filterCondition(having, measureSource(measures, measureRefs))}
    ${order.length > 0 ? sql`order by ${sql.join(order)}` : sql``}
    limit ${limit + 1}`.compile(builder);
}

/** What the values of a group have in common. Periods are local times of the zone, and texts for days. */
function groupValue({ by, type, zone }: Grouping, column: Expression): Expression {
  if (by === undefined) return column;
  return type === 'date' ? periodOfDay(by, column) : sql`date_trunc(${by}, ${column} at time zone ${zone})`;
}

/** A stored text may be no day: it was stored before its type was declared. */
function periodOfDay(by: Unit, column: Expression): Expression {
  const isDay = sql`${column} ~ '^\\d{4}-(0[1-9]|1[0-2])-\\d\\d$'`;
  switch (by) {
    case 'year':
      return sql`case when ${isDay} then left(${column}, 4) end`;
    case 'quarter':
      return sql`case when ${isDay} then left(${column}, 4) || '-Q' || (substr(${column}, 6, 2)::int + 2) / 3 end`;
    case 'month':
      return sql`case when ${isDay} then left(${column}, 7) end`;
    case 'week':
      return sql`to_char(entity_instant(${column} || 'T00:00:00Z') at time zone 'UTC', ${formats.week})`;
    default:
      return sql`case when ${isDay} then ${column} end`;
  }
}

/** As `to_char` writes periods: those of weeks by ISO 8601. */
const formats: Readonly<Record<Unit, string>> = {
  year: 'YYYY',
  quarter: 'YYYY-"Q"Q',
  month: 'YYYY-MM',
  week: 'IYYY-"W"IW',
  day: 'YYYY-MM-DD',
  hour: 'YYYY-MM-DD"T"HH24',
};

function shown({ by, type }: Grouping, value: Expression): Expression {
  return by === undefined || type === 'date' ? value : withYear(value, sql`to_char(${value}, ${formats[by]})`);
}

/**
 * SQL: `text`, which PostgreSQL has written for the local time `value`, with the year of ISO 8601. In UTC or in the zone of a group, an
 * instant of the years 1 and 9999 may be of the year 0, which is 1 BC for PostgreSQL, or of 10000.
 */
function withYear(value: Expression, text: Expression): Expression {
  return sql`case when ${value} < '0001-01-01' then '0000' || substr(replace(${text}, ' BC', ''), 5)
    when ${value} >= '10000-01-01' then '+0' || ${text} else ${text} end`;
}

function measureValue(measure: Measure, column: (field: Pick<Grouping, 'field' | 'type'>) => Expression): Expression {
  switch (measure.of) {
    case 'count':
      return sql`count(*)`;
    case 'sum':
      return sql`sum(${column(measure)}::numeric)`;
    case 'avg':
      return sql`avg(${column(measure)}::numeric)`;
    case 'min':
      return sql`min(${column(measure)})`;
    case 'max':
      return sql`max(${column(measure)})`;
  }
}

/** SQL: the JSON text of a measure. Sums and averages are decimal texts, since a JSON number would not be exact. */
function measureJson(measure: Measure, value: Expression): Expression {
  switch (measure.of) {
    case 'count':
      return sql`${value}::text`;
    case 'sum':
      return jsonOf('string', measure.type === 'decimal' ? sql`${value}::text` : sql`trim_scale(${value})::text`);
    case 'avg':
      return jsonOf('string', sql`trim_scale(${value})::text`);
    default:
      return jsonOf(measure.type, value);
  }
}

/** SQL: the JSON text of a value as a field of the type is written; null for null. */
function jsonOf(type: ScalarType, value: Expression): Expression {
  switch (type) {
    case 'number':
      return sql`trim_scale(${value})::text`;
    case 'decimal':
      return sql`to_json(trim_scale(${value})::text)::text`;
    case 'int64':
      return sql`to_json(${value}::text)::text`;
    case 'date-time':
      return sql`to_json(${withYear(sql`(${value} at time zone 'UTC')`, sql`(to_json(${value} at time zone 'UTC') #>> '{}')`)} || 'Z')::text`;
    default:
      return sql`to_json(${value})::text`;
  }
}

/** The measures as fields of a filter. */
function measureSource(measures: readonly Measure[], references: readonly Expression[]): Source {
  const reference = ([name]: readonly string[]) => references[measures.findIndex((measure) => measure.name === name)] ?? sql`null`;
  return {
    json: (field) => sql`to_jsonb(${reference(field)})`,
    typed: (field, type) => (sqlTypes[type] === 'text' ? sql`${reference(field)} collate "C"` : reference(field)),
    matches() {
      throw new Error('measures have no texts to search');
    },
  };
}
