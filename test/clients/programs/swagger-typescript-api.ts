/** swagger-typescript-api: its fetch client. */
import { Api, type HttpResponse } from '../generated/swagger-typescript-api.ts';
import { cookieIn, report, user } from './task.ts';

const { auth, rest } = new Api();
const session = await auth.createSession(user);
const signedIn = { headers: { Cookie: cookieIn(session.headers.getSetCookie()) } };

const { data: created } = await rest.createEntity('customer', { city: 'London' }, signedIn);
const { data: read } = await rest.getEntity(created.name, created.key, {}, signedIn);
const { data: updated } = await rest.updateEntity(created.name, created.key, { city: 'Paris' }, signedIn);
await rest.deleteEntity(created.name, created.key, {}, signedIn);
const gone = await rest.getEntity(created.name, created.key, {}, signedIn).catch((answer: HttpResponse<unknown>) => answer);
report(created.version, read.fields, updated.version, gone.status);
