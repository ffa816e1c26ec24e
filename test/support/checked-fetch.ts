/**
 * Checks the answers of a service in another process against openapi.yaml; `contract.ts` does so for services in this process. A fault
 * fails the test that started the service.
 */
import type { Fetch } from '../../src/client/index.ts';
import { found, violations } from './contract.ts';
import { methodOf, operations } from './operations.ts';

export const checkedFetch: Fetch = async (url, init) => {
  const response = await fetch(url, init);
  const { pathname } = new URL(url);
  const operation = operations.find((candidate) => methodOf(candidate) === init.method && isAt(candidate.path, pathname));
  const headers = Object.fromEntries(response.headers);
  const answer = { status: response.status, headers, body: await response.clone().text() };
  found.push(...(operation ? violations(operation.operationId, answer) : [`${init.method} ${pathname} is not in openapi.yaml`]));
  return response;
};

/** Whether the path matches the template, such as `/auth/profile/{name}`. */
function isAt(template: string, path: string): boolean {
  const parts = template.split('/');
  const given = path.split('/');
  return parts.length === given.length && parts.every((part, index) => part.startsWith('{') || part === given[index]);
}
