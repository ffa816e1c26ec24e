/**
 * Runs the operations that replace the session's token one at a time. Of several concurrent refreshes the service accepts one and answers the
 * others with 409 `refresh-conflict`. Here the others wait for the first one and use its result.
 */
import * as operations from '../../generated/client/sdk.gen.ts';
import type { SessionInfo } from '../../generated/client/types.gen.ts';
import { ApiError, ClientError } from './errors.ts';
import type { Client } from './operation.ts';
import type { Result } from './result.ts';
import type { Mutex } from './mutex.ts';

export class Rotation {
  readonly #client: Client;
  readonly #turns: Mutex;
  #flight: Promise<Result<SessionInfo>> | undefined;
  /** The idle deadline of the session as far as this client knows it. */
  #idleExpiresAt: string | undefined;

  constructor(client: Client, turns: Mutex) {
    this.#client = client;
    this.#turns = turns;
  }

  /** Stores the idle deadline from an answer of the service. */
  storeDeadline(result: Result<SessionInfo>): Result<SessionInfo> {
    if (result.ok) this.#idleExpiresAt = result.value.session?.idleExpiresAt;
    return result;
  }

  /** Refreshes the session, or joins a refresh in progress. An abort ends the waiting, not the refresh. */
  async refresh(signal: AbortSignal | undefined): Promise<Result<SessionInfo>> {
    this.#flight ??= this.#turns((waited) => this.#refresh(waited)).finally(() => (this.#flight = undefined));
    return signal ? await unlessAborted(this.#flight, signal) : await this.#flight;
  }

  /** Runs another operation that replaces the token, and once more if another tab replaced it meanwhile. */
  replace<T>(work: () => Promise<Result<T>>): Promise<Result<T>> {
    return this.#turns(async () => {
      const result = await work();
      return isConflict(result) ? await work() : result;
    });
  }

  async #refresh(waited: boolean): Promise<Result<SessionInfo>> {
    const known = this.#idleExpiresAt;
    if (waited && known !== undefined) {
      const now = this.storeDeadline(await operations.getSession({ client: this.#client }));
      if (!now.ok || now.value.session?.idleExpiresAt !== known) return now;
    }
    const result = await operations.refreshSession({ client: this.#client });
    return this.storeDeadline(isConflict(result) ? await operations.getSession({ client: this.#client }) : result);
  }
}

function isConflict(result: Result<unknown>): boolean {
  return !result.ok && result.error instanceof ApiError && result.error.code === 'refresh-conflict';
}

function unlessAborted<T>(promise: Promise<Result<T>>, signal: AbortSignal): Promise<Result<T>> {
  return new Promise((resolve, reject) => {
    const abort = () => resolve({ ok: false, error: new ClientError('aborted', { cause: signal.reason as unknown }) });
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
