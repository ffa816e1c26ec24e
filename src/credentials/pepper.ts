/**
 * The peppers (rule 36): secrets that are part of every password hash and are not in the database. A copy of the database alone is not
 * enough to guess passwords. They form a key ring (rule 87): new hashes use the first, and the others verify existing hashes.
 */
import { readFile } from 'node:fs/promises';
import { Secret } from '../config/secrets.ts';
import { ConfigError } from '../config/settings.ts';

export interface Pepper {
  /** The id of the pepper, stored with each hash that uses it. */
  id: string;
  secret: Secret;
}

/** Empty: new hashes have no pepper. */
export type Peppers = readonly Pepper[];

/** At most eight bytes: the size of `keyid` in a PHC string of argon2. */
const idShape = /^[A-Za-z0-9_-]{1,8}$/;
const secretShape = /^[\x21-\x7e]{32,1024}$/;

/** The published examples of docs/security.md (rule 86). */
const examples = new Set(['this-is-an-example-and-never-taken-as-a-pepper', 'this-one-too-is-an-example-and-never-taken']);

/**
 * The peppers in `file`, one line `id:value` each; none for undefined. Throws {@link ConfigError} with every problem. A problem has its
 * line number, but not the content of the line.
 */
export async function readPeppers(file: string | undefined): Promise<Peppers> {
  if (file === undefined) return [];
  const problems: string[] = [];
  const peppers: Pepper[] = [];
  for (const [index, line] of (await readText(file)).split(/\r?\n/).entries()) {
    if (line === '') continue;
    const report = (problem: string) => problems.push(`PASSWORD_PEPPER_FILE ${file}, line ${index + 1}: ${problem}`);
    const colon = line.indexOf(':');
    const [id, value] = [line.slice(0, Math.max(0, colon)), line.slice(colon + 1)];
    if (!idShape.test(id)) report('must begin with an id of 1 to 8 letters, digits, _ and -, and a colon');
    else if (!secretShape.test(value)) report(`the value of ${id} must be 32 to 1024 ASCII characters without blanks`);
    else if (examples.has(value)) report(`the value of ${id} is the example of the documentation, which is no secret`);
    else if (peppers.some((other) => other.id === id)) report(`${id} is another pepper's id already`);
    else peppers.push({ id, secret: new Secret(value) });
  }
  if (problems.length === 0 && peppers.length === 0) problems.push(`PASSWORD_PEPPER_FILE ${file} has no pepper: write a line id:value`);
  if (problems.length > 0) throw new ConfigError(problems);
  return peppers;
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new ConfigError([`PASSWORD_PEPPER_FILE ${file}: cannot be read: ${error instanceof Error ? error.message : String(error)}`]);
  }
}
