/**
 * The routes that a document declares, as fastify-openapi-glue reads them: methods, paths and the schemas of the input. It does not depend
 * on handlers.
 */
import Fastify, { type RouteOptions } from 'fastify';
import glue from 'fastify-openapi-glue';
import type { ContractDocument } from './contract.ts';

/** The part of a route that is the same wherever the operation is served. */
export type DeclaredRoute = Pick<RouteOptions, 'method' | 'url' | 'schema'>;

const known = new WeakMap<ContractDocument, Promise<ReadonlyMap<string, DeclaredRoute>>>();

/**
 * The routes of `document` by operationId. Throws if it is not an OpenAPI document. The library checks all of it, which takes a third of a
 * second, so a document is read once; it must not change afterwards.
 */
export function declaredRoutes(document: ContractDocument): Promise<ReadonlyMap<string, DeclaredRoute>> {
  const routes = known.get(document) ?? readRoutes(document);
  known.set(document, routes);
  return routes;
}

/** Lets the library register its routes on an instance that only collects them. */
async function readRoutes(document: ContractDocument): Promise<ReadonlyMap<string, DeclaredRoute>> {
  const routes = new Map<string, DeclaredRoute>();
  // Without Fastify's own HEAD routes, which would conflict with those of the document.
  const collector = Fastify({ exposeHeadRoutes: false });
  collector.addHook('onRoute', ({ method, url, schema = {} }) => {
    const { operationId = '' } = schema;
    if (routes.has(operationId)) throw new Error(`openapi.yaml: there are two operations ${operationId}`);
    routes.set(operationId, { method, url, schema });
  });
  await collector.register(glue, { specification: document, serviceHandlers: {} });
  return routes;
}
