/** The names under which requests are counted and traced: never their path, which the client chooses. */

/** The names of the routes outside the contract. */
const serviceRoutes = new Map([
  ['/', 'index'],
  ['/documentation', 'documentation'],
  ['/health/live', 'liveness'],
  ['/health/ready', 'readiness'],
  ['/metrics', 'metrics'],
  ['/openapi.yaml', 'contract'],
  ['/openapi.json', 'contract'],
  ['/problems/:code', 'problem'],
]);

/** The operation of a request: that of the contract, one of the routes around it, or `none`. */
export function operationOf(operationId: string | undefined, route: string | undefined): string {
  if (operationId !== undefined) return operationId;
  if (route === undefined) return 'none';
  return serviceRoutes.get(route) ?? (route.startsWith('/docs') ? 'docs' : 'none');
}
