/** The layout follows openapi.yaml: `x-folder` of a tag names one folder of code and one of tests, and each operation is one test file. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { document, operations } from '../support/operations.ts';

const root = new URL('../../', import.meta.url);
const exists = (path: string) => existsSync(new URL(path, root));
const folders = new Map(document.tags.map((tag) => [tag.name, tag['x-folder']]));
/** `createSession` → `create-session`. */
const kebab = (text: string) => text.replace(/([a-z])([A-Z])/g, '$1-$2').toLowerCase();

test('the operations stand in the order of the tags, each folder together', () => {
  const order = operations.map(({ tag }) => tag).filter((tag, n, all) => tag !== all[n - 1]);
  expect(order).toEqual(document.tags.map(({ name }) => name));
  expect(new Set(folders.values()).size).toBe(folders.size);
});

describe.for([...folders])('the tag %s', ([tag, folder]) => {
  test('has a folder in src with the handlers of its operations, and one in test', () => {
    const path = `src/${folder}/handlers.ts`;
    expect(exists(path), path).toBe(true);
    expect(exists(`test/${folder}`), `test/${folder}`).toBe(true);
    const handlers = readFileSync(new URL(path, root), 'utf8');
    const missing = operations.filter((operation) => operation.tag === tag && !handlers.includes(`'${operation.operationId}'`));
    expect(missing.map(({ operationId }) => operationId)).toEqual([]);
  });
});

describe.for(operations.map((operation) => [operation.operationId, operation] as const))('%s', ([, { operationId, tag }]) => {
  test('has its own test file, whose titles begin with a status, so that they describe the API', () => {
    const wanted = `test/${folders.get(tag)}/**/${kebab(operationId)}.test.ts`;
    const [file = '', ...others] = globSync(wanted, { cwd: root });
    expect([exists(file), others], `write ${wanted}`).toEqual([true, []]);
    const titles = [...readFileSync(new URL(file, root), 'utf8').matchAll(/^ *test(?:\.\w+(?:\(.*?\))?)?\(\s*(['"`])(.*?)\1/gms)].map(
      ([, , title]) => title ?? '',
    );
    expect(titles.length, `${file} has no test`).toBeGreaterThan(0);
    for (const title of titles) expect(title, file).toMatch(/^[1-5]\d\d((,| and| or) [1-5]\d\d)* — \S/);
  });
});
