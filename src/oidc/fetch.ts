/** The only way this service asks an issuer anything: no redirects, five seconds, 256 KiB (security rule 49). */

const maximumBytes = 262_144;

/** Milliseconds until a question to an issuer is given up, its answer's body included. */
export const timeoutMilliseconds = 5_000;

/** Like `fetch`, but reads the answer whole before returning it. Throws when it is a redirect, too long, or does not come in time. */
export async function fetchBounded(url: string, init: RequestInit, timeout = timeoutMilliseconds): Promise<Response> {
  const response = await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(timeout) });
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.byteLength;
    if (length > maximumBytes) throw new Error(`${url} answers with more than ${maximumBytes} bytes`);
    chunks.push(chunk);
  }
  if (response.status !== 200) throw new Error(`${url} answers with status ${response.status}`);
  return new Response(Buffer.concat(chunks), { headers: response.headers });
}
