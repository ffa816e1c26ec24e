/** What `npm run check:packages` concludes from the output of npm. `supply-chain.long.test.ts` runs it. */
import { describe, expect, test } from 'vitest';
import { judgeAudit, judgeSignatures } from '../../scripts/supply-chain/verdict.ts';

describe('the verdict on signatures (rule 93)', () => {
  const fastify = { name: 'fastify', version: '5.0.0' };

  test.each([
    ['passes when all are valid', { invalid: [], missing: [] }, 'passed', 'every package has a valid signature'],
    ['fails on an invalid one', { invalid: [fastify], missing: [] }, 'failed', 'fastify@5.0.0: invalid signature'],
    ['fails on a missing one', { invalid: [], missing: [fastify] }, 'failed', 'fastify@5.0.0: no signature'],
    ['is "not asked" without network', { error: { code: 'ENOTFOUND', summary: 'no such host' } }, 'not asked', 'ENOTFOUND: no such host'],
    ['is "not asked" for a registry that refuses', { error: { code: 'E405', summary: 'Not Allowed' } }, 'not asked', 'E405: Not Allowed'],
    ['fails when npm cannot read the project', { error: { code: 'ENOLOCK', summary: 'no lock file' } }, 'failed', 'ENOLOCK: no lock file'],
  ] as const)('%s', (_what, report, status, detail) => {
    expect(judgeSignatures(JSON.stringify(report))).toEqual({ status, detail });
  });

  test('fails on output that is not JSON', () => {
    expect(judgeSignatures('')).toMatchObject({ status: 'failed' });
    expect(judgeAudit('<html>')).toMatchObject({ status: 'failed' });
  });
});

test('npm audit that cannot read the project fails (rule 93)', () => {
  const report = { error: { code: 'ENOLOCK', summary: 'no lock file' } };
  expect(judgeAudit(JSON.stringify(report))).toEqual({ status: 'failed', detail: 'ENOLOCK: no lock file' });
});
