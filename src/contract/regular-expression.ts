/**
 * Parses regular expressions of ECMA 262 with the flag u, in time proportional to their length. V8 would compile what it parses, and makes the set of each
 * class, so no text of a caller becomes a `RegExp` (rule 146).
 */

/** Groups inside each other. V8 refuses more of them too, at a number that depends on its stack. */
const deepestGroup = 5_000;

/** The text is no regular expression. */
class NotARegularExpression extends Error {}

/** The alternatives between two parentheses, or of the whole expression. */
interface Group {
  name: string | undefined;
  isQuantifiable: boolean;
  /** The names of groups in the present alternative, and in those before it. A name may stand in several alternatives, once in each. */
  names: GroupNames;
  namesBefore: GroupNames;
}

/** Undefined: none. Most groups have none. */
type GroupNames = Set<string> | undefined;

const openings: readonly [RegExp, Partial<Group>][] = [
  [/\?<?[=!]/y, { isQuantifiable: false }],
  [/\?:/y, {}],
  [/\?(?=[ims-]*:)(?!-?:)(?!.?.?.?([ims]).{0,4}\1)[ims]{0,3}(?:-[ims]{0,3})?:/y, {}],
];
const quantifier = /(?:[*+?]|\{(\d+)(?:,(\d*))?\})\??/y;
const groupName =
  /\?<((?:[\p{ID_Start}$_]|\\u(?:[\da-fA-F]{4}|\{[\da-fA-F]+\}))(?:[\p{ID_Continue}$\u200c\u200d]|\\u(?:[\da-fA-F]{4}|\{[\da-fA-F]+\}))*)>/uy;
const reference = /\\k<([^>]*)>/uy;
const backReference = /\\([1-9]\d*)/y;
const classEscape = /\\(?:[dDsSwW]|[pP]\{([A-Za-z0-9_]{1,64}(?:=[A-Za-z0-9_]{1,64})?)\})/y;
const characterEscape =
  /\\(?:([fnrtv])|c([A-Za-z])|0(?!\d)|x([\da-fA-F]{2})|u([dD][89abAB][\da-fA-F]{2})\\u([dD][c-fC-F][\da-fA-F]{2})|u([\da-fA-F]{4})|u\{([\da-fA-F]+)\}|([\^$\\.*+?()[\]{}|/]))/y;
const controls: Readonly<Record<string, number>> = { f: 12, n: 10, r: 13, t: 9, v: 11 };

/** By the name of a property with its value, as in `\p{Script=Greek}`, which has letters, digits, `_` and `=` only: whether V8 has it. */
const properties = new Map<string, boolean>();

/** Whether the text is one, with at most 5,000 groups inside each other. */
export function isRegularExpression(text: string): boolean {
  try {
    new Parser(text).parse();
    return true;
  } catch (error) {
    if (error instanceof NotARegularExpression) return false;
    throw error;
  }
}

class Parser {
  readonly #text: string;
  #at = 0;
  readonly #open: Group[] = [newGroup()];
  #captures = 0;
  #highestReference = 0;
  readonly #names = new Set<string>();
  readonly #references = new Set<string>();

  constructor(text: string) {
    this.#text = text;
  }

  parse(): void {
    while (this.#at < this.#text.length) this.#term();
    if (this.#open.length > 1 || this.#highestReference > this.#captures) fail();
    for (const name of this.#references) if (!this.#names.has(name)) fail();
  }

  #term(): void {
    const letter = this.#text.charAt(this.#at);
    switch (letter) {
      case '(':
        return this.#opening();
      case ')':
        return this.#closing();
      case '|':
        this.#at += 1;
        return this.#nextAlternative();
      case '^':
      case '$':
        this.#at += 1;
        return;
      case '[':
        this.#class();
        return this.#quantifier();
      case '\\':
        if (this.#match(/\\[bB]/y)) return;
        this.#escape();
        return this.#quantifier();
      default:
        if ('*+?{}]'.includes(letter)) fail();
        this.#at += codeUnits(this.#text.codePointAt(this.#at));
        return this.#quantifier();
    }
  }

  #opening(): void {
    this.#at += 1;
    if (this.#open.length > deepestGroup) fail();
    const isPlain = this.#text.charAt(this.#at) !== '?';
    for (const [form, group] of isPlain ? [] : openings) {
      if (!this.#match(form)) continue;
      this.#open.push({ ...newGroup(), ...group });
      return;
    }
    const [, written = ''] = isPlain ? [] : (this.#match(groupName) ?? fail());
    const name = isPlain ? undefined : nameOf(written);
    if (name !== undefined) this.#names.add(name);
    this.#captures += 1;
    this.#open.push({ ...newGroup(), name });
  }

  #closing(): void {
    this.#at += 1;
    this.#nextAlternative();
    const group = this.#open.pop();
    const around = this.#open.at(-1);
    if (!group || !around) return fail();
    const inside = group.name === undefined ? group.namesBefore : union(group.namesBefore, new Set([group.name]), true);
    around.names = union(around.names, inside, true);
    if (group.isQuantifiable) this.#quantifier();
  }

  #nextAlternative(): void {
    const group = this.#open.at(-1);
    if (!group) return;
    group.namesBefore = union(group.names, group.namesBefore, false);
    group.names = undefined;
  }

  #quantifier(): void {
    if (!'*+?{'.includes(this.#text.charAt(this.#at))) return;
    const [, least, most] = this.#match(quantifier) ?? [];
    if (least !== undefined && most !== undefined && most !== '' && Number(least) > Number(most)) fail();
  }

  #escape(): void {
    const [, number] = this.#match(backReference) ?? [];
    if (number !== undefined) {
      this.#highestReference = Math.max(this.#highestReference, Number(number));
      return;
    }
    const [, written] = this.#match(reference) ?? [];
    if (written !== undefined) {
      this.#references.add(nameOf(written));
      return;
    }
    if (!this.#classEscape()) this.#character();
  }

  #class(): void {
    this.#at += this.#text.startsWith('[^', this.#at) ? 2 : 1;
    while (this.#text.charAt(this.#at) !== ']') {
      const first = this.#classAtom();
      if (this.#text.charAt(this.#at) !== '-' || this.#text.charAt(this.#at + 1) === ']') continue;
      this.#at += 1;
      const last = this.#classAtom();
      // A range has characters at both ends.
      if (first === undefined || last === undefined || first > last) fail();
    }
    this.#at += 1;
  }

  /** The code point; undefined for a class of characters. */
  #classAtom(): number | undefined {
    const point = this.#text.codePointAt(this.#at);
    if (point === undefined) return fail();
    if (this.#text.charAt(this.#at) !== '\\') {
      this.#at += codeUnits(point);
      return point;
    }
    if (this.#match(/\\b/y)) return 8;
    if (this.#match(/\\-/y)) return 45;
    return this.#classEscape() ? undefined : this.#character();
  }

  #classEscape(): boolean {
    const found = this.#match(classEscape);
    if (found?.[1] !== undefined && !isProperty(found[1])) fail();
    return found !== null;
  }

  #character(): number {
    const found = this.#match(characterEscape);
    if (!found) return fail();
    const [, control, letter, byte, high, low, unit, point, itself] = found;
    if (control !== undefined) return controls[control] ?? 0;
    if (letter !== undefined) return letter.charCodeAt(0) % 32;
    if (high !== undefined && low !== undefined)
      return String.fromCharCode(Number.parseInt(high, 16), Number.parseInt(low, 16)).codePointAt(0) ?? 0;
    if (itself !== undefined) return itself.charCodeAt(0);
    const number = Number.parseInt(byte ?? unit ?? point ?? '0', 16);
    return number > 0x10ffff ? fail() : number;
  }

  #match(form: RegExp): RegExpExecArray | null {
    form.lastIndex = this.#at;
    const found = form.exec(this.#text);
    if (found) this.#at = form.lastIndex;
    return found;
  }
}

const newGroup = (): Group => ({ name: undefined, isQuantifiable: true, names: undefined, namesBefore: undefined });
const codeUnits = (point: number | undefined): number => ((point ?? 0) > 0xffff ? 2 : 1);

/** The larger set, with the names of the other one. No name may be in both if they are `apart`. */
function union(one: GroupNames, other: GroupNames, apart: boolean): GroupNames {
  if (!one || !other) return one ?? other;
  const [small, large] = one.size < other.size ? [one, other] : [other, one];
  for (const name of small) {
    if (apart && large.has(name)) fail();
    large.add(name);
  }
  return large;
}

/** The name of a group, whose characters may be written as escapes. */
function nameOf(written: string): string {
  const name = written.replaceAll(
    /\\u(?:\{([\da-fA-F]+)\}|([\da-fA-F]{4}))/gu,
    (_, point: string | undefined, unit: string | undefined) => {
      const number = Number.parseInt(point ?? unit ?? '', 16);
      return number > 0x10ffff ? fail() : point === undefined ? String.fromCharCode(number) : String.fromCodePoint(number);
    },
  );
  return /^[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*$/u.test(name) ? name : fail();
}

function isProperty(name: string): boolean {
  const known = properties.get(name);
  if (known !== undefined) return known;
  let isKnown = true;
  try {
    void new RegExp(`\\p{${name}}`, 'u');
  } catch {
    isKnown = false;
  }
  // There are some hundreds of properties, and any number of other names.
  if (isKnown) properties.set(name, true);
  return isKnown;
}

function fail(): never {
  throw new NotARegularExpression();
}
