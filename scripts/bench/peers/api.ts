/** The common part of setting up the peers. */
import { entityCount, fieldsOf } from '../../lib/seed.ts';

export const password = 'correct horse battery staple';

/** Enough users that concurrent measured logins never use the same one. */
export const userCount = 16;

/** The fields of every entity, the same as for the service. */
export function everyRow(): Record<string, unknown>[] {
  return Array.from({ length: entityCount }, (_, n) => fieldsOf(n));
}

/** Sends JSON and returns the members of the JSON answer. Rejects when the status is not 2xx. */
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
  if (!response.ok) throw new Error(`${method} ${path}: status ${response.status} ${text}`);
  return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
}

/** Headers in the format of HTTP/1.1, without the last line's end. */
export function headerLines(headers: Record<string, string>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\r\n');
}
