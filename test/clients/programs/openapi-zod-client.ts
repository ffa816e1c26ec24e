/** openapi-zod-client: its Zodios client over axios. */
import { create, isAxiosError } from 'axios';
import { createApiClient } from '../generated/openapi-zod-client.ts';
import { cookieIn, report, server, user } from './task.ts';

const http = create();
http.interceptors.response.use((answer) => {
  const cookies = answer.headers['set-cookie'];
  if (cookies) http.defaults.headers.common['Cookie'] = cookieIn(cookies);
  return answer;
});
const client = createApiClient(server, { axiosInstance: http });
await client.createSession(user);

const created = await client.createEntity({ city: 'London' }, { params: { name: 'customer' } });
const params = { name: created.name, key: created.key };
const read = await client.getEntity({ params });
const updated = await client.updateEntity({ city: 'Paris' }, { params });
await client.deleteEntity(undefined, { params });
const gone: unknown = await client.getEntity({ params }).catch((error: unknown) => error);
report(created.version, read.fields, updated.version, isAxiosError(gone) ? gone.response?.status : gone);
