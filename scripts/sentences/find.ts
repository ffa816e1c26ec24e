/** Finds sentences that begin with a relative clause and not with their subject: "What is larger goes alone". */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { isScalar, parseDocument, visit } from 'yaml';

/** A text that people read: a comment, a message, a paragraph. */
type Prose = string;

const begins = /(?<=^|[.!?:;] |\n)(?:What|Whoever|Whatever|Where|Wherever|When|Whenever|Who|Which)\b[^\n]{0,60}/g;
/** A question may begin so. */
const isQuestion = (text: Prose, index: number): boolean => /^[^.!]*\?/.test(text.slice(index));

/** The sentences that may stay for now: a line for each. */
export const exceptionsOf = (list: string): ReadonlySet<string> => new Set(list.split('\n').filter(Boolean));

/** The sentences of the files that git has in the project at `root`, each once, as `file: its first 60 characters`, in order. */
export function findClauseFirst(root: string): string[] {
  const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: root, encoding: 'utf8' })
    .split('\n')
    .filter((file) =>
      /^(?:src|scripts|test)\/.*\.ts$|^(?:docs\/(?!released)[\w/-]*|[\w-]+|deploy\/[\w/-]*|src\/[\w/-]*)\.md$|^openapi\.yaml$/.test(file),
    );
  const found = files.toSorted().flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    const prose = file.endsWith('.ts') ? proseOfCode(file, text) : file.endsWith('.md') ? proseOfMarkdown(text) : proseOfContract(text);
    return prose.flatMap((each) =>
      [...each.matchAll(begins)].filter(({ index }) => !isQuestion(each, index)).map(([sentence]) => `${file}: ${sentence.trim()}`),
    );
  });
  return [...new Set(found)];
}

/** The comments, and the texts with a space that are no part of an import. */
function proseOfCode(file: string, text: string): Prose[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found: Prose[] = [];
  const seen = new Set<number>();
  const collect = (node: ts.Node): void => {
    for (const { pos, end } of ts.getLeadingCommentRanges(text, node.getFullStart()) ?? []) {
      if (seen.has(pos)) continue;
      seen.add(pos);
      found.push(proseOfComment(text.slice(pos, end)));
    }
    if ((ts.isStringLiteral(node) || ts.isTemplateHead(node) || ts.isNoSubstitutionTemplateLiteral(node)) && node.text.includes(' '))
      found.push(node.text);
    ts.forEachChild(node, collect);
  };
  collect(source);
  return found;
}

/** The comment without its signs, a line for each paragraph. */
function proseOfComment(comment: string): Prose {
  return comment
    .replaceAll(/^\/\*\*?\s*|\s*\*\/$|^\/\/\s*/g, '')
    .replaceAll(/\n\s*\*\s*(?:\n|$)/g, '\n\n')
    .replaceAll(/\n\s*\* - /g, '\n\n')
    .replaceAll(/(?<!\n)\n(?!\n)\s*(?:\*|\/\/)?\s*/g, ' ')
    .trim();
}

/** Paragraphs, items of lists and cells of tables, without code and headings. */
function proseOfMarkdown(text: string): Prose[] {
  return text
    .replaceAll(/^```.*?^```/gms, '')
    .replaceAll(/^#+ .*$/gm, '')
    .replaceAll(/^(?:\s*[-*]|\d+\.|>) /gm, '\n')
    .replaceAll(/ \| /g, '\n\n')
    .replaceAll(/\*\*/g, '')
    .split(/\n\s*\n|\n(?=\|)/)
    .map((paragraph) => paragraph.replaceAll(/\s+/g, ' ').replace(/^[|\s]+/, ''));
}

/** The descriptions and summaries, which are the members of these names. */
function proseOfContract(text: string): Prose[] {
  const found: Prose[] = [];
  visit(parseDocument(text), {
    Pair: (_key, { key, value }) => {
      if (isScalar(key) && isScalar(value) && typeof value.value === 'string' && ['description', 'summary'].includes(String(key.value)))
        found.push(value.value.replaceAll(/\s+/g, ' '));
    },
  });
  return found;
}
