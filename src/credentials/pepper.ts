/**
 * The peppers (rule 36): secrets that are part of every password hash and are not in the database. A copy of the database alone is not
 * enough to guess passwords. They form a key ring (rule 87): new hashes use the first, and the others verify existing hashes.
 */
import { SecretFile, type ParseSecrets } from '../config/secret-file.ts';
import { Secret } from '../config/secrets.ts';

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

/** Reports a problem with its line number, but not with the content of the line. Another value of an id would make every hash with it unusable. */
const parsePeppers: ParseSecrets<Peppers> = (text, problems, before = []) => {
  const peppers: Pepper[] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line === '') continue;
    const report = (problem: string) => problems.push(`, line ${index + 1}: ${problem}`);
    const colon = line.indexOf(':');
    const [id, value] = [line.slice(0, Math.max(0, colon)), line.slice(colon + 1)];
    if (!idShape.test(id)) report('must begin with an id of 1 to 8 letters, digits, _ and -, and a colon');
    else if (!secretShape.test(value)) report(`the value of ${id} must be 32 to 1024 ASCII characters without blanks`);
    else if (examples.has(value)) report(`the value of ${id} is the example of the documentation, which is no secret`);
    else if (peppers.some((other) => other.id === id)) report(`${id} is another pepper's id already`);
    else if (before.some((other) => other.id === id && other.secret.reveal() !== value))
      report(`the value of ${id} has changed: a new value needs a new id`);
    else peppers.push({ id, secret: new Secret(value) });
  }
  if (problems.length === 0 && peppers.length === 0) problems.push(' has no pepper: write a line id:value');
  return peppers;
};

/** The ring in `file`, one line `id:value` for each pepper. Throws ConfigError with every problem. */
export async function openPeppers(file: string): Promise<SecretFile<Peppers>> {
  return await SecretFile.open('PASSWORD_PEPPER_FILE', file, parsePeppers);
}

/** The peppers that are in `file` now; none for undefined. Throws ConfigError with every problem. */
export async function readPeppers(file: string | undefined): Promise<Peppers> {
  return file === undefined ? [] : (await openPeppers(file)).current;
}
