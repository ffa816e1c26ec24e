/** orval: its fetch client, whose requests and answers pass its Zod schemas. */
import { createEntity, createSession, deleteEntity, getEntity, updateEntity } from '../generated/orval-fetch.ts';
import { CreateEntityBody, CreateSessionBody, CreateSessionResponse, GetEntityParams, GetEntityResponse } from '../generated/orval-zod.ts';
import { cookieIn, report, user } from './task.ts';

const session = await createSession(CreateSessionBody.parse(user));
if (session.status !== 200) throw new Error(session.data.detail);
CreateSessionResponse.parse(session.data);
const signedIn = { headers: { Cookie: cookieIn(session.headers.getSetCookie()) } };

const created = await createEntity('customer', CreateEntityBody.parse({ city: 'London' }), signedIn);
if (created.status !== 201) throw new Error(created.data.detail);
const { name, key } = GetEntityParams.parse(created.data);
const read = await getEntity(name, key, {}, signedIn);
if (read.status !== 200) throw new Error(String(read.status));
const updated = await updateEntity(name, key, { city: 'Paris' }, signedIn);
if (updated.status !== 200) throw new Error(updated.data.detail);
await deleteEntity(name, key, {}, signedIn);
const gone = await getEntity(name, key, {}, signedIn);
report(created.data.version, GetEntityResponse.parse(read.data).fields, updated.data.version, gone.status);
