/**
 * Creates an entity. With an Idempotency-Key the statement that creates it claims the key too, and a repeat gets the answer of the first request made of its
 * own body (security rule 79).
 */
import type { Caller } from '../../authn/caller.ts';
import { violatedUnique, withUnknownOutcome } from '../../database/failure.ts';
import type { Statements } from '../../database/port.ts';
import { Problem } from '../../problems/errors.ts';
import type { Permit } from '../../rights/permit.ts';
import { namingConflict } from './conflict-name.ts';
import { isHeavy } from '../size-classes.ts';
import { findInVersion } from '../history/history.ts';
import { memberTexts } from '../../json/json-parts.ts';
import { deleteExpired, findCreation, inProgress, type Claim, type FoundCreation } from '../idempotency/idempotency.ts';
import type { OnceDone } from './once.ts';
import { requireReferences } from './references.ts';
import { inRounds } from './rounds.ts';
import type { EntityRow } from '../row.ts';
import { executeAlone, executeClaimed, executeGrouped, type Insertion } from './execute.ts';
import { judgeCreations } from './judge.ts';
import type { Judgement } from './judgement.ts';
import { withPresets } from './presets.ts';
import { allowChange, requireStoredSize, type Checked } from './rules.ts';
import { whileTypeIsCurrent } from './type-guard.ts';
import type { Writes } from './update.ts';
import { typeHasRevision } from '../type-revision.ts';

/** Maximum number of attempts. The first may find an expired key; each further one means that another request took the key meanwhile. */
const rounds = 3;

/** The fields of a new entity, as parsed and as JSON text, and the claim of its Idempotency-Key. */
export interface Creation {
  fields: unknown;
  text: string;
  claim: Claim | undefined;
  /** The most bytes of the fields as PostgreSQL writes them. */
  limitBytes: number;
}

/**
 * Creates the entity, unless a request with the same key has within 24 hours, and returns the row as it was created. Throws 413. Throws 422
 * `validation-failed` and 409 `unique-conflict` when a rule of the type does not hold. Throws 422 `idempotency-key-reused` when the key
 * came with another body, and 409 `idempotency-in-progress` while the first request is under way.
 */
export function createEntity(writes: Writes, permit: Permit<'create'>, caller: Caller, creation: Creation): Promise<OnceDone<EntityRow>> {
  return namingConflict(writes.store, () => createUnlessDone(writes, permit, caller, creation));
}

async function createUnlessDone(
  writes: Writes,
  permit: Permit<'create'>,
  caller: Caller,
  { claim, limitBytes, ...sent }: Creation,
): Promise<OnceDone<EntityRow>> {
  const { fields, text } = withPresets(permit, sent);
  requireStoredSize(text, limitBytes);
  const { store, admission, types } = writes;
  const heavy = isHeavy(text);
  const inTurn = <T>(job: () => Promise<T>) => admission.run(heavy ? 'heavy-write' : 'keyed-write', { flow: permit.userName, caller }, job);
  return await whileTypeIsCurrent(types, permit.entity, async (type) => {
    let checked: Checked;
    let judgement: Judgement | undefined;
    try {
      judgement = await judgeInTurn(writes, caller, { permit, text, isHeavy: heavy });
      checked = allowChange({ judgement, type, next: { text, fields } });
      await requireReferences(store, permit, checked.companion, { judgement });
    } catch (error) {
      const repeated = claim && (await inTurn(() => findRepeat(writes, permit, claim, sent.text)));
      if (repeated) return repeated;
      throw error;
    }
    const insertion = { permit, origin: caller.origin, fields: text, ...checked, judgement };
    if (claim) return await inTurn(() => createOnce(writes, insertion, claim, sent.text));
    const row = await insertInTurn(writes, caller, insertion, heavy);
    return row && { outcome: row, isReplayed: false };
  });
}

/** The judgement of a new entity; undefined for a permit without rules. A heavy one waits for its turn. */
export async function judgeInTurn(
  { store, admission }: Writes,
  caller: Caller,
  { permit, text, isHeavy: heavy }: { permit: Permit<'create'>; text: string; isHeavy: boolean },
): Promise<Judgement | undefined> {
  const judge = () => judgeCreations(store, permit, [text]);
  const [judgement] = heavy && permit.change ? await admission.run('heavy-write', { flow: permit.userName, caller }, judge) : await judge();
  return judgement;
}

/**
 * Inserts together with other requests if it can. What `isHeavy` and what needs a lock of another transaction waits for its turn and goes alone. Undefined, with
 * nothing written, when the type has changed. Throws 409 and 422 as {@link executeAlone}.
 */
export async function insertInTurn(
  { store, admission }: Writes,
  caller: Caller,
  insertion: Insertion,
  isHeavy: boolean,
): Promise<EntityRow | undefined> {
  const alone = () => executeAlone(store, insertion);
  const origin = { flow: insertion.permit.userName, caller };
  if (isHeavy) return await admission.run('heavy-write', origin, alone);
  return (await executeGrouped(store, insertion)) ?? (await admission.run('contended-write', origin, alone));
}

/** `sent` is the body, without presets. Undefined, with nothing written, when the type has changed. */
async function createOnce(writes: Writes, insertion: Insertion, claim: Claim, sent: string): Promise<OnceDone<EntityRow> | undefined> {
  const { store } = writes;
  const { permit, typeRevision } = insertion;
  const round = async (): Promise<OnceDone<EntityRow> | 'type changed' | undefined> => {
    const row = await insertUnlessTaken(store, insertion, claim);
    if (row) return { outcome: row, isReplayed: false };
    const [found] = await store.run(findCreation, { ...claim, fields: sent });
    if (!found) {
      if (await typeHasRevision(store, permit.entity, typeRevision)) throw inProgress();
      return 'type changed';
    }
    if (found.live) return await repeat(writes, found, permit);
    await withUnknownOutcome(store.run(deleteExpired, claim));
    return undefined;
  };
  const done = await inRounds(round, rounds, inProgress);
  return done === 'type changed' ? undefined : done;
}

/** What a request with the same key and body has created; undefined without one. For a repeat that a type refuses which has changed since. */
async function findRepeat(writes: Writes, permit: Permit<'create'>, claim: Claim, sent: string): Promise<OnceDone<EntityRow> | undefined> {
  const [found] = await writes.store.run(findCreation, { ...claim, fields: sent });
  return found?.live && found.same ? await repeat(writes, found, permit) : undefined;
}

/** Undefined when the key is taken, be it that another request was faster by a moment. */
async function insertUnlessTaken(store: Statements, insertion: Insertion, claim: Claim): Promise<EntityRow | undefined> {
  try {
    return await executeClaimed(store, insertion, claim);
  } catch (error) {
    if (violatedUnique(error) === 'idempotency_pkey') return undefined;
    throw error;
  }
}

/**
 * The row as the first request was answered with it. Throws 410 `answer-gone` if values that grants have set then are no longer stored: they may set others now.
 */
async function repeat(
  writes: Writes,
  { same, entityKey: key, createdAt, fields }: FoundCreation,
  permit: Permit<'create'>,
): Promise<OnceDone<EntityRow>> {
  if (!same) throw new Problem('idempotency-key-reused');
  const { entity, userName, change } = permit;
  const first = change && (await findInVersion(writes, permit, key, '1'));
  if (!first && change && change.presets().size > 0) throw new Problem('answer-gone');
  const shown = first ? joined(first.fields, fields) : fields;
  const outcome = {
    name: entity,
    key,
    version: '1',
    createdAt,
    createdBy: userName,
    updatedAt: createdAt,
    updatedBy: userName,
    fields: shown,
  };
  return { outcome, isReplayed: true };
}

/** The members of both texts of objects, in the order of PostgreSQL: by length, then by bytes. */
function joined(one: string, other: string): string {
  const members = [...new Map([...memberTexts(one), ...memberTexts(other)])].map(([name, text]) => ({ name: Buffer.from(name), text }));
  members.sort((first, second) => first.name.length - second.name.length || first.name.compare(second.name));
  return `{${members.map(({ name, text }) => `${JSON.stringify(name.toString())}: ${text}`).join(', ')}}`;
}
