/** openapi-fetch, with the types of openapi-typescript. */
import createClient from 'openapi-fetch';
import type { paths } from '../generated/openapi-fetch.ts';
import { cookieIn, report, server, user } from './task.ts';

const client = createClient<paths>({ baseUrl: server });
const session = await client.POST('/auth', { body: user });
client.use({
  onRequest({ request }) {
    request.headers.set('Cookie', cookieIn(session.response.headers.getSetCookie()));
  },
});

const { data: created } = await client.POST('/rest/entity/{name}', { params: { path: { name: 'customer' } }, body: { city: 'London' } });
if (!created) throw new Error('no entity was created');
const params = { path: { name: created.name, key: created.key } };
const read = await client.GET('/rest/entity/{name}/{key}', { params });
const updated = await client.POST('/rest/entity/{name}/{key}', { params, body: { city: 'Paris' } });
await client.DELETE('/rest/entity/{name}/{key}', { params });
const gone = await client.GET('/rest/entity/{name}/{key}', { params });
report(created.version, read.data?.fields, updated.data?.version, gone.response.status);
