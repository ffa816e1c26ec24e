/** Reads single values of settings and collects their problems. `settings.ts` has their meaning. */
import { Secret } from './secrets.ts';

/** Variables by name, as in `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Reads settings one by one and collects their problems. An empty value counts as not set. */
export class Reader {
  readonly problems: string[] = [];
  /** The names that were read. */
  readonly names = new Set<string>();
  readonly #environment: Environment;

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  text(name: string): string | undefined;
  text(name: string, fallback: string): string;
  text(name: string, fallback?: string): string | undefined {
    return this.#value(name) || fallback;
  }

  secret(name: string): Secret | undefined {
    const text = this.text(name);
    return text === undefined ? undefined : new Secret(text);
  }

  integer(name: string, fallback: number, minimum: number, maximum: number): number {
    const text = this.#value(name);
    if (!text) return fallback;
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= minimum && value <= maximum) return value;
    this.problems.push(`${name} must be a whole number from ${minimum} to ${maximum}, not "${text}"`);
    return fallback;
  }

  /** A number from 0 to 1. */
  share(name: string, fallback: number): number {
    const text = this.#value(name);
    if (!text) return fallback;
    const value = /^\d*\.?\d+$/.test(text) ? Number(text) : Number.NaN;
    if (value <= 1) return value;
    this.problems.push(`${name} must be a number from 0 to 1, not "${text}"`);
    return fallback;
  }

  choice<T extends string>(name: string, fallback: T, allowed: readonly T[]): T {
    const text = this.#value(name);
    if (!text) return fallback;
    const found = allowed.find((value) => value === text);
    if (found) return found;
    this.problems.push(`${name} must be one of ${allowed.join(', ')}, not "${text}"`);
    return fallback;
  }

  list(name: string): string[] {
    return (this.#value(name) ?? '')
      .split(',')
      .map((item) => item.trim())
      .filter(Boolean);
  }

  /** Whether it is set to an empty value. */
  isEmpty(name: string): boolean {
    return this.#value(name) === '';
  }

  #value(name: string): string | undefined {
    this.names.add(name);
    return this.#environment[name];
  }
}
