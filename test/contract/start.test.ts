/** A document and code that disagree stop the start. The service must not start with a dead or an unguarded operation (rule 3). */
import Fastify from 'fastify';
import { describe, expect, test } from 'vitest';
import { makeRoutes, addRoutes, type Binding } from '../../src/contract/bind.ts';
import { Ledger } from '../../src/admission/ledger.ts';
import { readBodies } from '../../src/http/body.ts';
import { answerEveryMethod } from '../../src/http/methods.ts';
import { operationsOf, readContract, type ContractDocument } from '../../src/contract/contract.ts';
import type { Handlers } from '../../src/contract/operation.ts';

const scheme = async () => undefined;
const schemes = { sessionCookie: scheme, apiKey: scheme, oauth2: scheme, openId: scheme };

/** Binds the document to handlers for all operations of openapi.yaml except those left out. */
async function start(document: ContractDocument, leaveOut: string[] = []): Promise<void> {
  const names = operationsOf(readContract().document).map(({ operationId }) => operationId);
  const handlers = Object.fromEntries(
    names.filter((name) => !leaveOut.includes(name)).map((name) => [name, async () => ({ status: 204 })]),
  );
  const app = Fastify();
  answerEveryMethod(app);
  const ledger = new Ledger();
  await readBodies(app, ledger);
  const csrf = { publicOrigin: 'http://localhost:3000', trustedOrigins: new Set<string>() };
  const binding: Binding = { document, handlers: handlers as unknown as Handlers, schemes, csrf, ledger, bodyLimit: 1_048_576 };
  addRoutes(app, await makeRoutes(binding));
  await app.ready();
}

/** openapi.yaml with one operation changed. */
function doctored(
  path: string,
  method: 'get' | 'post',
  change: (operation: NonNullable<ContractDocument['paths'][string]['get']>) => void,
) {
  const { document } = readContract();
  const operation = document.paths[path]?.[method];
  if (!operation) throw new Error(`nothing at ${method} ${path}`);
  change(operation);
  return document;
}

describe('the start', () => {
  test('succeeds with openapi.yaml unchanged', async () => {
    await expect(start(readContract().document)).resolves.not.toThrow();
  });

  test('is refused when an operation has no handler', async () => {
    await expect(start(readContract().document, ['getEntity'])).rejects.toThrow('openapi.yaml: operation getEntity has no handler');
  });

  test('is refused when an operation has the name of a member of every object', async () => {
    const document = doctored('/auth', 'get', (operation) => (operation.operationId = 'constructor'));
    await expect(start(document)).rejects.toThrow('openapi.yaml: operation constructor has no handler');
  });

  test('is refused when two operations have one name, as one would be served with the checks of the other', async () => {
    const document = doctored('/auth', 'get', (operation) => (operation.operationId = 'getEntity'));
    await expect(start(document)).rejects.toThrow('openapi.yaml: there are two operations getEntity');
  });

  test('is refused when an operation has the library’s flag against serving it', async () => {
    const document = doctored('/auth', 'get', (operation) => Object.assign(operation, { 'x-no-fastify-config': true }));
    await expect(start(document)).rejects.toThrow('openapi.yaml: getSession has the extension x-no-fastify-config, which does not exist');
  });

  test('is refused when an operation requires a scheme that is not implemented', async () => {
    const document = doctored('/auth', 'get', (operation) => (operation.security = [{ sessionCookie: [] }, { mutualTls: [] }]));
    await expect(start(document)).rejects.toThrow('getSession asks for mutualTls, for which there is no scheme');
  });

  test('is refused when the document requires such a scheme for every operation', async () => {
    const { document } = readContract();
    await expect(start({ ...document, security: [{ toString: [] }] })).rejects.toThrow('asks for toString, for which there is no scheme');
  });

  test('is refused when an operation has no x-session-rights (rule 3)', async () => {
    const document = doctored('/rest/entity/{name}/{key}', 'get', (operation) => delete operation['x-session-rights']);
    await expect(start(document)).rejects.toThrow('openapi.yaml: getEntity must have x-session-rights');
  });

  test.each([
    ['getSession', '/auth', { security: [] }],
    ['listIssuers', '/auth/issuers', { 'x-session-rights': 'every-session' }],
  ])('is refused when %s takes no credential and has x-session-rights', async (operationId, path, change) => {
    const document = doctored(path, 'get', (operation) => Object.assign(operation, change));
    await expect(start(document)).rejects.toThrow(`openapi.yaml: ${operationId} must not have x-session-rights`);
  });

  test.each([
    ['x-session-rights', 'toString'],
    ['x-session', 'reads'],
    ['x-refuses-cross-site', 'yes'],
  ])('is refused when an operation has a value of %s that does not exist', async (extension, value) => {
    const document = doctored('/auth', 'get', (operation) => Object.assign(operation, { [extension]: value }));
    await expect(start(document)).rejects.toThrow(`openapi.yaml: getSession: ${extension} must be one of: `);
  });

  test('is refused when an operation requires two credentials at once, of which one would be enough', async () => {
    const document = doctored('/auth', 'get', (operation) => (operation.security = [{ sessionCookie: [], apiKey: [] }]));
    await expect(start(document)).rejects.toThrow('getSession asks for sessionCookie and apiKey at once');
  });
});
