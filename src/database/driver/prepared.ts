/**
 * Statements of the hot path: built and compiled by Kysely once, then run straight on the pool as named statements. Building a query
 * anew costs as much as running it (docs/performance.md).
 */
import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  sql,
  type CompiledQuery,
  type RawBuilder,
} from 'kysely';
import { spanning, type SpanDescription } from '../../telemetry/spans.ts';
import type { Rows, Statement } from './timeout-client.ts';
import { nameOf } from './statement-names.ts';
import { statementWork } from './statement-work.ts';
import type { Database } from '../tables.ts';

/** Builds statements and runs none: they are prepared before there is a database. */
export const builder = new Kysely<Database>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
});

/** Stands for a value until the statement runs. */
class Placeholder {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/** Runs statements: the pool, or the connections that reads share. */
export interface Executor {
  send(statement: Statement): Rows;
}

/** Runs the statement: values by name in, rows out. */
export interface PreparedStatement<V, R> {
  (to: Executor, values: V): Promise<R[]>;
  /** What it is called where it is told what a request spends its time on. */
  work: SpanDescription;
}

/** Makes the place of a value in a prepared statement: `value<string>('key')`. */
export type ValueOf<V> = <K extends keyof V & string>(name: K) => RawBuilder<V[K]>;

/** Compiles what `build` makes; `bind` gives its parameters for values by name. */
function compile<V extends object, R>(build: (value: ValueOf<V>) => CompiledQuery<R>) {
  const compiled = build((key) => sql`${new Placeholder(key)}`);
  const order = compiled.parameters.map((parameter) => (parameter instanceof Placeholder ? (parameter.name as keyof V) : undefined));
  const bind = (values: V): unknown[] => order.map((key, index) => (key === undefined ? compiled.parameters[index] : values[key]));
  return { compiled, bind };
}

/**
 * Compiles what `build` makes and returns the function that puts values, by name, into it. The result is for Kysely's `executeQuery`, in a
 * transaction or not.
 */
export function compileOnce<V extends object, R>(build: (value: ValueOf<V>) => CompiledQuery<R>): (values: V) => CompiledQuery<R> {
  const { compiled, bind } = compile(build);
  return (values) => ({ ...compiled, parameters: bind(values) });
}

/**
 * Compiles what `build` makes and returns the function that runs it: values by name in, rows out, exactly as node-postgres reads them.
 * `name` must be the statement's own: it is what PostgreSQL keeps it under, and what it is called where it is told what a request spends its time
 * on.
 */
export function prepare<V extends object, R>(name: string, build: (value: ValueOf<V>) => CompiledQuery<R>): PreparedStatement<V, R> {
  const { compiled, bind } = compile(build);
  const text = compiled.sql;
  const work = statementWork(name, text);
  const runIt = async (to: Executor, values: V) => {
    const statement = { name: nameOf(text, name), text, values: bind(values) };
    const { rows } = await spanning(work, () => to.send(statement));
    return rows as R[];
  };
  return Object.assign(runIt, { work });
}
