/** What comments, tests and documents refer to is inside the repository: rules, decisions, documents; a section is one of a named standard. */
import { execFileSync } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { readDocument, section, tableRows } from '../support/markdown.ts';

const project = join(import.meta.dirname, '../..');
const decisionsIn = (text: string) => [...text.matchAll(/^## (\d+)\. /gm)].map(([, number]) => Number(number));
const byReader = globSync('docs/decisions/*.md', { cwd: project }).map((file) => decisionsIn(readDocument(file)));
const decisions = byReader.flat();
const rules = tableRows(section(readDocument('docs/security.md'), '## Rules')).map(([number]) => Number(number));

/** Each text file of the project on one line, without the signs that begin the lines of comments. This file has examples of faults. */
const texts = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: project, encoding: 'utf8' })
  .split('\n')
  .filter((path) => /\.(md|ts|js|cjs|mjs|ya?ml|sql|json)$|^\.ci\//.test(path) && existsSync(join(project, path)))
  .filter((path) => !/^(generated|docs\/released)\/|^package-lock\.json$|^test\/docs\/references\.test\.ts$/.test(path))
  .map((path) => ({ path, text: readDocument(path).replaceAll(/\n\s*(\/\/|\*|#|--)?\s*/g, ' ') }));

/** What `find` gives for each text, as `path: finding`. */
const findings = (find: (text: string, path: string) => string[]) =>
  texts.flatMap(({ path, text }) => find(text, path).map((finding) => `${path}: ${finding}`));

/** The numbers that a text refers to: `rule 3`, `rules 71, 73 and 74`, `rules 39 to 41`. */
function numbersAfter(word: string, text: string): number[] {
  const lists = [...text.matchAll(new RegExp(String.raw`\b${word}s? (\d+(?:(?:, | and | or | to |, and )\d+)*)`, 'gi'))];
  return lists.flatMap(([, list = '']) => [...list.matchAll(/\d+/g)].map(([number]) => Number(number)));
}

test.each([
  ['rule', rules],
  ['decision', decisions],
])('every %s that is referred to by its number is there', (word, known) => {
  expect(texts.flatMap(({ text }) => numbersAfter(word, text)).length).toBeGreaterThan(20);
  expect(findings((text) => [...new Set(numbersAfter(word, text))].filter((number) => !known.includes(number)).map(String))).toEqual([]);
});

test('the decisions of each reader are in order, and no two have one number', () => {
  expect(decisions.length).toBeGreaterThan(70);
  expect(new Set(decisions).size).toBe(decisions.length);
  for (const numbers of byReader) expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
});

test('a section is referred to together with the standard that it belongs to', () => {
  const standard = /\b(RFC \d{4}|OpenID Connect [A-Z][\w-]+|Logout 1\.0|JSON Schema 2020-12)\b[^.;]{0,40}$/;
  expect(
    findings((text) =>
      [...text.matchAll(/\bsections? \d[\d.]*/gi)]
        .filter(({ index }) => !standard.test(text.slice(Math.max(0, index - 80), index)))
        .map(([found]) => found),
    ),
  ).toEqual([]);
});

test('documents and files that are named exist', () => {
  /** Paths from the root; `name.md` alone is one beside the file, or in docs. Tests name files that they make. */
  const named = /(?<![\w/.*:$}-])((?:src|test|scripts|docs)\/[\w./-]*\w\.(?:md|ts|cjs|mjs|yaml|json|sql)|[\w-]+\.md)\b/g;
  const exists = (name: string, path: string) =>
    [name, join(dirname(path), name), join('docs', name)].some((each) => existsSync(join(project, each)));
  const prose = /\.md$|^src\/|^scripts\//;
  const below = (path: string, name: string) => path === 'docs/security.md' && existsSync(join(project, 'test', name));
  expect(
    findings((text, path) =>
      prose.test(path)
        ? [...text.matchAll(named)].map(([, name = '']) => name).filter((name) => !exists(name, path) && !below(path, name))
        : [],
    ),
  ).toEqual([]);
});

test('a part of a path in backticks is the end of a file or a folder of the repository', () => {
  const ends = new Set(
    texts.flatMap(({ path }) => {
      const parts = path.split('/');
      const folders = parts.slice(0, -1);
      return [
        ...parts.map((_, n) => parts.slice(n).join('/')),
        ...folders.flatMap((_, from) => folders.map((__, to) => folders.slice(from, to + 1).join('/'))),
      ];
    }),
  );
  const part = /`((?:src|test|scripts)\/[\w-]+(?:\/[\w-]+)*|[\w-]+\/[\w./-]*\w\.ts)`/g;
  const prose = /\.md$|^src\/|^scripts\//;
  expect(findings((text, path) => (prose.test(path) ? [...text.matchAll(part)].map(([, name = '']) => name) : [])).length).toBeGreaterThan(
    300,
  );
  expect(
    findings((text, path) =>
      prose.test(path) ? [...text.matchAll(part)].map(([, name = '']) => name).filter((name) => !ends.has(name)) : [],
    ),
  ).toEqual([]);
});

test('tests that another test names exist', () => {
  const names = new Set(texts.map(({ path }) => basename(path)));
  expect(
    findings((text) =>
      [...text.matchAll(/`([\w./-]+\.test\.ts)`/g)].map(([, name = '']) => name).filter((name) => !names.has(basename(name))),
    ),
  ).toEqual([]);
});

test('nothing outside of the repository is referred to', () => {
  const outside = /\b(?:design|security),? section|\bissues? #?\d+\b|\breviewers\b/gi;
  expect(findings((text) => [...text.matchAll(outside)].map(([found]) => found))).toEqual([]);
});
