/**
 * Files of secrets that may change while the process runs (decision 176). Their content is compared and not their time of change: Kubernetes
 * replaces a link, network file systems report no changes, and two changes within the same second are both seen.
 */
import { readFile } from 'node:fs/promises';
import { ConfigError } from './settings.ts';

/** A value of now; it may be another one at the next call. */
export interface Current<T> {
  readonly current: T;
}

/**
 * What a file has to contain. Returns its value, and adds what is wrong to `problems`, without quoting the content; each follows the name of the
 * file. `before` is the value in force, undefined at the start.
 */
export type ParseSecrets<T> = (text: string, problems: string[], before?: T) => T;

/** The members that all such files have. */
export type FollowedFile = Pick<SecretFile<unknown>, 'name' | 'problem' | 'reload' | 'onChange'>;

export class SecretFile<T> implements Current<T> {
  /** For people: the setting that names the file. */
  readonly name: string;
  readonly #file: string;
  readonly #parse: ParseSecrets<T>;
  #text: string;
  #current: T;
  #problem: string | undefined;
  #running: Promise<void> | undefined;
  /** Called when other content is in force, or with the problem for which it is not. */
  onChange: (problem: string | undefined) => void = () => undefined;

  private constructor(name: string, file: string, parse: ParseSecrets<T>, text: string, current: T) {
    this.name = name;
    this.#file = file;
    this.#parse = parse;
    this.#text = text;
    this.#current = current;
  }

  /** Throws {@link ConfigError} with every problem of the file. */
  static async open<T>(name: string, file: string, parse: ParseSecrets<T>): Promise<SecretFile<T>> {
    const text = await readText(name, file);
    return new SecretFile(name, file, parse, text, parsed(name, file, parse, text));
  }

  get current(): T {
    return this.#current;
  }

  /** Why the content of the file is not in force, as of the last look; undefined if it is. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Reads the file again. Content that cannot be used changes nothing but {@link problem}. Never throws. */
  reload(): Promise<void> {
    this.#running ??= this.#reload().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #reload(): Promise<void> {
    const before = this.#problem;
    try {
      const text = await readText(this.name, this.#file);
      const isNew = text !== this.#text;
      if (isNew) this.#current = parsed(this.name, this.#file, this.#parse, text, this.#current);
      this.#text = text;
      this.#problem = undefined;
      if (isNew || before !== undefined) this.onChange(undefined);
    } catch (error) {
      this.#problem = error instanceof ConfigError ? error.message : String(error);
      if (this.#problem !== before) this.onChange(this.#problem);
    }
  }
}

async function readText(name: string, file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new ConfigError([`${name} ${file}: cannot be read: ${error instanceof Error ? error.message : String(error)}`]);
  }
}

function parsed<T>(name: string, file: string, parse: ParseSecrets<T>, text: string, before?: T): T {
  const problems: string[] = [];
  const value = parse(text, problems, before);
  if (problems.length > 0) throw new ConfigError(problems.map((problem) => `${name} ${file}${problem}`));
  return value;
}
