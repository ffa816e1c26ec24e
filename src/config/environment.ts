/**
 * The sources of settings: the environment of the process and, in development, the file `.env`; and parsing of single values. `settings.ts`
 * has their meaning.
 */
import { loadEnvFile } from 'node:process';
import { Secret } from './secrets.ts';

/**
 * `process.env`, completed from `.env` in the working directory unless NODE_ENV is production. Variables that are set already stay
 * unchanged.
 */
export function readEnvironment(): NodeJS.ProcessEnv {
  if (process.env['NODE_ENV'] !== 'production') {
    try {
      loadEnvFile();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
  return process.env;
}

/** Variables by name, as in `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Reads settings one by one and collects their problems. An empty value counts as not set. */
export class Reader {
  readonly problems: string[] = [];
  readonly #environment: Environment;

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  text(name: string): string | undefined;
  text(name: string, fallback: string): string;
  text(name: string, fallback?: string): string | undefined {
    return this.#environment[name] || fallback;
  }

  secret(name: string): Secret | undefined {
    const text = this.text(name);
    return text === undefined ? undefined : new Secret(text);
  }

  integer(name: string, fallback: number, minimum: number, maximum: number): number {
    const text = this.#environment[name];
    if (!text) return fallback;
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= minimum && value <= maximum) return value;
    this.problems.push(`${name} must be a whole number from ${minimum} to ${maximum}, not "${text}"`);
    return fallback;
  }

  /** A number from 0 to 1. */
  share(name: string, fallback: number): number {
    const text = this.#environment[name];
    if (!text) return fallback;
    const value = /^\d*\.?\d+$/.test(text) ? Number(text) : Number.NaN;
    if (value <= 1) return value;
    this.problems.push(`${name} must be a number from 0 to 1, not "${text}"`);
    return fallback;
  }

  choice<T extends string>(name: string, fallback: T, allowed: readonly T[]): T {
    const text = this.#environment[name];
    if (!text) return fallback;
    const found = allowed.find((value) => value === text);
    if (found) return found;
    this.problems.push(`${name} must be one of ${allowed.join(', ')}, not "${text}"`);
    return fallback;
  }

  list(name: string): string[] {
    return (this.#environment[name] ?? '')
      .split(',')
      .map((item) => item.trim())
      .filter(Boolean);
  }
}
