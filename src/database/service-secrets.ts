/** The keys of `service_secret`, which the migrations make, only processes of the service use, and `service-secret rotate` replaces. */
import type { Kysely } from 'kysely';
import type { Database } from './tables.ts';

/** Their names: `cursor-before` is the one that `cursor` has replaced, and absent before the first rotation. */
export type ServiceSecretName = 'cursor' | 'cursor-before' | 'login-attempt';

export type SecretValues = ReadonlyMap<string, Buffer>;

/** Reads all keys. */
export async function readServiceSecrets(db: Kysely<Database>): Promise<SecretValues> {
  return new Map((await db.selectFrom('service_secret').select(['name', 'value']).execute()).map(({ name, value }) => [name, value]));
}

/** Throws an Error if the database has no such key. */
export function secretNamed(values: SecretValues, name: ServiceSecretName): Buffer {
  const value = values.get(name);
  if (value === undefined) throw new Error(`service_secret has no row ${name}`);
  return value;
}

/** The keys, remembered by one process while notices of changes arrive. */
export class ServiceSecrets {
  readonly #db: Kysely<Database>;
  #kept: Promise<SecretValues> | undefined;
  #isEnabled = false;

  constructor(db: Kysely<Database>) {
    this.#db = db;
  }

  /** The same object as long as they have not changed. */
  async current(): Promise<SecretValues> {
    if (!this.#isEnabled) return await readServiceSecrets(this.#db);
    const kept = (this.#kept ??= readServiceSecrets(this.#db));
    try {
      return await kept;
    } catch (error) {
      if (this.#kept === kept) this.#kept = undefined;
      throw error;
    }
  }

  /** Call it when they may have changed. */
  forget(): void {
    this.#kept = undefined;
  }

  /** `on` says whether notices arrive. Without them nothing is remembered. */
  enable(on: boolean): void {
    this.#isEnabled = on;
    this.forget();
  }
}
