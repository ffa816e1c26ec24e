/** The rows of `entity_change` on every road, with each kind of credential (decision 300). */
import { describe, test } from 'vitest';
import { TestIssuer, writeIssuers } from '../../support/issuer.ts';
import { useService } from '../../support/service.ts';
import { kinds, useWriteRoads } from '../../support/write-roads.ts';

const corp = await TestIssuer.start('corp');
const service = useService({ ISSUERS_FILE: await writeIssuers(corp.entry()) });
const { roads, check } = useWriteRoads(service, corp);

describe.each(kinds)('with the credential %s', (kind) => {
  test.each(Object.entries(roads))('2xx — each row has what it changed, its credential and its request: %s', async (_, road) => {
    await check(kind, road);
  });
});
