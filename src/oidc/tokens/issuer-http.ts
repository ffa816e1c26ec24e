/** Sends every HTTP request of this service to an issuer: no redirects, 5 seconds, 256 KiB (security rule 49). */
import { withSpan } from '../../telemetry/spans.ts';

const maximumBytes = 262_144;

/** Time limit of a request to an issuer in milliseconds, including the body of the answer. */
export const issuerTimeoutMs = 5_000;

/** The issuer has not answered, or not correctly: the answer is unknown. */
export class Unanswered extends Error {}

/** Whether an error, or one of its causes, is {@link Unanswered}. */
export function isUnanswered(error: unknown): boolean {
  return error instanceof Unanswered || (error instanceof Error && isUnanswered(error.cause));
}

/**
 * Error codes of RFC 6749 (sections 4.1.2.1 and 5.2) that say nothing about the request's content: the issuer has failed, or rejects this
 * client.
 */
export const outageErrors: ReadonlySet<string> = new Set([
  'server_error',
  'temporarily_unavailable',
  'invalid_client',
  'unauthorized_client',
]);

/**
 * Like `fetch`, but reads the whole answer before returning it. Throws {@link Unanswered} if the answer is a redirect, too long, too late,
 * or has another status than 200. A POST may also be answered with 400 to 499, which concerns the request's content.
 */
export function fetchBounded(url: string, init: RequestInit, timeout = issuerTimeoutMs): Promise<Response> {
  const work = { kind: 'issuer', name: 'ask issuer', attributes: { 'server.address': new URL(url).host } } as const;
  return withSpan(work, () => fetchWhole(url, init, timeout));
}

async function fetchWhole(url: string, init: RequestInit, timeout: number): Promise<Response> {
  try {
    const response = await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(timeout) });
    const chunks: Uint8Array[] = [];
    let length = 0;
    for await (const chunk of response.body ?? []) {
      length += chunk.byteLength;
      if (length > maximumBytes) throw new Error(`${url} answers with more than ${maximumBytes} bytes`);
      chunks.push(chunk);
    }
    const { status, headers } = response;
    const refused = init.method === 'POST' && status >= 400 && status < 500;
    if (status !== 200 && !refused) throw new Error(`${url} answers with status ${status}`);
    return new Response(Buffer.concat(chunks), { status, headers });
  } catch (error) {
    throw new Unanswered(`${url} does not answer`, { cause: error });
  }
}
