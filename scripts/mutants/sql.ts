/** The small mistakes for a text of SQL. */

export interface Change {
  kind: string;
  /** Offsets in the file's text: `replacement` replaces the text from `start` to `end`. */
  start: number;
  end: number;
  replacement: string;
}

const isSql = /\b(select|insert into|update \w+ set|delete from|update \$\{|from \w+)\b/i;

const rules: [kind: string, pattern: RegExp, replacement: (found: string) => string][] = [
  ['lock removed', /\bfor (no key update|key share|update|share)( of \w+)?( nowait| skip locked)?/g, () => ''],
  ['condition removed', /\band (?!\$)[^\n]*[^\n`,]/g, () => ''],
  ['comparison', /(?<= )(<|<=|>|>=|<>)(?= )/g, (found) => ({ '<': '<=', '<=': '<', '>': '>=', '>=': '>', '<>': '=' })[found] ?? found],
  ['extremum', /\b(least|greatest)(?=\()/g, (found) => (found === 'least' ? 'greatest' : 'least')],
  ['existence', /\b(not exists|exists)(?= ?\()/g, (found) => (found === 'exists' ? 'not exists' : 'exists')],
  ['null', /\bis (not )?null\b/g, (found) => (found === 'is null' ? 'is not null' : 'is null')],
  ['order', /\b(asc|desc)\b/g, (found) => (found === 'asc' ? 'desc' : 'asc')],
  ['limit removed', /\blimit (\d+|\$\{\w+\}|\$\d+)/g, () => ''],
  ['either', /\bor\b/g, () => 'and'],
  ['sum', /(?<= )\+(?= )/g, () => '-'],
];

/** The mistakes between two offsets of a text; none if the text is not known to be SQL and does not look like it. */
export function sqlMutations(text: string, start: number, end: number, isKnown: boolean): Change[] {
  const sql = text.slice(start, end);
  if (!isKnown && !isSql.test(sql)) return [];
  return rules.flatMap(([kind, pattern, replacement]) =>
    [...sql.matchAll(pattern)].map((match) => ({
      kind: `SQL ${kind}`,
      start: start + match.index,
      end: start + match.index + match[0].length,
      replacement: replacement(match[0]),
    })),
  );
}
