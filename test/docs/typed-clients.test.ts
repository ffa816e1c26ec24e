/** docs/typed-clients.md says what is in the document with types. */
import { expect, test } from 'vitest';
import type { ContractDocument } from '../../src/contract/contract.ts';
import { declareType } from '../support/entities.ts';
import { codeOf, readDocument, tableRows } from '../support/markdown.ts';
import { useService } from '../support/service.ts';

const service = useService();
const text = readDocument('docs/typed-clients.md');

test('its requests give the schemas, paths, operations and tags that it names', async () => {
  for (const name of ['customer', 'order-line', 'session']) await declareType(service(), name, { type: 'object' });
  const { id } = await service().createUser('ada');
  const requests = [...text.matchAll(/^curl .*https:\/\/api\.example\.com(\/[^\s']*)/gm)].map(([, path = '']) => path);
  expect(requests).toEqual(['/openapi.json?type=customer&type=order-line', '/openapi.json?type=*']);
  const cookie = await service().openSession(id);
  const [some, all] = await Promise.all(requests.map((path) => service().call<ContractDocument>('GET', path, { cookie })));
  const schemas = Object.keys(some?.body.components['schemas'] ?? {});
  const listed = tableRows(text).map(([name = '']) => codeOf(name));
  expect(listed).toHaveLength(10);
  expect(schemas.filter((name) => name.startsWith('Customer')).toSorted()).toEqual(listed.toSorted());
  expect(all?.body.tags.map(({ name }) => name).slice(0, 3)).toEqual(['Customer', 'OrderLine', 'SessionType']);
  for (const name of ['OrderLine', 'SessionType']) expect(text).toContain(`\`${name}\``);
  for (const path of ['', '/query', '/bulk', '/upsert', '/{key}']) {
    expect(some?.body.paths).toHaveProperty([`/rest/entity/customer${path}`]);
    expect(text).toContain(`\`/rest/entity/customer${path}\``);
  }
  const ids = JSON.stringify(some?.body.paths).match(/(?<="operationId":")\w+Customer(?=")/g) ?? [];
  expect(ids.toSorted()).toEqual(
    [
      ...new Set(
        text.match(/(?<=`)(?:list|query|aggregate|create|createMany|upsert|get|listVersions|update|restore|delete)Customer(?=`)/g),
      ),
    ].toSorted(),
  );
});
