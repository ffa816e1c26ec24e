/**
 * Events that belong to no transaction: refusals, faults, and what a process does. Losing one must not stop or change anything, so a
 * database that does not take it is a matter for the log.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { listRuleGrants } from '../accounts/role-rules.ts';
import type { Caller, CallerLog } from '../authn/caller.ts';
import type { Origin } from '../network/origin.ts';
import type { AuditContext } from './context.ts';
import type { Problem } from '../problems/errors.ts';
import { looksLikeName } from '../problems/pointer.ts';
import type { Action } from '../rights/vocabulary.ts';
import { addressGroup } from '../network/address.ts';
import { eventOfProblem } from './problem-events.ts';
import type { Subject } from './quota.ts';
import { insertEvent, type AuditEvent } from './store.ts';

/** Writes the event; never throws. */
export async function recordEvent(
  { store: { db } }: Pick<AuditContext, 'store'>,
  log: CallerLog,
  origin: Origin | undefined,
  event: AuditEvent,
): Promise<void> {
  try {
    await insertEvent(db, origin, event);
  } catch (error) {
    log.warn({ event: 'audit.lost', lost: event.event, err: error }, 'an audit event could not be written');
  }
}

/** The most fields that an event names. */
const maximumFields = 5;

/**
 * Writes the audit event of the problem with which the caller of `operation` is answered. A problem may have none, and the quota may refuse
 * it. Never throws. `operation` is undefined for a request that asked for none.
 */
export async function recordProblem(context: AuditContext, caller: Caller, problem: Problem, operation: string | undefined): Promise<void> {
  const about = eventOfProblem(problem);
  if (!about) return;
  const { event, reason } = about;
  const { limit, entity, fields } = problem.audit;
  const refusal: AuditEvent = {
    event,
    outcome: problem.status < 500 ? 'refused' : 'failed',
    sessionId: caller.principal?.session?.id,
    detail: { operation, reason, limit, entity, ...(fields && { fields: fields.filter(looksLikeName).slice(0, maximumFields) }) },
  };
  // A stranger can try any operation, so events of one limit are of one kind.
  const kind = limit === undefined ? {} : { kind: `${event} ${limit}` };
  await recordWithinQuota(context, caller, refusal, { ...kind, further: () => refusingGrants(context, caller, problem) });
}

/** The names of the rules that have not allowed an action on a name. */
async function refusingGrants({ store: { db } }: AuditContext, { principal }: Caller, { audit }: Problem): Promise<object> {
  const { entity, action, rules } = audit;
  if (entity === undefined || action === undefined || !principal?.profile) return {};
  const grants = await listRuleGrants(db, principal.profile.id, { entity, action: action as Action, digests: rules });
  return grants.length > 0 ? { grants } : {};
}

/** How long the answer to a refusal waits until its event is written. Where the database is slow, the event comes after the answer. */
const auditWriteTimeoutMs = 1_000;

interface Counting {
  /** The subject that the event counts for, where the caller does not tell. */
  subject?: Subject;
  /** Events of the same kind are written once a minute; by default those with the same name and detail. */
  kind?: string;
  /** Reads facts of the detail which only an event that is written needs. */
  further?: () => Promise<object>;
}

/**
 * Writes an event that callers can cause at will, unless its subject has caused enough of them lately; says how many were left out. Never
 * throws, and keeps the answer waiting for a second at most.
 */
export async function recordWithinQuota(context: AuditContext, caller: Caller, event: AuditEvent, counting: Counting = {}): Promise<void> {
  const admitted = admitToQuota(context, caller, event, counting);
  if (!admitted) return;
  const write = async () => {
    const further = await counting.further?.().catch(() => ({}));
    await recordEvent(context, caller.log, caller.origin, { ...admitted, detail: { ...admitted.detail, ...further } });
  };
  await Promise.race([write(), delay(auditWriteTimeoutMs, undefined, { ref: false })]);
}

/** The event as it is to be written, with the number of those left out; undefined when the quota does not allow it. */
export function admitToQuota(
  { auditQuota }: Pick<AuditContext, 'auditQuota'>,
  caller: Caller,
  { detail = {}, ...event }: AuditEvent,
  { subject, kind = `${event.event} ${JSON.stringify(detail)}` }: Counting = {},
): AuditEvent | undefined {
  const userName = caller.principal?.user.name ?? event.userName;
  const leftOut = auditQuota.admit(subject ?? subjectOf(caller, userName, detail), kind);
  return leftOut === undefined ? undefined : { ...event, userName, detail: { ...detail, ...(leftOut > 0 && { leftOut }) } };
}

/**
 * The subject of an event that names none itself: the user whose credential has been verified, else the identity that an issuer has
 * vouched for (`subject`), else the address.
 */
function subjectOf({ origin }: Caller, userName: string | undefined, { issuer, subject }: Record<string, unknown>): Subject {
  if (userName !== undefined) return { budget: 'users', name: userName };
  return subject === undefined
    ? { budget: 'strangers', name: addressGroup(origin.address) }
    : { budget: 'named', name: `identity ${JSON.stringify([issuer, subject])}` };
}
