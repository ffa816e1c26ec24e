/** Tags of entities through nginx with gzip, which makes each of them weak. A client sends them back as it got them. */
import { expect, test } from 'vitest';
import { fixedPort } from '../support/fixed-port.ts';
import { runNginx, whyNoNginx } from '../support/nginx.ts';
import { useService, type Answer, type Call } from '../support/service.ts';

const service = useService();
const missing = whyNoNginx();

const compressing = (port: number, replica: string) => `
  server {
    listen 127.0.0.1:${port};
    gzip on;
    gzip_min_length 1;
    gzip_proxied any;
    gzip_types application/json;
    location / { proxy_pass ${replica}; }
  }
`;

test.skipIf(missing !== undefined)('200 and 204 — a weak tag of nginx in If-Match and If-None-Match of each operation', async () => {
  const port = await fixedPort();
  const stop = await runNginx(port, compressing(port, service().url));
  try {
    await service().createUser('ada', { '*': ['create', 'read', 'update', 'delete', 'purge'] });
    const cookie = await service().signIn('ada');
    const call = async (
      method: string,
      path: string,
      tag: string | null,
      { headers, json }: Call = {},
    ): Promise<Pick<Answer, 'status' | 'headers'>> => {
      const type = { ...(json !== undefined && { 'content-type': 'application/json' }), ...(tag !== null && { 'if-match': tag }) };
      const response = await fetch(`http://127.0.0.1:${port}/rest/entity/${path}`, {
        method,
        headers: { cookie, origin: 'http://localhost:3000', ...type, ...headers },
        ...(json !== undefined && { body: JSON.stringify(json) }),
      });
      await response.arrayBuffer();
      return response;
    };
    const created = await call('POST', 'note', null, { json: { text: 'one' } });
    const path = (created.headers.get('location') ?? '').replace('/rest/entity/', '');
    // nginx compresses 200 alone.
    const seen = await call('GET', path, null);
    const first = seen.headers.get('etag');
    expect([created.status, seen.headers.get('content-encoding'), first]).toEqual([201, 'gzip', 'W/"1"']);
    expect((await call('GET', path, null, { headers: { 'if-none-match': first ?? '' } })).status).toBe(304);

    const updated = await call('POST', path, first, { json: { text: 'two' } });
    expect([updated.status, (await call('POST', path, first, { json: { text: 'late' } })).status]).toEqual([200, 412]);
    const restored = await call('POST', `${path}/restore?version=1`, updated.headers.get('etag'));
    expect([restored.status, restored.headers.get('etag')]).toEqual([200, 'W/"3"']);
    expect((await call('DELETE', path, updated.headers.get('etag'))).status).toBe(412);
    expect((await call('DELETE', path, restored.headers.get('etag'))).status).toBe(204);

    const page = (await call('GET', 'note', null)).headers.get('etag') ?? '';
    expect(page).toMatch(/^W\//);
    expect((await call('GET', 'note', null, { headers: { 'if-none-match': page } })).status).toBe(304);
  } finally {
    await stop();
  }
});
