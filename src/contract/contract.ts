/** The OpenAPI document for the binder and the tests: a typed view of the members that they need. It does not depend on Fastify. */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { SecurityRequirement } from '../authn/authenticate.ts';
import { readExtensions, type ExtensionMembers, type Extensions } from './extensions.ts';

export const methods = ['get', 'head', 'post', 'put', 'patch', 'delete'] as const;
export type Method = (typeof methods)[number];

export interface ComponentReference {
  $ref: string;
}

export interface ParameterObject {
  name: string;
  in: 'path' | 'query' | 'header' | 'cookie';
  required?: boolean;
  schema: Record<string, unknown>;
  example?: unknown;
}

export interface RequestBodyObject {
  required?: boolean;
  content: Record<string, { schema?: Record<string, unknown>; examples?: Record<string, { value: unknown } | ComponentReference> }>;
}

export interface ResponseObject {
  description: string;
  headers?: Record<string, { required?: boolean; schema: Record<string, unknown> } | ComponentReference>;
  content?: Record<string, { schema?: Record<string, unknown> }>;
}

interface OperationObject extends ExtensionMembers {
  operationId: string;
  tags: string[];
  security?: SecurityRequirement[];
  parameters?: (ParameterObject | ComponentReference)[];
  requestBody?: RequestBodyObject | ComponentReference;
  responses: Record<string, ResponseObject | ComponentReference>;
}

type PathItem = { parameters?: (ParameterObject | ComponentReference)[] } & { [M in Method]?: OperationObject };

export interface ContractDocument {
  info: { title: string; version: string };
  servers: { url: string }[];
  /** `x-folder` is the folder of the tag's operations, in `src` and in `test`. */
  tags: { name: string; 'x-folder': string }[];
  security: SecurityRequirement[];
  paths: Record<string, PathItem>;
  components: Record<string, Record<string, unknown>>;
}

/** An operation with its references resolved and its defaults filled in. */
export interface Operation extends Extensions {
  operationId: string;
  method: Method;
  path: string;
  tag: string;
  security: SecurityRequirement[];
  parameters: ParameterObject[];
  requestBody: RequestBodyObject | undefined;
  responses: Record<string, ResponseObject>;
}

const file = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

/**
 * The repository's `openapi.yaml`, as text and parsed. The parsed form comes from `generated/openapi.json`, which is read in a hundredth of
 * the time. Throws if one of the files is missing.
 */
export function readContract(): { text: string; document: ContractDocument } {
  return { text: file('openapi.yaml'), document: JSON.parse(file('generated/openapi.json')) as ContractDocument };
}

/** Parses `openapi.yaml` itself, for the scripts that generate files from it. Throws if it is not YAML. */
export function parseContract(): ContractDocument {
  return parse(file('openapi.yaml')) as ContractDocument;
}

/** Follows `#/…` references to a value that is no reference; throws on a reference without a target. */
export function resolveReference<T>(document: ContractDocument, value: T | ComponentReference): T {
  let found: unknown = value;
  while (typeof found === 'object' && found !== null && '$ref' in found) {
    const { $ref } = found as ComponentReference;
    found = $ref
      .slice(2)
      .split('/')
      .reduce<unknown>((node, part) => (node as Record<string, unknown> | undefined)?.[part.replaceAll('~1', '/')], document);
    if (found === undefined) throw new Error(`openapi.yaml: ${$ref} does not exist`);
  }
  return found as T;
}

/** Every operation, in the order of the document. Throws for an extension that {@link readExtensions} rejects. */
export function operationsOf(document: ContractDocument): Operation[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const operation = item[method];
      return operation ? [readOperation(document, path, method, operation)] : [];
    }),
  );
}

function readOperation(document: ContractDocument, path: string, method: Method, operation: OperationObject): Operation {
  const responses = Object.entries(operation.responses).map(
    ([status, response]) => [status, resolveReference(document, response)] as const,
  );
  const parameters = [...(document.paths[path]?.parameters ?? []), ...(operation.parameters ?? [])];
  return {
    operationId: operation.operationId,
    method,
    path,
    tag: operation.tags[0] ?? '',
    security: operation.security ?? document.security,
    parameters: parameters.map((parameter) => resolveReference(document, parameter)),
    requestBody: operation.requestBody && resolveReference(document, operation.requestBody),
    responses: Object.fromEntries(responses),
    ...readExtensions(operation),
  };
}

/** Whether the document allows callers without a credential. */
export function isOpen({ security }: Operation): boolean {
  return security.length === 0 || security.some((alternative) => Object.keys(alternative).length === 0);
}
