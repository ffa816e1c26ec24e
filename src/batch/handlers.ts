/** Batches over HTTP: several operations on entities, all of them or none, or each by itself. */
import type { components } from '../../generated/api.ts';
import type { Context } from '../context.ts';
import { JsonText, type Handlers, type Input, type Output } from '../contract/operation.ts';
import { problemOfRemoval } from '../entities/delete.ts';
import { drawKeys } from '../entities/key.ts';
import { representEntity } from '../entities/represent.ts';
import { Problem } from '../errors.ts';
import { describeProblem, problemOf } from '../http/problem.ts';
import { authorize, isPermitted } from '../rights/permit.ts';
import { BatchReader, problemAt, type Operation } from './operations.ts';
import { Blocked, maximumBytes, runOperations, TypesChanged, type BatchRules, type Done } from './run.ts';

type BatchHandlers = Pick<Handlers, 'runBatch'>;

/** A lost round means that a type has changed meanwhile. */
const rounds = 20;
/** Time limit in milliseconds for the begin of an operation, when operations are no transaction. */
const maximumMs = 10_000;

/** Ends the transaction of a dry run. */
class DryRun extends Error {
  readonly done: readonly Done[];
  constructor(done: readonly Done[]) {
    super('a dry run writes nothing');
    this.done = done;
  }
}

export function batchHandlers({ config, store, entityTypes: types, entityQueues: queues }: Context): BatchHandlers {
  /** Runs the operations that `read` gives in one transaction, and again with the new types when types have changed. */
  async function run(
    { principal, caller }: Pick<Input<'runBatch'>, 'principal' | 'caller'>,
    reader: BatchReader,
    read: () => Promise<Operation[]>,
    dryRun = false,
  ): Promise<readonly Done[]> {
    const readable = (name: string) => (isPermitted(principal, name, 'read') ? authorize(principal, name, 'read') : undefined);
    for (let round = 0; round < rounds; round++) {
      const operations = await read();
      const [first] = operations;
      if (!first) return [];
      const rules: BatchRules = {
        types,
        limitBytes: 2 * config.bodyLimitBytes,
        defersReferences: reader.refersForward,
      };
      try {
        return await queues.runHeavy(first.permit, caller, () =>
          store.transaction(async (trx) => {
            const done = await runOperations(trx, caller, operations, rules);
            if (dryRun) throw new DryRun(done);
            return done;
          }),
        );
      } catch (error) {
        if (error instanceof DryRun) return error.done;
        if (error instanceof Blocked) throw problemAt(error.index, await problemOfRemoval(store, error.cause, readable));
        if (!(error instanceof TypesChanged)) throw error;
        types.forget();
      }
    }
    throw new Problem('busy', { headers: { 'Retry-After': '1' }, values: { seconds: 1 } });
  }

  async function runEach(input: Input<'runBatch'>, reader: BatchReader, keys: readonly string[]): Promise<string[]> {
    const results: string[] = [];
    const end = performance.now() + maximumMs;
    let characters = 0;
    for (const index of reader.sent.keys()) {
      const key = keys[index] ?? '';
      try {
        if (performance.now() > end)
          throw problemAt(index, new Problem('busy', { headers: { 'Retry-After': '1' }, values: { seconds: 1 } }));
        if (characters > maximumBytes) throw problemAt(index, new Problem('content-too-large', { values: { limit: maximumBytes } }));
        const [done] = await run(input, reader, async () => [await reader.read(index, key)]);
        reader.learn(index, key);
        if (!done) continue;
        const result = resultOf(done);
        characters += result.length;
        results.push(result);
      } catch (error) {
        const problem = problemOf(error, input.request);
        // The outcome of the operations before must not be lost.
        if (problem.status === 500) input.request.log.error({ event: 'fault', err: problem.cause }, 'an operation of a batch failed');
        const described = describeProblem(problem, input.request, config.publicUrl);
        results.push(`{"status":${problem.status},"problem":${JSON.stringify(described)}}`);
      }
    }
    return results;
  }

  return {
    async runBatch(input): Promise<Output<'runBatch'>> {
      const { body, bodyText, headers, principal } = input;
      const { atomic = true, operations: sent } = body;
      const dryRun = prefersDryRun(headers.prefer);
      if (dryRun && !atomic) throw new Problem('malformed-request', { faults: [{ parameter: 'Prefer', code: 'conflicting' }] });
      const reader = new BatchReader(principal, types, { sent, bodyText, limitBytes: config.bodyLimitBytes });
      reader.checkForm();
      for (const index of sent.keys()) await reader.authorize(index);
      const keys = await drawKeys(store, sent.length);
      if (!atomic) return answer(await runEach(input, reader, keys));
      const done = await run(input, reader, () => reader.readAll(keys), dryRun);
      return answer(done.map(resultOf), dryRun);
    },
  };
}

/** Whether a preference is `dry-run` (RFC 7240 section 2). Throws 400 if it has a value: the client means something else than to write. */
function prefersDryRun(prefer = ''): boolean {
  const preferences = prefer.match(/(?:"(?:[^"\\]|\\.)*"|[^",])+/g) ?? [];
  const found = preferences.map((preference) => /^\s*dry-run\s*(?:=([^;]*))?(?:;|$)/i.exec(preference)).filter((match) => match !== null);
  if (found.some((match) => !['', '""'].includes(match[1]?.trim() ?? '')))
    throw new Problem('malformed-request', { faults: [{ parameter: 'Prefer', code: 'invalid-value', values: { allowed: 'dry-run' } }] });
  return found.length > 0;
}

function answer(results: readonly string[], dryRun = false): Output<'runBatch'> {
  const body = new JsonText<components['schemas']['BatchResults']>(`{"results":[${results.join(',')}]}`);
  return { status: 200, ...(dryRun && { headers: { 'Preference-Applied': 'dry-run' } }), body };
}

function resultOf({ status, row }: Done): string {
  return row ? `{"status":${status},"entity":${representEntity(row).text}}` : `{"status":${status}}`;
}
