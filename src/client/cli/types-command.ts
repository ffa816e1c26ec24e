/** `entity-service-client types`: writes TypeScript types of the entity types that the caller may see. */
import { readFile, writeFile } from 'node:fs/promises';
import { EntityServiceClient } from '../client.ts';
import { ApiError } from '../errors.ts';
import type { Client } from '../operation.ts';
import { valueOf } from '../result.ts';
import { readCredential, type CommandCredential, type CredentialOptions, type Prompt } from './credential.ts';
import { printTypes, type TypedDocument } from './print-types.ts';
import { UsageError } from './usage-error.ts';

/** A person waits for the answer. */
const retry = { attempts: 3 };

export interface TypesOptions extends CredentialOptions {
  url?: string | undefined;
  type?: string[] | undefined;
  out?: string | undefined;
  check?: boolean | undefined;
}

/** The streams of the command besides files. */
export interface Surroundings {
  environment: NodeJS.ProcessEnv;
  prompt: Prompt;
  print: (text: string) => void;
  report: (text: string) => void;
}

/** Returns the exit status: 1 if `check` finds that the file is not up to date. Throws a UsageError, or an error of the client. */
export async function writeTypes(options: TypesOptions, { environment, prompt, print, report }: Surroundings): Promise<number> {
  const { url = environment['ENTITY_SERVICE_URL'], type: names = [], out, check = false } = options;
  if (url === undefined) throw new UsageError('give the address of the service as --url or in ENTITY_SERVICE_URL');
  if (!URL.canParse(url) || !/^https?:/.test(url)) throw new UsageError(`${url} is no http or https address`);
  if (check && out === undefined) throw new UsageError('--check needs --out, the file to compare');
  const credential = await readCredential(options, environment, prompt);
  const text = printTypes(await withClient(url, credential, (client) => readDocument(client, names)));
  if (text === undefined) throw new UsageError('this caller may not see the fields of any declared type');
  if (out === undefined) {
    print(text);
    return 0;
  }
  const present = await readFile(out, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (present === text) return 0;
  if (check) {
    report(present === undefined ? `${out} does not exist.` : `${out} differs from the types of ${url}. Run the command without --check.`);
    return 1;
  }
  await writeFile(out, text);
  report(`wrote ${out}`);
  return 0;
}

/** Calls `use` with a client that has the credential, and ends the session that a password has opened. */
async function withClient<T>(baseUrl: string, credential: CommandCredential, use: (http: Client) => Promise<T>): Promise<T> {
  if (!('user' in credential)) return await use(new EntityServiceClient({ baseUrl, credential, retry }).http);
  const client = new EntityServiceClient({ baseUrl, retry });
  await client.createSession(credential);
  try {
    return await use(client.http);
  } finally {
    await client.endSession();
  }
}

/** The documents of the names as one. Each is read by itself, so that a fault has its name. */
async function readDocument(client: Client, names: readonly string[]): Promise<TypedDocument> {
  const documents: TypedDocument[] = [];
  for (const type of names.length === 0 ? ['*'] : names) {
    const result = await client.get<Record<200, TypedDocument>>({ url: '/openapi.json', query: { type }, security: [{}] });
    if (!result.ok && result.error instanceof ApiError && result.error.code === 'not-found')
      throw new UsageError(`there is no type ${type}, or this caller may not see it`);
    documents.push(valueOf(result));
  }
  const schemas = Object.assign({}, ...documents.map(({ components }) => components.schemas)) as TypedDocument['components']['schemas'];
  const tags = new Map(documents.flatMap((document) => document.tags).map((tag) => [tag.name, tag]));
  return { tags: [...tags.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1)), components: { schemas } };
}
