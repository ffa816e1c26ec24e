import { inspect } from 'node:util';

/**
 * A secret from the environment or from a file (rules 84 and 86). Text, JSON and inspection give its description instead of the secret, so that
 * it reaches no log line, audit event or message. Only `reveal` gives the secret. A list of names to leave out of the log could lack a new one.
 */
export class Secret {
  readonly #text: string;
  readonly #description: string;

  /** `description` is public. */
  constructor(text: string, description = '(set)') {
    this.#text = text;
    this.#description = description;
  }

  reveal(): string {
    return this.#text;
  }

  toString(): string {
    return this.#description;
  }

  toJSON(): string {
    return this.#description;
  }

  [inspect.custom](): string {
    return this.#description;
  }
}
