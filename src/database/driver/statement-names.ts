/**
 * Names for statements: PostgreSQL parses and plans a named one once a connection, an unnamed one each time (docs/performance.md).
 */

/** A process knows some dozens of statements; past this many, further ones are sent unnamed, so nothing grows without bound. 0 names none. */
const maximumNames = 300;
const names = new Map<string, string>();

/** The name under which `text` is prepared, `own` if it has one; undefined when the process already knows too many. */
export function nameOf(text: string, own?: string): string | undefined {
  let name = names.get(text);
  if (name === undefined && names.size < maximumNames) {
    name = own ?? `s${names.size}`;
    names.set(text, name);
  }
  return name;
}
