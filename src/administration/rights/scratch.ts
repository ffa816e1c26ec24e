/** A database for cases: the types and rights of the command's database, with the files in force, and no entity. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { theService } from '../../audit/actor.ts';
import { migrateDatabase } from '../../database/migrate.ts';
import { openStore, type Store } from '../../database/port.ts';
import { applyChange } from '../../entity-types/apply.ts';
import { inOrder } from '../../entity-types/order.ts';
import type { TypeChange } from '../../entity-types/plan.ts';
import type { RightsDocuments } from '../../rights/documents.ts';
import type { DeclaredTypes } from '../../rights/attribute-types.ts';
import { applyRightsWithin } from './apply.ts';

export interface ScratchContent {
  types: readonly TypeChange[];
  rights: RightsDocuments;
  claims: DeclaredTypes;
}

/** Copies of one database on a server, each for one case. */
export interface Scratch extends AsyncDisposable {
  /** Runs `work` on a database of its own, which is then dropped. */
  onCopy<T>(work: (store: Store) => Promise<T>): Promise<T>;
}

/** Opens a server for cases: that of `url`, whose role may make databases, or an embedded one that ends with it. */
export async function openScratch(url: string | undefined, content: ScratchContent): Promise<Scratch> {
  const server = url === undefined ? await startServer() : { url, stop: async () => undefined };
  const base = `entity_cases_${randomBytes(6).toString('hex')}`;
  const control = openStore(server.url, 1, () => undefined);
  const run = (statement: string) => sql.raw(statement).execute(control.db);
  const urlOf = (database: string) => Object.assign(new URL(server.url), { pathname: `/${database}` }).href;
  const close = async () => {
    await run(`drop database if exists ${base} with (force)`).catch(() => undefined);
    await control.close();
    await server.stop();
  };
  try {
    await run(`create database ${base} template template0 encoding 'UTF8'`);
    await migrateDatabase(urlOf(base));
    await fill(urlOf(base), content);
  } catch (error) {
    await close();
    throw error;
  }
  let copies = 0;
  return {
    async onCopy(work) {
      const copy = `${base}_${++copies}`;
      await run(`create database ${copy} template ${base}`);
      try {
        await using store = openStore(urlOf(copy), 4, () => undefined);
        return await work(store);
      } finally {
        await run(`drop database ${copy} with (force)`);
      }
    },
    [Symbol.asyncDispose]: close,
  };
}

async function startServer(): Promise<{ url: string; stop: () => Promise<void> }> {
  const { openEmbedded } = await import('../../embedded/embedded.ts');
  const directory = await mkdtemp(join(tmpdir(), 'entity-cases-'));
  const remove = () => rm(directory, { recursive: true, force: true, maxRetries: 5 });
  try {
    const server = await openEmbedded(join(directory, 'data'), { settings: { fsync: 'off' } });
    return {
      url: server.url,
      stop: async () => {
        await server.stop();
        await remove();
      },
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function fill(url: string, { types, rights, claims }: ScratchContent): Promise<void> {
  await using store = openStore(url, 4, () => undefined);
  for (const change of inOrder(types, new Map())) await applyChange(store, theService, change);
  await store.transaction((trx) => applyRightsWithin(trx, theService, { files: rights, claims, prune: false, confirm: undefined }));
}
