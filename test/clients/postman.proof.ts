/** The collection that Postman imports from `/openapi.json` runs: only the password, the API key and the key of the entity are filled in. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { operations } from '../support/operations.ts';
import { fixedPort } from '../support/fixed-port.ts';
import { password, useService } from '../support/service.ts';
import { runTool } from './tools.ts';

interface Field {
  key: string;
  value: string;
}

interface Item {
  name: string;
  item?: Item[];
  event?: object[];
  request: { url: { variable: Field[]; query: Field[] }; header?: Field[]; body?: { raw?: string; urlencoded?: Field[] } };
}

interface Collection {
  info: { description: { content: string } };
  item: Item[];
  variable: Field[];
}

interface Run {
  run: { executions: { item: { name: string }; response?: { code: number } }[] };
}

const port = await fixedPort();
const service = useService({ PORT: String(port), PUBLIC_URL: `http://localhost:${port}` });

const requestsIn = (items: Item[]): Item[] => items.flatMap((item) => (item.item ? requestsIn(item.item) : [item]));

async function readJson<T>(path: string): Promise<T> {
  return JSON.parse(await readFile(path, 'utf8')) as T;
}

test('the imported collection is filled in, and its requests sign in, create, read, update and delete an entity', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'entity-service-postman-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const [document, imported, chosen, report] = ['openapi', 'collection', 'chosen', 'report'].map((name) => join(directory, `${name}.json`));
  if (!document || !imported || !chosen || !report) return expect.fail();
  const apiKey = await service().createKey((await service().createUser('ada')).id);
  await writeFile(document, (await service().call('GET', '/openapi.json')).text);
  await runTool('openapi2postmanv2', '-s', document, '-o', imported, '-O', 'folderStrategy=Tags,parametersResolution=Example');

  const collection = await readJson<Collection>(imported);
  const requests = requestsIn(collection.item);
  expect(requests).toHaveLength(operations.length);
  expect(collection.info.description.content).toContain('Contact Support:\n Name: Entity Service');
  const fields = requests.flatMap(({ name, request: { url, header = [], body } }) =>
    [...url.variable, ...url.query, ...header, ...(body?.urlencoded ?? [])].map(({ key, value }) => ({ name, key, value })),
  );
  expect(fields.length).toBeGreaterThan(50);
  expect(fields.filter(({ value }) => !value || /^<?string>?$/.test(value))).toEqual([]);

  const named = (name: string) => requests.find((request) => request.name === name) ?? expect.fail(name);
  const signIn = named('Authenticate and open a session');
  for (const field of signIn.request.body?.urlencoded ?? []) if (field.key === 'password') field.value = password;
  const create = named('Create an entity');
  create.event = [{ listen: 'test', script: { exec: ["pm.collectionVariables.set('key', pm.response.json().key)"] } }];
  const others = ['Retrieve an entity', 'Update an entity', 'Delete an entity'].map(named);
  // The examples of a read fill in parameters that exclude each other.
  for (const { request } of others) request.url.query = [];
  for (const { request } of others) for (const field of request.url.variable) if (field.key === 'key') field.value = '{{key}}';
  await writeFile(
    chosen,
    JSON.stringify({
      ...collection,
      item: [signIn, create, ...others],
      variable: [...collection.variable, { key: 'apiKey', value: apiKey }],
    }),
  );
  await runTool('newman', 'run', chosen, '-r', 'json', '--reporter-json-export', report);
  const { executions } = (await readJson<Run>(report)).run;
  expect(executions.map(({ response }) => response?.code)).toEqual([200, 201, 200, 200, 204]);
});
