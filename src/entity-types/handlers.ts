/** Entity types over HTTP: list, retrieve, plan, declare, delete. */
import type { FastifyRequest } from 'fastify';
import type { Actor } from '../rights/administration.ts';
import { authenticateCaller, carrierOf, type Schemes, type SecurityRequirement } from '../authn/authenticate.ts';
import type { Caller } from '../authn/caller.ts';
import type { Principal } from '../rights/principal.ts';
import { publicPath } from '../config/public-url.ts';
import type { TypeContext } from './context.ts';
import type { Handlers, Schemas } from '../contract/operation.ts';
import type { TypedContractSource } from '../pages/typed.ts';
import { acceptedVersions, contentTag, etagOf, expectsNothing, isCurrent } from '../entities/etag.ts';
import { Problem } from '../problems/errors.ts';
import { describeFault } from '../locales/describe.ts';
import { negotiateLocale, wantedLanguages } from '../locales/negotiate.ts';
import { authorize, contractFields, isPermitted } from '../rights/permit.ts';
import { type Action, allActions } from '../rights/vocabulary.ts';
import { applyChange, type Applied, type ApplyOptions } from './apply.ts';
import { faultsOfContradictions } from './contradictions.ts';
import { describeType } from './describe.ts';
import { faultUnder, findingsOf } from './findings.ts';
import { fieldAccess, fieldChanges } from './field-access.ts';
import { needsCheck, needsRules, planOf, showsHidden, type TypeChange, type TypePlan } from './plan.ts';
import { targetsOf } from './references.ts';
import { faultsOfRequirements } from './requirements.ts';
import { readableDocument } from './stored-document.ts';
import { findType, listTypes, type TypeRow, type TypeSummary } from './store.ts';
import { TypedContracts } from './typed-contracts.ts';

type TypeHandlers = Pick<
  Handlers,
  'listEntityTypes' | 'getEntityType' | 'putEntityType' | 'deleteEntityType' | 'planEntityType' | 'describeEntity'
>;

/** Entities that a request checks against a document: 100,000 take about a second, and a request has 15. */
const maximumChecked = 100_000;

/** For how long a request waits for another build of the type. */
const buildWaitMs = 5_000;

export function typeHandlers(context: TypeContext): TypeHandlers {
  const { config, store, listener, entityTypes, leftovers, admission, documentChecks } = context;

  /** Resolves when every process knows of the change. */
  async function apply(actor: Actor, change: TypeChange, options: ApplyOptions): Promise<Applied> {
    if (config.entityTypesDir !== undefined && config.entityTypesSource !== 'both') throw new Problem('forbidden');
    const applied = await admission.run('type-change', { flow: actor.name }, () =>
      applyChange(store, actor, change, {
        ...options,
        limit: maximumChecked,
        waitMs: buildWaitMs,
        onLeftover: (name) => leftovers.add([name]),
      }).catch(withoutHosts),
    );
    if (applied.changed) {
      entityTypes.forget();
      await listener.settle();
    }
    return applied;
  }

  /** Throws 422 with the faults of the document, whose pointers begin with `at`. */
  async function requireDocument({ user: { name: userName } }: Principal, caller: Caller, document: unknown, at: string): Promise<void> {
    const { cost } = caller.origin;
    const faults = await admission.run('type-change', { flow: userName }, () =>
      documentChecks.faultsOfUntrusted(document, { userName, cost }),
    );
    if (faults.length > 0) throw new Problem('validation-failed', { faults: faults.map((fault) => faultUnder(at, fault)) });
  }

  return {
    async listEntityTypes({ principal }) {
      const types = (await listTypes(store.db)).filter(({ name }) => isPermitted(principal, name, 'type'));
      return { status: 200, body: { types: types.map(describeSummary) } };
    },

    async getEntityType({ params, headers, principal }) {
      authorize(principal, params.name, 'type');
      const type = await findType(store.db, params.name);
      if (!type) throw new Problem('not-found');
      const answer = { headers: { ETag: etagOf(type.revision) } };
      if (isCurrent(headers['if-none-match'], type.revision)) return { status: 304, ...answer };
      return { status: 200, ...answer, body: representType(type) };
    },

    async putEntityType({ params, query, headers, body, principal, caller }) {
      authorize(principal, params.name, 'type');
      const expectRevision = expectation(headers);
      const allowUnfit = query.allowUnfit === '1';
      await requireDocument(principal, caller, body, '');
      const change = { name: params.name, document: body, source: 'api' } as const;
      const expect: ApplyOptions['expect'] = (current, plan) => {
        expectRevision(current);
        requireReading(principal, current, change, plan, allowUnfit);
      };
      const { type, plan, changed } = await apply(actorOf(principal, caller), change, { expect, allowUnfit, confirm: query.confirm });
      if (!type) throw new Error('there is no type after its declaration');
      const answer = { headers: { ETag: etagOf(type.revision) }, body: representType(type) };
      if (!changed || plan.revision !== '0') return { status: 200, ...answer };
      return {
        status: 201,
        ...answer,
        headers: { ...answer.headers, Location: publicPath(config.publicUrl, `/rest/entity-type/${params.name}`) },
      };
    },

    async deleteEntityType({ params, query, principal, caller }) {
      authorize(principal, params.name, 'type');
      const change = { name: params.name, document: null, source: 'api' } as const;
      const mayName = (name: string) => isPermitted(principal, name, 'type');
      const expect: ApplyOptions['expect'] = (current, plan) => {
        requireType(current);
        requireReading(principal, current, change, plan, false);
      };
      await apply(actorOf(principal, caller), change, { confirm: query.confirm, expect, mayName });
      return { status: 204 };
    },

    async describeEntity({ params, headers, principal, request }) {
      const actions = actionsOn(principal, params.name);
      const type = await findType(store.db, params.name);
      if (!type) throw new Problem('not-found');
      const languages = wantedLanguages({ session: principal.locale, acceptLanguage: request.headers['accept-language'] });
      const fields = contractFields(principal, params.name);
      const body = await admission.run('contract', { flow: principal.user.name }, async () =>
        describeType({ name: params.name, document: readableDocument(type.document), actions, fields, languages }),
      );
      const tag = contentTag(JSON.stringify(body));
      const answer = { headers: { ETag: etagOf(tag), Vary: 'Accept-Language, Origin' } };
      return isCurrent(headers['if-none-match'], tag) ? { status: 304, ...answer } : { status: 200, ...answer, body };
    },

    async planEntityType({ params, body, principal, caller, request }) {
      authorize(principal, params.name, 'type');
      const { document = null } = body;
      if (document !== null) await requireDocument(principal, caller, document, '/document');
      const change = { name: params.name, document, source: 'api' } as const;
      const current = await findType(store.db, params.name);
      if (document === null) requireType(current);
      const plan = planOf(current, change);
      requireReading(principal, current, change, plan, false);
      const faults = [...faultsOfContradictions(document, current?.document), ...(await faultsOfRequirements(store.db, change))];
      if (faults.length > 0) throw new Problem('validation-failed', { faults: faults.map((fault) => faultUnder('/document', fault)) });
      const findings = await admission.run('type-change', { flow: principal.user.name }, () =>
        findingsOf(store.db, plan, change, { limit: maximumChecked }),
      );
      const { examples, ...numbers } = findings;
      const locale = negotiateLocale({ session: principal.locale, acceptLanguage: request.headers['accept-language'] });
      const described = examples.map(({ key, errors }) => ({ key, errors: errors.map((fault) => describeFault(locale, fault)) }));
      const changes = document === null ? [] : fieldChanges(current?.document, document);
      const access = (await fieldAccess(store.db, params.name, changes)).map(({ profiles: _, ...each }) => each);
      return { status: 200, body: { ...plan, ...numbers, examples: described, fields: access } };
    },
  };
}

/** The actions that the caller may do with some entity of the name. Throws 403 without any. */
function actionsOn(principal: Principal, name: string): ReadonlySet<Action> {
  const actions = allActions.filter((action) => isPermitted(principal, name, action));
  if (actions.length === 0) authorize(principal, name, 'read');
  return new Set(actions);
}

/** The contract with the types for callers that `schemes` authenticate. Callers without a credential get no type (rule 64). */
export function typedContracts(
  { store, admission }: TypeContext,
  security: readonly SecurityRequirement[],
  schemes: Schemes,
): TypedContractSource {
  const contracts = new TypedContracts(store.db, admission);
  const callerOf = async (request: FastifyRequest): Promise<Principal> => {
    await authenticateCaller(request, carrierOf(request.raw), security, schemes);
    if (!request.principal) throw new Problem('unauthenticated');
    return request.principal;
  };
  return {
    contractFor: async (caller, request) => contracts.contractFor(await callerOf(caller), request),
    namesFor: async (caller) => contracts.namesFor(await callerOf(caller)),
  };
}

function describeSummary({ appliedAt, ...type }: TypeSummary): Schemas['EntityTypeSummary'] {
  return { ...type, appliedAt: appliedAt.toISOString() };
}

function representType({ document, ...summary }: TypeRow): Schemas['EntityType'] {
  return { ...describeSummary(summary), document };
}

function actorOf({ user }: Principal, { origin }: Caller): Actor {
  return { name: user.name, origin, via: 'api' };
}

/**
 * Throws 403 unless the caller may read all fields of all entities that the change is compared with: a refusal tells keys, names of fields, and whether
 * values fit, and a new reference tells which entities of its target exist (rule 64). A change that shows a sensitive field needs the same.
 */
function requireReading(
  principal: Principal,
  current: TypeRow | undefined,
  { name, document }: TypeChange,
  plan: TypePlan,
  allowUnfit: boolean,
): void {
  const targets = targetsOf(current?.document ?? {});
  const newTargets = targetsOf(document ?? {}).filter((target) => !targets.includes(target));
  const isRead = needsRules(plan) || (needsCheck(plan) && !allowUnfit) || showsHidden(plan, current?.document);
  for (const entity of new Set([...(isRead ? [name] : []), ...newTargets])) {
    const { coverage, view } = authorize(principal, entity, 'read');
    if (coverage.kind !== 'all' || view.kind !== 'whole') throw new Problem('forbidden', { audit: { entity } });
  }
}

/** The names of hosts are for the operator. */
function withoutHosts(error: unknown): never {
  throw error instanceof Problem && error.code === 'older-version' ? new Problem('older-version', { cause: error }) : error;
}

function requireType(current: TypeRow | undefined): void {
  if (!current) throw new Problem('not-found');
}

/**
 * What the headers expect of the type in force: it throws 412 if that is another one. Throws 428 if there is neither header, and 400 if
 * one is malformed or both are there.
 */
function expectation(headers: { 'if-match'?: string; 'if-none-match'?: string }): (current: TypeRow | undefined) => void {
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = headers;
  if (ifMatch === undefined && ifNoneMatch === undefined) throw new Problem('precondition-required');
  const isNew = expectsNothing(headers);
  const revisions = acceptedVersions(ifMatch);
  return (current) => {
    const isExpected = isNew ? !current : current !== undefined && (revisions?.includes(current.revision) ?? true);
    if (!isExpected) throw new Problem('precondition-failed');
  };
}
