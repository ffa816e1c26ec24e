/** The texts of parts of a JSON text that `json.ts` has accepted, digit for digit: parsing would turn `1.50` into `1.5`. */
import { endOfString } from './parse-json.ts';

const [quote, comma] = [34, 44];
const [openArray, closeArray, openObject, closeObject] = [91, 93, 123, 125];

/** The texts of the items of an array, or of the members of an object with their names, without the spaces around them. */
function partsOf(text: string): string[] {
  const parts: string[] = [];
  const start = text.search(/[[{]/) + 1;
  let depth = 0;
  let from = start;
  for (let at = start; depth >= 0; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) at = endOfString(text, at) - 1;
    else if (code === openArray || code === openObject) depth++;
    else if (code === closeArray || code === closeObject) depth--;
    if (depth < 0 || (depth === 0 && code === comma)) {
      const part = text.slice(from, at).trim();
      if (part !== '') parts.push(part);
      from = at + 1;
    }
  }
  return parts;
}

/** The texts of the items of a JSON array. */
export function itemTexts(array: string): string[] {
  return partsOf(array);
}

/** The texts of the values of a JSON object, by the names of their members. */
export function memberTexts(object: string): Map<string, string> {
  return new Map(
    partsOf(object).map((part) => {
      const end = endOfString(part, 0);
      return [JSON.parse(part.slice(0, end)) as string, part.slice(part.indexOf(':', end) + 1).trim()];
    }),
  );
}

/** The text of the object with `replacement`, a JSON text, in place of the value at `path`, which must lead through objects to a member. */
export function withReplaced(object: string, [name, ...below]: readonly string[], replacement: string): string {
  const members = [...memberTexts(object)].map(([member, text]) => {
    const value = member !== name ? text : below.length === 0 ? replacement : withReplaced(text, below, replacement);
    return `${JSON.stringify(member)}:${value}`;
  });
  return `{${members.join(',')}}`;
}
