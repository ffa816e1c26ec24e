/** The layout follows openapi.yaml: each tag is one folder of code and one of tests, and each operation is one test file. */
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { document, operations } from '../support/operations.ts';

const root = new URL('../../', import.meta.url);
const exists = (path: string) => existsSync(new URL(path, root));
/** `API keys` → `api-keys`, `createSession` → `create-session`. */
const kebab = (text: string) =>
  text
    .replace(/([a-z])([A-Z])/g, '$1-$2')
    .replaceAll(' ', '-')
    .toLowerCase();

describe.for(document.tags.map(({ name }) => name))('the tag %s', (tag) => {
  test('has a folder in src with its handlers, and one in test', () => {
    expect(exists(`src/${kebab(tag)}/handlers.ts`), `src/${kebab(tag)}/handlers.ts`).toBe(true);
    expect(exists(`test/${kebab(tag)}`), `test/${kebab(tag)}`).toBe(true);
  });

  test('has operations', () => {
    expect(operations.some((operation) => operation.tag === tag)).toBe(true);
  });
});

describe.for(operations.map((operation) => [operation.operationId, operation] as const))('%s', ([, { operationId, tag }]) => {
  test('has its own test file, whose titles begin with a status, so that they describe the API', () => {
    const file = `test/${kebab(tag)}/${kebab(operationId)}.test.ts`;
    expect(exists(file), `write ${file}`).toBe(true);
    const titles = [...readFileSync(new URL(file, root), 'utf8').matchAll(/^ *test(?:\.\w+(?:\(.*?\))?)?\(\s*(['"`])(.*?)\1/gms)].map(
      ([, , title]) => title ?? '',
    );
    expect(titles.length, `${file} has no test`).toBeGreaterThan(0);
    for (const title of titles) expect(title, file).toMatch(/^[1-5]\d\d((,| and| or) [1-5]\d\d)* — \S/);
  });
});
