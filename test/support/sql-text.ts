/** Writes SQL for people: each clause on a line of its own, and what does not fit into a line indented below. */

const width = 130;
const clauses =
  /^(?:with|select|from|where|group by|having|order by|limit|offset|union all|union|(?:left |cross )?join|returning|values|set|using|on conflict|for (?:no key )?(?:update|share)|insert into|update|delete from)\b/i;
/** What comes before a word that begins no clause: `delete from`, `is distinct from`, `do update set`, `for update`. */
const isInsideClause = /\b(?:cross|delete|distinct|do|left|rows|do update|for|key|between \S+) $/i;
const connectives = /^(?:and|or|when|else)\b/i;

/** The statement in lines. The words stay as they are; white space does not, except in texts. */
export function formatSql(text: string): string {
  return layOut(compact(text), 0).join('\n');
}

/** One space in place of any white space outside of quotes. */
function compact(text: string): string {
  const parts = text.match(/'(?:[^']|'')*'|"[^"]*"|\s+|[^\s'"]+/g) ?? [];
  return parts
    .map((part) => (/^\s/.test(part) ? ' ' : part))
    .join('')
    .replaceAll(/\( /g, '(')
    .replaceAll(/ \)/g, ')')
    .trim();
}

function layOut(text: string, depth: number): string[] {
  const indent = '  '.repeat(depth);
  if (indent.length + text.length <= width) return [indent + text];
  const byClause = splitBefore(text, (rest) => clauses.test(rest));
  if (byClause.length > 1) return byClause.flatMap((clause) => layOut(clause, depth));
  const byConnective = splitBefore(text, (rest) => connectives.test(rest));
  if (byConnective.length > 1) return indentAfterFirst(byConnective, depth);
  const byComma = splitAfterCommas(text);
  if (byComma.length > 1) return indentAfterFirst(joinShort(byComma, width - 2 * depth - 2), depth);
  return openParentheses(text, depth);
}

const indentAfterFirst = ([first = '', ...others]: string[], depth: number): string[] => [
  ...layOut(first, depth),
  ...others.flatMap((each) => layOut(each, depth + 1)),
];

/** Puts as many of the pieces into a line as fit. */
function joinShort(texts: string[], room: number): string[] {
  const lines: string[] = [];
  for (const text of texts) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + text.length < room) lines[lines.length - 1] = `${last} ${text}`;
    else lines.push(text);
  }
  return lines;
}

/** The longest pair of parentheses gets lines of its own. */
function openParentheses(text: string, depth: number): string[] {
  const pairs = outerPairs(text);
  const longest = pairs.reduce<[number, number] | undefined>(
    (best, pair) => (best && best[1] - best[0] >= pair[1] - pair[0] ? best : pair),
    undefined,
  );
  const indent = '  '.repeat(depth);
  if (!longest || longest[1] - longest[0] < 2) return [indent + text];
  const [open, close] = longest;
  const inside = layOut(text.slice(open + 1, close).trim(), depth + 1);
  const after = layOut(text.slice(close), depth);
  return [...layOut(text.slice(0, open + 1), depth), ...inside, ...after];
}

function outerPairs(text: string): [number, number][] {
  const pairs: [number, number][] = [];
  let open = 0;
  walk(text, (index, level) => {
    if (text[index] === '(' && level === 0) open = index;
    if (text[index] === ')' && level === 1) pairs.push([open, index]);
  });
  return pairs;
}

/** Splits at words outside of parentheses. */
function splitBefore(text: string, begins: (rest: string) => boolean): string[] {
  const places = [0];
  walk(text, (index, level) => {
    if (level > 0 || text[index - 1] !== ' ' || isInsideClause.test(text.slice(0, index))) return;
    if (begins(text.slice(index))) places.push(index);
  });
  return pieces(text, places);
}

function splitAfterCommas(text: string): string[] {
  const places = [0];
  walk(text, (index, level) => {
    if (level === 0 && text[index] === ',') places.push(index + 1);
  });
  return pieces(text, places);
}

const pieces = (text: string, places: number[]): string[] =>
  places.map((place, index) => text.slice(place, places[index + 1]).trim()).filter((piece) => piece !== '');

/** Calls `visit` for each character outside of quotes, with the number of parentheses around it. */
function walk(text: string, visit: (index: number, level: number) => void): void {
  let level = 0;
  let quote: string | undefined;
  for (let index = 0; index < text.length; index++) {
    const character = text[index] ?? '';
    if (quote !== undefined) {
      if (character === quote) quote = undefined;
    } else if (character === "'" || character === '"') quote = character;
    else {
      visit(index, level);
      if (character === '(' || character === '[') level++;
      if (character === ')' || character === ']') level--;
    }
  }
}
