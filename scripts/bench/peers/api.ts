/** What setting up the peers has in common. */
import { entityCount, fieldsOf } from '../../lib/seed.ts';

export const password = 'correct horse battery staple';

/** Enough that no two of the logins that are measured at once meet at one user. */
export const userCount = 16;

/** The fields of every entity, as the service is measured with. */
export function everyRow(): Record<string, unknown>[] {
  return Array.from({ length: entityCount }, (_, n) => fieldsOf(n));
}

/** Sends JSON and returns the members of the JSON that is answered. Rejects when that is not 2xx. */
export async function call(
  port: number,
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: unknown,
): Promise<Record<string, unknown>> {
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...sent,
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path} was answered with ${response.status} ${text}`);
  return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
}

/** Headers as they go over the wire, without the last line's end. */
export function headerLines(headers: Record<string, string>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\r\n');
}
