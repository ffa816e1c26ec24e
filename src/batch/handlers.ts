/** Batches over HTTP: several operations on entities, all of them or none, or each by itself. */
import type { components } from '../../generated/api.ts';
import { recordProblem } from '../audit/record.ts';
import type { AuditContext } from '../audit/context.ts';
import type { EntityContext } from '../entities/reading/context.ts';
import { JsonText, type Handlers, type Input, type Output } from '../contract/operation.ts';
import { entityLimitOf } from '../entities/entity-limits.ts';
import { problemOfRemoval } from '../entities/writing/delete.ts';
import { readClaim } from '../entities/idempotency/idempotency.ts';
import { drawKeys } from '../entities/key.ts';
import { writeOnce, type RepeatableWrite } from '../entities/writing/once.ts';
import { readablePermit, type ReplayPermit } from '../entities/writing/replay.ts';
import { representEntity } from '../entities/represent.ts';
import { busyProblem } from '../admission/refusals.ts';
import { inRounds } from '../entities/writing/rounds.ts';
import { sizeProblem } from '../entities/writing/rules.ts';
import { TypeChanged } from '../entities/writing/type-guard.ts';
import type { Writes } from '../entities/writing/update.ts';
import { Problem } from '../problems/errors.ts';
import { dryRunOf } from '../http/prefer.ts';
import { describeProblem, problemOf } from '../http/problem.ts';
import { authorize, isPermitted } from '../rights/permit.ts';
import { BatchReader, problemAt, type BatchOperation, type BatchSource } from './operations.ts';
import { Blocked, maximumBytes, runOperations, type BatchRules, type Done } from './run.ts';
import { findInVersion } from '../entities/history/history.ts';

type BatchHandlers = Pick<Handlers, 'runBatch'>;
type OperationPermit = BatchOperation['permit'];

/** Time limit in milliseconds for the begin of an operation, when operations are no transaction. */
const maximumMs = 10_000;

/** Ends the transaction of a dry run. */
class BatchDryRun extends Error {
  readonly done: readonly Done[];
  constructor(done: readonly Done[]) {
    super('a dry run writes nothing');
    this.done = done;
  }
}

export function batchHandlers(context: EntityContext & AuditContext): BatchHandlers {
  const { config, store, entityTypes, admission } = context;
  const writes: Writes = { store, admission, types: entityTypes };

  /** Runs the operations that `read` gives in one transaction, and again with the new types when types have changed. */
  async function run(
    { store, admission, types }: Writes,
    { principal, caller }: Pick<Input<'runBatch'>, 'principal' | 'caller'>,
    reader: BatchReader,
    read: (source: BatchSource) => Promise<BatchOperation[]>,
    dryRun = false,
  ): Promise<readonly Done[]> {
    const readable = (name: string) => (isPermitted(principal, name, 'read') ? authorize(principal, name, 'read') : undefined);
    return await inRounds(async () => {
      const operations = await read({ store, types });
      const [first] = operations;
      if (!first) return [];
      const rules: BatchRules = {
        types,
        limitBytes: entityLimitOf(config),
        defersReferences: reader.refersForward || operations.filter(({ op }) => op === 'delete').length > 1,
        deleted: deletedKeys(operations),
        created: reader.createdKeys,
      };
      try {
        return await admission.run('heavy-write', { flow: first.permit.userName, caller }, () =>
          store.transaction(async (trx) => {
            const done = await runOperations(trx, caller, operations, rules);
            if (dryRun) throw new BatchDryRun(done);
            return done;
          }),
        );
      } catch (error) {
        if (error instanceof BatchDryRun) return error.done;
        if (error instanceof Blocked) throw problemAt(error.index, await problemOfRemoval(store, error.cause, readable));
        if (!(error instanceof TypeChanged)) throw error;
        types.forget();
        return undefined;
      }
    });
  }

  /**
   * Runs each operation in a transaction of its own. With an Idempotency-Key each has a claim of its own, so a repeat does what has not
   * been done.
   */
  async function runEach(input: Input<'runBatch'>, reader: BatchReader, permits: readonly OperationPermit[], keys: readonly string[]) {
    const claim = claimOf(input);
    const results: string[] = [];
    const end = performance.now() + maximumMs;
    let [characters, replays] = [0, 0];
    for (const [index, permit] of permits.entries()) {
      try {
        if (performance.now() > end) throw problemAt(index, busyProblem());
        if (characters > maximumBytes) throw problemAt(index, sizeProblem(maximumBytes));
        const { outcome, isReplayed } = await writeOnce(writes, permit, input.caller, {
          ...repeatable([permit]),
          claim: claim && { ...claim, operation: `${claim.operation}/${index}` },
          write: (within) => run(within, input, reader, async (source) => [await reader.read(source, index, keys[index] ?? '')]),
        });
        const [done] = outcome;
        if (!done) continue;
        reader.learn(index, done.key);
        if (isReplayed) replays++;
        const result = resultOf(done);
        characters += result.length;
        results.push(result);
      } catch (error) {
        const problem = problemOf(error, input.request);
        // The outcome of the operations before must not be lost.
        if (problem.status === 500) input.request.log.error({ event: 'fault', err: problem.cause }, 'an operation of a batch failed');
        await recordProblem(context, input.caller, problem, 'runBatch');
        const described = describeProblem(problem, input.request, config.publicUrl);
        results.push(`{"status":${problem.status},"problem":${JSON.stringify(described)}}`);
      }
    }
    return answer(results, { isReplayed: replays === permits.length });
  }

  return {
    async runBatch(input): Promise<Output<'runBatch'>> {
      const { body, bodyText, headers, principal, caller } = input;
      const { atomic = true, operations: sent } = body;
      const dryRun = prefersDryRun(headers.prefer);
      if (dryRun && !atomic) throw new Problem('malformed-request', { faults: [{ parameter: 'Prefer', code: 'conflicting' }] });
      const reader = new BatchReader(principal, { sent, bodyText, limitBytes: config.bodyLimitBytes });
      reader.checkForm();
      const permits = await reader.authorize();
      const [permit] = permits;
      if (!permit) throw new Error('the contract wants an operation');
      const keys = await drawKeys(store, sent.length);
      if (!atomic) return await runEach(input, reader, permits, keys);
      const { outcome, isReplayed } = await writeOnce(writes, permit, caller, {
        ...repeatable(permits),
        claim: dryRun ? undefined : claimOf(input),
        write: (within) => run(within, input, reader, (source) => reader.readAll(source, keys), dryRun),
      });
      return answer(outcome.map(resultOf), { dryRun, isReplayed });
    },
  };
}

function deletedKeys(operations: readonly BatchOperation[]): Map<string, Set<string>> {
  const deletes = operations.filter(({ op }) => op === 'delete');
  return new Map([...Map.groupBy(deletes, ({ name }) => name)].map(([name, some]) => [name, new Set(some.map(({ key }) => key))]));
}

/** The claim of a batch, which has no entity name. */
const claimOf = (input: Input<'runBatch'>) =>
  readClaim(input, { userName: input.principal.user.name, entity: '' }, 'runBatch', input.bodyText);

/** How the outcome of operations with these permits is stored, and given again: without the entities that the history no longer has. */
function repeatable(permits: readonly OperationPermit[]): Omit<RepeatableWrite<readonly Done[]>, 'claim' | 'write'> {
  return {
    isHeavy: true,
    effectsOf: (done) => done.map(({ status, key, row }) => ({ status, key, version: row?.version ?? null })),
    replay: async (effects, within) => {
      const done: Done[] = [];
      for (const [index, { status, key, version }] of effects.entries()) {
        // A deletion has no version.
        const permit = permits[index] as ReplayPermit | undefined;
        const row = permit && version !== null ? await findInVersion(within, readablePermit(permit), key, version) : undefined;
        done.push({ status, key, row });
      }
      return done;
    },
  };
}

/** Whether a preference is `dry-run` (RFC 7240 section 2). Throws 400 if it has a value: the client means something else than to write. */
function prefersDryRun(prefer = ''): boolean {
  const dryRun = dryRunOf(prefer);
  if (dryRun !== undefined && dryRun !== '')
    throw new Problem('malformed-request', { faults: [{ parameter: 'Prefer', code: 'invalid-value', values: { allowed: 'dry-run' } }] });
  return dryRun !== undefined;
}

function answer(results: readonly string[], { dryRun = false, isReplayed = false } = {}): Output<'runBatch'> {
  const body = new JsonText<components['schemas']['BatchResults']>(`{"results":[${results.join(',')}]}`);
  const headers = {
    ...(dryRun && { 'Preference-Applied': 'dry-run' as const }),
    ...(isReplayed && { 'Idempotency-Replayed': 'true' as const }),
  };
  return { status: 200, headers, body };
}

function resultOf({ status, row }: Done): string {
  return row ? `{"status":${status},"entity":${representEntity(row).text}}` : `{"status":${status}}`;
}
