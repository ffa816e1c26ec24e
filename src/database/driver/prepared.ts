/**
 * Statements of the hot path. Kysely builds and compiles each once, and the connections run it under its name. Building a query for each request
 * would cost as much as running it (docs/performance.md).
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
import { withSpan, type SpanDescription } from '../../telemetry/spans.ts';
import type { Rows, Statement } from './timeout-client.ts';
import { nameOf, nameOfRepeated, nameOfVariant, registerName } from './statement-names.ts';
import { statementWork, unnamedWork } from './statement-work.ts';
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
  /** `onConnection` is called when there is a connection for the statement, by an executor that may have to wait for one. */
  send(statement: Statement, onConnection?: () => void): Rows;
}

/** Runs the statement: values by name in, rows out, exactly as node-postgres reads them. */
export interface PreparedStatement<V, R> {
  (to: Executor, values: V): Promise<R[]>;
  /** The statement with these values for Kysely's `executeQuery`, in a transaction or not. */
  query(values: V): CompiledQuery<R>;
  /** How traces describe it. */
  work: SpanDescription;
}

/** Makes the place of a value in a prepared statement: `value<string>('key')`. */
export type ValueOf<V> = <K extends keyof V & string>(name: K) => RawBuilder<V[K]>;

/**
 * Compiles what `build` makes, once. `name` is its name on the connections, and what traces call it. Throws an Error when another statement has
 * the name. With `variant` it is one of several statements of the name, made while the process runs: the variant, at most 40 letters and digits, must
 * follow from the text.
 */
export function prepare<V extends object, R>(
  name: string,
  build: (value: ValueOf<V>) => CompiledQuery<R>,
  variant?: string,
): PreparedStatement<V, R> {
  const compiled = build((key) => sql`${new Placeholder(key)}`);
  const text = compiled.sql;
  const order = compiled.parameters.map((parameter) => (parameter instanceof Placeholder ? (parameter.name as keyof V) : undefined));
  const bind = (values: V): unknown[] => order.map((key, index) => (key === undefined ? compiled.parameters[index] : values[key]));
  const work = statementWork(name, text);
  if (variant === undefined) registerName(name, text);
  const nameOnConnection = variant === undefined ? nameOf(text) : nameOfVariant(name, variant);
  const run = async (to: Executor, values: V) => {
    const { rows } = await withSpan(work, () => to.send({ name: nameOnConnection, text, values: bind(values) }));
    return rows as R[];
  };
  return Object.assign(run, { work, query: (values: V) => ({ ...compiled, parameters: bind(values) }) });
}

/** Runs a statement that was built for one request, without a name. */
export async function runBuilt<R>(to: Executor, { sql: text, parameters }: CompiledQuery<R>): Promise<R[]> {
  return await runText(to, undefined, text, parameters);
}

/** The same for a statement whose best plan is the same for all values. It gets a name when it comes again. */
export async function runRepeated<R>(to: Executor, { sql: text, parameters }: CompiledQuery<R>): Promise<R[]> {
  return await runText(to, nameOfRepeated(text), text, parameters);
}

async function runText<R>(to: Executor, name: string | undefined, text: string, parameters: readonly unknown[]): Promise<R[]> {
  const { rows } = await withSpan(
    () => unnamedWork(text),
    () => to.send({ name, text, values: [...parameters] }),
  );
  return rows as R[];
}
