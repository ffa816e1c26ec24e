/** Which way imports run, those of types included: down the floors of docs/architecture.md or along one of them, never up, and never round in a circle. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';
import { readDocument, section, tableRows } from './support/markdown.ts';

const root = new URL('../', import.meta.url);

/** From the ground up: each row may import from itself and from the rows before it in this list. */
const floors = tableRows(section(readDocument('docs/architecture.md'), '## Floors'))
  .map(([, , names = '']) => [...names.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name))
  .toReversed();

interface Import {
  from: string;
  to: string;
}

/** Every import of one file in `src` by another. The client is a package of its own. */
const imports: Import[] = globSync('src/**/*.ts', { cwd: root, exclude: ['src/client/**'] }).flatMap((from) =>
  [...readFileSync(new URL(from, root), 'utf8').matchAll(/^(?:import|export) [^;]*?from '(\.[^']+)';|\bimport\('(\.[^']+)'\)/gms)]
    .map(([, declared, loaded]) => ({ from, to: normalize(join(dirname(from), declared ?? loaded ?? '')) }))
    .filter(({ to }) => to.startsWith('src/')),
);

const edge = new Set(['handlers.ts', 'scheme.ts']);

/** The entry of the table that a file belongs to: the file itself, `handlers.ts` and its like, or the nearest folder. */
function roomOf(path: string): string {
  const parts = path.split('/').slice(1);
  const file = parts.at(-1) ?? '';
  if (edge.has(file)) return file;
  for (let length = parts.length; length > 0; length--) {
    const place = parts.slice(0, length).join('/');
    if (floors.some((row) => row.includes(place))) return place;
  }
  return path;
}

/** The floor's number, -1 for a file whose folder is on none. */
const floorOf = (path: string) => floors.findIndex((row) => row.includes(roomOf(path)));

/** Files and folders that see requests and replies. All others see a request through its `Caller` (src/authn/caller.ts). */
const httpEdge = [
  'app.ts',
  'service.ts',
  'shutdown.ts',
  'http/',
  'admission/',
  'network/',
  'contract/',
  'pages/',
  'telemetry/',
  'monitoring/',
  'authn/authenticate.ts',
  'sessions/fastify-session.ts',
];

test('every file is on a floor, and there are imports to look at', () => {
  expect(floors).toHaveLength(21);
  expect(imports.length).toBeGreaterThan(300);
  expect(imports.flatMap(({ from, to }) => [from, to]).filter((path) => floorOf(path) === -1)).toEqual([]);
});

test('no import goes up', () => {
  expect(imports.filter(({ from, to }) => floorOf(to) > floorOf(from)).map(({ from, to }) => `${from} imports ${to}`)).toEqual([]);
});

test('what use cases share takes no type from the contract', () => {
  const shared = globSync('src/**/*.ts', { cwd: root, exclude: ['src/client/**'] }).filter(
    (path) => floorOf(path) < floorOf('src/contract/bind.ts') && floorOf(path) >= floorOf('src/http/cors.ts'),
  );
  expect(shared).toContain('src/http/cors.ts');
  expect(shared.filter((path) => /from '\.\.\/contract\//.test(readFileSync(new URL(path, root), 'utf8')))).toEqual([]);
});

test('handlers.ts and scheme.ts are imported by app.ts alone', () => {
  const isEdge = (path: string) => edge.has(path.split('/').at(-1) ?? '');
  expect(imports.filter(({ from, to }) => isEdge(to) && from !== 'src/app.ts').map(({ from, to }) => `${from} imports ${to}`)).toEqual([]);
});

test('below the edge no file imports Fastify, its types included', () => {
  const importsFastify = (path: string) =>
    / from '(@fastify\/[^']+|fastify)';|declare module 'fastify'/.test(readFileSync(new URL(path, root), 'utf8'));
  const found = globSync('src/**/*.ts', { cwd: root, exclude: ['src/client/**'] }).filter(importsFastify);
  expect(found).toContain('src/app.ts');
  const isAllowed = (path: string) => edge.has(path.split('/').at(-1) ?? '') || httpEdge.some((start) => path.startsWith(`src/${start}`));
  expect(found.filter((path) => !isAllowed(path))).toEqual([]);
});

test('one file uses @fastify/session and the sessions of requests', () => {
  const uses = (path: string) => /'@fastify\/session'|\brequest\.session\b/.test(readFileSync(new URL(path, root), 'utf8'));
  expect(globSync('src/**/*.ts', { cwd: root }).filter(uses)).toEqual(['src/sessions/fastify-session.ts']);
});

test('rooms form no cycle', () => {
  const targets = new Map<string, Map<string, Import>>();
  for (const each of imports) {
    const [from, to] = [roomOf(each.from), roomOf(each.to)];
    if (from === to) continue;
    targets.set(from, (targets.get(from) ?? new Map<string, Import>()).set(to, each));
  }
  const cycles = [...targets.keys()].flatMap((start) => {
    const back = pathBetween(targets, start, start);
    return back ? [back.map(({ from, to }) => `${from} imports ${to}`)] : [];
  });
  expect(cycles).toEqual([]);
});

test('the rooms of entities stand in the order of their imports, the highest first', () => {
  const rooms = floors[floorOf('src/entities/writing/rules.ts')] ?? [];
  const along = imports.filter(({ from, to }) => rooms.includes(roomOf(from)) && rooms.includes(roomOf(to)));
  expect(along.length).toBeGreaterThan(100);
  const isUp = ({ from, to }: Import) => rooms.indexOf(roomOf(to)) < rooms.indexOf(roomOf(from));
  expect(along.filter(isUp).map(({ from, to }) => `${from} imports ${to}`)).toEqual([]);
});

/** The imports that lead from one room to another, the shortest way; undefined when none do. */
function pathBetween(targets: Map<string, Map<string, Import>>, from: string, to: string): Import[] | undefined {
  const ways: { folder: string; way: Import[] }[] = [{ folder: from, way: [] }];
  const seen = new Set<string>();
  for (const { folder, way } of ways) {
    for (const [next, step] of targets.get(folder) ?? []) {
      if (next === to) return [...way, step];
      if (seen.has(next)) continue;
      seen.add(next);
      ways.push({ folder: next, way: [...way, step] });
    }
  }
  return undefined;
}

/** Their texts are the service's own, the contract's, or an operator's. */
const makesExpressions: Readonly<Record<string, string>> = {
  'src/api-keys/key.ts': 'the form of keys',
  'src/entities/companion/own-names.ts': 'the forms of names that the service gives',
  'src/config/env-file.ts': 'a name in the file of settings',
  'src/contract/regular-expression.ts': 'the name of a property of Unicode, in letters and digits',
  'src/contract/validate.ts': 'patterns of the contract',
  'src/credentials/character-sequences.ts': 'rows of keyboards',
  'src/credentials/hash.ts': 'the parameters of argon2',
  'src/entity-types/convert/pattern.ts': "patterns of operators' files, in a command",
  'src/entity-types/validator.ts': "patterns of operators' types",
  'src/sandbox/linear-pattern.ts': 'a set of RE2, which has a method of the same name',
};

test('no text of a caller becomes a regular expression of V8 (rule 146)', () => {
  // A text given to `match`, `matchAll` or `search` becomes one too.
  const makes = (path: string) =>
    /\bRegExp\(|\.(?:match|matchAll|search)\((?!\/|\)|tokens\))/.test(
      readFileSync(new URL(path, root), 'utf8').replaceAll(/^\s*(?:\*|\/\*\*|\/\/).*$/gm, ''),
    );
  const found = globSync('src/**/*.ts', { cwd: root, exclude: ['src/client/**'] }).filter(makes);
  expect(found.toSorted()).toEqual(Object.keys(makesExpressions).toSorted());
});
