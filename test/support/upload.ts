/** Imports whose client decides when it sends what. */
import { once } from 'node:events';
import { request } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import type { TestService } from './service.ts';

/** The last line of an import's answer, or one after a transaction. */
export interface ReportLine {
  done: boolean;
  row: number;
  created: number;
  uncertainTo?: number;
  problem?: { code: string; status: number };
}

/** An upload whose end the client has not sent yet. */
export function upload(to: TestService, name: string, cookie: string, { query = '', type = 'application/x-ndjson' } = {}) {
  const sent = request(`${to.url}/rest/entity/${name}/import${query}`, { method: 'POST', headers: { cookie, 'content-type': type } });
  const answer = once(sent, 'response').then(async ([incoming]) => ({
    status: incoming.statusCode as number,
    retryAfter: incoming.headers['retry-after'] as string | undefined,
    text: await textOf(incoming),
  }));
  answer.catch(() => undefined);
  sent.on('error', () => undefined);
  return {
    sent,
    answer,
    async end(rest = '') {
      sent.end(rest);
      const { text } = await answer;
      return text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as ReportLine);
    },
  };
}
