/** The part of the entity types that the documentation needs. The contract does not have it. */
import type { FastifyRequest } from 'fastify';
import type { ContractDocument } from '../contract/contract.ts';

export interface TypedContractRequest {
  /** The document that gets the types. */
  contract: ContractDocument;
  /** The names of types; `*` for all that the caller may see. */
  names: readonly string[];
  ifNoneMatch: string | undefined;
  acceptLanguage: string | undefined;
}

export interface TypedContract {
  etag: string;
  /** JSON; undefined if `If-None-Match` has the tag. */
  text: string | undefined;
}

/** The types for the caller of a request. Both methods throw 401 for a request without a valid credential. */
export interface TypedContractSource {
  contractFor(caller: FastifyRequest, request: TypedContractRequest): Promise<TypedContract>;
  namesFor(caller: FastifyRequest): Promise<string[]>;
}

/** The values of the parameter `type` in the URL. It can be repeated, unlike the parameters of operations. */
export function typesIn({ url }: FastifyRequest): string[] {
  const [, query = ''] = /^[^?]*\?(.*)$/s.exec(url) ?? [];
  return new URLSearchParams(query).getAll('type');
}
