/**
 * How a write that `rules.ts` has allowed reaches PostgreSQL: together with those of other requests, alone, within a transaction, or as a part of many. Each has a
 * permit and reaches only the rows that the permit covers (rules 64 and 66). Each fills its row of the history (decision 300). Fields travel as JSON text.
 */
import type { Transaction } from 'kysely';
import type { Origin } from '../../network/origin.ts';
import { LockNotHadError, withUnknownOutcome } from '../../database/failure.ts';
import type { Statements } from '../../database/port.ts';
import type { Database } from '../../database/tables.ts';
import { fullRights } from '../../rights/field-view.ts';
import type { Permit } from '../../rights/permit.ts';
import type { Companion } from '../companion/layout.ts';
import type { Claim } from '../idempotency/idempotency.ts';
import type { EntityRow } from '../row.ts';
import type { InsertedRow } from './create-statements.ts';
import { changeValues } from './changed.ts';
import { rowOf } from './grouped-writes.ts';
import type { Checked, CheckedFields } from './rules.ts';
import type { Judgement } from './judgement.ts';
import type { Versions } from './statements.ts';
import { TypeChanged, whileTypeLasts } from './type-guard.ts';
import { underRules, underRulesOnce, type CompanionWrite } from './violations.ts';
import { writeStatementsOf } from './write-statements.ts';
import { placeOf, type Place } from '../find-entity.ts';

/** The judgement of a change, which a permit with rules needs; undefined for any other permit. */
interface Judged {
  judgement?: Judgement | undefined;
}

/** A new entity. */
export interface Insertion extends CheckedFields, Judged {
  permit: Permit<'create'>;
  origin: Origin;
  /** Drawn before; undefined for a new one. */
  key?: string;
}

/** Other fields of an entity. */
export interface Merge extends Checked, Judged {
  /** JSON text of an object, which is merged into the fields (RFC 7396); for a restore all fields. */
  patch: string;
  /** The result of the patch for the only version in `versions`, as a preview has shown; undefined if there was none. To merge again takes 20 µs of PostgreSQL. */
  merged?: string | undefined;
  /** The columns of the companion table that stay as they are, since the process does not know their values; undefined if it knows all. */
  kept?: readonly string[] | undefined;
  /** The versions that the caller accepts; null accepts any. */
  versions: Versions;
  /** The most that the merged fields may be, in bytes of JSON. */
  limitBytes: number;
}

/** A merge into the entity with this key: live, or with `undeleteOne` in the trash. */
export interface Replacement extends Merge {
  statement: 'updateOne' | 'restoreOne' | 'undeleteOne';
  permit: Permit<'update'>;
  origin: Origin;
  key: string;
}

export type EntityWrite = Insertion | Replacement;

/** Characters that PostgreSQL writes for each one of the fields: the row and its log, and for a replacement the former version and its log. */
const writtenTimes = { insertion: 2, replacement: 4 };

/** Counts the row for the sender of the write, and returns it with the fields that the caller sees. */
function answered<T extends EntityRow | undefined>(write: EntityWrite, row: T): T {
  const times = isInsertion(write) ? writtenTimes.insertion : writtenTimes.replacement;
  if (row) write.origin.cost?.add('written', times * row.fields.length);
  const { judgement } = write;
  return row && judgement ? { ...row, fields: judgement.shown(row.fields) } : row;
}

const isInsertion = (write: EntityWrite): write is Insertion => !('statement' in write);

/** A change under rules is written as it was judged: into the version that the rules were tested on. Throws an Error for one that was not. */
function statementsOf(write: EntityWrite) {
  const { companion, permit, judgement } = write;
  if (!permit.change) return writeStatementsOf(companion?.layout, permit);
  if (!judgement || (!isInsertion(write) && write.versions?.length !== 1)) throw new Error('a change under rules has to be judged');
  return writeStatementsOf(companion?.layout, fullRights);
}

/** The statements that write a version in any case. */
const always = { updateOne: 'updateAlways', restoreOne: 'restoreAlways', undeleteOne: 'undeleteOne' } as const;

/** Whether the caller has sent a hidden field. Such a change is a version whatever the value, so that versions tell nothing of the present one (rule 180). */
const sendsHidden = (write: EntityWrite): boolean => write.judgement?.sendsHidden === true;

function replacementOf(write: Replacement) {
  const { statement } = write;
  return statementsOf(write)[sendsHidden(write) ? always[statement] : statement];
}

const changeOf = ({ permit, origin, typeRevision }: Pick<EntityWrite, 'permit' | 'origin' | 'typeRevision'>) =>
  changeValues(permit, origin, typeRevision);

/** The place of a row; of any user if the change was judged. */
const writtenPlace = (permit: Permit<'update'>, key: string): Place =>
  permit.change ? { name: permit.entity, owner: null, key } : placeOf(permit, key);

/** The companion row that the statement writes; undefined for none. */
function companionWriteOf(write: EntityWrite): CompanionWrite | undefined {
  const { permit, companion } = write;
  return companion && { ...companion, permit, key: isInsertion(write) ? undefined : write.key };
}

/** The input row of a statement that several writes share. */
function inputOf(write: EntityWrite): string {
  const { companion } = write;
  if (isInsertion(write))
    return rowOf({ ...changeOf(write), name: write.permit.entity, given: write.key, ...companion?.values }, 'fields', write.fields);
  const { permit, key, versions, limitBytes, kept, merged, patch } = write;
  const change = { ...changeOf(write), ...writtenPlace(permit, key), versions, limit: limitBytes };
  const values = { ...change, ...companion?.values, ...(kept && { kept }) };
  return merged === undefined ? rowOf(values, 'patch', patch) : rowOf(values, 'merged', merged);
}

const companionText = ({ companion }: Checked): string => JSON.stringify(companion?.values ?? {});

/** The values of the statement of one replacement. */
function valuesOf(write: Replacement) {
  const { permit, key, patch, versions, limitBytes } = write;
  return { ...changeOf(write), ...writtenPlace(permit, key), patch, versions, limit: limitBytes, companion: companionText(write) };
}

/**
 * Writes together with other requests, and returns the row as it then is. Undefined, with nothing written, while another transaction has a lock that the row
 * needs. Undefined also as {@link executeAlone}, for a merge into a heavy entity, and for one of hidden fields. Throws 409 `unique-conflict` and 422 `validation-failed` when a rule of the
 * type does not hold.
 */
export async function executeGrouped(store: Statements, write: EntityWrite): Promise<EntityRow | undefined> {
  if (sendsHidden(write)) return undefined;
  const { insertMany, updateMany } = statementsOf(write);
  const statement = isInsertion(write) ? insertMany : updateMany;
  try {
    return answered(
      write,
      await withUnknownOutcome(underRules(companionWriteOf(write), () => store.writeGrouped(statement, inputOf(write)))),
    );
  } catch (error) {
    if (error instanceof LockNotHadError) return undefined;
    throw error;
  }
}

/**
 * Writes in a statement of its own, and returns the row as it then is. Undefined, with nothing written, when the type has changed. A replacement is also undefined
 * when its version is none of the accepted ones, and when its fields are too large. Throws likewise.
 */
export async function executeAlone(store: Statements, write: EntityWrite): Promise<EntityRow | undefined> {
  const run = isInsertion(write)
    ? () => store.writeAlone(statementsOf(write).insertMany, inputOf(write))
    : async () => (await store.run(replacementOf(write), valuesOf(write)))[0];
  return answered(write, await withUnknownOutcome(underRules(companionWriteOf(write), run)));
}

/**
 * Inserts alone, and stores what was created under the claim's key. Undefined also when the key is taken already; a unique violation of
 * `idempotency_pkey`, with nothing written, when another statement took it meanwhile.
 */
export async function executeClaimed(store: Statements, write: Insertion, claim: Claim): Promise<EntityRow | undefined> {
  const { insertWithKey } = statementsOf(write);
  const values = { ...changeOf(write), ...claim, fields: write.fields, companion: companionText(write) };
  return answered(
    write,
    await withUnknownOutcome(underRules(companionWriteOf(write), async () => (await store.run(insertWithKey, values))[0])),
  );
}

/**
 * Writes within a transaction that an error ends. Returns the rows of all insertions, which have one name; or the row of a replacement, none as in
 * {@link executeAlone}. Throws {@link TypeChanged}, and what {@link executeGrouped} throws.
 */
export async function executeWithin(
  trx: Transaction<Database>,
  write: readonly [Insertion, ...Insertion[]] | Replacement,
): Promise<EntityRow[]> {
  const first = 'statement' in write ? write : write[0];
  const query =
    'statement' in write
      ? replacementOf(write).query(valuesOf(write))
      : statementsOf(first).insertMany.query({ rows: `[${write.map(inputOf).join()}]` });
  const { rows } = await underRulesOnce(companionWriteOf(first), () => trx.executeQuery<EntityRow>(query));
  if (!('statement' in write) && rows.length !== write.length) throw new TypeChanged();
  return rows.map((row) => answered('statement' in write ? write : (write.find(({ key }) => key === row.key) ?? first), row));
}

const charactersOf = (texts: readonly string[]): number => texts.reduce((sum, { length }) => sum + length, 0);

/** The common facts of many writes of one name. */
export interface PortionOrigin {
  origin: Origin;
  typeRevision: string;
  layout: Companion | undefined;
}

/** Inserts rows, each a text of `bulkRowOf`, and returns their keys in the same order. Throws {@link TypeChanged}, and violations as PostgreSQL does. */
export async function insertPortion(
  trx: Transaction<Database>,
  permit: Permit<'create'>,
  { origin, typeRevision, layout }: PortionOrigin,
  texts: readonly string[],
): Promise<InsertedRow[]> {
  const { insertBulk } = writeStatementsOf(layout, permit.change ? fullRights : permit);
  const values = { ...changeOf({ permit, origin, typeRevision }), name: permit.entity, rows: `[${texts.join()}]` };
  const { rows } = await whileTypeLasts(() => trx.executeQuery(insertBulk.query(values)));
  if (rows.length !== texts.length) throw new TypeChanged();
  origin.cost?.add('written', writtenTimes.insertion * charactersOf(texts));
  return rows.toSorted((one, other) => Number(BigInt(one.key) - BigInt(other.key)));
}

/** A row that gets these fields if it still has the version. */
export type PortionReplacement = Pick<Replacement, 'permit' | 'origin' | 'key' | 'limitBytes'> & CheckedFields & { version: string };

/** The text of a row for {@link replacePortion}. */
export function replacementText(write: PortionReplacement): string {
  const { permit, key, version, limitBytes, companion, fields } = write;
  return rowOf({ ...changeOf(write), ...writtenPlace(permit, key), version, limit: limitBytes, ...companion?.values }, 'fields', fields);
}

/** Replaces the fields of entities, each a text of {@link replacementText}, and returns the places of those that had their version. Throws likewise. */
export async function replacePortion(
  trx: Transaction<Database>,
  permit: Permit<'update'>,
  { origin, layout }: Omit<PortionOrigin, 'typeRevision'>,
  texts: readonly string[],
): Promise<ReadonlySet<number>> {
  const { replaceMany } = writeStatementsOf(layout, permit.change ? fullRights : permit);
  const { rows } = await whileTypeLasts(() => trx.executeQuery(replaceMany.query({ rows: `[${texts.join()}]` })));
  origin.cost?.add('written', writtenTimes.replacement * charactersOf(texts));
  return new Set(rows.map(({ n }) => Number(n) - 1));
}
