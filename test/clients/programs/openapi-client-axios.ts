/** openapi-client-axios: the document at run time, with the types of its generator. */
import { OpenAPIClientAxios } from 'openapi-client-axios';
import type { Client } from '../generated/openapi-client-axios.d.ts';
import { cookieIn, document, report, user } from './task.ts';

const api = new OpenAPIClientAxios({ definition: document as never });
const client = await api.init<Client>();
const session = await client.createSession(null, user);
client.defaults.headers.common['Cookie'] = cookieIn(session.headers['set-cookie'] ?? []);

const { data: created } = await client.createEntity({ name: 'customer' }, { city: 'London' });
const path = { name: created.name, key: created.key };
const { data: read } = await client.getEntity(path);
const { data: updated } = await client.updateEntity(path, { city: 'Paris' });
await client.deleteEntity(path);
const gone = await client.getEntity(path, null, { validateStatus: () => true });
report(created.version, read.fields, updated.version, gone.status);
